"""Formal languages beyond the paper's: learnt from few strings, tested on very long ones."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice
from typing import Any

import numpy as np

from evoke import tasks
from evoke._validation.errors import refusal
from evoke._validation.parameters import check_callbacks, check_choice, check_integer
from evoke.callbacks import EarlyStopping
from evoke.certification import LANGUAGES, CertifiedStop, certify
from evoke.estimators import EvokeClassifier
from evoke.evolution.run import Callback
from evoke.reproduce._runs import Interrupted, Progress, carry_out, check_run, check_runs, timed_fit
from evoke.reproduce._statistics import quartiles
from evoke.reproduce.presets import PRESETS

__all__ = ["LONG_COUNTS", "PUBLISHED_LANGUAGES", "languages", "run_language", "training_strings"]

# Lan et al. (2022), minimum description length networks: share of test strings that are right, in per cent, after 100
# and after 500 strings drawn from a grammar. They are not told which symbols may follow; ours are.
PUBLISHED_LANGUAGES: dict[str, tuple[float, float]] = {
    "anbn": (100.0, 100.0), "anbncn": (96.5, 100.0), "anbncndn": (68.6, 99.9), "anbmcn+m": (98.9, 100.0),
    "dyck1": (69.9, 100.0),
}  # fmt: skip

# Single long strings that every run is tested on as well: all free counts have this value.
LONG_COUNTS = (10_000, 1_000_000, 1_000_000_000)
# Steps of them that may have to be read one by one, where a network does not count exactly.
MOST_READ = 5_000_000
# Up to which count all strings are tested; with two counts their number is the square.
TEST_MAX = {1: 1000, 2: 60}
# Strings that are drawn where a language has no small list of them.
N_DRAWN, N_TRAINING, N_TESTED = 5000, 100, 200
# The fitness that ends a run on a language that cannot be certified: all margins are as wide as they should be.
LEARNT = 1e-9
LARGEST_N_MAX = 40
# Where no proof says which of the networks that fit is right: so many searches side by side, of which the better halves
# go on, and readouts that learn only from strings of at most this share of the longest, so that networks are judged by
# strings longer than theirs. One search seldom learns "shuffle", and CMA-ES finds more exact counters there than ESP.
# Tried with seeds from 1000 on.
UNPROVED: dict[str, Any] = {"search": "cmaes", "n_restarts": 8, "n_generations": 100}
SHORT = 0.6
# What is to be certified: counts whose sum floating point has exactly.
CERTIFIED = {1: 2**52, 2: 2**51}


def training_strings(name: str, n_max: int = 10) -> list[str]:
    """The strings that the runs of a language learn from, all different.

    Parameters
    ----------
    name : str
        One of `evoke.tasks.LANGUAGES`.
    n_max : int
        Languages of blocks: all counts up to it; with two free counts, up to half of it. Others: the first 100
        different strings of up to 2 `n_max` symbols that are drawn.

    Returns
    -------
    list of str
        They are in a fixed order.
    """
    language = tasks.language(name)
    n_max = check_integer("n_max", n_max, 2, LARGEST_N_MAX)
    if _of_blocks(name):
        return language.strings(n_max if language.n_counts == 1 else n_max // 2)
    drawn = (string for string in language.sample(N_DRAWN, 0, p=0.45) if 0 < len(string) <= 2 * n_max)
    return sorted(islice(dict.fromkeys(drawn), N_TRAINING), key=lambda string: (len(string), string))


def _of_blocks(name: str) -> bool:
    return name.startswith("anb")


def _test_strings(name: str) -> list[str]:
    """Strings at random that are much longer than those of the training."""
    drawn = tasks.language(name).sample(N_DRAWN, 1, p=0.02 if _of_blocks(name) or name == "wcwR" else 0.49)
    return list(islice(dict.fromkeys(string for string in drawn if 20 < len(string) <= 2000), N_TESTED))


def _model(language: str, n_generations: int | None, **others: Any) -> EvokeClassifier:
    parameters = PRESETS["languages"] | ({} if language in LANGUAGES else UNPROVED) | {"n_jobs": 1} | others
    if n_generations is not None:
        parameters["n_generations"] = n_generations
    return EvokeClassifier(**parameters)


def _check(seed: Any, n_max: Any, n_generations: Any) -> None:
    check_integer("n_max", n_max, 2, LARGEST_N_MAX)
    check_run(seed, "tuned", "auto", "svm", n_generations)


def run_language(
    seed: int,
    language: str,
    n_max: int = 10,
    n_generations: int | None = None,
    callbacks: Iterable[Callback] | None = None,
    strings: Iterable[str] | None = None,
) -> dict[str, Any]:
    """One run on a formal language: evolve on few short strings, then measure how far the model generalises.

    The strings are so few that all of them are used to train readouts and to judge networks. A run ends as soon as its
    network is certified, where `evoke.certify` knows the language (`evoke.certification.CertifiedStop`). Where it does
    not, the run consists of eight searches by CMA-ES (``n_restarts=8``), readouts learn from the strings of at most 0.6
    times the symbols of the longest, and it ends as soon as the fitness is nearly 0.

    Parameters
    ----------
    seed : int
        Seed of the run: the ``random_state`` of the classifier.
    language : str
        One of `evoke.tasks.LANGUAGES`.
    n_max, n_generations
        As in `languages`.
    callbacks : iterable of callables, optional
        Passed to `EvokeClassifier`.
    strings : iterable of str, optional
        Learn from these, not from `training_strings`.

    Returns
    -------
    dict
        ``language``; ``seed``; ``accepted``, the largest m such that all strings of the family with counts up to m are
        accepted, up to 1000, or 60 with two counts; ``certified``, whether `evoke.certify` proves that for counts up to
        2^52, or 2^51 with two counts, and for all strings of brackets up to this depth, None where it does not know the
        language; ``sampled``, the share of random strings of 20 to 2000 symbols that are accepted; ``spot``, whether
        single long strings are accepted, by their counts, None where that would take too long; ``fitness``,
        ``generations``, ``evaluations`` and ``seconds`` of the evolution. What is certified is accepted; only the
        random and the long strings are tested all the same.
    """
    check_choice("language", language, tasks.LANGUAGES)
    _check(seed, n_max, n_generations)
    check_callbacks(callbacks)
    task = tasks.language(language)
    if strings is not None and (isinstance(strings, str) or not np.iterable(strings)):
        raise refusal("strings", "be a list of strings", strings)
    learnt = training_strings(language, n_max) if strings is None else list(strings)
    if not learnt:
        raise refusal("strings", "be at least one string", learnt)
    X, y = task.encode(learnt)
    longest = len(max(learnt, key=len))
    short = [each for each in learnt if len(each) <= SHORT * longest]
    read = task.encode(short if short and language not in LANGUAGES else learnt)
    up_to = CERTIFIED[task.n_counts]
    stop = CertifiedStop(language, up_to) if language in LANGUAGES else EarlyStopping(target=LEARNT)
    model = _model(language, n_generations, random_state=seed, callbacks=[stop, *(callbacks or ())])
    evolution = timed_fit(model, *read, X_val=X, y_val=y)
    X_test, y_test = task.encode(_test_strings(language))
    right = [
        np.array_equal(decisions > 0, legal > 0)
        for decisions, legal in zip(model.decision_function(X_test), y_test, strict=True)
    ]
    certified = certify(model, language, up_to).certified if language in LANGUAGES else None
    most = TEST_MAX[task.n_counts]
    spot = {}
    for n in LONG_COUNTS:
        spot[str(n)] = all(spot.values()) and task.accepts(model, (n,) * task.n_counts, MOST_READ)
    return {
        "language": language,
        "seed": seed,
        "accepted": most if certified else task.accepted(model, most),
        "certified": certified,
        "sampled": float(np.mean(right)),
        **evolution,
        "spot": spot,
    }


def languages(
    names: Iterable[str] = tasks.LANGUAGES,
    *,
    n_max: int = 10,
    runs: int = 20,
    seed: int = 0,
    n_jobs: int = 1,
    n_generations: int | None = None,
    progress: Progress | None = None,
) -> dict[str, Any]:
    """Formal languages, learnt from few short strings with one preset, ``PRESETS["languages"]``.

    Parameters
    ----------
    names : iterable of str
        Some of `evoke.tasks.LANGUAGES`.
    n_max : int, default=10
        Which strings are learnt; see `training_strings`.
    runs : int, default=20
        Number of runs for each language.
    seed : int, default=0
        The runs have the seeds ``seed, ..., seed + runs - 1``.
    n_jobs : int, default=1
        Number of concurrent runs; the results do not depend on it.
    n_generations : int, optional
        Number of generations. By default, that of the preset.
    progress : callable, optional
        As in `anbncn`.

    Returns
    -------
    dict
        Ready for JSON: ``task``, ``runs`` as from `run_language`, ``unfinished``, ``summary`` by language, ``config``,
        ``seconds`` and ``interrupted``.

    Raises
    ------
    ParameterError
        An argument out of range.
    Interrupted
        On Ctrl-C, with the result so far.
    """
    if not np.iterable(names):
        raise refusal("names", "be languages", names)
    names = [names] if isinstance(names, str) else list(names)
    for name in names:
        check_choice("names", name, tasks.LANGUAGES)
    if not names:
        raise refusal("names", "name at least one language", names)
    check_runs(runs, n_jobs, progress)
    _check(seed, n_max, n_generations)
    result: dict[str, Any] = {"task": "languages", "runs": [], "unfinished": [], "summary": {}}
    seconds = 0.0
    for name in names:

        def run_one(seed: int, callbacks: list[Callback], name: str = name) -> dict[str, Any]:
            return run_language(seed, name, n_max, n_generations, callbacks)

        def show(run: dict[str, Any], name: str = name) -> None:
            if progress is not None:
                progress({"language": name} | run)

        try:
            found = carry_out(
                {}, run_one, _model(name, n_generations), _summary,
                runs=runs, seed=seed, n_jobs=n_jobs, progress=show, n_max=n_max, names=names,
            )  # fmt: skip
        except Interrupted as interrupted:
            found = interrupted.result
        result["runs"] += found["runs"]
        result["unfinished"] += [{"language": name} | run for run in found["unfinished"]]
        result["summary"][name] = found["summary"]
        seconds += found["seconds"]
        result |= {"config": found["config"], "seconds": seconds, "interrupted": found["interrupted"]}
        if found["interrupted"]:
            raise Interrupted(result)
    return result


def _summary(finished: list[dict[str, Any]]) -> dict[str, Any]:
    """Statistics of the runs of a language."""
    accepted = [run["accepted"] for run in finished]
    return {
        "summary": {
            "quartiles_accepted": quartiles(accepted).tolist() if accepted else None,
            "worst_accepted": min(accepted, default=None),
            "n_all_sampled": sum(run["sampled"] == 1.0 for run in finished),
            "n_long": {str(n): sum(run["spot"][str(n)] is True for run in finished) for n in LONG_COUNTS},
            "median_seconds": float(np.median([run["seconds"] for run in finished])) if finished else None,
        }
    }
