"""Forecasts of series by many random networks, judged by free runs from rolling origins."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import pairwise, product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evoke._core import lstm
from evoke._core.lstm import Network
from evoke._validation.arrays import FloatArray
from evoke._validation.parameters import check_choice, check_integer
from evoke._validation.warn import warn
from evoke.forecasting.candidates import NetworkCandidate, Readouts
from evoke.forecasting.combination import Combination
from evoke.forecasting.files import candidate_from, candidate_state, check_candidate, check_lags
from evoke.forecasting.intervals import Intervals
from evoke.forecasting.judged import JudgedForecasts
from evoke.forecasting.machines import LandmarkReadouts
from evoke.forecasting.naive import naive_paths
from evoke.forecasting.origins import Origins, least_known, mean_change
from evoke.forecasting.parts import Part
from evoke.forecasting.reach import Reach
from evoke.forecasting.reader import N_JOINED, OutOfTime, Reader
from evoke.forecasting.ridge import RidgeReadouts
from evoke.forecasting.settings import RollingSettings
from evoke.memories import Memories
from evoke.persistence.checks import check_feature_names, check_flags, check_values
from evoke.sequences.containers import Sequences
from evoke.sequences.features import Features
from evoke.sequences.preparation import Preparation
from evoke.sequences.reading import ReadsSeries
from evoke.sequences.series import Series
from evoke.sequences.transformation import Transformation

__all__ = ["RollingModel"]

_GATE_BIAS = (0.0, 0.0, 0.0)  # each network has a constant input
_MOST_NUMBERS = 2**28  # in the networks: 2 GiB
_SHORT = 100.0  # the longest memory of those that machines on landmarks read: what drifts is new to such a machine


@dataclass(frozen=True, eq=False, kw_only=True)
class RollingModel(ReadsSeries):
    """Networks and naive methods that continue a series together.

    Attributes
    ----------
    season : int
        1: none.
    n_series : int
        Of `fit`.
    exponent : int ndarray of shape (n_outputs,)
        Values are read times 2 to the power of minus this, which changes no digit.
    preparation : Preparation
        What makes the external inputs of the networks.
    reader : Reader
    candidates : tuple of NetworkCandidate
    combination : Combination
        Of the candidates, then of the naive methods.
    intervals : Intervals
    end : tuple of ndarray
        The (last) series of `fit` without its unit, and the external inputs beside it.
    judged : JudgedForecasts, optional
        How far free runs from the rolling origins were off. It is of the fit alone: files do not have it.
    """

    season: int
    n_series: int
    exponent: NDArray[np.int64]
    preparation: Preparation
    reader: Reader
    candidates: tuple[NetworkCandidate, ...]
    combination: Combination
    intervals: Intervals
    end: tuple[FloatArray, FloatArray]
    judged: JudgedForecasts | None = None
    washout: int = 0

    # ------------------------------------------------------------------ fitting

    @classmethod
    def fit(cls, settings: RollingSettings, series: Series, external: FloatArray, features: Features) -> RollingModel:
        """Draw networks, train readouts before each origin and on all, and weigh them by their free runs."""
        until = time.monotonic() + (np.inf if settings.max_seconds is None else settings.max_seconds)
        given = series.sequences
        exponent = np.frexp(np.abs(given.rows).max(axis=0))[1].astype(np.int64)
        preparation = Preparation.of(_external(external), lags=(), scaled=True)
        prepared = preparation.apply(_external(external)).rows
        scaled = np.ldexp(given.rows, -exponent)
        parts = [(scaled[a:b], prepared[a:b]) for a, b in pairwise(given.offsets.tolist())]
        values = [y for y, _ in parts]

        season = settings.n_season
        origins = Origins.of(given.lengths.tolist(), season)
        scale = origins.scale(values, season)  # as if all errors were in the last series
        truth = scale * origins.truth(values)
        settings = settings.settled(len(scaled))
        reader = _draw(settings, given.rows.shape[1], prepared.shape[1], max(origins.lengths))

        candidates, paths = [], []
        for transformation, kind in product(settings.transformations(given.rows), settings.readouts):
            if origins.least_before(transformation.start) < least_known(season):
                continue
            train, read_by = _trainer(kind, settings, reader)
            try:  # the first one is fitted in any case
                candidate, runs = NetworkCandidate.fit(
                    read_by, transformation, parts, origins, train, until if candidates else np.inf
                )
            except OutOfTime:
                break
            candidates.append(candidate)
            paths.append(scale * runs)
            if settings.verbose:
                _report(transformation, kind, paths[-1], truth)
            if time.monotonic() >= until:
                break
        if not candidates:
            n_steps = max(origins.lengths)
            too_few = f"y has n_samples={n_steps} steps, too few to train networks before the first rolling origin"
            if settings.stated:
                raise ValueError(f"{too_few} with difference={settings.difference!r} and log={settings.log!r}")
            warn(f"{too_few}: the forecasts are those of naive methods")
        naive = [
            naive_paths(values[i], origins.steps[i], season, origins.n_judged, seasonal=season > 1)
            for i in origins.judged
        ]
        paths += [scale * np.concatenate(of_one_method, axis=1) for of_one_method in zip(*naive, strict=True)]
        low, high = (scale * bound for bound in origins.bounds(values))
        combination = Combination.of(paths, truth, low, high)
        if settings.has_machines:  # a step of theirs takes long, and so does their training on all rows
            kept = combination.used(len(candidates))
            paths = [path[k] for path, k in zip(paths, kept, strict=True) if len(k)]
            candidates = [one.only(k) for one, k in zip(candidates, kept, strict=False) if len(k)]
            combination = Combination.of(paths, truth, low, high)
        candidates = [one.of_all(reader.first(one.readouts.n_readouts), parts, origins) for one in candidates]
        errors = combination.left_out(paths, truth, origins.far) - truth
        off = [path[0] - truth for path in paths[-len(naive[0]) :]]
        judged = JudgedForecasts.of(errors, off, mean_change(values[-1], season), season)
        errors *= origins.liveliness(values, season)
        return cls(
            features=features, flat=series.flat, index=series.end, season=season,
            n_series=len(parts), exponent=exponent, preparation=preparation, reader=reader,
            candidates=tuple(candidates), combination=combination,
            intervals=Intervals.of(errors, origins.n_apart), end=parts[-1], judged=judged,
        )  # fmt: skip

    # ------------------------------------------------------------------ use

    @property
    def n_outputs(self) -> int:
        return len(self.exponent)

    @property
    def network(self) -> Network:
        return self.reader.networks

    @property
    def networks(self) -> list[Network]:
        """The networks one by one."""
        return self.reader.each()

    @property
    def n_needed(self) -> int:
        """Steps of a context: those that differences, lags and a season go back; networks may remember more."""
        starts = [candidate.transformation.start + self.reader.n_before for candidate in self.candidates]
        return max(self.season, *starts, 1)

    def reader_of(self, candidate: NetworkCandidate) -> Reader:
        """The networks that a candidate reads."""
        return self.reader.first(candidate.readouts.n_readouts)

    def candidates_for(self, y: FloatArray) -> Iterator[NetworkCandidate | None]:
        """The candidates, in the units of y where several series were learned; None: y is too short."""
        for candidate in self.candidates:
            if len(y) <= candidate.transformation.start or (candidate.transformation.log and not (y > 0.0).all()):
                yield None
            else:
                yield candidate.own_units(y) if self.n_series > 1 else candidate

    def continued(
        self, known: FloatArray | None, external: FloatArray, n_steps: int, level: float | None, *, warns: bool = True
    ) -> tuple[FloatArray, FloatArray]:
        """What follows a series (T, n_outputs), by default that of `fit`, and half the widths of intervals around it.

        External inputs are those of the steps that are continued, after those of `known`. By default it warns of a
        forecast that leaves the range of the data.
        """
        ahead = self.preparation.apply(_external(external)).rows
        if known is None:
            y, inputs = self.end[0], np.concatenate([self.end[1], ahead])
        else:
            y, inputs = np.ldexp(known, -self.exponent), ahead
        if n_steps == 0:
            return np.empty((0, self.n_outputs)), np.empty((0, self.n_outputs))
        paths = [
            np.full((candidate.readouts.n_capacities, n_steps, self.n_outputs), np.nan)
            if here is None
            else here.paths(self.reader_of(here), y, inputs, n_steps)
            for candidate, here in zip(self.candidates, self.candidates_for(y), strict=True)
        ]
        naive = naive_paths(y, [len(y)], self.season, n_steps, seasonal=self.season > 1)
        reach = Reach.of([y, self.end[0]] if self.n_series == 1 else [y], self.season, n_steps)
        values, held = self.combination.combine([*paths, *(path[:, 0] for path in naive)], reach)
        far = reach.leaves(values)
        if warns and far.any():
            step = int(np.argmax(far.any(axis=1)))
            warn(f"the forecast leaves the range of the data by more than that range, from step {step} on")
        widths = np.zeros_like(values)
        if level is not None:
            widths = self.intervals.half_widths(n_steps, level, reach.growth)
            if self.n_series > 1:
                widths *= mean_change(y, self.season) / mean_change(self.end[0], self.season)
            widths += held
        return np.ldexp(values, self.exponent), np.ldexp(widths, self.exponent)

    def one_step(self, series: Series, external: FloatArray) -> FloatArray:
        """Predictions (n_rows, n_outputs) of every value from the true ones before it."""
        inputs = self.preparation.apply(_external(external)).rows
        rows, offsets = np.ldexp(series.sequences.rows, -self.exponent), series.sequences.offsets
        parts = [self._one_step(rows[a:b], inputs[a:b]) for a, b in pairwise(offsets.tolist())]
        return np.ldexp(np.concatenate(parts), self.exponent)

    def _one_step(self, y: FloatArray, inputs: FloatArray) -> FloatArray:
        weights, best = self.combination.weights(1)
        said = [
            np.full_like(y, np.nan)
            if candidate is None
            else candidate.one_step(self.reader_of(candidate), y, inputs, best[k][0])
            for k, candidate in enumerate(self.candidates_for(y))
        ]
        start = (y if self.n_series > 1 else self.end[0]).mean(axis=0)  # nothing is known before the first step
        before = np.concatenate([start[None], y[:-1]])
        mean = np.concatenate([start[None], np.cumsum(y, axis=0)[:-1] / np.arange(1, len(y))[:, None]])
        said += [before, mean]
        if self.season > 1:
            said.append(np.concatenate([np.full_like(y[: self.season], np.nan), y[: -self.season]])[: len(y)])
        values = np.stack(said)
        known = np.isfinite(values)
        share = np.where(known, weights, 0.0) + np.where(known, 1e-200, 0.0)
        return (share * np.where(known, values, 0.0)).sum(axis=0) / share.sum(axis=0)

    def follow(self, series: Series, external: FloatArray) -> FloatArray:
        """Activations (n_rows, n_networks * n_cells) on the series, in the transformation with the largest weight."""
        if not self.candidates:
            raise ValueError("the series of fit was too short to train networks, so there are no activations")
        weights, _ = self.combination.weights(1)
        k = int(weights[: len(self.candidates), 0].mean(axis=1).argmax())
        inputs = self.preparation.apply(_external(external)).rows
        rows, offsets = np.ldexp(series.sequences.rows, -self.exponent), series.sequences.offsets
        found = []
        for i, (a, b) in enumerate(pairwise(offsets.tolist())):
            candidate = list(self.candidates_for(rows[a:b]))[k]
            if candidate is None:
                raise ValueError(f"series {i} of y is too short, or not positive, for the transformation of the model")
            for _, features in candidate.follow(self.reader, rows[a:b], inputs[a:b]).blocks():
                phi = features[:, :, : self.reader.n_activations]
                found.append(phi.transpose(1, 0, 2).reshape(phi.shape[1], -1))
        return np.concatenate(found)

    # ------------------------------------------------------------------ files

    def state(self) -> dict[str, Any]:
        """What a model file holds."""
        names = {} if self.features.names is None else {"feature_names_in_": self.features.names}
        index = {} if self.index is None else {"_index": self.index}
        return names | index | {
            "n_features_in_": self.features.n, "genome_": self.network.genome, "_cell": self.network.cell,
            "n_outputs_": self.n_outputs, "_flat": self.flat,
            "_rolling": {
                "season": self.season, "n_series": self.n_series, "exponent": self.exponent,
                "input_mean": self.preparation.mean, "input_inverse": self.preparation.inverse,
                "n_joined": self.reader.n_joined, "lags": self.reader.lags, "readout_lags": self.reader.readout_lags,
                "candidates": [candidate_state(candidate) for candidate in self.candidates],
                "errors": list(self.combination.errors), "sound": list(self.combination.sound),
                "growth": self.intervals.growth, "ratios": self.intervals.ratios,
                "n_independent": self.intervals.n_independent,
                "y": self.end[0], "external": self.end[1],
            },
        }  # fmt: skip

    @classmethod
    def fields(cls, state: dict[str, Any], estimator: str) -> dict[str, Any]:
        """The fields of a model, from what `state` gave.

        Raises
        ------
        Exception
            Of some kind, for what no model can have.
        """
        own = state["_rolling"]
        check_values("genome_", state["genome_"], (None, None, None))
        check_choice("_cell", state["_cell"], lstm.CELLS)
        check_flags(_flat=state["_flat"])
        check_integer("n_outputs_", state["n_outputs_"], 1)
        if len(own["exponent"]) != state["n_outputs_"]:
            raise ValueError(f"the series does not have n_outputs_={state['n_outputs_']!r} outputs")
        features = Features(
            estimator, check_integer("n_features_in_", state["n_features_in_"], 0), state.get("feature_names_in_")
        )
        network = Network(state["genome_"], state["_cell"], _GATE_BIAS)
        reader = Reader(network, own["n_joined"], own["lags"], own["readout_lags"])
        return {
            "features": features, "flat": state["_flat"], "index": state.get("_index"), "season": own["season"],
            "n_series": own["n_series"], "exponent": own["exponent"],
            "preparation": Preparation((), own["input_mean"], own["input_inverse"]), "reader": reader,
            "candidates": tuple(candidate_from(c, reader) for c in own["candidates"]),
            "combination": Combination(own["errors"], own["sound"]),
            "intervals": Intervals(own["growth"], own["ratios"], own["n_independent"]),
            "end": (own["y"], own["external"]),
        }  # fmt: skip

    def check(self) -> None:
        """That the parts of a model fit together.

        Raises
        ------
        ValueError
            They do not.
        """
        q, n_external = self.n_outputs, self.features.n
        if self.features.names is not None:
            check_feature_names(self.features.names, n_external)
        for name, least in (("season", 1), ("n_series", 1)):
            check_integer(name, getattr(self, name), least)
        reader, genome = self.reader, self.network.genome
        for lags in (reader.lags, reader.readout_lags):
            check_lags(lags)
        n_networks, n_cells, _ = genome.shape
        n_inputs = len(reader.lags) * q + n_external + 1
        check_values("genome_", genome, (n_networks, n_cells, 4 * (n_inputs + n_cells)))
        if 0 in (n_networks, n_cells) or n_networks % check_integer("n_joined", reader.n_joined, 1):
            raise ValueError("the networks do not fill the readouts")
        if self.exponent.dtype != np.int64 or np.abs(self.exponent).max() > _MOST_EXPONENT:
            raise ValueError("exponent must hold those of float64")
        check_values("input_mean", self.preparation.mean, (n_external,))
        check_values("input_inverse", self.preparation.inverse, (n_external,))
        check_values("y", self.end[0], (None, q))
        check_values("external", self.end[1], (len(self.end[0]), n_external + 1))
        for candidate in self.candidates:
            check_candidate(candidate, reader, q, n_external)
        errors, sound, judged = self.combination.errors, self.combination.sound, len(self.intervals.growth)
        n_capacities = [one.readouts.n_capacities for one in self.candidates] + [1] * (3 if self.season > 1 else 2)
        if not len(errors) == len(sound) == len(n_capacities):
            raise ValueError("the errors are not those of the candidates")
        for e, s, n in zip(errors, sound, n_capacities, strict=True):
            check_values("errors", np.nan_to_num(e, posinf=0.0), (n, judged, q))
            if s.dtype != bool or s.shape != (n, q):
                raise ValueError("sound must be flags of the capacities")
        check_values("growth", self.intervals.growth, (judged, q))
        check_values("ratios", self.intervals.ratios, (None, q))
        check_values("n_independent", self.intervals.n_independent, (q,))
        if (self.intervals.n_independent < 1).any():
            raise ValueError("n_independent must be at least 1")
        if 0 in (judged, len(self.intervals.ratios), len(self.end[0])):
            raise ValueError("there is no series, or no error from a rolling origin")
        self.check_index()


_MOST_EXPONENT = 1100


def _draw(settings: RollingSettings, n_outputs: int, n_external: int, n_steps: int) -> Reader:
    """Random networks for the longest series."""
    lags, readout_lags = settings.lags
    n_inputs = len(lags) * n_outputs + n_external
    shape = (settings.n_networks * settings.n_cells, 4 * (n_inputs + settings.n_cells))
    if shape[0] * shape[1] > _MOST_NUMBERS:
        raise ValueError(f"n_cells={settings.n_cells} makes networks of more than {_MOST_NUMBERS} numbers in all")
    joined = min(N_JOINED, settings.n_networks)
    generator = np.random.default_rng(settings.entropy)
    genome = Memories(n_inputs, settings.weight_range, float(n_steps))(generator, shape)
    if settings.has_machines:
        n = min(joined * settings.n_machines, settings.n_networks) * settings.n_cells
        genome[:n] = Memories(n_inputs, settings.weight_range, _SHORT)(generator, (n, shape[1]))
    network = Network(genome.reshape(settings.n_networks, settings.n_cells, -1), settings.cell, _GATE_BIAS)
    return Reader(network, joined, lags, readout_lags)


def _trainer(
    kind: str, settings: RollingSettings, reader: Reader
) -> tuple[Callable[[list[Part], float], Readouts], Reader]:
    """What trains readouts of a kind, and the networks that they read."""
    if kind == "ridge":
        return RidgeReadouts.fit, reader
    fit = partial(LandmarkReadouts.fit, n_landmarks=settings.n_landmarks, last=reader.n_activations)
    return fit, reader.first(min(settings.n_machines, reader.n_readouts))


def _external(rows: FloatArray) -> Sequences:
    return Sequences(rows, np.array([0, len(rows)]), "2d")


def _report(transformation: Transformation, readouts: str, paths: FloatArray, truth: FloatArray) -> None:
    error = np.abs(paths - truth).mean(axis=(1, 2, 3)).min()
    relative = error / max(np.abs(np.diff(truth, axis=1)).mean() if truth.shape[1] > 1 else 1.0, 1e-300)
    kind = "logarithm" if transformation.log else "values"
    print(
        f"{kind}, differences {transformation.lags}, {readouts}: mean error of free runs {relative:.4g} mean steps",
        file=sys.stderr,
    )
