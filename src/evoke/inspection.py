"""Which inputs a fitted model of sequences needs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from itertools import pairwise
from typing import Any

import numpy as np
from joblib import parallel_config
from numpy.random import Generator, RandomState, SeedSequence
from numpy.typing import NDArray
from sklearn import inspection
from sklearn.metrics import check_scoring
from sklearn.utils.validation import check_is_fitted

from evoke._validation.errors import refusal
from evoke._validation.parameters import check_integer, check_method, check_n_jobs, check_random_state
from evoke.sequences.containers import Sequences, as_sequences, as_targets
from evoke.sequences.features import as_frames

__all__ = ["permutation_importance"]


def permutation_importance(
    model: Any,
    X: Any,
    y: Any,
    *,
    n_repeats: int = 5,
    scoring: Any = None,
    random_state: Any = None,
    n_jobs: int | None = None,
    lengths: Any = None,
    block_length: int | None = None,
) -> Any:
    """How much worse a model does when a feature is that of other sequences.

    scikit-learn's `sklearn.inspection.permutation_importance` for sequences. Where each has one target, the whole
    course of a feature changes places with those of other sequences; one that is too long is cut, one that is too short
    begins again at its end. So all values and their order in time stay those that were measured. Where steps have
    targets, or there is a single sequence, blocks of steps change places, within a sequence and between them. All other
    features stay where they are, and so does the length of a sequence.

    Parameters
    ----------
    model : estimator
        A fitted classifier or regressor of sequences, or a pipeline or a search that holds one.
    X, y
        Sequences and targets, as in `fit` of the model; best such as the model was not trained on.
    n_repeats : int, default=5
        Times that each feature is exchanged.
    scoring : str, callable, list or dict, optional
        As in scikit-learn; by default `score` of the model. Targets and predictions of steps are laid end to end.
    random_state : int, SeedSequence, Generator, RandomState or None, default=None
        0 is a seed like any other.
    n_jobs : int or None, default=None
        Features that are exchanged at a time, in threads or by the joblib backend in force.
    lengths : sequence of int, optional
        Lengths of the sequences in a 2-D X.
    block_length : int, optional
        Steps of a block, about; by default the square root of their mean number in a sequence. The blocks should be
        longer than the time over which steps of the feature belong together.

    Returns
    -------
    sklearn.utils.Bunch
        ``importances`` of shape (n_features, n_repeats), by how much the score falls, ``importances_mean`` and
        ``importances_std`` of shape (n_features,). A dict of these where there are several scores.

    Raises
    ------
    ParameterError
        A parameter out of range, or a model that does not predict sequences.
    ValueError
        Data that do not fit each other or the model, or too few to be exchanged.

    See Also
    --------
    evoke.plot.ImportanceDisplay : Draws it.

    Notes
    -----
    A feature that others say too is hardly missed: none of such twins has a large importance.

    Examples
    --------
    >>> import numpy as np
    >>> from evoke import EvokeClassifier
    >>> from evoke.inspection import permutation_importance
    >>> rng = np.random.default_rng(0)
    >>> X, y = rng.normal(size=(40, 30, 3)), np.arange(40) % 2
    >>> X[:, :, 1] += y[:, None]
    >>> model = EvokeClassifier(subpopulation_size=40, random_state=0).fit(X, y)
    >>> result = permutation_importance(model, X, y, random_state=0)
    >>> int(result.importances_mean.argmax())
    1
    """
    check_method("model", model, "predict")
    if hasattr(model, "generate"):
        raise refusal("model", "be a classifier or regressor of sequences", model)
    check_integer("n_repeats", n_repeats, 1, 10**6)
    check_n_jobs(n_jobs)
    if block_length is not None:
        check_integer("block_length", block_length, 1, 10**9)
    random_state = _seed(random_state)
    check_is_fitted(model)
    sequences = as_sequences(X, lengths)
    targets = as_targets(y, sequences)
    given: Any = X
    score: Callable[..., Any]
    if scoring is None:
        score = _OwnScore({} if lengths is None else {"lengths": lengths})
    else:
        if not targets.per_sequence:  # scorers know nothing of sequences: one array of targets, and one of predictions
            given, model, y = _listed(X, sequences), _EndToEnd(model), targets.values
        score = check_scoring(model, scoring=scoring)
    units = sequences.offsets if targets.per_sequence else _blocks(sequences, block_length)
    if len(units) < 3:
        raise ValueError(
            f"X has n_samples={sequences.n_sequences} sequences of {len(sequences.rows)} steps: nothing to exchange"
            + ("" if targets.per_sequence else ", lower block_length")
        )
    exchange = _Exchange(sequences if given is X else as_sequences(given), given, units, score)
    n_features = sequences.rows.shape[1]
    places = np.repeat(np.arange(len(units) - 1)[:, None], n_features, axis=1)
    with parallel_config(prefer="threads"):  # unless a backend was chosen; the core leaves the interpreter to others
        return inspection.permutation_importance(
            model, places, y, scoring=exchange, n_repeats=n_repeats, random_state=random_state,
            n_jobs=None if n_jobs is None else min(n_jobs, n_features),
        )  # fmt: skip


def _seed(random_state: Any) -> Any:
    """A seed as scikit-learn takes it."""
    check_random_state(random_state)
    if isinstance(random_state, Generator):
        return int(random_state.integers(2**32))
    if random_state is None or isinstance(random_state, RandomState):
        return random_state
    sequence = random_state if isinstance(random_state, SeedSequence) else SeedSequence(random_state)
    return int(sequence.generate_state(1)[0])


def _listed(X: Any, sequences: Sequences) -> Any:
    """X as a list, whose elements are what they are in X."""
    if sequences.container in ("list", "3d"):
        return list(X)
    return [X[begin:end] for begin, end in pairwise(sequences.offsets.tolist())]


def _blocks(sequences: Sequences, length: int | None) -> NDArray[np.int64]:
    """Where blocks of about this many steps begin; none is longer than its sequence."""
    if length is None:
        length = round(np.sqrt(np.mean(sequences.lengths)))
    begins = [
        begin + np.arange(n) * steps // n
        for begin, steps in zip(sequences.offsets[:-1], sequences.lengths, strict=True)
        for n in [max(1, round(steps / length))]
    ]
    return np.append(np.concatenate(begins), len(sequences.rows))


@dataclass(frozen=True)
class _Exchange:
    """A scorer of places: units of steps, sequences or blocks, each of whose features comes from some unit.

    Attributes
    ----------
    sequences : Sequences
    X : sequences
        The same, as given.
    units : ndarray of shape (n_units + 1,)
        Unit ``i`` has the rows ``units[i]:units[i + 1]``.
    score : callable
        Of a model, sequences like X, and targets.
    """

    sequences: Sequences
    X: Any
    units: NDArray[np.int64]
    score: Callable[..., Any]

    def __call__(self, model: Any, places: NDArray[np.int64], y: Any) -> Any:
        rows, begins, lengths = self.sequences.rows.copy(), self.units[:-1], np.diff(self.units)
        step = np.arange(len(rows)) - np.repeat(begins, lengths)
        for feature, source in enumerate(places.T):
            # what is too long is cut, what is too short is repeated
            taken = np.repeat(begins[source], lengths) + step % np.repeat(lengths[source], lengths)
            rows[:, feature] = rows[taken, feature]
        return self.score(model, self._like_given(rows), y)

    def _like_given(self, rows: NDArray[np.float64]) -> Any:
        values, container = self.sequences.mirror(rows), self.sequences.container
        frame = self.X[0] if container == "list" else self.X
        if not hasattr(frame, "columns"):
            return values
        return as_frames(type(frame).__module__.split(".")[0], values, self.X, container, list(frame.columns))


@dataclass(frozen=True)
class _OwnScore:
    """That of the model, with further arguments."""

    more: dict[str, Any]

    def __call__(self, model: Any, X: Any, y: Any) -> Any:
        return model.score(X, y, **self.more)


class _EndToEnd:
    """A model whose predictions of the steps of all sequences are one array."""

    def __init__(self, model: Any):
        self.model = model

    def __getattr__(self, name: str) -> Any:
        if name == "model":  # while it is unpickled
            raise AttributeError(name)
        value = getattr(self.model, name)
        if name in ("predict", "predict_proba", "predict_log_proba", "decision_function"):
            return wraps(value)(lambda X: np.concatenate(value(X)))
        return value
