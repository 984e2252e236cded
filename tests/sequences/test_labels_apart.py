"""Labels and names of sequences that differ stay apart, or are refused: NumPy and pandas make some of them one."""

import numpy as np
import pytest

pytest.importorskip("pandas")

import pandas as pd

from evoke import EvokeClassifier
from evoke.sequences import from_blocks, from_frame
from evoke.svm import SVC
from helpers.commands import SMALL

BIG = [2**63, 2**63 + 1, -1]
X = [np.full((2, 1), float(k)) + [[0.0], [0.5]] for k in range(6)]


def fitted(y):
    return EvokeClassifier(**SMALL, random_state=0).fit(X, y)


@pytest.mark.parametrize("y", [BIG * 2, [[label] * 2 for label in BIG * 2], np.array(BIG * 2, dtype=object),
                               [np.array([2**63, 2**63 + 1], dtype=np.uint64), np.array([-1, -1])] * 3])  # fmt: skip
def test_large_integers_stay_apart(y):
    assert fitted(y).classes_.tolist() == sorted(BIG)


@pytest.mark.parametrize("y", [np.array(BIG, dtype=np.float64), [float(2**53), 1.0, 2.0],
                               np.array([2**24, 0, 1], dtype=np.float32), pd.Series(BIG, dtype=float)])  # fmt: skip
def test_floats_that_may_stand_for_several_integers_are_refused(y):
    with pytest.raises(ValueError, match="cannot tell whole numbers of this size apart: y"):
        fitted(np.tile(np.asarray(y), 2))
    with pytest.raises(ValueError, match="cannot tell whole numbers of this size apart: y"):
        SVC().fit(np.arange(6.0).reshape(-1, 1), np.tile(np.asarray(y), 2))


def test_labels_to_score_that_were_rounded_are_refused():
    model = fitted([2**53, 2**53 + 1, 0] * 2)
    with pytest.raises(ValueError, match="cannot tell whole numbers of this size apart: y"):
        model.score(X, np.array([2**53, 2**53 + 1, 0] * 2, dtype=np.float64))


@pytest.mark.parametrize("y", [[True, 2, False] * 2, [1, True, 0] * 2, np.array([1.5, True, 0] * 2, dtype=object)])
def test_truth_values_among_numbers_are_refused(y):
    with pytest.raises(ValueError, match="y mixes True or False with numbers"):
        fitted(y)
    with pytest.raises(ValueError, match="y mixes True or False with numbers"):
        SVC().fit(np.arange(6.0).reshape(-1, 1), y)


def test_truth_values_in_some_sequences_are_refused():
    with pytest.raises(ValueError, match=r"y\[1\] has dtype int64, y\[0\] has dtype bool"):
        fitted([[True, False], [2, 3]] * 3)


def test_held_out_labels_of_another_type():
    y = [2**62, 2**62 + 1, 2**62 + 2] * 2
    model = EvokeClassifier(**SMALL, random_state=0)
    model.fit(X, np.array(y)[:, None].repeat(2, 1).tolist(),
              X_val=X, y_val=[np.full(2, label, dtype=np.uint64) for label in y])  # fmt: skip
    assert model.classes_.tolist() == y[:3]


# ---- names of sequences


def frame(names, **more):
    return pd.DataFrame({"who": pd.Series(names, **more), "x": np.arange(len(names), dtype=float)})


NAMES = [
    (frame([[1], [2]]), "has sequences 'who' with \\[1\\], which is no name of a sequence"),
    (frame([{"a": 1}, {"a": 2}]), "has sequences 'who' with {'a': 1}, which is no name"),
    (frame([1, True, 2], dtype=object), "has sequences 'who' that mix True or False with numbers"),
    (frame([2.0**53, 2.0**53 + 2]), "has sequences 'who' of dtype float64, which cannot tell"),
    (frame([2.0**24, 1.0], dtype=np.float32), "has sequences 'who' of dtype float32, which cannot tell"),
]


@pytest.mark.parametrize("df, message", NAMES)
def test_names_that_do_not_tell_sequences_apart_are_refused(df, message):
    with pytest.raises(ValueError, match=f"^df {message}"):
        from_frame(df, "who")
    with pytest.raises(ValueError, match=rf"^blocks\[0\] {message}"):
        from_blocks([df], "who")


def test_names_are_compared_exactly():
    assert len(from_frame(frame([2**53, 2**53 + 1, "1", 1, 1.5], dtype=object), "who")) == 5
    # the second block begins with another sequence, of which a float would make the same
    _, lengths = from_blocks([frame([5, 2**62 + 1]), frame(np.array([2**62], dtype=np.uint64))], "who")
    assert lengths.tolist() == [1, 1, 1]


def test_labels_of_blocks_stay_apart():
    def block(labels):
        return pd.DataFrame({"x": np.arange(len(labels), dtype=float), "label": labels})

    _, y, _ = from_blocks([block(np.array([2**63, 2**63 + 1], dtype=np.uint64)), block([-1])], target="label")
    assert y.tolist() == BIG
    with pytest.raises(ValueError, match=r"blocks\[1\] has target 'label' of dtype int64, and of dtype bool"):
        from_blocks([block([True, False]), block([1, 2])], target="label")
