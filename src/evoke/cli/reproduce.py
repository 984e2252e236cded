"""The commands ``evoke reproduce anbncn``, ``sines``, ``languages`` and ``all``."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from evoke.cli.drawn_tables import print_report
from evoke.cli.errors import Interrupted, few_warnings, one_line_errors
from evoke.cli.figures import check_drawable, draw
from evoke.cli.paths import OutputFile, check_folder, check_target, check_targets, write
from evoke.cli.progress import progress_bar

__all__ = ["reproduce"]

_FIGURE = "sines-2.png"  # of all experiments

_OPTIONS_OF_RUNS = (
    click.option("--runs", type=click.IntRange(min=1), default=20, help="Number of runs."),
    click.option("--seed", type=click.IntRange(min=0), default=0,
                 help="Seed of the first run; the others use the next numbers."),
    click.option("--jobs", "n_jobs", type=click.IntRange(min=1), default=1,
                 help="Number of concurrent runs; the result is the same."),
    click.option("--generations", "n_generations", type=click.IntRange(min=1),
                 help="Generations per run; by default the preset's number."),
)  # fmt: skip
_OPTIONS_OF_ONE = (
    *_OPTIONS_OF_RUNS,
    click.option("--preset", type=click.Choice(["paper", "tuned"]), default="tuned",
                 help="The paper's values or ours."),
    click.option("--solver", type=click.Choice(["auto", "native", "thundersvm"]), default="auto", help="SVM solver."),
    click.option("--readout", type=click.Choice(["svm", "lssvm", "pinv"]), default="svm",
                 help="SVMs (Evoke), least-squares SVMs, or the pseudoinverse (PI-Evolino)."),
    click.option("--json", "json_file", type=OutputFile(), help="Write the result to this file as JSON."),
    click.option("--plot", type=OutputFile(), help="Draw the runs (anbncn) or the typical run (sines): FILE.png, ..."),
)  # fmt: skip
_TEST_MAX = click.option("--test-max", type=click.IntRange(min=1), default=2000, help="Largest n to test.")


def _options(options: tuple[Callable[[Any], Any], ...]) -> Callable[[Any], Any]:
    def add(command: Any) -> Any:
        for option in reversed(options):
            command = option(command)
        return command

    return add


@click.group()
def reproduce() -> None:
    """Run the paper's experiments, and those on other languages."""


@reproduce.command()
@click.option("--n-max", type=click.IntRange(2, 100), default=10,
              help="Train on the strings n = 1..N_MAX; memory grows with the fourth power of N_MAX.")  # fmt: skip
@_options(_OPTIONS_OF_ONE)
@_TEST_MAX
@click.option("--out", type=OutputFile(), help="Write anbncn-N<n-max>.json and .md to this folder.")
def anbncn(n_max: int, **arguments: Any) -> None:
    """The context-sensitive language a^n b^n c^n (table 1)."""
    _reproduce_one("anbncn", {"n_max": n_max}, **arguments)


@reproduce.command()
@click.option("--waves", type=click.IntRange(1, 8), default=2, help="Number of sines.")
@_options(_OPTIONS_OF_ONE)
@click.option("--out", type=OutputFile(), help="Write sines-<waves>.json and .md to this folder.")
def sines(waves: int, **arguments: Any) -> None:
    """Superimposed sine waves, continued by a network that reads its own output (section 3.2)."""
    _reproduce_one("sines", {"waves": waves}, **arguments)


@reproduce.command()
@click.option("--language", "names", multiple=True, metavar="NAME",
              help="A language, such as anbn or dyck1; may be given several times. By default all of them.")
@click.option("--n-max", type=click.IntRange(2, 40), default=10, help="Learn from strings with counts up to N_MAX.")
@_options(_OPTIONS_OF_RUNS)
@click.option("--json", "json_file", type=OutputFile(), help="Write the result to this file as JSON.")
def languages(names: tuple[str, ...], json_file: Path | None, **arguments: Any) -> None:
    """Formal languages, learnt from few short strings and tested on very long ones."""
    with one_line_errors(), few_warnings():
        (json_file,) = check_targets({"--json": json_file})
        from evoke import reproduce, tasks

        chosen = names or tasks.LANGUAGES
        generations = arguments["n_generations"] or reproduce.PRESETS["languages"]["n_generations"]
        try:
            with progress_bar("", arguments["runs"] * len(chosen), generations) as progress:
                result = reproduce.languages(chosen, **arguments, progress=progress)
        except reproduce.Interrupted as interrupted:
            result = interrupted.result
        table = reproduce.markdown(result)
        if json_file:
            write(json_file, _json(result))
    print_report(table)
    if result["interrupted"] or result["unfinished"]:
        error = Interrupted if result["interrupted"] else click.ClickException
        where = f"written to {json_file}" if json_file else "nothing was written"
        raise error(f"{_reason(result, arguments['runs'] * len(chosen))}; {where}")


def _reproduce_one(
    task: str, size: dict[str, int], *, json_file: Path | None, out: Path | None, plot: Path | None, **arguments: Any
) -> None:
    """One experiment: the table on stdout, the result in files."""
    with one_line_errors(), few_warnings():
        targets = {"--json": json_file, "--plot": plot}
        check_targets(targets)  # before an import that takes a second
        from evoke.reproduce import file_stem, markdown

        if out:
            stem = check_folder(out) / file_stem(task, **size)
            targets |= {f"--out {suffix}": Path(f"{stem}{suffix}") for suffix in (".json", ".md")}
        json_file, plot, *of_folder = check_targets(targets)
        check_drawable(plot)

        result = _result(task, size | arguments)
        table = markdown(result)
        written = [path for path in (json_file, *of_folder) if path]
        for path in written:
            write(path, table if path in of_folder[1:] else _json(result))
        to_draw = result["runs" if task == "anbncn" else "free_run"]
        if plot and to_draw:
            _draw([result], plot)
            written.append(plot)
    print_report(table)
    reasons = [_reason(result)] if result["interrupted"] or result["unfinished"] else []
    if plot and not to_draw:
        reasons.append("no run to draw")
    if reasons:
        files = ", ".join(map(str, written))
        error = Interrupted if result["interrupted"] else click.ClickException
        raise error("; ".join([*reasons, f"written to {files}" if files else "nothing was written"]))


@reproduce.command("all")
@click.option("--out", type=OutputFile(), required=True, help="Folder for the report and all results.")
@_options(_OPTIONS_OF_RUNS)
@_TEST_MAX
def all_experiments(out: Path, test_max: int, **arguments: Any) -> None:
    """Both tables with every readout, the paper's values and ours, and the figure."""
    with one_line_errors(), few_warnings():
        check_folder(out)
        report, figure = (check_target(out / name) for name in ("report.md", _FIGURE))

        from evoke.reproduce import EXPERIMENTS, file_stem
        from evoke.reproduce import report as report_on

        stems = [file_stem(task, **more) for task, more in EXPERIMENTS]
        targets = [[check_target(out / f"{stem}{suffix}") for suffix in (".json", ".md")] for stem in stems]
        no_figure = None
        try:
            check_drawable(figure)
        except ImportError as error:  # the tables are worth the work without it
            no_figure = " ".join(str(error).split())
            click.echo(f"Warning: {figure.name} will not be drawn: {no_figure}", err=True)
        results = _results_of_all(stems, targets, arguments, test_max)
        drawn = [r for r in results if r["task"] == "sines" and r["preset"] == "tuned" and r["free_run"]]
        if no_figure:
            drawn = []
        if drawn:
            _draw(drawn, figure)
        text = report_on(results, figure.name if drawn else None, no_figure)
        write(report, text)
    print_report(text)
    reasons = [f"{stem}: {_reason(r)}" for stem, r in zip(stems, results, strict=False) if r["unfinished"]]
    done = sum(not result["interrupted"] for result in results)
    if done < len(stems):
        reasons.insert(0, f"interrupted, {done} of {len(stems)} experiments done")
    if reasons:
        error = Interrupted if done < len(stems) else click.ClickException
        raise error("; ".join([*reasons, f"written to {report}"]))


def _results_of_all(
    stems: list[str], targets: list[list[Path]], arguments: dict[str, Any], test_max: int
) -> list[dict[str, Any]]:
    """Run all experiments and write their results; those up to Ctrl-C, the last of which may be interrupted."""
    from evoke.reproduce import EXPERIMENTS, markdown

    results: list[dict[str, Any]] = []
    try:
        for k, (task, more) in enumerate(EXPERIMENTS):
            own = {"test_max": test_max} if task == "anbncn" else {}
            results.append(_result(task, more | arguments | own, f"{k + 1}/{len(stems)} {stems[k]}, "))
            for path, content in zip(targets[k], (_json(results[-1]), markdown(results[-1])), strict=True):
                write(path, content)
            if results[-1]["interrupted"]:
                break
    except KeyboardInterrupt:  # between two experiments
        pass
    return results


def _result(task: str, arguments: dict[str, Any], title: str = "") -> dict[str, Any]:
    """The result of an experiment, or at Ctrl-C the part of it that there is."""
    from evoke import reproduce

    preset, readout = arguments["preset"], arguments["readout"]
    parameters = {"anbncn": reproduce.anbncn_parameters, "sines": reproduce.sines_parameters}[task](preset, readout)
    generations = arguments["n_generations"] or parameters["n_generations"]
    try:
        with progress_bar(title, arguments["runs"], generations) as progress:
            return getattr(reproduce, task)(**arguments, progress=progress)
    except reproduce.Interrupted as interrupted:
        return interrupted.result


def _json(result: dict[str, Any]) -> str:
    return json.dumps(result, indent=2, allow_nan=False) + "\n"


def _draw(results: list[dict[str, Any]], path: Path) -> None:
    """The figure of results of one task."""
    from evoke.plot import FreeRunDisplay, GeneralisationDisplay

    if results[0]["task"] == "anbncn":
        draw(lambda figure: GeneralisationDisplay.from_results(results, ax=figure), path)
    else:
        draw(lambda figure: FreeRunDisplay.from_results(results, axes=figure), path)


def _reason(result: dict[str, Any], wanted: int | None = None) -> str:
    """Why a reproduction is not complete, in one line."""
    from evoke.cli.tables import counted

    verb = "interrupted" if result["interrupted"] else "failed"
    line = f"{verb}, {len(result['runs'])} of {wanted or result['config']['runs']} runs finished"
    for run in result["unfinished"][:3]:
        fitness = "none" if run["fitness"] is None else f"{run['fitness']:.3g}"
        done = counted(run["generations"], "generation")
        line += f"; seed {run['seed']}: {' '.join(run['reason'].split())} after {done}, best fitness {fitness}"
    return line + ("; ..." if len(result["unfinished"]) > 3 else "")
