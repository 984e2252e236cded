"""Tables, CSV and Parquet, through ``evoke fit``, ``predict`` and ``generate``: they work, or say why not in a line."""

from __future__ import annotations

import contextlib
import csv
import io
import json
import tempfile
from collections.abc import Callable
from datetime import date, datetime, timedelta, timezone
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow
from pyarrow import parquet

from evoke.cli import cli
from fuzzing.runner import Unclear

__all__ = ["case", "prepare"]

Rng = np.random.Generator
Options = list[str]

QUICK = ["n_generations=1", "n_cells=2", "subpopulation_size=4", "n_trials=1"]
NAMES = [
    "a", "b", "c", "t", "walk", "side", "A", " b", "", "1", "a,b", 'q"', "\u00fc", "\u53f3", "\x1b[31m", "x y", "#n",
    "__index_level_0__", "n" * 300, "decision a", "None", "nan",
]  # fmt: skip
ODD = [
    "", "NA", "NaN", "null", "None", "nan", "inf", "-inf", "1e999", "1e-999", "0x10", "1_000", "1,5", "1.5.2", " 3 ",
    "+7", "--", "True", "false", "TRUE", "01", "1.", ".5", "10" * 200, "9" * 40, "x", '"', "\u00e9", "\x00", "\n", "#",
    "\x1b]0;t\x07", "2020-01-31", "2020-13-01", "31.1.2020", "1970-01-01T00:00:00Z", "9999-12-31", "=1+1", "\ufeff",
    "\U0001f600",
]  # fmt: skip


def prepare() -> None:
    """Import what a case would."""
    for command in ("fit", "predict", "generate"):
        cli.get_command(None, command)  # type: ignore[arg-type]
    import evoke.cli.fit
    import evoke.cli.generate
    import evoke.cli.predict  # noqa: F401


def _pick(rng: Rng, items: Any) -> Any:
    return items[int(rng.integers(len(items)))]


# ---------------------------------------------------------------- cells of a column


def _few(rng: Rng, n: int) -> list[Any]:
    words = [_pick(rng, ["left", "right", "up", "0", "1", "2", "True", "False", "\u00e9"]) for _ in range(2)]
    return [_pick(rng, words) for _ in range(n)]


def _groups(rng: Rng, n: int) -> list[Any]:
    """Names of sequences, which lie together as a rule."""
    names = np.repeat(np.arange(n), rng.integers(1, 9, size=n))[:n]
    return [f"{k:02d}" if rng.random() < 0.95 else _pick(rng, ODD) for k in names]


def _times(rng: Rng, n: int) -> list[Any]:
    step = _pick(rng, [timedelta(days=1), timedelta(minutes=7), timedelta(days=31)])
    times = [datetime(2020, 1, 1) + k * step for k in range(n)]
    return [str(time.date()) if step.days == 1 else time.isoformat() for time in times]


COLUMNS: list[Callable[[Rng, int], list[Any]]] = [
    lambda rng, n: [repr(float(x)) for x in rng.normal(size=n)],
    lambda rng, n: [str(x) for x in rng.integers(-3, 4, size=n)],
    lambda rng, n: [str(k) for k in range(n)],
    lambda rng, n: [f"{x:.3e}" for x in rng.normal(size=n) * 10.0 ** rng.integers(-300, 300)],
    lambda rng, n: [str(x).replace(".", ",") for x in rng.normal(size=n).round(2)],
    lambda rng, n: [_pick(rng, ODD) for _ in range(n)],
    _few, _few, _groups, _groups, _times,
]  # fmt: skip


# What columns of a table hold that makes sense, by name.
TAME = {"a": COLUMNS[0], "b": COLUMNS[1], "side": _few, "walk": _groups, "t": _times}


def _cells(rng: Rng, n: int, make: Callable[[Rng, int], list[Any]] | None) -> list[Any]:
    cells = (make or _pick(rng, COLUMNS))(rng, n)
    if rng.random() < 0.02 + 0.1 * (make is None) and n:
        cells[int(rng.integers(n))] = _pick(rng, ODD)
    return cells


# ---------------------------------------------------------------- files


def _csv(rng: Rng, names: list[str], columns: list[list[Any]], separator: str, changed: float) -> bytes:
    text = io.StringIO()
    writer = csv.writer(text, delimiter=separator, lineterminator=_pick(rng, ["\n", "\r\n", "\n", "\r"]),
                        quoting=_pick(rng, [csv.QUOTE_MINIMAL, csv.QUOTE_ALL]))  # fmt: skip
    writer.writerow(names)
    writer.writerows(zip(*columns, strict=True))
    said = text.getvalue()
    for _ in range(int(rng.integers(4)) if rng.random() < changed else 0):
        at = int(rng.integers(len(said) + 1))
        end = at + int(rng.integers(1, 20))
        said = _pick(rng, [
            said[:at] + said[end:], said[:at] + _pick(rng, ODD) + said[at:], said[:at] + "\n" + said[at:], said[:at],
            said[:at] + said[at:end] * 2 + said[end:], said[:at] + '"' + said[at:], "# note\n" + said, "\n" + said,
            said[:at] + separator + said[at:], said.replace(separator, ";"), said + said,
            said[:at] + "\n# x\n" + said[at:],
        ])  # fmt: skip
    encoding = "utf-8" if rng.random() > 0.3 * changed else _pick(rng, ["utf-8-sig", "utf-16", "latin-1", "utf-32"])
    content = said.encode(encoding, "replace")
    if rng.random() < 0.1 * changed:
        content = content[: int(rng.integers(len(content) + 1))] + rng.bytes(3)
    return content


def _array(rng: Rng, cells: list[Any], tame: bool) -> Any:
    """A column of Parquet: of numbers, of the text, of any type there is."""
    n = len(cells)
    if tame and rng.random() < 0.95:
        try:
            return pyarrow.array([float(cell) for cell in cells])
        except ValueError:
            return pyarrow.array(cells)
    numbers = rng.normal(size=n)
    whole = rng.integers(0, 100, size=n)
    missing = np.zeros(n, bool) if rng.random() < 0.8 else rng.random(n) < 0.3
    kinds: list[Callable[[], Any]] = [
        *[lambda: pyarrow.array(np.array(cells, dtype=object), mask=missing)] * 6,
        *[lambda: pyarrow.array(numbers, mask=missing)] * 6,
        lambda: pyarrow.array(whole.astype(_pick(rng, ["i1", "u1", "i2", "i4", "i8", "u8"])), mask=missing),
        lambda: pyarrow.array(numbers.astype(_pick(rng, ["f2", "f4", "f8"])) * _pick(rng, [1, np.inf, np.nan, 1e38])),
        lambda: pyarrow.array(whole > 50, mask=missing), lambda: pyarrow.array(cells).dictionary_encode(),
        lambda: pyarrow.array([date(2020, 1, 1) + timedelta(days=int(k)) for k in whole]),
        lambda: pyarrow.array([datetime(2020, 1, 1, tzinfo=timezone.utc) + timedelta(days=k) for k in range(n)]),
        lambda: pyarrow.array([datetime(1, 1, 1) + timedelta(days=k) for k in range(n)], pyarrow.timestamp("us")),
        lambda: pyarrow.array([timedelta(seconds=int(k)) for k in whole]), lambda: pyarrow.nulls(n),
        lambda: pyarrow.array([Decimal(int(k)) for k in whole]),
        lambda: pyarrow.array([cell.encode("utf-8", "replace") for cell in cells]),
        lambda: pyarrow.array([[int(k)] * (int(k) % 3) for k in whole]), lambda: pyarrow.array([{"x": 1}] * n),
        lambda: pyarrow.array(cells, pyarrow.large_string()),
        lambda: pyarrow.array([int(k) for k in whole], pyarrow.time32("s")),
        lambda: pyarrow.array([[("k", 1)]] * n, pyarrow.map_(pyarrow.string(), pyarrow.int64())),
        lambda: pyarrow.array([2**63 + int(k) for k in whole], pyarrow.uint64()),
    ]  # fmt: skip
    try:
        return _pick(rng, kinds)()
    except (ValueError, TypeError, pyarrow.ArrowException):  # no such array
        return pyarrow.array(cells)


def _parquet(rng: Rng, names: list[str], columns: list[list[Any]], tame: bool) -> bytes:
    table = pyarrow.table([_array(rng, cells, tame) for cells in columns], names=names)
    if rng.random() < (0.05 if tame else 0.3):  # what pandas writes of an index, and what it does not
        index = _pick(rng, [
            {"kind": "range", "name": "i", "start": 3, "stop": 3 + 2 * len(table), "step": 2}, names[0], "gone", 3,
            {"kind": "range", "name": "i", "start": 0, "stop": 0, "step": 0}, {"kind": "range", "name": 7}, {}, [],
            {"kind": "range", "name": "i", "start": "x", "stop": None, "step": 1}, {"name": "i"}, None,
        ])  # fmt: skip
        said: Any = {"index_columns": _pick(rng, [[index], [index], index, None, {"a": 1}]), "columns": [],
                     "column_indexes": [], "pandas_version": "2.2.2"}  # fmt: skip
        if rng.random() < 0.2:
            said = _pick(rng, [[], {}, "x", {"columns": [{"name": "a"}]}])
        table = table.replace_schema_metadata({"pandas": json.dumps(said) if rng.random() < 0.95 else "{"})
    file = io.BytesIO()
    parquet.write_table(table, file, row_group_size=_pick(rng, [1, 3, 10**6]))
    content = file.getvalue()
    if rng.random() < 0.05:
        return content[: int(rng.integers(len(content)))]
    if rng.random() < 0.05:
        other = bytearray(content)
        other[int(rng.integers(len(other)))] = int(rng.integers(256))
        return bytes(other)
    return content


def _table(rng: Rng, path: Path, names: list[str], separator: str, tame: bool) -> None:
    n = int(_pick(rng, [12, 30, 60] if tame else [0, 1, 2, 5, 12, 30]))
    columns = [_cells(rng, n, TAME[name] if tame else None) for name in names]
    if path.suffix == ".parquet":
        path.write_bytes(_parquet(rng, names, columns, tame))
    else:
        path.write_bytes(_csv(rng, names, columns, separator, 0.05 if tame else 0.3))


# ---------------------------------------------------------------- commands


def _run(*arguments: Any) -> int:
    """The exit status of a command inside this process."""
    out, said = io.TextIOWrapper(io.BytesIO(), encoding="utf-8"), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(said):
        try:
            cli.main([*map(str, arguments)], prog_name="evoke")
        except SystemExit as ended:
            status = 0 if ended.code is None else ended.code
    text = said.getvalue()
    if status not in (0, 1, 2):
        raise Unclear(f"{arguments}: exit status {status}: {text}")
    errors = [line for line in text.splitlines() if line.startswith("Error: ")]
    if "Traceback" in text or len(errors) != (status != 0) or (errors and len(errors[0]) < 12):
        raise Unclear(f"{arguments}: exit status {status}: {text}")
    return int(status)


SETTINGS = ["validation=0.3", "validation=stratified", "readout=lssvm", "readout=pinv", "washout=2", "scale=standard",
            "season=3", "log=True", "pool=mean", "n_networks=2", "C=auto"]  # fmt: skip


def _any_options(rng: Rng, names: list[str]) -> Options:
    """Of ``evoke fit``."""
    options = ["--target", _pick(rng, names)]
    for option, share in (("--sequence", 0.5), ("--time", 0.25), ("--features", 0.3)):
        if rng.random() < share:
            options += [option, _pick(rng, names)]
    if rng.random() < 0.6:
        options += ["--task", _pick(rng, ["classify", "regress", "forecast"])]
    if rng.random() < 0.2:
        options.append("--per-sequence")
    return options


def _tame_options(rng: Rng) -> Options:
    """That go with the columns of `TAME`."""
    target, *options = _pick(rng, [
        ["side"], ["a", "--task", "regress"], ["a,b", "--task", "forecast"], ["a", "--task", "forecast"],
        ["b", "--task", "classify"],
    ])  # fmt: skip
    options += ["--target", target]
    if target != "a,b":
        options += ["--features", "b" if target == "a" else "a"]
    if rng.random() < 0.6:
        options += ["--sequence", "walk"]
    if rng.random() < 0.3:
        options += ["--time", "t"]
    return options


def _form(rng: Rng, separator: str) -> Options:
    options = ["--separator", separator] if rng.random() < 0.2 else []
    return options + (["--decimal", ","] if rng.random() < 0.1 else [])


def case(seed: int, number: int) -> str:
    """Learn from a table, and read another with the model: a word for how far that went.

    Raises
    ------
    Exception
        A command has ended by another exception than its own, or without saying why.
    """
    rng = np.random.default_rng([seed, number])
    tame = rng.random() < 0.6
    names = list(TAME) if tame else [_pick(rng, NAMES) for _ in range(int(rng.integers(1, 6)))]
    separator = _pick(rng, [",", ",", ",", ";", "\t", "|"])
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / _pick(rng, ["t.csv", "t.csv", "t.tsv", "t.parquet", "t.parquet"])
        model, other = path.with_name("m.evk"), path.with_name(f"other{path.suffix}")
        separator = "\t" if path.suffix == ".tsv" else separator
        _table(rng, path, names, separator, tame)
        options = _tame_options(rng) if tame else _any_options(rng, names)
        if rng.random() < 0.2:
            options += ["-p", _pick(rng, SETTINGS)]
        few = [] if "forecast" in options and rng.random() < 0.1 else [word for p in QUICK for word in ("-p", p)]
        status = _run("fit", path, *options, *few, *_form(rng, separator), "-o", model)
        if status:
            return "fit: refused" if status == 1 else "fit: wrong usage"
        if rng.random() < 0.3:
            other = path
        else:
            _table(rng, other, names, separator, rng.random() < 0.7 * tame)
        form = _form(rng, separator)
        out = [] if rng.random() < 0.5 else ["-o", path.with_name(_pick(rng, ["o.csv", "o.tsv", "o.parquet"]))]
        if "forecast" in options and rng.random() < 0.5:
            context = ["--context", other] if rng.random() < 0.7 else []
            inputs = ["--inputs", other] if "--features" in options else []
            status = _run("generate", model, "--steps", 3, *context, *inputs, *form, *out)
        else:
            more = [option for option in ("--decisions", "--probabilities") if rng.random() < 0.2]
            status = _run("predict", model, other, *more, *form, *out)
        return ("predict: done", "predict: refused", "predict: wrong usage")[status]
