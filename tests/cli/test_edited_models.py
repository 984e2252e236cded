"""Model files whose metadata are the user's own, or were edited: what they say is checked before it is used."""

import json

import pytest

pytest.importorskip("click")
pytest.importorskip("rich")
pytest.importorskip("pandas")

from evoke import ModelFileError, load
from evoke.persistence.archive import read_archive, write_archive
from helpers.commands import assert_one_line

COLUMNS = {"targets": ["side"], "features": ["step"], "sequence": "walk", "per_sequence": False, "booleans": [],
           "time": None}  # fmt: skip


@pytest.mark.parametrize("metadata", [
    {"columns": "temperature"}, {"columns": None}, {"columns": 3}, {"columns": ["side"]}, {"trained on": "walks"}, {},
    {"columns": {"temperature": 1}}, {"columns": {1: 2}}, {3: 4},
])  # fmt: skip
def test_metadata_of_the_users_own(here, model, data, metadata):
    estimator = load(model)
    estimator.metadata_ = metadata
    estimator.save(model)
    done = here("info", model)
    assert (done.returncode, done.stderr) == (0, "")
    assert "features: 1, without names" in done.stdout
    assert json.loads(here("info", model, "--json").stdout)["columns"] is None
    assert_one_line(here("predict", model, data), 1, "was not written by 'evoke fit'")


@pytest.mark.parametrize("change, words", [
    ({"targets": "side"}, "targets must be a list of names, got 'side'"), ({"targets": []}, "there are no targets"),
    ({"targets": [3]}, "targets must be a list of names"), ({"targets": ["side", "end"]}, "n_targets 2, the model 1"),
    ({"targets": ["step"]}, "'step' is there twice"), ({"features": [["step"]]}, "features must be a list of names"),
    ({"features": []}, "n_features 0, the model 1"), ({"features": ["noise"]}, "features ['noise'], the model"),
    ({"sequence": ["walk"]}, "sequence must be a name or None"), ({"sequence": "side"}, "'side' is there twice"),
    ({"time": 3}, "time must be a name or None"), ({"per_sequence": "no"}, "per_sequence must be True or False"),
    ({"per_sequence": True}, "per_sequence True, the model False"), ({"booleans": ["end"]}, "be among the targets"),
    ({"booleans": None}, "booleans must be a list"), ({"more": 1}, "unexpected keyword argument 'more'"),
])  # fmt: skip
def test_columns_that_were_edited(here, model, data, change, words):
    estimator = load(model)
    assert estimator.metadata_ == {"columns": COLUMNS}
    estimator.metadata_ = {"columns": COLUMNS | change}
    estimator.save(model)
    assert here("info", model).returncode == 0
    assert_one_line(here("predict", model, data), 1, "was not written by 'evoke fit': ", words)
    assert_one_line(here("generate", model, "--steps", "3"), 1, "was not written by 'evoke fit': ", words)


@pytest.mark.parametrize("change", [
    {"evoke": None}, {"evoke": 3}, {"evoke": ["0"]}, {"evoke": ""}, {"evoke": "0\x1b[31m"}, {"evoke": "9" * 99},
    {"class": ["SVC"]}, {"class": None}, {"parameters": []}, {"fitted": "none"}, {"parameters": None},
])  # fmt: skip
def test_headers_that_were_edited(here, model, change, monkeypatch):
    header, arrays = read_archive(model)
    monkeypatch.setattr("evoke.persistence.archive.__version__", change.get("evoke", header["evoke"]))
    write_archive(model, {key: content for key, content in (header | change).items() if key != "evoke"}, arrays)
    with pytest.raises(ModelFileError, match=r"be that of evoke|in the header must be a"):
        load(model)
    assert_one_line(here("info", model), 1, "is no model file that can be used")
