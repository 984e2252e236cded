"""Do restarts pay? One search against several by successive halving, on as many networks in all.

    python bench/study.py restarts [--json FILE] [--seeds 20] [--sets NAME;...] [--methods NAME;...] [--again]
                                   [--report DIR] [--page-only]

Measures what the file does not have yet, so it can be broken off and called again; `--again` measures what was chosen
once more. `--report docs` writes docs/restarts.md. Half an hour on one core.
"""

from __future__ import annotations

from harness import measuring
from harness.restarts import RESTARTS
from harness.restarts_page import write
from harness.results import FOLDER, Results

PART = "restarts"
RESULTS = FOLDER / "restarts.json"


def main(arguments: list[str] | None = None) -> None:
    parser = measuring.make_parser(__doc__, RESULTS)
    parser.set_defaults(seeds=20)
    options = measuring.parse(parser, arguments)
    measuring.measure_parts({PART: RESTARTS}, [PART], options)
    if options.report:
        write(Results(options.json), options.report)
