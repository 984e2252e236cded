"""The comparison on real data runs where its packages are installed; its forecasts are those known by hand."""

import json
import sys
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("reservoirpy")
pytest.importorskip("statsmodels")
sys.path.append(str(Path(__file__).parents[1] / "bench"))

import real_data
import sunspots

pytestmark = pytest.mark.filterwarnings("ignore:::(statsmodels|pandas|reservoirpy)")


def test_the_sunspots_run(tmp_path, capsys):
    real_data.main(["--quick", "--seeds", "1", "--only", "sunspots", "--json", str(tmp_path / "runs.json")])
    methods = json.loads((tmp_path / "runs.json").read_text())["sunspots"]["methods"]
    assert [record["method"] for record in methods] == list(sunspots.METHODS)
    assert f"{methods[-1]['method']}: one year ahead" in capsys.readouterr().out


def test_an_unknown_task_is_refused(capsys):
    with pytest.raises(SystemExit):
        real_data.main(["--only", "weather"])
    assert "unknown weather" in capsys.readouterr().err


def test_the_value_of_years_before():
    one_step, free = sunspots.lagged(np.arange(5.0), 0, lag=2)
    np.testing.assert_array_equal(one_step(np.arange(5.0)), [0, 0, 0, 1, 2])
    np.testing.assert_array_equal(free(np.arange(5.0), 5), [3, 4, 3, 4, 3])


def test_autoregression_goes_on_with_a_sine():
    z = np.sin(0.5 * np.arange(120))  # z(t) = 2 cos(0.5) z(t - 1) - z(t - 2)
    one_step, free = sunspots.autoregression(z[:80], 0, order=2)
    np.testing.assert_allclose(one_step(z)[2:], z[2:], atol=1e-8)
    np.testing.assert_allclose(free(z[:80], 40), z[80:], atol=1e-6)


@pytest.mark.parametrize("scale", sunspots.SCALES)
def test_scales_are_undone(scale):
    y = np.array([0.0, 5.0, 190.2])
    np.testing.assert_allclose(sunspots.backward(sunspots.forward(y, scale), scale), y)
    assert sunspots.backward(np.array([-0.1]), scale) == 0.0
