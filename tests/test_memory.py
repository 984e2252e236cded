"""Out of memory: every large allocation that fails is a MemoryError before native code runs, never a crash."""

import subprocess
import sys

import pytest

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
in_use = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
for megabytes in (1024, 64, 32, 16, 8, 4, 2, 1, 0):
    child = os.fork()
    if child == 0:
        limit = in_use + (megabytes << 20)
        resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
        os.environ["PYTHONWARNINGS"] = "ignore"
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
        [sys.executable, "-W", "ignore", "-c", PROBE, name], capture_output=True, text=True, timeout=100
    )
    assert done.returncode == 0, done.stderr
    codes = {int(megabytes): int(code) for megabytes, code in map(str.split, done.stdout.splitlines())}
    assert codes[1024] == 0, done.stderr  # enough
    assert codes[0] == 3, done.stderr
    assert set(codes.values()) <= {0, 3}, (codes, done.stderr)  # a signal would be negative
