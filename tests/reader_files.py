"""Genotype files to read: written here from the formats' descriptions, or by plink2."""

from __future__ import annotations

import shutil
import struct
import subprocess
import zlib
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from goalscli.errors import InputError
from goalscli.genotypes.memory import from_array
from goalscli.genotypes.plink import write_plink

N, J = 5, 6
X = np.random.default_rng(3).binomial(2, 0.5, (N, J)).astype(np.float32)
X[1, 2] = np.nan
IDS = [f"s{i}" for i in range(N)]


def run(program: str, folder: Path, *args: str) -> None:
    if shutil.which(program) is None:
        pytest.skip(f"{program} is not installed")
    done = subprocess.run([program, *args], cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def everything(source) -> np.ndarray:
    return source.read(np.arange(len(source.samples)), np.arange(len(source.variants)))


def bgen_bytes(
    x: np.ndarray = X,
    *,
    ids: list[str] | None = IDS,
    compression: int = 1,
    alleles: tuple[str, ...] = ("A", "G"),
    ploidy: int = 2,
    layout: int = 2,
    probabilities: bytes | None = None,
) -> bytes:
    """A file written from the format's description; 8 bits, copies of the first allele."""
    n = len(x)
    body = b""
    for k, column in enumerate(x.T):
        pairs = b"".join({0: b"\0\0", 1: b"\0\xff", 2: b"\xff\0"}[int(v)] for v in np.nan_to_num(column))
        states = bytes(ploidy | 128 * bool(np.isnan(v)) for v in column)
        block = struct.pack("<IHBB", n, len(alleles), ploidy, ploidy) + states + b"\0\x08" + (probabilities or pairs)
        packed = block if compression == 0 else struct.pack("<I", len(block)) + zlib.compress(block)
        for text in ("", f"rs{k}", "1"):
            body += struct.pack("<H", len(text)) + text.encode()
        body += struct.pack("<IH", 100 + k, len(alleles))
        body += b"".join(struct.pack("<I", len(a)) + a.encode() for a in alleles)
        body += struct.pack("<I", len(packed)) + packed
    names = b"".join(struct.pack("<H", len(i)) + i.encode() for i in ids or [])
    names = b"" if ids is None else struct.pack("<II", 8 + len(names), len(ids)) + names
    flags = compression | layout << 2 | (ids is not None) << 31
    return struct.pack("<IIII4sI", 20 + len(names), 20, x.shape[1], n, b"bgen", flags) + names + body


def mean_genotypes(values: np.ndarray, separator: str = ", ", newline: str = "\n") -> str:
    rows = (
        separator.join([f"rs{k}", "A", "G", *("NA" if np.isnan(v) else repr(float(v)) for v in row)])
        for k, row in enumerate(values)
    )
    return newline.join(rows) + newline


def refused(opening: Callable[[], object], *words: str, kind: type[Exception] = InputError) -> None:
    with pytest.raises(kind) as told:
        opening()
    for word in words:
        assert word in str(told.value)
    assert ";" in str(told.value), "no remedy"


def writer_to(folder: Path) -> Callable[[str, bytes | str], Path]:
    def put(name: str, content: bytes | str) -> Path:
        path = folder / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    return put


def make_pgen(folder: Path) -> Path:
    """PREFIX of a small fileset by plink2."""
    source = from_array(X, iid=IDS, fid=["f"] * N)
    write_plink(folder / "d", np.where(np.isnan(X), -127, X).astype(np.int8), source.samples, source.variants)
    run("plink2", folder, "--bfile", "d", "--make-pgen", "--out", "d")
    return folder / "d"
