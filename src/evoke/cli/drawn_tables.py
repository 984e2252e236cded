"""Reports in Markdown, whose tables are drawn where a terminal shows them."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator
from io import StringIO
from itertools import groupby
from typing import Any

from evoke.cli.errors import print_text

__all__ = ["drawn", "print_report"]


def print_report(markdown: str) -> None:
    """Write a report to stdout: drawn on a terminal, as it is for files and other programs."""
    if not sys.stdout.isatty():
        print_text(markdown)
        return
    lines = (getattr(sys.stdout, "encoding", None) or "").lower().startswith("utf")
    print_text(drawn(markdown, shutil.get_terminal_size().columns, lines=lines))


def drawn(markdown: str, width: int, *, lines: bool = True) -> str:
    """The report as plain text of this width; the tables have frames, of `lines` or of ASCII."""
    from rich.console import Console

    file = StringIO()
    console = Console(file=file, width=width, color_system=None, force_terminal=False, highlight=False, emoji=False)
    for part in _parts(markdown, lines=lines):
        console.print(part, markup=False)
    return "".join(f"{line.rstrip()}\n" for line in file.getvalue().splitlines())


def _parts(markdown: str, *, lines: bool) -> Iterator[Any]:
    for is_table, group in groupby(markdown.splitlines(), lambda line: line.startswith("|")):
        if is_table:
            yield _table(list(group), lines=lines)
        else:
            yield from (line.lstrip("# ") for line in group)


def _table(rows: list[str], *, lines: bool) -> Any:
    from rich import box
    from rich.table import Table
    from rich.text import Text

    head, _, *body = ([cell.strip() for cell in row.strip("|").split("|")] for row in rows)
    table = Table(box=box.ROUNDED if lines else box.ASCII)
    for name in head:
        table.add_column(Text(name), overflow="fold")
    for cells in body:
        table.add_row(*map(Text, cells))
    return table
