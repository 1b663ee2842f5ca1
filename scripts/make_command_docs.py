"""Write docs/commands.md from the commands' own --help: ``python scripts/make_command_docs.py``."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import click

from goalscli.cli import goals

PAGE = Path(__file__).resolve().parents[1] / "docs" / "commands.md"
WIDTH = 100
HEAD = """\
# Commands

What `goals COMMAND --help` prints; this page is written by `scripts/make_command_docs.py`.

Exit codes: 0 done and complete; 2 a wrong option or input, told in one message on stderr; 1 a bug, with a traceback;
130 or 143 interrupted. Results go to files, their names and tables to stdout, the log to stderr.
"""


def _helps(command: click.Command, name: str) -> Iterator[tuple[str, str]]:
    """Yield each command's full name and help text, a group before its members."""
    context = click.Context(command, info_name=name, terminal_width=WIDTH, max_content_width=WIDTH)
    context.help_option_names = ["-h", "--help"]
    yield name, command.get_help(context)
    if isinstance(command, click.Group):
        for member in command.list_commands(context):
            inner = command.get_command(context, member)
            assert inner is not None
            yield from _helps(inner, f"{name} {member}")


def page() -> str:
    """Return the whole page."""
    parts = [f"\n## {name}\n\n```text\n{text.rstrip()}\n```\n" for name, text in _helps(goals, "goals")]
    return HEAD + "".join(parts)


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
