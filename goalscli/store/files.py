"""Results that appear whole or not at all, and what is told when they cannot be written."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from goalscli.errors import OutputError, mended, told


def refuse_existing(paths: list[Path], overwrite: bool) -> None:
    """Raise OutputError when one of these results exists already, unless it may be overwritten."""
    folders = [str(p) for p in paths if p.is_dir()]
    if folders:
        raise OutputError("is a folder", where=", ".join(folders), remedy="give the name of a file")
    there = [str(p) for p in paths if p.exists()]
    if there and not overwrite:
        raise OutputError("exists already", where=", ".join(there), remedy="give another --out, or --overwrite")


def partial_path(path: str | Path) -> Path:
    """Return the name an unfinished file has."""
    path = Path(path)
    return path.with_name(path.name + ".partial")


@contextmanager
def atomic(path: str | Path) -> Iterator[Path]:
    """Yield PATH.partial to write to; it becomes PATH when the block ends well and is removed when not."""
    path = Path(path)
    partial = path.with_name(path.name + ".partial")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        yield partial
        os.replace(partial, path)
    except OSError as error:
        raise unwritten(path, error) from error
    finally:
        with suppress(OSError):
            partial.unlink()


def unwritten(path: Path, error: Exception) -> OutputError:
    """Say why a file could not be written, and what to do."""
    remedy = "make room there, or check the folder and its permissions; an interrupted scan goes on with --resume"
    return OutputError(f"cannot be written ({told(error)})", where=path, remedy=mended(error, remedy))
