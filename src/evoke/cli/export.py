"""What ``evoke export`` does."""

from __future__ import annotations

from pathlib import Path

import click

from evoke.cli.errors import print_text
from evoke.cli.paths import check_targets

__all__ = ["export_model"]


def export_model(model: Path, out: Path, dtype: str, name: str | None, stateful: bool) -> None:
    """Write a model in the form that the suffix of the file says."""
    suffix = out.suffix.lower()
    if suffix not in (".c", ".onnx"):
        raise click.UsageError(f"models are exported as .c or .onnx, not as {suffix or 'a file without suffix'}: {out}")
    if suffix == ".c" and stateful:
        raise click.UsageError("--stateful is for .onnx: a C file always has a state")
    if suffix == ".onnx" and name is not None:
        raise click.UsageError("--name is for .c: there are no names in an ONNX file that programs share")
    check_targets({"--out": out}, [model])

    from evoke.estimators import load
    from evoke.export import to_c, to_onnx

    fitted = load(model)
    if suffix == ".c":
        to_c(fitted, out, dtype=dtype, name="evoke" if name is None else name)
    else:
        to_onnx(fitted, out, dtype=dtype, stateful=stateful)
    print_text(f"{out}: {out.stat().st_size:,} bytes\n")
