"""Finished files: opened, checked, their attributes."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import h5py
import numpy as np
from numpy.typing import NDArray

from goalscli.errors import InputError, OutputError, mended, told
from goalscli.provenance import canonical_json
from goalscli.store.files import partial_path

JSON_MARK = "json:"
"""What an attribute begins with whose value is JSON."""


@contextmanager
def opened(path: str | Path, kind: str | tuple[str, ...]) -> Iterator[h5py.File]:
    """Open a complete file of ours for reading.

    Raises
    ------
    InputError
        Missing, not HDF5, of another kind, or unfinished.
    """
    path = Path(path)
    kinds = (kind,) if isinstance(kind, str) else kind
    if path.is_dir():
        raise InputError("is a folder, not a file", where=path, remedy=f"give a {' or '.join(kinds)} file")
    if not path.is_file():
        unfinished = partial_path(path).exists()
        remedy = "finish it with --resume" if unfinished else "check the path"
        raise InputError(
            "no such file" + (" (only an unfinished one)" if unfinished else ""), where=path, remedy=remedy
        )
    try:
        file = h5py.File(path, "r")
    except OSError as error:
        raise InputError(
            f"not a readable HDF5 file ({told(error)})",
            where=path,
            remedy=mended(error, f"give a {' or '.join(kinds)} file"),
        ) from error
    with file:
        found = file.attrs.get("format")
        if found not in kinds:
            raise InputError(
                f"is a {found or 'foreign HDF5'} file, expected {' or '.join(kinds)}",
                where=path,
                remedy="give the file that goals fit (model) or goals scan (scores) wrote",
            )
        if not file.attrs.get("complete", False):
            raise InputError("is not complete", where=path, remedy="finish it with --resume")
        yield file


def read_attributes(group: h5py.Group) -> dict[str, Any]:
    """Return a group's attributes as Python values, JSON decoded."""
    out: dict[str, Any] = {}
    for name, value in group.attrs.items():
        if isinstance(value, str) and value.startswith(JSON_MARK):
            value = json.loads(value.removeprefix(JSON_MARK))
        out[name] = value.item() if isinstance(value, np.generic) else value
    return out


def strings(dataset: h5py.Dataset) -> NDArray[np.object_]:
    """Read a string array as Python str objects."""
    values: NDArray[np.object_] = dataset.asstr()[:]
    return values.astype(object)


def check_equal(path: Path, found: Mapping[str, Any], wanted: Mapping[str, Any]) -> None:
    """Raise OutputError, naming what differs, unless ``found`` holds every value of ``wanted``."""
    for name, value in wanted.items():
        have = found.get(name)
        if canonical_json(have) != canonical_json(value):
            changed = [name]
            if isinstance(have, dict) and isinstance(value, dict):
                changed = [k for k in sorted({*have, *value}) if have.get(k) != value.get(k)]
            raise OutputError(
                f"belongs to a run with other settings or inputs (differs in {', '.join(changed)})",
                where=path,
                remedy="give the same options and files, or delete it and start again",
            )
