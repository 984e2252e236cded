"""The command line. NumPy and scikit-learn are imported inside the commands only: ``evoke --help`` is quick."""

from __future__ import annotations

import errno
import json
import os
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stdout
from io import StringIO
from pathlib import Path
from typing import Any

import click

from evoke import __version__

__all__ = ["cli"]


@contextmanager
def _one_line_errors() -> Iterator[None]:
    """What can go wrong without a fault of the program is told in one line, exit status 1."""
    try:
        yield
    except (ImportError, MemoryError, OSError, RuntimeError, ValueError) as error:
        raise click.ClickException(" ".join(str(error).split()) or type(error).__name__) from None


@contextmanager
def _few_warnings() -> Iterator[None]:
    """One line on stderr for each kind of warning: a solver may have the same to say of thousands of networks."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default")
        try:
            yield
        finally:
            texts: dict[str, list[str]] = {}
            for warning in caught:
                texts.setdefault(warning.category.__name__, []).append(" ".join(str(warning.message).split()))
            for kind, said in texts.items():
                more = f" (and {len(said) - 1} more of this kind)" if len(said) > 1 else ""
                click.echo(f"{kind}: {said[0]}{more}", err=True)


def _print(text: str) -> None:
    """Write to stdout; a reader that has gone away (``| head``) is no error worth a word."""
    try:
        click.echo(text, nl=False)
    except OSError as error:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # or Python would complain again when it flushes at exit
        if error.errno == errno.EPIPE:
            raise SystemExit(1) from None
        raise click.ClickException(f"cannot write to stdout: {error.strerror}") from None


def _temporary(path: Path) -> Path:
    return path.with_name(f".{path.name}.{os.getpid()}.tmp")


def _check_target(path: Path) -> Path:
    """The real path of a file to be written; fails now rather than after an hour of work."""
    path = Path(os.path.realpath(path))
    try:
        if path.exists() and not path.is_file():
            raise OSError(errno.EINVAL, "not a regular file")
        temporary = _temporary(path)
        temporary.touch(exist_ok=False)
        temporary.unlink()
    except OSError as error:
        raise click.ClickException(f"cannot write {path}: {error.strerror}") from None
    return path


def _write(path: Path, text: str) -> None:
    """Write a file so that a crash leaves the old or the new one, never a half."""
    temporary = _temporary(path)
    try:
        with open(temporary, "x", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except OSError as error:
        raise click.ClickException(f"cannot write {path}: {error.strerror}") from None
    finally:
        temporary.unlink(missing_ok=True)


@contextmanager
def _progress(runs: int, generations: int) -> Iterator[Callable[[dict[str, Any]], None] | None]:
    """A bar on stderr if that is a terminal, else nothing."""
    if sys.stderr is None or not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    done: dict[int, int] = {}
    columns = (TextColumn("run {task.fields[run]}/{task.fields[runs]}"), BarColumn(), MofNCompleteColumn(),
               TextColumn("generations, {task.fields[state]}"), TimeElapsedColumn())  # fmt: skip
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("", total=runs * generations, run=1, runs=runs, state="starting")

        def show(run: dict[str, Any]) -> None:
            done[run["seed"]] = generations if run["status"] in ("finished", "failed") else run["generations"]
            fitness = "no fitness yet" if run["fitness"] is None else f"fitness {run['fitness']:.3g}"
            bar.update(task, completed=sum(list(done.values())), run=len(done), state=f"seed {run['seed']}: {fitness}")

        yield show


@click.group(context_settings={"help_option_names": ["-h", "--help"], "show_default": True})
@click.version_option(__version__, prog_name="evoke", message="%(prog)s %(version)s")
def cli() -> None:
    """Evolved recurrent networks with support vector readouts for learning from sequences."""


@cli.command("show-config")
def show_config_command() -> None:
    """Versions, instruction set and the state of ThunderSVM."""
    with _one_line_errors():
        from evoke.config import show_config

        with redirect_stdout(StringIO()) as text:
            show_config()
    _print(text.getvalue())


@cli.group()
def reproduce() -> None:
    """Run the paper's experiments."""


@reproduce.command()
@click.option("--n-max", type=click.IntRange(2, 1000), default=10, help="Train on the strings n = 1..N_MAX.")
@click.option("--runs", type=click.IntRange(min=1), default=20, help="Number of runs.")
@click.option("--seed", type=click.IntRange(min=0), default=0, help="Seed of the first run; the others follow it.")
@click.option("--preset", type=click.Choice(["paper", "tuned"]), default="tuned", help="The paper's values or ours.")
@click.option("--solver", type=click.Choice(["auto", "native", "thundersvm"]), default="auto", help="SVM solver.")
@click.option("--readout", type=click.Choice(["svm"]), default="svm", help="What reads the network.")
@click.option("--jobs", type=click.IntRange(min=1), default=1, help="Runs at a time; no result depends on it.")
@click.option("--generations", type=click.IntRange(min=1), help="Instead of the preset's number.")
@click.option("--test-max", type=click.IntRange(min=1), default=2000, help="Longest n of the test.")
@click.option("--json", "json_file", type=click.Path(path_type=Path), help="Write the result to this file as JSON.")
@click.option("--out", type=click.Path(path_type=Path), help="Write anbncn-N<n-max>.json and .md to this folder.")
def anbncn(
    n_max: int, runs: int, seed: int, preset: str, solver: str, readout: str, jobs: int, generations: int | None,
    test_max: int, json_file: Path | None, out: Path | None,
) -> None:  # fmt: skip
    """The context-sensitive language a^n b^n c^n (table 1)."""
    with _one_line_errors(), _few_warnings():
        json_targets, markdown_targets = [json_file] if json_file else [], []
        if out:
            out.mkdir(parents=True, exist_ok=True)
            json_targets.append(out / f"anbncn-N{n_max}.json")
            markdown_targets.append(out / f"anbncn-N{n_max}.md")
        json_targets, markdown_targets = ([_check_target(p) for p in t] for t in (json_targets, markdown_targets))

        from evoke import reproduce

        try:
            with _progress(runs, generations or reproduce.PRESETS[preset]["n_generations"]) as progress:
                result = reproduce.anbncn(
                    n_max=n_max, runs=runs, seed=seed, preset=preset, solver=solver, readout=readout, n_jobs=jobs,
                    n_generations=generations, test_max=test_max, progress=progress,
                )  # fmt: skip
        except reproduce.Interrupted as interrupted:
            result = interrupted.result
        table = reproduce.markdown(result)
        for path in json_targets:
            _write(path, json.dumps(result, indent=2, allow_nan=False) + "\n")
        for path in markdown_targets:
            _write(path, table)
    _print(table)
    written = ", ".join(map(str, json_targets + markdown_targets))
    if result["interrupted"] or result["unfinished"]:
        raise click.ClickException(_reason(result) + (f"; written to {written}" if written else "; nothing written"))


def _reason(result: dict[str, Any]) -> str:
    """Why a reproduction is not complete, in one line."""
    verb = "interrupted" if result["interrupted"] else "failed"
    line = f"{verb}, {len(result['runs'])} of {result['config']['runs']} runs finished"
    for run in result["unfinished"][:3]:
        fitness = "none" if run["fitness"] is None else f"{run['fitness']:.3g}"
        line += f"; seed {run['seed']}: {' '.join(run['reason'].split())} after {run['generations']} generations"
        line += f", best fitness {fitness}"
    return line + ("; ..." if len(result["unfinished"]) > 3 else "")
