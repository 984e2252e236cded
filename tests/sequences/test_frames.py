"""Data frames: names of features that are remembered, and frames of activations."""

import pickle
import re
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from evoke import EvokeClassifier, EvokeForecaster, EvokeRegressor, load

TINY = dict(n_cells=3, n_generations=2, subpopulation_size=4, n_trials=2, random_state=0)
LENGTHS = [5, 3, 4, 6]
LONG = pd.DataFrame(np.random.default_rng(0).normal(size=(18, 2)), columns=["a", "b"], index=np.arange(18) * 10)
CUTS = np.cumsum([0, *LENGTHS])
FRAMES = [LONG.iloc[begin:end] for begin, end in pairwise(CUTS)]
ARRAYS = [frame.to_numpy() for frame in FRAMES]
STEPS = [frame["a"] > 0 for frame in FRAMES]  # Series
ESTIMATORS = [EvokeClassifier, EvokeRegressor]


def swapped(frames):
    return [frame[["b", "a"]] for frame in frames]


@pytest.fixture(scope="module", params=ESTIMATORS)
def model(request):
    return request.param(**TINY).fit(FRAMES, STEPS)


# ---- names of features


def test_frames_and_arrays_give_the_same_model(model):
    plain = type(model)(**TINY).fit(ARRAYS, [y.to_numpy() for y in STEPS])
    np.testing.assert_array_equal(plain.genome_, model.genome_)
    assert not hasattr(plain, "feature_names_in_")
    assert model.feature_names_in_.tolist() == ["a", "b"] and model.n_features_in_ == 2
    for one, other in zip(model.predict(FRAMES), plain.predict(ARRAYS), strict=True):
        np.testing.assert_array_equal(one, other)
    whole = type(model)(**TINY).fit(LONG, np.concatenate(STEPS), lengths=LENGTHS)
    np.testing.assert_array_equal(whole.genome_, model.genome_)
    assert whole.feature_names_in_.tolist() == ["a", "b"]


@pytest.mark.parametrize(
    "X, message",
    [
        (swapped(FRAMES), "must be in the same order as they were in fit"),
        (FRAMES[0][["b", "a"]], "must be in the same order as they were in fit"),
        ([frame.rename(columns={"a": "c"}) for frame in FRAMES], r"unseen at fit time:\n- c"),
        ([FRAMES[0], *swapped(FRAMES[1:])], r"X\[1\] has columns \['b', 'a'\], X\[0\] has \['a', 'b'\]"),
        ([*FRAMES[:2], ARRAYS[2]], r"X\[0\] is a data frame, X\[2\] is not"),
        ([ARRAYS[0], *FRAMES[1:]], r"X\[1\] is a data frame, X\[0\] is not"),
        ([frame[["a"]] for frame in FRAMES], "missing:\n- b"),
    ],
)
def test_other_names_are_refused(model, X, message):
    for call in (model.predict, model.transform):
        with pytest.raises(ValueError, match=message):
            call(X)


def test_names_that_are_missing_on_one_side_are_warned_of(model):
    with pytest.warns(UserWarning, match="X does not have valid feature names, but .* was fitted with feature names"):
        model.predict(ARRAYS)
    plain = type(model)(**TINY).fit(ARRAYS, STEPS)
    with pytest.warns(UserWarning, match="X has feature names, but .* was fitted without feature names"):
        plain.predict(FRAMES)
    with pytest.raises(ValueError, match=r"X has 1 features, but .* is expecting 2 features as input"):
        plain.predict([x[:, :1] for x in ARRAYS])


def test_what_is_held_out_has_the_same_names():
    with pytest.raises(ValueError, match="in the same order as they were in fit"):
        EvokeClassifier(**TINY).fit(FRAMES, STEPS, X_val=swapped(FRAMES), y_val=STEPS)
    with pytest.raises(ValueError, match=r"X_val\[1\] has columns"):
        EvokeClassifier(**TINY).fit(FRAMES, STEPS, X_val=[FRAMES[0], *swapped(FRAMES[1:])], y_val=STEPS)


def test_only_a_fit_that_succeeds_changes_the_names():
    model = EvokeClassifier(**TINY).fit(FRAMES, STEPS)
    with pytest.raises(ValueError, match="y has 1 class"):
        model.fit([frame.rename(columns=str.upper) for frame in FRAMES], [[0] * n for n in LENGTHS])
    assert model.feature_names_in_.tolist() == ["a", "b"]
    model.fit(ARRAYS, STEPS)
    assert not hasattr(model, "feature_names_in_")
    model.fit([frame.set_axis([0, 1], axis=1) for frame in FRAMES], STEPS)
    assert not hasattr(model, "feature_names_in_")


def test_names_survive_files_and_pickles(model, tmp_path):
    model.save(tmp_path / "model.evk")
    for again in (load(tmp_path / "model.evk"), pickle.loads(pickle.dumps(model))):
        assert again.feature_names_in_.tolist() == ["a", "b"]
        with pytest.raises(ValueError, match="same order"):
            again.predict(swapped(FRAMES))


def test_external_inputs_of_a_forecaster_have_names(tmp_path):
    y = [pd.Series(np.sin(frame["a"])) for frame in FRAMES]
    model = EvokeForecaster(**TINY).fit(y, FRAMES)
    assert model.feature_names_in_.tolist() == ["a", "b"]
    for call in (model.predict_one_step, model.transform, model.score):
        with pytest.raises(ValueError, match="same order"):
            call(y, swapped(FRAMES))
    ahead = FRAMES[1].set_axis([180, 190, 200])
    with pytest.raises(ValueError, match="same order"):
        model.generate(3, X=ahead[["b", "a"]])
    np.testing.assert_array_equal(model.generate(3, X=ahead), model.predict([1, 2, 3], ahead))
    with pytest.warns(UserWarning, match="does not have valid feature names"):
        model.generate(3, context=y[0], X=np.concatenate([ARRAYS[0], ARRAYS[1]]))
    model.save(tmp_path / "model.evk")
    assert load(tmp_path / "model.evk").feature_names_in_.tolist() == ["a", "b"]
    assert not hasattr(model.fit(y), "feature_names_in_") and model.n_features_in_ == 0


# ---- frames of activations


def assert_frames(found, expected, indices, prefix):
    assert len(found) == len(expected)
    for frame, values, index in zip(found, expected, indices, strict=True):
        assert isinstance(frame, pd.DataFrame)
        assert frame.columns.tolist() == [f"{prefix}{k}" for k in range(3)]
        assert frame.index.tolist() == list(index)
        np.testing.assert_array_equal(frame.to_numpy(), values)


def test_transform_gives_frames_where_asked_to(model):
    prefix = type(model).__name__.lower()
    plain = model.transform(FRAMES)
    assert all(type(part) is np.ndarray for part in plain)
    model = clone(model).set_output(transform="pandas").fit(FRAMES, STEPS)
    assert model.get_feature_names_out().tolist() == [f"{prefix}{k}" for k in range(3)]
    assert_frames(model.transform(FRAMES), plain, [frame.index for frame in FRAMES], prefix)
    assert_frames([model.transform(LONG, LENGTHS)], [np.concatenate(plain)], [LONG.index], prefix)
    assert_frames([model.transform(FRAMES[0])], plain[:1], [FRAMES[0].index], prefix)
    assert_frames(model.fit_transform(FRAMES, STEPS), plain, [frame.index for frame in FRAMES], prefix)
    again = clone(model).fit(ARRAYS, STEPS)
    assert_frames(again.transform(ARRAYS), plain, map(range, LENGTHS), prefix)
    cube = np.array([x[:3] for x in ARRAYS])
    assert_frames(again.transform(cube), [part[:3] for part in plain], [range(3)] * 4, prefix)
    assert type(again.set_output(transform="default").transform(cube)) is np.ndarray
    assert type(model.predict(FRAMES)[0]) is np.ndarray


def test_a_forecaster_gives_frames_of_its_series():
    y = [pd.Series(np.sin(frame["a"])) for frame in FRAMES]
    model = EvokeForecaster(**TINY).fit(y)
    plain = model.transform(y)
    assert type(plain[0]) is np.ndarray
    framed = clone(model).set_output(transform="pandas")
    found = framed.fit_transform(y)
    assert_frames(found, plain, [series.index for series in y], "evokeforecaster")
    assert_frames([framed.transform(y[0].to_frame().to_numpy()[:, 0])], plain[:1], [range(5)], "evokeforecaster")
    assert_frames([framed.transform(y[0])], plain[:1], [y[0].index], "evokeforecaster")
    driven = EvokeForecaster(**TINY).fit_transform(y, FRAMES)
    for part, same in zip(driven, EvokeForecaster(**TINY).fit(y, FRAMES).transform(y, FRAMES), strict=True):
        np.testing.assert_array_equal(part, same)


def test_the_global_setting_is_obeyed_and_the_own_goes_first(model):
    with sklearn.config_context(transform_output="pandas"):
        assert all(isinstance(part, pd.DataFrame) for part in model.transform(FRAMES))
        own = clone(model).set_output(transform="default").fit(FRAMES, STEPS)
        assert all(type(part) is np.ndarray for part in own.transform(FRAMES))
    with pytest.raises(ValueError, match=r"transform must be one of \('default', 'pandas', 'polars'\), got 'excel'"):
        clone(model).set_output(transform="excel").fit(FRAMES, STEPS).transform(FRAMES)


def test_frames_go_through_pipelines():
    y = np.concatenate(STEPS)
    pipeline = make_pipeline(StandardScaler(), EvokeClassifier(**TINY)).set_output(transform="pandas").fit(LONG, y)
    assert pipeline[-1].feature_names_in_.tolist() == ["a", "b"]
    found = pipeline.transform(LONG)
    assert isinstance(found, pd.DataFrame) and found.index.tolist() == LONG.index.tolist()
    assert pipeline.get_feature_names_out().tolist() == found.columns.tolist()
    columns = ColumnTransformer([("net", EvokeRegressor(**TINY), ["a"]), ("same", "passthrough", ["b"])])
    found = columns.set_output(transform="pandas").fit_transform(LONG, y)
    assert found.columns.tolist() == [*(f"net__evokeregressor{k}" for k in range(3)), "same__b"]


def test_the_names_of_activations_follow_those_of_the_features(model):
    assert len(model.get_feature_names_out(["a", "b"])) == 3
    with pytest.raises(sklearn.exceptions.NotFittedError):
        clone(model).get_feature_names_out()


# ---- streams


def test_a_stream_knows_the_names(model):
    frame, stream = FRAMES[0], model.stream()
    whole = model.predict(FRAMES)[0]
    with pytest.raises(ValueError, match="same order"):
        stream.predict(frame[["b", "a"]])
    with pytest.raises(ValueError, match="unseen at fit time:\n- c"):
        stream.transform(frame.assign(c=0.0))
    np.testing.assert_array_equal(stream.predict(frame), whole)  # what was refused has not been read
    stream.reset()
    for x in (frame.iloc[0][["b", "a"]], frame.iloc[:1][["b", "a"]]):
        with pytest.raises(ValueError, match="same order"):
            stream.step(x)
    with pytest.raises(ValueError, match="x must be one step, got 2 rows"):
        stream.step(frame.iloc[:2])
    np.testing.assert_array_equal([stream.step(x) for _, x in frame.iloc[:3].iterrows()], whole[:3])
    np.testing.assert_array_equal([stream.step(frame.iloc[3:4]), stream.step(ARRAYS[0][4])], whole[3:])


@pytest.mark.parametrize(
    "x, message",
    [
        ([1, 2, 3], "x has 3 columns, expected 2"),
        ([1, np.nan], "x contains NaN or infinity: nan at step 0, column 1"),
        (np.ma.array([1, 2], mask=[0, 1]), "x has masked values"),
    ],
)
def test_a_step_is_refused_by_its_name(model, x, message):
    with pytest.raises(ValueError, match=message):
        model.stream().step(x)


def test_a_stream_of_a_forecaster_knows_the_names():
    stream = EvokeForecaster(**TINY).fit(LONG["a"], LONG).stream()
    with pytest.raises(ValueError, match="same order"):
        stream.step(0.0, LONG.iloc[0][["b", "a"]])
    answer = stream.step(0.0, LONG.iloc[0])
    stream.reset()
    np.testing.assert_array_equal(stream.step(0.0, LONG.iloc[0].to_numpy()), answer)


# ---- values that are no numbers


@pytest.mark.parametrize(
    "value, error, message",
    [
        (pd.NA, ValueError, "contains missing values: <NA> at step 2, column 1 ('b')"),
        (np.nan, ValueError, "contains NaN or infinity: nan at step 2, column 1 ('b')"),
        ("high", ValueError, "must hold numbers, got dtype object: 'high' at step 2, column 1 ('b')"),
        (pd.NaT, ValueError, "contains missing values: NaT at step 2, column 1 ('b')"),
        (pd.Timestamp("2020-01-01"), TypeError, "Timestamp('2020-01-01 00:00:00') at step 2, column 1 ('b')"),
    ],
)
def test_values_that_are_no_numbers_are_named(model, value, error, message):
    bad = FRAMES[0].astype(object)
    bad.iloc[2, 1] = value
    for X, name in (([FRAMES[0], bad], "X[1] "), (bad, "X ")):
        with pytest.raises(error, match=re.escape(message)) as caught:
            model.predict(X)
        assert str(caught.value).startswith(name)


def test_warnings_of_what_is_held_out_name_the_estimator():
    for kind in ESTIMATORS:
        fitted = kind(**TINY).fit(swapped(FRAMES), STEPS)  # whose own names do not matter
        with pytest.warns(UserWarning, match=f"but {kind.__name__} was fitted with feature names"):
            fitted.fit(FRAMES, STEPS, X_val=ARRAYS, y_val=STEPS)
        fitted.fit(FRAMES, STEPS, X_val=FRAMES, y_val=STEPS)
