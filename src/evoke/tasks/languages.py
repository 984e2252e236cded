"""Formal languages as tasks: strings to be predicted symbol by symbol, and how far a model follows them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import islice, product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evoke._validation.arrays import FloatArray
from evoke._validation.errors import refusal
from evoke._validation.parameters import (
    check_choice,
    check_fraction,
    check_integer,
    check_method,
    check_random_state,
)
from evoke.tasks._limits import MOST_COUNT, MOST_STEPS
from evoke.tasks.grammars import END, GRAMMARS, START, Grammar, Phase

__all__ = ["LANGUAGES", "Language", "Phase", "language"]

LANGUAGES = tuple(GRAMMARS)
# Rows of strings that are tested at a time: bounds the memory of testing strings of any length.
ROWS_AT_ONCE = 65536

Counts = tuple[int, ...]
# Whether decisions (n, n_outputs) are right, given which symbols may follow (n, n_outputs).
Judge = Callable[[FloatArray, NDArray[np.bool_]], bool]


class Language:
    """A formal language to be predicted symbol by symbol, as in the paper's a^n b^n c^n.

    A network reads the start symbol S and the string, one unit a symbol: +1 where it is observed, -1 elsewhere. Targets
    are the symbols that may follow, T being the end.

    Parameters
    ----------
    name : str
        One of `LANGUAGES`. Of the brackets, ``"dyck1"`` has one kind, ``"dyck2"`` two that are nested up to two deep,
        ``"shuffle"`` two of any depth, each balanced by itself. ``"wcwR"`` has a word of a and b, c, and the word
        backwards.

    Attributes
    ----------
    name : str
    symbols : str
        Those of its strings.
    phases : tuple of Phase
        The parts of a family of strings of any length, by free counts of at least one: all of a language of blocks such
        as a^n b^m c^(n+m); of the others (^n )^n, ([])[()] over and over, (^n [^m )^n ]^m, and (ab)^n c (ba)^n.
    n_counts : int
        How many free counts there are.

    Raises
    ------
    ParameterError
        There is no language of this name.

    Examples
    --------
    >>> from evoke.tasks import language
    >>> anbn = language("anbn")
    >>> anbn.strings(3)
    ['ab', 'aabb', 'aaabbb']
    >>> X, y = anbn.encode(["aabb"])
    >>> ["".join("abT"[k] for k in row.nonzero()[0]) for row in y[0]]
    ['a', 'ab', 'ab', 'b', 'T']
    """

    def __init__(self, name: str) -> None:
        check_choice("name", name, LANGUAGES)
        self._grammar: Grammar = GRAMMARS[name]
        self.name = name
        self.symbols = self._grammar.symbols
        self.phases = self._grammar.phases
        self.n_counts = len(self.phases[0].counts)

    def __repr__(self) -> str:
        return f"language({self.name!r})"

    def strings(self, counts: int | Iterable[int] | Iterable[Counts]) -> list[str]:
        """Strings of the family of `phases`.

        Parameters
        ----------
        counts : int, or iterable of int or of tuples of int
            The free counts of each string, at least 1; an integer n stands for all of 1..n.

        Returns
        -------
        list of str

        Raises
        ------
        ParameterError
            Numbers that are not such counts, or more than a hundred million symbols in all.
        """
        listed = self._listed(counts)
        self._check_steps(listed, counts)
        return ["".join(phase.symbols * phase.times(each) for phase in self.phases) for each in listed]

    def sample(self, n: int, random_state: Any = None, p: float = 0.3) -> list[str]:
        """Strings at random, as benchmarks of grammar induction draw them; some may be equal.

        Parameters
        ----------
        n : int
            How many.
        random_state : int, SeedSequence, Generator or None
            Draws them.
        p : float
            Blocks: the free counts are geometric, 1 with probability p. Words: so is their length. Brackets: the
            grammar S -> (S)S with probability p, or nothing; there are empty strings too.

        Returns
        -------
        list of str

        Raises
        ------
        ParameterError
            An argument out of range.
        """
        n = check_integer("n", n, 0, MOST_STEPS)
        check_random_state(random_state)
        check_fraction("p", p)
        rng = np.random.default_rng(random_state)
        return [self._grammar.draw(rng, p) for _ in range(n)]

    def next_symbols(self, string: str) -> list[str]:
        """Which symbols may follow, after the start and after each symbol of a string.

        Parameters
        ----------
        string : str
            One of the language.

        Returns
        -------
        list of str
            T stands for the end.

        Raises
        ------
        ParameterError
            It is not in the language.
        """
        return self._followed(string, "string")

    def encode(
        self, strings: Iterable[str], targets: str = "legal"
    ) -> tuple[list[FloatArray], list[NDArray[np.int64]]]:
        """Strings as inputs and targets of an `EvokeClassifier`.

        Parameters
        ----------
        strings : iterable of str
            Of the language.
        targets : {"legal", "seen"}
            The symbols that may follow by the grammar; or those that follow the same prefix in any of the strings,
            which is all that can be known from them.

        Returns
        -------
        X : list of (n + 1, n_symbols + 1) arrays
            S and the string, of n symbols.
        y : list of (n + 1, n_symbols + 1) arrays of 0 and 1
            Which of the symbols and T may follow.

        Raises
        ------
        ParameterError
            One that is not in the language, or other targets.
        """
        check_choice("targets", targets, ("legal", "seen"))
        if isinstance(strings, str) or not np.iterable(strings):
            raise refusal("strings", "be a list of strings", strings)
        strings = list(strings)
        following = [self._followed(string, f"strings[{k}]") for k, string in enumerate(strings)]
        if targets == "seen":
            following = _seen(strings)
        X = [self._inputs(START + string) for string in strings]
        return X, [self._targets(each).astype(np.int64) for each in following]

    def encode_counts(
        self, counts: int | Iterable[int] | Iterable[Counts]
    ) -> tuple[list[FloatArray], list[NDArray[np.int64]]]:
        """What `encode` makes of ``strings(counts)``, quickly.

        Parameters
        ----------
        counts : int, or iterable of int or of tuples of int
            As in `strings`.

        Returns
        -------
        X, y
            As from `encode`.

        Raises
        ------
        ParameterError
            As in `strings`.
        """
        listed = self._listed(counts)
        self._check_steps(listed, counts)
        X, y = [], []
        for each in listed:
            parts = [(np.tile(x, (times, 1)), np.tile(legal, (times, 1))) for x, legal, times in self._parts(each)]
            X.append(np.concatenate([x for x, _ in parts]))
            y.append(np.concatenate([legal for _, legal in parts]).astype(np.int64))
        return X, y

    def accepts(self, model: Any, counts: int | Counts, max_read: int | None = None) -> bool | None:
        """Whether `model` accepts one string of the family of `phases`, however long: whether all outputs are right.

        What provably repeats is skipped (`evoke.estimators.streams.ClassifierStream.repeat`), so that strings of a
        thousand million symbols take milliseconds where the network counts exactly; the answer is that of reading step
        by step.

        Parameters
        ----------
        model : object with ``stream``
            A fitted `EvokeClassifier`, for instance.
        counts : int or tuple of int
            The free counts of the string.
        max_read : int, optional
            Give up after so many steps that were read, not skipped.

        Returns
        -------
        bool
            Whether an output is positive where its symbol may follow, and only there, at every step; None if given up.

        Raises
        ------
        ParameterError
            Numbers that are no counts, or a model that does not read step by step.
        """
        return self._read(model, counts, _accepted, max_read)

    def predicts(self, model: Any, counts: int | Counts) -> bool:
        """Whether the largest output is right at all steps of a string that only one symbol may follow.

        The score of benchmarks of grammar induction, for models that were trained on the symbols seen.

        Parameters
        ----------
        model, counts
            As in `accepts`.

        Returns
        -------
        bool

        Raises
        ------
        ParameterError
            As in `accepts`.
        """
        return bool(self._read(model, counts, _predicted))

    def accepted(self, model: Any, test_max: int = 2000) -> int:
        """The largest m such that `model` accepts all strings of the family of `phases` with counts up to m.

        Parameters
        ----------
        model : object with ``decision_function`` of a list of sequences
            A fitted `EvokeClassifier`, for instance.
        test_max : int
            Up to which m is tested.

        Returns
        -------
        int
            0 if even the string with counts of 1 is rejected.

        Raises
        ------
        ParameterError
            A number out of range, or a model without decisions.
        """
        test_max = check_integer("test_max", test_max, 1, MOST_COUNT)
        check_method("model", model, "decision_function")
        for batch in self.batches(test_max):
            X, y = self.encode_counts(batch)
            for each, decisions, legal in zip(batch, model.decision_function(X), y, strict=True):
                if not _accepted(decisions, legal > 0):
                    return max(each) - 1
        return test_max

    def predicted(self, model: Any, n_strings: int = 15_000) -> int:
        """How many of the first strings of the family of `phases` `model` predicts, in the sense of `predicts`.

        Parameters
        ----------
        model : object with ``stream``
            A fitted `EvokeClassifier`, for instance.
        n_strings : int
            How many strings are tried, in the order of the largest of their counts.

        Returns
        -------
        int
            At most `n_strings`.

        Raises
        ------
        ParameterError
            A number out of range, or a model that does not read step by step.
        """
        n_strings = check_integer("n_strings", n_strings, 1, MOST_STEPS)
        tried = (each for batch in self.batches(n_strings) for each in batch)
        return sum(self.predicts(model, each) for each in islice(tried, n_strings))

    def batches(self, test_max: int) -> Iterator[list[Counts]]:
        """The free counts up to `test_max`, in the order of the largest of them, some strings at a time.

        Parameters
        ----------
        test_max : int
            The largest count.

        Yields
        ------
        list of tuple of int
            Counts of strings of not too many symbols together.
        """
        batch: list[Counts] = []
        rows = 0
        for largest in range(1, test_max + 1):
            for each in self._with_largest(largest):
                steps = self._steps(each)
                if batch and rows + steps > ROWS_AT_ONCE:
                    yield batch
                    batch, rows = [], 0
                batch.append(each)
                rows += steps
        if batch:
            yield batch

    def _with_largest(self, n: int) -> Iterator[Counts]:
        if self.n_counts == 1:
            yield (n,)
            return
        yield from (each for each in product(range(1, n + 1), repeat=self.n_counts) if max(each) == n)

    def _listed(self, counts: Any) -> list[Counts]:
        if not np.iterable(counts) or isinstance(counts, (str, bytes, Mapping)):
            n = check_integer("counts", counts, 1, MOST_STEPS)
            if n**self.n_counts > MOST_STEPS:
                raise refusal("counts", f"give at most {MOST_STEPS} strings", counts)
            return list(product(range(1, n + 1), repeat=self.n_counts))
        return [self._counts(each, f"counts[{k}]") for k, each in enumerate(counts)]

    def _counts(self, counts: Any, name: str) -> Counts:
        if not np.iterable(counts) or isinstance(counts, (str, bytes, Mapping)):
            counts = (counts,)
        counts = tuple(counts)
        if len(counts) != self.n_counts:
            raise refusal(name, f"be {self.n_counts} integer(s) of at least 1", counts)
        one = self.n_counts == 1
        return tuple(check_integer(name if one else f"{name}[{i}]", n, 1, 2**52) for i, n in enumerate(counts))

    def _steps(self, counts: Counts) -> int:
        return 1 + sum(len(phase.symbols) * phase.times(counts) for phase in self.phases)

    def _check_steps(self, listed: list[Counts], counts: Any) -> None:
        n_steps = sum(map(self._steps, listed))
        if n_steps > MOST_STEPS:
            raise refusal("counts", f"give at most {MOST_STEPS} steps in all, not {n_steps}", counts)

    def _followed(self, string: Any, name: str) -> list[str]:
        found = self._grammar.follow(string) if isinstance(string, str) else None
        if found is None:
            raise refusal(name, f"be a string of the language {self.name}", string)
        return found

    def _inputs(self, symbols: str) -> FloatArray:
        rows = np.full((len(symbols), 1 + len(self.symbols)), -1.0)
        units = START + self.symbols
        rows[np.arange(len(symbols)), [units.index(symbol) for symbol in symbols]] = 1.0
        return rows

    def _targets(self, following: Iterable[str]) -> NDArray[np.bool_]:
        units = self.symbols + END
        return np.array([[unit in each for unit in units] for each in following])

    def _parts(self, counts: Counts) -> Iterator[tuple[FloatArray, NDArray[np.bool_], int]]:
        """Inputs, which symbols may follow, and how often both come."""
        yield self._inputs(START), self._targets([self._grammar.start]), 1
        for phase in self.phases:
            inputs, times = self._inputs(phase.symbols), phase.times(counts)
            if times > 1:
                yield inputs, self._targets(phase.inside), times - 1
            yield inputs, self._targets([*phase.inside[:-1], phase.last]), 1

    def _read(self, model: Any, counts: Any, judge: Judge, max_read: int | None = None) -> bool | None:
        counts = self._counts(counts, "counts")
        left = np.inf if max_read is None else check_integer("max_read", max_read, 1)
        check_method("model", model, "stream")
        reader = model.stream()
        for inputs, legal, times in self._parts(counts):
            for decisions, _ in _repeat(reader, inputs, times):
                if not judge(decisions, np.tile(legal, (len(decisions) // len(legal), 1))):
                    return False
                left -= len(decisions)
                if left < 0:
                    return None
        return True


def _seen(strings: list[str]) -> list[list[str]]:
    """For each string, what follows each of its prefixes in any of them."""
    after = defaultdict(set)
    for string in set(strings):
        for k, symbol in enumerate(string + END):
            after[string[:k]].add(symbol)
    return [["".join(after[string[:k]]) for k in range(len(string) + 1)] for string in strings]


def _accepted(decisions: FloatArray, legal: NDArray[np.bool_]) -> bool:
    return np.array_equal(decisions > 0, legal)


def _predicted(decisions: FloatArray, legal: NDArray[np.bool_]) -> bool:
    certain = legal.sum(axis=1) == 1
    return np.array_equal(decisions[certain].argmax(axis=1), legal[certain].argmax(axis=1))


def _repeat(reader: Any, inputs: FloatArray, times: int) -> Iterator[tuple[FloatArray, int]]:
    """Decisions while the inputs are read so often; readers that cannot skip get them piece by piece."""
    if hasattr(reader, "repeat"):
        yield from reader.repeat(inputs, times)
        return
    at_once = max(1, ROWS_AT_ONCE // len(inputs))
    while times > 0:
        yield reader.decision_function(np.tile(inputs, (min(times, at_once), 1))), 1
        times -= at_once


def language(name: str) -> Language:
    """A formal language by its name.

    Parameters
    ----------
    name : str
        One of `LANGUAGES`: ``"anbn"``, ``"anb2n"``, ``"anbncn"``, ``"anbncndn"``, ``"anbncndnen"``, ``"anbmcn+m"``,
        ``"anbmBmAn"``, ``"dyck1"``, ``"dyck2"``, ``"shuffle"`` or ``"wcwR"``.

    Returns
    -------
    Language

    Raises
    ------
    ParameterError
        There is no language of this name.

    Examples
    --------
    >>> language("anbmcn+m").strings([(1, 2)])
    ['abbccc']
    """
    return Language(name)
