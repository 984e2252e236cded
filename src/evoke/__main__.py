"""Entry point of the command line: ``evoke`` and ``python -m evoke``."""

from __future__ import annotations

import signal
import sys
from contextlib import suppress
from importlib.util import find_spec
from io import TextIOWrapper
from types import FrameType

__all__ = ["main"]


# What ends a process by default without a fault of its own. SIGINT is Python's; SIGPIPE it makes an error of writing.
ENDING = (
    "SIGTERM", "SIGHUP", "SIGQUIT", "SIGXCPU", "SIGUSR1", "SIGUSR2", "SIGALRM", "SIGVTALRM", "SIGPROF", "SIGPWR",
    "SIGIO", "SIGSTKFLT", "SIGBREAK",
)  # fmt: skip


def _interrupt(number: int, _frame: FrameType | None) -> None:
    """As Ctrl-C does, once: a terminal that closes sends SIGHUP twice, and the second must not end the saving."""
    for name in ENDING:
        if signal.getsignal(getattr(signal, name, number)) is _interrupt:
            signal.signal(getattr(signal, name, number), signal.SIG_IGN)
    raise KeyboardInterrupt


def main() -> int:
    """Run the command line, or say how to install what it needs."""
    for name in ENDING:
        number = getattr(signal, name, None)  # each system has some of them
        if number is not None and signal.getsignal(number) is signal.SIG_DFL:  # nohup has some ignored
            signal.signal(number, _interrupt)
    if getattr(sys.stdout, "errors", None) == "strict" and isinstance(sys.stdout, TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")  # as stderr: code pages of Windows lack most letters
    try:
        if any(find_spec(package) is None for package in ("click", "rich")):
            print(
                'evoke: the command line needs more packages: pip install "click>=8.1" "rich>=13.7"', file=sys.stderr
            )
            return 1
        from evoke.cli import cli

        return cli(prog_name="evoke")
    except KeyboardInterrupt:  # outside all commands, which report what they have kept
        with suppress(OSError):
            print("Error: interrupted", file=sys.stderr)
        return 130


if __name__ == "__main__":
    sys.exit(main())
