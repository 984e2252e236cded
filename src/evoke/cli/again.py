"""The command under way, written out so that it can be given again."""

from __future__ import annotations

import shlex
from typing import Any

import click
from click.core import ParameterSource

__all__ = ["command_again"]


def command_again(**changed: Any) -> str:
    """The command line of the current command, with some of its parameters `changed`; quoted for a shell."""
    context = click.get_current_context()
    words = context.command_path.split()
    for parameter in context.command.params:
        name = parameter.name
        if name is None or name not in context.params:
            continue
        given = context.get_parameter_source(name) is ParameterSource.COMMANDLINE
        if not given and name not in changed:
            continue
        value = changed.get(name, context.params[name])
        option = [] if isinstance(parameter, click.Argument) else [parameter.opts[0]]
        if isinstance(value, bool):
            words += option if value else []
        else:
            for one in value if isinstance(value, tuple) else (value,):
                words += [*option, str(one)]
    return shlex.join(words)
