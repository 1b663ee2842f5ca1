"""RATE against the released code's loop, every kernel's scan against RBF's, and several scores in one pass.

Every ratio is of two times measured in this one run. Without --data the HS mice are used where they are found, else a
simulated cohort of their size.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
from common import MICE, Data, Table, best_time, goals, load, parser, simulated, workspace

from goalscli.dataset import Dataset
from goalscli.jobs.inputs import read_plink
from goalscli.kernels import KERNELS
from goalscli.models.exact import ExactGP, ExactPosterior
from goalscli.scanning import LocalRequest, scan
from goalscli.scores.goals import Goals
from goalscli.scores.psi import Psi
from goalscli.scores.rate import Rate


def released_loop(x: np.ndarray, mean: np.ndarray, covariance: np.ndarray) -> np.ndarray:
    """RATE of the covariance projection as the released code goes about it: one J×J update and deletion a variant."""
    n, j = x.shape
    projection = (x - x.mean(axis=0)).T / (n - 1)
    mu, sigma = projection @ mean, projection @ covariance @ projection.T
    precision = np.linalg.pinv(sigma, hermitian=True)
    kld = np.empty(j)
    for k in range(j):
        column = precision @ sigma[:, k]
        updated = precision - np.outer(column, column) / (1 + sigma[k, k])
        others = np.delete(np.arange(j), k)
        row = updated[k, others]
        kld[k] = 0.5 * mu[k] ** 2 * (row @ updated[np.ix_(others, others)] @ row)
    return kld / kld.sum()


def rate_against_loop(table: Table, posterior: ExactPosterior, dataset: Dataset, sizes: list[int], repeat: int) -> None:
    mean, covariance = posterior.mean, posterior.covariance()
    seconds = []
    for j in sizes:
        x = dataset.values(np.linspace(0, dataset.n_variants - 1, j).astype(np.intp))
        seconds.append(best_time(1, lambda x=x: released_loop(x, mean, covariance)))
        table.add(f"the released code's loop in numpy, {j} variants", f"{seconds[-1]:.2f} s")
    growth, level = np.polyfit(np.log(sizes), np.log(seconds), 1)
    whole = float(np.exp(level + growth * np.log(dataset.n_variants)))
    table.add(f"  grows as J^{growth:.1f}; {dataset.n_variants:,} variants", f"{whole:,.0f} s (extrapolated)", "1x")
    fresh = lambda: posterior.with_precision("single")  # noqa: E731 (a new one each time: no factor is kept)
    for form in ("paper", "released"):
        rate = best_time(repeat, lambda f=form: scan(fresh(), dataset, [Rate(form=f, projection="covariance")]))
        table.add(f"RATE of all variants, {form} form", f"{rate:.2f} s", f"{whole / rate:,.0f}x (extrapolated)")


def kernels_against_rbf(table: Table, dataset: Dataset, repeat: int) -> None:
    fitted = {name: ExactGP(kernel=name).fit(dataset) for name in KERNELS}
    for precision in ("single", "double"):
        base = 0.0
        for name, posterior in fitted.items():
            ready = posterior.with_precision(precision)
            seconds = best_time(repeat, lambda p=ready: scan(p, dataset, [Goals()], local=LocalRequest()))
            base = base or seconds
            table.add(f"goals scan, {name}, {precision}", f"{seconds:.2f} s", f"{seconds / base:.2f}x", "at most 4x",
                      seconds <= 4 * base)  # fmt: skip


def one_pass(table: Table, posterior: ExactPosterior, dataset: Dataset, repeat: int) -> None:
    requests = {"goals": Goals(), "rate": Rate(), "psi": Psi()}
    apart = {name: best_time(repeat, lambda s=s: scan(posterior, dataset, [s])) for name, s in requests.items()}
    for name, seconds in apart.items():
        table.add(f"scan of {name} alone", f"{seconds:.2f} s")
    together, total = best_time(repeat, lambda: scan(posterior, dataset, [*requests.values()])), sum(apart.values())
    table.add("goals, rate and psi in one pass, over their sum", f"{together:.2f} s of {total:.2f} s",
              f"{together / total:.2f}x", "below 1x", together < total)  # fmt: skip
    loco = best_time(repeat, lambda: scan(posterior, dataset, [Goals(loco=True)]))
    table.add("goals with --loco, over goals", f"{loco:.2f} s", f"{loco / apart['goals']:.2f}x")


def choose(options: argparse.Namespace, folder: Path) -> Data:
    if options.smoke:
        return simulated(folder, 80, 600, 3)
    if options.data is None and not MICE.with_suffix(".bed").exists():
        return simulated(folder, 1400, 10_346, 20)
    bfile = options.data or str(MICE)
    return Data(bfile, options.pheno or f"{bfile}.pheno.tsv", options.pheno_name, ())


def main() -> None:
    options = parser(__doc__)
    options.add_argument("--data", metavar="PREFIX", help="PLINK prefix")
    options.add_argument("--pheno", metavar="FILE", help="phenotype table (default PREFIX.pheno.tsv)")
    options.add_argument("--pheno-name", default="HDL_resid")
    given = options.parse_args()
    machine = load()  # before our own work adds to it
    repeat, sizes = (1, [20, 40, 80]) if given.smoke else (given.repeat, [200, 400, 800])
    with workspace() as folder:
        data = choose(given, folder)
        goals("--version")
        dataset = read_plink(data.bfile, pheno=data.pheno, pheno_name=data.trait)
        size = f"{data.trait}, {dataset.n_samples:,} samples x {dataset.n_variants:,} variants"
        table = Table(f"{size}, best of {repeat}; {machine}", not given.smoke)
        posterior = ExactGP().fit(dataset)
        rate_against_loop(table, posterior, dataset, sizes, repeat)
        one_pass(table, posterior, dataset, repeat)
        kernels_against_rbf(table, dataset, repeat)
    table.show()


if __name__ == "__main__":
    main()
