"""Types: every public name says what it takes and returns, and a user's program passes strict checks."""

import importlib
import inspect
import os
import subprocess
import sys
from pathlib import Path

import pytest

import evoke
from helpers.public import PUBLIC

ROOT = Path(__file__).resolve().parents[2]

PROGRAM = """
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import evoke
from evoke import ESP, EvokeClassifier, EvokeForecaster, EvokeRegressor, certify, tasks
from evoke.callbacks import Checkpoint, EarlyStopping
from evoke.export import to_c, to_html
from evoke.plot import HistoryDisplay
from evoke.svm import LSSVR, SVC


def main(folder: Path) -> None:
    X, y = tasks.anbncn(4)
    model = EvokeClassifier(n_generations=2, n_cells="auto", gamma=0.5, callbacks=[EarlyStopping(target=0.0)])
    labels: NDArray[np.int64] = model.fit(X, y).predict(X)[0]
    model.save(folder / "model.evk")
    again = evoke.load(folder / "model.evk")
    share: float = model.score(X, y) + model.best_fitness_
    stream = model.stream()
    print(labels, again, share, stream.step(X[0][0]), model.decision_function(X), certify(model, "anbncn").up_to)
    series = tasks.superimposed_sines(2, 100)
    forecaster = EvokeForecaster(n_networks=1, validation="half", washout=10, random_state=0).fit(series)
    print(forecaster.generate(3), EvokeRegressor(C=1.0, scale=None).get_params())
    SVC(kernel="linear").fit(np.eye(3), [0, 1, 1]).decision_function(np.eye(3))
    LSSVR(C=10.0).fit(np.eye(3), [0.0, 1.0, 2.0])
    to_c(model, folder / "model.c", dtype="float32")
    to_html(model, "model.html", symbols="Sabc")
    HistoryDisplay.from_estimator(model)
    esp = ESP([3, 3], subpopulation_size=4, mutation_scale=0.5, random_state=0)
    esp.tell(np.zeros(len(esp.ask())))
    print(esp.best, Checkpoint(folder / "run.evk", every=5))


main(Path("."))
"""


def public():
    for module, names in PUBLIC.items():
        for name in names:
            value = getattr(importlib.import_module(module), name)
            if inspect.isfunction(value):
                yield f"{module}.{name}", value
            elif inspect.isclass(value) and not issubclass(value, (BaseException, Warning)):
                for part, method in inspect.getmembers(value):
                    ours = inspect.isroutine(method) and (getattr(method, "__module__", None) or "").startswith("evoke")
                    if ours and inspect.isfunction(inspect.unwrap(method)) and (part == "__init__" or part[0] != "_"):
                        yield f"{module}.{name}.{part}", method


def test_every_parameter_of_a_public_name_has_a_type():
    untyped, n = set(), 0
    for who, function in public():
        signature = inspect.signature(function)
        given = [each for each in signature.parameters.values() if each.name not in ("self", "cls")]
        n += 1
        untyped |= {f"{who}: {each.name}" for each in given if each.annotation is inspect.Parameter.empty}
        if signature.return_annotation is inspect.Signature.empty and given:
            untyped.add(f"{who}: what it returns")
    assert n > 150
    assert untyped == set()


def test_a_strictly_typed_program(tmp_path):
    pytest.importorskip("mypy")
    (tmp_path / "program.py").write_text(PROGRAM)
    # of an editable install mypy sees nothing; the sources are those of any other
    installed = Path(evoke.__file__).parent.parent
    environment = os.environ if installed.name == "site-packages" else os.environ | {"MYPYPATH": str(ROOT / "src")}
    command = [sys.executable, "-m", "mypy", "--strict", "--follow-imports=silent", "--config-file=", "program.py"]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout
    wrong = PROGRAM.replace("n_generations=2", "n_generations=[2]")
    (tmp_path / "program.py").write_text(wrong)
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert 'Argument "n_generations" to "EvokeClassifier" has incompatible type' in done.stdout
