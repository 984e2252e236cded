"""Hours of fits, saves, loads, kills and refits, in threads and processes at once: nothing is lost, nothing grows.

python tools/soak.py --hours 2 [--seed 0] [--json FILE]

In every round, in turn and at random moments:

fits         three threads fit at once, and two processes of joblib: the bits are those that the seed gave at first
refits       one estimator is fitted again and again while a thread predicts with it: an answer is that of one whole fit
saves        a child that saves over and over is killed: the file is whole, one of the two that it wrote
checkpoints  a child that fits with a checkpoint is killed, once or more: what it had said to be kept is there, and the
             run that continues ends with the bits of one without a break
interrupts   a child in a fit gets Ctrl-C: it saves what it has, which can be loaded and has the bits of a whole run

After the warm-up, a tenth of the time, the memory of this process may grow by 5 MB at most, and no file or thread may
be left. Exit status 1 where something failed. Needs Linux.

glibc gives threads arenas of their own, up to eight a core, each of which keeps what it has once held, and of what is
free it gives back only the end. Neither is growth of what evoke holds: the soak has one arena, and memory is measured
after glibc has given back what is free. What is in use by then is in the record too.
"""

from __future__ import annotations

import argparse
import ctypes
import gc
import hashlib
import json
import math
import mmap
import os
import resource
import signal
import struct
import sys
import tempfile
import threading
import time
import traceback
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import date
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")

import joblib
import numpy as np

import evoke
from evoke import EvokeClassifier
from evoke.callbacks import Checkpoint

LIBC = ctypes.CDLL(None)
MOST_GROWTH = 5.0  # MB
SEEDS = range(4)
TINY: dict[str, Any] = dict(n_cells=3, n_generations=12, subpopulation_size=6, n_trials=2)

_RNG = np.random.default_rng(3)
X = [_RNG.normal(size=(length, 2)) for length in (20, 30, 25, 15)]
Y = [(np.cumsum(x[:, 0]) > 0).astype(int) for x in X]


def fitted(seed: int, *callbacks: Any) -> EvokeClassifier:
    return EvokeClassifier(**TINY, random_state=seed, callbacks=list(callbacks)).fit(X, Y)


def digest(model: EvokeClassifier) -> str:
    """Of all bits of a fit that a user sees."""
    state = hashlib.sha256(model.genome_.tobytes())
    for decisions in model.decision_function(X):
        state.update(decisions.tobytes())
    state.update(json.dumps([record["best_fitness"] for record in model.history_]).encode())
    return state.hexdigest()


def digest_of_fit(seed: int) -> str:
    return digest(fitted(seed))


def megabytes() -> float:
    """Of this process, in memory, but for what is free."""
    gc.collect()
    if hasattr(LIBC, "malloc_trim"):  # glibc
        LIBC.malloc_trim(0)
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * resource.getpagesize() / 1e6


def in_use() -> float:
    """Megabytes that were asked of the C library and not given back; what Python's objects take beside is not in it."""
    if not hasattr(LIBC, "mallinfo2"):  # from glibc 2.33 on
        return float("nan")
    LIBC.mallinfo2.restype = _Mallinfo2
    found = LIBC.mallinfo2()  # of the one arena
    return (found.uordblks + found.hblkhd) / 1e6


class _Mallinfo2(ctypes.Structure):
    _fields_ = [(name, ctypes.c_size_t) for name in (
        "arena", "ordblks", "smblks", "hblks", "hblkhd", "usmblks", "fsmblks", "uordblks", "fordblks", "keepcost"
    )]  # fmt: skip


def growth(sizes: list[float]) -> float:
    """By how much the largest is above the largest of the warm-up, the first tenth."""
    return max(sizes) - max(sizes[: max(len(sizes) // 10, 1)])


class Fault(Exception):
    """What should not be."""


def expect(holds: Any, what: str) -> None:
    if not holds:
        raise Fault(what)


def begun(work: Callable[[], Any]) -> int:
    """A child that does this work and ends; its number."""
    child = os.fork()
    if child == 0:
        status = 1
        try:
            work()
            status = 0
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(status)
    return child


def ended(child: int) -> int:
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


class Soak:
    """The work of one round after the other.

    Attributes
    ----------
    counts : Counter
        What was done.
    """

    def __init__(self, folder: Path, seed: int):
        self.folder, self.counts = folder, Counter[str]()
        self._rng = np.random.default_rng(seed)
        self._models = {k: fitted(k) for k in SEEDS}
        self._digests = {k: digest(model) for k, model in self._models.items()}
        self._files = {}
        for k, model in self._models.items():
            model.save(folder / f"{k}.evk")
            self._files[k] = (folder / f"{k}.evk").read_bytes()
        began = time.monotonic()
        fitted(0, Checkpoint(folder / "run.evk", every=1))
        self._seconds = time.monotonic() - began  # that a child is given at most before it is killed
        (folder / "run.evk").unlink()

    def round(self) -> None:
        for work in (self.fits, self.refits, *[self.saves] * 4, *[self.checkpoints] * 3, self.interrupts):
            work()
        left = {path.name for path in self.folder.iterdir()} - {f"{k}.evk" for k in SEEDS} - {"saved.evk"}
        expect(not left, f"files are left: {left}")
        self.counts["rounds"] += 1

    def _pause(self) -> None:
        time.sleep(self._rng.uniform(0.0, 1.2 * self._seconds))

    def _clear(self) -> None:
        """Remove what a killed process may leave: temporary files of its own, which nothing needs."""
        for path in self.folder.glob(".evoke-*.tmp"):
            path.unlink()
            self.counts["temporary files of killed processes"] += 1

    def fits(self) -> None:
        with ThreadPoolExecutor(3) as pool:
            found = list(pool.map(digest_of_fit, list(SEEDS)[:3]))
        self.counts["fits in threads"] += 3
        if self.counts["rounds"] % 5 == 0:
            found += joblib.Parallel(n_jobs=2)(joblib.delayed(digest_of_fit)(k) for k in SEEDS)
            self.counts["fits in processes"] += len(SEEDS)
        expected = [*self._digests.values()]
        expect(found in (expected[:3], expected[:3] + expected), "a fit of the same seed has other bits")

    def refits(self) -> None:
        model, answers, stop = evoke.load(self.folder / "0.evk"), set(), threading.Event()
        whole = {np.concatenate(self._models[k].predict(X)).tobytes() for k in SEEDS}

        def predict() -> None:
            while not stop.is_set():
                answers.add(np.concatenate(model.predict(X)).tobytes())
                self.counts["predictions during refits"] += 1

        with ThreadPoolExecutor(2) as pool:
            asked = pool.submit(predict)
            for k in SEEDS:
                model.set_params(random_state=k).fit(X, Y)
                expect(digest(model) == self._digests[k], "a refit has other bits")
            stop.set()
            asked.result()
        self.counts["refits"] += len(SEEDS)
        expect(answers <= whole, "a prediction is that of no whole fit")

    def saves(self) -> None:
        path, first, second = self.folder / "saved.evk", *self._rng.choice(len(SEEDS), 2, replace=False).tolist()
        self._models[first].save(path)

        def save() -> None:
            while True:
                self._models[second].save(path)
                self._models[first].save(path)

        child = begun(save)
        self._pause()
        os.kill(child, signal.SIGKILL)
        expect(ended(child) == -signal.SIGKILL, "a child that saves ended by itself")
        expect(path.read_bytes() in (self._files[first], self._files[second]), "a file is half-written")
        expect(digest(evoke.load(path)) in (self._digests[first], self._digests[second]), "a file holds another model")
        self._clear()
        self.counts["kills of saves"] += 1
        self.counts["loads"] += 1

    def checkpoints(self) -> None:
        path, seed = self.folder / "run.evk", int(self._rng.choice(len(SEEDS)))
        kept = mmap.mmap(-1, 8)

        def note(record: Any, _esp: Any) -> None:
            kept[:] = struct.pack("q", record["generation"])

        while True:
            child = begun(lambda: fitted(seed, Checkpoint(path, every=1), note))
            self._pause()
            os.kill(child, signal.SIGKILL)
            status = ended(child)
            generation, = struct.unpack("q", kept)
            expect(status in (0, -signal.SIGKILL), f"a child that fits ended with {status}")
            self.counts["kills of fits"] += status != 0
            if generation > 0:
                found = len(evoke.load(path).history_)
                expect(found >= generation, f"generation {generation} was kept, the file has {found}")
                self.counts["loads"] += 1
            self._clear()
            if self._rng.random() < 0.6:
                break
        model = fitted(seed, Checkpoint(path, every=1))
        expect(digest(model) == self._digests[seed], "a run that was killed ends with other bits")
        self.counts["runs continued"] += 1
        path.unlink()

    def interrupts(self) -> None:
        path, seed = self.folder / "run.evk", int(self._rng.choice(len(SEEDS)))
        reached = mmap.mmap(-1, 8)

        def note(record: Any, _esp: Any) -> None:
            reached[:] = struct.pack("q", record["generation"])

        def fit() -> None:
            signal.signal(signal.SIGINT, signal.default_int_handler)
            model = EvokeClassifier(**{**TINY, "n_generations": 10**6}, random_state=seed, callbacks=[note])
            try:
                model.fit(X, Y)
            except KeyboardInterrupt:
                model.save(path)

        child, generation = begun(fit), 0
        while generation == 0 and os.waitpid(child, os.WNOHANG) == (0, 0):
            time.sleep(0.001)
            generation, = struct.unpack("q", reached)
        self._pause()
        generation, = struct.unpack("q", reached)
        os.kill(child, signal.SIGINT)
        expect(ended(child) == 0, "a child that was interrupted did not end well")
        records = evoke.load(path).history_
        expect(len(records) >= generation, f"generation {generation} was done, the file has {len(records)}")
        n = min(TINY["n_generations"], len(records))
        ours, theirs = ([record["best_fitness"] for record in history[:n]]
                        for history in (records, self._models[seed].history_))  # fmt: skip
        expect(ours == theirs, "a run that was interrupted has other bits")
        path.unlink()
        self.counts["loads"] += 1
        self.counts["interrupts"] += 1


def soak(seconds: float, seed: int) -> dict[str, Any]:
    """The record of that many seconds."""
    faults, sizes, used, began = [], [], [], time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        work = Soak(Path(folder), seed)
        work.round()
        n_files, n_threads = len(os.listdir("/proc/self/fd")), threading.active_count()
        said = 0.0
        while time.monotonic() - began < seconds or not sizes:
            try:
                work.round()
            except Exception as error:
                faults.append(f"round {work.counts['rounds']}: {type(error).__name__}: {error}")
                if len(faults) == 10:
                    break
            sizes.append(megabytes())
            used.append(in_use())
            passed = time.monotonic() - began
            if passed - said > 60:
                said = passed
                print(f"  {passed:.0f} s, round {work.counts['rounds']}, {sizes[-1]:.2f} MB, {used[-1]:.3f} MB in use",
                      flush=True)  # fmt: skip
        more_files = len(os.listdir("/proc/self/fd")) - n_files
        more_threads = threading.active_count() - n_threads
    grown = growth(sizes)
    if grown > MOST_GROWTH:
        faults.append(f"the memory grew by {grown:.1f} MB")
    if more_files > 0 or more_threads > 0:
        faults.append(f"{more_files} files and {more_threads} threads are left")
    return {
        "seconds": round(time.monotonic() - began), "seed": seed, "date": date.today().isoformat(),
        "counts": dict(work.counts), "faults": faults,
        "megabytes": {"first": round(sizes[0], 1), "largest": round(max(sizes), 1), "last": round(sizes[-1], 1),
                      "growth after the warm-up": round(grown, 1),
                      "growth of what is in use": None if math.isnan(used[0]) else round(growth(used), 3)},
        "config": evoke.show_config(mode="dict"),
    }  # fmt: skip


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--hours", type=float, default=2.0)
    parser.add_argument("--seed", type=int, default=0, help="of the moments at which processes are killed")
    parser.add_argument("--json", type=Path, help="write the record to this file")
    options = parser.parse_args(arguments)
    if os.environ.get("MALLOC_ARENA_MAX") != "1":  # read when a process starts
        os.execve(sys.executable, [sys.executable, *sys.orig_argv[1:]], os.environ | {"MALLOC_ARENA_MAX": "1"})
    record = soak(3600.0 * options.hours, options.seed)
    print(json.dumps({key: value for key, value in record.items() if key != "config"}, indent=1))
    if options.json is not None:
        record["config"].pop("thundersvm", None)  # the path of its library
        options.json.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
    return int(bool(record["faults"]))


if __name__ == "__main__":
    sys.exit(main())
