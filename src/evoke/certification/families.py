"""Families of strings whose blocks are as long as counts say: a^n b^n, a^n b^m c^(n+m) and others."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evoke._validation.arrays import FloatArray
from evoke._validation.errors import refusal

__all__ = ["DYCK1", "FAMILIES", "LANGUAGES", "Brackets", "Family", "Phase", "blocks", "strings_of"]


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
        inputs, outputs = range(self.n_inputs), range(self.n_outputs)
        n_counts = {len(phase.count) for phase in self.phases}
        if len(n_counts) != 1 or n_counts == {0}:
            raise refusal("phases", "have a number for each count, one at least", self.phases)
        for k, phase in enumerate(self.phases):
            place = f"phases[{k}]"
            if not phase.word or any(symbol not in inputs for symbol in phase.word):
                raise refusal(f"{place}.word", f"be symbols below {self.n_inputs}", phase.word)
            if min(phase.count) < 0 or max(phase.count) == 0:
                raise refusal(f"{place}.count", "be integers of at least 0, one of them positive", phase.count)
            if len(phase.within) != len(phase.word):
                raise refusal(f"{place}.within", "have the outputs after each symbol of the word", phase.within)
            if any(output not in outputs for legal in (*phase.within, phase.end) for output in legal):
                raise refusal(f"{place}.within", f"be outputs below {self.n_outputs}", (phase.within, phase.end))
        if self.start not in inputs:
            raise refusal("start", f"be a symbol below {self.n_inputs}", self.start)

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


def blocks(name: str, symbols: str, counts: Sequence[tuple[int, ...]], free: int) -> Family:
    """A block of each symbol in turn; in the first `free` ones the next block may begin after any symbol.

    Inputs are S and the symbols, outputs the symbols and T, the end.
    """
    phases = []
    for k, count in enumerate(counts):
        within = (k, k + 1) if k < free else (k,)
        phases.append(Phase((k + 1,), count, (within,), within if k < free else (k + 1,)))
    return Family(name, len(symbols) + 1, len(symbols) + 1, 0, (0,), tuple(phases))


FAMILIES = {
    family.name: family
    for family in (
        blocks("anbn", "ab", [(1,), (1,)], 1),
        blocks("anb2n", "ab", [(1,), (2,)], 1),
        blocks("anbncn", "abc", [(1,)] * 3, 1),
        blocks("anbncndn", "abcd", [(1,)] * 4, 1),
        blocks("anbncndnen", "abcde", [(1,)] * 5, 1),
        blocks("anbmcn+m", "abc", [(1, 0), (0, 1), (1, 1)], 2),
        blocks("anbmBmAn", "abBA", [(1, 0), (0, 1), (0, 1), (1, 0)], 2),
    )
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
    """The strings of a name or of a language of letters, or the family itself.

    Raises
    ------
    ParameterError
        None of them.
    """
    if isinstance(language, Family):
        return language
    if hasattr(language, "phases") and hasattr(language, "encode"):
        if (language.name, language.symbols) == (DYCK1.name, "()"):
            return DYCK1
        return _of_letters(language)
    if not isinstance(language, str) or language not in LANGUAGES:
        raise refusal("language", f"be a Family or one of {LANGUAGES}", language)
    return DYCK1 if language == DYCK1.name else FAMILIES[language]


def _of_letters(language: Any) -> Family:
    """The family of a language of letters: inputs are S and the letters, outputs the letters and T."""
    inputs, outputs = f"S{language.symbols}", f"{language.symbols}T"
    if any(phase.constant for phase in language.phases):
        raise refusal("language", "have phases whose length is a sum of counts alone", language)

    def legal(letters: str) -> tuple[int, ...]:
        return tuple(sorted(map(outputs.index, letters)))

    phases = tuple(
        Phase(tuple(map(inputs.index, phase.symbols)), tuple(phase.counts), tuple(map(legal, phase.inside)),
              legal(phase.last))
        for phase in language.phases
    )  # fmt: skip
    n_counts = len(phases[0].count)
    _, y = language.encode(language.strings([(1,) * n_counts if n_counts > 1 else 1]))
    return Family(language.name, len(inputs), len(outputs), 0, tuple(map(int, y[0][0].nonzero()[0])), phases)
