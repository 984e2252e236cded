"""Forecasts of series by networks that read their own output."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any

import numpy as np

from evoke._core import lstm
from evoke._validation.arrays import FloatArray
from evoke._validation.parameters import is_text
from evoke.estimators.base import Way
from evoke.estimators.cost import Cost, check_available, cost_of
from evoke.estimators.fit import Fit
from evoke.estimators.series import SeriesEstimator
from evoke.estimators.series_model import SeriesModel
from evoke.estimators.series_parameters import check_series_parameters, of_evolution, rolling_settings
from evoke.estimators.split import Data, check_with_y_val, divide, held_out_series
from evoke.estimators.targets import with_weights
from evoke.evolution.problem import FreeRun
from evoke.evolution.workers import n_threads
from evoke.forecasting.memory import memory_of
from evoke.forecasting.model import RollingModel
from evoke.forecasting.reader import N_JOINED
from evoke.forecasting.settings import RollingSettings
from evoke.persistence.model import savable
from evoke.sequences.containers import Targets
from evoke.sequences.features import Features
from evoke.sequences.prefixes import share_prefixes
from evoke.sequences.series import Series, as_external, as_series, inputs_of, segments_with_free_ends

__all__ = ["EvokeForecaster"]


@savable
class EvokeForecaster(SeriesEstimator):
    """Forecasts of series by LSTM networks that read their own output.

    By default (``validation="rolling"``) many random networks read the series, ridge readouts read the networks, and
    what each of them is worth is measured by free runs from 24 rolling origins [1]_, over two seasons or 24 steps. This
    is done for the series as it is, for its differences and seasonal differences, and where all values are positive for
    the logarithm of each. The forecast is the mean of these forecasts and those of naive methods (last value, mean,
    last season), weighted at each step by the eighth power of the inverse error [2]_. The unit of the series plays no
    part. There are no generations, so callbacks are not called; `verbose` prints a line per transformation and kind of
    readout. From 1,000 steps on machines on landmarks [3]_ are tried too, which read four networks with short memories
    beside the last 24 values and say by how much the next value differs from the last one. Series are read a block of
    steps at a time, in memory that hardly depends on their length.

    With ``validation="half"`` one network is evolved by Enforced SubPopulations instead (paper, section 3.2). The
    inputs of step t are ``[X(t) | feedback_scale * y(t - 1)]`` with y(-1) = 0, the target is y(t): the paper's
    backprojection. In training the true y is fed back (teacher forcing), in `generate` the network's own output.

    ``validation="auto"`` is ``"rolling"``, unless a parameter that belongs to the evolution is stated (one that is not
    listed under "Rolling origins" in the user guide), or `fit` is given ``y_val`` or ``sample_weight``: then it is
    ``"half"``.

    Parameters
    ----------
    n_cells : int or "auto", default="auto"
        Memory cells H.
        "auto": 8 with rolling origins, else 10.
    cell : {"lstm", "evolino"} or "auto", default="auto"
        ``"lstm"``: s = i tanh(z) + f s, phi = o tanh(s). ``"evolino"``: s = i z + f s, phi = tanh(o s).
        "auto": "lstm" with rolling origins, else "evolino".
    gate_bias : tuple of 3 floats, default=(0.0, 0.0, 0.0)
        Constant biases of the input, forget and output gates.
    weight_range : float or "auto", default="auto"
        Initial weights are uniform in [-weight_range, weight_range].
        "auto": 1 with rolling origins, else 0.5. With rolling origins it is the largest range: that of a cell is drawn
        between a thirtieth of it and itself.
    n_generations : int or "auto", default="auto"
        Generations of ``subpopulation_size * n_trials`` networks each.
        "auto": 50.
    subpopulation_size : int or "auto", default="auto"
        Chromosomes in the subpopulation of each cell.
        "auto": 40.
    n_trials : int or "auto", default="auto"
        Networks per generation that each chromosome takes part in.
        "auto": 5.
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
    readout : {"ridge", "landmarks", "svm", "lssvm", "pinv"} or "auto", default="auto"
        Linear weights by ridge regression, or least-squares machines on few points, which go with rolling origins;
        support vector regression, least-squares support vector machines, or linear weights by the pseudoinverse, one
        for each output, which go with one evolved network.
        "auto": with rolling origins "ridge", and from 1,000 steps on both "ridge" and "landmarks"; else "lssvm".
    kernel : {"rbf", "linear", "poly"}, default="rbf"
    gamma : float or "evolve" or "auto", default="auto"
        Kernel width, ``exp(-gamma * |x - y|**2)``. The paper's "standard deviation 2.0" means 1/4 in its SVM software.
        "evolve": a number for each network, which evolves with its weights.
        "auto": 0.25.
    C : float or "evolve" or "auto", default="auto"
        Capacity: the price of a squared error with ``readout="lssvm"``; of an error beyond `epsilon` with
        ``readout="svm"``. Noise-free series gain from more (1e12), noisy ones from less.
        "evolve": as `gamma`. "auto": with rolling origins the best of nine from 0.01 to 1e11, else 1e8.
    epsilon : float, default=0.001
        Errors that support vector regression and the objectives "hinge" and "count" leave free.
    tol : float, default=0.001
        Tolerance of the SVM solver.
    solver : {"auto", "native", "thundersvm"}, default="auto"
        Solver that trains the support vector machines of ``readout="svm"``.
    washout : int, default=0
        Steps at the beginning of every series that count neither in training nor in the fitness.
    feedback_scale : float, default=0.3
        Factor of the values that are fed back into the network.
    validation : {"rolling", "half"}, float or "auto", default="auto"
        "rolling": free runs from rolling origins, see above. "half" or a float: the part held out for the fitness, the
        second half of the steps after the washout (of the series, if there are several), or the last fraction of them;
        not used where `fit` is given ``y_val``.
    validation_mode : {"teacher", "free"}, default="teacher"
        How networks are judged on the held-out part. "teacher": by their errors one step ahead, while they read the
        true values (paper, section 3.2). "free": by the errors of a run on their own output, which starts where the
        held-out part does; in a whole series after the washout, or after its first step without a washout.
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
    season : int or None, default=None
        Steps of a season: 12 for months. None: there is none. For ``validation="rolling"``, like all that follow.
    difference : tuple of int or "auto", default="auto"
        Differences of the series are learned: at these lags, one after the other; ``()`` is none. They are undone in
        the forecast. "auto": ``()``, ``(1,)``, and with a season ``(season,)`` and ``(season, 1)``, weighted by their
        errors.
    log : bool or "auto", default="auto"
        Whether the logarithm is learned; it is undone in the forecast. "auto": without it, and where all values are
        above 0 with it too, weighted by their errors.
    n_networks : int or "auto", default="auto"
        Random networks, a multiple of 4: each readout reads 4 of them; where ridge readouts read all of them, machines
        on landmarks read the first 4. "auto": 40 with rolling origins, 4 of them with ``readout="landmarks"``; else 1.
    scale : "standard", None or "auto", default="auto"
        "standard": series, external inputs and features have a mean of 0 and a deviation of 1 inside. "auto": that,
        with rolling origins; else None.
    max_seconds : float or None, default=None
        Seconds after which the evolution ends, before its next generation; the first one of a `fit` is completed all
        the same, and the readout trained. With rolling origins no further transformation is tried, and the one that is
        being tried is left out; the first one is completed all the same. None: no limit.
    search : {"esp", "cmaes"}, default="esp"
        What searches the weights. "esp": Enforced SubPopulations. "cmaes": the covariance matrix adaptation evolution
        strategy (`evoke.cmaes.CMAES`), which begins with weights of the same deviation and judges as many networks in
        all, in smaller generations: those of `history_`, of `callbacks` and of checkpoints. `mutation_scale`,
        `burst_patience`, `burst_scale` and `credit` have no part in it. It is for one network, not for many that are
        read together.
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
    n_landmarks : int or "auto", default="auto"
        Points on which machines on landmarks stand, with rolling origins. Time grows with their square, and memory.
        "auto": 512.

    Attributes
    ----------
    n_outputs_ : int
        Number of values per step.
    n_features_in_ : int
        External inputs; 0 without X.
    feature_names_in_ : ndarray of str
        Names of the columns of X; only where it was a data frame, or a list of them, with names that are text.
    genome_ : ndarray of shape (n_cells, 4 * (`n_features_in_` + `n_outputs_` + n_cells))
        Weights of the best network. A row is a cell: [z | input | forget | output] x [inputs, outputs fed back, cells].
        With rolling origins those of all networks, (n_networks, n_cells, 4 * (n_inputs + n_cells)), whose inputs are
        the values 1 step (and a season) before, those of X, and a constant. What follows is then not there.
    readout_ : FittedReadout
        The readout trained on its activations: support vectors, weights, intercepts and duality gaps.
    history_ : list of dict
        One record per generation; with `C` and `gamma` of the best network so far, where they evolve.
    best_fitness_ : float
        Training plus validation error of the best network.
    n_evaluations_ : int
        Networks evaluated.

    References
    ----------
    .. [1] L. J. Tashman, "Out-of-sample tests of forecasting accuracy: an analysis and review", International Journal
       of Forecasting 16 (2000), 437-450.
    .. [2] S. Makridakis and R. L. Winkler, "Averages of forecasts: some empirical results", Management Science 29
       (1983), 987-996.
    .. [3] A. J. Smola and B. Schoelkopf, "Sparse greedy matrix approximation for machine learning", ICML (2000),
       911-918.

    Examples
    --------
    >>> from evoke import EvokeForecaster, tasks
    >>> y = tasks.superimposed_sines(2, 200)
    >>> model = EvokeForecaster(n_networks=8, random_state=0).fit(y)
    >>> values, lower, upper = model.generate(10, return_interval=0.9)
    >>> values.shape
    (10,)
    """

    _auto = MappingProxyType({
        "n_cells": (10, 8), "cell": ("evolino", "lstm"), "weight_range": (0.5, 1.0), "n_generations": (50, 50),
        "subpopulation_size": (40, 40), "n_trials": (5, 5), "readout": ("lssvm", "auto"), "gamma": (0.25, 0.25),
        "C": (1e8, 1e8), "validation": ("half", "rolling"), "n_networks": (1, 40), "scale": (None, "standard"),
        "n_landmarks": (None, 512),
    })  # fmt: skip
    _rolls = True
    _remedies = "use fewer steps, readout='pinv', or validation='rolling', which reads a block of steps at a time"
    _fitted = SeriesEstimator._fitted | {"_rolling"}

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
        feedback_scale: float = 0.3,
        validation: Any = "auto",
        validation_mode: str = "teacher",
        random_state: Any = None,
        n_jobs: int | None = None,
        callbacks: Iterable[Any] | None = None,
        warm_start: bool = False,
        verbose: int | bool = 0,
        refit: bool = False,
        season: int | None = None,
        difference: bool | str = "auto",
        log: bool | str = "auto",
        n_networks: int | str = "auto",
        scale: str | None = "auto",
        max_seconds: float | None = None,
        search: str = "esp",
        n_islands: int = 1,
        migrate_every: int = 10,
        n_restarts: int = 1,
        max_memory: int | None = None,
        n_landmarks: int | str = "auto",
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
        self.feedback_scale = feedback_scale
        self.validation = validation
        self.validation_mode = validation_mode
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.callbacks = callbacks
        self.warm_start = warm_start
        self.verbose = verbose
        self.refit = refit
        self.season = season
        self.difference = difference
        self.log = log
        self.n_networks = n_networks
        self.scale = scale
        self.max_seconds = max_seconds
        self.search = search
        self.n_islands = n_islands
        self.migrate_every = migrate_every
        self.n_restarts = n_restarts
        self.max_memory = max_memory
        self.n_landmarks = n_landmarks

    # ------------------------------------------------------------------ fitting

    def fit(
        self,
        y: Any,
        X: Any = None,
        y_val: Any = None,
        X_val: Any = None,
        sample_weight: Any = None,
        sample_weight_val: Any = None,
    ) -> EvokeForecaster:
        """Train readouts of random networks, or evolve a network and train its readout.

        Parameters
        ----------
        y : (T,) or (T, n_outputs) array, Series or data frame, or list of such
            One series, or several that may differ in length. The index of a pandas object must rise; forecasts go on
            with it. With rolling origins all are learned from, each in its own unit; the origins are in the last one,
            or in all that are long enough where it has less than 40 steps or two seasons.
        X : (T, n_features) array or data frame, or list of such, optional
            External inputs: one row for every step of y, with the same index if both have one.
        y_val, X_val : optional
            Whole series held out for the fitness, of the same kind as y and X.
        sample_weight : optional
            Weights of the steps, in the structure of y without its columns; for a list also one per series. A weight
            multiplies C and the error of its step, for the fitness too: a weight of 2 is the same as two such steps.
        sample_weight_val : optional
            The weights of `y_val`.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            A parameter out of range, a series no longer than the washout, data that are not finite, lengths of X and y
            that differ; an index that falls or repeats, or differs between X and y; weights that are negative, or zero
            for all that is trained on or held out.
        MemoryError
            The fit would take more memory than there is.
        KeyboardInterrupt
            On Ctrl-C. The best network so far is kept: the estimator is fitted if a generation was completed. With
            rolling origins it stays as it was.

        Warns
        -----
        UserWarning
            The times of a series have a gap; the first is named. The series is too short for networks: about 60 steps
            are needed, and what a season adds.
        """
        settled = self._settled_for(self._reason_to_evolve(y_val, sample_weight))
        with self._fitting(settled):
            if settled._rolls_for(y_val, X_val, sample_weight, sample_weight_val):
                settled._roll(*settled._read(y, X))
            else:
                settled._evolve_one(y, X, y_val, X_val, sample_weight, sample_weight_val)
        return self

    def estimate_cost(
        self,
        y: Any,
        X: Any = None,
        y_val: Any = None,
        X_val: Any = None,
        sample_weight: Any = None,
        sample_weight_val: Any = None,
    ) -> Cost:
        """What a `fit` of these data will take, before it begins.

        Parameters
        ----------
        y, X, y_val, X_val, sample_weight, sample_weight_val
            As in `fit`.

        Returns
        -------
        Cost
            Networks, bytes, and seconds, for which a few networks are evaluated; NaN with rolling origins, where none
            evolves.

        Raises
        ------
        ValueError
            As by `fit`.
        """
        settled = self._settled_for(self._reason_to_evolve(y_val, sample_weight))
        if settled._rolls_for(y_val, X_val, sample_weight, sample_weight_val):
            series, external, _ = settled._read(y, X)
            return settled._cost_to_roll(rolling_settings(settled), series, external)
        fit = settled._pose_one(y, X, y_val, X_val, sample_weight, sample_weight_val)
        return cost_of(fit, n_threads(self.n_jobs))

    def _rolls_for(self, y_val, X_val, sample_weight, sample_weight_val) -> bool:
        """Whether free runs from rolling origins are judged, for which there must be no other data than y and X."""
        if not is_text(self.validation, "rolling"):
            return False
        for name, value in (("y_val", y_val), ("sample_weight", sample_weight)):
            if value is not None:
                raise ValueError(f"validation='rolling' judges free runs over y; {name} has no part")
        check_with_y_val(y_val, X_val, sample_weight_val)
        return True

    def _read(self, y, X) -> tuple[Series, FloatArray, Features]:
        series = as_series(y)
        given = series.sequences
        several = given.container == "list"
        external = as_external(X, given.lengths, several, None, "X", "y", given.index)
        owner = type(self).__name__
        return series, external, Features(owner, 0) if X is None else Features.of(owner, X, external, several)

    @staticmethod
    def _cost_to_roll(settings: RollingSettings, series: Series, external: FloatArray) -> Cost:
        rows, lengths = series.sequences.rows, series.sequences.lengths.tolist()
        memory = memory_of(settings, lengths, rows.shape[1], external.shape[1])
        return Cost(settings.n_networks, memory, np.nan)

    def _roll(self, series: Series, external: FloatArray, features: Features) -> None:
        """Draw networks, and judge their free runs from rolling origins."""
        settings = rolling_settings(self)
        check_available(
            self.max_memory, self._cost_to_roll(settings, series, external).memory, len(series.sequences.rows),
            "use fewer networks, cells or landmarks, a shorter season, or fewer series",
        )
        self.fitted_ = RollingModel.fit(settings, series, external, features)

    def _evolve_one(self, *data) -> None:
        """Evolve one network, as the paper does."""
        self._run(self._pose_one(*data))

    def _pose_one(self, y, X, y_val, X_val, sample_weight, sample_weight_val) -> Fit:
        """The evolution of one network."""
        if self.warm_start and isinstance(vars(self).get("fitted_"), RollingModel):
            raise ValueError("warm_start cannot continue the last fit, whose networks did not evolve")
        series, external, features = self._read(y, X)
        given = series.sequences
        inputs = inputs_of(given, external, self.feedback_scale)
        (split,) = divide(
            Data(inputs, with_weights(Targets(given.rows, False), sample_weight, given, of="y")),
            held_out_series(y_val, X_val, sample_weight_val, series, features.n, self.feedback_scale),
            lambda targets, _inputs, _name: targets.values,
            washout=self.washout, validation=self.validation, refit=self.refit, name="y",
        )  # fmt: skip
        if self.validation_mode == "free":
            segments, ends, validation = segments_with_free_ends(split.X, split.validation)
            split = replace(split, validation=validation)
        else:
            segments, ends = share_prefixes(split.X), None
        last = slice(*inputs.offsets[-2:])

        def build(network, **parts) -> SeriesModel:
            _, states = lstm.sequences(network, inputs.rows[last], np.array([0, last.stop - last.start]))
            return SeriesModel(
                network=network, features=features, flat=series.flat, feedback_scale=float(self.feedback_scale),
                end=states[0], last=given.rows[-1].copy(), index=series.end, **parts,
            )  # fmt: skip

        return self._pose([split], segments, build, free=FreeRun(ends, float(self.feedback_scale)))

    # ------------------------------------------------------------------ parameters

    def _reason_to_evolve(self, y_val=None, sample_weight=None) -> str | None:
        """What makes "auto" evolve a network: arguments of `fit`, or parameters, that belong to it."""
        if not is_text(self.validation, "auto"):
            return None
        given = [name for name, value in (("y_val", y_val), ("sample_weight", sample_weight)) if value is not None]
        return next(iter([*given, *of_evolution(self, EvokeForecaster)]), None)

    def _check_parameters(self) -> None:
        self._settled_for(self._reason_to_evolve())

    def _settled_for(self, reason: str | None) -> Any:
        """A copy with what "auto" stands for, which is checked."""
        rolling = is_text(self.validation, "rolling") or (is_text(self.validation, "auto") and reason is None)
        settled = self._settled(Way.WHOLE if rolling else Way.STEPS)
        if rolling and is_text(self.readout, "landmarks") and is_text(self.n_networks, "auto"):
            settled.n_networks = N_JOINED
        settled._check_settled([*of_evolution(self, EvokeForecaster)], reason)
        return settled

    def _check_settled(self, stated: list[str], reason: str | None) -> None:
        super()._check_parameters()
        check_series_parameters(self, stated, reason)
