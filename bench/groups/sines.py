"""The readouts of the sine experiment: SVR beside scikit-learn, and whole runs with each readout."""

from __future__ import annotations

import warnings
from functools import partial

import numpy as np
import sklearn.svm

from evoke import ESP, EvokeForecaster, tasks
from evoke.lstm import forward
from evoke.reproduce import sines_parameters
from evoke.svm import SVR
from harness import problems
from harness.paired import paired
from harness.reference import dual_of_regression
from harness.report import Report, Settings, Table, Target

# C, epsilon, and the speed-up over scikit-learn that we want to reach
CASES = ((10.0, 1e-3, 5), (1e5, 1e-3, 100), (1e6, 1e-3, 100))
REFERENCE_LIMIT = 2_000_000  # steps after which scikit-learn is stopped: it would need minutes
ROWS, CELLS = 300, 10
PYBRAIN_MS = 260.0  # an evaluation in PyBrain's Evolino, measured separately on a similar machine with old versions


def measure(settings: Settings) -> Report:
    report = Report([regression(settings), evaluations(settings)])
    for row in report.tables[0].rows:
        if "wanted" in row:
            label = f"sklearn / evoke, SVR C={row['C']:g}, epsilon={row['epsilon']:g}"
            report.targets.append(Target.at_least(label, row.pop("wanted"), row["sklearn / evoke"].median))
            if row["C"] > 1e4:  # below, both are within tol of the same optimum
                report.targets.append(Target.at_least(f"objective, advantage, C={row['C']:g}", 0.0, row["advantage"]))
    for row in report.tables[1].rows:
        if row["readout"] == "pinv":
            report.targets.append(Target.at_least("PyBrain / evoke, evaluation", 500, PYBRAIN_MS / row["ms"].median))
    return report


def activations(seed: int, n_rows: int) -> tuple[np.ndarray, np.ndarray]:
    """Cells of a random network that reads the two sines, and the values to predict."""
    y = tasks.superimposed_sines(2, n_rows + 101)
    genome = np.random.default_rng(seed).uniform(-1.0, 1.0, size=(CELLS, 4 * (1 + CELLS)))
    phi = forward(genome, 0.3 * y[:-1, None], cell="evolino", gate_bias=(0.0, 0.0, 0.0))
    return np.ascontiguousarray(phi[100:]), y[101:]


def regression(settings: Settings) -> Table:
    table = Table(
        f"SVR on {ROWS} rows of {CELLS} activations, gamma 0.25, tol 1e-3",
        notes=[
            f"Processor time. scikit-learn is stopped after {REFERENCE_LIMIT:,} steps if it has not converged by then. "
            "The advantage is how much higher evoke's dual objective is than scikit-learn's, relative; median of the "
            "networks."
        ],
    )
    n_rows, repeats = (40, 2) if settings.quick else (ROWS, min(settings.repeats, 6))
    for C, epsilon, wanted in CASES[:1] if settings.quick else CASES:
        made = [activations(seed, n_rows) for seed in range(repeats)]
        ours = [SVR(C=C, epsilon=epsilon, gamma=0.25) for _ in made]
        theirs = [sklearn.svm.SVR(C=C, epsilon=epsilon, gamma=0.25, max_iter=REFERENCE_LIMIT) for _ in made]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            fits = {"evoke": partial(problems.fit, ours, made), "sklearn": partial(problems.fit, theirs, made)}
            times = paired(fits, repeats)
        advantages = [
            (dual_of_regression(a, *data) - dual_of_regression(b, *data)) / abs(dual_of_regression(a, *data))
            for a, b, data in zip(ours, theirs, made, strict=True)
        ]
        table.rows.append({
            "C": C, "epsilon": epsilon, "evoke, ms": times.seconds("evoke", 1e-3)[1],
            "sklearn, ms": times.seconds("sklearn", 1e-3)[1], "sklearn / evoke": times.speedup("sklearn", "evoke")[1],
            "advantage": float(np.median(advantages)), "wanted": wanted,
        })  # fmt: skip
    return table


def evaluations(settings: Settings) -> Table:
    table = Table(
        "A whole run on two sines, one core: seconds, and milliseconds per evaluation",
        notes=[f"For comparison, PyBrain's Evolino: {PYBRAIN_MS:g} ms per evaluation, measured separately."],
    )
    y = tasks.superimposed_sines(2, 700)
    for readout in ("svm", "lssvm", "pinv"):
        parameters = sines_parameters("tuned", readout)
        if settings.quick:
            parameters |= {"n_generations": 1, "subpopulation_size": 4, "n_trials": 1}
        engine = ESP([4 * (1 + CELLS)] * CELLS, **{k: parameters[k] for k in ("subpopulation_size", "n_trials")})
        n = engine.n_networks * parameters["n_generations"]
        models = [EvokeForecaster(**parameters, washout=100, random_state=seed) for seed in range(3)]
        times = paired({"fit": lambda k, models=models: models[k % 3].fit(y)}, 3)
        table.rows.append({
            "readout": readout, "evaluations": n, "seconds": times.seconds("fit")[1],
            "ms": times.seconds("fit", 1e-3 * n)[1],
        })  # fmt: skip
    return table
