"""One of the studies in bench/studies.

python bench/study.py NAME [OPTION...]     `--help` after the name lists the options of that study
"""

from __future__ import annotations

import argparse
import importlib
import sys
from pathlib import Path

from harness.machine import drop_handicaps

STUDIES = sorted(path.stem for path in (Path(__file__).parent / "studies").glob("[a-z]*.py"))


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("name", choices=STUDIES)
    parser.add_argument("options", nargs=argparse.REMAINDER, metavar="OPTION")
    chosen = parser.parse_args(arguments)
    sys.argv[0] = f"study.py {chosen.name}"  # the study's messages begin with it
    importlib.import_module(f"studies.{chosen.name}").main(chosen.options)


if __name__ == "__main__":
    drop_handicaps()
    main()
