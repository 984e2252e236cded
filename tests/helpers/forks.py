"""Commands in forks of one process, which pays for their imports once.

`in_forks` runs a script in which ``forked(arguments, prepare)`` gives the exit status and the stderr of a command, in a
process in which ``prepare()`` was called before. The script ends with ``print(json.dumps(...))``.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

__all__ = ["forked", "in_forks"]


def forked(arguments, prepare):
    """In the script: the exit status and the stderr of a command."""
    read, write = os.pipe()
    if os.fork() == 0:
        os.dup2(write, 2)
        os.close(read)
        os.close(write)
        prepare()
        sys.argv[1:] = arguments
        from evoke.__main__ import main

        sys.exit(main())
    os.close(write)
    with open(read) as stderr:
        said = stderr.read()
    return [os.waitstatus_to_exitcode(os.wait()[1]), said]


def in_forks(script, *arguments, **options):
    """In the test: what the script prints, given the arguments as ``json.loads(sys.argv[1])`` and so on."""
    done = subprocess.run(
        [sys.executable, "-c", script, *(json.dumps(argument, default=str) for argument in arguments)],
        capture_output=True, text=True, check=False,
        env=os.environ | {"PYTHONPATH": str(Path(__file__).parents[1]), "OPENBLAS_NUM_THREADS": "1"}, **options,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)
