"""Psi against the joint Gaussian of f and its derivative, finite differences, and simulated traits."""

from __future__ import annotations

import dataclasses
from functools import cache
from pathlib import Path

import numpy as np
import oracles
import pytest
from conftest import dataset_of, random_data
from helpers import Here, goals, make_data, names

from goalscli.errors import SettingsError
from goalscli.kernels import kernel
from goalscli.models.exact import ExactGP
from goalscli.scanning import scan
from goalscli.scores.psi import Psi

SIGNAL, NOISE = 1.7, 0.6
N, J = 40, 23
SMOOTH = ("rbf", "cauchy", "matern32", "matern52", "linear")
CURVATURE = {"rbf": 2, "cauchy": 2, "matern32": 3, "matern52": 5 / 3, "linear": 1}
"""Var ∂_j f over theta·s, by the table of section 7."""
TREATED = [(0.0, "standardize"), (0.04, "standardize"), (0.0, "none"), (0.04, "none")]


@cache
def data_of(missing: float, scale: str):
    """Family-imputed and with covariates where calls are missing; with a clone where none are."""
    x, y = random_data(N, J, seed=51, missing=missing)
    if not missing:
        x[7] = x[3]
    family = np.array([f"F{i // 5}" for i in range(N)], dtype=object)
    covariates = np.random.default_rng(52).normal(size=(N, 2)) if missing else None
    return dataset_of(x, y, scale=scale, family=family, covariates=covariates)


def features(dataset) -> np.ndarray:
    return dataset.values(np.arange(dataset.n_variants))


def stacked(posterior, dataset) -> oracles.Stacked:
    x, w = features(dataset), dataset.covariates.matrix
    return oracles.Stacked(
        posterior.kernel, x, posterior.phenotype, w, posterior.theta, posterior.signal_variance,
        posterior.noise_variance,
    )  # fmt: skip


def slope_rows(oracle, j) -> np.ndarray:
    """Covariance of ∂_j f(x_i) with f(x_i') by a complex step of x_ij."""
    moved = oracle.x.astype(complex)
    moved[:, j] += 1e-30j
    return oracle.s * oracles.kernel(oracle.name, moved, oracle.x, oracle.theta).imag / 1e-30


def derivative_gaussian(oracle, j) -> tuple[np.ndarray, np.ndarray]:
    """Posterior mean of ∂_j f at each sample, and the variance that the trait explains."""
    rows = slope_rows(oracle, j)
    return rows @ oracle.p @ oracle.y, np.einsum("ij,jk,ik->i", rows, oracle.p, rows)


@pytest.mark.parametrize("name", SMOOTH)
@pytest.mark.parametrize(("missing", "scale"), TREATED)
@pytest.mark.parametrize(("precision", "tolerance"), [("double", 1e-10), ("single", 1e-4)])
def test_against_the_derivative_gaussian(name, missing, scale, precision, tolerance):
    dataset = data_of(missing, scale)
    assert (max(len(np.unique(c)) for c in features(dataset).T) > 3) == (missing > 0)
    assert dataset.covariates.matrix.shape[1] == (3 if missing else 1)
    posterior = ExactGP(kernel=name, signal=SIGNAL, noise=NOISE).fit(dataset)
    got = scan(posterior.with_precision(precision), dataset, [Psi()], chunk_size=7).columns
    oracle = stacked(posterior, dataset)
    prior = CURVATURE[name] * posterior.theta * SIGNAL
    told = [derivative_gaussian(oracle, j) for j in range(J)]
    mean = np.array([np.mean(g**2 + prior - explained) for g, explained in told])
    plug_in = np.array([np.mean(g**2) for g, _ in told])
    expected = np.array([np.mean(explained) for _, explained in told])
    for column, wanted in (("mean", mean), ("plug_in", plug_in), ("excess", plug_in / expected)):
        np.testing.assert_allclose(got[f"psi/{column}"], wanted, rtol=0, atol=tolerance * np.abs(wanted).max())
    assert set(got) == {"psi/mean", "psi/plug_in", "psi/excess"}


@pytest.mark.parametrize("name", SMOOTH)
def test_prior_variance_of_the_derivative(name):
    """Var of (f(x + h) - f(x))/h for a small h is that of the table, and the kernel's own."""
    theta, h = 0.13, 1e-4
    pair = np.zeros((2, 5))
    pair[1, 3] = h
    k = oracles.kernel(name, pair, pair, theta)
    assert (k[0, 0] - 2 * k[0, 1] + k[1, 1]) / h**2 == pytest.approx(CURVATURE[name] * theta, rel=1e-3)
    own = kernel(name).slope_covariance(kernel(name).reference(np.eye(1) if name == "linear" else k[:1, :1], theta),
                                        np.zeros(1), theta)  # fmt: skip
    assert own[0, 0] == pytest.approx(CURVATURE[name] * theta, rel=1e-12)


@pytest.mark.parametrize("name", SMOOTH)
def test_against_finite_differences_of_the_posterior_mean(name):
    dataset = data_of(0.04, "standardize")
    posterior = ExactGP(kernel=name, signal=SIGNAL, noise=NOISE).fit(dataset).with_precision("double")
    got = scan(posterior, dataset, [Psi()]).columns["psi/plug_in"]
    oracle, h = stacked(posterior, dataset), 1e-4
    for j in range(0, J, 4):
        up, down = (oracle.at(oracle.shifted(j, step))[2] for step in (h, -h))
        # Matérn 3/2 has no third derivative at the samples: the error there is of order h.
        assert got[j] == pytest.approx(np.mean(((up - down) / (2 * h)) ** 2), rel=1e-4 if name == "matern32" else 1e-6)


@pytest.mark.parametrize("name", ["rbf", "matern32", "linear"])
def test_excess_is_over_the_expectation_under_the_null(name):
    """The mean of plug_in over traits y ~ N(Wγ, A) is plug_in/excess, within four Monte Carlo errors."""
    dataset, draws = data_of(0.04, "standardize"), 4000
    chosen = [0, 2, 7, 11, 22]
    posterior = ExactGP(kernel=name, signal=SIGNAL, noise=NOISE).fit(dataset).with_precision("double")
    got = scan(posterior, dataset, [Psi()]).columns
    stated = (got["psi/plug_in"] / got["psi/excess"])[chosen]
    oracle = stacked(posterior, dataset)
    rng = np.random.default_rng(53)
    k = SIGNAL * oracles.kernel(name, oracle.x, oracle.x, posterior.theta)
    w = dataset.covariates.matrix
    root = np.linalg.cholesky(k + NOISE * np.eye(N))
    traits = 3.0 * w @ rng.normal(size=(w.shape[1], draws)) + root @ rng.normal(size=(N, draws))
    gradients = np.array([slope_rows(oracle, j) @ oracle.p @ traits for j in chosen])
    simulated = np.mean(gradients**2, axis=1)
    error = simulated.std(axis=1, ddof=1) / np.sqrt(draws)
    assert np.all(error < 0.05 * stated)
    assert np.all(np.abs(simulated.mean(axis=1) - stated) < 4 * error)
    # The package's own plug_in for one of these traits is the one simulated.
    y = traits[:, 0]
    redone = dataclasses.replace(posterior, phenotype=y, weights=posterior.project(y))
    np.testing.assert_allclose(
        scan(redone, dataset, [Psi()]).columns["psi/plug_in"][chosen], simulated[:, 0], rtol=1e-9
    )


def test_variants_that_covariates_determine_have_no_excess():
    """Linear: the data cannot tell their effects, whose psi keeps its prior; 0, not a ratio of two roundings."""
    x, y = random_data(N, 24, seed=54)
    known, free = np.arange(0, 24, 3), [1, 2, 4, 5]
    dataset = dataset_of(x, y, covariates=x[:, known])
    posterior = ExactGP(kernel="linear", signal=SIGNAL, noise=NOISE).fit(dataset)
    got = scan(posterior.with_precision("double"), dataset, [Psi()]).columns
    assert np.all(got["psi/excess"][known] == 0)
    np.testing.assert_allclose(got["psi/mean"][known], SIGNAL / 24, rtol=1e-9)
    assert np.all(got["psi/excess"][free] > 0)


@pytest.mark.parametrize("name", SMOOTH)
def test_no_signal(name):
    """Where REML puts the signal at 0, psi is 0 and the excess its limit."""
    x, _ = random_data(50, 30, seed=55)
    for seed in range(60):
        dataset = dataset_of(x, np.random.default_rng(seed).normal(size=50))
        posterior = ExactGP(kernel=name).fit(dataset)
        if posterior.signal_variance == 0:
            break
    else:
        pytest.fail("no trait without signal among 60: make another")
    got = scan(posterior.with_precision("double"), dataset, [Psi()]).columns
    assert np.all(got["psi/mean"] == 0)
    assert np.all(got["psi/plug_in"] == 0)
    assert np.all(got["psi/excess"] > 0)
    theta = None if name == "linear" else posterior.theta
    tiny = ExactGP(kernel=name, theta=theta, signal=1e-8, noise=posterior.noise_variance).fit(dataset)
    oracle = stacked(tiny, dataset)
    told = [derivative_gaussian(oracle, j) for j in range(30)]
    limit = np.array([np.mean(g**2) / np.mean(explained) for g, explained in told])
    np.testing.assert_allclose(got["psi/excess"], limit, rtol=1e-4)


# --- No derivative ---------------------------------------------------------------------------------------------------


ABLE = "rbf, cauchy, matern32, matern52, linear"


def test_laplacian_is_refused_with_what_would_do():
    dataset = data_of(0.0, "standardize")
    posterior = ExactGP(kernel="laplacian", signal=SIGNAL, noise=NOISE).fit(dataset)
    for refused in (
        lambda: scan(posterior, dataset, [Psi()]),
        lambda: posterior.slopes(),
        lambda: posterior.joint_slope(features(dataset), 3, np.random.default_rng(1)),
        lambda: ExactGP(kernel="laplacian").check_scores(["shifts", "slopes"]),
    ):
        with pytest.raises(SettingsError, match="psi does not exist") as caught:
            refused()
        assert f"the kernels {ABLE}, or" in str(caught.value)
    ExactGP(kernel="laplacian").check_scores(["shifts", "covariance"])
    for name in SMOOTH:
        ExactGP(kernel=name).check_scores(["slopes"])


@pytest.mark.parametrize("scores", ["psi", "goals,psi"])
def test_laplacian_is_refused_before_anything_is_fitted(scores, tmp_path: Path, monkeypatch, capsys):
    make_data(tmp_path)
    before = names(tmp_path)
    args = ("--bfile", "d", "--pheno", "pheno.tsv", "--pheno-name", "A", "--kernel", "laplacian", "--threads", "1",
            "--out", "out/x")  # fmt: skip

    def fit(*_):
        raise AssertionError("fitted")

    monkeypatch.setattr(ExactGP, "fit", fit)
    outcome = Here(monkeypatch, capsys, tmp_path)("run", *args, "--scores", scores)
    assert outcome.code == 2
    assert outcome.out == ""
    told = [line for line in outcome.err.splitlines() if not line.startswith("goals 0")]
    assert len(told) == 1, outcome.err
    assert told[0].startswith("goals: error: --scores psi: f has no derivative with the laplacian kernel")
    assert f"the kernels {ABLE}, or" in told[0]
    assert names(tmp_path) == before


def test_laplacian_is_refused_in_a_process_of_its_own(tmp_path: Path):
    """A model fitted before is refused by the scan."""
    make_data(tmp_path)
    args = ("--bfile", "d", "--pheno", "pheno.tsv", "--pheno-name", "A", "--kernel", "laplacian", "--threads", "1")
    assert goals("fit", *args, "--out", "m", cwd=tmp_path).code == 0
    before = names(tmp_path)
    outcome = goals("scan", "m.model.h5", "--scores", "goals,psi", "--threads", "1", "-q", cwd=tmp_path)
    assert outcome.code == 2
    assert outcome.err.count("\n") == 1, outcome.err
    assert outcome.err.startswith("goals: error: --scores psi: f has no derivative")
    assert names(tmp_path) == before
