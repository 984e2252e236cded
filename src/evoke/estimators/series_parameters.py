"""Parameters of models of series: which belong to rolling origins, which to the evolution of one network."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from inspect import signature
from typing import Any

from evoke._validation.errors import ParameterError, refusal, shown
from evoke._validation.parameters import (
    INT32_MAX,
    check_choice,
    check_flag_or_auto,
    check_integer,
    check_integer_or_none,
    check_lags_or_auto,
    check_positive,
    check_scale,
    is_text,
)
from evoke.engine import entropy_of
from evoke.forecasting.reader import N_JOINED
from evoke.forecasting.settings import RollingSettings
from evoke.landmarks import MOST_LANDMARKS

__all__ = ["check_series_parameters", "of_evolution", "rolling_settings"]

# Parameters that belong to the evolution of one network and its readout.
_OF_EVOLUTION = (
    "gate_bias", "n_generations", "subpopulation_size", "n_trials", "mutation_scale", "burst_patience", "burst_scale",
    "credit", "objective", "readout", "kernel", "gamma", "C", "epsilon", "tol", "solver", "washout", "feedback_scale",
    "validation_mode", "warm_start", "refit", "search", "n_islands",
    "migrate_every", "n_restarts",
)  # fmt: skip


def of_evolution(estimator: Any, declared: type) -> Iterator[str]:
    """The parameters of the evolution and its readout that do not have the defaults of a class, with their values."""
    parameters = signature(declared).parameters
    for name in _OF_EVOLUTION:
        value = getattr(estimator, name)
        rolls = name == "readout" and (is_text(value, "ridge") or is_text(value, "landmarks"))
        if not (_same(value, parameters[name].default) or rolls):
            yield f"{name}={shown(value)}"


def _same(value: Any, default: Any) -> bool:
    """Whether a parameter has its default; an array is none."""
    return value is default or (type(value) is type(default) and bool(value == default))


def rolling_settings(settled: Any) -> RollingSettings:
    """What an `EvokeForecaster` with settled parameters asks of rolling origins."""
    return RollingSettings(
        n_cells=int(settled.n_cells), cell=str(settled.cell), weight_range=float(settled.weight_range),
        n_networks=int(settled.n_networks), season=settled.season, log=settled.log,
        difference="auto" if is_text(settled.difference, "auto") else tuple(map(int, settled.difference)),
        entropy=entropy_of(settled.random_state), max_seconds=settled.max_seconds, verbose=bool(settled.verbose),
        readouts=() if is_text(settled.readout, "auto") else (str(settled.readout),),
        n_landmarks=int(settled.n_landmarks),
    )  # fmt: skip


def check_series_parameters(settled: Any, stated: list[str], reason: str | None) -> None:
    """Check the parameters that only models of series have.

    Parameters
    ----------
    settled : EvokeForecaster
        One in which no parameter is "auto" that stands for something else with each validation.
    stated : list of str
        Those that belong to the evolution.
    reason : str or None
        What made "auto" evolve a network.
    """
    check_positive("feedback_scale", settled.feedback_scale)
    check_choice("validation_mode", settled.validation_mode, ("teacher", "free"))
    check_integer("n_networks", settled.n_networks, 1)
    check_integer_or_none("season", settled.season, 1, INT32_MAX)
    check_lags_or_auto("difference", settled.difference)
    check_flag_or_auto("log", settled.log)
    check_scale(settled.scale)
    if not is_text(settled.validation, "rolling"):
        _check_that_none_needs_rolling_origins(settled, reason)
        return
    check_integer("n_landmarks", settled.n_landmarks, 1, MOST_LANDMARKS)
    if settled.scale is None:
        raise refusal("scale", "be 'standard' with validation='rolling'", None)
    if settled.n_networks > N_JOINED and settled.n_networks % N_JOINED:
        raise refusal("n_networks", f"be a multiple of {N_JOINED}, as each readout reads so many", settled.n_networks)
    if stated:
        raise ParameterError(f"{stated[0]} must come with validation='half' or a number, got 'rolling'")


def _check_that_none_needs_rolling_origins(settled: Any, reason: str | None) -> None:
    needs_it: Mapping[str, bool] = {
        "season": settled.season is not None, "difference": not is_text(settled.difference, "auto"),
        "log": not is_text(settled.log, "auto"), "n_networks": settled.n_networks > 1,
        "scale": settled.scale is not None, "n_landmarks": settled.n_landmarks is not None,
    }  # fmt: skip
    why = "" if reason is None else f", which 'auto' is because of {reason}"
    for name, needs in needs_it.items():
        if needs:
            raise ParameterError(
                f"{name}={shown(getattr(settled, name))} must come with validation='rolling', "
                f"got {shown(settled.validation)}{why}"
            )
