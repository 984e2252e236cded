"""Formal languages: their symbols, what may follow each prefix, and strings drawn at random."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

__all__ = ["END", "GRAMMARS", "START", "Grammar", "Phase"]

START, END = "S", "T"
LONGEST_DRAWN = 10**4  # symbols of a string with brackets that is drawn; longer ones are closed


@dataclass(frozen=True)
class Phase:
    """A part of a string: the same symbols over and over.

    Parameters
    ----------
    symbols : str
        One period.
    counts : tuple of int
        How often they come: the sum of the free counts of the string, each times one of these integers, and `constant`.
    inside : tuple of str
        Which symbols may follow each symbol of the period.
    last : str
        Which may follow the last symbol of the phase.
    constant : int
        Part of the sum.

    Examples
    --------
    >>> from evoke.tasks import Phase
    >>> Phase("c", (1, 1), ("c",), "T").times((2, 3))
    5
    """

    symbols: str
    counts: tuple[int, ...]
    inside: tuple[str, ...]
    last: str
    constant: int = 0

    def times(self, counts: tuple[int, ...]) -> int:
        """How often the period comes.

        Parameters
        ----------
        counts : tuple of int
            The free counts of the string.

        Returns
        -------
        int
            The sum.
        """
        return sum(a * n for a, n in zip(self.counts, counts, strict=True)) + self.constant


@dataclass(frozen=True)
class Grammar:
    """A language.

    Attributes
    ----------
    symbols : str
        All of its symbols, without start and end.
    start : str
        Which symbols a string may begin with; `END` if it may be empty.
    phases : tuple of Phase
        Strings of any length that are in the language, by free counts of at least one.
    follow : callable
        Which symbols may follow after the start and after each symbol of a string; None if it is not in the language.
    draw : callable
        A string, given a random generator and the probability p.
    """

    symbols: str
    start: str
    phases: tuple[Phase, ...]
    follow: Callable[[str], list[str] | None]
    draw: Callable[[np.random.Generator, float], str]


def _blocks(*phases: Phase) -> Grammar:
    """All strings of these phases, in each of which one free count, or their sum, says how often a letter comes."""
    n_counts = len(phases[0].counts)
    free = [next(k for k, phase in enumerate(phases) if _unit(phase.counts, i)) for i in range(n_counts)]
    pattern = re.compile("".join(f"({phase.symbols}+)" for phase in phases))

    def spelled(counts: tuple[int, ...]) -> str:
        return "".join(phase.symbols * phase.times(counts) for phase in phases)

    def follow(string: str) -> list[str] | None:
        match = pattern.fullmatch(string)
        counts = tuple(len(match[1 + k]) for k in free) if match else ()
        if not match or spelled(counts) != string:
            return None
        found = [phases[0].symbols]
        for phase in phases:
            found += [phase.inside[0]] * (phase.times(counts) - 1) + [phase.last]
        return found

    def draw(rng: np.random.Generator, p: float) -> str:
        return spelled(tuple(int(n) for n in rng.geometric(p, n_counts)))

    symbols = "".join(dict.fromkeys(phase.symbols for phase in phases))
    return Grammar(symbols, phases[0].symbols, phases, follow, draw)


def _unit(counts: tuple[int, ...], i: int) -> bool:
    return all(a == (k == i) for k, a in enumerate(counts))


def _equal_blocks(letters: str) -> Grammar:
    """a^n b^n, a^n b^n c^n and so on."""
    first, rest = letters[0], letters[1:]
    after = [*rest[1:], END]
    return _blocks(
        Phase(first, (1,), (first + rest[0],), first + rest[0]),
        *(Phase(letter, (1,), (letter,), last) for letter, last in zip(rest, after, strict=True)),
    )


def _brackets(pairs: str, depth: int | None, phases: tuple[Phase, ...], *, shuffled: bool = False) -> Grammar:
    """Balanced brackets, at most `depth` deep; if `shuffled`, each kind by itself, as though there were no others."""
    opening, closing = pairs[::2], pairs[1::2]

    def may_follow(open_now: list[str]) -> str:
        found = opening if depth is None or len(open_now) < depth else ""
        if not open_now:
            return found + END
        closable = open_now if shuffled else open_now[-1:]
        return found + "".join(c for o, c in zip(opening, closing, strict=True) if o in closable)

    def follow(string: str) -> list[str] | None:
        open_now: list[str] = []
        found = [may_follow(open_now)]
        for symbol in string:
            if symbol not in found[-1] or symbol == END:
                return None
            if symbol in opening:
                open_now.append(symbol)
            else:
                partner = opening[closing.index(symbol)]
                del open_now[len(open_now) - 1 - open_now[::-1].index(partner)]
            found.append(may_follow(open_now))
        return None if open_now else found

    def one_kind(rng: np.random.Generator, p: float, kinds: str) -> str:
        """By S -> (S)S with probability p, or nothing."""
        string, waiting = "", [""]  # what is to come after each S that is not yet expanded
        while waiting:
            deep = len(waiting) - 1
            if len(string) < LONGEST_DRAWN and (depth is None or deep < depth) and rng.random() < p:
                kind = kinds[int(rng.integers(len(kinds)))]
                string += kind
                waiting.append(closing[opening.index(kind)])
            else:
                string += waiting.pop()
        return string

    def draw(rng: np.random.Generator, p: float) -> str:
        if not shuffled:
            return one_kind(rng, p, opening)
        parts = [one_kind(rng, p, kind) for kind in opening]
        order = rng.permutation(np.repeat(np.arange(len(parts)), [len(part) for part in parts]))
        each = [iter(part) for part in parts]
        return "".join(next(each[k]) for k in order)

    return Grammar(pairs, opening + END, phases, follow, draw)


def _mirrored() -> Grammar:
    """w c w^R: a word of a and b, and the same from behind."""

    def follow(string: str) -> list[str] | None:
        word, middle, behind = string.partition("c")
        if not (word and middle and behind == word[::-1] and set(word) <= set("ab")):
            return None
        return ["ab", *["abc"] * len(word), *behind, END]

    def draw(rng: np.random.Generator, p: float) -> str:
        word = "".join("ab"[k] for k in rng.integers(2, size=int(rng.geometric(p))))
        return f"{word}c{word[::-1]}"

    phases = (
        Phase("ab", (1,), ("abc", "abc"), "abc"),
        Phase("c", (0,), ("b",), "b", constant=1),
        Phase("ba", (1,), ("a", "b"), END),
    )
    return Grammar("abc", "ab", phases, follow, draw)


def _nested(kind: str, counts: tuple[int, ...], following: tuple[str, str]) -> Phase:
    """A bracket, open or closed, over and over: what may follow it, and follow the last of them."""
    return Phase(kind, counts, (following[0],), following[1])


GRAMMARS: dict[str, Grammar] = {
    "anbn": _equal_blocks("ab"),
    "anb2n": _blocks(Phase("a", (1,), ("ab",), "ab"), Phase("b", (2,), ("b",), END)),
    "anbncn": _equal_blocks("abc"),
    "anbncndn": _equal_blocks("abcd"),
    "anbncndnen": _equal_blocks("abcde"),
    "anbmcn+m": _blocks(
        Phase("a", (1, 0), ("ab",), "ab"), Phase("b", (0, 1), ("bc",), "bc"), Phase("c", (1, 1), ("c",), END)
    ),
    "anbmBmAn": _blocks(
        Phase("a", (1, 0), ("ab",), "ab"), Phase("b", (0, 1), ("bB",), "bB"), Phase("B", (0, 1), ("B",), "A"),
        Phase("A", (1, 0), ("A",), END),
    ),
    "dyck1": _brackets("()", None, (_nested("(", (1,), ("()", "()")), _nested(")", (1,), ("()", "(" + END)))),
    "dyck2": _brackets(
        "()[]", 2,
        (Phase("([])[()]", (1,), ("([)", "]", "([)", "([T", "([]", ")", "([]", "([T"), "([T"),),
    ),
    "shuffle": _brackets(
        "()[]", None,
        (
            _nested("(", (1, 0), ("([)", "([)")), _nested("[", (0, 1), ("([)]", "([)]")),
            _nested(")", (1, 0), ("([)]", "([]")), _nested("]", (0, 1), ("([]", "([T")),
        ),
        shuffled=True,
    ),
    "wcwR": _mirrored(),
}  # fmt: skip
