"""How decisions are compared with targets."""
from libc.math cimport NAN, fabs, fmax, isnan

from evoke._core.readout cimport Points
from evoke._validation.parameters import check_choice

OBJECTIVES = ("count", "hinge", "squared")


cdef Loss make_loss(objective, size_t n_outputs) except *:
    """That of an `Objective` of `evoke.evolution.problem`."""
    cdef Loss loss
    check_choice("objective", objective.name, OBJECTIVES)
    loss.objective = OBJECTIVES.index(objective.name)
    loss.regression, loss.exclusive, loss.epsilon = objective.regression, objective.exclusive, objective.epsilon
    loss.n_outputs = n_outputs
    return loss


cdef double error(const Loss *loss, int objective, const Points *points, const double *decisions) noexcept nogil:
    """Summed error of decisions[output][point] (stride points.ld); NaN where a decision is."""
    cdef double total = 0.0, sum_of_row, target, value, top
    cdef size_t p, o, best
    for o in range(loss.n_outputs):
        for p in range(points.n):
            if isnan(decisions[o * points.ld + p]):
                return NAN
    if objective == 0 and loss.exclusive and loss.n_outputs > 1:
        for p in range(points.n):
            best = 0
            top = decisions[p]
            for o in range(1, loss.n_outputs):
                if decisions[o * points.ld + p] > top:
                    top = decisions[o * points.ld + p]
                    best = o
            if points.targets[best * points.n + p] <= 0.0:
                total += points.weights[p]
        return total
    for o in range(loss.n_outputs):
        sum_of_row = 0.0
        for p in range(points.n):
            target, value = points.targets[o * points.n + p], decisions[o * points.ld + p]
            if loss.regression:
                value = fabs(target - value)
                if objective != 2:
                    value = fmax(0.0, value - loss.epsilon)
            elif objective == 0:  # a decision of exactly 0 says "no"
                value = 1.0 if (value > 0.0) != (target > 0.0) else 0.0
            else:
                value = fmax(0.0, 1.0 - target * value)
            if objective == 2:
                value = value * value
            elif objective == 0:
                value = 1.0 if value > 0.0 else 0.0
            sum_of_row += points.weights[p] * value
        total += sum_of_row
    return total
