"""`simplify`: a smaller network that is certified to the same counts."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import combinations, pairwise
from typing import Any

import numpy as np
from sklearn.base import clone

from evoke._core.kernel import Kernel
from evoke._validation.arrays import FloatArray
from evoke._validation.errors import refusal
from evoke._validation.parameters import check_integer, check_positive_or_none
from evoke.certification.certificate import MOST_COUNT, Certificate, certify, parts_of
from evoke.certification.families import Family, strings_of
from evoke.certification.trial import Draft, Trials
from evoke.esp import ESP
from evoke.estimators import EvokeClassifier
from evoke.estimators.base import settled_parameters
from evoke.evolution.evaluation import evaluate
from evoke.evolution.problem import Objective, Problem, merge_points
from evoke.evolution.run import RunState
from evoke.readouts import SVMReadout
from evoke.sequences.containers import as_sequences
from evoke.sequences.prefixes import share_prefixes

__all__ = ["Simplified", "Size", "simplify"]

# Sizes of weights that are tried: numbers of one digit other than zero.
LADDER = np.array([digit * unit for unit in 10.0 ** np.arange(7) for digit in range(1, 10)], dtype=np.float64)
# Other values of one weight for which a proof is sought where the smallest has none.
MOST_ALTERNATIVES = 2
# Cells of which all choices are tried; of more, one after the other is left out.
MOST_CHOSEN = 8
# Rounds of changes, each of which makes the network simpler; later ones find little.
MOST_ROUNDS = 4
# The largest whole number in a linear readout.
MOST_IN_READOUT = 9
# Steps of the solver, which needs fewer where the classes can be separated.
MOST_ITERATIONS = 2000
# Symbols of the strings by which readouts are trained: what all counts to 100 of a language of five letters have.
MOST_TRAINED = 26_000

Change = Callable[[Draft], Iterable[Draft]]


@dataclass(frozen=True)
class Size:
    """How large a network and its readout are.

    Attributes
    ----------
    n_cells : int
        Its cells.
    n_weights : int
        Weights of the network that are not zero.
    largest_weight : float
        The largest absolute value of them.
    kernel : str
        That of the readout.
    n_support : int
        Activations that the readout holds; for a linear one, which has weights instead, 0.
    n_coefficients : int
        Numbers of the readout that are not zero: coefficients of the support vectors, or weights, and intercepts.
    """

    n_cells: int
    n_weights: int
    largest_weight: float
    kernel: str
    n_support: int
    n_coefficients: int

    def __str__(self) -> str:
        support = f", {self.n_support} support vectors" if self.kernel != "linear" else ""
        return (f"{self.n_cells} cells, {self.n_weights} weights up to {self.largest_weight:g}; readout: "
                f"{self.kernel}{support}, {self.n_coefficients} coefficients")  # fmt: skip


@dataclass(frozen=True)
class Simplified:
    """What `simplify` made.

    Attributes
    ----------
    model : EvokeClassifier
        The simpler model, fitted.
    certificate : Certificate
        Its certificate, up to the count that the given model is certified to, or further.
    before, after : Size
        Sizes of the given and of the simpler model.
    n_tried, n_proofs : int
        Networks that were tried, and those of them for which a proof was sought.
    finished : bool
        Whether no change was left to be tried; False after `max_seconds` or Ctrl-C.
    """

    model: EvokeClassifier
    certificate: Certificate
    before: Size
    after: Size
    n_tried: int
    n_proofs: int
    finished: bool

    def __str__(self) -> str:
        return "\n".join([
            f"before: {self.before}", f"after:  {self.after}",
            f"certified up to {self.certificate.up_to}, least margin {self.certificate.margin:.3g}",
            f"{self.n_tried} networks tried, {self.n_proofs} proofs{'' if self.finished else '; not finished'}",
        ])  # fmt: skip


class _TimeIsUpError(Exception):
    pass


def simplify(
    model: EvokeClassifier,
    language: str | Family,
    up_to: int = MOST_COUNT,
    *,
    n_max: int = 10,
    max_seconds: float | None = None,
) -> Simplified:
    """Make a certified classifier smaller: fewer cells and weights, small whole numbers, a linear readout.

    Cells are left out, weights set to zero, the others made numbers of one digit other than zero, as small as can be.
    After each change support vector machines are trained anew on strings of the language, linear ones where these are
    right, whose weights become whole numbers up to 9 in the end. What is right on these strings and on some longer ones
    is proved: a change stays only if the model is still certified as far as the given one, with a margin of 0.01 or
    half of the given one. A number for which no such change is found stays as it was. Changes are made one after the
    other, so the result is small but not the smallest there is. It is the same in every call.

    Parameters
    ----------
    model : EvokeClassifier
        As for `certify`.
    language : str or Family
        As for `certify`, but not "dyck1".
    up_to : int, default=2**52
        As for `certify`. Where the model is certified to a smaller count, the result is to at least as much.
    n_max : int, default=10
        The readout is trained on the strings of all counts up to this, which may have 26,000 symbols.
    max_seconds : float or None, default=None
        When to end with what has been reached; so does Ctrl-C. What is reached in a given time is not the same in
        every call.

    Returns
    -------
    Simplified
        Its `model` is a fitted classifier with support vector machines as its readout. Its population, with which
        ``warm_start`` would go on, are copies of its network.

    Raises
    ------
    ParameterError
        A model that `certify` refuses or that is not certified for any count; a number out of range.

    Examples
    --------
    >>> from evoke import EvokeClassifier, certify, tasks
    >>> from evoke.certification import simplify
    >>> from evoke.reproduce import PRESETS
    >>> model = EvokeClassifier(**PRESETS["tuned"], random_state=0).fit(*tasks.anbncn(10))
    >>> small = simplify(model, "anbncn", max_seconds=1.0)
    >>> small.after.n_cells <= 5, certify(small.model, "anbncn").up_to == 2**52
    (True, True)
    """
    family = strings_of(language)
    if not isinstance(family, Family):
        raise refusal("language", "be a family of strings with counts", language)
    n_max = check_integer("n_max", n_max, 1, 100)
    if _n_symbols(family, n_max) > MOST_TRAINED:
        most = max(n for n in range(n_max) if _n_symbols(family, n) <= MOST_TRAINED)
        why = f"as all strings of the family may have {MOST_TRAINED} symbols"
        raise refusal("n_max", f"be at most {most}, {why}", n_max)
    check_positive_or_none("max_seconds", max_seconds)
    deadline = None if max_seconds is None else time.monotonic() + max_seconds
    certificate = certify(model, family, up_to)
    if certificate.up_to == 0:
        raise refusal("model", f"be certified for some count, which it is not: {certificate.reason}", model)
    network, readout = parts_of(model, family)
    machine = _machine(model)
    trials = Trials(model.fitted_, family, n_max, machine, certificate)
    weights = np.array(network.genome.reshape(network.n_cells, 4, -1))
    search = _Search(trials, Draft(weights, readout), certificate, deadline)
    finished = True
    try:
        search.run()
    except (KeyboardInterrupt, _TimeIsUpError):
        finished = False
    kept = search.kept
    small, certificate = _fitted(model, machine, trials, kept), search.certificate
    if certificate.up_to < up_to:  # the simpler network may reach further
        further = certify(small, family, up_to)
        certificate = further if further.up_to > certificate.up_to else certificate
    return Simplified(
        small, certificate, _size(Draft(weights, readout)), _size(kept), trials.n_tried, trials.n_proofs, finished
    )


def _n_symbols(family: Family, n_max: int) -> int:
    """Symbols of all strings with counts from 1 to `n_max`, those of the start included."""
    each, others = n_max * (n_max + 1) // 2, n_max ** (family.n_counts - 1)
    return n_max**family.n_counts + family.length_of_round * each * others


class _Search:
    """The simplest draft so far, and the changes that are tried on it."""

    def __init__(self, trials: Trials, kept: Draft, certificate: Certificate, deadline: float | None):
        self.trials, self.kept, self.certificate, self._deadline = trials, kept, certificate, deadline
        self.n_inputs = kept.weights.shape[2] - len(kept.weights)
        self._failed: set[bytes] = set()

    def run(self) -> None:
        self._choose_cells()
        for _ in range(MOST_ROUNDS):
            changed = self._take(self._zeros(whole=True))
            changed |= self._take(self._zeros(whole=False))
            changed |= self._choose_cells()
            changed |= self._take([_round_all(self._drafts)])
            changed |= self._take(self._smaller())
            if not changed:
                break
        if self.kept.readout.kernel.name == "linear":
            for _ in range(2):  # what is zero then may leave room for smaller numbers
                self._take([self._round_readout(k) for k in range(len(self.kept.readout.intercept))])

    def _drafts(self, weights: FloatArray, kernel: str) -> Iterator[Draft]:
        """The network with a readout that has the kernel, or a simpler one, if it stands the quick checks."""
        if self._deadline is not None and time.monotonic() > self._deadline:
            raise _TimeIsUpError
        draft = self.trials.draft(weights, kernel)
        if draft is not None:
            yield draft

    def _take(self, changes: list[Change]) -> bool:
        """Make those changes that can be proved; whether there were any.

        Many are proved together; where that fails, each half of them.
        """
        trial, made = self.kept, []
        for change in changes:
            found = next(iter(change(trial)), None)
            if found is not None:
                trial = found
                made.append(change)
        if not made:
            return False
        if self._keep(trial):
            return True
        if len(made) > 1:
            half = len(made) // 2
            return self._take(made[:half]) | self._take(made[half:])
        # the first one has failed; a few of the others, as proofs take long, the last and least change among them
        others = list(made[0](self.kept))[1:]
        chosen = {len(others) * (k + 1) // MOST_ALTERNATIVES - 1 for k in range(MOST_ALTERNATIVES)}
        return any(self._keep(others[k]) for k in sorted(chosen) if k >= 0)

    def _keep(self, draft: Draft) -> bool:
        key = draft.weights.tobytes() + draft.readout.dual_coef.tobytes() + draft.readout.intercept.tobytes()
        certificate = None if key in self._failed else self.trials.certified(draft)
        if certificate is None:
            self._failed.add(key)
            return False
        self.kept, self.certificate = draft, certificate
        return True

    def _choose_cells(self) -> bool:
        """Keep the fewest cells that a linear readout will do with, or else the kernel that there is."""
        changed = False
        while True:  # more than once where there are too many cells to try all choices
            now, kernel = len(self.kept.weights), self.kept.readout.kernel.name
            sizes = range(1, now + 1) if now <= MOST_CHOSEN else (now - 1, now)
            if not any(self._choose(size, name) for name in dict.fromkeys(("linear", kernel)) for size in sizes
                       if size < now or name != kernel):  # fmt: skip
                return changed
            changed = True

    def _choose(self, size: int, kernel: str) -> bool:
        weights = self.kept.weights
        for chosen in combinations(range(len(weights)), size):
            for smaller in _left_out(weights, list(chosen), self.n_inputs, self._typical()):
                if any(self._keep(draft) for draft in self._drafts(smaller, kernel)):
                    return True
        return False

    def _typical(self) -> FloatArray:
        return np.median(self.trials.activations(self.kept.weights), axis=0)

    def _zeros(self, whole: bool) -> list[Change]:
        """Changes to zero: of all weights of a gate, all from cells to it, or of each weight."""
        weights, n = self.kept.weights, self.n_inputs
        if not whole:
            return [self._set(place, [0.0]) for place in zip(*np.nonzero(weights), strict=True)]
        parts = [slice(None), slice(n, None), slice(0, n)]
        return [self._set((h, gate, part), [0.0]) for part in parts for h in range(len(weights)) for gate in range(4)
                if weights[h, gate, part].any()]  # fmt: skip

    def _smaller(self) -> list[Change]:
        """Changes of each weight to the smallest number of one digit that will do."""
        weights = self.kept.weights
        places = sorted(zip(*np.nonzero(weights), strict=True), key=lambda place: -abs(weights[place]))
        return [self._set(place, np.sign(weights[place]) * LADDER[LADDER < abs(weights[place])]) for place in places]

    def _set(self, place: Any, values: Any) -> Change:
        def change(draft: Draft) -> Iterator[Draft]:
            for value in values:
                weights = draft.weights.copy()
                weights[place] = value
                if not np.array_equal(weights, draft.weights):
                    yield from self._drafts(weights, draft.readout.kernel.name)

        return change

    def _round_readout(self, k: int) -> Change:
        """The weights of an output become whole numbers, as small as can be."""

        def change(draft: Draft) -> Iterator[Draft]:
            readout, phi = draft.readout, self.trials.activations(draft.weights)
            column = np.append(readout.dual_coef[:, k], readout.intercept[k])
            seen = {column.tobytes()}
            for most in range(1, MOST_IN_READOUT + 1):
                for scale in (most + 0.49) / np.sort(np.abs(column[column != 0.0]))[::-1]:
                    rounded = np.clip(np.rint(column * scale), -most, most)
                    if rounded.tobytes() in seen or (np.abs(rounded) >= np.abs(column)).all():
                        continue
                    seen.add(rounded.tobytes())
                    dual_coef, intercept = readout.dual_coef.copy(), readout.intercept.copy()
                    dual_coef[:, k], intercept[k] = rounded[:-1], rounded[-1]
                    other = replace(readout, dual_coef=dual_coef, intercept=intercept)
                    found = self.trials.with_readout(draft.weights, phi, other)
                    if found is not None:
                        yield found

        return change


def _left_out(weights: FloatArray, chosen: list[int], n_inputs: int, typical: FloatArray) -> Iterator[FloatArray]:
    """The weights of some of the cells; then with what the others mostly give to them made part of the inputs.

    One input is 1 and all others are -1, so what is added to all of them adds its multiple to a gate, at each step.
    """
    columns = [*range(n_inputs), *(n_inputs + h for h in chosen)]
    smaller = np.ascontiguousarray(weights[chosen][:, :, columns])
    yield smaller
    others = [h for h in range(len(weights)) if h not in chosen]
    lost = weights[chosen][:, :, [n_inputs + h for h in others]] @ typical[others]
    if n_inputs != 2 and lost.any():
        shifted = smaller.copy()
        shifted[:, :, :n_inputs] += lost[:, :, None] / (2 - n_inputs)
        yield shifted


def _round_all(drafts: Callable[[FloatArray, str], Iterator[Draft]]) -> Change:
    """All weights of one size, or else none above a size: the smallest size that will do."""

    def change(draft: Draft) -> Iterator[Draft]:
        weights, largest = draft.weights, np.abs(draft.weights).max()
        for alike in (True, False):
            for most in LADDER[LADDER < largest]:
                yield from drafts(np.sign(weights) * (most if alike else np.minimum(np.abs(weights), most)),
                                  draft.readout.kernel.name)  # fmt: skip

    return change


def _machine(model: EvokeClassifier) -> SVMReadout:
    """How readouts with the kernel of the model, or of its width, are trained."""
    parameters, readout = model.get_params(), model.fitted_.readout
    C = model.history_[-1].get("C", parameters["C"]) if model.history_ else parameters["C"]
    if isinstance(C, str):  # what "auto" stands for
        C = 100.0
    gamma = readout.gamma if readout.kernel.name == "rbf" else 0.25
    return SVMReadout(Kernel("rbf", gamma), C=float(C), tol=float(parameters["tol"]), max_iter=MOST_ITERATIONS)


def _size(draft: Draft) -> Size:
    weights, readout = draft.weights, draft.readout
    linear = readout.kernel.name == "linear"
    return Size(
        len(weights), int(np.count_nonzero(weights)), float(np.abs(weights).max()), str(readout.kernel.name),
        0 if linear else len(readout.support_vectors),
        int(np.count_nonzero(readout.dual_coef) + np.count_nonzero(readout.intercept)),
    )  # fmt: skip


def _fitted(model: EvokeClassifier, machine: SVMReadout, trials: Trials, kept: Draft) -> EvokeClassifier:
    """A classifier with this network and readout, whose population are copies of the network."""
    n_cells, kernel = len(kept.weights), kept.readout.kernel
    problem = _problem(trials, machine if kernel.name == "rbf" else replace(machine, kernel=Kernel("linear")))
    parameters = settled_parameters(model, problem) | {
        "n_cells": n_cells, "readout": "svm", "kernel": str(kernel.name), "C": machine.C, "gamma": machine.kernel.gamma,
        "search": "esp", "n_islands": 1, "n_restarts": 1,
    }  # fmt: skip
    other = clone(model).set_params(**parameters)
    names = ("subpopulation_size", "n_trials", "mutation_scale", "burst_patience", "burst_scale", "credit",
             "weight_range")  # fmt: skip
    esp = ESP(
        [kept.genome.shape[1]] * n_cells, random_state=0, **{name: parameters[name] for name in names},
        initial=[np.tile(row, (parameters["subpopulation_size"], 1)) for row in kept.genome],
    )  # fmt: skip
    fitness = float(evaluate(problem, kept.genome[None])[0, :2].sum())
    esp.load_state_dict(esp.state_dict() | {"best_fitness": fitness, "best": kept.genome.ravel()})
    run = RunState(esp, [], 0, problem.digest)
    other.fitted_ = replace(
        model.fitted_, network=trials.network(kept.weights), readout=kept.readout, run=run, slope=None, left_out=None
    )
    return other


def _problem(trials: Trials, machine: SVMReadout) -> Problem:
    """What evolution would go on with: the strings of the training, and the hinge error on them."""
    rows, offsets = trials.rows, trials.offsets
    last = int(np.searchsorted(offsets, trials.n_train))
    segments = share_prefixes(as_sequences([rows[a:b] for a, b in pairwise(offsets[: last + 1])]))
    points = merge_points(segments.row_of, np.where(trials.legal[: trials.n_train], 1.0, -1.0))
    network = trials.fitted.network
    return Problem(segments, points, points, network.cell, network.gate_bias, machine, Objective("hinge"))
