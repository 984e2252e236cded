import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

from evoke import EvokeClassifier, EvokeRegressor
from evoke.sequences import from_frame, from_padded, from_panel
from evoke.sequences.containers import as_sequences, as_targets
from evoke.sequences.converters import rows_by_sequence

TINY = dict(n_cells=3, n_generations=2, subpopulation_size=4, n_trials=2, random_state=0)
LENGTHS = (3, 5, 1, 4)
RAGGED = [np.random.default_rng(k).normal(size=(length, 2)) for k, length in enumerate(LENGTHS)]


def padded(parts, fill=np.nan):
    """Arrays of different lengths in one, with `fill` behind them."""
    out = np.full((len(parts), max(map(len, parts)), *parts[0].shape[1:]), fill)
    for row, part in zip(out, parts, strict=True):
        row[: len(part)] = part
    return out


def assert_equal_lists(found, expected):
    assert isinstance(found, list) and len(found) == len(expected)
    for part, same in zip(found, expected, strict=True):
        np.testing.assert_array_equal(part, same)
        assert np.shape(part) == np.shape(same)


# ---- padded


def test_padding_is_cut_off():
    assert_equal_lists(from_padded(padded(RAGGED)), RAGGED)
    assert_equal_lists(from_padded(padded(RAGGED).tolist()), RAGGED)
    assert_equal_lists(from_padded(np.array(RAGGED[:1])), RAGGED[:1])
    integers = [np.arange(6).reshape(3, 2), np.arange(6).reshape(3, 2) + 1]
    assert_equal_lists(from_padded(np.array(integers)), integers)


@pytest.mark.parametrize("fill", [0.0, -1.0, np.nan, np.inf])
def test_a_mask_says_what_is_padding(fill):
    mask = np.arange(5) < np.array(LENGTHS)[:, None]
    assert_equal_lists(from_padded(padded(RAGGED, fill), mask), RAGGED)
    assert_equal_lists(from_padded(padded(RAGGED, fill), mask.tolist()), RAGGED)
    labels = np.where(mask, "yes", "")
    assert_equal_lists(from_padded(labels, mask), [np.full(length, "yes") for length in LENGTHS])


def test_padded_targets_are_cut_like_their_sequences():
    steps = [x[:, 0] for x in RAGGED]
    assert_equal_lists(from_padded(padded(steps)), steps)


def test_what_is_cut_is_a_copy():
    X = padded(RAGGED)
    from_padded(X)[0][:] = 7.0
    np.testing.assert_array_equal(X[0, :3], RAGGED[0])


HOLE, PARTLY, NOTHING, LEFT = (padded(RAGGED) for _ in range(4))
HOLE[1, 2] = np.nan
PARTLY[3, 1, 0] = np.nan
NOTHING[2] = np.nan
LEFT[0] = LEFT[0, ::-1]


@pytest.mark.parametrize(
    "X, mask, message",
    [
        (HOLE, None, r"X\[1\] has a hole: padding at step 2"),
        (LEFT, None, r"X\[0\] has a hole: padding at step 0"),
        (PARTLY, None, r"X\[3\] contains NaN at step 1, which is not padding"),
        (NOTHING, None, r"X\[2\] is all padding"),
        (padded(RAGGED), np.ones((4, 5), dtype=bool), r"X\[0\] contains NaN at step 3"),
        (padded(RAGGED, 0.0), np.array([[True, False, True, False, False]] * 4), r"X\[0\] has a hole: .* step 1"),
        (padded(RAGGED), np.ones((4, 4), dtype=bool), r"mask must be bool of shape \(4, 5\), got bool of shape \(4, 4"),
        (padded(RAGGED), np.ones((4, 5)), "mask must be bool of shape .*, got float64"),
        (np.ones(3), None, r"X must be \(n_sequences, n_steps, n_features\).*, got shape \(3,\)"),
        (np.ones((2, 0, 3)), None, r"got shape \(2, 0, 3\)"),
        ([[[1.0], [2.0]], [[1.0]]], None, "X is not an array of numbers"),
    ],
)
def test_refused_padding(X, mask, message):
    with pytest.raises(ValueError, match=message):
        from_padded(X, mask)


# ---- channels first


def test_a_panel_has_its_steps_put_first():
    cube = np.random.default_rng(0).normal(size=(4, 2, 5))
    steps_first = from_panel(cube)
    assert steps_first.shape == (4, 5, 2) and steps_first.flags.c_contiguous
    np.testing.assert_array_equal(steps_first[3, 4], cube[3, :, 4])
    assert_equal_lists(from_panel([x.T for x in RAGGED]), RAGGED)
    objects = np.empty(4, dtype=object)
    objects[:] = [x.T for x in RAGGED]
    assert_equal_lists(from_panel(objects), RAGGED)
    assert_equal_lists(from_panel(list(cube)), list(steps_first))


@pytest.mark.parametrize(
    "X, message",
    [
        (np.ones((2, 3)), r"X must be \(n_sequences, n_channels, n_steps\) or a list, got shape \(2, 3\)"),
        ([np.ones((2, 3)), np.ones(3)], r"X\[1\] must be \(n_channels, n_steps\), got shape \(3,\)"),
        ([np.ones((2, 3)), np.ones((3, 2))], r"X\[1\] has 3 channels, X\[0\] has 2"),
    ],
)
def test_refused_panels(X, message):
    with pytest.raises(ValueError, match=message):
        from_panel(X)


# ---- long frames

LONG = pd.DataFrame(
    {
        "who": ["b", "a", "b", "a", "b"], "x": [1.0, 2.0, 3.0, 4.0, 5.0], "n": [1, 2, 3, 4, 5],
        "label": ["u", "v", "u", "u", "v"], "value": [0.1, 0.2, 0.3, 0.4, 0.5],
    },
    index=[10, 11, 12, 13, 14],
)  # fmt: skip


def test_a_frame_is_cut_in_the_order_of_first_appearance():
    X, y = from_frame(LONG[["who", "x", "n", "label"]], sequence="who", target="label")
    assert [x.index.tolist() for x in X] == [[10, 12, 14], [11, 13]]
    assert all(x.columns.tolist() == ["x", "n"] for x in X)
    assert [labels.tolist() for labels in y] == [["u", "u", "v"], ["v", "u"]]
    assert all(labels.name == "label" for labels in y)
    flat = as_sequences(X)
    np.testing.assert_array_equal(flat.rows, [[1, 1], [3, 3], [5, 5], [2, 2], [4, 4]])
    assert as_targets(y, flat).values.tolist() == ["u", "u", "v", "v", "u"]


def test_targets_of_a_frame_are_none_one_or_several():
    numbers = LONG.drop(columns="label")
    X = from_frame(numbers, sequence="who")
    assert [x.shape for x in X] == [(3, 3), (2, 3)]
    X, y = from_frame(numbers, sequence="who", target=["value", "n"])
    assert [x.columns.tolist() for x in X] == [["x"], ["x"]]
    np.testing.assert_array_equal(y[1], [[0.2, 2.0], [0.4, 4.0]])
    X, y = from_frame(numbers, sequence="who", target=["value"])
    assert y[0].shape == (3, 1)
    X, y = from_frame(numbers.drop(columns="who"), target="value")
    assert [x.shape for x in X] == [(5, 2)] and y[0].tolist() == numbers["value"].tolist()


@pytest.mark.parametrize("who", [[3, 1], pd.Categorical(["z", "a"]), [True, False], pd.to_datetime(["2021", "2020"])])
def test_any_label_tells_sequences_apart(who):
    X = from_frame(LONG[["x"]].assign(who=pd.Series(who).take([0, 1, 0, 1, 0]).array), sequence="who")
    assert [x.index.tolist() for x in X] == [[10, 12, 14], [11, 13]]


def test_rows_of_sequences_are_joined_in_the_order_of_the_table():
    groups = rows_by_sequence(LONG, "who")
    assert groups.names == ["b", "a"]
    assert [rows.tolist() for rows in groups.rows] == [[0, 2, 4], [1, 3]]
    values = LONG[["x", "n"]].to_numpy()
    assert [part.tolist() for part in groups.split(values[:, 0])] == [[1, 3, 5], [2, 4]]
    np.testing.assert_array_equal(groups.join(groups.split(values)), values)
    whole = rows_by_sequence(LONG)
    assert whole.names == [None]
    np.testing.assert_array_equal(whole.join(whole.split(values)), values)


def test_the_frame_stays_as_it_is():
    before = LONG.copy()
    X, _ = from_frame(LONG, sequence="who", target=["label"])
    X[0].iloc[0, 0] = 7.0
    pd.testing.assert_frame_equal(LONG, before)


def gaps(**columns):
    return LONG.assign(**columns).drop(columns="label")


@pytest.mark.parametrize(
    "df, arguments, message",
    [
        (LONG, {"sequence": "id"}, r"df has no columns \['id'\]; it has \['who', 'x'"),
        (LONG, {"sequence": "who", "target": ["label", "colour"]}, r"no columns \['colour'\]"),
        (LONG, {"sequence": "who", "target": "who"}, r"sequence and target name \['who'\] more than once"),
        (LONG, {"target": []}, "target is an empty list"),
        (LONG, {"sequence": "who"}, r"features that are not numeric, \['label'\]"),
        (LONG[["who", "label"]], {"sequence": "who", "target": "label"}, r"no columns besides \['who', 'label'\]"),
        (LONG.iloc[:0], {"sequence": "who", "target": "label"}, "df has no rows"),
        (pd.concat([LONG, LONG[["x"]]], axis=1), {"sequence": "who"}, r"several columns with the same name: \['x'\]"),
        (gaps(x=[1.0, np.nan, 3.0, np.nan, 5.0]), {"sequence": "who"}, r"values in columns \['x'\], rows 11, 13;"),
        (gaps(x=np.nan, n=pd.array([1, None, 3, 4, 5], dtype="Int64")), {"sequence": "who"},
         r"columns \['x', 'n'\], rows 10, 11, 12, 13, 14;"),
        (gaps(who=["a", None, "a", "a", "a"]), {"sequence": "who"}, r"columns \['who'\], rows 11;"),
        (LONG.assign(label=["u", None, "v", "u", "v"]), {"sequence": "who", "target": "label"}, r"columns \['label'\]"),
        (pd.DataFrame({"x": [np.nan] * 7}), {}, r"rows 0, 1, 2, 3, 4, \.\.\.;"),
    ],
)  # fmt: skip
def test_refused_frames(df, arguments, message):
    with pytest.raises(ValueError, match=message):
        from_frame(df, **arguments)


def test_only_frames_are_frames():
    with pytest.raises(TypeError, match=r"df must be a pandas\.DataFrame, got dict"):
        from_frame({"x": [1.0]})


def test_pandas_is_needed_only_for_frames():
    code = "import sys; sys.modules['pandas'] = None; import evoke.sequences, evoke.estimators"
    subprocess.run([sys.executable, "-c", code], check=True)


# ---- and into the estimators


def test_estimators_learn_the_same_from_every_container():
    labels = [np.where(x[:, 0] > 0, "up", "down") for x in RAGGED]
    frame = pd.DataFrame(np.concatenate(RAGGED), columns=["a", "b"])
    frame["who"] = np.repeat(["w", "x", "y", "z"], LENGTHS)
    frame["label"] = np.concatenate(labels)
    expected = EvokeClassifier(**TINY).fit(RAGGED, labels)
    for X in (from_padded(padded(RAGGED)), from_panel([x.T for x in RAGGED])):
        np.testing.assert_array_equal(EvokeClassifier(**TINY).fit(X, labels).genome_, expected.genome_)
    X, y = from_frame(frame, sequence="who", target="label")
    model = EvokeClassifier(**TINY).fit(X, y)
    np.testing.assert_array_equal(model.genome_, expected.genome_)
    assert_equal_lists(model.predict(X), expected.predict(RAGGED))


def test_several_targets_of_a_frame_are_several_outputs():
    frame = pd.DataFrame(np.random.default_rng(0).normal(size=(20, 4)), columns=list("abcd")).assign(who=[0, 1] * 10)
    X, y = from_frame(frame, sequence="who", target=["c", "d"])
    assert [p.shape for p in EvokeRegressor(**TINY).fit(X, y).predict(X)] == [(10, 2), (10, 2)]


def test_one_label_a_sequence():
    df = pd.DataFrame({"who": [2, 1, 2, 1, 3], "x": np.arange(5.0), "end": ["a", "b", "a", "b", "a"]})
    X, y = from_frame(df, sequence="who", label="end")
    assert [part["x"].tolist() for part in X] == [[0.0, 2.0], [1.0, 3.0], [4.0]]
    assert list(X[0].columns) == ["x"]
    assert y.tolist() == ["a", "b", "a"]
    numbers = from_frame(df.assign(end=[1.5, 2.5, 1.5, 2.5, 3.5]), sequence="who", label="end")[1]
    assert numbers.dtype == np.float64 and numbers.tolist() == [1.5, 2.5, 3.5]


@pytest.mark.parametrize("arguments, message", [
    ({"sequence": "who", "label": "side"}, "df has label 'side' 'l' in sequence 2, but 'r' in its row 'e': one for"),
    ({"label": "side"}, "label='side' is one for each sequence: it takes that sequence tells"),
    ({"sequence": "who", "label": "side", "target": "x"}, "label='side' is one for each sequence: it takes that t"),
    ({"sequence": "who", "label": ["side"]}, "label must be the name of one column, got ['side']"),
    ({"sequence": "who", "label": "who"}, "sequence and target name ['who'] more than once"),
    ({"sequence": "who", "label": "what"}, "df has no columns ['what']"),
])  # fmt: skip
def test_bad_labels_of_sequences_are_named(arguments, message):
    df = pd.DataFrame({"who": [2, 1, 2], "x": np.arange(3.0), "side": ["l", "r", "r"]}, index=["c", "d", "e"])
    with pytest.raises(ValueError) as refused:
        from_frame(df, **arguments)
    assert str(refused.value).startswith(message)
