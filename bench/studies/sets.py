"""evoke with its defaults beside other methods: sets with labels, tasks that need memory, forecasts.

    python bench/study.py sets [--json FILE] [--seeds 3] [--only PART,...] [--sets NAME;...] [--methods NAME;...]
                               [--again] [--report DIR] [--page-only]

Measures what the file does not have yet, so it can be broken off and called again; `--again` measures what was chosen
once more. `--report docs` writes docs/data_sets.md and its figures, from this file and from that of the study
`calibration`. Needs the extra `bench`, which has the other methods and the data; nothing is downloaded.
"""

from __future__ import annotations

from harness import data_sets_page, measuring
from harness.data_sets_page import CALIBRATION, write
from harness.options import add_only
from harness.results import FOLDER, gathered

PARTS = {name: part for name, part in data_sets_page.PARTS.items() if name != CALIBRATION}
RESULTS = FOLDER / "sets.json"


def main(arguments: list[str] | None = None) -> None:
    parser = measuring.make_parser(__doc__, RESULTS)
    add_only(parser, PARTS)
    options = measuring.parse(parser, arguments)
    measuring.measure_parts(PARTS, options.only, options)
    if options.report:
        write(gathered(options.json, FOLDER / "calibration.json"), data_sets_page.PARTS, options.report)


if __name__ == "__main__":
    main()
