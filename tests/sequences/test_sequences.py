from itertools import pairwise

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st

from evoke._core import lstm
from evoke.sequences import prefixes
from evoke.sequences.containers import as_sequences, as_targets
from evoke.sequences.prefixes import share_prefixes

BIAS = (0.0, 1.5, -1.5)


def ragged(*lengths, n_columns=2, seed=0):
    rng = np.random.default_rng(seed)
    return [rng.normal(size=(length, n_columns)) for length in lengths]


def objects(parts):
    array = np.empty(len(parts), dtype=object)
    array[:] = parts
    return array


# ---- containers


EQUAL = ragged(4, 4, 4)
CONTAINERS = {
    "list": (EQUAL, None, "list"),
    "tuple": (tuple(EQUAL), None, "list"),
    "nested lists": ([x.tolist() for x in EQUAL], None, "list"),
    "object array": (objects([*EQUAL, None])[:3], None, "list"),
    "3-D": (np.array(EQUAL), None, "3d"),
    "3-D of objects": (np.array(EQUAL).astype(object), None, "3d"),
    "lengths": (np.concatenate(EQUAL), [4, 4, 4], "lengths"),
    "lengths as an array": (np.concatenate(EQUAL), np.array([4, 4, 4], dtype=np.uint8), "lengths"),
}


@pytest.mark.parametrize("name", CONTAINERS)
def test_every_container_has_the_same_flat_form(name):
    X, lengths, container = CONTAINERS[name]
    flat = as_sequences(X, lengths)
    np.testing.assert_array_equal(flat.rows, np.concatenate(EQUAL))
    np.testing.assert_array_equal(flat.offsets, [0, 4, 8, 12])
    assert flat.container == container
    assert flat.n_sequences == 3
    assert (flat.rows.dtype, flat.offsets.dtype) == (np.float64, np.int64)
    assert flat.rows.flags.c_contiguous


def test_results_mirror_the_container():
    values = np.arange(24).reshape(12, 2)
    for X, lengths, container in CONTAINERS.values():
        for flat in (values, values[:, 0]):
            mirrored = as_sequences(X, lengths).mirror(flat)
            if container == "list":
                assert isinstance(mirrored, list) and len(mirrored) == 3
                assert all(np.array_equal(part, flat[4 * i : 4 * i + 4]) for i, part in enumerate(mirrored))
            else:
                shape = (3, 4, *flat.shape[1:]) if container == "3d" else flat.shape
                np.testing.assert_array_equal(mirrored, flat.reshape(shape))


def test_ragged_lists_keep_their_lengths():
    X = ragged(3, 7, 1)
    flat = as_sequences(X)
    assert flat.lengths.tolist() == [3, 7, 1]
    assert [part.shape for part in flat.mirror(flat.rows)] == [(3, 2), (7, 2), (1, 2)]


def test_a_2d_array_is_one_sequence():
    x = ragged(5)[0]
    flat = as_sequences(x)
    assert flat.n_sequences == 1
    np.testing.assert_array_equal(flat.mirror(flat.rows), x)


def test_a_2d_array_of_objects_is_one_sequence():
    x = np.array([[1, 2.5], [True, -3]], dtype=object)
    flat = as_sequences(x)
    assert flat.container == "2d"
    np.testing.assert_array_equal(flat.rows, [[1, 2.5], [1, -3]])


WHOLE = np.random.default_rng(1).integers(0, 2, size=(6, 3)).astype(float)
LAYOUTS = {
    "float32": WHOLE.astype(np.float32),
    "float16": WHOLE.astype(np.float16),
    "longdouble": WHOLE.astype(np.longdouble),
    "int64": WHOLE.astype(np.int64),
    "uint8": WHOLE.astype(np.uint8),
    "bool": WHOLE.astype(bool),
    "object": WHOLE.astype(object),
    "big endian": WHOLE.astype(">f8"),
    "Fortran": np.asfortranarray(WHOLE),
    "negative strides": WHOLE[::-1, ::-1].copy()[::-1, ::-1],
    "every other": np.repeat(np.repeat(WHOLE, 2, axis=0), 2, axis=1)[::2, ::2],
    "nested lists": None,
}


@pytest.mark.parametrize("name", LAYOUTS)
def test_dtype_and_layout_do_not_matter(name):
    array = LAYOUTS[name]
    if array is None:
        flat = as_sequences([WHOLE.tolist()])
    else:
        array.flags.writeable = False
        before = array.copy()
        for X in (array, [array], array[None]):
            flat = as_sequences(X)
            np.testing.assert_array_equal(flat.rows, WHOLE)
            flat.rows[:] = 7.0  # a copy: the caller's array is out of reach
        np.testing.assert_array_equal(array, before)
        flat = as_sequences(array)
    np.testing.assert_array_equal(flat.rows, WHOLE)
    assert flat.rows.flags.c_contiguous and flat.rows.dtype == np.float64


def test_frames():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(WHOLE, columns=list("abc"), index=[1, 3, 4, 6, 7, 9])
    np.testing.assert_array_equal(as_sequences(frame).rows, WHOLE)
    assert as_sequences([frame, frame]).lengths.tolist() == [6, 6]
    flat = as_sequences(frame)
    targets = as_targets(frame["a"], flat)
    np.testing.assert_array_equal(targets.values, WHOLE[:, 0])
    ones = as_targets(pandas.Series(["u", "v"], index=[7, 3]), as_sequences([frame, frame]))
    assert ones.per_sequence and ones.values.tolist() == ["u", "v"]
    with pytest.raises(ValueError, match=r"y\[0\] has shape \(3,\), but X\[0\] has 6 steps"):
        as_targets(frame, as_sequences([frame] * 6))


def test_a_series_of_arrays_is_a_list():
    pandas = pytest.importorskip("pandas")
    X = ragged(3, 2)
    flat = as_sequences(pandas.Series(X, index=[4, 2]))
    assert (flat.container, flat.lengths.tolist()) == ("list", [3, 2])


# ---- refusals


def changed(parts, i, place, value):
    parts = [part.copy() for part in parts]
    parts[i][place] = value
    return parts


@pytest.mark.parametrize(
    "X, lengths, message",
    [
        (changed(ragged(3, 4), 1, (2, 0), np.nan), None, r"X\[1\] contains NaN or infinity: nan at step 2, column 0"),
        (changed(ragged(3, 4), 0, (1, 1), -np.inf), None, r"X\[0\] contains NaN or infinity: -inf at step 1, column 1"),
        (np.array(changed(ragged(3, 3), 1, (0, 1), np.inf)), None, r"X\[1\] contains .* inf at step 0, column 1"),
        (changed(ragged(5), 0, (4, 1), np.nan)[0], None, r"X contains .* nan at step 4, column 1"),
        ([[["1", "2"], ["x", "3"]]], None, r"X\[0\] must hold numbers, got dtype <U1: '1' at step 0, column 0"),
        (WHOLE.astype(str), None, r"X must hold numbers, got dtype <U32: '\d.0' at step 0, column 0"),
        ([WHOLE, WHOLE.astype("S3")], None, r"X\[1\] must hold numbers, got dtype \|S3: b'\d.0' at step 0, column 0"),
        (WHOLE.astype(np.dtypes.StringDType()), None, "X must hold numbers, got dtype StringDType"),
        ([[[1.0, 2.0]], np.array([[1.0, b"2"]], dtype=object)], None, r"X\[1\] .* object: b'2' at step 0, column 1"),
        (np.array([[1.0, 2], [3, "4"]], dtype=object), None, "got dtype object: '4' at step 1, column 1"),
        (np.array([[1.0, {}]], dtype=object), None, r"must be .*, not 'dict': {} at step 0, column 1"),
        (np.array([["1", "x"]]), None, r"X must hold numbers"),
        (np.array([[[1.0]], [["x"]]], dtype=object), None, r"X must hold .*'x' at sequence 1, step 0, column 0"),
        (np.array([[1.0, None]], dtype=object), None, r"X contains NaN or infinity"),
        ([[[10**400]]], None, r"X\[0\] must hold numbers|X\[0\] contains"),
        (np.ones((2, 2), dtype="M8[s]"), None, r"X must hold numbers, got dtype datetime64"),
        (np.ones((2, 2), dtype="m8[s]"), None, r"X must hold numbers, got dtype timedelta64"),
        (np.zeros((2, 2), dtype=[("a", float)]), None, r"X must hold numbers"),
        (np.ones((2, 2)) * 1j, None, r"X is complex"),
        ([np.ones((2, 2)), np.ones((2, 2)) * 1j], None, r"X\[1\] is complex"),
        ([], None, r"X is empty: at least one sequence"),
        ((), None, r"X is empty"),
        (objects([]), None, r"X is empty"),
        (np.ones((0, 3, 2)), None, r"X has shape \(0, 3, 2\)"),
        (np.ones((3, 0, 2)), None, r"X has shape \(3, 0, 2\)"),
        (np.ones((0, 2)), None, r"X has 0 sample"),
        (np.ones((3, 0)), None, r"X has 0 feature"),
        (np.ones((3, 2, 0)), None, r"X has 0 feature"),
        ([np.ones((3, 0))], None, r"X has 0 feature"),
        ([np.ones((3, 2)), np.ones((0, 2))], None, r"X\[1\] is empty"),
        ([np.ones((3, 2)), np.ones(2)], None, r"X\[1\] must be 2-D .*\(2,\).*reshape\(-1, 1\)"),
        ([np.ones((3, 2)), 5.0], None, r"X\[1\] must be 2-D .* got shape \(\)"),
        ([np.ones((3, 2)), None], None, r"X\[1\] must be 2-D"),
        ([np.ones((3, 2)), [[1, 2], [3]]], None, r"X\[1\] is not an array of numbers"),
        ([np.ones((3, 2)), np.ones((3, 3))], None, r"X\[1\] has 3 columns, X\[0\] has 2"),
        (np.ones(4), None, r"X must be .* got shape \(4,\).*reshape\(-1, 1\)"),
        (np.ones((1, 2, 3, 4)), None, r"X must be .* got shape \(1, 2, 3, 4\)"),
        (3.0, None, r"X must be"),
        (None, None, r"X must be"),
        ("text", None, r"X must be"),
        ({"a": 1}, None, r"X must be"),
        (iter([]), None, r"X is empty: at least one sequence is needed, and an iterator gives its own only once"),
        ((x[:, 0] for x in ragged(2, 2)), None, r"X\[0\] must be 2-D"),
        (iter(ragged(2, 2)), [2, 2], r"lengths goes with a 2-D X, not with an iterator"),
        (np.ones((4, 2)), [2, 0, 2], r"lengths\[1\] is 0"),
        (np.ones((4, 2)), [5, -1], r"lengths\[1\] is -1"),
        (np.ones((4, 2)), [2.0, 2.0], r"lengths must be a 1-D sequence of integers"),
        (np.ones((4, 2)), [True] * 4, r"lengths must be a 1-D sequence of integers"),
        (np.ones((4, 2)), [[2, 2]], r"lengths must be a 1-D sequence of integers"),
        (np.ones((4, 2)), 4, r"lengths must be a 1-D sequence of integers"),
        (np.ones((4, 2)), "4", r"lengths must be a 1-D sequence of integers"),
        (np.ones((4, 2)), [], r"lengths must be a 1-D sequence of integers|lengths sum to 0"),
        (np.ones((4, 2)), [2, 3], r"lengths sum to 5, but X has 4 rows"),
        (np.ones((4, 2)), np.array([2**63, 2**63 + 4], dtype=np.uint64), r"lengths"),
        (ragged(2, 2), [2, 2], r"lengths goes with a 2-D X"),
        (np.ones((2, 2, 2)), [2, 2], r"lengths goes with a 2-D X"),
    ],
)
def test_refused_sequences(X, lengths, message):
    with pytest.raises(ValueError, match=message):
        as_sequences(X, lengths)


def test_objects_that_are_no_numbers():
    for X, name in ((np.array([[1.0, {}]], dtype=object), "X"), ([[[1.0, []]]], r"X\[0\]")):
        with pytest.raises((TypeError, ValueError), match=f"^{name} "):
            as_sequences(X)


@pytest.mark.parametrize("kind", ["csr_matrix", "coo_array"])
def test_sparse_is_refused(kind):
    sparse = pytest.importorskip("scipy.sparse")
    matrix = getattr(sparse, kind)(np.eye(3))
    with pytest.raises(TypeError, match="X is sparse"):
        as_sequences(matrix)
    with pytest.raises((TypeError, ValueError), match=r"X\[1\]"):
        as_sequences([np.eye(3), matrix])
    for X in (np.eye(3), [np.eye(3)] * 3):
        with pytest.raises((TypeError, ValueError), match=r"^y"):
            as_targets(matrix, as_sequences(X))


def test_errors_use_the_name_given_and_the_number_of_columns():
    with pytest.raises(ValueError, match=r"X_val\[1\] has 3 columns"):
        as_sequences([np.ones((3, 2)), np.ones((3, 3))], name="X_val")
    with pytest.raises(ValueError, match="X_val has 2 columns, expected 3"):
        as_sequences(ragged(3), name="X_val", n_columns=3)


# ---- targets


def test_targets_of_every_step():
    X = ragged(3, 2)
    flat = as_sequences(X)
    for y in ([[1, 2, 3], [4, 5]], [np.array([1, 2, 3]), (4, 5)], objects([[1, 2, 3], [4, 5]])):
        targets = as_targets(y, flat)
        assert not targets.per_sequence
        np.testing.assert_array_equal(targets.values, [1, 2, 3, 4, 5])
    columns = as_targets([np.eye(3), np.ones((2, 3))], flat)
    np.testing.assert_array_equal(columns.values, np.vstack([np.eye(3), np.ones((2, 3))]))
    assert as_targets([np.ones((3, 1)), np.ones((2, 1))], flat).values.shape == (5,)


def test_targets_of_a_3d_array():
    flat = as_sequences(np.ones((2, 3, 1)))
    y = np.arange(6)
    for shape in ((2, 3), (2, 3, 1)):
        targets = as_targets(y.reshape(shape), flat)
        assert not targets.per_sequence
        np.testing.assert_array_equal(targets.values, y)
    np.testing.assert_array_equal(as_targets([[0, 1, 2], [3, 4, 5]], flat).values, y)
    assert as_targets(np.zeros((2, 3, 4)), flat).values.shape == (6, 4)


def test_targets_of_a_2d_array_are_never_one_a_sequence():
    x = np.ones((4, 2))
    for flat in (as_sequences(x), as_sequences(x, [1, 3])):
        targets = as_targets(["a", "b", "c", "d"], flat)
        assert not targets.per_sequence
        assert targets.values.tolist() == ["a", "b", "c", "d"]
        assert as_targets(np.zeros((4, 3)), flat).values.shape == (4, 3)
    with pytest.raises(ValueError, match=r"y has shape \(2,\), but X has 4 steps"):
        as_targets([0, 1], as_sequences(x, [1, 3]))


@pytest.mark.parametrize("X", [ragged(3, 2), np.ones((2, 3, 1))], ids=["list", "3-D"])
@pytest.mark.parametrize("y", [[7, 8], (7, 8), np.array([7, 8]), objects([7, 8]), [np.int64(7), np.array(8)]])
def test_one_target_a_sequence(X, y):
    targets = as_targets(y, as_sequences(X))
    assert targets.per_sequence
    np.testing.assert_array_equal(targets.values, [7, 8])


@pytest.mark.parametrize("values", [["a", "bcd"], [True, False], [0.5, 1.5], [-(2**62), 2**62 + 1], [2**24, 2**24 + 1]])
def test_targets_keep_their_type(values):
    expected = np.array(values)
    for targets in (
        as_targets(values, as_sequences(ragged(3, 2))),
        as_targets([values[:1], values[1:]], as_sequences(ragged(1, 1))),
        as_targets(values, as_sequences(np.ones((2, 1)))),
    ):
        assert targets.values.dtype == expected.dtype
        np.testing.assert_array_equal(targets.values, expected)


@pytest.mark.parametrize(
    "values",
    [
        [2**63, 2**63 + 1, -1],
        [np.uint64(2**63), np.uint64(2**63 + 1), np.int64(-1)],
        [np.array([2**63, 2**63 + 1], dtype=np.uint64), np.array([-1], dtype=np.int64)],
    ],
)
def test_integers_that_no_type_holds_stay_apart(values):
    targets = as_targets(values, as_sequences(ragged(*([2, 1] if len(values) == 2 else [1, 1, 1]))))
    assert targets.values.tolist() == [2**63, 2**63 + 1, -1]


@pytest.mark.parametrize(
    "X, y, message",
    [
        (ragged(3, 2), None, "requires y to be passed"),
        (ragged(3, 2), [1], "y has 1 targets, X has 2 sequences"),
        (ragged(3, 2), [], "y has 0 targets, X has 2 sequences"),
        (ragged(3, 2), [[1, 2, 3]], "y has 1 sequences, X has 2"),
        (ragged(3, 2), [[1, 2, 3], [1, 2, 3]], r"y\[1\] has shape \(3,\), but X\[1\] has 2 steps"),
        (ragged(3, 2), [[1, 2, 3], 1], r"y\[1\] has shape \(\), but X\[1\] has 2 steps"),
        (ragged(3, 2), [np.ones((3, 2)), np.ones(2)], r"y\[1\] has shape \(2,\), y\[0\] has shape \(3, 2\)"),
        (ragged(3, 2), [np.ones((3, 2, 1)), np.ones((2, 2, 1))], r"y\[0\] has shape \(3, 2, 1\)"),
        (ragged(3, 2), [[1, 2, 3], [1, [2]]], r"y\[1\] is not an array"),
        (ragged(3, 2), 1, "y must hold"),
        (ragged(3, 2), np.array(1), "y must hold"),
        (ragged(3, 2), "ab", "y must hold"),
        (ragged(3, 2), {0: 1, 1: 2}, "y must hold"),
        (ragged(3, 2), {0, 1}, "y must hold"),
        (ragged(3, 2), ["a", 1], r"y mixes text with other labels: \['int', 'str'\]"),
        (ragged(3, 2), [["a", "b", 1], ["a", "b"]], r"y\[0\] mixes text"),
        (ragged(3, 2), [["a", "b", "a"], [1, 2]], r"y\[1\] has dtype int64, y\[0\] has dtype <U1"),
        (ragged(3, 2), [np.ones((3, 0)), np.ones((2, 0))], "y has no columns"),
        (np.ones((2, 3, 1)), [1, 2, 3], "y has 3 targets, X has 2 sequences"),
        (np.ones((2, 3, 1)), np.ones((2, 4)), r"y has shape \(2, 4\), but X has 2 sequences of 3 steps"),
        (np.ones((2, 3, 1)), np.ones((3, 3)), r"y has shape \(3, 3\), but X has 2 sequences of 3 steps"),
        (np.ones((2, 3, 1)), np.ones((2, 3, 1, 1)), r"y has shape"),
        (np.ones((2, 3, 1)), 1, "y has shape|y must hold"),
        (np.ones((2, 3, 1)), np.ones((2, 3, 0)), "y has no columns"),
        (np.ones((3, 1)), [1, 2], r"y has shape \(2,\), but X has 3 steps"),
        (np.ones((3, 1)), 1, r"y has shape \(\)"),
        (np.ones((3, 1)), np.ones((3, 1, 1)), r"y has shape \(3, 1, 1\)"),
        (np.ones((3, 1)), np.ones((3, 0)), "y has no columns"),
        (np.ones((3, 1)), [[1], [2, 3], [4]], "y is not an array"),
    ],
)
def test_refused_targets(X, y, message):
    with pytest.raises(ValueError, match=message):
        as_targets(y, as_sequences(X))


# ---- shared beginnings


def check_segments(X):
    """All that is promised of share_prefixes, for sequences X in flat form; the segments."""
    segments = share_prefixes(X)
    begin, end, parent, slot = segments.table
    # what was shared are the same inputs
    np.testing.assert_array_equal(segments.rows[segments.row_of], X.rows)
    # the runs tile the unique rows; parents come first and keep their last state, alone in their slot
    np.testing.assert_array_equal(np.concatenate([[0], end]), np.concatenate([begin, [len(segments.rows)]]))
    assert (begin < end).all()
    assert (parent < np.arange(len(parent))).all() and (parent >= -1).all()
    kept = np.unique(parent[parent >= 0])
    np.testing.assert_array_equal(np.flatnonzero(slot >= 0), kept)
    assert sorted(slot[kept]) == list(range(len(kept)))
    # each sequence is its rows in order: within a run one after the other, else from a parent's end to a child's begin
    run_of = np.repeat(np.arange(len(begin)), end - begin)
    for first, last in zip(X.offsets[:-1], X.offsets[1:], strict=True):
        rows = segments.row_of[first:last]
        assert rows[0] == begin[run_of[rows[0]]] and parent[run_of[rows[0]]] == -1
        for before, row in pairwise(rows):
            if row != before + 1 or row == begin[run_of[row]]:
                assert row == begin[run_of[row]]
                assert before == end[parent[run_of[row]]] - 1
    # and so the network sees what it would see without sharing, bit for bit
    genome = np.random.default_rng(0).normal(size=(3, 4 * (X.rows.shape[1] + 3)))
    plain = lstm.sequences(lstm.Network(genome, "lstm", BIAS), X.rows, X.offsets)[0]
    shared = lstm.population(lstm.Network(genome[None], "lstm", BIAS), segments.rows, segments.table)[0]
    np.testing.assert_array_equal(shared[segments.row_of], plain)
    return segments


@st.composite
def sequences_that_share(draw):
    """Sequences over two symbols, many of them beginning alike."""
    words = draw(st.lists(st.lists(st.integers(0, 1), min_size=1, max_size=7), min_size=1, max_size=9))
    return [np.array(word, dtype=float)[:, None] for word in words]


@given(sequences_that_share())
def test_shared_beginnings(X):
    segments = check_segments(as_sequences(X))
    prefixes = {tuple(x[:t, 0]) for x in X for t in range(1, len(x) + 1)}
    assert len(segments.rows) == len(prefixes)


@given(sequences_that_share())
def test_without_sharing_beyond_the_limit(X):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(prefixes, "MAX_ROWS_TO_SHARE", 0)
        segments = check_segments(as_sequences(X))
    np.testing.assert_array_equal(segments.row_of, np.arange(sum(map(len, X))))
    assert (segments.table[2] == -1).all()


def test_the_limit_is_in_rows(monkeypatch):
    X = as_sequences([np.zeros((3, 1))] * 2)
    monkeypatch.setattr(prefixes, "MAX_ROWS_TO_SHARE", 6)
    assert len(share_prefixes(X).rows) == 3
    monkeypatch.setattr(prefixes, "MAX_ROWS_TO_SHARE", 5)
    assert len(share_prefixes(X).rows) == 6


def test_identical_sequences_run_once():
    x = ragged(5)[0]
    segments = check_segments(as_sequences([x, x, x]))
    np.testing.assert_array_equal(segments.table, [[0], [5], [-1], [-1]])
    np.testing.assert_array_equal(segments.row_of, np.tile(np.arange(5), 3))


@pytest.mark.parametrize("order", [[0, 1], [1, 0]])
def test_a_sequence_that_begins_another_costs_nothing(order):
    x = ragged(6)[0]
    segments = check_segments(as_sequences([[x, x[:4]][i] for i in order]))
    np.testing.assert_array_equal(segments.table, [[0], [6], [-1], [-1]])


def test_a_fork():
    stem, a, b = ragged(2, 3, 1)
    segments = check_segments(as_sequences([np.vstack([stem, a]), np.vstack([stem, b]), stem]))
    np.testing.assert_array_equal(segments.table[2], [-1, 0, 0])
    assert len(segments.rows) == 6


def test_alike_only_from_the_start():
    """Rows that are equal later on have another past and are not shared."""
    segments = check_segments(as_sequences(np.array([[[0.0], [1.0], [1.0]], [[2.0], [1.0], [1.0]]])))
    assert len(segments.rows) == 6


def test_zeros_of_both_signs_give_the_same_bits():
    check_segments(as_sequences(np.array([[[0.0], [1.0]], [[-0.0], [1.0]]])))


def test_the_strings_of_the_paper():
    from evoke import tasks

    X, _ = tasks.anbncn(10)
    segments = check_segments(as_sequences(X))
    # S a^10 and, for each n, the b^n c^n that follow
    assert len(segments.rows) == 11 + sum(2 * n for n in range(1, 11))


def test_errors_about_targets_name_the_sequences_they_belong_to():
    X = as_sequences(ragged(3, 2), name="X_val")
    with pytest.raises(ValueError, match="y_val has 1 targets, X_val has 2 sequences"):
        as_targets([1], X, name="y_val", of="X_val")


def test_sparse_targets_of_a_sequence_are_named():
    with pytest.raises(TypeError, match=r"y\[1\] is sparse"):
        as_targets([np.eye(3), scipy.sparse.csr_matrix(np.eye(3))], as_sequences(ragged(3, 3)))
