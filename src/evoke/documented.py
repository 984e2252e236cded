"""What the docstrings of the estimators, and of the kernel machines, have in common, written once."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from functools import partial
from typing import Any, TypeVar

__all__ = ["ESTIMATORS", "MACHINES", "documented"]

Class = TypeVar("Class", bound=type)

# Defaults are added from the signatures. A docstring names what it takes from here: ``{n_cells cell}`` on a line.
ESTIMATORS = """
n_cells : int
    Memory cells H.
cell : {"lstm", "evolino"}
    ``"lstm"``: s = i tanh(z) + f s, phi = o tanh(s). ``"evolino"``: s = i z + f s, phi = tanh(o s).
gate_bias : tuple of 3 floats
    Constant biases of the input, forget and output gates.
weight_range : float
    Initial weights are uniform in [-weight_range, weight_range].
n_generations : int
    Generations of ``subpopulation_size * n_trials`` networks each.
subpopulation_size : int
    Chromosomes in the subpopulation of each cell.
n_trials : int
    Networks that each chromosome takes part in per generation.
mutation_scale : float
    Half of the Cauchy noise lies within +- this scale (the paper's alpha).
burst_patience : int or None
    Generations without improvement that set off burst mutation; None: never.
burst_scale : float or None
    Noise scale of burst mutation; None: `mutation_scale`.
credit : {"best", "mean"}
    A chromosome is scored by the best or by the mean of the networks it took part in.
objective : {"squared", "hinge", "count"}
    Error of a prediction: its square, its absolute value beyond `epsilon`, or whether it is off by more than
    `epsilon`; summed over outputs and steps.
readout : {"svm", "lssvm", "pinv"}
    Support vector regression, least-squares support vector machines, or linear weights by the pseudoinverse; one
    an output.
kernel : {"rbf", "linear", "poly"}
gamma : float
    Kernel width, ``exp(-gamma * |x - y|**2)``. The paper's "standard deviation 2.0" means 1/4 in its SVM software.
epsilon : float
    Errors that support vector regression and the objectives "hinge" and "count" leave free.
tol : float
    Tolerance of the SVM solver.
solver : {"auto", "native", "thundersvm"}
    What trains the support vector machines of ``readout="svm"``.
washout : int
    Steps at the beginning of every sequence that are neither trained on nor judged.
validation : "half" or float
    The part held out for the fitness: the second half of the sequences (of the steps, for a single sequence), or
    the last fraction of them. Not used where `fit` is given ``X_val, y_val``.
random_state : int, SeedSequence, Generator, RandomState or None
    Seed of the evolution; 0 is one like any other. None: another run each time.
n_jobs : int or None
    Slices of the population evaluated at a time, by threads or by the joblib backend in force. The result does not
    depend on it.
callbacks : list or None
    What accompanies the run: those of `evoke.callbacks` (progress, an early end, checkpoints, a log), and functions
    that are called after every generation with its record and the ESP engine; a true result ends the run.
warm_start : bool
    Whether `fit` goes on from the population of the last fit, for `n_generations` more: on the same data two fits
    give the same bits as one of so many generations. The data may differ, in which case the best network so far is
    judged anew; the parameters of the evolution and the number of features may not.
verbose : int
    1 prints a line a generation to stderr. For a bar see `evoke.callbacks.Progress`.
refit : bool
    Whether the readout of the best network is trained once more in the end (an interrupt included), on the part that
    `validation` holds out too. The network, `best_fitness_` and `history_` are those of the run without. What `fit` is
    given as ``X_val, y_val`` stays held out, so that there is nothing to train on again.
genome_ : ndarray of shape (n_cells, 4 * (`n_features_in_` + n_cells))
    Weights of the best network. A row is a cell: [z | input | forget | output] x [inputs, cells].
readout_ : FittedReadout
    What was trained on its activations: support vectors, weights, intercepts and duality gaps.
history_ : list of dict
    One record a generation.
best_fitness_ : float
    Training plus validation error of the best network.
n_evaluations_ : int
    Networks evaluated.
feature_names_in_ : ndarray of str
    Names of the columns of X; only where it was a data frame, or a list of them, with names that are text.
X : list of (T_i, n_features) arrays or data frames, (n, T, n_features) array, or (T, n_features) array
    Sequences; a 2-D array (or a data frame) is one sequence, or with `lengths` several laid end to end.
lengths : sequence of int, optional
    Those of the sequences in a 2-D X. Cross-validation deals out the rows of an array: pass it a list of sequences. In
    a pipeline `lengths` come by scikit-learn's metadata routing, as do weights.
X_val, y_val : optional
    Sequences held out for the fitness, in a container of the same kinds (not laid end to end).
sample_weight : optional
    Weights of the targets, in the structure of y; where y has one a step, also one a sequence. A weight
    multiplies C and the error of its step, for the fitness too: 2 is the same as to be there twice.
sample_weight_val : optional
    The weights of `y_val`.
"""

MACHINES = """
kernel : {"linear", "poly", "rbf"}
    ``x @ z``, ``(gamma * x @ z + coef0) ** degree`` or ``exp(-gamma * |x - z|**2)``.
degree : int
    Degree of the polynomial kernel, >= 0.
gamma : {"scale", "auto"} or float
    Kernel parameter, > 0. "scale" is ``1 / (n_features * X.var())``, "auto" is ``1 / n_features``.
coef0 : float
    Constant of the polynomial kernel.
class_weight : dict, "balanced" or None
    Factor of C for each class; "balanced" is ``n_samples / (n_classes * np.bincount(y))``.
solver : {"auto", "native", "thundersvm"}
    "auto" is "native". "thundersvm" trains with the ThunderSVM library in single precision; where that is not
    enough the native solver finishes the work, with a :class:`~evoke.exceptions.SolverWarning`.
cache_size : float
    Memory for the kernel matrix in MiB; rows that do not fit are computed again.
classes_ : ndarray of shape (n_classes,)
    The labels, sorted.
class_weight_ : ndarray of shape (n_classes,)
    Factor of C for each class.
residual_ : ndarray of shape (n_outputs,)
    Largest residual of the equations, in units of the target: how wrong the values on the training rows may be.
fit_status_ : int
    0 if converged, 1 if not, which also warns.
n_features_in_ : int
    Number of features.
feature_names_in_ : ndarray of shape (`n_features_in_`,)
    Names of the features, if `X` has names that are all strings.
shape_fit_ : tuple of int
    Shape of the training rows.
X : array-like of shape (n_samples, n_features)
    Rows, finite.
sample_weight : array-like of shape (n_samples,), optional
    Factor of C for each row, >= 0. A weight of 2 is the same as the row twice, one of 0 as no such row.
"""


def documented(common: str) -> Callable[[Class], Class]:
    """Complete the docstrings of a class and of its `fit`, where a line like ``{n_cells cell}`` stands for entries."""
    known = {entry.split()[0].strip(","): entry for entry in re.findall(r"^\S.*\n(?: .*\n)*", common, re.MULTILINE)}
    return partial(_complete, known)


def _complete(known: dict[str, str], cls: Class) -> Class:
    for thing in (cls, vars(cls)["fit"]):
        defaults = {name: parameter.default for name, parameter in inspect.signature(thing).parameters.items()}

        def entries(match, defaults=defaults):
            names, indent = match["names"].split(), match["indent"]
            return "\n".join(_entry(known[name], indent, defaults.get(name)) for name in names)

        if thing.__doc__:  # python -OO has none
            thing.__doc__ = re.sub(r"^(?P<indent> *)\{(?P<names>[\w ]+)\}$", entries, thing.__doc__, flags=re.MULTILINE)
    return cls


def _entry(entry: str, indent: str, default: Any) -> str:
    first, *text = entry.splitlines()
    if default not in (None, inspect.Parameter.empty) or "None" in first:
        first += ", default=" + (f'"{default}"' if isinstance(default, str) else repr(default))
    return "\n".join(indent + line for line in [first, *text])
