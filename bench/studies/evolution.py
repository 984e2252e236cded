"""Does evolution pay on whole sequences? Networks that are drawn beside as many that evolved, in the same time.

    python bench/study.py evolution [--json FILE] [--seeds 30] [--sets NAME;...] [--methods NAME;...] [--again]
                                    [--report DIR] [--page-only]

Measures what the file does not have yet, so it can be broken off and called again; `--again` measures what was chosen
once more. `--report docs` writes docs/evolution_pays.md and its figure. Needs aeon, which has the data; nothing is
downloaded.
"""

from __future__ import annotations

from harness import measuring
from harness.evolution_page import write
from harness.evolving import EVOLUTION
from harness.results import FOLDER, Results

PART = "evolution"
RESULTS = FOLDER / "evolution.json"


def main(arguments: list[str] | None = None) -> None:
    parser = measuring.make_parser(__doc__, RESULTS)
    parser.set_defaults(seeds=30)
    options = measuring.parse(parser, arguments)
    measuring.measure_parts({PART: EVOLUTION}, [PART], options)
    if options.report:
        write(Results(options.json), EVOLUTION, options.report)


if __name__ == "__main__":
    main()
