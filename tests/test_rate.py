"""RATE against dense loops of its definition, figures of the authors' released code, and values by hand."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
import pytest
from conftest import dataset_of, random_data

import goalscli
from goalscli.dataset import BLOCK, Chunk
from goalscli.errors import SettingsError
from goalscli.models.exact import ExactGP
from goalscli.scores import score
from goalscli.scores.rate import Rate

PROJECTIONS = ("pinv", "covariance")


@dataclass(frozen=True, eq=False)
class Given:
    """A posterior of f as told."""

    mean: np.ndarray
    matrix: np.ndarray

    def covariance(self) -> np.ndarray:
        return self.matrix.copy()


@dataclass(frozen=True, eq=False)
class Plain:
    """Features as told: what a dataset would have filtered out or scaled."""

    matrix: np.ndarray

    @property
    def n_samples(self) -> int:
        return self.matrix.shape[0]

    @property
    def n_variants(self) -> int:
        return self.matrix.shape[1]

    def chunks(self, size=10_000):
        for start in range(0, self.n_variants, size):
            index = np.arange(start, min(start + size, self.n_variants))
            yield Chunk(index, index - start, np.asfortranarray(self.matrix[:, index]))


def divergences(bound, dataset, *chunking) -> np.ndarray:
    """Kld of all variants, a block at a time as a scan does it."""
    out = np.full(dataset.n_variants, np.nan)
    for chunk in dataset.chunks(*chunking):
        for block in chunk.blocks():
            kld = bound(block)["kld"]
            assert kld.shape == (BLOCK,)
            assert kld.dtype == np.float64
            assert not np.delete(kld, block.columns).any()
            out[block.index] = kld[block.columns]
    return out


def run(posterior, dataset, **settings):
    """Kld, rate and attributes."""
    bound = Rate(**settings).bind(posterior, dataset)
    kld = divergences(bound, dataset)
    columns, attributes = bound.options.finish({"kld": kld}, bound.notes)
    assert np.all(kld >= 0)
    assert columns["rate"].sum() == pytest.approx(1, abs=1e-12)
    assert np.isfinite([attributes["delta"], attributes["ess"]]).all()
    return kld, columns["rate"], attributes


def effects(x, posterior, projection):
    """Mean and covariance of the effect sizes by dense matrices."""
    matrix = np.linalg.pinv(x, rcond=1e-8) if projection == "pinv" else (x - x.mean(0)).T / (len(x) - 1)
    return matrix @ posterior.mean, matrix @ posterior.covariance() @ matrix.T


def gaussian_divergence(m0, s0, m1, s1):
    """KL of N(m0, s0) from N(m1, s1)."""
    inverse = np.linalg.inv(s1)
    logs = np.linalg.slogdet(s1)[1] - np.linalg.slogdet(s0)[1]
    return 0.5 * (np.trace(inverse @ s0) - len(m0) + logs + (m1 - m0) @ inverse @ (m1 - m0))


def full(mu, sigma):
    """Eq. 5 by conditioning on effect j = 0, a variant at a time."""
    out = []
    for j in range(len(mu)):
        rest = np.delete(np.arange(len(mu)), j)
        slope = sigma[rest, j] / sigma[j, j]
        s0, m0 = sigma[np.ix_(rest, rest)], mu[rest]
        out.append(gaussian_divergence(m0, s0, m0 - slope * mu[j], s0 - np.outer(slope, sigma[j, rest])))
    return np.array(out)


def inner(u, j):
    """u_{j,-j} U_{-j,-j} u_{-j,j}, and the same with the (pseudo-)inverse of the middle."""
    rest = np.delete(np.arange(len(u)), j)
    middle, side = u[np.ix_(rest, rest)], u[rest, j]
    return side @ middle @ side, side @ np.linalg.pinv(middle, rcond=1e-9, hermitian=True) @ side


def quadratic(mu, sigma):
    """Quadratic term of Eq. 5 with pseudo-inverses, a variant at a time."""
    precision = np.linalg.pinv(sigma, rcond=1e-9, hermitian=True)
    return np.array([0.5 * mu[j] ** 2 * inner(precision, j)[1] for j in range(len(mu))])


def released(mu, sigma):
    """What the authors' released code computes, a variant at a time."""
    precision = np.linalg.pinv(sigma, rcond=1e-9, hermitian=True)
    out = []
    for j in range(len(mu)):
        side = precision @ sigma[:, j]
        u = precision - np.outer(side, side) / (1 + sigma[j, j])
        out.append(0.5 * mu[j] ** 2 * inner(u, j)[0])
    return np.array(out)


def fitted(n, j, seed, *, covariates=0, scale="standardize", imputed=False, duplicates=0):
    x, y = random_data(n, j, seed, missing=0.02)
    rng = np.random.default_rng(seed)
    if imputed:
        x = np.clip(x + rng.normal(0, 0.2, x.shape), 0, 2)
    if duplicates:
        x[:, -duplicates:] = x[:, :duplicates]
    extra = rng.normal(size=(n, covariates)) if covariates else None
    dataset = dataset_of(x, y, covariates=extra, scale=scale)
    assert dataset.n_variants == j
    assert dataset.covariates.matrix.shape[1] == 1 + covariates
    return dataset, ExactGP(signal=0.8, noise=0.3).fit(dataset), dataset.values(np.arange(j))


@pytest.mark.parametrize("projection", PROJECTIONS)
@pytest.mark.parametrize(
    "how",
    [
        {},
        {"covariates": 2},
        {"imputed": True, "covariates": 1},
        {"scale": "none", "imputed": True},
    ],
    ids=str,
)
def test_full_divergence_against_conditioning(projection, how):
    dataset, posterior, x = fitted(200, 50, seed=3, **how)
    kld, rate, attributes = run(posterior, dataset, projection=projection)
    wanted = full(*effects(x, posterior, projection))
    np.testing.assert_allclose(kld, wanted, rtol=1e-9)
    np.testing.assert_allclose(rate, wanted / wanted.sum(), rtol=1e-9)
    assert "full" in attributes["form"]


@pytest.mark.parametrize("projection", PROJECTIONS)
@pytest.mark.parametrize(
    ("n", "j", "how", "determined"),
    [
        (40, 100, {}, 0),
        (40, 100, {"imputed": True, "scale": "none"}, 0),
        (60, 30, {"duplicates": 4}, 22),
        (60, 30, {"duplicates": 4, "covariates": 2}, 22),
    ],
    ids=str,
)
def test_quadratic_term_against_pseudo_inverses(projection, n, j, how, determined):
    """More variants than samples, and duplicated variants; of the rest no combination of the others gives any."""
    dataset, posterior, x = fitted(n, j, seed=5, **how)
    kld, _, attributes = run(posterior, dataset, projection=projection)
    leverage = np.diag(np.linalg.pinv(x, rcond=1e-8) @ x)
    assert np.sum(leverage > 1 - 1e-9) == determined
    wanted = quadratic(*effects(x, posterior, projection))
    np.testing.assert_allclose(kld, wanted, rtol=1e-8, atol=1e-10 * wanted.max())
    assert "quadratic" in attributes["form"]
    rank = np.linalg.matrix_rank(x - x.mean(0) if projection == "covariance" else x)
    assert f"rank {rank}" in attributes["form"]
    assert f"{j} variants" in attributes["form"]


@pytest.mark.parametrize("projection", PROJECTIONS)
@pytest.mark.parametrize(("n", "j"), [(60, 20), (40, 100)])
def test_released_form_against_dense_loops(projection, n, j):
    dataset, posterior, x = fitted(n, j, seed=6)
    kld, _, attributes = run(posterior, dataset, projection=projection, form="released")
    wanted = released(*effects(x, posterior, projection))
    np.testing.assert_allclose(kld, wanted, rtol=0, atol=1e-9 * wanted.max())
    assert "released" in attributes["form"]


def test_linear_kernel_has_the_full_form():
    """V[f] of a linear kernel has rank J < N, yet the effects' covariance is invertible."""
    x, y = random_data(80, 12, seed=7)
    dataset = dataset_of(x, y)
    x = dataset.values(np.arange(12))
    k = x @ x.T / 12
    solved = np.linalg.solve(k + 0.5 * np.eye(80), np.column_stack([dataset.phenotype, k]))
    posterior = Given(k @ solved[:, 0], k - k @ solved[:, 1:])
    kld, _, attributes = run(posterior, dataset)
    assert "full" in attributes["form"]
    np.testing.assert_allclose(kld, full(*effects(x, posterior, "pinv")), rtol=1e-8)


@pytest.mark.parametrize("projection", PROJECTIONS)
def test_covariance_of_low_rank(projection):
    """Fewer features than variants: the effects' covariance has the rank of V[f]."""
    x, y = random_data(50, 12, seed=8)
    dataset = dataset_of(x, y)
    x = dataset.values(np.arange(12))
    rng = np.random.default_rng(1)
    half = rng.normal(size=(50, 5))
    posterior = Given(half @ rng.normal(size=5), half @ half.T)
    kld, _, attributes = run(posterior, dataset, projection=projection)
    assert "rank 5" in attributes["form"]
    np.testing.assert_allclose(kld, quadratic(*effects(x, posterior, projection)), rtol=1e-8)


def test_rounding_of_a_low_rank_is_not_taken_for_signal():
    """Two all but equal variants magnify rounding errors of V[f] by 1e10; its rank is still 5."""
    x = random_data(50, 12, seed=8)[0]
    rng = np.random.default_rng(1)
    x = np.column_stack([x, x[:, 0] + 1e-5 * rng.normal(size=50)])
    x -= x.mean(0)
    b = rng.normal(size=(13, 5))
    mu = b @ rng.normal(size=5)
    kld, _, attributes = run(Given(x @ mu, x @ b @ b.T @ x.T), Plain(x))
    assert attributes["form"].endswith("rank 5")
    # f is linear in x, so that the effects are its coefficients.
    np.testing.assert_allclose(kld, quadratic(mu, b @ b.T), rtol=1e-4)


def moments(x, y, noise):
    """Posterior that the released RATE was run on: kernel of standardised genotypes, centred, of mean diagonal 1."""
    x = (x - x.mean(0)) / x.std(0, ddof=1)
    n = len(x)
    k = np.array([np.exp(-((x - row) ** 2).sum(1) / x.shape[1]) for row in x])
    k = k - k.mean(0) - k.mean(1)[:, None] + k.mean()
    k /= np.diag(k).mean()
    solved = np.linalg.solve(k + noise * np.eye(n), np.column_stack([y, k]))
    return Given(k @ solved[:, 0], k - k @ solved[:, 1:])


def close_to_maximum(found, wanted):
    np.testing.assert_allclose(found, wanted, rtol=0, atol=1e-8 * np.abs(wanted).max())


@pytest.mark.parametrize("name", ["n200p50", "n100p300"])
@pytest.mark.parametrize(("projection", "file"), [("pinv", "full_pinv"), ("covariance", "cov_proj")])
def test_small_golden_sets(golden, name, projection, file):
    def load(what):
        return np.loadtxt(golden / f"{name}_{what}.csv", delimiter=",")

    x, y = load("X"), load("y")
    posterior = moments(x, y, 1e-3)
    np.testing.assert_allclose(posterior.mean, load("rate_fmean"), atol=1e-11)
    dataset = dataset_of(x, y)
    kld, rate, _ = run(posterior, dataset, projection=projection, form="released")
    wanted = load(f"rate_{file}_KLD_RATE")
    close_to_maximum(kld, wanted[:, 0])
    close_to_maximum(rate, wanted[:, 1])
    if name == "n200p50":
        kld, _, _ = run(posterior, dataset, projection=projection)
        np.testing.assert_allclose(kld, load(f"rate_{file}_paperalpha_fullKL")[:, 1], rtol=1e-8)


@pytest.fixture(scope="module")
def all_mice(mice):
    pheno = str(mice / "hs1814.pheno.tsv")
    return goalscli.read_plink(
        mice / "hs1814",
        pheno=pheno,
        pheno_name="HDL_resid",
        filters=goalscli.Filters(maf=0, geno=1, mind=1),
        treatment=goalscli.Treatment(scale="none"),
    )


@pytest.mark.parametrize("j", [200, 400])
def test_golden_mice(golden, all_mice, j):
    wanted = pd.read_csv(golden / f"hs1814_HDL_J{j}_rate_cov_proj.csv")
    chosen = np.flatnonzero(np.isin(all_mice.variants.file_index, wanted["col"]))
    x = all_mice.values(chosen)
    assert x.shape == (1400, j)
    posterior = moments(x, all_mice.phenotype, 1e-3)
    dataset = dataset_of(x, all_mice.phenotype)
    kld, rate, _ = run(posterior, dataset, projection="covariance", form="released")
    close_to_maximum(kld, wanted["KLD"])
    close_to_maximum(rate, wanted["RATE"])


def bound_by_hand(sigma, mu):
    """Genotypes I, so that the effects are f itself."""
    dataset = Plain(np.eye(len(mu)))
    return Given(np.array(mu, dtype=float), np.array(sigma, dtype=float)), dataset


def test_two_correlated_variants_by_hand():
    posterior, dataset = bound_by_hand([[1, 0.5], [0.5, 1]], [1, 2])
    kld, rate, _ = run(posterior, dataset)
    # r = 1/(1 - 1/4) = 4/3.
    wanted = 0.5 * (1 / 3 - np.log(4 / 3) + np.array([1, 4]) / 3)
    np.testing.assert_allclose(kld, wanted, rtol=1e-13)
    np.testing.assert_allclose(rate, wanted / wanted.sum(), rtol=1e-13)


@pytest.mark.parametrize("c", [1e-3, 1e-6, 1e-9, 1e-11])
def test_nearly_independent_variants_keep_their_digits(c):
    """r - 1 = c²/(6 - c²), far below what is left of r itself."""
    posterior, dataset = bound_by_hand([[2, c], [c, 3]], [1, 2])
    kld, _, _ = run(posterior, dataset)
    d = c**2 / (6 - c**2)
    np.testing.assert_allclose(kld, 0.5 * (d - np.log1p(d) + d * np.array([1 / 2, 4 / 3])), rtol=1e-4)


def independent():
    """Uncorrelated features and f of equal variance: the effects are independent up to rounding."""
    basis = np.linalg.qr(np.random.default_rng(4).normal(size=(20, 5)))[0]
    return Given(np.arange(20.0), 2 * np.eye(20)), Plain(basis * [1, 2, 3, 5, 5])


@pytest.mark.parametrize("case", [bound_by_hand(np.diag([2.0, 3.0, 3.0, 7.0]), [1, 2, 0, 4]), independent()])
def test_independent_variants_are_alike(case):
    kld, rate, attributes = run(*case)
    assert np.all(kld == 0)
    assert np.all(rate == 1 / len(rate))
    assert (attributes["delta"], attributes["ess"]) == (0, 100)


def test_finish_by_hand():
    posterior, dataset = bound_by_hand(np.eye(4), [0, 0, 0, 0])
    bound = Rate().bind(posterior, dataset)
    columns, attributes = bound.options.finish({"kld": np.array([1.0, 3.0, 0.0, 0.0])}, bound.notes)
    assert list(columns) == ["rate"]
    np.testing.assert_allclose(columns["rate"], [0.25, 0.75, 0, 0], rtol=1e-15)
    delta = 0.25 * np.log(1) + 0.75 * np.log(3)
    assert attributes["delta"] == pytest.approx(delta, rel=1e-14)
    assert attributes["ess"] == pytest.approx(100 / (1 + delta), rel=1e-14)
    assert attributes["null_level"] == 0.25


@pytest.mark.parametrize("projection", PROJECTIONS)
@pytest.mark.parametrize("form", ["paper", "released"])
def test_no_signal_gives_equal_rates(projection, form):
    x, y = random_data(30, 8, seed=9)
    dataset = dataset_of(x, y)
    posterior = Given(np.zeros(30), np.zeros((30, 30)))
    kld, rate, attributes = run(posterior, dataset, projection=projection, form=form)
    assert np.all(kld == 0)
    assert np.all(rate == 1 / 8)
    assert (attributes["delta"], attributes["ess"], attributes["null_level"]) == (0, 100, 1 / 8)


@pytest.mark.parametrize("projection", PROJECTIONS)
@pytest.mark.parametrize("form", ["paper", "released"])
@pytest.mark.parametrize(("n", "j"), [(2, 1), (2, 5), (30, 1), (3, 2)])
def test_smallest_data(projection, form, n, j):
    rng = np.random.default_rng(n)
    half = rng.normal(size=(n, n))
    posterior = Given(rng.normal(size=n), half @ half.T)
    x = rng.normal(size=(n, j))
    kld, rate, attributes = run(posterior, Plain(x), projection=projection, form=form)
    mu, sigma = effects(x, posterior, projection)
    if form == "released":
        wanted = released(mu, sigma)
    elif "full" in attributes["form"]:
        wanted = full(mu, sigma) if j > 1 else np.zeros(1)
    else:
        wanted = quadratic(mu, sigma)
    np.testing.assert_allclose(kld, wanted, rtol=1e-8, atol=1e-12)
    if j == 1:
        assert rate.tolist() == [1.0]


@pytest.mark.parametrize("projection", PROJECTIONS)
def test_constant_genotypes(projection):
    """A constant feature has an effect by X†f, none as a covariance."""
    rng = np.random.default_rng(2)
    x = rng.binomial(2, 0.4, (40, 6)).astype(float)
    x[:, 2] = 1.0
    half = rng.normal(size=(40, 40))
    posterior = Given(rng.normal(size=40), half @ half.T)
    kld, _, attributes = run(posterior, Plain(x), projection=projection)
    mu, sigma = effects(x, posterior, projection)
    if projection == "pinv":
        assert "full" in attributes["form"]
        np.testing.assert_allclose(kld, full(mu, sigma), rtol=1e-9)
    else:
        assert "rank 5" in attributes["form"]
        np.testing.assert_allclose(kld, quadratic(mu, sigma), rtol=1e-9, atol=1e-20)
        assert kld[2] < 1e-20 < kld[0]


def test_covariances_do_not_depend_on_an_offset():
    """Nor where two features are all but equal, a direction that rounding mixes with the constant."""
    x = random_data(60, 8, seed=11)[0]
    rng = np.random.default_rng(3)
    x = np.column_stack([x, x[:, 0] + 1e-3 * rng.normal(size=60)])
    half = rng.normal(size=(60, 60))
    posterior = Given(rng.normal(size=60), half @ half.T)
    wanted, _, _ = run(posterior, Plain(x - x.mean(0)), projection="covariance")
    kld, _, _ = run(posterior, Plain(x + 1000), projection="covariance")
    np.testing.assert_allclose(kld, wanted, rtol=1e-6)


@pytest.mark.parametrize("settings", [{}, {"form": "released"}, {"projection": "covariance"}], ids=str)
@pytest.mark.parametrize(("n", "j"), [(90, 600), (640, 300)])
def test_bits_do_not_depend_on_chunks(settings, n, j):
    """Over several blocks, in both shapes, for parts of the variants too."""
    x, y = random_data(n, j, seed=10)
    dataset = dataset_of(x, y)
    posterior = ExactGP(signal=1.0, noise=0.5).fit(dataset)
    bound = Rate(**settings).bind(posterior, dataset)
    whole = divergences(bound, dataset)
    assert np.isfinite(whole).all()
    for size in (1, 7, 300):
        assert np.array_equal(divergences(bound, dataset, size), whole)
    part = np.arange(200, 290)
    assert np.array_equal(divergences(bound, dataset, 50, part)[part], whole[part])
    # Bound again, as by another part of a job.
    again = Rate(**settings).bind(posterior.with_precision("double"), dataset)
    assert np.array_equal(divergences(again, dataset, 512), whole)


def test_settings_and_fields():
    assert score("rate") is Rate
    assert Rate(form="released").settings() == {"form": "released", "projection": "pinv"}
    posterior, dataset = bound_by_hand(np.eye(2), [0, 1])
    bound = Rate(projection="covariance").bind(posterior, dataset)
    assert bound.options.settings() == {"form": "paper", "projection": "covariance"}
    assert [(f.name, f.derived) for f in bound.options.fields] == [("kld", False), ("rate", True)]
    assert (bound.options.ranking, bound.options.keeps_local) == ("rate", False)
    with pytest.raises(SettingsError, match="give paper or released"):
        Rate(form="other")
    with pytest.raises(SettingsError, match="give pinv or covariance"):
        Rate(projection="other")
