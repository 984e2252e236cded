"""Regression on sequences, or on their steps."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial
from types import MappingProxyType
from typing import Any

from sklearn.base import RegressorMixin

from evoke._validation.parameters import is_text
from evoke.estimators.base import Way, learned
from evoke.estimators.fit import Fit
from evoke.estimators.fitted import RegressorModel
from evoke.estimators.sequence import LAGS, POOL, STEP_LAGS, Given, SequenceEstimator
from evoke.estimators.split import divide, rows_after_washout
from evoke.estimators.targets import encode_values, real_values
from evoke.metrics import r_squared
from evoke.persistence.model import savable
from evoke.sequences.prefixes import share_prefixes

__all__ = ["EvokeRegressor"]


@savable
class EvokeRegressor(RegressorMixin, SequenceEstimator):
    """Regression on sequences: an evolved LSTM network read by support vector regression (Evoke).

    Enforced SubPopulations search the weights of the network. For every candidate, a support vector regression is
    trained on the cells' activations over the training part of the sequences; its error there and on the validation
    part is the candidate's fitness (paper, section 2).

    Parameters
    ----------
    n_cells : int or "auto", default="auto"
        Memory cells H.
        "auto": 10 where steps have targets, 3 where sequences have one, and
        with ``readout="landmarks"``.
    cell : {"lstm", "evolino"} or "auto", default="auto"
        ``"lstm"``: s = i tanh(z) + f s, phi = o tanh(s). ``"evolino"``: s = i z + f s, phi = tanh(o s).
        "auto": "evolino" where steps have targets, "lstm" where sequences have one, and with ``readout="landmarks"``.
    gate_bias : tuple of 3 floats, default=(0.0, 0.0, 0.0)
        Constant biases of the input, forget and output gates.
    weight_range : float or "auto", default="auto"
        Initial weights are uniform in [-weight_range, weight_range].
        "auto": 0.5 where steps have targets, 5.0 where sequences have one, and with ``readout="landmarks"``.
    n_generations : int or "auto", default="auto"
        Generations of ``subpopulation_size * n_trials`` networks each.
        "auto": 50 where steps have targets, 4 where sequences have one, 12 with ``readout="landmarks"``.
    subpopulation_size : int or "auto", default="auto"
        Chromosomes in the subpopulation of each cell.
        "auto": 40 where steps have targets, 200 where sequences have one, and with ``readout="landmarks"``.
    n_trials : int or "auto", default="auto"
        Networks per generation that each chromosome takes part in.
        "auto": 5 where steps have targets, 1 where sequences have one, and with ``readout="landmarks"``.
    mutation_scale : float, default=0.01
        Scale of the Cauchy noise, half of which lies within +- this value (the paper's alpha).
    burst_patience : int or None, default=5
        Generations without improvement after which burst mutation sets in; None: never.
    burst_scale : float or None, default=None
        Noise scale of burst mutation; None: `mutation_scale`.
    credit : {"best", "mean"}, default="best"
        A chromosome is scored by the best or by the mean of the networks it took part in.
    objective : {"squared", "hinge", "count"}, default="squared"
        Error of a prediction: its square, its absolute value beyond `epsilon`, or whether it is off by more than
        `epsilon`; summed over outputs and steps.
    readout : {"svm", "lssvm", "pinv", "ridge", "landmarks"} or "auto", default="auto"
        Support vector regression, least-squares support vector machines, or linear weights by the pseudoinverse, one
        for each output. "ridge" is ridge regression.
        "landmarks", for targets at every step: least-squares machines on few points, for any number of steps. Networks
        are judged on samples of the steps; the best are joined in one machine, which is trained on all steps. "ridge"
        is its linear form there.
        "auto": "svm" where steps have targets, "landmarks" where these are 1,000 or more and nothing else is asked
        for that it cannot do; "lssvm" where sequences have one, or ``validation="loo"``.
    kernel : {"rbf", "linear", "poly"}, default="rbf"
    gamma : float or "evolve" or "auto", default="auto"
        Kernel width, ``exp(-gamma * |x - y|**2)``. The paper's "standard deviation 2.0" means 1/4 in its SVM software.
        "evolve": a number for each network, which evolves with its weights.
        "auto", with ``validation="loo"``: 0.3, 1 or 3 divided by the mean squared distance of the features, whichever
        has the least error, for each network; 0.1, 0.3 or 1 with ``readout="landmarks"``. 0.25 where steps have
        targets.
    C : float or "evolve" or "auto", default="auto"
        Capacity: the price of an error beyond `epsilon`, of a squared error with ``readout="lssvm"``. "auto",
        with ``validation="loo"``: 1, 10, 100 or 1000, found with `gamma`; powers of 100 from 0.01 to 1e6 with
        ``readout="landmarks"``. 100.0 where steps have targets.
        "evolve": as `gamma`.
    epsilon : float, default=0.001
        Errors that support vector regression and the objectives "hinge" and "count" leave free.
    tol : float, default=0.001
        Tolerance of the SVM solver.
    solver : {"auto", "native", "thundersvm"}, default="auto"
        Solver that trains the support vector machines of ``readout="svm"``.
    washout : int, default=0
        Steps at the beginning of every sequence that count neither in training nor in the fitness.
    validation : "half", "stratified", "loo" or float or splitter or "auto", default="auto"
        What is held out for the fitness. "half": the second half of the sequences, or of the steps of a single
        sequence. A float: the last fraction of them. Neither shuffles. "stratified": a half that is shuffled by
        `random_state` (None: always in the same way), and has half of each class where there is one label a sequence,
        or a single sequence. None of these is used where `fit` is given ``X_val, y_val``.

        "loo": each sequence in turn, exactly, from one factorisation; for ``readout="lssvm"`` or ``"ridge"``. Of more
        than 300 sequences with one target networks are judged on 300, taken evenly from all in the order of their
        targets; the readout of the best networks learns from all, and leaves out each of them. Where steps have
        targets, the steps of a sequence are left out together. One network is read step by step; `pool`, `n_networks`,
        `differences`, `scale` and `n_points` have no part in it. The time grows with the cube of the number of all
        steps.

        A splitter of scikit-learn, such as ``KFold(5)``, which divides the sequences, or the steps of a single one.
        Where sequences have one target and "loo" is possible it is like "loo", but the test part of each split is left
        out as a block; these parts must have each sequence once. Elsewhere a readout is trained for each split, the
        fitness is the mean over the splits, and the readout at the end learns from all that is in the training part of
        a split.

        "auto": "half" where steps have targets. Where sequences have one, "loo"; if other parameters rule that out (the
        readout, `kernel` or `solver`, `C` or `gamma` that evolve, `search`), "half".
    random_state : int, SeedSequence, Generator, RandomState or None, default=None
        Seed of the evolution; 0 is a seed like any other. None: a different run each time.
    n_jobs : int or None, default=None
        Number of workers that share the evaluation of a generation: threads, or those of the joblib backend in force.
        The result does not depend on it.
    callbacks : list or None, default=None
        Objects of `evoke.callbacks` (progress, early stopping, checkpoints, a log), and functions ``(record, esp)``
        that are called after every generation; a true result ends the run.
    warm_start : bool, default=False
        Whether `fit` continues from the population of the last fit, for `n_generations` more. On the same data two
        fits give the same bits as one of that many generations. The data may differ, and then the best network so far
        is evaluated again; the parameters of the evolution and the number of features may not.
    verbose : int, default=0
        1 prints a line per generation to stderr. For a progress bar see `evoke.callbacks.Progress`.
    refit : bool, default=False
        Whether the readout of the best network is trained once more at the end (after an interrupt too), this time on
        all the data, the part that `validation` holds out included. The network, `best_fitness_` and `history_` stay as
        they are. What `fit` is given as ``X_val, y_val`` stays held out, so there is nothing to train on again.
    pool : {"last"} or tuple of str or "auto", default="auto"
        What the readout reads of a sequence with one target, where ``validation="loo"``: statistics of each activation
        over its steps, some of "last", "mean", "std", "max", "min", "positive" (share of steps above zero), "change"
        (mean size of the change from step to step) and "thirds" (means of the first, second and last third).
        "auto": "last" where steps have targets, all but "thirds" where sequences have one.
    n_networks : int or "auto", default="auto"
        Networks whose features one readout reads, where ``validation="loo"``: the best of the whole run. Of networks
        that share more than half of their cells' chromosomes only the best is taken.
        "auto": 1 where steps have targets, 100 where sequences have one. With ``readout="landmarks"`` 80 are kept,
        and all of them, a quarter or a sixteenth are joined, whichever do best on steps that are held out.
    differences : bool, tuple of int or "auto", default="auto"
        Where ``validation="loo"``: networks also read by how much X has changed since so many steps before (True: since
        the last). Several numbers let them see patterns of several widths; a cell
        starts with the changes since none, one or two of them, drawn at random. "auto": False where steps have targets,
        (1, 2, 4, 8, 16, 32) where sequences have one, (1, 2, 4, 8) with ``readout="landmarks"``.
    scale : {"standard"}, None or "auto", default="auto"
        Where ``validation="loo"``: "standard" brings the inputs of the networks and the features of the readout to a
        mean of 0 and a deviation of 1, and y too, so that units do not matter; errors and `epsilon` are in units of the
        deviation of y then.
        "auto": None where steps have targets, "standard" where sequences have one, and with ``readout="landmarks"``.
    max_seconds : float or None, default=None
        Seconds after which the evolution ends, before its next generation; the first one of a `fit` is completed all
        the same, and the readout trained. None: no limit. With ``validation="loo"`` the first generation of all ends in
        time too, with the networks evaluated so far; ``history_[0]["n_evaluations"]`` says how many.
    n_points : int, default=0
        Where ``validation="loo"``: the readout at the end also reads each sequence itself, by so many values of every
        column of X, linearly interpolated at equal distances from its first step after the `washout` to its last (1:
        the first alone); of a sequence of one step that step so many times. They are scaled and limited as the other
        features are, and weighted so that all of them together count as much as the square root of `n_networks`
        networks; with ``scale=None`` they stay as they are. Networks are still judged by their own features. 0: none.
    n_landmarks : int or "auto", default="auto"
        With ``readout="landmarks"``: points on which the machine stands at the end. Time grows with their square, and
        memory. Networks are judged by machines on at most 64. "auto": 512.
    fit_samples : int, None or "auto", default="auto"
        With ``readout="landmarks"``: steps on which the networks of the first generation are judged; half of them train
        readouts. They are drawn afresh for each generation, in pieces from all parts of the data, and twice as many as
        for the one before, two times. None: all steps, always. "auto": 4000.
    search : {"esp", "cmaes"}, default="esp"
        What searches the weights. "esp": Enforced SubPopulations. "cmaes": the covariance matrix adaptation evolution
        strategy (`evoke.cmaes.CMAES`), which begins with weights of the same deviation and judges as many networks in
        all, in smaller generations: those of `history_`, of `callbacks` and of checkpoints. `mutation_scale`,
        `burst_patience`, `burst_scale` and `credit` have no part in it. It is for one network, not for many that are
        read together.
    dtype : {"float64", "float32"}, default="float64"
        Precision in which the networks of the evolution read X. In single precision their forward pass takes about half
        the time. Readouts are trained in double precision all the same, and so is the whole model: it reads with the
        best network in double precision. With a seed, each precision has bits of its own, the same on every machine.
    n_islands : int, default=1
        Populations that evolve side by side, each of as many networks a generation as one, and each on a worker of its
        own where `n_jobs` or the joblib backend in force has them. `history_` has one record a generation: that of the
        best island, with the median of their medians. Not with ``search="cmaes"``, nor where many networks are read
        together.
    migrate_every : int, default=10
        Generations after which the best network of each island goes to the next one, and that of the last to the
        first: there it takes the places of the chromosomes that ranked last. `callbacks` are called, and `max_seconds`
        ends the run, only then. With `n_restarts`: at least so often.
    n_restarts : int, default=1
        Searches from different seeds that share nothing, of which the best is kept (successive halving): the worse half
        is given up after n_generations / n_restarts generations (n_restarts rounded up to a power of two), the worse
        half of the others after twice as many, and so on, until the last one has all of `n_generations`. Together they
        evaluate 1 + log2(n_restarts) / 2 times as many networks as one search, at most (where `n_generations` is at
        least `n_restarts`). They share workers as islands do, with either `search`, but neither with islands nor where
        many networks are read together. ``warm_start`` continues where the last fit was.
    max_memory : int or None, default=None
        Bytes that `fit` may take beyond the data, by what is estimated before it begins. Where it would take more,
        fewer threads than `n_jobs` work, and below 800 MB fewer rows choose a machine on landmarks; where that is not
        enough, a `MemoryError` says what would be. None: what the system has.

    Attributes
    ----------
    n_outputs_ : int
        Number of values per step, or per sequence.
    loo_prediction_ : ndarray of shape (n_sequences,) or (n_sequences, n_outputs)
        Predictions of the sequences of `fit`, each by a readout that was trained without it; NaN where a sequence has
        no weight. The networks, `C` and `gamma` were chosen by them, so they are somewhat too good. Only where
        sequences have one target, with ``validation="loo"`` or a splitter that leaves out blocks.
    genome_ : ndarray of shape (n_cells, 4 * (`n_features_in_` + n_cells))
        Weights of the best network. A row is a cell: [z | input | forget | output] x [inputs, cells].
    readout_ : FittedReadout
        The readout trained on its activations: support vectors, weights, intercepts and duality gaps.
    history_ : list of dict
        One record per generation; with `C` and `gamma` of the best network so far, where they evolve.
    best_fitness_ : float
        Training plus validation error of the best network.
    n_evaluations_ : int
        Networks evaluated.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of str
        Names of the columns of X; only where it was a data frame, or a list of them, with names that are text.

    Examples
    --------
    >>> import numpy as np
    >>> from evoke import EvokeRegressor
    >>> X = np.random.default_rng(0).normal(size=(6, 20, 1))
    >>> y = np.cumsum(X[:, :, 0], axis=1)
    >>> EvokeRegressor(n_generations=5, random_state=0).fit(X, y).predict(X).shape
    (6, 20)
    """

    _model = RegressorModel
    _auto = MappingProxyType({
        "n_cells": (10, 3, 3), "cell": ("evolino", "lstm", "lstm"), "weight_range": (0.5, 5.0, 5.0),
        "n_generations": (50, 4, 12), "subpopulation_size": (40, 200, 200), "n_trials": (5, 1, 1),
        "readout": ("svm", "lssvm", "landmarks"), "gamma": (0.25, "auto", "auto"), "C": (100.0, "auto", "auto"),
        "validation": ("half", "loo", "half"), "pool": ("last", POOL, "last"), "n_networks": (1, 100, 80),
        "differences": (False, LAGS, STEP_LAGS), "scale": (None, "standard", "standard"),
        "n_landmarks": (None, None, 512), "fit_samples": (None, None, 4000),
    })  # fmt: skip
    _fitted = SequenceEstimator._fitted | {"n_outputs_", "_flat"}

    n_outputs_ = learned("n_outputs")
    loo_prediction_ = learned("loo_prediction")

    def __init__(
        self,
        n_cells: int | str = "auto",
        cell: str = "auto",
        gate_bias: Sequence[float] = (0.0, 0.0, 0.0),
        weight_range: float | str = "auto",
        n_generations: int | str = "auto",
        subpopulation_size: int | str = "auto",
        n_trials: int | str = "auto",
        mutation_scale: float = 0.01,
        burst_patience: int | None = 5,
        burst_scale: float | None = None,
        credit: str = "best",
        objective: str = "squared",
        readout: str = "auto",
        kernel: str = "rbf",
        gamma: float | str = "auto",
        C: float | str = "auto",
        epsilon: float = 1e-3,
        tol: float = 1e-3,
        solver: str = "auto",
        washout: int = 0,
        validation: Any = "auto",
        random_state: Any = None,
        n_jobs: int | None = None,
        callbacks: Iterable[Any] | None = None,
        warm_start: bool = False,
        verbose: int | bool = 0,
        refit: bool = False,
        pool: Sequence[str] | str | None = "auto",
        n_networks: int | str = "auto",
        differences: bool | Sequence[int] | str = "auto",
        scale: str | None = "auto",
        max_seconds: float | None = None,
        n_points: int = 0,
        n_landmarks: int | str = "auto",
        fit_samples: int | str | None = "auto",
        search: str = "esp",
        dtype: str = "float64",
        n_islands: int = 1,
        migrate_every: int = 10,
        n_restarts: int = 1,
        max_memory: int | None = None,
    ) -> None:
        self.n_cells = n_cells
        self.cell = cell
        self.gate_bias = gate_bias
        self.weight_range = weight_range
        self.n_generations = n_generations
        self.subpopulation_size = subpopulation_size
        self.n_trials = n_trials
        self.mutation_scale = mutation_scale
        self.burst_patience = burst_patience
        self.burst_scale = burst_scale
        self.credit = credit
        self.objective = objective
        self.readout = readout
        self.kernel = kernel
        self.gamma = gamma
        self.C = C
        self.epsilon = epsilon
        self.tol = tol
        self.solver = solver
        self.washout = washout
        self.validation = validation
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.callbacks = callbacks
        self.warm_start = warm_start
        self.verbose = verbose
        self.refit = refit
        self.pool = pool
        self.n_networks = n_networks
        self.differences = differences
        self.scale = scale
        self.max_seconds = max_seconds
        self.n_points = n_points
        self.n_landmarks = n_landmarks
        self.fit_samples = fit_samples
        self.search = search
        self.dtype = dtype
        self.n_islands = n_islands
        self.migrate_every = migrate_every
        self.n_restarts = n_restarts
        self.max_memory = max_memory

    # ------------------------------------------------------------------ fitting

    def fit(
        self,
        X: Any,
        y: Any,
        lengths: Any = None,
        X_val: Any = None,
        y_val: Any = None,
        sample_weight: Any = None,
        sample_weight_val: Any = None,
        groups: Any = None,
    ) -> EvokeRegressor:
        """Evolve a network and train its readout.

        Parameters
        ----------
        X : list of (T_i, n_features) arrays or data frames, (n, T, n_features) array, or (T, n_features) array
            Sequences. A 2-D array (or a data frame) is one sequence, or with `lengths` several, one after the other.
            The index of a data frame must rise. An iterator of arrays, one a sequence, is gone through once, and an
            array of Dask chunk by chunk; what they give is in a temporary file where it is large.
            ``readout="landmarks"`` and ``"ridge"`` read the steps of arrays in single or double precision where they
            are, in memory or in a file, so these must not change during the call. All else is copied first.
        y : targets with the structure of X
            One value per step, or rows of several. For a list or 3-D X also one value per sequence, which is read off
            the last step; several per sequence are a row of shape (1, n_outputs).
            Where X and y have an index, it must be the same.
        lengths : sequence of int, optional
            Lengths of the sequences in a 2-D X. Cross-validation splits the rows of an array, so pass it a list of
            sequences instead. In a pipeline, `lengths` and weights arrive by scikit-learn's metadata routing.
        X_val, y_val : optional
            Sequences held out for the fitness, in the same kinds of container (but not with lengths).
        sample_weight : optional
            Weights of the targets, in the structure of y, or one per sequence. A weight multiplies C and the error of
            its step, for the fitness too: a weight of 2 is the same as two such steps.
        sample_weight_val : optional
            The weights of `y_val`.
        groups : array-like of shape (n_sequences,), optional
            What a splitter such as ``GroupKFold`` keeps together, where `validation` is one. Of a single sequence it
            has a group a step. Metadata routing passes it on after ``set_fit_request(groups=True)`` only.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            A parameter out of range; data that are empty, ragged in the wrong place or not finite; an index that falls
            or repeats, or differs between X and y; weights that are negative, or zero for everything that is trained on
            or held out.
        KeyboardInterrupt
            On Ctrl-C. The best network so far is kept: the estimator is fitted if a generation was completed.

        Warns
        -----
        UserWarning
            The times of a sequence have a gap; the first is named.
        DataConversionWarning
            y is a column.
        """
        given = self._read(X, y, lengths, X_val, y_val, sample_weight, sample_weight_val, groups)
        settled = self._settled_for(given)
        with self._fitting(settled):
            settled._fit(given)
        return self

    def _fit(self, given: Given) -> None:
        self._run(self._pose_for(given))

    def _pose_for(self, given: Given) -> Fit:
        y = given.data.y
        build = partial(
            RegressorModel, features=given.features, per_sequence=y.per_sequence, flat=y.values.ndim == 1
        )
        if self._way is Way.WHOLE:
            return self._pose_whole(given, encode_values, build)
        if self._way is Way.LANDMARKS:
            return self._pose_joined(given, encode_values, build)
        if is_text(self.validation, "loo"):
            return self._pose_left_out(given, encode_values, build)
        splits = divide(
            given.data, given.held_out, encode_values, washout=self.washout, validation=self.validation,
            random_state=self.random_state, groups=given.groups, refit=self.refit,
        )  # fmt: skip
        return self._pose(splits, share_prefixes(splits[0].X), build)

    def predict(self, X: Any, lengths: Any = None) -> Any:
        """Values of the steps, or of the sequences where the model was trained with one value per sequence.

        Parameters
        ----------
        X, lengths
            Sequences, as in `fit`.

        Returns
        -------
        list of ndarray, or ndarray
            The structure of X with a value (or a row of several) per step, or one per sequence.
        """
        return self._apply(RegressorModel.answer, X, lengths)

    def score(self, X: Any, y: Any, lengths: Any = None, sample_weight: Any = None) -> float:
        """R^2 of the predictions after the washout, averaged over the outputs.

        For an output that does not vary it is 1 if every prediction is exact and 0 otherwise. Steps count by their
        `sample_weight`.

        Parameters
        ----------
        X, y, lengths, sample_weight
            As in `fit`.

        Returns
        -------
        float
            At most 1.
        """
        model = self._fitted_model()
        predicted, true = self._predicted_and_true(X, y, lengths, sample_weight)
        counted = slice(None) if model.per_sequence else rows_after_washout(true.X, model.washout, "X")
        values = real_values(true.y, true.X)
        weights = None if true.y.weights is None else true.y.weights[counted]
        return r_squared(values[counted], predicted[counted], weights)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags
