"""How far do networks get that learn formal languages, and how few strings are enough?

    python bench/study.py languages [--json FILE] [--seeds 20] [--sets NAME;...] [--parts languages;fewest] [--again]
                                    [--report DIR] [--page-only]

Measures what the file does not have yet, so it can be broken off and called again; `--again` measures what was chosen
once more. `--report docs` writes docs/languages.md. Two hours on one core, most of it for brackets.
"""

from __future__ import annotations

from harness import measuring
from harness.languages import FEWEST, LANGUAGES
from harness.languages_page import write
from harness.results import FOLDER, Results

PARTS = {"languages": LANGUAGES, "fewest": FEWEST}
RESULTS = FOLDER / "languages.json"


def main(arguments: list[str] | None = None) -> None:
    parser = measuring.make_parser(__doc__, RESULTS)
    parser.add_argument("--parts", type=measuring.names, default=set(PARTS), metavar="NAME;...", help="some of them")
    parser.set_defaults(seeds=20)
    options = measuring.parse(parser, arguments)
    measuring.measure_parts(PARTS, [name for name in PARTS if name in options.parts], options)
    if options.report:
        write(Results(options.json), options.report)
