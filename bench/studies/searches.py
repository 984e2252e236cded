"""Which search finds the better networks? ESP, CMA-ES, a local search and random networks, over tasks and budgets.

    python bench/study.py searches [--json FILE] [--seeds 10] [--sets NAME;...] [--methods NAME;...] [--again]
                                   [--report DIR] [--page-only]

Measures what the file does not have yet, so it can be broken off and called again; `--again` measures what was chosen
once more. `--report docs` writes docs/searches.md. A quarter of an hour on one core.
"""

from __future__ import annotations

from harness import measuring
from harness.results import FOLDER, Results
from harness.searches import SEARCHES
from harness.searches_page import write

PART = "searches"
RESULTS = FOLDER / "searches.json"


def main(arguments: list[str] | None = None) -> None:
    parser = measuring.make_parser(__doc__, RESULTS)
    parser.set_defaults(seeds=10)
    options = measuring.parse(parser, arguments)
    measuring.measure_parts({PART: SEARCHES}, [PART], options)
    if options.report:
        write(Results(options.json), options.report)
