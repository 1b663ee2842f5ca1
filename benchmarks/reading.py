"""Reading genotypes: variants a second of each format, beside the bare library that decodes it.

The same simulated dosages are written in every format that the installed programs can write (PGEN needs plink2). Both
sides read all variants once, in blocks of 1,024, into float32, in one thread: a scan's reader has one beside its
workers.
"""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import numpy as np
from bed_reader import open_bed
from bgen import BgenReader, BgenWriter
from common import Table, best_time, load, parser, workspace

from goalscli.genotypes.bgen import open_bgen
from goalscli.genotypes.bimbam import open_bimbam
from goalscli.genotypes.plink import open_plink, write_plink
from goalscli.genotypes.source import GenotypeSource, Samples, Variants

BLOCK = 1024


def text(values: list[str]) -> np.ndarray:
    out = np.empty(len(values), dtype=object)
    out[:] = values
    return out


def write_all(folder: Path, n: int, j: int) -> Path:
    """d.bed, d.bgen (8 bits), d.geno.txt and, with plink2, d.pgen: n samples, j variants."""
    rng = np.random.default_rng(1)
    x = rng.binomial(2, rng.uniform(0.05, 0.5, j), (n, j)).astype(np.int8)
    names = text([f"s{i}" for i in range(n)])
    samples = Samples(names, names, np.zeros(n, np.int8), text(["-9"] * n))
    ids = text([f"v{k}" for k in range(j)])
    variants = Variants(text(["1"] * j), ids, np.arange(1, j + 1), text(["A"] * j), text(["G"] * j))
    write_plink(folder / "d", x, samples, variants)
    probabilities = np.eye(3)[::-1]  # copies of the first allele: 0, 1, 2
    with BgenWriter(str(folder / "d.bgen"), n, samples=list(names), compression="zlib", layout=2) as writer:
        for k in range(j):
            writer.add_variant(ids[k], ids[k], "1", k + 1, ["A", "G"], probabilities[x[:, k]], bit_depth=8)
    with open(folder / "d.geno.txt", "w") as handle:
        for k in range(j):
            handle.write(f"v{k}, A, G, " + ", ".join(map(str, x[:, k].tolist())) + "\n")
    if shutil.which("plink2"):
        subprocess.run(
            ["plink2", "--bfile", "d", "--make-pgen", "--out", "d", "--silent"], cwd=folder, check=True
        )  # fmt: skip
    return folder / "d"


def read_through(source: GenotypeSource) -> None:
    everyone = np.arange(len(source.samples))
    for start in range(0, len(source.variants), BLOCK):
        source.read(everyone, np.arange(start, min(start + BLOCK, len(source.variants))))


def bare_bed(prefix: Path, j: int) -> None:
    with open_bed(f"{prefix}.bed") as bed:
        for start in range(0, j, BLOCK):
            bed.read(np.s_[:, start : start + BLOCK], dtype=np.float32, order="F", num_threads=1)


def bare_bgen(prefix: Path, j: int) -> None:
    with BgenReader(f"{prefix}.bgen", delay_parsing=True) as bgen:
        for variant in bgen:
            _ = variant.alt_dosage


def bare_pgen(prefix: Path, n: int, j: int) -> None:
    import pgenlib

    reader = pgenlib.PgenReader(f"{prefix}.pgen".encode(), raw_sample_ct=n, variant_ct=j)
    block = np.empty((BLOCK, n), dtype=np.float32)
    for start in range(0, j, BLOCK):
        stop = min(start + BLOCK, j)
        reader.read_dosages_range(start, stop, block[: stop - start])


def bare_bimbam(prefix: Path) -> None:
    """Splitting off three columns and numpy's own parser of numbers, line by line."""
    with open(f"{prefix}.geno.txt") as handle:
        for line in handle:
            np.fromstring(line.split(",", 3)[3], sep=",", dtype=np.float32)


def compare(table: Table, name: str, n: int, j: int, ours: Callable[[], object], bare: Callable[[], object]) -> None:
    mine, theirs = best_time(3, ours), best_time(3, bare)
    table.add(
        f"{name}, {n:,} samples", f"{j / mine:,.0f} variants/s, bare {j / theirs:,.0f}", f"{theirs / mine:.0%}",
        "at least 70 %", theirs / mine >= 0.7,
    )  # fmt: skip


def main() -> None:
    options = parser(__doc__)
    given = options.parse_args()
    machine = load()
    sizes = [(60, 300)] if given.smoke else [(2_000, 8_000), (20_000, 2_000)]
    table = Table(f"reading; {machine}", not given.smoke)
    for n, j in sizes:
        with workspace() as folder:
            prefix = write_all(folder, n, j)
            # Opened outside the clock: headers and tables are read once, scans read genotypes again and again.
            bed, bgen = open_plink(prefix), open_bgen(f"{prefix}.bgen")
            compare(table, "bed", n, j, lambda s=bed: read_through(s), lambda p=prefix, k=j: bare_bed(p, k))
            compare(table, "BGEN, 8 bits", n, j, lambda s=bgen: read_through(s), lambda p=prefix, k=j: bare_bgen(p, k))
            if Path(f"{prefix}.pgen").exists():
                from goalscli.genotypes.pgen import open_pgen

                pgen = open_pgen(prefix)
                compare(
                    table, "PGEN", n, j, lambda s=pgen: read_through(s), lambda p=prefix, m=n, k=j: bare_pgen(p, m, k)
                )
            bimbam = open_bimbam(f"{prefix}.geno.txt")
            compare(table, "BIMBAM", n, j, lambda s=bimbam: read_through(s), lambda p=prefix: bare_bimbam(p))
    table.show()


if __name__ == "__main__":
    main()
