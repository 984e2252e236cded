"""The benchmarks work, and what they time beside evoke computes the same. Their times are not looked at."""

import ast
import json
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from unittest.mock import patch

import instructions
import numpy as np
import pytest
import run
import study

from evoke import svm, tasks
from evoke.exceptions import SolverWarning
from evoke.lstm import forward
from groups import (
    CHAPTERS,
    evaluation,
    gram,
    growth,
    ideas,
    landmarks,
    leave_one_out,
    lssvm,
    mutation,
    peers_anbncn,
    peers_sines,
    svc,
    svr,
    vecmath,
)
from harness import charts, core, document, operations, peer, problems, reference
from harness import forward as forward_passes
from harness.paired import Quartiles, Times, paired
from harness.report import Plot, Report, Table, Target, installed
from studies import ablation_anbncn, ablation_sines, thundersvm_faults

ROOT = Path(__file__).parents[2]
BENCH = ROOT / "bench"


@pytest.mark.parametrize("path", sorted(BENCH.glob("*/*.py")), ids=lambda path: str(path.relative_to(BENCH)))
def test_imports_point_down(path):
    imported = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom):
            imported.add(node.module.split(".")[0])
        elif isinstance(node, ast.Import):
            imported |= {alias.name.split(".")[0] for alias in node.names}
    above = {"harness": {"groups", "studies"}, "groups": {"groups", "studies"}, "studies": {"studies"}}
    assert not imported & (above[path.parent.name] | {"run", "study", "instructions"})


def test_only_one_module_knows_the_inside_of_evoke():
    inside = ("_core", "_solve", "_thundersvm", "evolution", "containers", "prefixes", "readouts")
    found = set()
    for path in BENCH.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and node.module.split(".")[0] == "evoke":
                names = [*node.module.split("."), *(alias.name for alias in node.names)]
                found |= {path.relative_to(BENCH).as_posix()} if set(names) & set(inside) else set()
    assert found == {"harness/core.py"}


def test_every_group_has_a_chapter():
    assert {path.stem for path in (BENCH / "groups").glob("[a-z]*.py")} == set(CHAPTERS)


def test_studies_are_run_by_name():
    assert study.STUDIES == [
        "ablation_anbncn", "ablation_sines", "calibration", "certificates", "evolution", "export", "landmarks",
        "languages", "large", "long_steps", "mackey", "real_data", "restarts", "searches", "sets", "simplify",
        "step_tasks", "thundersvm_faults",
    ]  # fmt: skip
    command = [sys.executable, str(BENCH / "study.py"), "large", "--largest", "0"]
    assert subprocess.run(command, check=True, capture_output=True, text=True).stdout == ""


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=[pytest.mark.distributed, pytest.mark.slow] if name in ("backends", "islands") else [])
     for name in CHAPTERS],
)
def test_every_benchmark_runs(name, tmp_path, capsys):
    file = tmp_path / "numbers.json"
    run.main(["--quick", "--repeats", "2", "--only", name, "--json", str(file), "--report", str(tmp_path)])
    printed = capsys.readouterr().out
    record = json.loads(file.read_text())
    assert list(record["benchmarks"]) == [name]
    assert record["repeats"] == 2
    assert {"processor", "cores", "simd", "numpy", "scikit-learn"} <= set(record["machine"])
    for table in record["benchmarks"][name]["tables"]:
        assert f"### {table['title']}" in printed
        assert table["rows"] or table["notes"]
        assert len({tuple(row) for row in table["rows"]}) <= 1
    for target in record["benchmarks"][name]["targets"]:
        assert f"| {target['what']} | {target['wanted']} |" in printed
    page = (tmp_path / "benchmarks.md").read_text()
    assert f"## {CHAPTERS[name]}" in page
    appendix = (tmp_path / "benchmarks_targets.md").read_text()
    assert all(f"| {target['what']} |" in appendix for target in record["benchmarks"][name]["targets"])
    assert not any(f"| {target['what']} |" in page for target in record["benchmarks"][name]["targets"])
    assert {"flops", "bandwidth"} == set(record["peaks"])
    for plot in record["benchmarks"][name]["plots"]:
        assert f"](figures/bench-{plot['name']}.png)" in page
    run.main(["--from", str(file), "--report", str(tmp_path / "again")])
    assert (tmp_path / "again" / "benchmarks.md").read_text() == page
    assert (tmp_path / "again" / "benchmarks_targets.md").read_text() == appendix


def test_the_pages_of_the_documentation_are_those_of_the_results(tmp_path):
    docs = ROOT / "docs"
    run.main(["--from", str(docs / "results" / "benchmarks.json"), "--report", str(tmp_path)])
    for name in ("benchmarks.md", "benchmarks_targets.md"):
        assert (tmp_path / name).read_text() == (docs / name).read_text()
    written = {path.name for path in (tmp_path / "figures").iterdir()}
    assert written <= {path.name for path in (docs / "figures").iterdir()}


def test_numbers_of_a_file_need_somewhere_to_go(capsys):
    with pytest.raises(SystemExit):
        run.main(["--from", "numbers.json"])
    assert "needs --report" in capsys.readouterr().err


def test_another_method_that_wins_is_named():
    rows = [
        {"rows": 7, "evoke, ms": 3.0, "scikit-learn / evoke": Quartiles(0.4, 0.5, 0.6)},
        {"rows": 8, "evoke, ms": 3.0, "scikit-learn / evoke": Quartiles(1.4, 1.5, 1.6)},
    ]
    reports = {"svc": Report([Table("T", rows, ["Best: ours."])])}
    assert document.others_ahead({"svc": "Machines"}, reports).splitlines() == [
        "- Machines: rows 7: scikit-learn / evoke = 0.5", "- Machines: T: Best: ours.",
    ]  # fmt: skip


def test_a_chart_says_how_many_times_faster_each_method_is():
    rows = [
        {"rows": 7, "evoke, ms": 3.0, "scikit-learn / evoke": Quartiles(0.4, 0.5, 0.6), "libsvm / core": 2.0},
        {"rows": 8, "evoke, ms": 3.0, "scikit-learn / evoke": Quartiles(1.4, 1.5, 1.6), "libsvm / core": "-"},
    ]
    report = Report([Table("T", rows)])
    assert charts.ratios(report) == {
        "rows 7; scikit-learn": (0.4, 0.5, 0.6), "rows 7; libsvm": (2.0, 2.0, 2.0),
        "rows 8; scikit-learn": (1.4, 1.5, 1.6),
    }  # fmt: skip
    assert charts.ratios(Report([Table("T", rows), Table("U", rows)]))["rows 8; scikit-learn"] == (1.5, 1.5, 1.5)
    (chart,) = charts.charts("svc", "Machines", report)
    assert (chart.name, chart.title, chart.rows) == ("svc", "Machines: how many times faster is evoke?", 3)
    first = charts.overview({"svc": "Machines"}, {"svc": report})
    assert first.rows == 2 and "dot is their median" in first.seen
    assert charts.overview({"svc": "Machines"}, {"svc": Report([Table("T", [{"a": 1}])])}) is None


def test_a_chart_of_methods_has_what_their_seeds_reached():
    rows = [
        {"method": "evoke", "median": 3.0, "least": 1.0, "most": 200.0},
        {"method": "other", "median": 2.0, "least": 2.0, "most": 2.0},
    ]
    report = Report([Table("Errors", rows)])
    assert dict(charts.methods(report)) == {"Errors": {"evoke": (1.0, 3.0, 200.0), "other": (2.0, 2.0, 2.0)}}
    (chart,) = charts.charts("peers", "Others", report)
    assert chart.title == "Errors" and "logarithmic" in chart.seen


PLOT = Plot("p", "T", "x", "y", {"a": ([1, 10], [2.0, 3.0]), "b": ([1, 10], [1.0, 9.0])})


@pytest.mark.parametrize("chart", [charts.growth(PLOT), charts.faster("f", "T", {"evoke": (1.0, 2.0, 3.0)}, "Seen.")])
def test_a_chart_is_written(chart, tmp_path):
    pytest.importorskip("matplotlib")
    path = tmp_path / "chart.png"
    document.draw(chart, path)
    assert path.read_bytes().startswith(b"\x89PNG")


def test_an_unknown_name_is_refused(capsys):
    with pytest.raises(SystemExit):
        run.main(["--only", "svc,nothing"])
    assert "unknown nothing" in capsys.readouterr().err


def test_the_ablation_runs(tmp_path, capsys):
    arguments = ["--n-max", "4", "--seeds", "2", "--only", "credit", "--jobs", "1", "--long", "3000"]
    ablation_anbncn.main([*arguments, "--json", str(tmp_path / "runs.json")])
    printed = capsys.readouterr().out
    result = json.loads((tmp_path / "runs.json").read_text())
    assert [study["settings"] for study in result["studies"]] == [{"credit": "best"}, {"credit": "mean"}]
    assert [run["seed"] for run in result["studies"][0]["runs"]] == [1000, 1001]
    assert [made["study"] for made in result["studies"]] == ["credit", "credit"]
    for made in result["studies"]:
        assert f"| {' | '.join(map(str, ablation_anbncn.row(made)))} |\n" in printed


@pytest.mark.skipif(not core.thundersvm_available(), reason="needs ThunderSVM")
def test_the_faults_of_thundersvm_do_not_pass_the_binding(tmp_path):
    thundersvm_faults.main(["--problems", "10", "--json", str(tmp_path / "counts.json")])
    rows = json.loads((tmp_path / "counts.json").read_text())["rows"]
    assert sum(row["library"] for row in rows) > 0
    assert {row["binding"] for row in rows} == {0, "not used"}


@pytest.mark.parametrize("origin", problems.ORIGINS)
def test_without_an_idea_the_errors_are_the_same(origin):
    candidates = ideas.make_candidates(4, problems.gamma_of(origin), problems.networks(4, origin, 2)[:12])
    expected = candidates.pop("all")(0)
    for other in candidates.values():
        # each decision is known to about tol = 1e-3; here 44 of them are added up
        np.testing.assert_allclose(other(0), expected, rtol=0, atol=44 * 1e-3)


def test_the_ablation_of_the_sines_runs(tmp_path, capsys, monkeypatch):
    monkeypatch.setitem(
        ablation_sines.STUDIES, "C",
        [{"readout": "lssvm", "C": c, "n_generations": 1} for c in (1e4, 1e300)],
    )  # fmt: skip
    ablation_sines.main(["--seeds", "2", "--only", "C", "--jobs", "1", "--json", str(tmp_path / "runs.json")])
    printed = capsys.readouterr().out
    good, bad = json.loads((tmp_path / "runs.json").read_text())["studies"]
    assert [run["seed"] for run in good["runs"]] == [1000, 1001]
    assert all(run["sse"] > 0 for run in good["runs"])
    assert f"| {' | '.join(ablation_sines.row(good))} |\n" in printed
    assert "lower C" in bad["runs"][0]["reason"]
    assert ablation_sines.row(bad)[2:] == ["inf"] * 7 + ["2"]


@pytest.mark.parametrize("origin", problems.ORIGINS)
def test_evaluations_agree(origin):
    genomes = problems.networks(4, origin, 2)[:4]
    evaluators = evaluation.make_evaluators(4, origin, problems.TIGHT)
    ours, plain = (evaluators[name](genomes) for name in (evaluation.EVOKE, evaluation.PLAIN))
    assert (ours[:, :2].sum(axis=1) > 0.0).all()
    # LIBSVM keeps kernel values in single precision, which moves decisions by 1e-4; here 44 of them are added up
    np.testing.assert_allclose(ours, plain, rtol=0, atol=44 * 1e-4)


@pytest.mark.skipif(not core.thundersvm_available(), reason="needs ThunderSVM")
@pytest.mark.filterwarnings("ignore", category=SolverWarning)
def test_evaluations_agree_with_thundersvm():
    genomes = problems.networks(4, "paper", 2)[:4]
    evaluators = evaluation.make_evaluators(4, "paper")
    ours, theirs = (evaluators[name](genomes) for name in (evaluation.EVOKE, evaluation.THUNDERSVM))
    np.testing.assert_allclose(ours, theirs, rtol=1e-2)


def test_the_problem_is_that_of_the_estimator():
    problem = problems.anbncn(5, 0.25)
    lengths = [3 * n + 1 for n in range(1, 6)]
    assert problem.train.weights.sum() == sum(lengths[:3])
    assert problem.validation.weights.sum() == sum(lengths[3:])


def test_forward_passes_agree():
    genomes = problems.networks(4, "tuned")[:3]
    X = tasks.anbncn(3)[0]
    calls = list(forward_passes.make_candidates(genomes, X).values())
    ours, single, one_at_a_time, together = (call(0) for call in calls[:4])
    for expected, rounded, *others in zip(ours, single, one_at_a_time, together, strict=True):
        assert rounded.dtype == np.float32
        np.testing.assert_allclose(rounded, expected, rtol=0, atol=1e-5)
        for other in others:
            np.testing.assert_allclose(other, expected, rtol=1e-12, atol=1e-12)
    np.testing.assert_array_equal(ours[2], forward(genomes, X[2]))


@pytest.mark.skipif(not installed("torch"), reason="needs PyTorch")
def test_forward_passes_of_pytorch_agree():
    genomes = problems.networks(4, "tuned")[:3]
    X = tasks.anbncn(3)[0]
    for name, call in forward_passes.torch_candidates(genomes, X, "float64").items():
        theirs = call(0).numpy()
        for k, x in enumerate(X):
            np.testing.assert_allclose(theirs[:, k, : len(x)], forward(genomes, x), atol=1e-12, err_msg=name)


def test_kernel_matrices_agree():
    ours, theirs = gram.values(30, 5)
    np.testing.assert_allclose(ours, theirs, rtol=1e-12)


def test_sums_at_landmarks_agree():
    _, ours, theirs = (call(0) for call in landmarks.make_candidates(5000, 11, 3).values())
    np.testing.assert_allclose(np.triu(ours), np.triu(theirs), rtol=1e-10, atol=1e-8)


def test_least_squares_machines_agree():
    ours, theirs, lapack = (call(0) for call in lssvm.make_candidates(30).values())
    np.testing.assert_allclose(theirs, ours, rtol=0, atol=1e-9)
    np.testing.assert_allclose(lapack, ours, rtol=0, atol=1e-9)


def test_leave_one_out_evaluations_agree():
    for what, calls in leave_one_out.make_candidates(25).items():
        ours, *others = (call() for call in calls.values())
        assert ours.shape == (leave_one_out.SIZE,)
        assert (ours > 0.0).all()
        for other in others:
            np.testing.assert_allclose(other, ours, rtol=1e-8, err_msg=what)


def test_regression_machines_agree():
    X, y = problems.values(60, 0)
    machines = svr.make_machines(60, 10.0, 0.1, 1)
    for own in machines.values():
        problems.fit(own, [(X, y)], 0)
    ours, theirs = (reference.dual_of_regression(machines[name][0], X, y) for name in svr.NAMES)
    assert ours == pytest.approx(theirs, rel=1e-5)


def test_instructions_are_held_against_those_kept(capsys):
    kept = {"compiler": "gcc 12", "instructions": {"forward": 1000, "machine": 2000}}
    assert instructions.judge({"forward": 1029, "machine": 1950}, "gcc 12", kept) == 0
    assert "forward: 1,029 instructions, kept 1,000 (+2.90%)" in capsys.readouterr().out
    assert instructions.judge({"forward": 1000, "machine": 2070}, "gcc 12", kept) == 1
    assert instructions.judge({"forward": 1000, "machine": 2070}, "clang 19", kept) == 0
    assert "Not judged" in capsys.readouterr().out


def test_instructions_need_valgrind(monkeypatch, capsys):
    monkeypatch.setenv("PATH", "")
    assert instructions.main([]) == 0
    assert capsys.readouterr().out == "Skipped: valgrind is not installed.\n"


def test_a_method_runs_in_a_process_of_its_own():
    made = peer.apart("groups.peers_sines", "linear window of 40 values, 2 waves", 1)
    assert made["median"] < 1e-20
    assert made["MB"] > 50.0
    assert made["parameters"] == 40


def test_a_run_that_diverged_counts_as_the_worst():
    runs = [{"seed": k, "result": result, "seconds": 1.0} for k, result in enumerate((None, 2.0, None))]
    made = peer.row("m", runs, 3, "-")
    assert (made["least"], made["median"], made["most"]) == (2.0, np.inf, np.inf)


def test_a_window_sees_the_last_steps_only():
    rows = peers_anbncn.Window(2).rows(np.array([[1.0, 2.0], [3.0, 4.0]]))
    assert rows.tolist() == [[0.0, 1.0, 0.0, 2.0], [1.0, 3.0, 2.0, 4.0]]


def test_a_missing_package_is_named():
    methods = {"other": (None, 1, "no_such_package"), "linear window of 40 values, 2 waves": None}
    methods["linear window of 40 values, 2 waves"] = peers_sines.METHODS["linear window of 40 values, 2 waves"]
    made = peer.table("groups.peers_sines", "T", "note", methods, True, min)
    assert made.notes[:2] == ["note", "Skipped: other, as no_such_package is not installed."]
    assert made.notes[2].startswith("Best: linear window of 40 values, 2 waves: median ")
    assert len(made.rows) == 1


def test_methods_that_are_equally_good_are_all_named():
    results = {"a": 3.0, "b": 4.0, "c": 4.0}
    methods = {
        name: (lambda seeds, quick, r=result: ([{"seed": 0, "result": r, "seconds": 1.0}], 1), 1, None)
        for name, result in results.items()
    }
    module = SimpleNamespace(METHODS=methods)
    with patch.dict(sys.modules, {"methods": module}):
        assert peer.table("methods", "T", "note", methods, True, max).notes[-1] == "Best: b; c: median 4."


@pytest.mark.skipif(not installed("torch"), reason="needs PyTorch")
def test_what_the_gradient_learns_from_is_the_task():
    from harness import gradient

    x, y, there = gradient.training(3)
    assert [int(n) for n in there.sum(axis=(1, 2))] == [4, 7, 10]
    decider = gradient.Decider(lambda x: 2.0 * y[: len(x), : x.shape[1]] - 1.0)
    for decisions, wanted in zip(decider.decision_function(tasks.anbncn(3)[0]), tasks.anbncn(3)[1], strict=True):
        np.testing.assert_array_equal(decisions > 0, wanted > 0)


def test_operations_are_those_of_the_sources():
    assert operations.lstm(4, 5) == 5 * (8 * 9 + 3 * 34 + 2 * 35 + 4)
    assert operations.gram(2, 1) == 3 * (3 + 1 + 31)
    assert operations.landmark_sums(7, 2, 3, 1) == 7 * (3 * (6 + 1 + 31) + 2 * 15)
    assert operations.leave_one_out_grid(3, 2, 1, 2, 2) == 6 * (6 + 2 * 32) + 4 * (18 + 36 + 9)


def test_an_exponent_is_found_where_overhead_is_small():
    assert growth.exponent([1, 10, 100, 1000], [5.0, 5.0, 300.0, 30000.0]) == pytest.approx(2.0)


@pytest.mark.parametrize("name", vecmath.FUNCTIONS)
def test_vector_functions_agree(name):
    x = vecmath.values(name, 100)
    ours, theirs = (call(0) for call in vecmath.make_candidates(name, x).values())
    np.testing.assert_allclose(ours, theirs, rtol=1e-13)


def test_machines_agree():
    made = [problems.tanh_features(60, seed) for seed in range(3)] + [problems.activations(50, 1)]
    advantages, rows = svc.compare(made, 100.0, "here")
    np.testing.assert_allclose(advantages, 0.0, atol=1e-5)
    assert [row["seed"] for row in rows] == [0, 1, 2, 3]
    for row in rows:
        assert 0.0 <= row["evoke, gap"] < 1e-2 * float(row["evoke, objective"])


def test_dual_and_gap_of_a_machine_known_by_hand():
    # two points, so that both coefficients are 1 / (1 - K(x, z)) and the machine meets both margins
    X, y = np.array([[0.0], [1.0]]), np.array([0, 1])
    machine = svm.SVC(C=100.0, gamma=1.0).fit(X, y)
    dual, gap = reference.dual_and_gap(machine, X, y, 100.0, 1.0)
    assert dual == pytest.approx(1.0 / (1.0 - np.exp(-1.0)), rel=1e-9)
    assert gap == pytest.approx(0.0, abs=1e-9)


def test_both_mutations_have_the_same_quartiles():
    ours, theirs = np.zeros((200, 50)), np.zeros((200, 50))
    mutation.add_cauchy(ours, 0.1, np.random.PCG64(0))
    theirs += 0.1 * np.random.Generator(np.random.PCG64(1)).standard_cauchy(theirs.shape)
    quartiles = np.percentile(ours, [25, 50, 75]), np.percentile(theirs, [25, 50, 75])
    np.testing.assert_allclose(quartiles, [[-0.1, 0.0, 0.1]] * 2, atol=0.01)


def test_a_round_calls_all_candidates_on_the_same_data():
    seen = {"a": [], "b": []}
    times = paired({name: calls.append for name, calls in seen.items()}, 4)
    for calls in seen.values():
        assert sorted(set(calls)) == [0, 1, 2, 3]
    assert {len(seconds) for clock in (times.wall, times.cpu) for seconds in clock.values()} == {4}


def test_speedups_are_those_of_the_pairs():
    slow, fast = np.array([2.0, 6.0, 4.0]), np.array([1.0, 2.0, 4.0])
    wall, cpu = Times({"slow": slow, "fast": fast}, {"slow": slow, "fast": slow}).speedup("slow", "fast")
    assert wall == Quartiles(1.5, 2.0, 2.5)
    assert cpu == Quartiles(1.0, 1.0, 1.0)
    assert str(wall) == "2 (1.5 to 2.5)"


def test_a_missed_target_is_shown():
    text = Report([Table("T", [{"a": 1.23456, "b": "-"}])], [Target.at_least("speed", 10, 9.9)]).markdown()
    assert "| a | b |\n| --- | --- |\n| 1.23 | - |" in text
    assert "| speed | >= 10 | 9.9 | **no** |" in text
