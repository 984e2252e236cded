"""Options of evoke fit, predict and generate: roles of columns, parameters, names of files, and their refusals."""

import pytest

pytest.importorskip("click")
pytest.importorskip("rich")
pytest.importorskip("pandas")

from sklearn.model_selection import KFold, StratifiedKFold

from evoke import load, reproduce
from helpers.commands import QUICK, assert_clean, assert_one_line, csv


@pytest.mark.parametrize("options, words", [
    ("--target nothing", ["no column 'nothing'"]),
    ("--target side --sequence walks", ["no column 'walks'; did you mean 'walk'?"]),
    ("--target side --features stepp", ["no column 'stepp'; did you mean 'step'?"]),
    ("--target side --sequence walk", ["column 'end' is not numeric"]),
    ("--target side --sequence walk --features step --per-sequence",
     ["--per-sequence needs one target per sequence, but 'side' changes within sequence '0"]),
    ("--target side --task regress --features step",
     ["column 'side' is not numeric", "; text can be learned as a single target, with --task classify"]),
    ("--target noise --task classify --features step",
     ["'noise' holds fractions that hardly repeat", "--task regress"]),
    ("--target side --sequence walk --features step -p washout=5", ["washout=5 leaves nothing of sequence '"]),
    ("--target side --features step -p washout=1000", ["data.csv: washout=1000 leaves nothing of its "]),
])  # fmt: skip
def test_columns_that_are_refused(here, data, tmp_path, options, words):
    assert_one_line(here("fit", data, *options.split(), *QUICK, "-o", tmp_path / "a.evk"), 1, *words)
    assert_clean(tmp_path, "data.csv")


@pytest.mark.parametrize("options, words", [
    ("", ["--target"]),
    ("--target place", ["'place' holds numbers", "--task classify", "--task regress", "--task forecast"]),
    ("--target side,side", ["--target names 'side' twice"]),
    ("--target side --features step --features step", ["--features names 'step' twice"]),
    ("--target side --sequence side", ["cannot be both --target and --sequence"]),
    ("--target side --features side,step", ["'side' cannot be among --features"]),
    ("--target side --sequence walk --features walk", ["'walk' cannot be among --features"]),
    ("--target end --per-sequence", ["--per-sequence needs --sequence"]),
    ("--target place --task forecast --sequence walk --per-sequence", ["--task forecast"]),
    ("--target side --task guess", ["--task"]),
    ("--target side --seed -1", ["--seed"]), ("--target side --jobs 0", ["--jobs"]),
    ("--target side --separator ab", ["'ab'"]), ("--target side --separator a", ["'a'"]),
    ("--target side -p n_cells", ["'n_cells' is not of the form name=value"]),
    ("--target side -p n_cell=2", ["has no parameter 'n_cell'; did you mean n_cells?"]),
    ("--target side -p epsilon=1", ["EvokeClassifier has no parameter 'epsilon'"]),
    ("--target side -p n_cells=2 -p n_cells=3", ["n_cells is given twice"]),
    ("--target side -p random_state=2", ["cannot be set with -p: use --seed"]),
    ("--target side -p n_jobs=2", ["use --jobs"]),
    ("--target side -p callbacks=x", ["callbacks cannot be set with -p"]),
    ("--target side -p n_cells=two", ["n_cells must be an integer of at least 1, got 'two'"]),
    ("--target side -p n_cells=1e1", ["got 10.0"]), ("--target side -p C=NaN", ["got nan"]),
    ("--target side -p C=", ["got ''"]), ("--target side -p gate_bias=[1,2]", ["got [1, 2]"]),
    ("--target side -p kernel=rbff", ["kernel must be one of"]),
    ("--target side -p C=" + "[" * 5000, ["C must be 'auto', 'evolve' or a positive finite number"]),
])  # fmt: skip
def test_wrong_usage_of_fit(here, data, tmp_path, options, words):
    done = here("fit", data, *options.split(), "-o", tmp_path / "a.evk")
    assert_one_line(done, 2)
    for word in words:
        assert word in done.stderr
    assert_clean(tmp_path, "data.csv")


def test_parameters_are_literals(here, data, tmp_path):
    values = {"burst_patience": None, "gate_bias": (1, 2.5, 0), "cell": "evolino", "C": 1e8, "validation": 0.25}
    texts = ["burst_patience=null", "gate_bias=(1, 2.5, 0)", "cell=evolino", "C=1e8", "validation=0.25"]
    out = tmp_path / "a.evk"
    texts = [f"-p{text}" for text in texts]
    done = here("fit", data, "--target", "side", "--features", "step", *QUICK, *texts, "-o", out)
    assert done.returncode == 0, done.stderr
    assert {name: load(out).get_params()[name] for name in values} == values


@pytest.mark.parametrize("text, expected", [
    ("KFold(3)", KFold(3)), ("StratifiedKFold(n_splits=2)", StratifiedKFold(2)),
    ("KFold(3, shuffle=True)", KFold(3, shuffle=True, random_state=7)),
    ("KFold(3, shuffle=True, random_state=1)", KFold(3, shuffle=True, random_state=1)),
])  # fmt: skip
def test_splitters_are_written_as_in_python(here, data, tmp_path, text, expected):
    out = tmp_path / "a.evk"
    done = here("fit", data, "--target", "end", "--sequence", "walk", "--features", "step", "--per-sequence", *QUICK,
                "--seed", 7, "-p", f"validation={text}", "-o", out)  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert repr(load(out).validation) == repr(expected)


@pytest.mark.parametrize("text, words", [
    ("GroupKFold(3)", "validation=GroupKFold(3) is not known here; splitters are KFold, "),
    ("KFold(n=3)", "validation=KFold(n=3) cannot be made: "), ("KFold(1)", "validation=KFold(1) cannot be made: "),
    ("KFold(__import__('os'))", "cannot be made: malformed"), ("KFold", "splitter such as KFold(5), got 'KFold'"),
    ("third", "got 'third'"), ("os.system('true')", "is not known here"),
])  # fmt: skip
def test_splitters_that_are_refused(here, data, tmp_path, text, words):
    done = here("fit", data, "--target", "side", "-p", f"validation={text}", "-o", tmp_path / "a.evk")
    assert_one_line(done, 2, words)


def test_a_target_that_a_sequence_repeats_is_noted(here, data, tmp_path):
    done = here("fit", data, "--target", "end", "--sequence", "walk", "--features", "step", "--task", "classify",
                *QUICK, "-o", tmp_path / "a.evk")  # fmt: skip
    assert (done.returncode, done.stderr.count("\n")) == (0, 1)
    assert "--per-sequence" in done.stderr


@pytest.mark.parametrize(
    "options", [[], ["--sequence", "k"], ["--sequence", "k", "--per-sequence", "-p", "validation=half"]]
)
def test_labels_that_are_only_held_out_are_warned_of(here, tmp_path, options):
    for labels, noted in [("aabb", True), ("abab", False)]:
        rows = [f"{k},{label},{k % 2}" for k, label in enumerate(labels) for _ in range(3 if options else 1)]
        path = csv(tmp_path, "\n".join(["k,label,x", *rows]))
        done = here("fit", path, "--target", "label", "--task", "classify", "--features", "x", *options, *QUICK,
                    "-o", tmp_path / "a.evk")  # fmt: skip
        warning = "UserWarning: the held-out part has class(es) ['b'], which the training part lacks"
        assert (warning in done.stderr) == noted
        assert done.stderr.count("held-out part") == noted
        assert ("hold out less with -p validation=0.2" in done.stderr) == noted  # in terms of the command line
    done = here("fit", csv(tmp_path, "label,x\na,1\na,2\nb,3\nb,4\n"), "--target", "label", "--features", "x",
                "-p", "validation=0.25", *QUICK, "-o", tmp_path / "a.evk")  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "Note: the target 'label' is text, so it is classified.\n")


def test_a_forecaster_is_asked_for_what_it_is(here, data, series, model, tmp_path):
    assert_one_line(here("generate", model, "--steps", 3), 2, "EvokeClassifier")
    here("fit", series, "--target", "y", "--task", "forecast", *QUICK, "-o", tmp_path / "plain.evk")
    assert_one_line(here("predict", tmp_path / "plain.evk", series, "--decisions"), 2, "EvokeForecaster")
    done = here("generate", tmp_path / "plain.evk", "--steps", 3, "--inputs", data)
    assert_one_line(done, 2, "has no external inputs")
    here("fit", data, "--target", "place", "--task", "forecast", "--features", "step", *QUICK,
         "-o", tmp_path / "fed.evk")  # fmt: skip
    assert_one_line(here("generate", tmp_path / "fed.evk", "--steps", 3), 2, "needs --inputs with step")
    assert_one_line(here("generate", tmp_path / "fed.evk", "--steps", 3, "--inputs", data), 1, "must have 3 rows")
    assert_one_line(here("generate", tmp_path / "plain.evk", "--steps", 0), 2, "--steps")


def test_a_hyphen_is_no_file_name(here, model, data):
    assert_one_line(here("predict", model, "-"), 2, "'-' is not a file name: use /dev/stdin for stdin")
    assert_one_line(here("predict", model, data, "-o", "-"), 2, "'-' is not a file name: tables go to stdout anyway")


@pytest.mark.parametrize("name", ["a.xlsx", "a.csv.gz", "a.txt"])
def test_tables_of_other_formats_are_not_written(here, model, data, name):
    for command in (["predict", model, data], ["generate", model, "--steps", 3]):
        done = here(*command, "-o", model.with_name(name))
        assert_one_line(done, 2, f"tables are written as .csv, .tsv or .parquet, not as {name[name.rindex('.'):]}")
    assert_clean(model.parent, "data.csv", "model.evk")


def test_no_file_is_written_over_another(here, data, model, tmp_path):
    before = data.read_bytes()
    (tmp_path / "link.csv").symlink_to(data)
    fit = ["fit", data, "--target", "side", "--features", "step", *QUICK]
    for options in (["-o", data], ["-o", tmp_path / "link.csv"], ["-o", tmp_path / "." / "data.csv"],
                    ["-o", tmp_path / "a.evk", "--plot", data],
                    ["-o", tmp_path / "a.png", "--plot", tmp_path / "a.png"],
                    ["-o", tmp_path / "a.evk", "--checkpoint", tmp_path / "a.evk"]):  # fmt: skip
        assert_one_line(here(*fit, *options), 2, "cannot be")
    assert_one_line(here("predict", model, data, "-o", model), 2, "not as .evk")
    assert_one_line(here("predict", model, data, "-o", data), 2, "--out cannot be", "the command reads it")
    assert data.read_bytes() == before
    assert_clean(tmp_path, "data.csv", "link.csv", "model.evk")


@pytest.mark.parametrize("task", ["anbncn", "sines"])
def test_no_result_of_reproduce_is_written_over_another(here, tmp_path, task, monkeypatch):
    pytest.importorskip("matplotlib")
    monkeypatch.setattr(reproduce, task, lambda **arguments: pytest.fail("the work was begun"))
    run = ["reproduce", task, "--runs", 1, "--generations", 1]
    path = tmp_path / "a.png"
    assert_one_line(here(*run, "--json", path, "--plot", path), 2, "--plot cannot be", "--json is the same file")
    name = "anbncn-N10.json" if task == "anbncn" else "sines-2.json"
    assert_one_line(here(*run, "--json", tmp_path / name, "--out", tmp_path), 2, name, "--json is the same file")
    assert_clean(tmp_path)


@pytest.mark.parametrize("option", ["-o", "--plot", "--checkpoint"])
def test_unwritable_targets_are_told_before_the_work(here, data, tmp_path, option):
    pytest.importorskip("matplotlib")
    fit = ["fit", data, "--target", "side", "-o", tmp_path / "a.evk", option, tmp_path / "no" / "a.png"]
    assert_one_line(here(*fit), 1, "cannot write", "No such file")
    assert_clean(tmp_path, "data.csv")
