"""Draw the figure of README.md: python tools/readme_figures.py

The model is the one of its first example; a second or two.
"""

from __future__ import annotations

from pathlib import Path

from evoke import EvokeClassifier, tasks
from evoke.plot import ActivationDisplay, picture
from evoke.reproduce import PRESETS

FIGURES = Path(__file__).parents[1] / "docs" / "figures"
N = 30  # three times the longest training string


def main() -> None:
    model = EvokeClassifier(**PRESETS["tuned"], random_state=0).fit(*tasks.anbncn(10))
    (sequence,), _ = tasks.anbncn([N])
    symbols = "S" + N * "a" + N * "b" + N * "c"
    FIGURES.mkdir(exist_ok=True)
    (FIGURES / "activations.png").write_bytes(
        picture(
            lambda figure: ActivationDisplay.from_estimator(
                model, sequence, symbols=symbols, output_names="abcT", axes=figure
            )
        )
    )


if __name__ == "__main__":
    main()
