"""The problem that a fit would evolve networks for."""

import pytest


def posed(estimator, *data, **more):
    """That of `fit`, which ends there."""
    problems = []

    def keep(run, **_more):
        problems.append(run.problem)
        raise InterruptedError

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("evoke.estimators.base.evolve", keep)
        with pytest.raises(InterruptedError):
            estimator.fit(*data, **more)
    (problem,) = problems
    return problem
