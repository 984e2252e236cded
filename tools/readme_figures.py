"""Draw the figure of README.md, and that of the guide on certificates: python tools/readme_figures.py

The models are those of their examples; some seconds.
"""

from __future__ import annotations

from pathlib import Path

from evoke import EvokeClassifier, simplify, tasks
from evoke.plot import ActivationDisplay, AutomatonDisplay, picture
from evoke.reproduce import PRESETS

FIGURES = Path(__file__).parents[1] / "docs" / "figures"
N = 30  # three times the longest training string
SIMPLIFIED = 1002  # seed of the model that the guide makes smaller


def main() -> None:
    model = EvokeClassifier(**PRESETS["tuned"], random_state=0).fit(*tasks.anbncn(10))
    large = EvokeClassifier(**PRESETS["tuned"], random_state=SIMPLIFIED).fit(*tasks.anbncn(10))
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
    small = simplify(large, "anbncn").model
    (FIGURES / "automaton.png").write_bytes(
        picture(lambda figure: AutomatonDisplay.from_estimator(small, "anbncn", ax=figure))
    )


if __name__ == "__main__":
    main()
