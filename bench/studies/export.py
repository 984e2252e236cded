"""Do exported models say what the models say, and how large are they?

    python bench/study.py export [--models 210] [--seed 0] [--json FILE]

Random models of all kinds (`bench/harness/exports.py`), a kind after the other, are exported as C, compiled with
warnings as errors, and as ONNX, run by onnxruntime. The tables have, for each kind and for all of them together, the
largest difference of any decision or value from that of the model, and the same divided by 1 and the sum of the sizes
of the readout's coefficients, to which rounding errors are relative; how many times the difference of "own" it is,
which is the forward pass of our own in single precision with all else in double; how many models differ by less than
1e-10; how many labels differ of those that the exported model itself says, and how many of these although their margin
is larger than the largest difference in that model. C files read step by step and are compared after every step, ONNX
after every step or, where a model answers for whole sequences, at their ends.

The last table has sizes in bytes: of files, of what compilers make of them with -Os (tables and code, without the
compiler's own arithmetic where the processor has none), and of the state.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from evoke import EvokeClassifier, EvokeForecaster, EvokeRegressor, simplify, tasks
from evoke.export import to_c, to_onnx
from evoke.reproduce import PRESETS
from harness.exports import KINDS, STRICT, InC, InOnnx, coefficients, in_single, said
from harness.machine import describe
from harness.report import installed, markdown_table

DTYPES = ("float64", "float32", "mixed")
ARM = ("arm-none-eabi-gcc", *STRICT, "-mthumb", "-Os", "-c")
M4, M0 = ("-mcpu=cortex-m4", "-mfloat-abi=hard", "-mfpu=fpv4-sp-d16"), ("-mcpu=cortex-m0",)
WASM = ("clang", "--target=wasm32", "-Os", "-nostdlib", "-mbulk-memory", "-Wl,--no-entry", "-Wl,--export-all")


def labels(exported: InC | InOnnx, model: Any, Z: list[np.ndarray], found: list[np.ndarray]) -> list[np.ndarray]:
    """The labels that an exported classifier itself says, after each of the values found."""
    if isinstance(exported, InOnnx):
        return [np.array([row]) if model.fitted_.per_sequence else row[: len(z)]
                for row, z in zip(exported.batch(Z)["label"], Z, strict=True)]  # fmt: skip
    if model.fitted_.multilabel:  # of which C files have values alone
        return [values > 0.0 for values in found]
    return [model.classes_[[exported.label(np.ascontiguousarray(row)) for row in values]] for values in found]


def margins(model: Any, values: np.ndarray) -> np.ndarray:
    """How far values would have to change, all at most by so much, before a label does."""
    if model.fitted_.multilabel or values.shape[1] == 1:
        return np.abs(values)
    best = np.sort(values, axis=1)
    return (best[:, -1:] - best[:, -2:-1]) / 2.0


def compared(
    model: Any, found: list[np.ndarray], wanted: list[np.ndarray], exported: InC | InOnnx | None = None,
    Z: list[np.ndarray] | None = None,
) -> dict[str, float]:  # fmt: skip
    """The largest difference in the last rows that both have, and labels that differ."""
    pairs = [(a[-len(b) :].astype(np.float64), b[-len(a) :]) for a, b in zip(found, wanted, strict=True)]
    error = max(float(np.abs(a - b).max()) for a, b in pairs)
    made = {"error": error, "relative": error / (1.0 + coefficients(model)), "labels": 0, "changed": 0, "wrong": 0}
    if not hasattr(model, "classes_"):
        return made
    answer = model.fitted_.answer
    said_ = [answer(a) for a, _ in pairs] if exported is None else labels(exported, model, Z or [], found)
    for said_here, (_, b) in zip(said_, pairs, strict=True):
        differs = (said_here[-len(b) :] != answer(b)).astype(bool).reshape(len(b), -1)
        made["labels"] += differs.size
        made["changed"] += int(differs.sum())
        made["wrong"] += int((differs & (margins(model, b) > error)).sum())
    return made


def measured(kind: str, seed: int) -> list[dict[str, Any]]:
    """One model in all forms."""
    model, Z = KINDS[kind](np.random.default_rng(seed))
    wanted, rows = said(model, Z), []
    ends = [values[-1:] if getattr(model.fitted_, "per_sequence", False) else values for values in wanted]
    with tempfile.TemporaryDirectory() as folder:
        for dtype in DTYPES:
            exported = InC(model, Path(folder), dtype)
            found = [exported.read(z) for z in Z]
            at_ends = {"at_ends": compared(model, found, ends)["error"]}
            rows.append({"form": "C", "dtype": dtype} | compared(model, found, wanted, exported, Z) | at_ends)
            if installed("onnx") and installed("onnxruntime"):
                run = InOnnx(model, Path(folder), dtype)
                rows.append({"form": "ONNX", "dtype": dtype} | compared(model, run.read(Z), wanted, run, Z))
    rows.append({"form": "own", "dtype": "mixed"} | compared(model, in_single(model, Z), wanted))
    return [{"kind": kind, "seed": seed} | row for row in rows]


def agreement(runs: list[dict[str, Any]], kinds: dict[str, tuple[str, ...]]) -> list[dict[str, Any]]:
    """A row for each precision, form and group of kinds."""
    own_error = {run["seed"]: run["error"] for run in runs if run["form"] == "own"}
    rows = []
    for dtype, form, (title, group) in product(DTYPES, ("C", "ONNX", "own"), kinds.items()):
        own = [run for run in runs if (run["form"], run["dtype"]) == (form, dtype) and run["kind"] in group]
        if not own:
            continue
        errors = [run["error"] for run in own]
        ratio = np.median([run.get("at_ends", run["error"]) / max(own_error[run["seed"]], 1e-300) for run in own])
        rows.append({
            "precision": dtype, "form": form, "models": title, "n": len(own), "largest": f"{max(errors):.1e}",
            "median": f"{np.median(errors):.1e}", "relative, largest": f"{max(run['relative'] for run in own):.1e}",
            "times own, median": "-" if dtype == "float64" else f"{ratio:.2g}",
            "below 1e-10": sum(error < 1e-10 for error in errors), "labels": sum(run["labels"] for run in own),
            "differ": sum(run["changed"] for run in own), "beyond the margin": sum(run["wrong"] for run in own),
        })  # fmt: skip
    return rows


def examples() -> dict[str, Any]:
    """Models whose sizes are shown."""
    rng = np.random.default_rng(0)
    language = EvokeClassifier(**PRESETS["tuned"], random_state=0).fit(*tasks.anbncn(10))
    X = [rng.normal(size=(n, 3)) for n in rng.integers(10, 40, size=60)]
    whole = EvokeClassifier(n_networks=10, random_state=0).fit(X, [int(x[:, 0].sum() > 0.0) for x in X])
    y = [0.3 * x.cumsum(axis=0)[:, 0] for x in X]
    return {
        "a^n b^n c^n, tuned": language,
        "the same, simplified": simplify(language, "anbncn").model,
        "values of steps, pinv": EvokeRegressor(readout="pinv", n_generations=5, random_state=0).fit(X, y),
        "sines, one network": EvokeForecaster(validation="half", n_generations=5, random_state=0).fit(
            tasks.superimposed_sines(2, 400)),
        "60 sequences, 10 networks": whole,
    }  # fmt: skip


def compiled(command: tuple[str, ...], folder: Path) -> str:
    """Bytes of tables and code that a compiler makes of model.c."""
    if shutil.which(command[0]) is None:
        return "-"
    subprocess.run([*command, "model.c", "-o", "model.o"], cwd=folder, check=True)
    if command[0] == "clang":
        return f"{(folder / 'model.o').stat().st_size:,}"
    lines = subprocess.run(["arm-none-eabi-size", "model.o"], cwd=folder, check=True, capture_output=True, text=True)
    text, data, _ = map(int, lines.stdout.splitlines()[1].split()[:3])
    return f"{text + data:,}"


def sizes(models: dict[str, Any]) -> list[dict[str, Any]]:
    rows = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for title, model in models.items():
            row: dict[str, Any] = {"model": title}
            to_c(model, folder / "model.c")
            text = (folder / "model.c").read_text(encoding="utf-8")
            row |= {"C, lines": f"{len(text.splitlines()):,}", "C, double": f"{len(text):,}"}
            row["WebAssembly, double"] = compiled(WASM, folder)
            row["Cortex-M0, double"] = compiled((*ARM, *M0), folder)
            to_c(model, folder / "model.c", dtype="mixed")
            row["Cortex-M4, mixed"] = compiled((*ARM, *M4), folder)
            to_c(model, folder / "model.c", dtype="float32")
            row["Cortex-M4, float"] = compiled((*ARM, *M4), folder)
            row["state, float"] = f"{InC(model, folder, 'float32').state_size:,}"
            if installed("onnx"):
                to_onnx(model, folder / "model.onnx")
                row["ONNX, double"] = f"{(folder / 'model.onnx').stat().st_size:,}"
            rows.append(row)
    return rows


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", type=int, default=210)
    parser.add_argument("--seed", type=int, default=0, help="of the first model")
    parser.add_argument("--json", metavar="FILE", help="write all figures to this file")
    options = parser.parse_args(arguments)
    kinds, runs = list(KINDS), []
    for seed in range(options.seed, options.seed + options.models):
        runs += measured(kinds[seed % len(kinds)], seed)
        if seed % 20 == 19:
            print(f"{seed - options.seed + 1} models", file=sys.stderr, flush=True)
    tables = {
        "kinds": agreement(runs, {kind: (kind,) for kind in KINDS}),
        "agreement": agreement(runs, {"all kinds": tuple(KINDS)}), "sizes": sizes(examples()),
    }  # fmt: skip
    for rows in tables.values():
        print(markdown_table(rows) + "\n")
    if options.json:
        record = {"machine": describe(), "seeds": [options.seed, seed], "tables": tables, "runs": runs}
        Path(options.json).write_text(json.dumps(record, indent=1), encoding="utf-8")
