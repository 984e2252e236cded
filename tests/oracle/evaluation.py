"""Evaluation of one network, slowly: forward pass of every sequence, an SVM of scikit-learn for each output, errors."""
import numpy as np
from sklearn.svm import SVC

from oracle.lstm import forward
from oracle.svm import bias, kernel, polish, violation


def decisions(train, test, targets, lower, upper, parameters, tol):
    """Decision values of one SVM on the training and test points, targets +-1; a single class is its own decision."""
    if len(set(targets)) == 1:
        return np.full(len(train), targets[0]), np.full(len(test), targets[0])
    name, gamma, coef0, degree = parameters
    machine = SVC(C=1.0, kernel=name, gamma=gamma, coef0=coef0, degree=degree, tol=tol)
    machine.fit(train, targets, sample_weight=np.maximum(upper, -lower))
    beta = np.zeros(len(train))
    beta[machine.support_] = machine.dual_coef_[0]
    K = kernel(train, train, *parameters)
    programme = targets, lower, upper
    beta = polish(K, beta, *programme)
    assert violation(K, beta, *programme) < 1e-6 and (lower <= beta).all() and (beta <= upper).all()
    b = bias(K, beta, *programme)
    return K @ beta + b, kernel(test, train, *parameters) @ beta + b


def error(objective, exclusive, targets, decided, weights):
    """Summed error of decisions (n_outputs, n_points) against targets of +-1."""
    if objective == "count":
        if exclusive and len(targets) > 1:
            chosen = targets[decided.argmax(axis=0), np.arange(len(weights))]
            return weights @ (chosen <= 0.0)
        wrong = np.where(targets > 0.0, decided <= 0.0, decided > 0.0)
        return (wrong * weights).sum()
    loss = np.maximum(0.0, 1.0 - targets * decided)
    return ((loss if objective == "hinge" else loss**2) * weights).sum()


def evaluate(genome, sequences, train, test, box, cell, gate_bias, parameters, tol, objective, exclusive):
    """Objective on training and test points, and wrong decisions on both, of one network.

    train, test: (rows, weights, targets (n_outputs, n_points)), rows counted over the sequences laid end to end.
    box: lower and upper, each (n_outputs, n_train). parameters: kernel, gamma, coef0, degree."""
    phi = np.concatenate([forward(genome, x, cell, gate_bias)[0] for x in sequences])
    both = [decisions(phi[train[0]], phi[test[0]], targets, lower, upper, parameters, tol)
            for targets, lower, upper in zip(train[2], *box, strict=True)]
    decided = [np.array(part) for part in zip(*both, strict=True)]
    return np.array([
        error(kind, exclusive, targets, values, weights)
        for kind in (objective, "count")
        for (_, weights, targets), values in zip((train, test), decided, strict=True)
    ])
