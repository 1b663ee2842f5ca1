"""Variants named by a user: a list or a file of IDs."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from goalscli.errors import InputError
from goalscli.genotypes.common import lines, split
from goalscli.runtime import LOG


def read_ids(path: Path, where: str) -> list[str]:
    """First word of each line, gzipped or not; the log warns where lines have more.

    Raises
    ------
    InputError
        It is no text.
    """
    try:
        words = [split(text) for _, text in lines(path)]
    except (OSError, InputError) as error:
        reason = error.problem if isinstance(error, InputError) else error.strerror
        raise InputError(
            f"cannot be read as text ({reason})", where=where, remedy="give a text file with one variant ID a line"
        ) from error
    longer = sum(len(line) > 1 for line in words)
    if longer:
        LOG.warning("warning: %s: %d line(s) of several words, of which the first is taken for the ID", where, longer)
    return [line[0] for line in words]


def parse_variants(text: str, known: NDArray[np.object_], option: str) -> NDArray[np.intp]:
    """Rows of the variants of a file, or of a comma-separated list, ascending."""
    path = Path(text)
    if path.is_file():
        return find_variants(known, read_ids(path, f"{option} {path}"), f"{option} {path}")
    return find_variants(known, [name.strip() for name in text.split(",") if name.strip()], option)


def find_variants(known: NDArray[np.object_], ids: list[str], where: str) -> NDArray[np.intp]:
    """Rows of the named variants, ascending; a name that several variants bear finds them all.

    Raises
    ------
    InputError
        Names that no analysed variant bears.
    """
    wanted = set(ids)
    rows = np.array([i for i, name in enumerate(known) if name in wanted], dtype=np.intp)
    absent = sorted(wanted - set(known[rows]))
    if absent or not ids:
        what = f"{len(absent)} variant(s) not among the {len(known)} analysed: {', '.join(absent[:5])}"
        raise InputError(
            what if absent else "no variant named", where=where, remedy="they may be misspelt or filtered out"
        )
    return rows
