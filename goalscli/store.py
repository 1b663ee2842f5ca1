"""HDF5 files: named arrays filled by runs of variants, atomic finish, resume. Knows no model and no score.

A file lives under PATH.partial until :meth:`Writer.finish` renames it. Columns are contiguous and allocated when made,
so that filling them changes no HDF5 metadata: after a SIGKILL the file opens, and what was marked done is there.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path
from types import TracebackType
from typing import Any

import h5py
import numpy as np
from numpy.typing import NDArray

from goalscli.errors import InputError, OutputError, is_locked, mended, told
from goalscli.provenance import canonical_json

DONE = "progress/done"

_JSON = "json:"


def refuse_existing(paths: list[Path], overwrite: bool) -> None:
    """Raise OutputError when one of these results exists already, unless it may be overwritten."""
    there = [str(p) for p in paths if p.exists()]
    if there and not overwrite:
        raise OutputError("exists already", where=", ".join(there), remedy="give another --out, or --overwrite")


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
        raise _unwritten(path, error) from error
    finally:
        with suppress(OSError):
            partial.unlink()


def runs(index: NDArray[np.intp]) -> Iterator[tuple[slice, slice]]:
    """Cut an ascending index into contiguous runs: (slice of the positions, slice of the index's values)."""
    breaks = np.flatnonzero(np.diff(index) != 1) + 1
    for part in np.split(np.arange(len(index)), breaks):
        if len(part):
            yield slice(part[0], part[-1] + 1), slice(int(index[part[0]]), int(index[part[-1]]) + 1)


class Writer:
    """A result file being made.

    Parameters
    ----------
    file : h5py.File
        The open partial file.
    path : Path
        Its final name.
    """

    def __init__(self, file: h5py.File, path: Path) -> None:
        self._file, self.path = file, path
        self._at = Path(file.filename)
        self._lost = False

    @classmethod
    def create(cls, path: str | Path, kind: str, attributes: Mapping[str, Any], *, resumable: bool = False) -> Writer:
        """Start a new file of ``kind`` (its ``format``), replacing a partial one.

        One that is ``resumable`` is PATH.starting until :meth:`begin`: killed before, it could not be read.
        """
        path = Path(path)
        at = path.with_name(path.name + ".starting") if resumable else partial_path(path)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            _refuse_locked(partial_path(path))
            _refuse_locked(at)
            file = h5py.File(at, "w")
        except OSError as error:
            with suppress(OSError):
                if not is_locked(error):
                    at.unlink()
            raise _unwritten(path, error) from error
        writer = cls(file, path)
        try:
            writer.set_attributes("/", {"format": kind, "format_version": 1, "complete": False, **attributes})
        except OutputError:
            writer.discard()
            raise
        return writer

    @classmethod
    def resume(cls, path: str | Path, kind: str, must_equal: Mapping[str, Any]) -> Writer:
        """Open the partial file of an interrupted run.

        Raises
        ------
        OutputError
            It cannot be read, or one of its attributes differs from ``must_equal``.
        """
        path = Path(path)
        partial = partial_path(path)
        try:
            file = h5py.File(partial, "r+")
        except OSError as error:
            raise _unopened(partial, error) from error
        try:
            check_equal(partial, read_attributes(file["/"]), {"format": kind, **must_equal})
        except BaseException:
            file.close()
            raise
        return cls(file, path)

    def set_attributes(self, group: str, attributes: Mapping[str, Any]) -> None:
        """Store attributes on a group; dicts and lists as JSON."""
        with self._writing():
            target = self._file.require_group(group)
            for name, value in attributes.items():
                coded = isinstance(value, dict | list | tuple)
                target.attrs[name] = _JSON + canonical_json(value) if coded else value

    def add(self, name: str, values: NDArray[Any], description: str = "", unit: str = "") -> None:
        """Store a whole array; object arrays as UTF-8 strings."""
        dtype = h5py.string_dtype() if values.dtype == object else None
        with self._writing():
            if name in self._file:
                del self._file[name]
            dataset = self._file.create_dataset(name, data=values, dtype=dtype)
            self._describe(dataset, description, unit)
            dataset.flush()

    def allocate(self, name: str, shape: tuple[int, ...], dtype: str, description: str = "", unit: str = "") -> None:
        """Make a contiguous array to be filled by runs of its first axis."""
        plist = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
        plist.set_alloc_time(h5py.h5d.ALLOC_TIME_EARLY)
        kind = np.dtype(dtype)
        if len(shape) == 1:
            plist.set_fill_value(np.array(np.nan if kind.kind == "f" else 0, dtype=kind))
        else:
            plist.set_fill_time(h5py.h5d.FILL_TIME_NEVER)
        parent, _, leaf = name.rpartition("/")
        with self._writing():
            group = self._file.require_group(parent) if parent else self._file
            space = h5py.h5s.create_simple(shape)
            coded = h5py.h5t.py_create(kind, logical=True)
            dataset = h5py.Dataset(h5py.h5d.create(group.id, leaf.encode(), coded, space, plist))
            self._describe(dataset, description, unit)
            dataset.flush()

    @staticmethod
    def _describe(dataset: h5py.Dataset, description: str, unit: str) -> None:
        if description:
            dataset.attrs["description"], dataset.attrs["unit"] = description, unit

    def begin(self, n_variants: int) -> None:
        """Everything is allocated: from here on only values change."""
        with self._writing():
            self.allocate(DONE, (n_variants,), "u1")
            self._file.flush()
            self._check_space()
            os.replace(self._at, partial_path(self.path))
            self._at = partial_path(self.path)

    def _check_space(self) -> None:
        """Refuse what will not fit now, rather than when the disk is full; a quota cannot be seen."""
        needed = self._file.id.get_filesize() - self._at.stat().st_blocks * 512
        disk = os.statvfs(self._at.parent)
        free = disk.f_bavail * disk.f_frsize
        if disk.f_blocks and needed > free:
            raise OutputError(
                f"needs {needed / 1e9:.3g} GB more, no space left on the device beyond {free / 1e9:.3g} GB",
                where=self.path,
                remedy="make room there, give an --out on another disk, or keep fewer local scores",
            )

    def write(self, index: NDArray[np.intp], columns: Mapping[str, NDArray[Any]]) -> None:
        """Fill the rows of ascending ``index`` in each named array, flush, then mark them done."""
        with self._writing():
            for name, values in columns.items():
                dataset = self._file[name]
                for part, place in runs(index):
                    dataset[place] = values[part]
                # What is left to the closing of a dataset fails in silence, were the disk full.
                dataset.flush()
            self._file.flush()
            for _, place in runs(index):
                self.mark(place)
            self._file.flush()

    def mark(self, rows: slice) -> None:
        """Mark rows done that were filled."""
        self._put(DONE, rows, np.uint8(1))

    def fill(self, name: str, rows: slice, values: NDArray[Any]) -> None:
        """Fill rows of one array, without a mark."""
        self._put(name, rows, values)

    def _put(self, name: str, rows: slice, values: NDArray[Any] | np.uint8) -> None:
        with self._writing():
            dataset = self._file[name]
            dataset[rows] = values
            dataset.flush()

    def done(self) -> NDArray[np.bool_]:
        """Which variants are marked done, (J,) bool."""
        marks: NDArray[np.bool_] = self._file[DONE][:].astype(bool)
        return marks

    def read(self, name: str) -> NDArray[Any]:
        """Return one array as written so far."""
        values: NDArray[Any] = self._file[name][:]
        return values

    def finish(self) -> None:
        """Close the file and give it its final name; the marks stay in it, so that no metadata moves."""
        with self._writing():
            self._file.attrs["complete"] = True
            self._file.flush()
            self._file.close()
            with open(self._at, "rb") as handle:
                os.fsync(handle.fileno())
            os.replace(self._at, self.path)

    def discard(self) -> None:
        """Close the file and remove it."""
        self._close()
        self._at.unlink(missing_ok=True)

    @contextmanager
    def _writing(self) -> Iterator[None]:
        """Name the file in what goes wrong with it: HDF5 does not."""
        try:
            yield
        except (OSError, RuntimeError) as error:
            # Creating something on a full disk is a RuntimeError to h5py.
            if isinstance(error, RuntimeError) and "errno = " not in str(error):
                raise
            self._let_go()
            raise _unwritten(self.path, error) from error

    def _let_go(self) -> None:
        """Have HDF5 close the file in memory, and leave on disk what is there.

        A file that it cannot write it cannot close either, and it crashes the program at its end.
        """
        self._lost = True
        if self._file and hasattr(os, "memfd_create"):
            memory = os.memfd_create("goals")
            os.dup2(memory, self._file.id.get_vfd_handle())
            os.close(memory)

    def __enter__(self) -> Writer:
        return self

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None, tb: TracebackType | None) -> None:
        if not self._file:
            return
        # Closing writes what is left, and where that fails something else is being told already.
        with suppress(OutputError) if kind else nullcontext():
            if not self._lost:
                with self._writing():
                    self._file.flush()
        self._close()

    def _close(self) -> None:
        with suppress(OSError, RuntimeError) if self._lost else nullcontext():
            self._file.close()


def resumable(path: str | Path) -> bool:
    """Whether there is an unfinished file with marks; one stopped before its first mark holds nothing to keep.

    Raises
    ------
    OutputError
        It is there and cannot be read.
    """
    partial = partial_path(path)
    if not partial.exists():
        return False
    try:
        with h5py.File(partial, "r") as file:
            if "format" not in file.attrs:
                raise OutputError("is not an unfinished file of goals", where=partial, remedy="delete or rename it")
            return DONE in file
    except OSError as error:
        raise _unopened(partial, error) from error


def _unopened(partial: Path, error: OSError) -> OutputError:
    return OutputError(
        f"the unfinished file cannot be opened ({told(error)})",
        where=partial,
        remedy=mended(error, "another goals may be writing it; if not, delete it and start again"),
    )


def _unwritten(path: Path, error: Exception) -> OutputError:
    remedy = "make room there, or check the folder and its permissions; an interrupted scan goes on with --resume"
    return OutputError(f"cannot be written ({told(error)})", where=path, remedy=mended(error, remedy))


def _refuse_locked(partial: Path) -> None:
    """HDF5 empties a file before it asks for the lock: whoever is writing it must be found out before."""
    if partial.exists():
        try:
            h5py.File(partial, "r+").close()
        except OSError as error:
            if is_locked(error):
                raise


def partial_path(path: str | Path) -> Path:
    """Return the name an unfinished file has."""
    path = Path(path)
    return path.with_name(path.name + ".partial")


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


def read_attributes(group: h5py.Group) -> dict[str, Any]:
    """Return a group's attributes as Python values, JSON decoded."""
    out: dict[str, Any] = {}
    for name, value in group.attrs.items():
        if isinstance(value, str) and value.startswith(_JSON):
            value = json.loads(value.removeprefix(_JSON))
        out[name] = value.item() if isinstance(value, np.generic) else value
    return out


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


def strings(dataset: h5py.Dataset) -> NDArray[np.object_]:
    """Read a string array as Python str objects."""
    values: NDArray[np.object_] = dataset.asstr()[:]
    return values.astype(object)
