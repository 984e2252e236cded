"""The displays of a^n b^n c^n: how far runs generalise, and which strings a model accepts."""

import pytest

from evoke import EvokeClassifier, reproduce, tasks
from evoke.plot import AcceptanceDisplay, GeneralisationDisplay
from helpers.figures import legend

plt = pytest.importorskip("matplotlib.pyplot")


# ---- generalisation


def runs_of(n_max, preset, accepted, test_max=100):
    return {
        "task": "anbncn", "n_max": n_max, "preset": preset, "readout": "svm", "config": {"test_max": test_max},
        "runs": [{"accepted": m} for m in accepted], "published": reproduce.PUBLISHED.get(n_max, {"Evoke": None}),
    }  # fmt: skip


def test_runs_medians_and_published_means():
    results = [runs_of(20, "paper", [30, 100, 100]), runs_of(10, "paper", [5, 20]), runs_of(10, "tuned", [40])]
    display = GeneralisationDisplay.from_results(results)
    paper, tuned = "preset paper, svm", "preset tuned, svm"
    drawn = {key: line.get_ydata().tolist() for key, line in display.points_.items()}
    assert drawn == {(10, paper): [5, 20], (10, tuned): [40], (20, paper): [30, 100, 100]}
    medians = {key: line.get_ydata()[0] for key, line in display.medians_.items()}
    assert medians == {(10, paper): 12.5, (10, tuned): 40, (20, paper): 100}
    published = {key: line.get_ydata()[0] for key, line in display.published_.items()}
    assert published == {(n, name): mean for n, means in reproduce.PUBLISHED.items() for name, mean in means.items()}
    texts = [text.get_text() for text in display.ax_.texts]
    assert "2 of 3" in texts
    assert "Evoke 257" in texts
    assert legend(display.ax_) == [
        paper, tuned, "median", "published mean", "longest training string", "longest string tested",
    ]  # fmt: skip
    assert [text.get_text() for text in display.ax_.get_xticklabels()] == ["1..10", "1..20"]
    assert display.ax_.get_yscale() == "log"
    colours = {key: line.get_color() for key, line in display.points_.items()}
    assert colours[10, paper] == colours[20, paper] != colours[10, tuned]
    display.figure_.canvas.draw()


def test_runs_keep_to_their_training_length():
    display = GeneralisationDisplay.from_accepted({10: {"a": [1] * 50, "b": [1] * 50}, 20: {"a": [1] * 50}})
    reach = {key: (line.get_xdata().min(), line.get_xdata().max()) for key, line in display.points_.items()}
    assert -0.4 < reach[10, "a"][0] < reach[10, "a"][1] < 0 < reach[10, "b"][0] < reach[10, "b"][1] < 0.4
    assert 0.6 < reach[20, "a"][0] < reach[20, "a"][1] < 1.4


def test_results_of_the_same_kind_are_put_together_and_zero_is_shown():
    figure, ax = plt.subplots()
    display = GeneralisationDisplay.from_results([runs_of(7, "paper", [0, 3]), runs_of(7, "paper", [9])], ax=ax)
    assert display.figure_ is figure
    assert display.accepted[7]["preset paper, svm"].tolist() == [0, 3, 9]
    assert display.published_ == {}
    assert ax.get_yscale() == "symlog"
    assert ax.get_ylim()[0] < 0
    figure.canvas.draw()


def test_generalisation_of_a_result(monkeypatch):
    monkeypatch.setattr(tasks, "anbncn_accepts", lambda model, n: False)  # strings of a million take the most time
    result = reproduce.anbncn(runs=2, n_generations=1, test_max=20)
    display = GeneralisationDisplay.from_results(result)
    assert display.points_[10, "preset tuned, svm"].get_ydata().tolist() == [run["accepted"] for run in result["runs"]]
    assert display.cap == 20


@pytest.mark.parametrize(
    "results, message",
    [
        ([], "accepted must hold at least one run"),
        ([runs_of(10, "paper", [])], "accepted must hold at least one run"),
        ([runs_of(10, "paper", [1]) | {"task": "sines"}], r"results must be of the task anbncn, got \['sines'\]"),
        ([runs_of(10, "paper", [1]), runs_of(10, "paper", [1], 50)], r"results must .* test_max \[50, 100\]"),
    ],
)
def test_bad_results_are_named(results, message):
    with pytest.raises(ValueError, match=f"^{message}"):
        GeneralisationDisplay.from_results(results)


def test_bad_accepted_lengths_are_named():
    with pytest.raises(ValueError, match=r"^accepted\[10\]\['a'\] must be 1-D and not empty, got shape \(0,\)"):
        GeneralisationDisplay.from_accepted({10: {"a": []}})


# ---- accepted strings


def test_strings_accepted_and_rejected_are_areas_of_their_own():
    display = AcceptanceDisplay.from_margins([1.0, 0.5, -2.0, 0.25], n_max=2)
    extents = {name: area.get_datalim(display.ax_.transData) for name, area in display.areas_.items()}
    assert (extents["accepted"].y0, extents["accepted"].y1) == (0, 1)
    assert (extents["rejected"].y0, extents["rejected"].y1) == (-2, 0)
    assert legend(display.ax_) == ["accepted (3)", "rejected (1)", "trained on 1..2"]
    assert display.ax_.lines[-1].get_xdata()[0] == 2.5
    assert display.ax_.get_xlim() == (0.5, 4.5)
    display.figure_.canvas.draw()
    assert AcceptanceDisplay.from_margins([0.0, 0.0], [True, False]).accepted.tolist() == [True, False]


def test_strings_a_model_accepts():
    classifier = EvokeClassifier(n_generations=3, subpopulation_size=8, random_state=0).fit(*tasks.anbncn(4))
    figure, axes = plt.subplots(2)
    display = AcceptanceDisplay.from_estimator(classifier, 12, ax=axes[1])
    assert (display.figure_, display.ax_) == (figure, axes[1])
    assert display.accepted.tolist() == [tasks.anbncn_accepts(classifier, n) for n in range(1, 13)]


def test_bad_margins_are_named():
    with pytest.raises(ValueError, match=r"^margins must be 1-D"):
        AcceptanceDisplay.from_margins([[1.0]])
    with pytest.raises(ValueError, match=r"^accepted must have the shape of margins, \(2,\), got \(1,\)"):
        AcceptanceDisplay.from_margins([1.0, 2.0], [True])
