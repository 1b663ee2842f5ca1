"""A small data set in every format, as people have it, and the command's answer to it; see test_inputs.py."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import h5py
import numpy as np
from helpers import Outcome

X = np.array([[0, 1, 2, 0, 1], [1, 2, 0, 1, 0], [2, 0, 1, 1, 2], [0, 1, 1, 2, 1], [1, 0, 2, 0, -127], [2, 2, 0, 1, 1]])
"""Copies of A, -127 where missing."""
Y = (1.5, 2.0, 3.5, 2.5, 4.0, 1.0)
FID = ("f0", "f0", "f0", "f1", "f1", "f1")
IID = tuple(f"s{i}" for i in range(6))
TAIL = ("--mind", "0.5", "--geno", "0.5", "--maf", "0", "--threads", "1", "--out", "o")
PHENO = ("--pheno", "p.txt")
GENOTYPES = {
    "bed": ("--bfile", "d"),
    "pgen": ("--pfile", "d"),
    "bgen": ("--bgen", "d.bgen", "--sample", "d.sample"),
    "bimbam": ("--bimbam", "d.txt", "--sample", "ids.txt", "--anno", "anno.txt"),
}
TABLES = {
    "pheno": PHENO,
    "covar": (*PHENO, "--covar", "c.txt"),
    "groups": (*PHENO, "--groups", "g.txt", "--group-column", "cage"),
}
TABLE_FILES = {"pheno": "p.txt", "covar": "c.txt", "groups": "g.txt"}


def fit(genotypes: str = "bed", tables: str = "pheno") -> tuple[str, ...]:
    return ("fit", *GENOTYPES[genotypes], *TABLES[tables], *TAIL)


def table(name: str, cells: tuple[object, ...] | list[object], separator: str = " ") -> str:
    rows = [("FID", "IID", name), *zip(FID, IID, cells, strict=True)]
    return "".join(separator.join(map(str, row)) + "\n" for row in rows)


def bed_bytes(dosages: np.ndarray) -> bytes:
    """A .bed written from PLINK's description of it, (samples, variants) copies of A1."""
    codes = {0: 3, 1: 2, 2: 0, -127: 1}
    out = bytearray(b"\x6c\x1b\x01")
    for column in dosages.T.tolist():
        calls = [codes[x] for x in column] + [0] * (-len(column) % 4)
        out += bytes(sum(call << 2 * k for k, call in enumerate(calls[i : i + 4])) for i in range(0, len(calls), 4))
    return bytes(out)


def fam_text(phenotype: tuple[object, ...] | list[object] = ("-9",) * 6, separator: str = " ") -> str:
    rows = zip(FID, IID, "000000", "000000", "121212", phenotype, strict=True)
    return "".join(separator.join(map(str, row)) + "\n" for row in rows)


def write_base(folder: Path) -> None:
    """Everything that needs no other program."""
    (folder / "d.bed").write_bytes(bed_bytes(X))
    (folder / "d.bim").write_text("".join(f"{j + 1}\trs{j}\t0\t{100 + j}\tA\tG\n" for j in range(5)))
    (folder / "d.fam").write_text(fam_text())
    (folder / "p.txt").write_text(table("Y", Y))
    (folder / "c.txt").write_text(table("age", [3, 1, 4, 1, 5, 9]))
    (folder / "g.txt").write_text(table("cage", ["A", "A", "B", "B", "C", "C"]))
    values = ("".join(f", {'NA' if x < 0 else x}" for x in column) for column in X.T.tolist())
    (folder / "d.txt").write_text("".join(f"rs{j}, A, G{row}\n" for j, row in enumerate(values)))
    (folder / "ids.txt").write_text("".join(f"{f} {i}\n" for f, i in zip(FID, IID, strict=True)))
    (folder / "anno.txt").write_text("".join(f"rs{j}, {100 + j}, {j + 1}\n" for j in range(5)))


def write_by_plink2(folder: Path) -> bool:
    """d.pgen, d.pvar, d.psam, d.bgen, d.sample; False without plink2."""
    if shutil.which("plink2") is None:
        return False
    for args in (("--make-pgen",), ("--export", "bgen-1.2", "bits=8")):
        command = ["plink2", "--bfile", "d", *args, "--out", "d", "--threads", "1"]
        subprocess.run(command, cwd=folder, capture_output=True, check=True)
    return True


Change = Callable[[Path], object]


def put(name: str, content: str | bytes) -> Change:
    return lambda folder: (folder / name).write_bytes(content.encode() if isinstance(content, str) else content)


def edit(name: str, change: Callable[[str], str]) -> Change:
    return lambda folder: (folder / name).write_bytes(change((folder / name).read_text()).encode())


def raw(name: str, change: Callable[[bytes], bytes]) -> Change:
    return lambda folder: (folder / name).write_bytes(change((folder / name).read_bytes()))


def sub(name: str, old: str, new: str, count: int = -1) -> Change:
    return edit(name, lambda text: _replaced(text, old, new, count))


def _replaced(text: str, old: str, new: str, count: int) -> str:
    assert old in text
    return text.replace(old, new, count)


def both(*changes: Change) -> Change:
    return lambda folder: [change(folder) for change in changes]


@dataclass(frozen=True)
class Fitted:
    """What a model file holds, for comparison."""

    iid: list[str]
    y: np.ndarray
    chrom: list[str]
    pos: list[int]
    id: list[str]
    a1: list[str]
    a2: list[str]
    a1_freq: np.ndarray
    group: list[str]
    covariates: np.ndarray


def fitted(path: Path) -> Fitted:
    def text(data: h5py.Dataset) -> list[str]:
        return [value.decode() for value in data[:]]

    with h5py.File(path) as file:
        rows, columns = file["samples"], file["variants"]
        return Fitted(
            iid=text(rows["iid"]),
            y=file["fit/phenotype"][:] * file.attrs["trait_sd"] + file.attrs["trait_mean"],
            chrom=text(columns["chrom"]),
            pos=columns["pos"][:].tolist(),
            id=text(columns["id"]),
            a1=text(columns["a1"]),
            a2=text(columns["a2"]),
            a1_freq=columns["a1_freq"][:],
            group=text(rows["group"]),
            covariates=file["fit/covariates"][:],
        )


def assert_refused(outcome: Outcome, *words: str) -> None:
    """Exit 2, and one line that says what, where and what to do; only the table of filters may follow it."""
    assert outcome.code == 2, outcome.err
    assert outcome.out == ""
    assert "Traceback" not in outcome.err
    lines = outcome.err.splitlines()
    first = [k for k, text in enumerate(lines) if text.startswith("goals: error: ")]
    assert len(first) == 1, outcome.err
    assert all("\t" in text or text.startswith("; ") for text in lines[first[0] + 1 :]), outcome.err
    message = "\n".join(lines[first[0] :])
    for word in words:
        assert word in message, message
    assert re.search(r"; \w|see goals ", message), f"no remedy: {message}"
