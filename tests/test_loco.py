"""Leave one chromosome out: against dense algebra, and its calibration on a chromosome without causal variants."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import oracles
import pytest
from conftest import dataset_of, random_data

from goalscli import qc
from goalscli.dataset import Columns, Treatment, assemble
from goalscli.errors import SettingsError
from goalscli.genotypes.memory import MemorySource
from goalscli.kernels import KERNELS
from goalscli.models.exact import ExactGP
from goalscli.scanning import scan
from goalscli.scores.goals import Goals
from goalscli.scores.tail import neg_log10_p
from goalscli.simulate import CohortSettings, mean_imputed, simulate_cohort

N, J = 60, 36
CHROM = np.array(["1"] * 10 + ["X"] * 14 + ["1"] * 2 + ["2"] * 10, dtype=object)  # 1 comes twice


def small(scale="standardize"):
    x, y = random_data(N, J, seed=4, missing=0.03)
    dataset = dataset_of(x, y, scale=scale, covariates=np.random.default_rng(3).normal(size=(N, 1)))
    return replace(dataset, variants=replace(dataset.variants, chrom=CHROM))


def dense_z(dataset, posterior, name, xi):
    """z of every variant from K of the other chromosomes, entry by entry: h is the mean of K - K(shifted)."""
    x, theta, s, v = (
        dataset.values(np.arange(J)), posterior.theta, posterior.signal_variance, posterior.noise_variance
    )  # fmt: skip
    out = np.empty(J)
    for j in range(J):
        rest = x[:, CHROM[j] != CHROM]
        k = oracles.kernel(name, rest, rest, theta)
        p = oracles.projection(s * k + v * np.eye(N), dataset.covariates.matrix)
        gap = x[:, j][:, None] - x[:, j]
        if name == "linear":
            h = -xi * theta * x[:, j]
        elif name == "laplacian":
            h = (k - k * np.exp(-theta * (np.abs(gap + xi) - np.abs(gap)))).mean(0)
        else:
            d = ((rest[:, None] - rest[None]) ** 2).sum(-1)
            # Shifts that would bring samples closer than identical are cut off there.
            h = (k - oracles.RADIAL[name](np.maximum(d + xi**2 + 2 * xi * gap, 0), theta)).mean(0)
        # Where REML found the scale, it is found again.
        y, df = dataset.phenotype, N - dataset.covariates.matrix.shape[1]
        scale = y @ p @ y / df if posterior.profiled else 1.0
        out[j] = h @ p @ y / np.sqrt(scale * h @ p @ h)
    return out


@pytest.mark.parametrize(("xi", "given"), [(1.0, {}), (-0.3, {"signal": 1.2, "noise": 0.5})], ids=["reml", "given"])
@pytest.mark.parametrize("kernel", list(KERNELS))
def test_against_dense_algebra(kernel, xi, given):
    dataset = small()
    posterior = ExactGP(kernel=kernel, **given).fit(dataset)
    assert posterior.signal_variance > 0.1
    got = scan(posterior.with_precision("double"), dataset, [Goals(xi=xi, loco=True)], threads=1)
    wanted = dense_z(dataset, posterior, kernel, xi)
    np.testing.assert_allclose(got.columns["goals/loco_z"], wanted, atol=1e-8 * np.abs(wanted).max())
    np.testing.assert_allclose(
        got.columns["goals/loco_neg_log10_p"], neg_log10_p(wanted, posterior.residual_df, posterior.profiled), atol=1e-6
    )
    plain = scan(posterior.with_precision("double"), dataset, [Goals(xi=xi)], threads=1)
    for column, values in plain.columns.items():
        assert np.array_equal(values, got.columns[column]), column
    assert np.abs(got.columns["goals/loco_z"] - got.columns["goals/z"]).max() > 0.01
    single = scan(posterior, dataset, [Goals(xi=xi, loco=True)], threads=2).columns["goals/loco_z"]
    np.testing.assert_allclose(single, wanted, atol=1e-4 * np.abs(wanted).max())


def test_attributes_and_one_chromosome():
    dataset = small()
    posterior = ExactGP().fit(dataset)
    told = scan(posterior, dataset, [Goals(loco=True)], threads=1)
    median = float(np.median(told.columns["goals/loco_z"] ** 2)) / 0.4549364
    assert told.attributes["goals"]["loco_lambda_gc"] == pytest.approx(median, rel=1e-6)
    one = replace(dataset, variants=replace(dataset.variants, chrom=np.full(J, "7", dtype=object)))
    with pytest.raises(SettingsError, match="all 36 variants are on chromosome 7"):
        scan(posterior, one, [Goals(loco=True)])


REPLICATES, FREE = 20, "5"


def replicate(seed: int) -> tuple[float, float, float, float]:
    """Related samples, 40 causal variants on four of five chromosomes: shares of p < .05 and power, LOCO and not."""
    cohort = simulate_cohort(CohortSettings(n_samples=500, n_variants=1500, n_chromosomes=5, n_founders=30, seed=seed))
    source = MemorySource(cohort.dosages, cohort.samples, cohort.variants)
    rng = np.random.default_rng(5000 + seed)
    chrom = np.array([str(c) for c in source.variants.chrom], dtype=object)
    dosages = mean_imputed(source)
    a1_freq = dosages.mean(axis=0) / 2
    common = np.flatnonzero((chrom != FREE) & (np.minimum(a1_freq, 1 - a1_freq) > 0.1))
    causal = rng.choice(common, 40, replace=False)
    x = dosages[:, causal]
    genetic = (x - x.mean(0)) / x.std(0) @ rng.normal(size=40)
    noise = rng.normal(size=500)
    y = np.sqrt(0.6) * genetic / genetic.std() + np.sqrt(0.4) * noise / noise.std()
    columns = Columns(y, [], source.samples.fid, np.full(500, "", dtype=object), "trait")
    dataset = assemble(source, columns, qc.Filters(), Treatment())
    got = scan(ExactGP().fit(dataset), dataset, [Goals(loco=True)]).columns
    free = dataset.variants.chrom == FREE
    assert 100 < free.sum() < dataset.n_variants / 2
    hit = np.isin(dataset.variants.file_index, causal)
    loco, plain = got["goals/loco_neg_log10_p"], got["goals/neg_log10_p"]
    line = -np.log10(0.05)
    return (
        float(np.mean(loco[free] > line)),
        float(np.mean(plain[free] > line)),
        float(np.mean(loco[hit] > 4)),
        float(np.mean(plain[hit] > 4)),
    )


@pytest.mark.slow
def test_calibrated_where_nothing_is_causal_and_no_less_powerful_elsewhere(capsys):
    told = np.array([replicate(seed) for seed in range(REPLICATES)])
    mean, se = told.mean(0), told.std(0, ddof=1) / np.sqrt(REPLICATES)
    with capsys.disabled():
        print(
            f"\nshare of p < 0.05 on the chromosome without causal variants: loco {mean[0]:.4f} (se {se[0]:.4f}), "
            f"default {mean[1]:.4f} (se {se[1]:.4f}); causal variants with p < 1e-4: loco {mean[2]:.3f}, "
            f"default {mean[3]:.3f}"
        )
    assert abs(mean[0] - 0.05) <= 0.01
    assert mean[2] >= mean[3]
