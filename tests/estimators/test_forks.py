"""Processes that begin while a thread of their parent fits: no lock that they inherit keeps them for ever."""

import ast
import multiprocessing
import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

import evoke
from helpers.fits import digest_of_fit

SOURCES = sorted(Path(evoke.__file__).parent.rglob("*.py")) if hasattr(evoke, "__file__") else []

# A child that hangs is ended by its alarm, and has a status that is not 0.
BEGIN = """
import os, random, signal, threading, time, warnings
warnings.simplefilter("ignore")
from helpers.fits import fit, fit_on_landmarks

def in_child(call):
    child = os.fork()
    if child == 0:
        signal.alarm(20)
        call()
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0, "the child hangs"
"""

AT_RANDOM = BEGIN + """
def work():
    while True:
        fit()
        fit_on_landmarks()

fit(), fit_on_landmarks()
threading.Thread(target=work, daemon=True).start()
for seed in range(12):
    time.sleep(random.Random(seed).random() / 20)
    in_child(lambda: (fit(), fit_on_landmarks()))
print("same")
"""

# The thread is in the midst of what is computed once when the process forks.
INSIDE = BEGIN + """
import sys
from importlib import import_module

name, call = sys.argv[1], {"fit": fit, "fit_on_landmarks": fit_on_landmarks}[sys.argv[2]]
module, real = import_module(name.rpartition(".")[0]), None
inside, go_on, thread = threading.Event(), threading.Event(), None

def waiting(*arguments):
    if threading.current_thread() is thread:
        inside.set()
        go_on.wait()
    return real(*arguments)

real = getattr(module, name.rpartition(".")[2])
setattr(module, name.rpartition(".")[2], waiting)
thread = threading.Thread(target=call, daemon=True)
thread.start()
inside.wait()
in_child(call)
go_on.set()
thread.join()
print("same")
"""


def said(code, *arguments):
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments], capture_output=True, text=True, check=False,
        env=os.environ | {"PYTHONPATH": str(Path(__file__).parents[1])},
    )  # fmt: skip
    return done.stdout or done.stderr


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_forks_at_random_moments():
    assert said(AT_RANDOM) == "same\n"


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.parametrize("function, call", [
    ("evoke.evolution.problem.digest_of", "fit"),
    ("evoke.evolution.sampling.digest_of", "fit_on_landmarks"),
    ("evoke.landmarks.machine.gram", "fit_on_landmarks"),
])  # fmt: skip
def test_a_fork_in_the_midst_of_what_is_computed_once(function, call):
    assert said(INSIDE, function, call) == "same\n"


@pytest.mark.parametrize("method", sorted({"spawn", "forkserver"} & set(multiprocessing.get_all_start_methods())))
def test_other_ways_to_begin_a_process(method):
    expected, stop = digest_of_fit(), threading.Event()

    def work():
        while not stop.is_set():
            digest_of_fit()

    thread = threading.Thread(target=work)
    thread.start()
    try:
        with multiprocessing.get_context(method).Pool(1) as pool:
            assert pool.map_async(digest_of_fit, range(2)).get(timeout=120) == [expected] * 2
    finally:
        stop.set()
        thread.join()


def locks(text):
    """Names of functools and threading by which a file makes locks that all its objects, or all of a process, share."""
    tree = ast.parse(text)
    found = {"cached_property" for node in ast.walk(tree)
             if isinstance(node, (ast.Name, ast.Attribute, ast.alias))
             and "cached_property" in (getattr(node, field, "") for field in ("id", "attr", "name"))}  # fmt: skip
    shared = [statement for node in ast.walk(tree) if isinstance(node, (ast.Module, ast.ClassDef))
              for statement in node.body if isinstance(statement, (ast.Assign, ast.AnnAssign))]  # fmt: skip
    for node in (node for statement in shared for node in ast.walk(statement) if isinstance(node, ast.Call)):
        name = ast.unparse(node.func).rpartition(".")[2]
        if name in ("Lock", "RLock", "Condition", "Semaphore", "ThreadPoolExecutor") and "register_at_fork" not in text:
            found.add(name)
    return found


@pytest.mark.parametrize("path", SOURCES, ids=str)
def test_no_lock_is_shared_that_a_fork_would_inherit(path):
    assert locks(path.read_text(encoding="utf-8")) == set()


def test_such_a_lock_would_be_seen():
    assert locks("class A:\n    lock = threading.RLock()\n    @functools.cached_property\n    def a(self): 1") == {
        "RLock", "cached_property",
    }  # fmt: skip
