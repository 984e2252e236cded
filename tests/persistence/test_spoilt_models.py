"""Models that were changed after their fit: what `load` would refuse is not written, and the old file stays."""

import os

import numpy as np
import pytest

import evoke
from evoke.callbacks import Checkpoint
from evoke.exceptions import ModelFileError
from evoke.persistence.archive import read_archive, write_archive
from helpers.watched import CLASSES, X, tiny


def spoil_record(key, value):
    return lambda model: model.history_[0].update({key: value})


SPOILT = {
    "a record more": (lambda model: model.history_.append({}), "history_ must have 6 records"),
    "a record less": (lambda model: model.history_.pop(), "history_ must have 6 records, one per generation, has 5"),
    "no record": (lambda model: model.history_.__setitem__(0, None), "history_ must be a list of records"),
    "no generation": (lambda model: model.history_[0].pop("generation"), r"history_\[0\]\['generation'\] .* got None"),
    "generation": (spoil_record("generation", 9), r"history_\[0\]\['generation'\] must be 1, got 9"),
    "no fitness": (lambda model: model.history_[3].pop("best_fitness"), r"history_\[3\]\['best_fitness'\] .* got None"),
    "fitness": (spoil_record("best_fitness", np.nan), r"history_\[0\]\['best_fitness'\] must be .*, got nan"),
    "fitnesses": (spoil_record("best_fitness", np.zeros(2)), r"history_\[0\]\['best_fitness'\] must be"),
    "object": (spoil_record("note", object()), r"history_.0.* which a model file cannot hold"),
    "best fitness": (lambda model: model.fitted_.run.esp.judge_best_anew(-1.0), "best_fitness_ must be"),
    "genome": (lambda model: model.genome_.__setitem__(0, np.nan), "genome_ must be finite"),
    "names": (lambda model: model.feature_names_in_.__setitem__(0, 3), "feature_names_in_ must be an array of text"),
    "population": (lambda model: model.fitted_.run.esp.subpopulations[0].__setitem__(0, np.nan), "must be finite"),
    "bursts": (lambda model: model.fitted_.run.esp.bursts.append(-1), r"bursts'\]\[0\] must be"),
    "stagnation": (lambda model: setattr(model.fitted_.run.esp, "stagnation", -1), "stagnation"),
    "coefficients": (lambda model: model.readout_.dual_coef.__setitem__(0, np.inf), "dual_coef must be finite"),
}  # fmt: skip


@pytest.mark.parametrize("spoil, message", SPOILT.values(), ids=SPOILT)
def test_a_spoilt_model_is_not_saved(spoil, message, tmp_path):
    pd = pytest.importorskip("pandas")
    path = tmp_path / "model.evk"
    model = tiny().fit([pd.DataFrame(x, columns=["p", "q"]) for x in X], CLASSES)
    model.feature_names_in_.setflags(write=True)
    model.save(path)
    content = path.read_bytes()
    spoil(model)
    with pytest.raises((ValueError, TypeError), match=message):
        model.save(path)
    assert path.read_bytes() == content
    assert os.listdir(tmp_path) == [path.name]


@pytest.mark.parametrize("spoil, message", [
    (lambda record: record.pop("generation"), r"history_\[4\]\['generation'\] must be an integer .*, got None"),
    (lambda record: record.update(generation=9), r"history_\[4\]\['generation'\] must be 5, got 9"),
    (lambda record: record.pop("best_fitness"), r"history_\[4\]\['best_fitness'\] must be .*, got None"),
    (lambda record: record.update(best_fitness=np.nan), r"history_\[4\]\['best_fitness'\] must be .*, got nan"),
])  # fmt: skip
def test_a_checkpoint_keeps_the_last_good_file(spoil, message, tmp_path):
    path = tmp_path / "run.evk"
    straight = tiny(n_generations=4).fit(X, CLASSES)

    def spoiling(record, esp):
        if esp.generation == 5:
            spoil(record)

    with pytest.raises(ValueError, match=message):
        tiny(spoiling, Checkpoint(path, every=2)).fit(X, CLASSES)
    assert evoke.load(path).history_ == straight.history_
    assert os.listdir(tmp_path) == [path.name]


@pytest.mark.parametrize("column", [np.array([b"abc"] * 6), np.array(["abc"] * 6), np.zeros((6, 2)), np.float64(3)])
def test_a_file_that_could_not_be_saved_again_is_refused(column, tmp_path):
    path = tmp_path / "model.evk"
    tiny().fit(X, CLASSES).save(path)
    header, arrays = read_archive(path)
    name = next(name for name in arrays if name.startswith("history_") and name.endswith("generation_median"))
    write_archive(path, header, {**arrays, name: column})
    with pytest.raises(ModelFileError, match="table"):
        evoke.load(path)
