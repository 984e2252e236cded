"""The index of pandas objects: steps in order, in pairs, and after the end."""

import re
from datetime import timedelta, timezone

import numpy as np
import pandas as pd
import pytest

from evoke.sequences.containers import as_sequences, as_targets
from evoke.sequences.continuation import SeriesIndex
from evoke.sequences.index import first_fall, first_gap

DAYS = pd.date_range("2024-01-01", periods=6, freq="D")
CALENDARS = [
    "D", "2D", "B", "W-WED", "ME", "MS", "BME", "BMS", "QS-FEB", "QE", "YS", "YE-JUN", "h", "15min", "s", "WOM-3FRI",
]  # fmt: skip


def frame(index):
    return pd.DataFrame({"a": np.arange(float(len(index)))}, index=index)


def forgetful(index):
    """The same times without their frequency, as they are read from a file."""
    return pd.DatetimeIndex(index, freq=None).set_names(index.name)


def after(index, n=5):
    return SeriesIndex.of(pd.Series(0.0, index)).after(n)


# ---- order


@pytest.mark.parametrize(
    "index, position",
    [
        (DAYS, None),
        (DAYS[::-1], 1),
        (DAYS[[0, 1, 1, 2]], 2),
        (DAYS[[0, 2, 1]], 2),
        (pd.DatetimeIndex(["2024-01-01", None, "2024-01-03"]), 1),
        (pd.DatetimeIndex([None, "2024-01-01"]), 0),
        (pd.period_range("2024-01", periods=3, freq="M")[[0, 2, 1]], 2),
        (pd.to_timedelta([1, 3, 3], unit="h"), 2),
        (pd.RangeIndex(5), None),
        (pd.RangeIndex(5)[::-1], 1),
        (pd.Index([3, 1, 2]), 1),
        (pd.Index([1.0, np.nan, 2.0]), 1),
        (pd.Index([1, 2, None], dtype="Int64"), 2),
        (pd.Index([day.date() for day in DAYS[[0, 2, 1]]]), 2),
        (pd.Index(list("bab")), None),
        (pd.CategoricalIndex(list("bab")), None),
        (pd.Index([True, False, True]), None),
        (pd.Index([]), None),
        (pd.MultiIndex.from_product([["b"], DAYS]), None),
        (pd.MultiIndex.from_product([["b"], DAYS])[[0, 2, 1]], 2),
        (pd.MultiIndex.from_product([[2023, 2024], [1, 2, 3]]), None),
        (pd.MultiIndex.from_product([[2024, 2023], [1, 2, 3]]), 3),
        (pd.MultiIndex.from_product([["b", "a"], [1, 2, 3]]), None),
    ],
)
def test_what_rises(index, position):
    assert first_fall(index) == position


@pytest.mark.parametrize(
    "X, lengths, message",
    [
        (frame(DAYS[::-1]), None, r"X must have an index that rises, but it falls at position 1: 2024-01-05 .* after "
         r"2024-01-06 .*; it stands newest first, sort it"),
        ([frame(DAYS), frame(DAYS[[0, 2, 1]])], None, r"X\[1\] must .* falls at position 2: 2024-01-02 .*; sort it"),
        ([frame(DAYS[[0, 1, 1]])], None, r"X\[0\] must .* but it repeats at position 2: 2024-01-02 .* keep one step"),
        (frame(pd.DatetimeIndex(["2024-01-01", None])), None, "X must .* missing labels, got NaT at position 1"),
        (frame(pd.Index([1, 2, 1, 2, 2])), [2, 3], "X must .* repeats at position 4: 2 after 2"),
        (pd.Series([frame(DAYS), frame(DAYS[::-1])]), None, r"X\[1\] must .* newest first"),
    ],
)  # fmt: skip
def test_an_index_that_does_not_rise_is_refused(X, lengths, message):
    with pytest.raises(ValueError, match=message):
        as_sequences(X, lengths)


def test_sequences_laid_end_to_end_begin_anew():
    X = as_sequences(frame(pd.Index([1, 2, 1, 2, 3])), [2, 3])
    assert X.lengths.tolist() == [2, 3]
    with pytest.raises(ValueError, match=r"y must have the index of X: at position 3 it has 3, X has 2"):
        as_targets(pd.Series(range(5), index=[1, 2, 1, 3, 4]), X)


# ---- pairs


@pytest.mark.parametrize(
    "one, other",
    [
        (DAYS, DAYS),
        (DAYS, forgetful(DAYS)),
        (DAYS.as_unit("s"), DAYS.as_unit("ns")),
        (DAYS.tz_localize("UTC"), DAYS.tz_localize("UTC").tz_convert("Asia/Tokyo")),  # the same moments
        (DAYS, pd.RangeIndex(6)),  # a plain count says nothing beside times
        (pd.RangeIndex(6), DAYS),
        (pd.RangeIndex(6), pd.Index([1, 2, 3, 5, 8, 13])),
        (pd.RangeIndex(3, 9), pd.Index([3, 4, 5, 6, 7, 8])),
        (pd.Index([1, 2, None, 4, 5, 6], dtype="Int64"), pd.Index([1, 2, None, 4, 5, 6], dtype="Int64")),
    ],
)
def test_indexes_that_agree(one, other):
    if one.hasnans:
        with pytest.raises(ValueError, match="missing labels"):
            as_sequences(frame(one))
        return
    as_targets(pd.Series(range(6), index=other), as_sequences(frame(one)))


@pytest.mark.parametrize(
    "one, other, message",
    [
        (DAYS, DAYS.shift(1), "y must have the index of X: at position 0 it has 2024-01-02 .*, X has 2024-01-01 "),
        (DAYS, DAYS[[0, 1, 2, 4, 3, 5]], "at position 3 it has 2024-01-05 .*, X has 2024-01-04 "),
        (DAYS, DAYS.tz_localize("UTC"), "at position 0"),
        (pd.RangeIndex(6), pd.RangeIndex(1, 7), "at position 0 it has 1, X has 0"),
        (pd.RangeIndex(2, 8), pd.RangeIndex(6), "at position 0 it has 0, X has 2"),
        (pd.Index(list("abcdef")), pd.Index(list("abcdfe")), "at position 4 it has f, X has e"),
        (pd.Index([1, 2, 3, 4, 5, 6]), pd.Index([1, 2, 3, None, 5, 6], dtype="Int64"), "at position 3 it has <NA>"),
        (DAYS.to_period(), DAYS, "at position 0"),
    ],
)
def test_indexes_that_differ_are_refused(one, other, message):
    with pytest.raises(ValueError, match=message):
        as_targets(pd.Series(range(6), index=other), as_sequences(frame(one)))
    with pytest.raises(ValueError, match=re.escape("y[1] must have the index of X[1]")):
        as_targets([np.zeros(6), pd.Series(range(6), index=other)], as_sequences([frame(one)] * 2))


def test_a_difference_in_length_has_its_own_message():
    with pytest.raises(ValueError, match="y has shape"):
        as_targets(pd.Series(range(5), index=DAYS[1:]), as_sequences(frame(DAYS)))


def test_targets_beside_plain_arrays_must_rise():
    with pytest.raises(ValueError, match="y must have an index that rises"):
        as_targets(pd.Series(range(6), index=DAYS[::-1]), as_sequences(np.zeros((6, 1))))
    labels = pd.Series([1, 2], index=[9, 3])  # of sequences, which have no order
    assert as_targets(labels, as_sequences([np.zeros((6, 1))] * 2)).per_sequence


# ---- gaps


@pytest.mark.parametrize("calendar", CALENDARS)
def test_calendars_have_no_gaps(calendar, recwarn):
    index = forgetful(pd.date_range("2023-01-02", periods=60, freq=calendar))
    as_sequences(frame(index))
    assert first_gap(index) is None and not recwarn


@pytest.mark.parametrize("calendar", [calendar for calendar in CALENDARS if calendar != "WOM-3FRI"])
@pytest.mark.parametrize("lost", [[7], [20, 21, 40], list(range(3, 60, 6))])
def test_lost_times_are_a_gap(calendar, lost):
    index = pd.date_range("2023-01-02", periods=60, freq=calendar).delete(lost)
    assert first_gap(index)[0] == lost[0]
    assert after(index).equals(pd.date_range("2023-01-02", periods=65, freq=calendar)[60:])


@pytest.mark.parametrize("zone", ["UTC", "Europe/Berlin", "America/New_York"])
@pytest.mark.parametrize("calendar", ["D", "h", "B", "MS"])
def test_summer_time_is_no_gap(zone, calendar):
    index = pd.date_range("2023-01-02", periods=9000 if calendar == "h" else 400, freq=calendar, tz=zone)
    assert first_gap(forgetful(index)) is None
    assert first_gap(index.delete(100))[0] == 100
    assert after(forgetful(index[:-5])).equals(index[-5:])


@pytest.mark.parametrize(
    "index, gap",
    [
        (pd.period_range("2023-01", periods=9, freq="M").delete(4), (4, "M")),
        (pd.PeriodIndex(["2023-01", "2023-04", "2023-07"], freq="M"), None),
        (pd.timedelta_range("0h", periods=9, freq="h").delete([2, 4]), (2, "0 days 01:00:00")),
        (pd.to_timedelta([0, 1, 3, 4, 6], unit="h"), None),  # no step that most have
        (pd.Index([1, 2, 4]), None),  # numbers are not times
        (pd.DatetimeIndex(["2023-01-01", "2023-01-02", "2023-05-07"]), None),
        (pd.DatetimeIndex(["2023-01-01", "2023-01-02"]), None),
        (pd.DatetimeIndex(["2023-01-01", "2023-01-02", "2023-01-03", "2023-01-05"]), (3, "D")),
        (forgetful(pd.date_range("2023-01-01", periods=40, freq="SMS")), None),  # pandas does not infer it
        (forgetful(pd.date_range("2023-01-02", periods=40, freq="B"))[np.arange(40) != 11], (11, "B")),
    ],
)
def test_gaps(index, gap):
    assert first_gap(index) == gap


def test_noisy_times_have_no_gap():
    seconds = np.sort(np.random.default_rng(0).integers(0, 10**8, 200))
    assert first_gap(pd.DatetimeIndex(seconds.astype("M8[s]"))) is None


def test_a_gap_is_one_warning():
    X = [frame(DAYS), frame(DAYS.delete(3)), frame(DAYS.delete(4))]
    with pytest.warns(UserWarning, match=r"X\[1\] has a gap before position 3: 2024-01-05 .* 2024-01-03 ") as seen:
        as_sequences(X)
    assert len(seen) == 1


# ---- after the end


@pytest.mark.parametrize("calendar", CALENDARS)
@pytest.mark.parametrize("zone", [None, "Europe/Berlin"])
def test_times_go_on(calendar, zone):
    index = pd.date_range("2023-01-02 06:00", periods=30, freq=calendar, tz=zone, name="when")
    for known in (index[:25], forgetful(index[:25])):
        ahead = after(known)
        assert ahead.equals(index[25:]) and ahead.name == "when" and ahead.tz == index.tz
        assert ahead.freq is not None and ahead.dtype == index.dtype
    assert len(after(index, 0)) == 0


@pytest.mark.parametrize(
    "index",
    [
        pd.period_range("2020-01", periods=12, freq="M", name="p"),
        pd.period_range("2020-01", periods=12, freq="Q-FEB"),
        pd.period_range("2020-01", periods=12, freq="3M"),
        pd.timedelta_range("3h", periods=12, freq="20min"),
        pd.timedelta_range("3h", periods=12, freq="20min").as_unit("s"),
        pd.RangeIndex(12),
        pd.RangeIndex(3, 27, 2, name="n"),
        pd.Index(np.arange(1700, 1712)),
        pd.Index(np.arange(1700.0, 1712.0)),
        pd.Index(np.arange(1.0, 4.0, 0.25)),
    ],
)
def test_other_indexes_go_on(index):
    ahead = after(index[:7])
    assert ahead.equals(index[7:]) and ahead.name == index.name


def test_an_hour_that_is_skipped_or_comes_twice():
    spring = after(pd.date_range("2024-03-20 02:30", periods=10, freq="D", tz="Europe/Berlin"), 3)
    assert [str(time) for time in spring[:2]] == ["2024-03-30 02:30:00+01:00", "2024-03-31 03:00:00+02:00"]
    autumn = after(pd.date_range("2024-10-20 02:30", periods=6, freq="D", tz="Europe/Berlin"), 3)
    assert [str(time)[:16] for time in autumn] == ["2024-10-26 02:30", "2024-10-27 02:30", "2024-10-28 02:30"]


def test_a_zone_without_a_name_is_its_offset():
    for zone in (timezone(timedelta(hours=9), "odd"), "+09:00"):
        index = pd.date_range("2024-01-01", periods=6, freq="h", tz=zone)
        assert (after(index[:4], 2) == index[4:]).all()


@pytest.mark.parametrize(
    "index",
    [
        pd.DatetimeIndex(["2023-01-01"]),
        pd.DatetimeIndex(["2023-01-01", "2023-01-02"]),
        pd.DatetimeIndex(["2023-01-01", "2023-01-02", "2023-05-07"]),
        pd.date_range("2023-12-20", periods=9, freq=pd.offsets.CustomBusinessDay(holidays=["2024-01-03"])),
        pd.Index([1, 2, 4]),
        pd.Index([5]),
        pd.Index(list("abc")),
        pd.MultiIndex.from_product([["a"], DAYS]),
        pd.Index([day.date() for day in DAYS]),
    ],
)
def test_what_cannot_go_on_is_numbered(index):
    end = SeriesIndex.of(pd.Series(0.0, index, name="y"))
    assert end.kind == "unknown"
    with pytest.warns(UserWarning, match="the index of the series cannot go on"):
        found = end.wrap(np.array([1.0, 2.0]))
    pd.testing.assert_series_equal(found, pd.Series([1.0, 2.0], name="y"))


def test_a_short_series_has_the_frequency_of_the_one_before():
    months = SeriesIndex.of(pd.Series(0.0, pd.date_range("2020-01-01", periods=9, freq="MS")))
    workdays = SeriesIndex.of(pd.Series(0.0, pd.date_range("2020-01-01", periods=9, freq="B")))
    for index, like, next_one in [
        (["2021-03-01"], months, "2021-04-01"),
        (["2021-03-01", "2021-04-01"], months, "2021-05-01"),
        (["2024-01-02", "2024-01-03", "2024-01-04", "2024-01-05"], workdays, "2024-01-08"),
        (["2024-01-04", "2024-01-05", "2024-01-06"], workdays, "2024-01-07"),  # with a Saturday
    ]:
        found = SeriesIndex.of(pd.Series(0.0, pd.DatetimeIndex(index)), like)
        assert found.after(1).tolist() == [pd.Timestamp(next_one)]


def test_names_come_along():
    columns = pd.MultiIndex.from_tuples([("a", 1), ("b", 2)], names=["shop", "till"])
    given = pd.DataFrame(np.zeros((6, 2)), index=DAYS.set_names("day"), columns=columns)
    found = SeriesIndex.of(given).wrap(np.ones((2, 2)))
    pd.testing.assert_frame_equal(
        found, pd.DataFrame(1.0, pd.date_range("2024-01-07", periods=2, name="day"), columns), check_freq=False
    )


def test_an_array_has_no_index():
    assert SeriesIndex.of(np.zeros(3)) is None and SeriesIndex.of([1.0]) is None
    assert as_sequences(np.zeros((3, 1))).index == ()


def test_without_pandas_the_continuation_is_an_array(monkeypatch):
    end = SeriesIndex.of(pd.Series(0.0, DAYS))
    monkeypatch.setitem(__import__("sys").modules, "pandas", None)
    with pytest.warns(UserWarning, match="pandas is not installed"):
        assert type(end.wrap(np.ones(2))) is np.ndarray


@pytest.mark.parametrize(
    "change, message",
    [
        ({"kind": "lunar"}, "kind of _index must be one of"),
        ({"frame": 1}, "frame of _index must be of bool"),
        ({"labels": ["a"]}, "labels of _index must be of tuple"),
        ({"labels": ("a", "b")}, "_index must have 1 labels, got 2"),
        ({"last": "now"}, "last of _index must be of int"),
        ({"step": 3}, "step of _index must be of str"),
        ({"tz": None}, "tz of _index must be of str"),
        ({"kind": "integer", "step": 0}, "step of _index must be positive"),
        ({"kind": "float", "last": 1.0, "step": np.nan}, "step of _index must be positive"),
    ],
)
def test_states_that_no_series_has(change, message):
    state = SeriesIndex.of(pd.Series(0.0, DAYS)).state()
    assert SeriesIndex.from_state(state).state() == state
    with pytest.raises(ValueError, match=message):
        SeriesIndex.from_state(state | change)


def test_names_that_a_file_cannot_hold_become_text():
    given = pd.DataFrame(0.0, DAYS, [pd.Timestamp("2020-01-01"), np.int64(3)])
    assert SeriesIndex.of(given).state()["labels"] == ("2020-01-01 00:00:00", 3)
