"""Tables and models that several tests of the command line use."""

import numpy as np
import pytest

from evoke import tasks
from helpers.commands import QUICK


@pytest.fixture
def frame():
    """Twelve walks of one step up or down: names, steps, noise, where the walk is, what it was at its end."""
    pd = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    walks = []
    for k in range(12):
        step = rng.choice([-1.0, 1.0], size=rng.integers(4, 9))
        place = step.cumsum()
        walks.append(pd.DataFrame({
            "walk": f"{k:02d}", "step": step, "noise": rng.normal(size=len(step)), "place": place,
            "side": np.where(place > 0, "right", "left"), "end": "right" if place[-1] > 0 else "left",
        }))  # fmt: skip
    return pd.concat(walks, ignore_index=True)


@pytest.fixture
def data(frame, tmp_path):
    frame.to_csv(tmp_path / "data.csv", index=False)
    return tmp_path / "data.csv"


@pytest.fixture
def model(data, here, tmp_path):
    """A model of the sides, one a step."""
    done = here("fit", data, "--target", "side", "--sequence", "walk", "--features", "step", *QUICK,
                "-o", tmp_path / "model.evk")  # fmt: skip
    assert done.returncode == 0, done.stderr
    return tmp_path / "model.evk"


@pytest.fixture
def series(tmp_path):
    pd = pytest.importorskip("pandas")
    y = tasks.superimposed_sines(2, 80)
    pd.DataFrame({"t": np.arange(80), "y": y}).to_csv(tmp_path / "series.csv", index=False)
    return tmp_path / "series.csv"


@pytest.fixture
def drawn(monkeypatch):
    """The displays in the last figure, by their titles."""
    pytest.importorskip("matplotlib")
    from matplotlib.figure import Figure

    from evoke.plot import picture

    displays = {}

    def seen(draw, kind):
        displays.clear()
        for title, draw_one in draw.items() if isinstance(draw, dict) else [(None, draw)]:
            displays[title] = draw_one(Figure())
        return picture(draw, kind)

    monkeypatch.setattr("evoke.plot.picture", seen)
    return displays
