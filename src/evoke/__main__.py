"""Entry point of the command line: ``evoke`` and ``python -m evoke``."""

from __future__ import annotations

import signal
import sys
from importlib.util import find_spec
from io import TextIOWrapper

__all__ = ["main"]


def main() -> int:
    """Run the command line, or say how to install what it needs."""
    for name in ("SIGTERM", "SIGBREAK"):  # as Ctrl-C does; the second is Ctrl-Break, of Windows
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), signal.default_int_handler)
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
        print("Error: interrupted", file=sys.stderr)
        return 130


if __name__ == "__main__":
    sys.exit(main())
