"""Write docs/commands.md and a page a command in docs/commands/ from --help: ``python scripts/make_command_docs.py``.

Pages of commands that are gone are removed.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import click

from goalscli.cli import goals

DOCS = Path(__file__).resolve().parents[1] / "docs"
WIDTH = 100
HEAD = """\
# Commands

A page for each command, with what its `--help` prints. These pages are written by `scripts/make_command_docs.py`.

| exit code | meaning |
|---|---|
| 0 | done and complete |
| 2 | a wrong option or input, told in one message on stderr |
| 1 | a bug, with a traceback |
| 130, 143 | interrupted, by Ctrl-C or by the system |

Results go to files, their names and tables to stdout, the log to stderr.

"""
FIRST = ("quickstart", "models", "data")
"""Where examples are looked for before the other pages, which follow by name."""


def _commands(command: click.Command, name: str) -> Iterator[tuple[str, click.Command, str]]:
    """Yield each command's full name, itself and its help text, a group before its members."""
    context = click.Context(command, info_name=name, terminal_width=WIDTH, max_content_width=WIDTH)
    context.help_option_names = ["-h", "--help"]
    yield name, command, command.get_help(context).rstrip()
    if isinstance(command, click.Group):
        for member in command.list_commands(context):
            inner = command.get_command(context, member)
            assert inner is not None
            yield from _commands(inner, f"{name} {member}")


def _file(name: str) -> str:
    """Name the page: plot-manhattan.md for goals plot manhattan."""
    return name.removeprefix("goals ").replace(" ", "-") + ".md"


def _examples() -> dict[str, tuple[str, Path]]:
    """The first command line of each kind that the other pages have and that is run by the tests, and its page."""
    names = {name for name, command, _ in _commands(goals, "goals") if not isinstance(command, click.Group)}
    pages = sorted(DOCS.glob("*.md"), key=lambda p: (FIRST.index(p.stem) if p.stem in FIRST else len(FIRST), p.stem))
    found: dict[str, tuple[str, Path]] = {}
    for page in pages:
        for block in re.findall(r"^```(?:bash|sh)\n(.*?)^```$", page.read_text("utf-8"), re.MULTILINE | re.DOTALL):
            for line in re.findall(r"^(?:exec )?(goals (?:.*\\\n)*.*)$", block, re.MULTILINE):
                words = line.split()
                for name in (" ".join(words[:3]), " ".join(words[:2])):
                    if name in names and name not in found and _complete(line):
                        found[name] = line, page
    return found


def _complete(line: str) -> bool:
    """Whether a line stands by itself: no shell variables, no further command."""
    try:
        return not set(shlex.split(line, comments=True)) & {"||", "&&", "|", ";"} and "$" not in line
    except ValueError:
        return False


def _page(name: str, command: click.Command, text: str, example: tuple[str, Path] | None) -> str:
    parts = [f"# {name}\n\n```text\n{text}\n```\n"]
    if isinstance(command, click.Group):
        members = command.list_commands(click.Context(command))
        parts.append("\n" + "".join(f"- [{name} {m}]({_file(f'{name} {m}')})\n" for m in members))
    if example is not None:
        line, source = example
        title = source.read_text("utf-8").splitlines()[0].removeprefix("# ")
        parts.append(f"\nFor example, from [{title}](../{source.name}):\n\n```sh\n{line}\n```\n")
    return "".join(parts)


def pages() -> dict[Path, str]:
    """Return every page by its path."""
    (_, _, text), *commands = _commands(goals, "goals")
    examples = _examples()
    short = {name: command.get_short_help_str(2 * WIDTH) for name, command, _ in commands}
    rows = [f"| [`{name}`](commands/{_file(name)}) | {told} |\n" for name, told in short.items()]
    index = f"{HEAD}| command | does |\n|---|---|\n{''.join(rows)}\n```text\n{text}\n```\n"
    return {DOCS / "commands.md": index} | {
        DOCS / "commands" / _file(name): _page(name, command, told, examples.get(name))
        for name, command, told in commands
    }


def drift() -> list[str]:
    """Say which pages on the disk are not those of today: missing, different, or of a command that is gone."""
    told = pages()
    there = {path: path.read_text("utf-8") for path in (DOCS / "commands.md", *(DOCS / "commands").glob("*"))}
    missing = [f"{path.name}: missing" for path in told if path not in there]
    stale = [f"{path.name}: no such command" for path in there if path not in told]
    return sorted(missing + stale + [f"{p.name}: differs" for p in told if p in there and there[p] != told[p]])


def write() -> None:
    """Write the pages, and remove those of commands that are gone."""
    told = pages()
    (DOCS / "commands").mkdir(exist_ok=True)
    for path, text in told.items():
        path.write_text(text, encoding="utf-8")
    for path in (DOCS / "commands").glob("*"):
        if path not in told:
            path.unlink()


if __name__ == "__main__":
    write()
