"""Memory: a large allocation that fails is a MemoryError before native code runs, and what was used is given back."""

import os
import subprocess
import sys

import pytest

# Measuring coverage in the subprocess would take memory of its own.
WITHOUT_COVERAGE = {name: value for name, value in os.environ.items() if not name.startswith("COVERAGE_")}

# Children with ever less address space; each says whether the call worked or ran out of memory.
PROBE = """
import os, resource, sys
import numpy as np
from evoke import EvokeClassifier, lstm, svm, tasks

rng = np.random.default_rng(0)
X, y = rng.normal(size=(3000, 5)), rng.integers(0, 2, 3000)
strings, legal = tasks.anbncn(30)
genome = rng.normal(size=(50, 3, 28))
rows = rng.normal(size=(20000, 4))
calls = {
    "svc": lambda: svm.SVC(C=1.0, gamma=1.0, max_iter=10).fit(X, y),
    "classifier": lambda: EvokeClassifier(n_generations=1, subpopulation_size=8, n_trials=1).fit(strings, legal),
    "lstm": lambda: lstm.forward(genome, rows),
}
call = calls[sys.argv[1]]
call()  # what is imported late is imported now
for megabytes in (1024, 64, 32, 16, 8, 4, 2, 1, 0):
    child = os.fork()
    if child == 0:
        os.environ["PYTHONWARNINGS"] = "ignore"
        # of the child: BLAS gives the memory of its threads back when a process forks
        in_use = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (in_use, -1))
        held = []  # what the allocator has kept of memory that was given back to it
        for size in (1 << 22, 1 << 18, 1 << 14):
            try:
                while True:
                    held.append(np.empty(size, dtype=np.uint8))
            except MemoryError:
                pass
        resource.setrlimit(resource.RLIMIT_AS, (in_use + (megabytes << 20), -1))
        try:
            call()
        except MemoryError:
            os._exit(3)
        except BaseException as error:
            os.write(2, repr(error).encode())
            os._exit(4)
        os._exit(0)
    status = os.waitpid(child, 0)[1]
    print(megabytes, os.waitstatus_to_exitcode(status), flush=True)
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
@pytest.mark.parametrize("name", ["svc", "classifier", "lstm"])
def test_out_of_memory(name):
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", PROBE, name], capture_output=True, text=True, timeout=100,
        env=WITHOUT_COVERAGE | {"MALLOC_MMAP_THRESHOLD_": "65536"},  # what is freed is not kept for the next call
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    codes = {int(megabytes): int(code) for megabytes, code in map(str.split, done.stdout.splitlines())}
    assert codes[1024] == 0, done.stderr  # enough
    assert codes[0] == 3, done.stderr
    assert set(codes.values()) <= {0, 3}, (codes, done.stderr)  # a signal would be negative


# A thousand times each in one process, of which the resident memory is read before and after.
LEAK = """
import resource
import tempfile
from pathlib import Path
import numpy as np
from evoke import EvokeClassifier, EvokeForecaster, EvokeRegressor, load, svm

rng = np.random.default_rng(0)
X = [rng.normal(size=(n, 2)) for n in (3, 5, 4)]
rows, series = np.concatenate(X), np.sin(np.arange(12.0))
labels, values = [np.arange(len(x)) % 3 for x in X], [x[:, 0] for x in X]
flat_labels, flat_values = np.concatenate(labels), np.concatenate(values)
tiny = dict(n_cells=1, n_generations=1, subpopulation_size=2, n_trials=1, random_state=0)
fitted = EvokeClassifier(**tiny).fit(X, labels)
memory = Path("/dev/shm")  # a disk would take most of the time
path = Path(tempfile.mkdtemp(dir=memory if memory.is_dir() else None)) / "model.evk"


def save_and_load():
    fitted.save(path)
    load(path)


calls = {
    "EvokeClassifier": lambda: EvokeClassifier(**tiny).fit(X, labels).predict(X),
    "EvokeRegressor": lambda: EvokeRegressor(**tiny).fit(X, values).predict(X),
    "EvokeForecaster": lambda: EvokeForecaster(**tiny).fit(series).generate(3),
    "SVC": lambda: svm.SVC(gamma=1.0).fit(rows, flat_labels).predict(rows),
    "SVR": lambda: svm.SVR(gamma=1.0).fit(rows, flat_values).predict(rows),
    "LSSVC": lambda: svm.LSSVC(gamma=1.0).fit(rows, flat_labels).predict(rows),
    "LSSVR": lambda: svm.LSSVR(gamma=1.0).fit(rows, flat_values).predict(rows),
    "save and load": save_and_load,
}


def resident():
    return int(open("/proc/self/statm").read().split()[1]) * resource.getpagesize()


for name, call in calls.items():
    for _ in range(100):
        call()
    before = resident()
    for _ in range(1000):
        call()
    print(resident() - before, name, flush=True)
path.unlink()
path.parent.rmdir()
"""


@pytest.mark.slow
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
def test_memory_does_not_grow_with_the_number_of_fits():
    done = subprocess.run(
        [sys.executable, "-c", LEAK], env=WITHOUT_COVERAGE, capture_output=True, text=True, timeout=100
    )
    assert done.returncode == 0, done.stderr
    grown = {name: int(size) for size, name in (line.split(" ", 1) for line in done.stdout.splitlines())}
    assert len(grown) == 8
    assert max(grown.values()) < 2 << 20, grown
