"""The recipes for two machines of docs/parallel.md, with both nodes on this one: fits use what the commands start."""

import contextlib
import importlib.util
import os
import signal
import socket
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

pytestmark = [
    pytest.mark.distributed, pytest.mark.slow, pytest.mark.xdist_group("distributed"),
    pytest.mark.skipif(os.name == "nt", reason="process groups of POSIX"),
]  # fmt: skip

ENVIRONMENT = {"RAY_USAGE_STATS_ENABLED": "0", "RAY_AUTH_MODE": "disabled"}

FIT = """
import os
import numpy as np
from joblib import Parallel, delayed, parallel_config
from evoke import EvokeClassifier, tasks

X, y = tasks.anbncn(4)
model = EvokeClassifier(n_cells=3, subpopulation_size=16, n_generations=4, n_islands=2, migrate_every=2, random_state=0)
here = model.fit(X, y)
expected = here.genome_, here.history_
with parallel_config("{backend}", n_jobs=2{more}):
    model.fit(X, y)
assert np.array_equal(model.genome_, expected[0]) and model.history_ == expected[1]
print("the same bits")
"""
DASK = """
import os
from distributed import Client
with Client("ADDRESS") as client:
    client.wait_for_workers(2, timeout=60)
    assert len(set(client.run(os.getpid).values())) == 2
""" + "".join(f"    {line}\n" for line in FIT.format(backend="dask", more=", wait_for_workers_timeout=60").splitlines())
RAY = """
import time
import ray
from ray.util.joblib import register_ray
ray.init(address="ADDRESS", log_to_driver=False)
for _ in range(300):
    nodes = [node for node in ray.nodes() if node["Alive"]]
    if len(nodes) == 2:
        break
    time.sleep(0.2)
assert len(nodes) == 2 and ray.cluster_resources()["CPU"] == 2, nodes
register_ray()
""" + FIT.format(backend="ray", more="")


def command(name):
    """A command of a package beside this Python."""
    return str(Path(sys.executable).with_name(name))


def free_port():
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        return listening.getsockname()[1]


@pytest.fixture
def start(tmp_path, monkeypatch):
    """Starts commands that run until the test ends, with what they begin.

    The folder of Ray, where other fits would look for a cluster, is its own. Names of sockets have to be short.
    """
    with (
        tempfile.TemporaryDirectory(prefix="ray", ignore_cleanup_errors=True) as folder,
        contextlib.ExitStack() as running,
    ):
        monkeypatch.setenv("RAY_TMPDIR", folder)
        for name, value in ENVIRONMENT.items():
            monkeypatch.setenv(name, value)

        def begin(*arguments):
            log = running.enter_context(open(tmp_path / f"{len(os.listdir(tmp_path))}.log", "w"))
            one = subprocess.Popen(arguments, stdout=log, stderr=log, start_new_session=True)

            def stop():
                for number in (signal.SIGTERM, signal.SIGKILL):
                    with contextlib.suppress(ProcessLookupError):
                        os.killpg(one.pid, number)
                    with contextlib.suppress(subprocess.TimeoutExpired):
                        one.wait(10)

            running.callback(stop)

        yield begin


def assert_fits(script, address, tmp_path):
    done = subprocess.run([sys.executable, "-c", script.replace("ADDRESS", address)],
                          capture_output=True, text=True, timeout=240, cwd=tmp_path)  # fmt: skip
    logs = "".join(path.read_text(encoding="utf-8")[-2000:] for path in sorted(tmp_path.glob("*.log")))
    assert done.returncode == 0, done.stderr + logs
    assert done.stdout.endswith("the same bits\n")


@pytest.mark.skipif(importlib.util.find_spec("distributed") is None, reason="needs distributed")
def test_a_scheduler_and_workers_of_dask(start, tmp_path):
    address = f"tcp://127.0.0.1:{free_port()}"
    start(command("dask"), "scheduler", "--host", address, "--no-dashboard")
    for _ in range(2):
        start(command("dask"), "worker", address, "--nworkers", "1", "--nthreads", "1", "--no-dashboard",
              "--local-directory", str(tmp_path))  # fmt: skip
    assert_fits(DASK, address, tmp_path)


@pytest.mark.skipif(importlib.util.find_spec("ray") is None, reason="needs ray")
def test_a_head_of_ray_and_another_node(start, tmp_path):
    address = f"127.0.0.1:{free_port()}"
    start(command("ray"), "start", "--head", "--node-ip-address", "127.0.0.1", "--port", address.split(":")[1],
          "--num-cpus", "1", "--include-dashboard", "false", "--block")  # fmt: skip
    start(command("ray"), "start", "--address", address, "--node-ip-address", "127.0.0.1", "--num-cpus", "1", "--block")
    assert_fits(RAY, address, tmp_path)
