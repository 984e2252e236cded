from evoke._core.readout cimport Points

cdef struct Loss:
    # How decisions are compared with targets.
    int objective        # 0 count, 1 hinge, 2 squared
    bint regression      # targets are values, errors below epsilon are free for count and hinge
    bint exclusive       # one class per step, decided by the largest value; else every output decides by itself
    double epsilon
    size_t n_outputs

cdef Loss make_loss(objective, size_t n_outputs) except *
cdef double error(const Loss *loss, int objective, const Points *points, const double *decisions) noexcept nogil
