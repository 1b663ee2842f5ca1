"""A group whose commands are imported when called."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from importlib import import_module
from typing import Any

import click


class LazyGroup(click.Group):
    """Knows its commands' names and short helps without importing them.

    Parameters
    ----------
    commands_at : mapping of str to (module, short help)
        Each module has a ``command``; listed in this order, which is that of the work.
    """

    def __init__(self, *args: Any, commands_at: Mapping[str, tuple[str, str]], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._commands_at = commands_at

    def list_commands(self, ctx: click.Context) -> list[str]:
        """In the order of the work, not of the alphabet."""
        return list(self._commands_at)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        """Import the command's module."""
        if name not in self._commands_at:
            return None
        command: click.Command = import_module(self._commands_at[name][0]).command
        command.name = name
        return command

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command; end quietly where the reader of our output (head, say) has left."""
        try:
            return super().invoke(ctx)
        except BrokenPipeError:
            # Python flushes what is left when it ends: that must go somewhere.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return None

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the table of short helps."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, text) for name, (_, text) in self._commands_at.items()])
