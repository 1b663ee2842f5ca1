"""What the readers share: files that must be there, lines of text tables, unique samples, and picking samples."""

from __future__ import annotations

import gzip
import importlib
import io
import os
import re
import zlib
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, BinaryIO, cast

import numpy as np
from numpy.typing import NDArray

from goalscli.errors import InputError, SettingsError
from goalscli.genotypes.source import Samples, Strings

SEX = {"1": 1, "2": 2, "M": 1, "F": 2}
"""Codes of sex in .fam, .psam and .sample files; anything else is unknown, 0."""

DECOMPRESSION_ERRORS = (EOFError, gzip.BadGzipFile, zlib.error)
"""What a damaged gzip file raises."""

_RIGHT_FILE = "check that this is the right file, and save it as UTF-8 text"
_NOT_BLANK = re.compile(r"[^ \t\v\f\x1c-\x1f]+")
_WHOLE = re.compile(r"[0-9]{1,15}")


def existing(path: str | Path, option: str, remedy: str = "check the path") -> Path:
    """Return the path of a file that can be read.

    Raises
    ------
    InputError
        No such file, a folder, or a file without read permission; ``option`` is named.
    """
    path = Path(path)
    if not path.is_file():
        what = "is a folder, not a file" if path.is_dir() else "no such file"
        raise InputError(f"{path}: {what}", where=option, remedy=remedy)
    if not os.access(path, os.R_OK):
        raise InputError("file is not readable", where=path, remedy="check its permissions")
    return path


def open_bytes(path: Path) -> BinaryIO:
    """Open a file, through gzip where its first bytes say so (the name does not matter)."""
    with open(path, "rb") as handle:
        zipped = handle.read(2) == b"\x1f\x8b"
    return cast(BinaryIO, gzip.open(path, "rb")) if zipped else open(path, "rb")


def lines(path: Path) -> Iterator[tuple[int, str]]:
    """Yield (line number, text) of the lines that are not blank, gzipped or not.

    Raises
    ------
    InputError
        Not UTF-8, NUL bytes, or a damaged gzip file.
    """
    try:
        with open_bytes(path) as handle, io.TextIOWrapper(handle, encoding="utf-8-sig") as texts:
            for number, text in enumerate(texts, 1):
                if "\0" in text:
                    raise InputError("not text in UTF-8 (NUL bytes)", where=f"{path}:{number}", remedy=_RIGHT_FILE)
                if stripped := text.strip():
                    yield number, stripped
    except UnicodeDecodeError as error:
        raise InputError("not text in UTF-8", where=f"{path}:{_undecodable(path)}", remedy=_RIGHT_FILE) from error
    except DECOMPRESSION_ERRORS as error:
        raise _damaged(path, error) from error


def _undecodable(path: Path) -> int:
    """Return the first line that is not UTF-8; text is decoded in blocks, whose error tells no line."""
    try:
        with open_bytes(path) as handle:
            data = handle.read()
    except DECOMPRESSION_ERRORS as error:
        raise _damaged(path, error) from error
    # No byte of a character of several bytes is a line end.
    for number, text in enumerate(data.replace(b"\r\n", b"\n").replace(b"\r", b"\n").split(b"\n"), 1):
        try:
            text.decode()
        except UnicodeDecodeError:
            return number
    return 1


def _damaged(path: Path, error: Exception) -> InputError:
    return InputError(f"damaged gzip file ({error})", where=path, remedy="copy or make the file again")


def split(text: str) -> list[str]:
    """Split at runs of spaces and tabs; ``str.split`` would also split at a no-break space inside an ID."""
    return text.split() if text.isascii() else _NOT_BLANK.findall(text)


def position(text: str, where: str, remedy: str) -> int:
    """Return a base-pair position as a number.

    Raises
    ------
    InputError
        Not a whole number of at most 15 digits: negative, 1e5, 1_000, NA.
    """
    if _WHOLE.fullmatch(text):
        return int(text)
    if text.startswith("-") and _WHOLE.fullmatch(text[1:]):
        raise InputError(
            f"position {text} is negative (PLINK leaves such variants out)",
            where=where,
            remedy="write 0 where unknown, or leave the variant out with plink2 --make-bed",
        )
    problem = "too large" if text.isascii() and text.isdigit() else "not a whole number"
    raise InputError(f"position {text!r} is {problem}", where=where, remedy=remedy)


def objects(values: Sequence[str]) -> Strings:
    """Strings as an object array."""
    out = np.empty(len(values), dtype=object)
    out[:] = values
    return out


def make_samples(
    fid: Sequence[str],
    iid: Sequence[str],
    path: Path,
    sex: Sequence[str] | None = None,
    phenotype: Sequence[str] | None = None,
) -> Samples:
    """Assemble the samples of one file.

    Parameters
    ----------
    fid, iid : (n,) str
    path : Path
        For messages.
    sex, phenotype : (n,) str, optional
        As written; unknown and "NA" where None.

    Raises
    ------
    InputError
        No samples, or a sample listed twice.
    """
    if not iid:
        raise InputError("no samples", where=path, remedy=f"check that the {path.suffix or 'file'} is not empty")
    counts = Counter(zip(fid, iid, strict=True))
    if len(counts) < len(iid):
        twice = [f"{family} {one}" for (family, one), n in counts.items() if n > 1]
        raise InputError(
            f"{len(twice)} sample(s) listed more than once: {', '.join(twice[:5])}",
            where=path,
            remedy="FID and IID together must be unique",
        )
    codes = [0] * len(iid) if sex is None else [SEX.get(code.upper(), 0) for code in sex]
    return Samples(
        fid=objects(fid),
        iid=objects(iid),
        sex=np.array(codes, dtype=np.int8),
        phenotype=objects(["NA"] * len(iid) if phenotype is None else phenotype),
    )


def for_samples(block: NDArray[np.float32], samples: NDArray[np.intp]) -> NDArray[np.float32]:
    """Turn a C-ordered (variants, all samples) block into a Fortran-ordered (samples, variants) one."""
    n = block.shape[1]
    if len(samples) == n and np.array_equal(samples, np.arange(n)):
        return block.T
    return np.take(block, samples, axis=1).T


def optional(module: str, extra: str) -> Any:
    """Import a package that only one format needs.

    Raises
    ------
    SettingsError
        It is not installed; the remedy names the extra.
    """
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise SettingsError(
            f"the package {module!r} is not installed ({error})",
            where=f"--{extra}",
            remedy=f"pip install 'goalscli[{extra}]'",
        ) from error


def moved(old: str, new_main: str | Path) -> Path:
    """Where a companion of a moved file is: beside it under its own name, or still where it was."""
    beside = Path(new_main).parent / Path(old).name
    return beside if beside.is_file() else Path(old)
