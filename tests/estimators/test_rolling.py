"""Forecasts by random networks that are judged from rolling origins."""

import copy
import itertools
import pickle
import warnings
from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.metrics import mean_squared_error
from sklearn.model_selection import GridSearchCV, KFold, TimeSeriesSplit, cross_val_score

from evoke import EvokeForecaster, load, tasks
from evoke.exceptions import ParameterError
from evoke.forecasting.machines import CAPACITIES, WIDTHS, LandmarkReadouts
from evoke.forecasting.ridge import RidgeReadouts
from evoke.metrics import ForecastScorer, mase
from oracle import rolling as oracle

SMALL = dict(n_networks=8, n_cells=3, random_state=0)

rng = np.random.default_rng(3)
STEPS = np.arange(90)
WAVE = np.sin(0.3 * STEPS) + rng.normal(0, 0.1, 90)
SALES = np.exp(0.01 * STEPS + 0.2 * np.sin(2 * np.pi * STEPS / 6) + rng.normal(0, 0.05, 90))
DRIVE = rng.normal(size=(110, 2))
PAIR = np.column_stack([WAVE, rng.normal(size=90).cumsum()])


def small(**parameters):
    return EvokeForecaster(**{**SMALL, **parameters})


@pytest.fixture(scope="module")
def wave():
    return small().fit(WAVE)


@pytest.fixture(scope="module")
def driven():
    return small(log=False).fit(WAVE, DRIVE[:90])


# ---- the oracle


@pytest.mark.filterwarnings("ignore:the forecast leaves")
@pytest.mark.parametrize("y, season", [(WAVE, 1), (SALES, 6), (SALES, 1), (WAVE[:50], 6),
                                       (np.exp(0.06 * STEPS) * SALES, 1), (np.exp(0.04 * STEPS) * SALES, 6),
                                       ])  # fmt: skip
def test_against_the_oracle(y, season, monkeypatch):
    monkeypatch.setattr(oracle, "N_MODELS", 2)
    monkeypatch.setattr(oracle, "N_CELLS", 3)
    expected = oracle.Recipe().fit(y, season, seed=5)
    model = small(season=season, random_state=5).fit(y)
    for h in (7, 40):  # within what was judged, and beyond
        for found, wanted in zip(model.generate(h, return_interval=0.8), expected.forecast(h, 0.8), strict=True):
            np.testing.assert_allclose(found, wanted, atol=1e-7 * np.ptp(y))


# ---- units


@pytest.mark.parametrize("factor, offset", [(1e6, 0.0), (3.7, 0.0), (1e-9, 0.0), (3.7, -11.0), (1.0, 1e6), (1e-3, 1e9),
                                            (1e250, 0.0)])  # fmt: skip
def test_the_unit_of_the_series_plays_no_part(factor, offset):
    expected = small(log=False, season=6).fit(WAVE).generate(20, return_interval=0.9)
    found = small(log=False, season=6).fit(factor * WAVE + offset).generate(20, return_interval=0.9)
    for values, wanted in zip(found, expected, strict=True):
        np.testing.assert_allclose(values, factor * wanted + offset, rtol=1e-9, atol=1e-9 * factor)


def test_nor_does_the_unit_of_positive_ones_with_logarithms():
    expected = small().fit(SALES).generate(20)
    np.testing.assert_allclose(small().fit(3.7e5 * SALES).generate(20), 3.7e5 * expected, rtol=1e-9)


def test_nor_do_units_of_inputs_of_outputs_and_of_one_of_several_series(driven):
    unit, zero = np.array([1e5, 0.3]), np.array([1.7e9, -7.0])
    other = small(log=False).fit(WAVE, DRIVE[:90] * unit + zero).generate(20, X=DRIVE[90:] * unit + zero)
    np.testing.assert_allclose(other, driven.generate(20, X=DRIVE[90:]), rtol=1e-9)
    of_two = small(log=False).fit(PAIR).generate(9)
    np.testing.assert_allclose(small(log=False).fit(PAIR * unit - 3).generate(9), of_two * unit - 3, rtol=1e-9)
    series = [WAVE[:40], WAVE]
    several = small(log=False).fit(series)
    others = small(log=False).fit([1e6 * WAVE[:40] + 5, WAVE])
    np.testing.assert_allclose(others.generate(9), several.generate(9), rtol=1e-9)
    context = several.generate(9, context=WAVE[:40])
    np.testing.assert_allclose(others.generate(9, context=1e6 * WAVE[:40] + 5), 1e6 * context + 5, rtol=1e-9)


@pytest.mark.parametrize("value", [0.0, 1.0, 5.0, 0.1, -1.7e9])
def test_constant_series_and_inputs(value):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = small(season=6).fit(np.full(60, value))
        for values in model.generate(30, return_interval=0.9):
            np.testing.assert_allclose(values, value, rtol=1e-9)
        np.testing.assert_array_equal(model.generate(30), value)
        X = np.full((100, 1), value)
        assert np.isfinite(small().fit(WAVE, X[:90]).generate(10, X=X[:10])).all()


# ---- what fit and generate take


def test_two_outputs_and_inputs():
    model = small(season=6).fit(PAIR, DRIVE[:90])
    values, lower, upper = model.generate(12, X=DRIVE[90:102], return_interval=0.5)
    assert values.shape == lower.shape == upper.shape == (12, 2)
    assert (lower < values).all() and (values < upper).all()
    np.testing.assert_array_equal(model.generate(12, context=PAIR, X=DRIVE[:102]), values)
    assert model.predict_one_step(PAIR, DRIVE[:90]).shape == (90, 2)
    assert model.transform(PAIR, DRIVE[:90]).shape == (90, 24)
    assert (model.n_outputs_, model.n_features_in_, model.genome_.shape) == (2, 2, (8, 3, 4 * (2 * 2 + 2 + 1 + 3)))
    with pytest.raises(ValueError, match="X is missing"):
        model.generate(3)


def test_free_runs_are_judged_in_other_series_where_the_last_is_short():
    others = [np.sin(0.3 * np.arange(80) + k) + rng.normal(0, 0.1, 80) for k in (1, 2)]
    series = [*others, WAVE[:21]]
    model = small().fit(series)
    assert model.fitted_.combination.n_judged == 20  # as many as in the others, not a quarter of 21
    values, lower, upper = model.generate(20, return_interval=0.9)
    assert np.abs(values - np.sin(0.3 * STEPS[21:41])).mean() < 0.25
    assert ((lower <= WAVE[21:41]) & (WAVE[21:41] <= upper)).mean() > 0.6
    np.testing.assert_allclose(small().fit([others[1], others[0], WAVE[:21]]).generate(20), values, atol=1e-6)


def test_a_list_of_one_series_is_that_series(wave):
    np.testing.assert_array_equal(small().fit([WAVE]).generate(9), wave.generate(9))


def test_inputs_are_used():
    effect = np.convolve(DRIVE[:, 0], [0.0, 1.0])[:110]
    model = small().fit(effect[:90], DRIVE[:90])
    assert np.abs(model.generate(20, X=DRIVE[90:]) - effect[90:]).mean() < 0.3 * np.abs(effect).mean()


def test_horizons(wave):
    values = wave.generate(9, return_interval=0.9)
    for found, wanted in zip(wave.predict([5, 1, 5], return_interval=0.9), values, strict=True):
        np.testing.assert_array_equal(found, wanted[[4, 0, 4]])
    np.testing.assert_array_equal(wave.predict(3), values[0][2:3])
    assert wave.generate(0).shape == (0,)
    assert [part.shape for part in wave.generate(0, return_interval=0.5)] == [(0,)] * 3
    for share in (0, 1, 1.5, "0.9", True):
        with pytest.raises(ParameterError, match="return_interval must be a number between 0 and 1"):
            wave.generate(3, return_interval=share)


def test_a_context_is_continued(wave):
    np.testing.assert_array_equal(wave.generate(5, context=WAVE), wave.generate(5))
    assert not np.array_equal(wave.generate(5, context=WAVE[:70]), wave.generate(5))
    with pytest.warns(UserWarning, match="context has n_samples=1, but the model needs 9 steps"):
        assert np.isfinite(wave.generate(5, context=[0.3])).all()


def test_a_context_that_is_too_short_is_warned_of(wave):
    evolved = EvokeForecaster(washout=5, n_cells=2, n_generations=1, random_state=0)
    for model, n in ((wave, 8 + 1), (small(season=6).fit(SALES), 7 + 7), (small(difference=(3, 1)).fit(WAVE), 4 + 8),
                     (evolved.fit(WAVE), 5 + 1)):  # fmt: skip
        with pytest.warns(UserWarning, match=f"context has n_samples={n - 1}, but the model needs {n} steps"):
            model.generate(3, context=SALES[: n - 1])
        model.generate(3, context=SALES[:n])


def test_predictions_one_step_ahead_know_only_what_is_before(wave):
    said = wave.predict_one_step(WAVE)
    changed = WAVE.copy()
    changed[60:] += 1.0
    np.testing.assert_allclose(wave.predict_one_step(changed)[:61], said[:61], rtol=1e-12)
    assert wave.score(WAVE) > 0.7
    np.testing.assert_allclose(said[-1], wave.generate(1, context=WAVE[:-1])[0], rtol=1e-9)


def test_pandas():
    pd = pytest.importorskip("pandas")
    series = pd.Series(SALES, pd.date_range("2020-01", periods=90, freq="MS", tz="UTC"), name="sales")
    for values in small(season=6).fit(series).generate(2, return_interval=0.9):
        assert (values.name, list(values.index.strftime("%Y-%m"))) == ("sales", ["2027-07", "2027-08"])
    frame = small().fit(series.to_frame()).predict([2], return_interval=0.9)[2]
    assert list(frame.columns) == ["sales"] and str(frame.index[0]) == "2027-08-01 00:00:00+00:00"


# ---- short series, far forecasts


@pytest.mark.parametrize("n_steps", [2, 3, 5, 12, 20, 40])
@pytest.mark.parametrize("season", [None, 12])
def test_short_series_have_sensible_forecasts(n_steps, season):
    y = 5 + rng.normal(size=n_steps)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        values, lower, upper = small(season=season).fit(y).generate(15, return_interval=0.9)
    assert (np.abs(values - y.mean()) <= 3 * np.ptp(y)).all()
    assert (lower <= values).all() and (values <= upper).all()
    assert any("too few to train networks" in str(warning.message) for warning in caught) == (n_steps < 40)


def test_too_short_series_are_refused():
    with pytest.raises(ValueError, match="y has n_samples=1 step: validation='rolling' takes at least 2"):
        small().fit([1.0])
    with pytest.raises(ValueError, match=r"y has n_samples=90 steps, too few .* with difference=\(60,\)"):
        small(difference=(60,)).fit(WAVE)
    with pytest.raises(ValueError, match="log=True takes values above 0, but y has "):
        small(log=True).fit(WAVE)


@pytest.mark.filterwarnings("ignore:the forecast leaves")
@pytest.mark.parametrize("seed", range(5))
def test_no_run_leaves_the_range_by_far(seed):
    y = np.random.default_rng(seed).standard_cauchy(60).cumsum()
    values = small(random_state=seed, difference=(1, 1)).fit(y).generate(200)
    assert max(y.min() - values.min(), values.max() - y.max()) <= 2.0 * np.ptp(y)


def test_leaving_the_range_is_warned_of():
    with pytest.warns(UserWarning, match="the forecast leaves the range of the data by more than that range"):
        small(difference=(1,)).fit(np.arange(60.0)).generate(100)


# ---- growth

T = np.arange(156)
NOISE = np.random.default_rng(1).normal(size=156)
GROWING = {
    "exponential": (np.exp(0.05 * T + 0.01 * NOISE), None, {}),
    "its logarithm": (np.exp(0.05 * T + 0.01 * NOISE), None, {"log": True}),
    "its changes": (np.exp(0.05 * T + 0.01 * NOISE), None, {"log": True, "difference": (1,)}),
    "exact": (np.exp(0.1 * T), None, {}),
    "3 % a month": (np.exp(0.03 * T + 0.02 * NOISE) * (20 + 5 * np.sin(T * np.pi / 6)), 12, {}),
    "logistic": (100 / (1 + np.exp(-0.08 * (T - 100))) + 0.5 * NOISE, None, {}),
    "linear": (2.0 * T + 5 * NOISE, None, {}),
    "steps": (10.0 * (T // 20) + NOISE, None, {}),
    "falling": (-np.exp(0.05 * T + 0.01 * NOISE), None, {}),
}


@pytest.mark.filterwarnings("ignore:the forecast leaves")
@pytest.mark.parametrize("kind", GROWING)
def test_a_growing_series_grows_on_without_a_jump(kind):
    y, season, parameters = GROWING[kind]
    known, to_come = y[:120], y[120:]
    values, lower, upper = small(season=season, **parameters).fit(known).generate(36, return_interval=0.9)
    changes = np.abs(np.diff(np.concatenate([known[-1:], values])))
    assert changes.max() <= 1.5 * max(np.abs(np.diff(y)).max(), 5.0 * np.ptp(known) / 120)
    assert (np.diff(upper - lower) >= -1e-9 * np.abs(known).max()).all()
    if kind not in ("logistic", "falling"):  # its turn is still to come; there is no logarithm of negative values
        assert 0.5 < values[-1] / to_come[-1] < 2.0
    if kind != "exact":  # there is nothing to be unsure of
        assert ((lower <= to_come) & (to_come <= upper)).mean() > 0.6
        assert (upper - lower).min() > 1e-3 * np.ptp(known)


@pytest.mark.filterwarnings("ignore:the forecast leaves")
def test_a_longer_forecast_begins_with_the_shorter_one():
    y = GROWING["exponential"][0][:80]
    model = small().fit(y)
    longer = model.generate(200, return_interval=0.9)
    for found, wanted in zip(model.generate(30, return_interval=0.9), longer, strict=True):
        np.testing.assert_array_equal(found, wanted[:30])
    assert (np.diff(longer[2] - longer[1]) >= 0).all()


# ---- manners


def test_seeds_and_jobs(wave):
    np.testing.assert_array_equal(small(n_jobs=2).fit(WAVE).generate(9), wave.generate(9))
    assert not np.array_equal(small(random_state=1).fit(WAVE).generate(9), wave.generate(9))
    seeds = [small(random_state=np.random.default_rng(1)).fit(WAVE).generate(3) for _ in range(2)]
    np.testing.assert_array_equal(*seeds)


def test_copies_and_files(driven, tmp_path):
    driven.save(tmp_path / "model.evk")
    X = DRIVE[90:100]
    for copied in (pickle.loads(pickle.dumps(driven)), copy.deepcopy(driven), load(tmp_path / "model.evk")):
        for found, wanted in zip(copied.generate(10, X=X, return_interval=0.9),
                                 driven.generate(10, X=X, return_interval=0.9), strict=True):  # fmt: skip
            np.testing.assert_array_equal(found, wanted)
        np.testing.assert_array_equal(copied.transform(WAVE, DRIVE[:90]), driven.transform(WAVE, DRIVE[:90]))
    assert clone(driven).get_params() == driven.get_params()


@pytest.mark.parametrize("name, value", [
    ("season", 0), ("season", 2), ("n_joined", 3), ("lags", (0,)), ("exponent", np.zeros(2, np.int64)),
    ("growth", np.zeros((3, 1))), ("y", np.full((90, 1), np.nan)), ("candidates", []), ("sound", []),
    ("external", np.zeros((5, 3))), ("n_independent", np.zeros(1)), ("ratios", np.empty((0, 1))),
])  # fmt: skip
def test_spoilt_files_are_refused(driven, name, value):
    state = driven.fitted_.state()
    state["_rolling"] = state["_rolling"] | {name: value}
    spoilt = small()
    with pytest.raises(Exception):  # noqa: B017 - of some kind
        _take_in(spoilt, state)


def _take_in(model, state):
    model._restore(state)
    model._check_fitted()


def test_there_are_no_streams_and_no_generations(wave):
    with pytest.raises(ValueError, match="validation='rolling' cannot be read step by step"):
        wave.stream()
    assert not hasattr(wave, "history_") and not hasattr(wave, "readout_")


def test_max_seconds_leaves_out_transformations():
    model = small(season=6, max_seconds=1e-9).fit(SALES)
    assert len(model.fitted_.candidates) == 1
    assert len(small(season=6).fit(SALES).fitted_.candidates) == 8
    assert np.isfinite(model.generate(5)).all()


def test_max_seconds_are_heeded_within_a_transformation(monkeypatch):
    moments = itertools.count()
    clock = SimpleNamespace(monotonic=lambda: next(moments))
    for module in ("reader", "model"):
        monkeypatch.setattr(f"evoke.forecasting.{module}.time", clock)
    assert len(small(max_seconds=1e9).fit(WAVE).fitted_.candidates) == 2
    whole = next(moments)
    assert len(small(max_seconds=whole - 10).fit(WAVE).fitted_.candidates) == 1
    assert next(moments) - whole < whole - 5  # the second was broken off


def test_verbose_says_what_is_tried(capsys):
    small(verbose=1).fit(WAVE)
    assert capsys.readouterr().err.count("mean error of free runs") == 2


def test_an_interrupt_leaves_the_model_as_it_was(wave, monkeypatch):
    model = copy.copy(wave)

    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("evoke.forecasting.model.NetworkCandidate.fit", interrupt)
    with pytest.raises(KeyboardInterrupt):
        model.fit(SALES)
    np.testing.assert_array_equal(model.generate(3), wave.generate(3))
    assert not hasattr(small(), "fitted_")


# ---- machines on landmarks

CHAOS = tasks.mackey_glass(1700)


@pytest.fixture(scope="module")
def machines():
    return small(readout="landmarks", n_landmarks=60, log=False).fit(WAVE, DRIVE[:90])


def readouts_of(model):
    return {type(candidate.readouts) for candidate in model.fitted_.candidates}


def test_long_series_are_read_by_machines_on_landmarks_too():
    known, to_come = CHAOS[:1000], CHAOS[1000:]
    model = small(difference=(), log=False).fit(known)
    assert readouts_of(model) == {LandmarkReadouts}  # ridge readouts have errors so large that they have no part
    ridge = small(readout="ridge", difference=(), log=False).fit(known)
    assert readouts_of(ridge) == readouts_of(small(difference=(), log=False).fit(known[:999])) == {RidgeReadouts}
    assert len(model.fitted_.candidates[0].readouts.machines[0]) < len(WIDTHS) * len(CAPACITIES)
    errors = [tasks.nrmse(CHAOS[1000:], one.predict_one_step(CHAOS)[1000:]) for one in (model, ridge)]
    assert errors[0] < 2e-3 and errors[0] < errors[1] / 3
    assert tasks.nrmse(to_come[:84], model.generate(84)) < 0.05


def test_machines_and_ridge_readouts_together():
    y = np.sin(0.2 * np.arange(1100)) + np.random.default_rng(0).normal(0, 0.3, 1100)
    model = small(difference=(), log=False).fit(y)
    assert readouts_of(model) == {LandmarkReadouts, RidgeReadouts}
    assert model.transform(y).shape == (1100, 24)
    values, lower, upper = model.generate(30, return_interval=0.9)
    assert np.abs(values - np.sin(0.2 * np.arange(1100, 1130))).mean() < 0.2
    assert ((lower < values) & (values < upper)).all()


def test_what_machines_say_of_known_values_and_of_a_context(machines):
    said = machines.predict_one_step(WAVE, DRIVE[:90])
    ahead = machines.generate(1, context=WAVE[:-1], X=DRIVE[:90])
    np.testing.assert_allclose(said[-1], ahead[0], rtol=1e-9)
    ahead = machines.generate(9, context=WAVE, X=DRIVE[:99])
    np.testing.assert_array_equal(ahead, machines.generate(9, X=DRIVE[90:99]))
    assert machines.genome_.shape[0] == 8 and machines.score(WAVE, DRIVE[:90]) > 0.7
    assert small(readout="landmarks", n_networks="auto").fit(WAVE).genome_.shape[0] == 4


def test_machines_in_copies_and_files(machines, tmp_path):
    machines.save(tmp_path / "model.evk")
    X = DRIVE[90:100]
    for copied in (pickle.loads(pickle.dumps(machines)), load(tmp_path / "model.evk")):
        for found, wanted in zip(copied.generate(10, X=X, return_interval=0.9),
                                 machines.generate(10, X=X, return_interval=0.9), strict=True):  # fmt: skip
            np.testing.assert_array_equal(found, wanted)
        assert copied.get_params() == machines.get_params()


@pytest.mark.parametrize("name, value", [
    ("places", np.zeros((3, 2))), ("coef", np.zeros((2, 1))), ("intercept", np.zeros(2)), ("gamma", -1.0), ("C", "1"),
])  # fmt: skip
def test_spoilt_machines_are_refused(machines, name, value):
    state = copy.deepcopy(machines.fitted_.state())
    state["_rolling"]["candidates"][0]["machines"][1][0][name] = value
    with pytest.raises(Exception):  # noqa: B017 - of some kind
        _take_in(small(), state)
    state = copy.deepcopy(machines.fitted_.state())
    state["_rolling"]["candidates"][0]["machines"] = []
    with pytest.raises(Exception):  # noqa: B017 - of some kind
        _take_in(small(), state)


@pytest.mark.filterwarnings("ignore:the forecast leaves")
def test_machines_read_several_series_and_outputs():
    model = small(readout="landmarks", n_landmarks=30).fit([PAIR[:50], PAIR])
    values, lower, upper = model.generate(12, return_interval=0.5)
    assert values.shape == (12, 2) and ((lower <= values) & (values <= upper)).all()
    unit, zero = np.array([1e5, 0.3]), np.array([-7.0, 1e3])
    other = small(readout="landmarks", n_landmarks=30).fit([PAIR[:50], PAIR * unit + zero])
    np.testing.assert_allclose(other.generate(12), values * unit + zero, rtol=1e-6)
    for value in (0.0, 5.0):
        constant = small(readout="landmarks", season=6).fit(np.full(60, value)).generate(9)
        np.testing.assert_allclose(constant, value, rtol=1e-9)


def test_blocks_of_steps_change_nothing_but_rounding(monkeypatch):
    y = np.sin(0.2 * np.arange(400)) + np.random.default_rng(0).normal(0, 0.1, 400)
    for readout in ("ridge", "landmarks"):
        wanted = small(readout=readout, difference=(), log=False).fit(y)
        with monkeypatch.context() as patch:
            for module in ("reader", "parts", "ridge"):
                patch.setattr(f"evoke.forecasting.{module}.ROWS", 32)
            found = small(readout=readout, difference=(), log=False).fit(y)
            np.testing.assert_allclose(found.generate(30), wanted.generate(30), rtol=1e-5, atol=1e-5)
            np.testing.assert_allclose(wanted.predict_one_step(y), found.predict_one_step(y), rtol=1e-5, atol=1e-5)
            np.testing.assert_array_equal(found.transform(y), wanted.transform(y))


# ---- which way it is


@pytest.mark.parametrize("stated", [
    {"n_generations": 1}, {"washout": 5}, {"readout": "lssvm"}, {"C": 10.0}, {"gamma": 0.25}, {"validation": 0.5},
    {"validation_mode": "free"}, {"refit": True}, {"feedback_scale": 1.0}, {"burst_patience": None},
])  # fmt: skip
def test_who_speaks_of_the_evolution_gets_it(stated):
    few = {"n_generations": 1, "subpopulation_size": 2, "n_trials": 1, "n_cells": 2, "random_state": 0}
    explicit = EvokeForecaster(**{"validation": "half", **few, **stated}).fit(WAVE)
    assert len(EvokeForecaster(**few, **{k: v for k, v in stated.items() if k not in few}).fit(WAVE).history_) == 1
    assert explicit.fitted_.network.n_cells == 2
    if "validation" not in stated:
        with pytest.raises(ParameterError, match=r"must come with validation='half' or a number, got 'rolling'"):
            small(validation="rolling", **stated).fit(WAVE)


@pytest.mark.parametrize("setting", [{"season": 6}, {"difference": ()}, {"log": False}, {"n_networks": 8},
                                     {"scale": "standard"}, {"n_landmarks": 30}])  # fmt: skip
def test_what_belongs_to_rolling_origins(setting):
    (name,) = setting
    with pytest.raises(ParameterError, match=rf"{name}=.* must come with validation='rolling', got 'half'"):
        EvokeForecaster(**setting, validation="half").fit(WAVE)


def test_the_error_names_what_asks_for_the_evolution():
    with pytest.raises(ParameterError, match=r"season=6 must .* got 'half', which 'auto' is because of washout=5"):
        EvokeForecaster(season=6, washout=5).fit(WAVE)
    with pytest.raises(ParameterError, match=r"log=False must .* got 'half', which 'auto' is because of y_val"):
        EvokeForecaster(log=False, washout=5).fit(WAVE, y_val=WAVE)
    with pytest.raises(ParameterError, match=r"season=6 must .* got 0.5$"):
        EvokeForecaster(season=6, washout=5, validation=0.5).fit(WAVE)


def test_data_that_are_held_out_or_weighted_belong_to_the_evolution():
    few = {"n_cells": 2, "random_state": 0, "max_seconds": 1e-9}
    assert len(EvokeForecaster(**few).fit(WAVE, y_val=WAVE[:30]).history_) == 1
    assert len(EvokeForecaster(**few).fit(WAVE, sample_weight=np.ones(90)).history_) == 1
    for more in ({"y_val": WAVE}, {"sample_weight": np.ones(90)}):
        with pytest.raises(ValueError, match=f"{next(iter(more))} has no part"):
            small(validation="rolling").fit(WAVE, **more)
    with pytest.raises(ValueError, match="X_val goes with y_val"):
        small().fit(WAVE, X_val=DRIVE)


def test_a_fit_that_did_not_evolve_cannot_be_continued(wave):
    model = copy.copy(wave).set_params(warm_start=True, n_networks="auto")
    with pytest.raises(ValueError, match="warm_start cannot continue the last fit, whose networks did not evolve"):
        model.fit(WAVE)


def test_networks_fill_the_readouts():
    with pytest.raises(ParameterError, match="n_networks must be a multiple of 4"):
        small(n_networks=6).fit(WAVE)
    with pytest.raises(ParameterError, match="scale must be 'standard' with validation='rolling'"):
        small(scale=None).fit(WAVE)
    assert np.isfinite(small(n_networks=2).fit(WAVE).generate(3)).all()


# ---- cross-validation


FOLDS = TimeSeriesSplit(2, test_size=20)


def test_cross_validation_of_forecasts():
    found = cross_val_score(small(), WAVE, cv=FOLDS, scoring=ForecastScorer())
    forecasts = [(WAVE[test], small().fit(WAVE[train]).generate(20)) for train, test in FOLDS.split(WAVE)]
    np.testing.assert_allclose(found, [-np.abs(true - said).mean() for true, said in forecasts])
    squared = cross_val_score(small(), WAVE, cv=FOLDS, scoring=ForecastScorer(mean_squared_error))
    np.testing.assert_allclose(squared, [-((true - said) ** 2).mean() for true, said in forecasts])
    assert np.isfinite(cross_val_score(small(), WAVE, DRIVE[:90], cv=FOLDS, scoring=ForecastScorer())).all()
    assert np.isfinite(cross_val_score(small(), WAVE, cv=FOLDS)).all()


def test_grid_search():
    search = GridSearchCV(small(), {"n_cells": [2, 3]}, cv=FOLDS, scoring=ForecastScorer()).fit(WAVE)
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()
    np.testing.assert_array_equal(
        search.best_estimator_.generate(3), small(**search.best_params_).fit(WAVE).generate(3)
    )


def test_a_scorer_refuses_what_does_not_follow():
    pd = pytest.importorskip("pandas")
    series = pd.Series(WAVE, pd.date_range("2020-01", periods=90, freq="MS"))
    with pytest.raises(ValueError, match="y does not follow the series of fit"):
        cross_val_score(small(), series, cv=KFold(2), scoring=ForecastScorer(), error_score="raise")
    with pytest.raises(ValueError, match="a forecast continues one series"):
        ForecastScorer()(small().fit(WAVE), [WAVE, WAVE])


def test_mase():
    assert mase([4.0, 5.0], [4.5, 5.5], [1.0, 2.0, 3.0]) == 0.5
    assert mase([4.0], [4.5], [1.0, 2.0, 3.0, 3.0], season=2) == pytest.approx(0.5 / 1.5)
    assert mase([[4.0, 1.0]], [[4.5, 3.0]], [[1.0, 0.0], [2.0, 1.0]]) == pytest.approx((0.5 + 2.0) / 2)
    assert mase([1.0], [1.0], [2.0, 2.0]) == 0.0
    assert mase([1.0], [2.0], [2.0, 2.0]) == np.inf
    with pytest.raises(ValueError, match="must match"):
        mase([1.0], [1.0, 2.0], [1.0, 2.0])
    with pytest.raises(ValueError, match="season must be from 1 to 1"):
        mase([1.0], [1.0], [1.0, 2.0], season=2)


@pytest.mark.parametrize("name", ["history_", "best_fitness_", "n_evaluations_", "readout_"])
def test_what_drawn_networks_do_not_have(name):
    model = EvokeForecaster(n_cells=2, n_networks=2, random_state=0).fit(np.sin(np.arange(40) / 3))
    assert not hasattr(model, name)
    with pytest.raises(AttributeError, match=f"'EvokeForecaster' object has no attribute '{name}': what was fitted"):
        getattr(model, name)
    assert model.genome_.size > 0
