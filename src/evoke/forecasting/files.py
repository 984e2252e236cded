"""What a model file holds of a candidate."""

from __future__ import annotations

from typing import Any

import numpy as np

from evoke._validation.parameters import INT32_MAX, check_integer, check_positive
from evoke.forecasting.candidates import NetworkCandidate, Readouts
from evoke.forecasting.machines import LandmarkReadouts, TrainedMachine
from evoke.forecasting.reader import Reader
from evoke.forecasting.ridge import CAPACITIES, RidgeReadouts
from evoke.persistence.checks import check_flags, check_values
from evoke.sequences.preparation import Units
from evoke.sequences.transformation import Transformation

__all__ = ["candidate_from", "candidate_state", "check_candidate", "check_lags"]


def candidate_state(candidate: NetworkCandidate) -> dict[str, Any]:
    """What a file holds of it."""
    readouts: Any = candidate.readouts
    state = {
        "log": candidate.transformation.log, "lags": candidate.transformation.lags, "mean": candidate.units.mean,
        "deviation": candidate.units.deviation, "centre": readouts.centre, "inverse": readouts.inverse,
        "low": candidate.low, "high": candidate.high,
    }  # fmt: skip
    if isinstance(readouts, RidgeReadouts):
        return state | {"coef": readouts.coef[:, 0], "intercept": readouts.intercept[:, 0]}
    return state | {
        "change_mean": readouts.units.mean, "change_deviation": readouts.units.deviation,
        "machines": [[dict(vars(machine)) for machine in group] for group in readouts.machines],
    }  # fmt: skip


def candidate_from(state: dict[str, Any], reader: Reader) -> NetworkCandidate:
    """The candidate of a file, whose networks are those of a reader."""
    readouts: Readouts
    if "machines" in state:
        readouts = LandmarkReadouts(
            state["centre"], state["inverse"], reader.n_activations,
            Units(state["change_mean"], state["change_deviation"]),
            [[TrainedMachine(**machine) for machine in group] for group in state["machines"]],
        )  # fmt: skip
    else:
        readouts = RidgeReadouts(
            state["centre"], state["inverse"], state["coef"][:, None], state["intercept"][:, None]
        )
    return NetworkCandidate(
        Transformation(state["log"], state["lags"]), Units(state["mean"], state["deviation"]), readouts,
        state["low"], state["high"],
    )  # fmt: skip


def check_candidate(candidate: NetworkCandidate, reader: Reader, n_outputs: int, n_external: int) -> None:
    """That its parts fit together and to the networks.

    Raises
    ------
    ValueError
        They do not.
    """
    q, p = n_outputs, reader.n_activations + len(reader.readout_lags) * n_outputs + n_external
    check_flags(log=candidate.transformation.log)
    check_lags(candidate.transformation.lags)
    for values, name in ((candidate.units.mean, "mean"), (candidate.units.deviation, "deviation"),
                         (candidate.low, "low"), (candidate.high, "high")):  # fmt: skip
        check_values(name, values, (q,))
    readouts = candidate.readouts
    if isinstance(readouts, RidgeReadouts):
        m, c = reader.n_readouts, readouts.n_capacities
        if readouts.n_readouts != m or not 1 <= c <= len(CAPACITIES):
            raise ValueError("the readouts are not those of the networks")
        check_values("coef", readouts.coef, (m, 1, c, p, q))
        check_values("intercept", readouts.intercept, (m, 1, c, q))
    elif isinstance(readouts, LandmarkReadouts):
        m = readouts.n_readouts
        if not 1 <= m <= reader.n_readouts or len({len(group) for group in readouts.machines}) != 1:
            raise ValueError("the machines are not those of the networks")
        check_values("change_mean", readouts.units.mean, (q,))
        check_values("change_deviation", readouts.units.deviation, (q,))
        for machine in np.ravel(np.array(readouts.machines, dtype=object)):
            check_positive("gamma", machine.gamma)
            check_positive("C", machine.C)
            check_values("places", machine.places, (None, p))
            check_values("coef", machine.coef, (len(machine.places), q))
            check_values("intercept", machine.intercept, (q,))
    check_values("centre", candidate.readouts.centre, (m, p))
    check_values("inverse", candidate.readouts.inverse, (m, p))


def check_lags(lags: Any) -> None:
    """That lags of a file are some."""
    if not isinstance(lags, tuple):
        raise ValueError("lags must be a tuple")
    for lag in lags:
        check_integer("lags", lag, 1, INT32_MAX)
