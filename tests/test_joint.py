"""The joint posterior of a few variants against stacked joint Gaussians, and ``goals posterior`` from end to end."""

from __future__ import annotations

import shutil
from functools import cache
from pathlib import Path

import h5py
import numpy as np
import oracles
import pandas as pd
import pytest
from conftest import dataset_of, random_data
from helpers import CAUSAL, FIT, Here, N, goals, make_data, names

from goalscli.jobs.model_file import load_model
from goalscli.jobs.posterior import correlations
from goalscli.models.exact import ExactGP
from goalscli.models.joint import square_root
from goalscli.scanning import scan
from goalscli.scores.goals import Goals
from goalscli.scores.psi import Psi

SIGNAL, NOISE = 1.7, 0.6
SMOOTH = ("rbf", "cauchy", "matern32", "matern52", "linear")
CURVATURE = {"rbf": 2, "cauchy": 2, "matern32": 3, "matern52": 5 / 3, "linear": 1}
"""Var ∂_j f over theta·s, by the table of section 7 (see test_psi)."""


@cache
def data_of(n: int = 60, j: int = 23, *, covariates: bool = True, clone: bool = False):
    x, y = random_data(n, j, seed=61, missing=0.0 if clone else 0.03)
    if clone:
        x[9] = x[2]
    family = np.array([f"F{i // 5}" for i in range(n)], dtype=object)
    extra = np.random.default_rng(62).normal(size=(n, 2)) if covariates else None
    return dataset_of(x, y, covariates=extra, family=family, intercept=covariates)


@cache
def fitted(name: str, n: int = 60, j: int = 23, *, covariates: bool = True, clone: bool = False):
    dataset = data_of(n, j, covariates=covariates, clone=clone)
    return dataset, ExactGP(kernel=name, signal=SIGNAL, noise=NOISE).fit(dataset)


def features(dataset) -> np.ndarray:
    return dataset.values(np.arange(dataset.n_variants))


def stacked(posterior, dataset) -> oracles.Stacked:
    x, w, s, v = features(dataset), dataset.covariates.matrix, posterior.signal_variance, posterior.noise_variance
    return oracles.Stacked(posterior.kernel, x, dataset.phenotype, w, posterior.theta, s, v)


def close(found, wanted, tolerance: float) -> None:
    np.testing.assert_allclose(found, wanted, rtol=0, atol=tolerance * np.abs(wanted).max())


def steps_of(kind: str, dataset, chosen) -> np.ndarray:
    """The same shift for all, or half a copy less of an allele."""
    return np.full(len(chosen), 1.0) if kind == "scalar" else -0.5 * dataset.allele_step[chosen]


# --- Scores ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", oracles.KERNELS)
@pytest.mark.parametrize("kind", ["scalar", "allele"])
def test_scores_of_twenty_variants_against_the_joint_gaussian(name, kind):
    dataset, posterior = fitted(name)
    chosen = np.delete(np.arange(23), [4, 11, 12])
    xi = steps_of(kind, dataset, chosen)
    told: list[int] = []
    got = posterior.joint_shift(features(dataset)[:, chosen], xi, told.append)
    oracle = stacked(posterior, dataset)
    mean, covariance = oracle.joint(chosen, xi)
    assert got.covariance.shape == (20, 20)
    close(got.mean, mean, 1e-10)
    close(got.covariance, covariance, 1e-10)
    assert np.array_equal(got.covariance, got.covariance.T)
    assert told == [1] * 20
    assert got.local.shape == got.local_sd.shape == (60, 20)
    for k in (0, 7, 19):
        local, spread, *_ = oracle.goals(chosen[k], xi[k])
        close(got.local[:, k], local, 1e-10)
        close(got.local_sd[:, k], np.sqrt(np.diag(spread)), 1e-10)


def signed(k, b, ai, signs: dict[str, int]) -> np.ndarray:
    """Posterior covariance of local scores in the form of Eq. 11, terms multiplied by ``signs`` (0 leaves one out)."""
    terms = {
        "2K": 2 * k, "KAK": -k @ ai @ k, "BAB": -b.T @ ai @ b, "B": -(b.T + b), "BAK": b.T @ ai @ k + k @ ai @ b,
    }  # fmt: skip
    return sum(signs.get(name, 1) * term for name, term in terms.items())


@pytest.mark.parametrize("name", oracles.KERNELS)
def test_local_sd_is_that_of_the_corrected_equation_11(name):
    """Without fixed effects; as printed it lacks 2K and has a sign turned round: no reading of that will do."""
    dataset, posterior = fitted(name, covariates=False)
    assert dataset.covariates.matrix.shape[1] == 0
    oracle, j, xi = stacked(posterior, dataset), 5, 0.8
    n = dataset.n_samples
    moved = oracle.shifted(j, xi)
    k = SIGNAL * oracles.kernel(name, oracle.x, oracle.x, posterior.theta)
    b = SIGNAL * oracles.kernel(name, oracle.x, moved, posterior.theta)
    ai = np.linalg.inv(k + NOISE * np.eye(n))
    found = posterior.joint_shift(features(dataset)[:, [j]], np.array([xi])).local_sd[:, 0] ** 2
    if name == "linear":
        # Moving a sample changes its own variance: 2K is K and that of the samples moved.
        still = SIGNAL * oracles.kernel(name, moved, moved, posterior.theta) - k
        close(found, np.diag(signed(k, b, ai, {}) + still), 1e-10)
    else:
        close(found, np.diag(signed(k, b, ai, {})), 1e-10)
    assert np.all(np.diag(signed(k, b, ai, {"2K": 0})) < 0), "variances below 0"
    for turned in ("KAK", "BAB", "B", "BAK"):
        for printed in ({turned: -1}, {turned: -1, "2K": 0}):
            assert np.max(np.abs(np.diag(signed(k, b, ai, printed)) - found)) > 0.1 * SIGNAL


@pytest.mark.parametrize("name", oracles.KERNELS)
@pytest.mark.parametrize("j", [23, 400])
def test_diagonal_is_the_variance_of_the_scan(name, j):
    dataset, posterior = fitted(name, 40, j)
    chosen = np.array([0, 3, 9, 21, j - 1])
    result = scan(posterior.with_precision("double"), dataset, [Goals(xi=0.7, xi_unit="allele")]).columns
    got = posterior.joint_shift(dataset.values(chosen), 0.7 * dataset.allele_step[chosen])
    np.testing.assert_allclose(np.diag(got.covariance), result["goals/sd"][chosen] ** 2, rtol=1e-8)
    np.testing.assert_allclose(got.mean, result["goals/score"][chosen], rtol=1e-7)
    np.testing.assert_allclose(np.sqrt(np.mean(got.local**2, axis=0)), result["goals/rms"][chosen], rtol=1e-7)


@pytest.mark.parametrize("name", oracles.KERNELS)
def test_perfect_linkage_disequilibrium(name):
    """A duplicate, a flipped duplicate: the data cannot tell them apart, and nothing overflows."""
    x, y = random_data(40, 23, seed=63)
    x[:, 8], x[:, 15] = x[:, 1], 2 - x[:, 1]
    dataset = dataset_of(x, y)
    posterior = ExactGP(kernel=name, signal=SIGNAL, noise=NOISE).fit(dataset)
    chosen = [1, 8, 15, 2]
    values, xi = features(dataset)[:, chosen], np.array([1.0, 1.0, -1.0, 1.0])
    np.testing.assert_allclose(values[:, 2], -values[:, 0])
    got = posterior.joint_shift(values, xi)
    _, covariance = stacked(posterior, dataset).joint(chosen, xi)
    close(got.covariance, covariance, 1e-10)
    # What one does, the other does; shifting the flipped one down is shifting this one up.
    np.testing.assert_allclose(got.mean[1:3], got.mean[0], rtol=1e-9)
    np.testing.assert_allclose(np.diag(got.covariance)[1:3], got.covariance[0, 0], rtol=1e-9)
    assert np.linalg.eigvalsh(got.covariance)[0] > -1e-12
    if name == "linear":
        # Of independent effects, a posterior that knows only their sum makes the pair's covariance negative.
        assert got.covariance[0, 1] < 0
    if name != "laplacian":
        slope = posterior.joint_slope(values, 50, np.random.default_rng(1))
        assert np.isfinite(slope.draws).all()
        np.testing.assert_allclose(slope.mean[1:3], slope.mean[0], rtol=1e-9)
        np.testing.assert_allclose(slope.sd[1:3], slope.sd[0], rtol=1e-9)


@pytest.mark.parametrize("name", oracles.KERNELS)
def test_no_signal(name):
    """Where REML puts the signal at 0, so is everything, without a warning."""
    x, _ = random_data(50, 30, seed=55)
    for seed in range(60):
        dataset = dataset_of(x, np.random.default_rng(seed).normal(size=50))
        posterior = ExactGP(kernel=name).fit(dataset)
        if posterior.signal_variance == 0:
            break
    else:
        pytest.fail("no trait without signal among 60: make another")
    values = features(dataset)[:, :3]
    got = posterior.joint_shift(values, np.full(3, 0.7))
    for array in (got.mean, got.covariance, got.local, got.local_sd):
        assert np.all(array == 0)
    assert np.array_equal(correlations(got.covariance), np.eye(3))
    if name != "laplacian":
        slope = posterior.joint_slope(values, 10, np.random.default_rng(1))
        for array in (slope.mean, slope.sd, slope.draws):
            assert np.all(array == 0)


# --- Psi -------------------------------------------------------------------------------------------------------------


def slope_gaussian(oracle, j) -> tuple[np.ndarray, np.ndarray]:
    """Posterior mean and covariance of ∂_j f at all samples, from the kernel's values alone.

    Complex step of x_i; of x_i' central differences of two widths, extrapolated. Coinciding samples have the variance
    of the table.
    """
    moved = oracle.x.astype(complex)
    moved[:, j] += 1e-30j

    def mixed(h):
        up, down = (oracles.kernel(oracle.name, moved, oracle.shifted(j, step), oracle.theta).imag for step in (h, -h))
        return (up - down) / (2 * h) / 1e-30

    prior = (4 * mixed(0.01) - mixed(0.02)) / 3
    same = np.all(oracle.x[:, None] == oracle.x, axis=-1)
    prior[same] = CURVATURE[oracle.name] * oracle.theta
    rows = oracle.s * oracles.kernel(oracle.name, moved, oracle.x, oracle.theta).imag / 1e-30
    return rows @ oracle.p @ oracle.y, oracle.s * prior - rows @ oracle.p @ rows.T


@pytest.mark.parametrize("name", SMOOTH)
@pytest.mark.parametrize("clone", [False, True], ids=["unlike", "clone"])
def test_mean_and_sd_of_psi_against_the_derivative_gaussian(name, clone):
    dataset, posterior = fitted(name, 40, clone=clone)
    oracle, chosen = stacked(posterior, dataset), [0, 1, 2, 9, 22]
    told: list[int] = []
    got = posterior.joint_slope(features(dataset)[:, chosen], 5, np.random.default_rng(1), told.append)
    moments = [slope_gaussian(oracle, j) for j in chosen]
    mean = [(g @ g + np.trace(c)) / 40 for g, c in moments]
    # Var |d|² of d ~ N(g, C) is Σ_ik Cov(d_i², d_k²), each 2·C_ik² + 4·g_i·g_k·C_ik by Isserlis.
    variance = [sum(2 * c[i, k] ** 2 + 4 * g[i] * g[k] * c[i, k] for i in range(40) for k in range(40)) / 40**2
                for g, c in moments]  # fmt: skip
    np.testing.assert_allclose(got.mean, mean, rtol=1e-8)
    np.testing.assert_allclose(got.sd, np.sqrt(variance), rtol=1e-8)
    assert told == [1] * 5
    scanned = scan(posterior.with_precision("double"), dataset, [Psi()]).columns["psi/mean"]
    np.testing.assert_allclose(got.mean, scanned[chosen], rtol=1e-9)


@pytest.mark.parametrize("name", SMOOTH)
def test_draws_of_psi_against_another_sampler(name):
    dataset, posterior = fitted(name, 40)
    count, chosen = 20_000, [0, 9, 22]
    got = posterior.joint_slope(features(dataset)[:, chosen], count, np.random.default_rng(64))
    assert got.draws.shape == (3, count)
    assert np.all(got.draws >= 0)
    oracle, rng = stacked(posterior, dataset), np.random.default_rng(65)
    for k, j in enumerate(chosen):
        mean, covariance = slope_gaussian(oracle, j)
        values, vectors = np.linalg.eigh((covariance + covariance.T) / 2)
        root = (vectors * np.sqrt(np.maximum(values, 0))) @ vectors.T
        other = np.mean((mean + rng.normal(size=(count, 40)) @ root) ** 2, axis=1)
        here = got.draws[k]
        error = np.hypot(here.std(), other.std()) / np.sqrt(count)
        assert abs(here.mean() - other.mean()) < 4 * error
        assert abs(here.mean() - got.mean[k]) < 4 * here.std() / np.sqrt(count)
        centred = (here - here.mean()) ** 2
        assert abs(centred.mean() - got.sd[k] ** 2) < 4 * centred.std() / np.sqrt(count)
        # Quantiles: the greatest gap of the two distribution functions (Kolmogorov and Smirnov, level 1e-4).
        places = np.sort(np.concatenate([here, other]))
        shares = [np.searchsorted(np.sort(sample), places, side="right") / count for sample in (here, other)]
        assert np.max(np.abs(shares[0] - shares[1])) < 2.23 * np.sqrt(2 / count)
    correlation = np.corrcoef(got.draws)
    assert np.all(np.abs(correlation[np.triu_indices(3, 1)]) < 4 / np.sqrt(count)), "each variant by itself"


def test_draws_of_psi_follow_from_the_seed():
    dataset, posterior = fitted("matern52", 40)
    values = features(dataset)[:, :3]
    first, again, other = (posterior.joint_slope(values, 30, np.random.default_rng(seed)) for seed in (7, 7, 8))
    assert np.array_equal(first.draws, again.draws)
    assert not np.any(first.draws == other.draws)
    assert np.array_equal(first.sd, other.sd)


def test_square_root_of_full_and_of_deficient_matrices():
    rng = np.random.default_rng(66)
    for rank in (12, 5, 1):
        factor = rng.normal(size=(12, rank))
        covariance = factor @ factor.T
        root = square_root(covariance)
        assert root.shape[1] == rank
        np.testing.assert_allclose(root @ root.T, covariance, atol=1e-10 * np.abs(covariance).max())


# --- goals posterior -------------------------------------------------------------------------------------------------


EFFECTS = [
    *("#CHROM", "POS", "ID", "A1", "A2", "A1_FREQ", "OBS_CT"),
    *("EFFECT", "EFFECT_SD", "EFFECT_LOW", "EFFECT_HIGH", "CORR_WITH", "CORR"),
]
RESULTS = {"p.posterior.h5", "p.posterior.tsv", "p.correlation.tsv"}
CHOSEN = ("rs10", "rs41", "rs200")
POSTERIOR = ("posterior", "--threads", "1")
"""Two threads of BLAS on small matrices wait for each other on a busy machine."""


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Models m (rbf) and l (Laplacian) with their scans, and alone, which has none."""
    folder = tmp_path_factory.mktemp("template")
    make_data(folder)
    for model, kernel, scores in (("m", "rbf", "goals"), ("l", "laplacian", "goals"), ("r", "rbf", "psi")):
        assert goals(*FIT, "--kernel", kernel, "--out", model, cwd=folder).code == 0
        assert goals("scan", f"{model}.model.h5", "--scores", scores, "--threads", "1", cwd=folder).code == 0
    shutil.copy(folder / "m.model.h5", folder / "alone.model.h5")
    (folder / "ids.txt").write_text("rs200\nrs10 some words\n\nrs41\n")
    (folder / "bad.txt").write_text("rs10\nrsX\nrsY\n")
    return folder


@pytest.fixture
def folder(template: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(template, tmp_path / "work"))


@pytest.fixture
def here(folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Here:
    return Here(monkeypatch, capsys, folder)


def table(path: Path) -> pd.DataFrame:
    return pd.read_csv(path, sep="\t", dtype={"#CHROM": str}, na_values=["NA"], keep_default_na=False)


def contents(path: Path) -> dict[str, np.ndarray]:
    """Every array by name."""
    found: dict[str, np.ndarray] = {}
    with h5py.File(path) as file:
        file.visititems(lambda name, item: found.update({name: item[:]}) if isinstance(item, h5py.Dataset) else None)
    return found


def six(found, wanted) -> None:
    """Equal to the six digits of a table."""
    np.testing.assert_allclose(np.asarray(found, dtype=float), wanted, rtol=6e-6)


@pytest.mark.parametrize("told", ["rs41,rs10, rs200", "ids.txt"])
def test_posterior_of_named_variants(here: Here, folder: Path, told: str):
    before = names(folder)
    outcome = here.well(*POSTERIOR, "m.model.h5", "--snps", told, "--xi", "-0.5", "--draws", "4000", "--seed", "3",
                        "--level", "0.9", "--out", "p")  # fmt: skip
    assert outcome.out.split() == ["p.posterior.h5", "p.posterior.tsv", "p.correlation.tsv"]
    assert names(folder) - before == RESULTS
    dataset, posterior, attributes = load_model(folder / "m.model.h5")
    index = [list(dataset.variants.id).index(name) for name in CHOSEN]
    oracle = stacked(posterior, dataset)
    mean, covariance = oracle.joint(index, [-0.5] * 3)

    effects = table(folder / "p.posterior.tsv")
    assert list(effects.columns) == EFFECTS
    assert list(effects["ID"]) == list(CHOSEN), "file order"
    bim = pd.read_csv(folder / "d.bim", sep="\t", header=None, dtype=str).set_index(1).loc[list(CHOSEN)]
    for column, place in (("#CHROM", 0), ("POS", 3), ("A1", 4), ("A2", 5)):
        assert list(effects[column].astype(str)) == list(bim[place])
    six(effects["A1_FREQ"], dataset.variants.a1_freq[index])
    assert list(effects["OBS_CT"]) == list(dataset.variants.n_obs[index])
    sd = np.sqrt(np.diag(covariance)) / 0.5
    six(effects["EFFECT"], mean / 0.5)
    assert effects.loc[1, "EFFECT"] > 0, f"more A1 of variant {CAUSAL} raises the trait"
    six(effects["EFFECT_SD"], sd)
    # 5 % of a normal lie above 1.6448536 sd.
    six(effects["EFFECT_LOW"], mean / 0.5 - 1.64485363 * sd)
    six(effects["EFFECT_HIGH"], mean / 0.5 + 1.64485363 * sd)
    correlation = covariance / np.sqrt(np.outer(np.diag(covariance), np.diag(covariance)))
    for k in range(3):
        others = {m: correlation[k, m] for m in range(3) if m != k}
        nearest = max(others, key=lambda m: abs(others[m]))
        assert effects.loc[k, "CORR_WITH"] == CHOSEN[nearest]
        np.testing.assert_allclose(effects.loc[k, "CORR"], others[nearest], rtol=1e-4)

    square = table(folder / "p.correlation.tsv")
    assert list(square.columns) == ["ID", *CHOSEN]
    assert list(square["ID"]) == list(CHOSEN)
    matrix = square[list(CHOSEN)].to_numpy()
    assert np.array_equal(matrix, matrix.T)
    assert np.all(np.diag(matrix) == 1)
    np.testing.assert_allclose(matrix, correlation, rtol=1e-4)

    check_arrays(folder / "p.posterior.h5", oracle, index, mean, covariance)
    with h5py.File(folder / "p.posterior.h5") as file:
        assert file.attrs["format"] == "goalscli-posterior"
        assert file.attrs["model_digest"] == attributes["digest"]
        assert list(file["variants/id"].asstr()) == list(CHOSEN)
        assert list(file["samples/iid"].asstr()) == list(dataset.samples.iid)
        assert "psi" not in file


def check_arrays(path: Path, oracle, index, mean, covariance) -> None:
    """Shapes, words and values of the group of the scores; xi is -0.5, of 4,000 draws."""
    m = len(index)
    shapes = {"mean": (m,), "covariance": (m, m), "draws": (m, 4000), "local": (m, N), "local_sd": (m, N)}
    with h5py.File(path) as file:
        assert file.attrs["complete"]
        assert {name: data.shape for name, data in file["goals"].items()} == shapes
        for name, data in file["goals"].items():
            assert data.dtype == np.float64
            assert len(data.attrs["description"]) > 10
            assert data.attrs["unit"] == ("(trait sd)²" if name == "covariance" else "trait sd")
        got = {name: data[:] for name, data in file["goals"].items()}
    close(got["mean"], mean, 1e-9)
    close(got["covariance"], covariance, 1e-9)
    for k, j in enumerate(index):
        local, spread, *_ = oracle.goals(j, -0.5)
        close(got["local"][k], local, 1e-9)
        close(got["local_sd"][k], np.sqrt(np.diag(spread)), 1e-9)
    sd = np.sqrt(np.diag(covariance))
    scaled = (got["draws"] - mean[:, None]) / sd[:, None]
    assert np.all(np.abs(scaled.mean(axis=1)) < 4 / np.sqrt(4000))
    correlation = covariance / np.outer(sd, sd)
    found = scaled @ scaled.T / 4000
    assert np.all(np.abs(found - correlation) < 4 * np.sqrt((1 + correlation**2) / 4000))


def test_two_variants_are_each_others_companion_and_one_has_none(here: Here, folder: Path):
    here.well(*POSTERIOR, "m.model.h5", "--snps", "rs41,rs40", "--draws", "1", "--out", "p")
    pair = table(folder / "p.posterior.tsv")
    assert list(pair["CORR_WITH"]) == ["rs41", "rs40"]
    assert pair.loc[0, "CORR"] == pair.loc[1, "CORR"]
    assert table(folder / "p.correlation.tsv").loc[0, "rs41"] == pair.loc[0, "CORR"]
    assert contents(folder / "p.posterior.h5")["goals/draws"].shape == (2, 1)
    here.well(*POSTERIOR, "m.model.h5", "--snps", "rs41", "--psi", "--out", "q")
    line = (folder / "q.posterior.tsv").read_text().splitlines()[1].split("\t")
    told = dict(zip((folder / "q.posterior.tsv").read_text().splitlines()[0].split("\t"), line, strict=True))
    assert (told["CORR_WITH"], told["CORR"]) == (".", "NA")
    assert (folder / "q.correlation.tsv").read_text() == "ID\trs41\nrs41\t1\n"


@pytest.mark.parametrize("more", [(), ("--scan", "elsewhere.h5")], ids=["beside", "elsewhere"])
def test_top_variants_of_a_scan(here: Here, folder: Path, more: tuple[str, ...]):
    """Those of greatest |z|, with the effects and sds of the scan, beside the model where --out is not given."""
    with h5py.File(folder / "m.scores.h5") as file:
        told = {name: file[f"goals/{name}"][:] for name in ("z", "score", "sd")}
        ids = file["variants/id"].asstr()[:]
    if more:
        (folder / "m.scores.h5").rename(folder / "elsewhere.h5")
    before = names(folder)
    here.well(*POSTERIOR, "m.model.h5", "--top", "7", *more)
    assert names(folder) - before == {name.replace("p.", "m.", 1) for name in RESULTS}
    effects = table(folder / "m.posterior.tsv")
    order = sorted(range(len(ids)), key=lambda j: -abs(told["z"][j]))[:7]
    assert list(effects["ID"]) == [ids[j] for j in sorted(order)]
    np.testing.assert_allclose(effects["EFFECT"], -told["score"][sorted(order)], rtol=2e-4)
    np.testing.assert_allclose(effects["EFFECT_SD"], told["sd"][sorted(order)], rtol=2e-4)
    assert contents(folder / "m.posterior.h5")["goals/draws"].shape == (7, 1000)


def test_unit_of_one_allele(here: Here, folder: Path):
    """EFFECT is per copy of A1: that of a shift of 1/sd of the features."""
    here.well(*POSTERIOR, "m.model.h5", "--snps", "rs41,rs10", "--xi-unit", "allele", "--xi", "2", "--out", "p")
    dataset, posterior, _ = load_model(folder / "m.model.h5")
    index = [list(dataset.variants.id).index(name) for name in ("rs10", "rs41")]
    raw = dataset.source.read(dataset.reference.file_index, dataset.variants.file_index[index]).astype(float)
    # One copy more, in features: the features' range over the dosages'.
    copy = np.ptp(dataset.values(np.array(index)), axis=0) / (np.nanmax(raw, axis=0) - np.nanmin(raw, axis=0))
    mean, covariance = stacked(posterior, dataset).joint(index, 2 * copy)
    effects = table(folder / "p.posterior.tsv")
    six(effects["EFFECT"], -mean / 2)
    six(effects["EFFECT_SD"], np.sqrt(np.diag(covariance)) / 2)


@pytest.mark.parametrize("level", [0.5, 0.95])
def test_posterior_of_psi(here: Here, folder: Path, level: float):
    here.well(*POSTERIOR, "m.model.h5", "--snps", "rs41,rs10,rs200", "--psi", "--draws", "300", "--level",
              str(level), "--out", "p")  # fmt: skip
    dataset, posterior, _ = load_model(folder / "m.model.h5")
    index = [list(dataset.variants.id).index(name) for name in CHOSEN]
    oracle = stacked(posterior, dataset)
    moments = [slope_gaussian(oracle, j) for j in index]
    mean = [(g @ g + np.trace(c)) / N for g, c in moments]
    sd = [np.sqrt(2 * np.trace(c @ c) + 4 * g @ c @ g) / N for g, c in moments]
    effects = table(folder / "p.posterior.tsv")
    assert list(effects.columns) == [*EFFECTS, "PSI", "PSI_SD", "PSI_LOW", "PSI_HIGH"]
    six(effects["PSI"], mean)
    six(effects["PSI_SD"], sd)
    with h5py.File(folder / "p.posterior.h5") as file:
        got = {name: data[:] for name, data in file["psi"].items()}
        units = {name: data.attrs["unit"] for name, data in file["psi"].items()}
        assert all(len(data.attrs["description"]) > 10 for data in file["psi"].values())
    assert units == dict.fromkeys(("mean", "sd", "draws", "threshold"), "(trait sd)²") | {"survival": "1"}
    assert {name: values.shape for name, values in got.items()} == {
        "mean": (3,), "sd": (3,), "draws": (3, 300), "threshold": (3, 101), "survival": (3, 101),
    }  # fmt: skip
    np.testing.assert_allclose(got["mean"], mean, rtol=1e-8)
    np.testing.assert_allclose(got["sd"], sd, rtol=1e-8)
    for k, draws in enumerate(got["draws"]):
        assert abs(draws.mean() - mean[k]) < 4 * sd[k] / np.sqrt(300)
        for column, share in (("PSI_LOW", 0.5 - level / 2), ("PSI_HIGH", 0.5 + level / 2)):
            below = int(share * 299)  # between that draw and the next, in order
            assert sorted(draws)[below] * (1 - 6e-6) <= effects.loc[k, column] <= sorted(draws)[below + 1] * (1 + 6e-6)
        inside = np.mean((draws >= effects.loc[k, "PSI_LOW"]) & (draws <= effects.loc[k, "PSI_HIGH"]))
        assert inside == pytest.approx(level, abs=0.01)
        threshold, survival = got["threshold"][k], got["survival"][k]
        assert threshold[0] == 0
        assert np.all(np.diff(threshold) > 0)
        assert list(survival) == [sum(d > t for d in draws) / 300 for t in threshold]
        assert survival[0] == 1
        assert survival[-1] == 0
        assert np.all(np.diff(survival) <= 0)
        assert len(set(survival)) > 20


def test_draws_follow_from_the_seed_alone(here: Here, folder: Path):
    told = (*POSTERIOR, "m.model.h5", "--snps", "ids.txt", "--psi", "--draws", "20")
    runs = {"a": "--seed=1", "two": "--threads=2", "again": "--seed=1", "other": "--seed=2", "level": "--level=.8"}
    for out, more in runs.items():
        here.well(*told, more, "--out", out)
    first, two, again, other, level = (contents(folder / f"{out}.posterior.h5") for out in runs)
    for name, values in first.items():
        assert np.array_equal(values, again[name]), name
        assert np.array_equal(values, level[name]), name
        drawn = name in ("goals/draws", "psi/draws", "psi/threshold", "psi/survival")
        assert np.array_equal(values, other[name]) != drawn, name
        if values.dtype.kind == "f":
            close(two[name], values, 1e-9)
    for table_name in ("posterior.tsv", "correlation.tsv"):
        assert (folder / f"a.{table_name}").read_text() == (folder / f"again.{table_name}").read_text()


def test_every_kernel_has_a_joint_posterior(here: Here, folder: Path):
    here.well(*POSTERIOR, "l.model.h5", "--top", "3", "--out", "p")
    dataset, posterior, _ = load_model(folder / "l.model.h5")
    assert posterior.kernel == "laplacian"
    effects = table(folder / "p.posterior.tsv")
    index = [list(dataset.variants.id).index(name) for name in effects["ID"]]
    mean, covariance = stacked(posterior, dataset).joint(index, [1.0] * 3)
    six(effects["EFFECT"], -mean)
    six(effects["EFFECT_SD"], np.sqrt(np.diag(covariance)))


# --- Mistakes --------------------------------------------------------------------------------------------------------


M = "m.model.h5"
MISTAKES = {
    "unknown-id": ((M, "--snps", "rs41,rs9999"), ("--snps", "1 variant(s) not among the 327", "rs9999", "misspelt")),
    "filtered-id": ((M, "--snps", "rs5"), ("--snps", "1 variant(s) not among the 327", "rs5", "filtered out")),
    "unknown-ids-in-file": ((M, "--snps", "bad.txt"), ("--snps bad.txt", "2 variant(s)", "rsX, rsY")),
    "no-id": ((M, "--snps", " , "), ("--snps", "no variant named")),
    "binary-file": ((M, "--snps", "d.bed"), ("--snps d.bed", "cannot be read as text", "one variant ID a line")),
    "neither": ((M,), ("--snps, --top", "one way", "give one of the two")),
    "both": ((M, "--snps", "rs41", "--top", "3"), ("--snps, --top", "one way", "give one of the two")),
    "top-0": ((M, "--top", "0"), ("--top", "0 variants", "1 or more")),
    "no-scan": (("alone.model.h5", "--top", "3"), ("alone.scores.h5", "no scan", "run goals scan")),
    "no-such-scan": ((M, "--top", "3", "--scan", "x.h5"), ("x.h5", "no scan", "--scan")),
    "foreign-scan": ((M, "--top", "3", "--scan", "l.scores.h5"), ("l.scores.h5", "not a scan of this model", "--scan")),
    "scan-of-psi": (("r.model.h5", "--top", "3"), ("r.scores.h5", "no goals score", "--scores")),
    "scan-is-a-model": ((M, "--top", "3", "--scan", M), (M, "goalscli-model", "expected")),
    "level-2": ((M, "--snps", "rs41", "--level", "2"), ("--level", "2.0 is no probability", "0.95")),
    "level-0": ((M, "--snps", "rs41", "--level", "0"), ("--level", "0.0 is no probability", "0.95")),
    "level-nan": ((M, "--snps", "rs41", "--level", "nan"), ("--level", "nan is no probability", "0.95")),
    "seed-below-0": ((M, "--snps", "rs41", "--seed", "-1"), ("--seed", "-1 is no seed", "0 or more")),
    "huge-shift": ((M, "--snps", "rs41", "--xi", "1e200"), ("--xi", "1e+200", "1e-6 to 1e6")),
    "tiny-shift": ((M, "--snps", "rs41", "--xi", "1e-300"), ("--xi", "1e-300", "1e-6 to 1e6")),
    "too-many-draws": ((M, "--snps", "rs41", "--psi", "--draws", "99999999999"), ("99999999999 draws", "memory")),
    "draws-0": ((M, "--snps", "rs41", "--draws", "0"), ("--draws", "0 draws", "1 or more")),
    "xi-0": ((M, "--snps", "rs41", "--xi", "0"), ("--xi",)),
    "psi-of-laplacian": (("l.model.h5", "--snps", "rs41", "--psi"), ("no derivative", "laplacian", "rbf, cauchy, ")),
    "no-model": (("x.model.h5", "--snps", "rs41"), ("x.model.h5", "no such file", "check the path")),
    "model-is-a-scan": (("m.scores.h5", "--snps", "rs41"), ("m.scores.h5", "goalscli-scores", "expected")),
    "memory": ((M, "--snps", "rs41", "--memory", "0.01"), ("--memory 0.01", "64 samples", "GiB")),
    "word-for-top": ((M, "--top", "many"), ("--top", "many")),
}  # fmt: skip


def assert_refused(outcome, words) -> None:
    """Exit code 2 and one line, which says these words."""
    assert outcome.code == 2, outcome.err
    assert outcome.out == ""
    assert outcome.err.startswith("goals: error: ")
    assert outcome.err.count("\n") == 1, outcome.err
    for word in words:
        assert word in outcome.err


def stamps(folder: Path) -> dict[str, int]:
    return {name: (folder / name).stat().st_mtime_ns for name in names(folder)}


@pytest.mark.parametrize(("args", "words"), MISTAKES.values(), ids=MISTAKES)
def test_mistakes(here: Here, folder: Path, args: tuple[str, ...], words: tuple[str, ...]):
    before = stamps(folder)
    assert_refused(here(*POSTERIOR, *args, "-q", "--out", "out/p"), words)
    assert stamps(folder) == before


@pytest.mark.parametrize("there", sorted(RESULTS))
def test_existing_results_are_not_replaced_unasked(here: Here, folder: Path, there: str):
    (folder / there).write_text("mine")
    before = stamps(folder)
    told = (*POSTERIOR, M, "--snps", "rs41,rs10", "--draws", "3", "--out", "p", "-q")
    assert_refused(here(*told), (there, "exists already", "--overwrite"))
    assert stamps(folder) == before
    assert (folder / there).read_text() == "mine"
    here.well(*told, "--overwrite")
    assert names(folder) == before.keys() | RESULTS
    assert len(table(folder / "p.posterior.tsv")) == 2
    assert contents(folder / "p.posterior.h5")["goals/mean"].shape == (2,)


def test_a_mistake_in_a_process_of_its_own(folder: Path):
    before = stamps(folder)
    args, words = MISTAKES["psi-of-laplacian"]
    assert_refused(goals("posterior", *args, "-q", "--out", "out/p", cwd=folder), words)
    assert stamps(folder) == before


@pytest.mark.parametrize("broken", ["p.posterior.h5", "p.correlation.tsv"])
def test_what_cannot_be_written_leaves_nothing(here: Here, folder: Path, broken: str):
    """A folder stands where a result should go."""
    (folder / f"{broken}.partial").mkdir()
    before = names(folder)
    outcome = here(*POSTERIOR, M, "--snps", "rs41", "--draws", "3", "--out", "p", "-q")
    assert_refused(outcome, (broken, "cannot be written"))
    assert names(folder) == before
