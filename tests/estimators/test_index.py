"""Estimators given pandas objects: what belongs together is checked, and forecasts carry the index on."""

import copy
import pickle
from dataclasses import replace
from datetime import date

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import DataConversionWarning
from sklearn.model_selection import TimeSeriesSplit, cross_val_score

from evoke import EvokeClassifier, EvokeForecaster, EvokeRegressor, load
from evoke.exceptions import ModelFileError
from evoke.persistence.archive import read_archive, write_archive

TINY = dict(n_cells=2, n_generations=1, subpopulation_size=4, n_trials=1, random_state=0)
MONTHS = pd.date_range("2020-01-01", periods=43, freq="MS", tz="Europe/Zurich", name="month")
KNOWN, AHEAD = MONTHS[:40], MONTHS[40:]
WAVE = np.sin(np.arange(43) / 3)
SALES = pd.Series(WAVE[:40], KNOWN, name="sales")
BOTH = pd.DataFrame({"in": WAVE[:40], "out": WAVE[39::-1]}, KNOWN)
DRIVE = pd.DataFrame({"u": np.cos(np.arange(43))}, MONTHS)
NEXT = DRIVE[40:]


def forecaster():
    return EvokeForecaster(**TINY)


@pytest.fixture(scope="module")
def plain():
    return forecaster().fit(SALES.to_numpy())


@pytest.fixture(scope="module")
def driven():
    return forecaster().fit(SALES, DRIVE[:40])


# ---- forecasts


def test_a_forecast_of_a_series_is_one(plain):
    model = forecaster().fit(SALES)
    found = model.generate(3)
    pd.testing.assert_series_equal(found, pd.Series(plain.generate(3), AHEAD, name="sales"), check_freq=False)
    pd.testing.assert_series_equal(model.predict([3, 1]), found.iloc[[2, 0]], check_freq=False)
    pd.testing.assert_series_equal(model.predict(2), found.iloc[[1]], check_freq=False)
    assert model.generate(0).index.dtype == found.index.dtype and len(model.generate(0)) == 0
    assert type(model.predict_one_step(SALES)) is np.ndarray


def test_a_forecast_of_a_data_frame_is_one():
    found = forecaster().fit(BOTH).generate(3)
    values = forecaster().fit(BOTH.to_numpy()).generate(3)
    pd.testing.assert_frame_equal(found, pd.DataFrame(values, AHEAD, ["in", "out"]), check_freq=False)
    one = forecaster().fit(BOTH[["in"]]).generate(3)
    assert isinstance(one, pd.DataFrame) and one.columns.tolist() == ["in"]


def test_the_series_that_is_continued_decides(plain):
    model = forecaster().fit(SALES)
    assert type(model.generate(2, context=SALES.to_numpy())) is np.ndarray
    found = plain.generate(3, context=SALES[:30].rename("other"))
    pd.testing.assert_index_equal(found.index, MONTHS[30:33], exact=True)
    assert found.name == "other"
    np.testing.assert_array_equal(found, plain.generate(3, context=SALES[:30].to_numpy()))
    short = pd.Series(SALES.to_numpy()[:2], pd.DatetimeIndex(KNOWN[:2], freq=None))
    pd.testing.assert_index_equal(model.generate(2, context=short).index, KNOWN[2:4], check_names=False)
    with pytest.warns(UserWarning, match="cannot go on"):
        assert plain.generate(2, context=short).index.tolist() == [0, 1]


def test_the_last_of_several_series_is_continued():
    several = [SALES.to_numpy(), SALES[:20]]
    pd.testing.assert_index_equal(forecaster().fit(several).generate(2).index, MONTHS[20:22])
    assert type(forecaster().fit(several[::-1]).generate(2)) is np.ndarray


def test_a_count_of_rows_goes_on():
    assert forecaster().fit(pd.Series(WAVE)).generate(2).index.tolist() == [43, 44]


def test_an_index_without_regular_steps(plain):
    model = forecaster().fit(SALES.set_axis(list(range(39)) + [99]))
    with pytest.warns(UserWarning, match="numbered from 0"):
        found = model.generate(2)
    pd.testing.assert_series_equal(found, pd.Series(plain.generate(2), name="sales"))


def test_data_frames_have_the_columns_of_fit():
    model = forecaster().fit(BOTH)
    for call in (model.predict_one_step, model.score, lambda y: model.generate(2, context=y)):
        with pytest.raises(ValueError, match=r"must have the columns \['in', 'out'\], as in fit, got \['out', 'in'\]"):
            call(BOTH[["out", "in"]])


@pytest.mark.parametrize("odd", [pd.Timestamp("2020-02-01", tz="UTC"), date(2020, 2, 1)])
def test_labels_that_cannot_be_compared(odd):
    times = [*pd.date_range("2020-01-01", periods=31), odd, *pd.date_range("2020-02-02", periods=8)]
    series = pd.Series(WAVE[:40], pd.Index(times, dtype=object))
    message = "must have an index of labels that can be compared, but at position 31 it has .* after Timestamp"
    with pytest.raises(ValueError, match=f"y {message}"):
        forecaster().fit(series)
    with pytest.raises(ValueError, match=f"X {message}"):
        EvokeClassifier().fit(series.to_frame(), np.arange(40) % 2)


def test_warnings_name_the_line_of_the_user():
    """Whichever method calls which."""
    odd = SALES.set_axis(list(range(39)) + [99])
    rolling = EvokeForecaster(n_networks=4, n_cells=2, difference=(1,), random_state=0).fit(np.arange(60.0))
    model = forecaster().fit(odd)
    gap = SALES.drop(SALES.index[20])
    for call in (
        lambda: model.generate(2), lambda: model.predict(2), lambda: model.predict([1, 2]),
        lambda: rolling.generate(90), lambda: rolling.predict(90), lambda: rolling.predict([90], return_interval=0.5),
        lambda: forecaster().fit(gap), lambda: forecaster().fit(SALES).score(gap),
        lambda: forecaster().fit_transform(gap),
        lambda: EvokeForecaster(n_networks=4).fit(WAVE[:9]),
        lambda: EvokeClassifier(**TINY).fit(gap.to_frame(), np.arange(39) % 2),
        lambda: EvokeClassifier(**TINY).fit(DRIVE, pd.DataFrame({"label": np.arange(43) % 2}, MONTHS)),
    ):  # fmt: skip
        with pytest.warns(UserWarning) as caught:  # noqa: PT030 - where from, not which
            call()
        assert {warning.filename for warning in caught} == {__file__}


SWAPPED = BOTH[["out", "in"]]


@pytest.mark.parametrize("call, message", [
    (lambda: forecaster().fit([BOTH, SWAPPED]), r"y\[1\] has columns \['out', 'in'\], y\[0\] has \['in', 'out'\]"),
    (lambda: forecaster().fit([BOTH.to_numpy(), BOTH, SWAPPED]), r"y\[2\] has columns .*, y\[1\] has"),
    (lambda: forecaster().fit([BOTH, BOTH.rename(columns={"in": "z"})]), r"y\[1\] has columns \['z', 'out'\], y\[0\]"),
    (lambda: EvokeForecaster(n_generations=1).fit(BOTH, y_val=SWAPPED), "y_val has columns .*, y has"),
    (lambda: forecaster().fit(BOTH).score([SWAPPED, BOTH]), r"y\[1\] has columns .*, y\[0\] has"),
    (lambda: forecaster().fit(BOTH).score([SWAPPED, BOTH.to_numpy()]), "y must have the columns .*, as in fit"),
    (lambda: EvokeRegressor().fit([np.zeros((40, 1))] * 2, [BOTH, SWAPPED]), r"y\[1\] has columns .*, y\[0\] has"),
])  # fmt: skip
def test_columns_of_data_frames_are_not_paired_by_position(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_files_pickles_and_copies_carry_the_index_on(tmp_path, driven):
    periods = pd.Series(WAVE, pd.period_range("1900", periods=43, freq="Y"))
    for model in (driven, forecaster().fit(BOTH), forecaster().fit(periods), forecaster().fit(pd.Series(WAVE))):
        X = {"X": NEXT} if model is driven else {}
        expected = model.generate(3, **X)
        compare = pd.testing.assert_frame_equal if expected.ndim == 2 else pd.testing.assert_series_equal
        model.save(tmp_path / "model.evk")
        for other in (load(tmp_path / "model.evk"), pickle.loads(pickle.dumps(model)), copy.deepcopy(model)):
            assert other.fitted_.index == model.fitted_.index
            compare(other.generate(3, **X), expected)


def test_a_file_without_an_index_is_as_before(plain, tmp_path):
    plain.save(tmp_path / "model.evk")
    assert "_index" not in read_archive(tmp_path / "model.evk")[0]["fitted"]
    assert type(load(tmp_path / "model.evk").generate(2)) is np.ndarray


@pytest.mark.parametrize(
    "spoil, message",
    [
        ({"step": 3}, "step of _index must be of str"),
        ({"labels": {"tuple": ["a", "b"]}}, "_index must have 1 labels"),
        ({"frame": True}, "_index does not belong to the series"),
        ({"moon": 1}, "moon"),
    ],
)
def test_a_spoilt_index_is_refused(spoil, message, tmp_path):
    path = tmp_path / "model.evk"
    forecaster().fit(SALES).save(path)
    header, arrays = read_archive(path)
    header["fitted"]["_index"]["SeriesIndex"].update(spoil)
    write_archive(path, header, arrays)
    with pytest.raises(ModelFileError, match=message):
        load(path)


def test_a_model_with_an_index_of_another_is_not_saved(tmp_path):
    model = forecaster().fit(SALES)
    model.fitted_ = replace(model.fitted_, index=forecaster().fit(BOTH).fitted_.index)
    with pytest.raises(ValueError, match="_index does not belong"):
        model.save(tmp_path / "model.evk")


# ---- pairs


def shifted(frame):
    return frame.shift(1, freq="MS")


def test_external_inputs_and_weights_have_the_index_of_the_series(driven):
    X, weights = DRIVE[:40], pd.Series(1.0, KNOWN)
    for call in (forecaster().fit, driven.predict_one_step, driven.transform, driven.score):
        with pytest.raises(ValueError, match="X must have the index of y: at position 0 it has 2020-02-01"):
            call(SALES, shifted(X))
    with pytest.raises(ValueError, match="X_val must have the index of y_val"):
        forecaster().fit(SALES, X, y_val=SALES, X_val=shifted(X))
    for call in (forecaster().fit, driven.score):
        with pytest.raises(ValueError, match="sample_weight must have the index of y"):
            call(SALES, X, sample_weight=shifted(weights))
    with pytest.raises(ValueError, match="sample_weight_val must have the index of y_val"):
        forecaster().fit(SALES, X, y_val=SALES, X_val=X, sample_weight_val=shifted(weights))
    with pytest.raises(ValueError, match=r"X\[1\] must have the index of y\[1\]"):
        forecaster().fit([SALES, SALES], [X, shifted(X)])
    np.testing.assert_array_equal(forecaster().fit(SALES, X.reset_index(drop=True)).genome_, driven.genome_)


def test_external_inputs_ahead_have_the_index_that_follows(driven):
    found = driven.generate(3, X=NEXT)
    for X in (NEXT.reset_index(drop=True), NEXT.set_axis(pd.DatetimeIndex(AHEAD, freq=None))):
        pd.testing.assert_series_equal(driven.generate(3, X=X), found)
    with pytest.raises(ValueError, match="X must have the index of what is generated: at position 0 it has 2020-01-01"):
        driven.generate(3, X=DRIVE[:3])
    with pytest.raises(ValueError, match="X must have the index of what is generated"):
        driven.predict([1, 3], X=shifted(NEXT))
    context = SALES[10:30]
    with pytest.raises(ValueError, match=r"at position 20 it has 2023-05-01 .*, context with .* has 2022"):
        driven.generate(3, context=context, X=pd.concat([DRIVE[10:30], NEXT]))
    found = driven.generate(3, context=context, X=DRIVE[10:33])
    pd.testing.assert_index_equal(found.index, MONTHS[30:33], exact=True)
    count = forecaster().fit(pd.Series(WAVE[:40]), DRIVE[:40].reset_index(drop=True))
    np.testing.assert_array_equal(count.generate(3, X=NEXT.reset_index(drop=True)), found_values(count))


def found_values(model):
    with pytest.warns(UserWarning, match="does not have valid feature names"):
        return model.generate(3, X=NEXT.to_numpy())


@pytest.mark.parametrize("estimator", [EvokeClassifier, EvokeRegressor])
def test_targets_and_weights_have_the_index_of_the_sequences(estimator):
    X = DRIVE[:40]
    y, weights = (X["u"] > 0).astype(int), pd.Series(1.0, KNOWN)
    model = estimator(**TINY).fit(X, y, sample_weight=weights)
    for call in (estimator(**TINY).fit, model.score):
        with pytest.raises(ValueError, match="y must have the index of X: at position 0 it has 2020-02-01"):
            call(X, shifted(y))
        with pytest.raises(ValueError, match="sample_weight must have the index of X"):
            call(X, y, sample_weight=shifted(weights))
        with pytest.raises(ValueError, match=r"X must have an index that rises, .* newest first"):
            call(X[::-1], y[::-1])
        with pytest.raises(ValueError, match=r"y\[1\] must have the index of X\[1\]"):
            call([X, X], [y, shifted(y)])
    with pytest.raises(ValueError, match="sample_weight must have the index of y"):
        estimator(**TINY).fit(X.to_numpy(), y, sample_weight=shifted(weights))
    with pytest.raises(ValueError, match="y_val must have the index of X_val"):
        estimator(**TINY).fit(X, y, X_val=X, y_val=shifted(y))
    for call in (model.predict, model.transform):
        with pytest.raises(ValueError, match="X must have an index that rises"):
            call(X[::-1])


def test_labels_and_weights_of_sequences_are_paired():
    X, y = [DRIVE[:20].to_numpy()] * 4, pd.Series([0, 1, 0, 1], index=[4, 7, 1, 3])
    EvokeClassifier(**TINY).fit(X, y, sample_weight=pd.Series(1.0, y.index))
    with pytest.raises(ValueError, match="sample_weight must have the index of y: at position 2 it has 3, y has 1"):
        EvokeClassifier(**TINY).fit(X, y, sample_weight=pd.Series(1.0, [4, 7, 3, 1]))


def test_a_gap_is_one_warning():
    with pytest.warns(UserWarning, match="y has a gap before position 7: 2020-09-01") as seen:
        forecaster().fit(SALES.drop(KNOWN[7]), DRIVE[:40].drop(KNOWN[7]), sample_weight=pd.Series(1.0, KNOWN.delete(7)))
    assert len(seen) == 1
    with pytest.warns(UserWarning, match=r"X\[1\] has a gap") as seen:
        EvokeRegressor(**TINY).fit([DRIVE, DRIVE.drop(KNOWN[7])], [DRIVE["u"], DRIVE["u"].drop(KNOWN[7])])
    assert len(seen) == 1


def test_time_series_splits_of_scikit_learn():
    assert np.isfinite(cross_val_score(forecaster(), SALES, cv=TimeSeriesSplit(3, test_size=8))).all()
    assert np.isfinite(cross_val_score(forecaster(), DRIVE, cv=TimeSeriesSplit(3, test_size=8))).all()


# ---- columns


COLUMN = "A column-vector y was passed when a 1d array was expected"
SEQUENCES = [np.full((5, 1), sign) + 0.1 * k for k in range(4) for sign in (-1.0, 1.0)]


@pytest.mark.parametrize("estimator", [EvokeClassifier, EvokeRegressor])
@pytest.mark.parametrize(
    "column", [np.array, np.ndarray.tolist, pd.DataFrame, lambda y: [*y]], ids=["array", "list", "frame", "arrays"]
)
def test_one_target_a_sequence_as_a_column(estimator, column):
    y = np.array([0, 1] * 4)
    model = estimator(**TINY).fit(SEQUENCES, y)
    for X in (SEQUENCES, np.array(SEQUENCES)):
        with pytest.warns(DataConversionWarning, match=COLUMN) as seen:
            other = estimator(**TINY).fit(X, column(y[:, None]))
        assert len(seen) == 1
        np.testing.assert_array_equal(other.predict(X), model.predict(X))
        with pytest.warns(DataConversionWarning, match=COLUMN):
            assert other.score(X, column(y[:, None])) == model.score(X, y)


def test_labels_a_step_as_a_column():
    X = DRIVE.to_numpy()
    y = (X > 0).astype(int)
    model = EvokeClassifier(**TINY).fit(X, y[:, 0])
    with pytest.warns(DataConversionWarning, match=COLUMN):
        other = EvokeClassifier(**TINY).fit(X, y)
    np.testing.assert_array_equal(other.predict(X), model.predict(X))
    np.testing.assert_array_equal(EvokeRegressor(**TINY).fit(X, y).predict(X).shape, (43,))  # as always, in silence


def test_columns_of_sequences_of_one_step_are_targets_of_steps():
    X, y = [x[:1] for x in SEQUENCES], np.array([[0.0], [1.0]] * 4)
    assert not EvokeRegressor(**TINY).fit(X, y).fitted_.per_sequence


def test_a_column_of_the_wrong_length_or_of_weights_is_refused():
    with pytest.warns(DataConversionWarning), pytest.raises(ValueError, match="y has 6 targets, X has 8 sequences"):
        EvokeClassifier(**TINY).fit(SEQUENCES, np.array([[0], [1]] * 3))
    with pytest.raises(ValueError, match=r"sample_weight\[0\] has shape"):
        EvokeClassifier(**TINY).fit(SEQUENCES, [0, 1] * 4, sample_weight=np.ones((8, 1)))
