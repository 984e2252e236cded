"""Runs numbered cases in child processes, so that one that crashes, hangs or takes all memory is a fault and no end."""

from __future__ import annotations

import faulthandler
import json
import mmap
import os
import resource
import signal
import struct
import traceback
import warnings
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

__all__ = ["MOST_BYTES", "MOST_SECONDS", "Unclear", "run"]

MOST_SECONDS = 60  # of a case: a busy machine takes hundreds of times what is usual
MOST_BYTES = 2**28  # that a case may take besides what the process has before it
_MOST_SPACE = 2**32  # addresses, at which a case ends; allocators reserve more than they use
MOST_FAULTS = 20
_CHUNK = 500  # cases a child: leaks do not add up to a fault

Case = Callable[[int, int], str]


class Unclear(Exception):
    """What a case has shown to be a fault."""


def run(case: Case, *, seed: int, first: int, end: int, say: Callable[[int], None]) -> dict[str, Any]:
    """Run the cases from `first` to `end`.

    Parameters
    ----------
    case : callable
        (seed, number) -> a word for how it ended; any exception is a fault.
    seed, first, end : int
    say : callable
        Gets the number of the next case now and then.

    Returns
    -------
    dict
        ``{"next": int, "outcomes": {word: count}, "faults": [{"case": number, "fault": text}]}``. It ends early after
        `MOST_FAULTS` faults.
    """
    outcomes: Counter[str] = Counter()
    faults: list[dict[str, Any]] = []
    at = first
    while at < end and len(faults) < MOST_FAULTS:
        found = _in_child(case, seed, at, min(at + _CHUNK, end))
        outcomes.update(found["outcomes"])
        faults += found["faults"]
        at = found["next"]
        say(at)
    return {"next": at, "outcomes": dict(outcomes), "faults": faults}


def _in_child(case: Case, seed: int, first: int, end: int) -> dict[str, Any]:
    at = mmap.mmap(-1, 8)  # the case that the child is at, which it cannot say any more where it crashes
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        status = 1
        try:
            os.close(read)
            with open(write, "w") as pipe:
                _work(case, seed, first, end, at, pipe)
            status = 0
        finally:
            os._exit(status)
    os.close(write)
    with open(read) as pipe:
        lines = [json.loads(line) for line in pipe if line.endswith("\n")]
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    reached, = struct.unpack("q", at)
    outcomes = Counter(line["outcome"] for line in lines if "outcome" in line)
    faults = [line for line in lines if "fault" in line]
    if status != 0:
        how = f"signal {signal.Signals(-status).name}" if status < 0 else f"no end within {MOST_SECONDS} seconds"
        faults.append({"case": reached, "fault": f"the process ended: {how}"})
        return {"next": reached + 1, "outcomes": outcomes, "faults": faults}
    return {"next": end, "outcomes": outcomes, "faults": faults}


def _work(case: Case, seed: int, first: int, end: int, at: mmap.mmap, pipe: Any) -> None:
    with open("/proc/self/statm") as file:
        size = int(file.read().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (size + _MOST_SPACE, resource.RLIM_INFINITY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    for number in range(first, end):
        at[:] = struct.pack("q", number)
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        faulthandler.dump_traceback_later(MOST_SECONDS, exit=True)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                line = {"outcome": case(seed, number)}
            taken = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024
            if taken > MOST_BYTES:
                raise Unclear(f"it took {taken} bytes")
        except BaseException as error:
            places = traceback.extract_tb(error.__traceback__)
            where = f"{Path(places[-1].filename).name}:{places[-1].lineno}" if places else "?"
            line = {"case": number, "fault": f"{type(error).__name__}: {error} ({where})"[:2000]}
        finally:
            faulthandler.cancel_dump_traceback_later()
        pipe.write(json.dumps(line) + "\n")
        pipe.flush()
