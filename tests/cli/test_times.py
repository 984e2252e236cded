"""The option --time: times are checked, are no feature, and go on in what is generated."""

import json

import numpy as np
import pytest

pytest.importorskip("click")
pytest.importorskip("rich")
pytest.importorskip("pandas")

import pandas as pd

from evoke import EvokeClassifier, EvokeForecaster, load
from helpers.commands import QUICK, SMALL, assert_one_line, assert_scored, csv, floats, table

WAVE = np.sin(np.arange(36) / 3)
MONTHS = pd.date_range("2020-01-01", periods=40, freq="MS")


def write(folder, times, name="series.csv", **columns):
    path = folder / name
    pd.DataFrame({"t": times, **(columns or {"y": WAVE[: len(times)]})}).to_csv(path, index=False)
    return path


def fit(here, data, *options):
    out = data.with_suffix(".evk")
    done = here("fit", data, "--target", "y", "--task", "forecast", "--time", "t", *options, *QUICK, "-o", out)
    return done, out


def test_times_go_on(here, tmp_path):
    data = write(tmp_path, MONTHS[:36])
    done, out = fit(here, data)
    assert (done.returncode, done.stderr) == (0, "")
    expected = EvokeForecaster(**SMALL, random_state=0).fit(pd.Series(WAVE, MONTHS[:36]))
    found = table(here("generate", out, "--steps", 4).stdout)
    assert found["t"].tolist() == [str(month.date()) for month in MONTHS[36:]]
    np.testing.assert_array_equal(floats(found["y"]), expected.generate(4))
    found = table(here("generate", out, "--steps", 2, "--context", write(tmp_path, MONTHS[:20], "past.csv")).stdout)
    assert list(found.columns) == ["t", "y"] and found["t"].tolist() == ["2021-09-01", "2021-10-01"]
    done = here("predict", out, data)
    assert_scored(done, "MASE")
    assert table(done.stdout)["t"].tolist() == [str(month.date()) for month in MONTHS[:36]]
    assert json.loads(here("info", out, "--json").stdout)["columns"]["time"] == "t"
    assert "time: t" in here("info", out).stdout.splitlines()
    assert load(out).fitted_.index.step == "MS"


@pytest.mark.parametrize(
    "times, ahead",
    [
        (range(1700, 1736), ["1736", "1737"]),
        (np.arange(36) / 4, ["9.0", "9.25"]),
        ([f"2024-05-01T{k // 4:02d}:{15 * (k % 4):02d}" for k in range(36)],
         ["2024-05-01 09:00:00", "2024-05-01 09:15:00"]),
        (pd.date_range("2024-05-01", periods=36, freq="B", tz="+02:00"),
         ["2024-06-20 00:00:00+02:00", "2024-06-21 00:00:00+02:00"]),
        (pd.date_range("2024-03-20", periods=36, freq="h", tz="Europe/Berlin").shift(240),  # of winter and summer
         ["2024-03-31 11:00:00+00:00", "2024-03-31 12:00:00+00:00"]),
        ([f"{2000 + k // 12}-{k % 12 + 1:02d}" for k in range(36)], ["2003-01-01", "2003-02-01"]),
    ],
)  # fmt: skip
def test_kinds_of_times(here, tmp_path, times, ahead):
    done, out = fit(here, write(tmp_path, times))
    assert done.returncode == 0
    assert table(here("generate", out, "--steps", 2).stdout)["t"].tolist() == ahead


def test_times_in_parquet(here, tmp_path):
    pytest.importorskip("pyarrow")
    zoned = MONTHS[:36].tz_localize("Europe/Berlin")
    data = tmp_path / "series.parquet"
    pd.DataFrame({"y": WAVE}, index=zoned.set_names("t")).to_parquet(data)
    done, out = fit(here, data)
    assert (done.returncode, done.stderr) == (0, "")
    done = here("generate", out, "--steps", 4, "-o", tmp_path / "ahead.parquet")
    assert (done.returncode, done.stderr) == (0, "")
    found = pd.read_parquet(tmp_path / "ahead.parquet")["t"]
    assert found.tolist() == MONTHS[36:].tz_localize("Europe/Berlin").tolist()


def test_several_series(here, tmp_path):
    times = [*range(10), *range(5, 20)]
    data = write(tmp_path, times, who=["a"] * 10 + ["b"] * 15, y=WAVE[:25])
    done, out = fit(here, data, "--sequence", "who")
    assert (done.returncode, done.stderr) == (0, "")
    found = table(here("generate", out, "--steps", 2, "--context", data).stdout)
    assert list(found.columns) == ["who", "t", "y"]
    assert found["who"].tolist() == ["a", "a", "b", "b"] and found["t"].tolist() == ["10", "11", "20", "21"]
    assert table(here("generate", out, "--steps", 2).stdout)["t"].tolist() == ["20", "21"]


def test_external_inputs_have_the_times_that_follow(here, tmp_path):
    data = write(tmp_path, MONTHS[:36], y=WAVE, u=WAVE[::-1])
    done, out = fit(here, data, "--features", "u")
    assert (done.returncode, done.stderr) == (0, "")
    ahead = write(tmp_path, MONTHS[36:], "ahead.csv", u=[1.0, 2.0, 3.0, 4.0])
    done = here("generate", out, "--steps", 4, "--inputs", ahead)
    assert (done.returncode, done.stderr) == (0, "")
    with_context = here("generate", out, "--steps", 4, "--inputs", ahead, "--context", data)
    assert with_context.stdout == done.stdout
    late = write(tmp_path, MONTHS[:4], "late.csv", u=[1.0, 2.0, 3.0, 4.0])
    assert_one_line(here("generate", out, "--steps", 4, "--inputs", late), 1,
                    "X must have the index of what is generated: at position 0 it has 2020-01-01")  # fmt: skip


def test_another_column_of_times(here, tmp_path):
    done, out = fit(here, write(tmp_path, MONTHS[:36]))
    assert done.returncode == 0
    past = csv(tmp_path, "when,y\n2024-01-01,1\n2024-02-01,0\n2024-03-01,1\n", "past.csv")
    found = table(here("generate", out, "--steps", 1, "--context", past, "--time", "when").stdout)
    assert list(found.columns) == ["when", "y"] and found["when"].tolist() == ["2024-04-01"]
    assert table(here("predict", out, past, "--time", "when").stdout)["when"][0] == "2024-01-01"
    assert_one_line(here("predict", out, past, "--time", "y"), 2, "'y' cannot be --time")
    assert_one_line(here("predict", out, past), 1, "has no column 't'")


def test_a_classifier_does_not_read_times(here, frame, tmp_path):
    frame = frame.assign(t=frame.groupby("walk").cumcount())
    data, out = tmp_path / "walks.csv", tmp_path / "model.evk"
    frame.to_csv(data, index=False)
    done = here("fit", data, "--target", "side", "--sequence", "walk", "--time", "t", *QUICK, "-o", out,
                "--features", "step,noise")  # fmt: skip
    assert done.returncode == 0
    parts = [part for _, part in frame.groupby("walk", sort=False)]
    expected = EvokeClassifier(**SMALL, random_state=0)
    expected.fit([part[["step", "noise"]] for part in parts], [part["side"].to_numpy() for part in parts])
    np.testing.assert_array_equal(load(out).genome_, expected.genome_)
    assert list(table(here("predict", out, data).stdout).columns) == ["walk", "t", "side"]
    done = here("fit", data, "--target", "end", "--sequence", "walk", "--time", "t", "--per-sequence", *QUICK,
                "-o", out, "--features", "step")  # fmt: skip
    assert done.returncode == 0
    assert list(table(here("predict", out, data).stdout).columns) == ["walk", "end"]
    done = here("fit", data, "--target", "place", "--task", "regress", "--sequence", "walk", "--time", "t", *QUICK,
                "-o", out, "--features", "t")  # fmt: skip
    assert_one_line(done, 2, "'t' cannot be among --features: it is --time")


def test_a_gap_is_warned_of(here, tmp_path):
    done, _ = fit(here, write(tmp_path, MONTHS[:36].delete(5)))
    assert done.returncode == 0
    assert "series.csv: the times 't' have a gap before row 7: 2020-07-01 00:00:00 comes after" in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_irregular_times_are_numbered(here, tmp_path):
    done, out = fit(here, write(tmp_path, [*range(35), 99]))
    assert (done.returncode, done.stderr) == (0, "")
    done = here("generate", out, "--steps", 2)
    assert "cannot go on" in done.stderr
    assert table(done.stdout)["t"].tolist() == ["0", "1"]


@pytest.mark.parametrize(
    "times, words",
    [
        (MONTHS[:36][::-1], ["'t' must rise, but row 3 has 2022-11-01", "after 2022-12-01", "sort the table by 't'"]),
        ([*range(20), *range(19, 35)], ["row 22 has 19 after 19: keep one row of each"]),
        ([*MONTHS[:35].strftime("%Y-%m-%d"), "03/04/2020"], ["does not hold times", "row 37", "'03/04/2020'", "ISO"]),
        ([*MONTHS[:35].strftime("%Y-%m-%d"), ""], ["missing values: row 37 of 't'"]),
        ([*MONTHS[:35].strftime("%Y-%m-%d"), "2020-02-31"], ["does not hold times", "'2020-02-31'"]),
    ],
)
def test_times_that_are_refused(here, tmp_path, times, words):
    done, _ = fit(here, write(tmp_path, times))
    assert_one_line(done, 1, *words)


def test_wrong_usage(here, tmp_path):
    data = write(tmp_path, MONTHS[:36], y=WAVE, who=["a"] * 36)
    for options, words in [
        (["--time", "y"], "'y' cannot be both --target and --time"),
        (["--time", "who", "--sequence", "who"], "'who' cannot be both --sequence and --time"),
    ]:
        done = here("fit", data, "--target", "y", "--task", "forecast", *options, "-o", tmp_path / "m.evk")
        assert_one_line(done, 2, words)
    done = here("fit", data, "--target", "y", "--task", "forecast", "--time", "T", "-o", tmp_path / "m.evk")
    assert_one_line(done, 1, "has no column 'T'; it has 't'")
    mixed = write(tmp_path, [0, 1, 1, 0], "mixed.csv", y=WAVE[:4], who=list("aabb"))
    done, _ = fit(here, mixed, "--sequence", "who")
    assert_one_line(done, 1, "must rise within sequence 'b', but row 5 has 0 after 1")
