"""The bits are those of the record, on every instruction set; so are those of model files of an earlier version."""

import json
import os
import subprocess
import sys

import pytest
from bits import record

import evoke
from evoke.callbacks import Checkpoint

KEPT = record.kept()


SUPPORTED = evoke.show_config(mode="dict")["simd"]["supported"]


@pytest.mark.parametrize("simd", [  # plain C takes a minute, and `make ctest` has its hashes
    pytest.param(simd, marks=pytest.mark.slow) if simd == "scalar" and len(SUPPORTED) > 1 else simd
    for simd in SUPPORTED
])  # fmt: skip
def test_every_case_gives_the_bits_of_the_record(simd):
    done = subprocess.run(
        [sys.executable, record.__file__], env=os.environ | {"EVOKE_SIMD": simd}, capture_output=True, text=True,
        check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert record.differences(json.loads(done.stdout), KEPT) == []


def test_every_model_file_is_one_of_the_record():
    files = {f"file {path.stem}" for path in record.MODELS.iterdir() if path != record.CHECKPOINT}
    assert files == {f"file {name}" for name in record.FIXTURES} == {name for name in KEPT if name.startswith("file ")}


@pytest.mark.parametrize("name", record.FIXTURES)
def test_model_file_is_read_and_written_without_loss(name, tmp_path):
    model = evoke.load(record.file_of(name))
    before = {part: record.digest(value) for part, value in record.asked(name, model).items()}
    assert before == KEPT[f"file {name}"]
    model.save(tmp_path / "model.evk")
    again = evoke.load(tmp_path / "model.evk")
    assert {part: record.digest(value) for part, value in record.asked(name, again).items()} == before
    assert str(again.get_params()) == str(model.get_params())


def test_a_run_goes_on_from_the_checkpoint_to_the_same_end(tmp_path):
    path = tmp_path / "run.evk"
    path.write_bytes(record.CHECKPOINT.read_bytes())
    assert len(evoke.load(path).history_) == record.CUT_AT
    begun = []
    resumed = record.run_with(Checkpoint(path), lambda entry, _esp: begun.append(entry["generation"]))
    assert begun == list(range(record.CUT_AT + 1, 13))
    whole, kept = record.finished(record.run_with()), KEPT["run without a break"]
    assert {part: record.digest(value) for part, value in record.finished(resumed).items()} == kept
    assert {part: record.digest(value) for part, value in whole.items()} == kept == KEPT["run resumed"]
