"""Probabilities of evoke beside those of scikit-learn's CalibratedClassifierCV around the same classifier.

    python bench/study.py calibration [--json FILE] [--seeds 3] [--sets NAME;...] [--methods NAME;...] [--again]
                                      [--report DIR] [--page-only]

Measures what the file does not have yet, so it can be broken off and called again; `--again` measures what was chosen
once more. `--report docs` writes docs/data_sets.md and its figures, from this file and from that of the study `sets`.
Needs aeon, which has the data; nothing is downloaded.
"""

from __future__ import annotations

from harness import measuring
from harness.data_sets_page import CALIBRATION, PARTS, write
from harness.results import FOLDER, gathered

RESULTS = FOLDER / "calibration.json"


def main(arguments: list[str] | None = None) -> None:
    options = measuring.parse(measuring.make_parser(__doc__, RESULTS), arguments)
    measuring.measure_parts(PARTS, [CALIBRATION], options)
    if options.report:
        write(gathered(FOLDER / "sets.json", options.json), PARTS, options.report)


if __name__ == "__main__":
    main()
