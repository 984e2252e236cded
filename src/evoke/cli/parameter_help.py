"""What ``-p`` takes, as help: read from the sources of the estimators, which would take long to import."""

from __future__ import annotations

import ast
import json
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import click

__all__ = ["ELSEWHERE", "FitCommand", "Parameter", "documented_parameters", "parameters_by_theme"]

# Constructor parameters that have an option of their own, or no meaning here.
ELSEWHERE = {
    "random_state": "use --seed",
    "n_jobs": "use --jobs",
    "callbacks": "the command line has its own",
    "verbose": "progress is shown on a terminal",
    "warm_start": "use --checkpoint to continue a run",
}

_SOURCES = {"classify": "classifier.py", "regress": "regressor.py", "forecast": "forecaster.py"}

_THEMES = {
    "Network": ("n_cells", "cell", "gate_bias", "weight_range", "n_networks", "differences", "scale", "feedback_scale",
                "dtype"),
    "Evolution": ("n_generations", "subpopulation_size", "n_trials", "mutation_scale", "burst_patience", "burst_scale",
                  "credit", "search", "n_islands", "migrate_every", "n_restarts"),
    "How networks are judged": ("objective", "validation", "validation_mode", "washout", "class_weight", "refit"),
    "Readout": ("readout", "kernel", "gamma", "C", "epsilon", "tol", "solver", "pool", "n_points", "n_landmarks",
                "fit_samples"),
    "Series": ("season", "difference", "log"),
    "Limits": ("max_seconds", "max_memory"),
}  # fmt: skip


@dataclass
class Parameter:
    """A parameter of one or several estimators.

    Attributes
    ----------
    text : str
        The first sentence that its docstring says of it.
    kind : str
        Its values, as the docstring has them.
    defaults : dict of str
        By task, as they are written after ``-p``.
    """

    text: str
    kind: str
    defaults: dict[str, str] = field(default_factory=dict)

    def term(self, name: str) -> str:
        """The parameter with its default, and others by task."""
        common, *others = dict.fromkeys(self.defaults.values())
        tasks = {other: [task for task, value in self.defaults.items() if value == other] for other in others}
        return f"{name}={common}" + "".join(f" ({', '.join(of)}: {value})" for value, of in tasks.items())

    def meaning(self) -> str:
        """What it is, for which tasks where not for all, and the values."""
        only = "" if len(self.defaults) == len(_SOURCES) else f"[{', '.join(self.defaults)}] "
        return f"{only}{self.text} {self.kind}".replace("  ", " ").strip()


def documented_parameters() -> dict[str, Parameter]:
    """The parameters of all estimators that ``-p`` sets; none where there are no sources."""
    found: dict[str, Parameter] = {}
    for task, name in _SOURCES.items():
        try:
            source = (Path(__file__).parents[1] / "estimators" / name).read_text(encoding="utf-8")
        except OSError:
            return {}
        estimator = next(
            node for node in ast.parse(source).body if isinstance(node, ast.ClassDef) and node.name.startswith("Evoke")
        )
        texts = _texts(ast.get_docstring(estimator) or "")
        for parameter, default in _defaults(estimator).items():
            if parameter not in ELSEWHERE:
                found.setdefault(parameter, Parameter(*texts[parameter])).defaults[task] = default
    return found


def parameters_by_theme() -> dict[str, dict[str, Parameter]]:
    """The same, in groups."""
    found = documented_parameters()
    groups = {theme: {name: found.pop(name) for name in names if name in found} for theme, names in _THEMES.items()}
    return {theme: group for theme, group in (groups | {"Others": found}).items() if group}


class FitCommand(click.Command):
    """A command whose help says what ``-p`` takes."""

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The parameters, after the options."""
        for theme, group in parameters_by_theme().items():
            with formatter.section(f"-p NAME=VALUE, {theme.lower()}"):
                formatter.write_dl([(one.term(name), one.meaning()) for name, one in group.items()], col_max=24)
        super().format_epilog(ctx, formatter)


def _defaults(estimator: ast.ClassDef) -> dict[str, str]:
    """The defaults of the constructor, as ``-p`` takes them."""
    init = next(node for node in estimator.body if isinstance(node, ast.FunctionDef) and node.name == "__init__")
    names = [argument.arg for argument in init.args.args][-len(init.args.defaults) :]
    return {
        name: _written(ast.literal_eval(value)) for name, value in zip(names, init.args.defaults, strict=True)
    }


def _written(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, separators=(",", ":"))


def _texts(docstring: str) -> dict[str, tuple[str, str]]:
    """The first sentence on each parameter, and what values it has."""
    section = docstring.partition("Parameters\n----------\n")[2].partition("\nAttributes\n")[0]
    found = {}
    for block in re.split(r"\n(?=\w+ : )", section):
        head, _, body = block.partition("\n")
        name, _, kind = head.partition(" : ")
        text = " ".join(body.split()).replace("`", "")
        sentence = re.match(r".*?\.(?=\s|$)", text)
        kind = re.sub(r",? default=.*", "", kind)
        found[name] = ("" if sentence is None else sentence[0], f"({kind})")
    return found
