"""The main job: the scan against Eq. 13 as written and against the machine's product rate; ``goals run`` against GEMMA.

Every ratio is of two times measured in this one run. Without --data the HS mice are used where they are found, else a
simulated cohort of their size.
"""

from __future__ import annotations

import argparse
import csv
import shutil
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
from bed_reader import to_bed
from common import MICE, Data, Run, Table, best_run, best_time, command, goals, load, mb, parser, simulated, workspace

from goalscli.dataset import BLOCK, Dataset
from goalscli.jobs.model_file import load_model
from goalscli.jobs.results import read_scores
from goalscli.kernels import rbf
from goalscli.models import exact_posterior
from goalscli.models.exact import ExactPosterior
from goalscli.runtime import cpu_limit
from goalscli.scanning import LocalRequest, bind, scan, stream
from goalscli.scores.goals import Goals

RATE_COLUMNS = 512


def eq13(posterior: ExactPosterior, gram: np.ndarray, x: np.ndarray, *, more: bool = False) -> np.ndarray:
    """Local scores of one variant as the paper writes them: B entry by entry, then f - B'alpha; xi = 1.

    With ``more``, what the scan gives beside them, from the same B: score, its posterior and null variance.
    """
    n, alpha = len(x), posterior.weights
    b = gram * np.exp(-posterior.theta * (1 - 2 * (x[:, None] - x)))
    local = gram @ alpha - b.T @ alpha
    if not more:
        return local
    difference = gram - b
    h = difference.mean(axis=1)
    null = h @ posterior.project(h)
    return np.concatenate([local, [h @ alpha, 2 * difference.sum() / n**2 - null, null]])


def scan_all(posterior: ExactPosterior, dataset: Dataset) -> np.ndarray:
    return scan(posterior, dataset, [Goals()], local=LocalRequest(everything=True)).local["goals"]


class Nowhere:
    """A sink that keeps nothing."""

    def write(self, index: np.ndarray, columns: dict[str, np.ndarray]) -> None:
        pass

    def read(self, name: str) -> np.ndarray:
        raise NotImplementedError


@contextmanager
def timed_products() -> Iterator[list[float]]:
    """Collect the time of every product, of all workers, casts to single precision and back included."""
    original, times, lock = rbf.product, [], threading.Lock()

    def product(matrix: np.ndarray, right: np.ndarray) -> np.ndarray:
        start = time.perf_counter()
        out = original(matrix, right)
        with lock:
            times.append(time.perf_counter() - start)
        return out

    rbf.product = exact_posterior.product = product
    try:
        yield times
    finally:
        rbf.product = exact_posterior.product = original


def against_eq13(table: Table, model: Path, n_timed: int, repeat: int) -> None:
    dataset, posterior, _ = load_model(model)
    gram, share = posterior.signal_variance * posterior.gram, dataset.n_variants / n_timed
    chosen = np.linspace(0, dataset.n_variants - 1, n_timed).astype(np.intp)
    columns = dataset.values(chosen).T
    posterior.project(posterior.weights)  # P is formed once, outside the loop
    slow = share * sum(best_time(repeat, lambda x=x: eq13(posterior, gram, x)) for x in columns)
    full = share * sum(best_time(repeat, lambda x=x: eq13(posterior, gram, x, more=True)) for x in columns)
    rows = np.stack([eq13(posterior, gram, x) for x in columns])
    table.add("Eq. 13 as written, local scores alone", f"{slow:.1f} s (from {n_timed} variants)", "1x")
    table.add(
        "Eq. 13 as written, with score, sd and z", f"{full:.1f} s (from {n_timed} variants)", f"{slow / full:.2f}x"
    )
    for precision, tolerance in (("single", 1e-5), ("double", 1e-6)):
        # A new posterior each time, so that the factorisation before the products is timed as well.
        fast = best_time(repeat, lambda p=precision: scan_all(posterior.with_precision(p), dataset))
        local = scan_all(posterior.with_precision(precision), dataset)[chosen]
        error = float(np.abs(local - rows).max() / np.abs(rows).max())
        # The kept local scores are float32 whatever the precision of the products.
        if error > tolerance:
            raise SystemExit(f"{precision} local scores differ from Eq. 13 by {error:.1e} of their greatest")
        what = f"scan, all columns and local scores, {precision} (differs by {error:.0e})"
        table.add(
            what, f"{fast:.2f} s", f"{slow / fast:.0f}x ({full / fast:.0f}x)", "at least 100x", slow / fast >= 100
        )
    out = str(model.with_name("scan"))
    run = best_run(repeat, lambda: goals("scan", str(model), "--local", "all", "--out", out, "--overwrite"))
    table.add(
        "command goals scan --local all", f"{run.seconds:.2f} s, {mb(run.peak)}", f"{slow / run.seconds:.0f}x",
        "at least 100x", slow / run.seconds >= 100,
    )  # fmt: skip


def against_machine(table: Table, model: Path, repeat: int) -> None:
    dataset, posterior, _ = load_model(model)
    n, workers, everything = dataset.n_samples, cpu_limit(), np.arange(dataset.n_variants)
    flops = 3 * 2.0 * n**2 * BLOCK * -(-dataset.n_variants // BLOCK)
    right = np.random.default_rng(1).standard_normal((n, RATE_COLUMNS))
    for precision, dtype, name in (("single", np.float32, "sgemm"), ("double", np.float64, "dgemm")):
        matrix, columns = posterior.gram.astype(dtype), right.astype(dtype)
        bound = bind(posterior.with_precision(precision), dataset, [Goals()])
        rate = wall = inside = 0.0
        # The rate and the scan in turn, so that a busy moment of the machine meets both.
        for _ in range(repeat):
            seconds = best_time(5, lambda a=matrix, b=columns: a @ b)
            rate = max(rate, 2.0 * n**2 * RATE_COLUMNS / seconds)
            with timed_products() as times:
                seconds = best_time(1, lambda b=bound: stream(b, dataset, Nowhere(), everything, keep_local=True))
            if not wall or seconds < wall:
                wall, inside = seconds, sum(times) / workers
        table.add(f"{name}, {n} x {n} by {n} x {RATE_COLUMNS}, all CPUs", f"{rate / 1e9:.0f} Gflop/s", "100 %")
        share = flops / wall / rate
        table.add(f"products of the {precision} scan over its wall ({wall:.2f} s)", f"{flops / wall / 1e9:.0f} Gflop/s",
                  f"{share:.0%}", "at least 60 %", share >= 0.6)  # fmt: skip
        table.add(f"time in products, a worker, {precision}", f"{inside:.2f} s", f"{inside / wall:.0%} of the wall")


def gemma_files(folder: Path, dataset: Dataset) -> Path:
    """Write all variants of the analysed samples, with the trait in the .fam's sixth column."""
    rows = dataset.reference.file_index[dataset.reference.analysed]
    source, table = dataset.source, dataset.source.variants
    bed = folder / "gemma.bed"
    properties = {
        "fid": dataset.samples.fid, "iid": dataset.samples.iid, "pheno": [f"{v:.10g}" for v in dataset.phenotype],
        "chromosome": table.chrom, "sid": table.id, "bp_position": table.pos,
        "allele_1": table.a1, "allele_2": table.a2,
    }  # fmt: skip
    to_bed(bed, source.read(rows, np.arange(len(table))), properties)
    return bed.with_suffix("")


def run_gemma(prefix: Path) -> Run:
    """Relatedness, then the Wald test, on what passes the same filters."""
    common = ["gemma", "-bfile", str(prefix), "-maf", "0.05", "-miss", "0.1"]
    kinship = command([*common, "-gk", "1", "-o", "k"], cwd=prefix.parent)
    test = command([*common, "-k", "output/k.cXX.txt", "-lmm", "1", "-o", "lmm"], cwd=prefix.parent)
    return Run(kinship.seconds + test.seconds, max(kinship.peak, test.peak))


def z_correlation(scores: Path, assoc: Path) -> tuple[float, int]:
    """Correlation of -z (a greater trait with more a1) with GEMMA's beta/se over the variants both report."""
    read = read_scores(scores)
    with open(assoc, encoding="utf-8") as handle:
        theirs = {
            r["rs"]: (r["allele1"], float(r["beta"]) / float(r["se"])) for r in csv.DictReader(handle, delimiter="\t")
        }
    pairs = [
        (-z, theirs[name][1] * (1 if theirs[name][0] == a1 else -1))
        for name, a1, z in zip(read.variants["id"], read.variants["a1"], read.goals["z"], strict=True)
        if name in theirs
    ]
    return float(np.corrcoef(np.transpose(pairs))[0, 1]), len(pairs)


def against_gemma(table: Table, folder: Path, data: Data, model: Path, repeat: int) -> None:
    argv = ["run", *data.options(), "--local", "all", "--out", str(folder / "run"), "--overwrite"]
    ours = best_run(repeat, lambda: goals(*argv))
    table.add(
        "goals run --local all", f"{ours.seconds:.2f} s, {mb(ours.peak)}", "", "peak at most 1 GB", ours.peak <= 1e9
    )
    if shutil.which("gemma") is None:
        table.add("GEMMA", "skipped: gemma is not on the PATH")
        return
    prefix = gemma_files(folder, load_model(model)[0])
    theirs = best_run(repeat, lambda: run_gemma(prefix))
    share = ours.seconds / theirs.seconds
    table.add("gemma -gk 1, then -lmm 1", f"{theirs.seconds:.2f} s, {mb(theirs.peak)}", "1x")
    table.add("wall of goals run over GEMMA's", "", f"{share:.2f}x", "at most 1x", share <= 1)
    correlation, count = z_correlation(folder / "run.scores.h5", folder / "output/lmm.assoc.txt")
    table.add("correlation of -z with GEMMA's beta/se", f"{correlation:.4f} over {count:,} variants")


def choose(options: argparse.Namespace, folder: Path) -> Data:
    if options.smoke:
        return simulated(folder, 80, 600, 3)
    if options.data is None and not MICE.with_suffix(".bed").exists():
        return simulated(folder, 1400, 10_346, 20)
    bfile = options.data or str(MICE)
    pheno = options.pheno or f"{bfile}.pheno.tsv"
    groups = ("--groups", pheno, "--group-column", options.group_column) if options.group_column else ()
    return Data(bfile, pheno, options.pheno_name, groups)


def main() -> None:
    options = parser(__doc__)
    options.add_argument("--data", metavar="PREFIX", help="PLINK prefix")
    options.add_argument("--pheno", metavar="FILE", help="phenotype table (default PREFIX.pheno.tsv)")
    options.add_argument("--pheno-name", default="HDL_resid")
    options.add_argument("--group-column", default="cage", help="of --pheno, for the picture; '' for none")
    given = options.parse_args()
    machine = load()  # before our own work adds to it
    repeat, n_timed = (1, 3) if given.smoke else (given.repeat, 20)
    with workspace() as folder:
        data, model = choose(given, folder), folder / "fit.model.h5"
        goals("fit", *data.options(), "--out", str(folder / "fit"))
        dataset = load_model(model)[0]
        size = f"{data.trait}, {dataset.n_samples:,} samples x {dataset.n_variants:,} variants"
        table = Table(f"{size}, best of {repeat}; {machine}", not given.smoke)
        against_eq13(table, model, n_timed, repeat)
        against_machine(table, model, repeat)
        against_gemma(table, folder, data, model, repeat)
    table.show()


if __name__ == "__main__":
    main()
