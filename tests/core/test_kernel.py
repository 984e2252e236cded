import copy
import pickle

import numpy as np
import pytest
from sklearn.metrics.pairwise import linear_kernel, polynomial_kernel, rbf_kernel

from evoke._core.kernel import KERNELS, Kernel, decide, gram
from evoke.exceptions import ParameterError
from oracle import svm as oracle


def test_a_kernel_is_its_parameters():
    kernel = Kernel("poly", gamma=0.5, coef0=-1.0, degree=2)
    assert (kernel.name, kernel.gamma, kernel.coef0, kernel.degree) == ("poly", 0.5, -1.0, 2)
    assert list(map(type, (kernel.name, kernel.gamma, kernel.coef0, kernel.degree))) == [str, float, float, int]
    assert repr(kernel) == "Kernel('poly', gamma=0.5, coef0=-1.0, degree=2)"
    assert eval(repr(kernel), {"Kernel": Kernel}) == kernel
    assert kernel == Kernel(np.str_("poly"), np.float32(0.5), -1, np.int64(2))
    for copied in (pickle.loads(pickle.dumps(kernel)), copy.deepcopy(kernel)):
        assert copied == kernel and hash(copied) == hash(kernel)


def test_the_default_is_a_radial_basis_function():
    assert Kernel() == Kernel("rbf", 1.0, 0.0, 3)


def test_kernels_differ_by_any_parameter():
    different = [Kernel(name) for name in KERNELS] + [Kernel(gamma=2.0), Kernel(coef0=1.0), Kernel(degree=4)]
    assert len(set(different)) == len(different)
    assert Kernel() != "rbf"


@pytest.mark.parametrize("name", ["name", "gamma", "coef0", "degree"])
def test_a_kernel_cannot_be_changed(name):
    with pytest.raises(AttributeError):
        setattr(Kernel(), name, getattr(Kernel(), name))


@pytest.mark.parametrize("parameters, message", [
    (dict(name="sigmoid"), r"kernel must be one of \('linear', 'poly', 'rbf'\), got 'sigmoid'"),
    (dict(name=None), "got None"),
    (dict(name=np.ones(2)), "kernel must be one of"),
    (dict(gamma=0.0), "gamma must be a positive finite number, got 0.0"),
    (dict(gamma=-1.0), "gamma must be a positive finite number, got -1.0"),
    (dict(gamma=np.inf), "gamma must be a positive finite number, got inf"),
    (dict(gamma=np.nan), "gamma must be a positive finite number, got nan"),
    (dict(coef0=np.inf), "coef0 must be a finite number, got inf"),
    (dict(coef0=np.nan), "coef0 must be a finite number, got nan"),
    (dict(degree=-1), "degree must be an integer of at least 0, got -1"),
    (dict(degree=2**31), "degree must be at most 2147483647, got 2147483648"),
    (dict(gamma="scale"), "gamma must be a positive finite number, got 'scale'"),
    (dict(gamma=None), "gamma must be a positive finite number, got None"),
    (dict(coef0=1j), "coef0 must be a finite number, got 1j"),
    (dict(degree=2.0), "degree must be an integer of at least 0, got 2.0"),
])  # fmt: skip
def test_parameters_out_of_range_are_refused(parameters, message):
    with pytest.raises(ParameterError, match=message):
        Kernel(**parameters)


def test_the_largest_degree_is_taken():
    assert Kernel("poly", degree=2**31 - 1).degree == 2**31 - 1


@pytest.mark.parametrize(("kernel", "pairwise"), [
    ("linear", lambda X, gamma, coef0, degree: linear_kernel(X)),
    ("poly", lambda X, gamma, coef0, degree: polynomial_kernel(X, gamma=gamma, coef0=coef0, degree=degree)),
    ("rbf", lambda X, gamma, coef0, degree: rbf_kernel(X, gamma=gamma)),
])
@pytest.mark.parametrize("n", [1, 7, 8, 9, 50])
def test_gram_equals_scikit_learn(n, kernel, pairwise):
    rng = np.random.default_rng(n)
    for degree in (1, 2, 3, 6):
        X = rng.uniform(-1.0, 1.0, (n, int(rng.integers(1, 8))))
        K = gram(X, Kernel(kernel, 0.3, 0.5, degree))
        np.testing.assert_array_equal(K, K.T)
        np.testing.assert_allclose(K, pairwise(X, 0.3, 0.5, degree), rtol=1e-13, atol=1e-13)
        np.testing.assert_allclose(K, oracle.kernel(X, X, kernel, 0.3, 0.5, degree), rtol=1e-13, atol=1e-14)


@pytest.mark.parametrize("kernel", ["linear", "poly", "rbf"])
@pytest.mark.parametrize("n_sv", [0, 1, 30])
@pytest.mark.parametrize("n_outputs", [1, 3])
def test_decide_equals_the_oracle_row_by_row(n_outputs, n_sv, kernel):
    rng = np.random.default_rng(n_sv)
    x, sv = rng.normal(size=(21, 4)), rng.normal(size=(n_sv, 4))
    coef, bias = rng.normal(size=(n_sv, n_outputs)), rng.normal(size=n_outputs)
    parameters = kernel, 0.3, 0.5, 3
    decisions = decide(x, sv, coef, bias, Kernel(*parameters))
    K = oracle.kernel(x, sv, *parameters)
    for o in range(n_outputs):
        np.testing.assert_allclose(decisions[:, o], oracle.decide(K, coef[:, o], bias[o]), rtol=1e-12, atol=1e-12)
    for i in range(21):
        np.testing.assert_array_equal(decide(x[i : i + 1], sv, coef, bias, Kernel(*parameters)), decisions[i : i + 1])
    assert decide(x[:0], sv, coef, bias, Kernel(*parameters)).shape == (0, n_outputs)


@pytest.mark.parametrize("n_outputs", [1, 3])
def test_none_stands_for_unit_vectors(n_outputs):
    rng = np.random.default_rng(0)
    for n, d in ((1, 1), (25, 4), (70, 9)):
        x, coef, intercept = rng.normal(size=(n, d)), rng.normal(size=(d, n_outputs)), np.array([-0.0, 0.5, 1.0])
        x[::2, 0] = -0.0
        intercept = intercept[:n_outputs]
        kernel = Kernel("linear")
        found = decide(x, None, coef, intercept, kernel)
        expected = decide(x, np.eye(d), coef, intercept, kernel)
        np.testing.assert_array_equal(found.view(np.int64), expected.view(np.int64))
    with pytest.raises(ValueError, match="unit vectors are for the linear kernel"):
        decide(x, None, coef, intercept, Kernel("rbf"))
    with pytest.raises(ValueError, match="coef must have shape"):
        decide(x, None, coef[1:], intercept, kernel)
