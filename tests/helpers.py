"""Small data on disk, and the command run in this process or in one of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import h5py
import numpy as np
import pandas as pd

from goalscli import cli
from goalscli.genotypes.plink import write_plink
from goalscli.genotypes.source import Samples, Variants

ROOT = Path(__file__).resolve().parents[1]
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONWARNINGS": "error:::goalscli"}
N, J = 64, 330
CAUSAL = 41


def make_data(folder: Path, seed: int = 7) -> np.ndarray:
    """d.bed, d.bim, d.fam, pheno.tsv, covar.tsv, groups.tsv in ``folder``; returns the dosages, -127 where missing.

    Chromosomes 1, X, Y and 2. Every variant passes the default filters but three: 5 is monomorphic, 6 rare, 7 mostly
    missing. More A1 of variant CAUSAL raises the trait A.
    """
    rng = np.random.default_rng(seed)
    x = rng.binomial(2, rng.uniform(0.25, 0.5, J), (N, J)).astype(np.int8)
    x[rng.random((N, J)) < 0.01] = -127
    x[:, 5], x[:, 6] = 0, 0
    x[0, 6] = 1
    x[:40, 7] = -127
    fid = np.array([f"F{i // 4}" for i in range(N)], dtype=object)
    iid = np.array([f"M{i:03d}" for i in range(N)], dtype=object)
    places = [("1", 130), ("X", 70), ("Y", 30), ("2", 100)]
    chrom = np.array([name for name, count in places for _ in range(count)], dtype=object)
    pos = np.concatenate([1000 + 20_000 * np.arange(count) for _, count in places]).astype(np.int64)
    ids = np.array([f"rs{j}" for j in range(J)], dtype=object)
    a1, a2 = (np.array([letters[j % 4] for j in range(J)], dtype=object) for letters in ("ACGT", "GTAC"))
    samples = Samples(fid, iid, np.tile(np.array([1, 2], np.int8), N // 2), np.full(N, "-9", dtype=object))
    write_plink(folder / "d", x, samples, Variants(chrom, ids, pos, a1, a2))
    called = np.maximum(x, 0) - np.maximum(x, 0).mean(axis=0)
    polygenic = called @ rng.normal(size=J) / np.sqrt(J)
    a = 2.0 * called[:, CAUSAL] + 2.0 * polygenic + 1.2 * rng.normal(size=N)
    told = {"FID": fid, "IID": iid}
    traits = {"A": a, "B": rng.normal(size=N), "flat": 3.5, "none": "NA", "nine": -9}
    write(pd.DataFrame(told | traits), folder / "pheno.tsv")
    age = rng.integers(8, 20, N)
    covariates = {"age": age, "months": age * 30, "batch": np.resize(["b1", "b2", "b10"], N), "cage": np.arange(N) // 4}
    noise = {f"n{k}": rng.normal(size=N) for k in range(N)}
    write(pd.DataFrame(told | covariates | noise), folder / "covar.tsv")
    write(pd.DataFrame(told | {"cage": [f"C{i // 4}" for i in range(N)]}), folder / "groups.tsv")
    return x


def write(table: pd.DataFrame, path: Path) -> None:
    """Tab-separated."""
    table.to_csv(path, sep="\t", index=False)


FIT = ("fit", "--bfile", "d", "--pheno", "pheno.tsv", "--pheno-name", "A", "--groups", "groups.tsv",
       "--group-column", "cage", "--threads", "1")  # fmt: skip


@dataclass(frozen=True)
class Outcome:
    code: int
    out: str
    err: str


def goals(*args: str, cwd: Path) -> Outcome:
    """The command in a process of its own."""
    done = subprocess.run(
        [sys.executable, "-m", "goalscli", *args],
        cwd=cwd, env=ENVIRONMENT, capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    return Outcome(done.returncode, done.stdout, done.stderr)


class Here:
    """The same entry point in this process: no start-up time, and every numpy warning is an error."""

    def __init__(self, monkeypatch, capsys, folder: Path) -> None:
        self.monkeypatch, self.capsys, self.folder = monkeypatch, capsys, folder
        for name in ("OMP", "OPENBLAS", "MKL", "BLIS", "VECLIB_MAXIMUM"):
            # Set here so that they are put back at the end, whatever --threads leaves in them.
            monkeypatch.setenv(f"{name}_NUM_THREADS" if "_" not in name else f"{name}_THREADS", "1")

    def __call__(self, *args: str) -> Outcome:
        self.monkeypatch.chdir(self.folder)
        self.monkeypatch.setattr(sys, "argv", ["goals", *args])
        self.capsys.readouterr()
        try:
            cli.main()
            code = 0
        except SystemExit as left:
            code = left.code
        return Outcome(code, *self.capsys.readouterr())

    def well(self, *args: str) -> Outcome:
        """It must succeed."""
        outcome = self(*args)
        assert outcome.code == 0, outcome.err
        return outcome


def names(folder: Path) -> set[str]:
    """Every file below a folder, logs excepted."""
    return {str(p.relative_to(folder)) for p in folder.rglob("*") if p.is_file() and p.suffix != ".log"}


def arrays(path: Path) -> dict[str, np.ndarray]:
    """Every array of a finished scores file that a user reads."""
    found = {}
    with h5py.File(path, "r") as file:
        assert file.attrs["complete"]
        for group in ("goals", "rate", "psi", "variants", "samples"):
            found |= {f"{group}/{name}": data[:] for name, data in file.get(group, {}).items()}
    return found


def assert_same(left: Path, right: Path) -> None:
    """Bit for bit."""
    a, b = arrays(left), arrays(right)
    assert a.keys() == b.keys()
    for name in a:
        assert a[name].dtype == b[name].dtype
        assert np.array_equal(a[name], b[name]), name
        if a[name].dtype.kind == "f":
            assert np.isfinite(a[name]).all(), name
