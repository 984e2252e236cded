"""The study of data sets: its statistics, its tables, its file, and that its methods learn what they are given."""

import json

import numpy as np
import pytest

from harness import class_methods, class_sets, data_sets_page, echo, forecasts, memory_sets, narma, ranks
from harness.class_sets import Split
from harness.report import installed
from harness.results import FOLDER, LeftOut, Part, Results, gathered
from studies import calibration as calibration_study
from studies import sets

# ---------------------------------------------------------------- statistics


def test_ranks_share_ties():
    scores = np.array([[0.9, 0.8, 0.8], [0.5, 0.7, 0.6]])
    np.testing.assert_allclose(ranks.mean_ranks(scores), [2.0, 1.75, 2.25])


def test_holm_multiplies_by_what_is_left():
    np.testing.assert_allclose(ranks.holm(np.array([0.03, 0.01, 0.04, 0.5])), [0.09, 0.04, 0.09, 0.5])
    np.testing.assert_allclose(ranks.holm(np.array([0.6, 0.7])), [1.0, 1.0])


def test_the_signed_rank_test_is_exact_for_few_sets():
    # all 8 differences of one sign: 2 of 2^8 assignments of signs are as extreme; times two methods by Holm
    better = np.linspace(0.8, 0.9, 8)
    lead = np.arange(1, 9) / 100
    p = ranks.against(np.column_stack([better, better - lead, better]), 0)
    assert np.isnan(p[0])
    assert p[1] == pytest.approx(2 * 2 / 2**8)
    assert p[2] == 1.0


def test_friedman_knows_an_order_from_none():
    rng = np.random.default_rng(0)
    ordered = np.array([0.9, 0.8, 0.7]) + 0.01 * rng.random((10, 3))
    assert ranks.friedman(ordered) == pytest.approx(np.exp(-10.0))  # chi-square of 20 with two degrees of freedom
    assert ranks.friedman(rng.random((10, 3))) > 0.05


# ---------------------------------------------------------------- the file


def test_results_are_kept_by_run(tmp_path):
    file = tmp_path / "runs.json"
    results = Results(file)
    results.head = {"seeds": 2}
    results.add("p", "s", "m", 0, accuracy=0.5)
    results.add("p", "s", "m", 1, accuracy=0.6)
    results.add("p", "s", "m", 0, accuracy=0.7)  # again
    again = Results(file)
    assert again.head["seeds"] == 2
    assert again.has("p", "s", "m", 1)
    assert not again.has("p", "s", "m", 2)
    assert [run["accuracy"] for run in again.of("p")] == [0.6, 0.7]
    assert json.loads(file.read_text())["n_runs"] == 2
    assert [path.name for path in tmp_path.iterdir()] == ["runs.json"]


def stub(seeded=True, package=None):
    return class_methods.Method(None, package=package, seeded=seeded)


def test_the_study_measures_what_is_missing(tmp_path, monkeypatch, capsys):
    asked = []

    def measure(name, method, seed):
        asked.append((name, method, seed))
        if (name, method) == ("b", "fixed"):
            raise LeftOut("needs c")
        return {"accuracy": 0.5}

    methods = {"evoke": stub(), "fixed": stub(seeded=False), "other": stub(package="no_such_package")}
    monkeypatch.setattr(sets, "PARTS", {"memory": Part(("a", "b"), methods, measure)})
    arguments = ["--only", "memory", "--seeds", "2", "--json", str(tmp_path / "runs.json")]
    sets.main([*arguments, "--sets", "a", "--methods", "evoke"])
    assert asked == [("a", "evoke", 0), ("a", "evoke", 1)]
    sets.main(arguments)
    assert asked[2:] == [("b", "evoke", 0), ("b", "evoke", 1), ("a", "fixed", 0), ("b", "fixed", 0)]
    sets.main(arguments)
    assert len(asked) == 6
    sets.main([*arguments, "--again", "--methods", "fixed"])
    assert asked[6:] == asked[4:6]
    printed = capsys.readouterr().out
    assert "Skipped: other, as no_such_package is not installed." in printed
    assert "b, fixed, seed 0: left_out needs c" in printed


# ---------------------------------------------------------------- the page


def runs():
    found = []
    for name, values in {"A": (0.9, 0.8, 0.85), "B": (0.7, 0.9, 0.6), "C": (0.8, 0.7, None)}.items():
        for method, value in zip(("evoke", "x", "y"), values, strict=True):
            for seed in (0, 1):
                run = {"part": "classification", "set": name, "method": method, "seed": seed}
                if value is None:
                    run["left_out"] = "needs more"
                else:
                    run |= {"accuracy": value + 0.01 * seed, "fit": 2.0, "predict": 0.5, "padded": method == "x"}
                found.append(run)
    return found


PART = Part(("A", "B", "C", "not measured"), dict.fromkeys(("evoke", "x", "y")), None)


def test_tables_have_means_and_what_is_missing():
    rows = data_sets_page.table(runs(), PART, "accuracy", 3, max)
    assert rows == [
        {"set": "A", "evoke": "**0.905**", "x": "0.805 \\*", "y": "0.855"},
        {"set": "B", "evoke": "0.705", "x": "**0.905** \\*", "y": "0.605"},
        {"set": "C", "evoke": "**0.805**", "x": "0.705 \\*", "y": "-"},
    ]
    assert data_sets_page.reasons(runs()) == "- y is left out of C: needs more."
    assert data_sets_page.ahead(runs(), PART) == "- B: x by 0.200"
    assert data_sets_page.listed(["a", "b", "c"]) == "a, b and c"


def test_missing_seeds_are_said():
    part = Part(PART.sets, {"evoke": stub(), "x": stub(), "y": stub(seeded=False)}, None)
    assert data_sets_page.fewer(runs(), part, 2) == []
    made = [run for run in runs() if (run["set"], run["method"], run["seed"]) not in {("A", "x", 1), ("B", "y", 1)}]
    assert data_sets_page.fewer(made, part, 2) == [
        "Measured with fewer seeds, whose number is in brackets: x on A (1).\n"
    ]


def test_ranks_are_those_of_sets_that_all_read():
    scores, methods = data_sets_page.ranked(runs(), PART)
    assert methods == ["evoke", "x", "y"]
    assert list(scores) == ["A", "B"]
    np.testing.assert_allclose(scores["B"], [0.705, 0.905, 0.605])
    chapter = data_sets_page.rank_chapter(scores, methods)
    assert "over A and B." in chapter
    assert "| evoke | 1.50 | 0.805 | - |\n| x | 2.00 | 0.855 | 1 |\n| y | 2.50 | 0.730 |" in chapter


@pytest.mark.skipif(not sets.RESULTS.exists(), reason="nothing has been measured")
def test_the_page_is_that_of_the_results():
    page = FOLDER.parent / "data_sets.md"
    results = gathered(sets.RESULTS, calibration_study.RESULTS)
    assert page.read_text(encoding="utf-8") == data_sets_page.page(results, data_sets_page.PARTS)


# ---------------------------------------------------------------- data


@pytest.mark.parametrize("name", memory_sets.SETS)
def test_labels_are_those_of_the_sequences(name):
    split = memory_sets.load(name, 0)
    kind, lag = name.split(", ")
    for x, label in zip(split.X, split.y, strict=True):
        if kind == "flag":
            expected = x[0, 0]
            assert len(x) == 1 + int(lag)
        elif kind == "latch":
            expected = x[-int(lag) - 1].argmax()
        elif kind == "marked signs":
            steps = np.flatnonzero(x[:, 1])
            assert steps[1] - steps[0] == int(lag)
            expected = x[steps, 0].prod()
        else:
            first, second = np.flatnonzero(x[:, :2].any(axis=1))
            expected = 2 * x[first, 1] + x[second, 1]
        assert label == expected
    assert len(np.unique(split.y)) == (4 if kind == "temporal order" else 2)
    assert not np.array_equal(split.y, memory_sets.load(name, 1).y)


def test_digits_are_read_by_rows_and_by_pixels():
    rows, pixels = class_sets.digits(8), class_sets.digits(1)
    assert rows.X[3].shape == (8, 8)
    assert pixels.X[3].shape == (64, 1)
    np.testing.assert_array_equal(rows.X[3].ravel(), pixels.X[3].ravel())
    assert len(rows.X) + len(rows.X_test) == 1797


def test_narma_follows_its_recurrence():
    u, y = narma.series(0)
    t = 50  # u is shifted: u[t] is the input before y[t]
    expected = 0.3 * y[t - 1] + 0.05 * y[t - 1] * y[t - 10 : t].sum() + 1.5 * u[t - 9, 0] * u[t, 0] + 0.1
    assert y[t] == pytest.approx(expected)
    assert len(u) == len(y) == 2000


# ---------------------------------------------------------------- methods


def waves(n: int, rng: np.random.Generator) -> tuple[list[np.ndarray], np.ndarray]:
    """Slow and fast ones of unequal lengths."""
    y = np.arange(n) % 2
    X = [np.sin((0.3 + 0.6 * k) * np.arange(rng.integers(20, 30)) + rng.uniform(0, 6))[:, None] for k in y]
    return X, y


@pytest.mark.parametrize("name", ["evoke", "resampled SVM", "echo state network", "gradient LSTM"])
def test_methods_learn(name, monkeypatch):
    method = class_methods.METHODS[name]
    if method.package is not None and not installed(method.package):
        pytest.skip(f"needs {method.package}")
    monkeypatch.setattr(class_methods, "RESERVOIRS", 3)
    rng = np.random.default_rng(0)
    made = class_methods.classified(method, Split(*waves(40, rng), *waves(20, rng)), 0)
    assert made["accuracy"] >= 0.9
    assert made["n_test"] == 20


@pytest.mark.realdata
@pytest.mark.filterwarnings("ignore")  # of numba, about the code of aeon that it compiles
@pytest.mark.parametrize("name", ["MiniRocket", "1-NN DTW"])
def test_methods_of_aeon_learn(name):
    pytest.importorskip("aeon")
    rng = np.random.default_rng(0)
    (X, y), (X_test, y_test) = waves(20, rng), waves(20, rng)
    split = Split([x[:20] for x in X], y, [x[:20] for x in X_test], y_test)
    assert class_methods.classified(class_methods.METHODS[name], split, 0)["accuracy"] >= 0.9


@pytest.mark.realdata
def test_sets_of_the_archives_are_read():
    pytest.importorskip("aeon")
    split = class_sets.load("PickupGestureWiimoteZ")
    assert (len(split.X), len(split.X_test), split.X[0].shape[1]) == (50, 50, 1)
    assert split.lengths[0] < split.lengths[1]
    padded = class_sets.load("PickupGestureWiimoteZ", True)
    assert padded.lengths[0] == padded.lengths[1] == split.lengths[1]
    np.testing.assert_array_equal(padded.y, split.y)
    several = class_sets.load("BasicMotions")
    assert {x.shape for x in several.X + several.X_test} == {(100, 6)}


@pytest.mark.realdata
@pytest.mark.filterwarnings("ignore")  # of models that do not converge
def test_exponential_smoothing_continues_a_season_with_a_trend():
    pytest.importorskip("statsmodels")
    t = np.arange(60)
    y = 10.0 + 0.5 * t + np.tile([3.0, -1.0, 0.0, -2.0], 15) + 0.1 * np.random.default_rng(0).normal(size=60)
    made = forecasts.ets(y[:52], 4, 8, 0)
    np.testing.assert_allclose(made.values, y[52:], atol=0.5)
    assert (made.lower < made.values).all() and (made.values < made.upper).all()


def test_methods_are_left_out_where_they_cannot_read():
    rng = np.random.default_rng(0)
    split = Split(*waves(4, rng), *waves(4, rng))
    with pytest.raises(LeftOut, match="equal lengths"):
        class_methods.classified(class_methods.Method(None, equal=True), split, 0)
    with pytest.raises(LeftOut, match="needs 50 steps"):
        class_methods.classified(class_methods.Method(None, shortest=50), split, 0)
    with pytest.raises(LeftOut, match="more than 10 steps"):
        class_methods.classified(class_methods.Method(None, longest=10), split, 0)


def test_reservoirs_read_side_by_side_as_alone():
    rng = np.random.default_rng(0)
    X = [rng.normal(size=(n, 2)) for n in (5, 9, 1, 9)]
    reservoir = echo.Reservoir(2, echo.candidates(1)[0], 0, units=20)
    last, mean = reservoir.last_and_mean(X)
    for k, x in enumerate(X):
        states = reservoir.run(x)
        np.testing.assert_allclose(last[k], states[-1], rtol=1e-12)
        np.testing.assert_allclose(mean[k], states.mean(axis=0), rtol=1e-12)


def test_resampling_keeps_the_ends():
    X = [np.arange(5.0)[:, None], np.arange(9.0)[:, None]]
    np.testing.assert_allclose(class_methods.resampled(X, 3), [[0, 2, 4], [0, 4, 8]])


# ---------------------------------------------------------------- forecasts


def test_a_forecast_is_judged():
    series = forecasts.Series(2, 2, np.array([0.0, 1.0, 2.0, 3.0, 4.0, 9.0]))
    made = forecasts.Forecast(np.array([5.0, 5.0]), np.array([3.0, 3.0]), np.array([7.0, 7.0]))
    # changes from a season before are 2, errors 1 and 4; 4 lies between 3 and 7, 9 does not
    assert forecasts.judged(series, 4, made) == {"origin": 4, "mase": 1.25, "covered": 0.5, "ran_away": False}
    away = forecasts.judged(series, 4, forecasts.Forecast(np.array([5.0, 50.0])))
    assert (away["covered"], away["ran_away"]) == (None, True)
    assert forecasts.judged(series, 4, forecasts.Forecast(np.array([5.0, np.inf])))["mase"] is None


def test_origins_leave_room_for_the_horizon():
    series = forecasts.Series(12, 24, np.zeros(144))
    assert series.origins == [72, 77, 82, 88, 93, 98, 104, 109, 114, 120]


def test_the_naive_forecast_repeats_the_season():
    made = forecasts.seasonal_naive(np.array([0.0, 5.0, 1.0, 7.0]), 2, 5, 0)
    np.testing.assert_array_equal(made.values, [1, 7, 1, 7, 1])
    width = made.upper - made.lower
    np.testing.assert_allclose(width[[0, 2, 4]] / width[0], np.sqrt([1, 2, 3]))


def test_a_mean_of_what_is_missing_is_missing():
    assert forecasts.mean([1.0, None]) is None
    assert forecasts.mean([1.0, 2.0]) == 1.5
