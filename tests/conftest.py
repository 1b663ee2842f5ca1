"""Shared data: the reference folder where it is there, and small datasets in memory."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

from goalscli.dataset import Columns, Dataset, Treatment, assemble
from goalscli.genotypes.memory import from_array
from goalscli.phenotypes import Covariate
from goalscli.qc import Filters

SHARED = Path(os.environ.get("GOALSCLI_SHARED", Path(__file__).resolve().parents[2] / "shared"))


@pytest.fixture(scope="session")
def golden() -> Path:
    """Figures of the authors' released code."""
    folder = SHARED / "golden"
    if not folder.is_dir():
        pytest.skip("the golden figures (../shared/golden) are not here")
    return folder


@pytest.fixture(scope="session")
def mice() -> Path:
    """The heterogeneous stock mice."""
    folder = SHARED / "data" / "hs_mice"
    if not folder.is_dir():
        pytest.skip("the heterogeneous stock mice (../shared/data/hs_mice) are not here")
    return folder


def dataset_of(
    dosages: np.ndarray,
    phenotype: np.ndarray,
    *,
    covariates: np.ndarray | None = None,
    scale: str = "standardize",
    intercept: bool = True,
    maf: float = 0.0,
    family: np.ndarray | None = None,
) -> Dataset:
    """A dataset in memory; covariates (n, q) are numeric."""
    n = len(dosages)
    source = from_array(dosages)
    told = [] if covariates is None else [Covariate(f"c{k}", c, categorical=False) for k, c in enumerate(covariates.T)]
    family = source.samples.fid if family is None else family
    columns = Columns(phenotype, told, family, np.full(n, "", dtype=object), "trait")
    return assemble(source, columns, Filters(maf=maf, geno=1, mind=1), Treatment(scale=scale), intercept=intercept)


def random_data(n: int, j: int, seed: int, missing: float = 0.0) -> tuple[np.ndarray, np.ndarray]:
    """Dosages with correlated columns (and missing calls), and a trait with an interaction."""
    rng = np.random.default_rng(seed)
    freq = rng.uniform(0.15, 0.5, j)
    x = rng.binomial(2, freq, (n, j)).astype(float)
    x[:, 1::3] = np.where(rng.random((n, len(range(1, j, 3)))) < 0.7, x[:, : j - 1 : 3], x[:, 1::3])
    y = 0.6 * x[:, 0] - 0.4 * x[:, j // 2] + 0.5 * x[:, 2] * x[:, j // 3] + rng.normal(size=n)
    if missing:
        x[rng.random((n, j)) < missing] = np.nan
    return x, y
