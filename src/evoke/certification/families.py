"""Families of strings whose blocks are as long as counts say: a^n b^n, a^n b^m c^(n+m) and others."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evoke._validation.arrays import FloatArray
from evoke._validation.errors import refusal
from evoke._validation.parameters import check_integer
from evoke.tasks import Language

__all__ = ["DYCK1", "FAMILIES", "LANGUAGES", "Brackets", "Family", "Phase", "strings_of"]


# Of a family: characters of its name, inputs and outputs, and symbols of the string whose counts are 1.
LONGEST_NAME, MOST_SYMBOLS, MOST_IN_ROUND = 200, 1000, 200

# Free counts: a proof takes about twelve times as long with one more.
MOST_COUNTS = 3


def _check_numbers(name: str, numbers: Any, below: int) -> None:
    """Whether these are a tuple of numbers of symbols, outputs or counts."""
    if not isinstance(numbers, tuple) or not all(type(n) is int and 0 <= n < below for n in numbers):
        raise refusal(name, f"be a tuple of integers from 0 to {below - 1}", numbers)


@dataclass(frozen=True)
class Phase:
    """A word that is repeated as often as the counts say.

    Parameters
    ----------
    word : tuple of int
        The symbols of one repetition, as numbers of inputs.
    count : tuple of int
        How often: the sum of these numbers times the free counts; none is negative, and one is positive.
    within : tuple of tuple of int
        For each symbol of the word, the outputs that may follow it.
    end : tuple of int
        The outputs that may follow the last symbol of the last repetition.

    Examples
    --------
    The b of a^n b^2n, with a number for each of S, a and b, and for each of a, b and the end T:

    >>> from evoke.certification import Phase
    >>> Phase(word=(2,), count=(2,), within=((1,),), end=(2,)).count
    (2,)
    """

    word: tuple[int, ...]
    count: tuple[int, ...]
    within: tuple[tuple[int, ...], ...]
    end: tuple[int, ...]

    def check(self, place: str, n_inputs: int, n_outputs: int) -> None:
        """Whether a family with so many inputs and outputs can have it.

        Parameters
        ----------
        place : str
            What it is called in messages.
        n_inputs, n_outputs : int
            Those of the family.

        Raises
        ------
        ParameterError
            It cannot.
        """
        _check_numbers(f"{place}.word", self.word, n_inputs)
        if not self.word:
            raise refusal(f"{place}.word", "have at least one symbol", self.word)
        _check_numbers(f"{place}.count", self.count, MOST_IN_ROUND + 1)
        if not any(self.count):
            raise refusal(f"{place}.count", "have a number for each count, one of them positive", self.count)
        if not isinstance(self.within, tuple) or len(self.within) != len(self.word):
            raise refusal(f"{place}.within", "have the outputs after each symbol of the word", self.within)
        for j, legal in enumerate(self.within):
            _check_numbers(f"{place}.within[{j}]", legal, n_outputs)
        _check_numbers(f"{place}.end", self.end, n_outputs)


@dataclass(frozen=True)
class Family:
    """Strings made of a start symbol and phases, for all values of the free counts from 1 on.

    Parameters
    ----------
    name : str
        What it is called in the certificate.
    n_inputs : int
        Symbols read, the start symbol among them; an input is 1 for its symbol and -1 for others.
    n_outputs : int
        Symbols that may follow, the end among them.
    start : int
        The start symbol.
    after_start : tuple of int
        The outputs that may follow it.
    phases : tuple of Phase
        In the order in which they are read.

    Raises
    ------
    ParameterError
        A symbol, output or count that cannot be.

    Examples
    --------
    >>> from evoke.certification import FAMILIES
    >>> family = FAMILIES["anbncn"]
    >>> [family.length(phase, [5]) for phase in family.phases]
    [5, 5, 5]
    """

    name: str
    n_inputs: int
    n_outputs: int
    start: int
    after_start: tuple[int, ...]
    phases: tuple[Phase, ...]

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not 0 < len(self.name) <= LONGEST_NAME or not self.name.isprintable():
            raise refusal("name", f"be a text of 1 to {LONGEST_NAME} printable characters", self.name)
        for name in ("n_inputs", "n_outputs"):
            check_integer(name, getattr(self, name), 1, MOST_SYMBOLS)
        check_integer("start", self.start, 0, self.n_inputs - 1)
        _check_numbers("after_start", self.after_start, self.n_outputs)
        phases = self.phases
        if not isinstance(phases, tuple) or not phases or not all(isinstance(phase, Phase) for phase in phases):
            raise refusal("phases", "be a tuple of Phase, one at least", phases)
        for k, phase in enumerate(phases):
            phase.check(f"phases[{k}]", self.n_inputs, self.n_outputs)
        n_counts = {len(phase.count) for phase in phases}
        if len(n_counts) != 1:
            raise refusal("phases", "have a number for each count", phases)
        if self.n_counts > MOST_COUNTS:
            raise refusal("phases", f"have at most {MOST_COUNTS} counts", self.n_counts)
        for k in range(self.n_counts):
            if not any(phase.count[k] for phase in phases):
                raise refusal("phases", f"use each count, number {k} too", phases)
        longest = self.length_of_round
        if longest > MOST_IN_ROUND:
            raise refusal("phases", f"have at most {MOST_IN_ROUND} symbols for each count of one", longest)

    @property
    def length_of_round(self) -> int:
        """Symbols of the string whose free counts are 1."""
        return sum(self.length(phase, (1,) * self.n_counts) for phase in self.phases)

    @property
    def n_counts(self) -> int:
        """Number of free counts."""
        return len(self.phases[0].count)

    def length(self, phase: Phase, counts: Sequence[int]) -> int:
        """Symbols of a phase.

        Parameters
        ----------
        phase : Phase
            One of `phases`.
        counts : sequence of int
            The free counts.

        Returns
        -------
        int
        """
        return len(phase.word) * sum(c * n for c, n in zip(phase.count, counts, strict=True))

    def pieces(self, counts: Sequence[int]) -> Iterator[tuple[FloatArray, NDArray[np.bool_], int]]:
        """The string of some counts in pieces, each of which is repeated.

        Parameters
        ----------
        counts : sequence of int
            The free counts.

        Yields
        ------
        inputs : ndarray of shape (n_steps, n_inputs)
            What is read, 1 for the symbol of a step and -1 for others.
        legal : bool ndarray of shape (n_steps, n_outputs)
            The outputs that may follow each step.
        times : int
            How often in a row.
        """
        yield self._rows((self.start,)), self._legal((self.after_start,)), 1
        for phase in self.phases:
            inputs, times = self._rows(phase.word), self.length(phase, counts) // len(phase.word)
            if times > 1:
                yield inputs, self._legal(phase.within), times - 1
            if times > 0:
                yield inputs, self._legal((*phase.within[:-1], phase.end)), 1

    def encode(self, counts: Sequence[int]) -> tuple[FloatArray, NDArray[np.bool_]]:
        """The string of some counts.

        Parameters
        ----------
        counts : sequence of int
            The free counts.

        Returns
        -------
        inputs : ndarray of shape (n_steps, n_inputs)
            As from `pieces`, one after the other.
        legal : bool ndarray of shape (n_steps, n_outputs)
            Likewise.
        """
        inputs, legal = zip(
            *((np.tile(x, (times, 1)), np.tile(yes, (times, 1))) for x, yes, times in self.pieces(counts)), strict=True
        )
        return np.concatenate(inputs), np.concatenate(legal)

    def _rows(self, symbols: Sequence[int]) -> FloatArray:
        rows = np.full((len(symbols), self.n_inputs), -1.0)
        rows[np.arange(len(symbols)), symbols] = 1.0
        return rows

    def _legal(self, outputs: Sequence[tuple[int, ...]]) -> NDArray[np.bool_]:
        return np.array([[output in each for output in range(self.n_outputs)] for each in outputs])


def _of_blocks(language: Language) -> Family:
    """All strings of a language, if each has its phases: inputs are S and the letters, outputs the letters and T."""
    inputs, outputs = f"S{language.symbols}", f"{language.symbols}T"

    def legal(letters: str) -> tuple[int, ...]:
        return tuple(sorted(map(outputs.index, letters)))

    phases = tuple(
        Phase(tuple(map(inputs.index, phase.symbols)), phase.counts, tuple(map(legal, phase.inside)), legal(phase.last))
        for phase in language.phases
    )
    return Family(language.name, len(inputs), len(outputs), 0, (0,), phases)


# Not those of brackets and words, whose phases are only some of their strings.
FAMILIES = {
    name: _of_blocks(Language(name))
    for name in ("anbn", "anb2n", "anbncn", "anbncndn", "anbncndnen", "anbmcn+m", "anbmBmAn")
}


@dataclass(frozen=True)
class Brackets:
    """All strings of balanced brackets of one kind, and their beginnings, in any number.

    Symbols 0, 1 and 2 are S, "(" and ")"; outputs 0, 1 and 2 are "(", ")" and T, the end.
    """

    name: str
    n_inputs: int = 3
    n_outputs: int = 3


DYCK1 = Brackets("dyck1")
# The names that `certify` knows.
LANGUAGES = (*FAMILIES, DYCK1.name)


def strings_of(language: Any) -> Family | Brackets:
    """The strings of a name or of a language of tasks, or the family itself.

    Raises
    ------
    ParameterError
        None of them; a language of which not all strings can be certified; a family with the name of another one.
    """
    if isinstance(language, Family):
        if language.name in LANGUAGES and language != FAMILIES.get(language.name):
            raise refusal("language", f"have another name than {LANGUAGES} where its strings are others", language.name)
        return language
    name = language.name if isinstance(language, Language) else language
    if not isinstance(name, str) or name not in LANGUAGES:
        raise refusal("language", f"be a Family or one of {LANGUAGES}", language)
    return DYCK1 if name == DYCK1.name else FAMILIES[name]
