"""A named random effect: its variance by REML beside the others', and how it comes from a table."""

from __future__ import annotations

from dataclasses import replace
from math import isnan
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from conftest import random_data
from helpers import N as N_FILE
from helpers import make_data, write

from goalscli.dataset import Columns, Dataset, RandomEffect, Treatment, assemble, make_dataset
from goalscli.errors import InputError, SettingsError
from goalscli.genotypes.memory import from_array
from goalscli.jobs.inputs import GenotypeFiles, Tables, read_datasets, read_plink
from goalscli.models.reml import Components, Factor, _restricted, estimate, factorising
from goalscli.models.shares import shares
from goalscli.phenotypes import Covariate
from goalscli.qc import Filters

GIVEN = [{}, {"noise": 0.3}, {"signal": 0.8}, {"signal": 0.8, "noise": 0.3}]
NAMES = ["both-free", "noise-given", "signal-given", "both-given"]


def cages(n: int, size: int = 4) -> np.ndarray:
    """Centred columns of n samples in cages of ``size``, dealt out in turn."""
    return RandomEffect("cage", np.arange(n // size).astype(str).astype(object), np.arange(n) % (n // size)).design()


def gram_of(n: int, seed: int, j: int = 40) -> np.ndarray:
    x = np.random.default_rng(seed).normal(size=(n, j))
    d2 = ((x[:, None] - x[None]) ** 2).sum(-1)
    return np.asfortranarray(np.exp(-d2 / np.median(d2[np.triu_indices(n, 1)])))


def drawn(gram: np.ndarray, design: np.ndarray, parts: tuple[float, float, float], seed: int) -> np.ndarray:
    """A trait of the model with s, σ², τ, centred and scaled to unit variance."""
    s, v, tau = parts
    a = s * gram + v * np.eye(len(gram)) + tau * design @ design.T
    y = np.linalg.cholesky(a) @ np.random.default_rng(seed).normal(size=len(gram))
    return (y - y.mean()) / y.std(ddof=1)


def dense(gram, w, y, design, s, v, tau):
    """Minus the restricted log-likelihood, with dense inverses."""
    a = s * gram + v * np.eye(len(gram)) + tau * design @ design.T
    ai = np.linalg.inv(a)
    p = ai
    log_det = np.linalg.slogdet(a)[1]
    if w.shape[1]:
        p = ai - ai @ w @ np.linalg.inv(w.T @ ai @ w) @ w.T @ ai
        log_det += np.linalg.slogdet(w.T @ ai @ w)[1]
    return 0.5 * (log_det + y @ p @ y)


def dense_shares(gram, design, s, v, tau):
    n = len(gram)
    centre = np.eye(n) - 1 / n
    explained = [np.trace(centre @ k @ centre) / (n - 1) for k in (s * gram, tau * design @ design.T)]
    return np.array(explained) / (sum(explained) + v)


@pytest.fixture(scope="module")
def data():
    n = 96
    gram, design = gram_of(n, 1), cages(n)
    w = np.column_stack([np.ones(n), np.random.default_rng(3).normal(size=n)])
    return gram, w, drawn(gram, design, (1.0, 0.3, 0.3), 5), design


@pytest.mark.parametrize("n_fixed", [0, 2])
@pytest.mark.parametrize("odds", [0.0, 0.05, 0.7, 30.0])
def test_one_factor_serves_every_variance_of_the_random_effect(data, n_fixed, odds):
    gram, w, y, design = data
    w = w[:, :n_fixed]
    known = _restricted(gram, y, w, design, 0.8, 0.3, False)
    share = odds / (1 + odds)
    assert known.minus_log(share) == pytest.approx(dense(gram, w, y, design, 0.8, 0.3, odds), abs=1e-9)
    assert known.scale(share) == 1
    profiled = _restricted(gram, y, w, design, 0.7, 0.3, True)
    df = len(y) - n_fixed
    scale = profiled.scale(share)
    # Its scale is the best one: there yᵀPy = N - q.
    total = dense(gram, w, y, design, 0.7 * scale, 0.3 * scale, odds * scale)
    assert profiled.minus_log(share) + df / 2 == pytest.approx(total, abs=1e-9)
    for other in (0.99 * scale, 1.01 * scale):
        assert dense(gram, w, y, design, 0.7 * other, 0.3 * other, odds * other) > total


@pytest.mark.parametrize("n_fixed", [0, 2])
def test_projection(n_fixed):
    gram, design = gram_of(60, 2), cages(60, 5)
    w = np.random.default_rng(1).normal(size=(60, n_fixed))
    ai = np.linalg.inv(0.9 * gram + 0.4 * np.eye(60) + 0.25 * design @ design.T)
    p = ai - ai @ w @ np.linalg.inv(w.T @ ai @ w) @ w.T @ ai if n_fixed else ai
    right = np.random.default_rng(2).normal(size=(60, 3))
    factor = Factor(gram, 0.9, 0.4, w, design, 0.25)
    np.testing.assert_allclose(factor.project(right), p @ right, atol=1e-11)
    np.testing.assert_allclose((factor.residual(right) ** 2).sum(0), np.diag(right.T @ p @ right), rtol=1e-11)
    np.testing.assert_allclose(factor.projection_matrix(), p, atol=1e-11)
    # Whatever the order of the design in memory, and without touching it.
    again = Factor(gram, 0.9, 0.4, w, np.ascontiguousarray(design), 0.25)
    np.testing.assert_allclose(again.project(right), p @ right, atol=1e-11)
    assert np.array_equal(design, cages(60, 5))


@pytest.mark.parametrize("given", GIVEN, ids=NAMES)
def test_reml_against_a_dense_search(data, given):
    """The free components, and they alone, maximise the restricted likelihood."""
    gram, w, y, design = data
    found = estimate(gram, y, w, **given, design=design)
    assert not found.at_bound
    assert {name: getattr(found, name) for name in given} == given
    assert found.profiled is (not given)
    parts = np.array([found.signal, found.noise, found.random])
    free = np.array(["signal" not in given, "noise" not in given, True])

    def minus_log(values):
        return dense(gram, w, y, design, *values)

    best = minus_log(parts)
    assert found.log_likelihood == pytest.approx(-best, abs=1e-8)
    assert found.ratio == pytest.approx(found.signal / (found.signal + found.noise), rel=1e-12)
    assert found.random_ratio == pytest.approx(found.random / (found.signal + found.noise), rel=1e-12)
    steps = np.exp(np.linspace(-4, 2, 12))
    axes = [steps if is_free else [part] for is_free, part in zip(free, parts, strict=True)]
    axes[2] = [0.0, *steps]
    assert best <= min(minus_log((s, v, tau)) for s in axes[0] for v in axes[1] for tau in axes[2]) + 1e-9
    for k in np.flatnonzero(free):
        for factor in (0.9, 0.99, 1.01, 1.1):
            moved = parts.copy()
            moved[k] *= factor
            assert best < minus_log(moved)


def brute_force(gram, w, y, design, parts, free):
    """Standard errors of both shares: curvature of the dense likelihood in the free log variances, delta method."""
    start = np.log(parts[free])

    def whole(logs):
        values = parts.copy()
        values[free] = np.exp(logs)
        return values

    def curvature(f, step):
        m = len(start)
        e = np.eye(m) * step
        return np.array(
            [
                [(f(start + a + b) - f(start + a - b) - f(start - a + b) + f(start - a - b)) / (4 * step**2) for b in e]
                for a in e
            ]
        )

    covariance = np.linalg.inv(curvature(lambda z: dense(gram, w, y, design, *whole(z)), 5e-3))
    slopes = np.array(
        [
            (dense_shares(gram, design, *whole(start + e)) - dense_shares(gram, design, *whole(start - e))) / 2e-4
            for e in np.eye(len(start)) * 1e-4
        ]
    ).T
    return np.sqrt(np.diag(slopes @ covariance @ slopes.T))


@pytest.mark.parametrize("given", GIVEN, ids=NAMES)
def test_shares_and_their_standard_errors(data, given):
    gram, w, y, design = data
    found = estimate(gram, y, w, **given, design=design)
    got = shares(gram, found, design)
    parts = np.array([found.signal, found.noise, found.random])
    np.testing.assert_allclose((got.pve, got.random_share), dense_shares(gram, design, *parts), rtol=1e-10)
    free = np.array(["signal" not in given, "noise" not in given, True])
    np.testing.assert_allclose(
        (got.pve_se, got.random_share_se), brute_force(gram, w, y, design, parts, free), rtol=2e-3
    )


@pytest.mark.parametrize("given", GIVEN, ids=NAMES)
def test_no_variance_for_the_random_effect(data, given):
    """At 0 it is told in words, and everything else is what it would be without a random effect."""
    gram, w, _, design = data
    for seed in range(30):
        y = drawn(gram, design, (1.0, 0.5, 0.0), seed)
        found = estimate(gram, y, w, **given, design=design)
        if found.random == 0 and found.at_bound == "random effect's variance at 0":
            break
    else:
        pytest.fail("no trait without a cage effect among 30: make another")
    without = estimate(gram, y, w, **given)
    got, alone = shares(gram, found, design), shares(gram, without)
    # To the search's own accuracy: it passes through other variances of the random effect on its way.
    for name in ("signal", "noise", "ratio", "log_likelihood"):
        assert getattr(found, name) == pytest.approx(getattr(without, name), rel=1e-5), name
    assert (got.random_share, isnan(got.random_share_se), isnan(found.random_ratio_se)) == (0, True, True)
    np.testing.assert_allclose([got.pve, got.pve_se], [alone.pve, alone.pve_se], rtol=1e-4)  # NaN equals NaN
    assert isnan(got.pve_se) is (len(given) == 2)
    best = dense(gram, w, y, design, found.signal, found.noise, 0.0)
    for tau in (1e-4, 1e-2, 0.3, 3.0):
        assert dense(gram, w, y, design, found.signal, found.noise, tau) > best


def test_no_signal_beside_a_random_effect(data):
    """Where s ends at 0 the random effect keeps its standard error, and pve has none."""
    gram, w, _, design = data
    for seed in range(30):
        y = drawn(gram, design, (0.0, 0.6, 0.6), seed)
        found = estimate(gram, y, w, design=design)
        if found.signal == 0:
            break
    else:
        pytest.fail("no trait without signal among 30: make another")
    assert found.at_bound == "signal variance at 0: the trait shows no genetic signal"
    got = shares(gram, found, design)
    assert got.pve == 0
    assert isnan(got.pve_se)
    parts = np.array([0.0, found.noise, found.random])
    expected = brute_force(gram, w, y, design, parts, np.array([False, True, True]))
    assert got.random_share_se == pytest.approx(expected[1], rel=2e-3)


def test_trait_that_is_its_cage_mean(data):
    gram, w, _, design = data
    y = design @ np.random.default_rng(2).normal(size=design.shape[1])
    found = estimate(gram, y / y.std(ddof=1), w[:, :1], design=design)
    assert "random effect's variance at the high end of its range" in found.at_bound
    got = shares(gram, found, design)
    assert got.random_share > 0.999
    assert isnan(got.random_share_se)


def test_recovers_the_shares_it_was_simulated_with():
    """Cages of 4 beside genotypes: mean of 20 replicates within 3 of its standard errors."""
    n = 300
    gram, design, w = gram_of(n, 9, j=30), cages(n), np.ones((n, 1))
    truth = dense_shares(gram, design, 1.0, 0.3, 0.25)
    assert truth == pytest.approx([0.5, 0.2], abs=0.1)
    got = []
    for seed in range(20):
        y = drawn(gram, design, (1.0, 0.3, 0.25), 100 + seed)
        found = estimate(gram, y, w, design=design)
        got.append((shares(gram, found, design).pve, shares(gram, found, design).random_share))
    mean, se = np.mean(got, axis=0), np.std(got, axis=0, ddof=1) / np.sqrt(20)
    assert np.all(np.abs(mean - truth) < 3 * se)
    assert np.all(se < 0.03)


def test_without_a_random_effect_the_bits_are_those_of_two_components(data):
    gram, w, y, design = data
    with factorising(len(y)):
        plain, zero = Factor(gram, 1.2, 0.4, w), Factor(gram, 1.2, 0.4, w, design, 0.0)
    assert np.array_equal(plain.lower, zero.lower)
    found = estimate(gram, y, w)
    assert (found.random, found.random_ratio, isnan(found.random_ratio_se)) == (0, 0, True)
    df = len(y) - w.shape[1]

    def profile(r):
        with factorising(len(y)):  # as many threads as the search has, for the same bits
            factor = Factor(gram, r, 1 - r, w)
            rss = np.sum(factor.residual(y) ** 2)
        return 0.5 * (factor.log_det + factor.log_det_fixed + df * np.log(rss / df))

    step = min(1e-2 * (1 - 1e-5), 0.5 * found.ratio, 0.5 * (1 - 1e-5 - found.ratio))
    r = found.ratio
    curvature = (profile(r + step) - 2 * profile(r) + profile(r - step)) / step**2
    # Some old libraries give other last bits from run to run; the second difference magnifies them.
    assert found.ratio_se == pytest.approx(np.sqrt(1 / curvature), rel=1e-6)
    assert found.log_likelihood == pytest.approx(-profile(r) - df / 2, rel=1e-12)
    c = float((np.trace(gram) - gram.sum() / len(y)) / (len(y) - 1))
    got = shares(gram, found)
    assert got.pve == found.signal * c / (found.signal * c + found.noise)
    assert got.pve_se == pytest.approx(c / (r * c + 1 - r) ** 2 * found.ratio_se, rel=1e-12)
    assert (got.random_share, isnan(got.random_share_se)) == (0, True)
    given = Components(1.0, 0.5, 2 / 3, float("nan"), 0.0, "", False)
    assert isnan(shares(gram, given).pve_se)


def dataset_with(labels, covariates=(), n=40) -> Dataset:
    x, y = random_data(n, 12, seed=3)
    source = from_array(x)
    random = Covariate("cage", np.array(labels, dtype=object), categorical=True)
    columns = Columns(y, covariates, source.samples.fid, np.full(n, "", dtype=object), "trait", random)
    return assemble(source, columns, Filters(maf=0), Treatment())


def test_design_of_a_dataset():
    labels = [f"C{i % 7}" for i in range(40)]
    labels[3] = labels[20] = None
    dataset = dataset_with(labels)
    kept = np.array([label for label in labels if label is not None])
    assert dataset.n_samples == 38
    assert ("trait, covariate or cage missing", 2, 38, 0, 12) in dataset.accounting.rows
    effect = dataset.random
    assert effect is not None
    assert effect.name == "cage"
    assert list(effect.levels[effect.codes]) == list(kept)
    design = effect.design()
    same = (kept[:, None] == kept[None]).astype(float)
    centre = np.eye(38) - 1 / 38
    assert design.flags.f_contiguous
    np.testing.assert_allclose(design @ design.T, centre @ same @ centre, atol=1e-12)


def test_a_level_with_missing_samples_only_is_no_level():
    """Levels are those of the analysed samples."""
    x, y = random_data(40, 12, seed=3)
    y[:8] = np.nan
    labels = ["gone"] * 8 + ["a", "b"] * 16
    dataset = make_dataset(from_array(x), y, random_effect=labels)
    assert dataset.random is not None
    assert list(dataset.random.levels) == ["a", "b"]
    with pytest.raises(InputError, match=r"1 level \(a\) of the random effect in 32 analysed samples"):
        make_dataset(from_array(x), y, random_effect=["gone"] * 8 + ["a"] * 32)


SEX = Covariate("sex", np.array(["m", "f"] * 20, dtype=object), categorical=True)
REFUSED = [
    (["C1"] * 40, (), "cage: 1 level (C1) of the random effect in 40 analysed samples; 2 are needed; choose"),
    ([f"C{i}" for i in range(40)], (), "cage: 40 levels of the random effect for 40 analysed samples: one sample a"),
    (["left", "right"] * 20, (SEX,), "cage: the covariates determine all 2 levels of the random effect; leave out"),
]


@pytest.mark.parametrize(("labels", "covariates", "words"), REFUSED, ids=["one", "each", "covariate"])
def test_refused(labels, covariates, words):
    with pytest.raises(InputError) as caught:
        dataset_with(labels, covariates)
    assert words in str(caught.value)


def test_from_arrays():
    x, y = random_data(40, 12, seed=3)
    source = from_array(x)
    numbers = np.arange(40) % 8 + 0.0
    numbers[5] = np.nan
    dataset = make_dataset(source, y, random_effect=numbers)
    assert dataset.n_samples == 39
    assert dataset.random is not None
    assert dataset.random.name == "random effect"
    assert len(dataset.random.levels) == 8
    words = [None, "", *["a", "b"] * 19]
    assert make_dataset(source, y, random_effect=words).n_samples == 38
    assert make_dataset(source, y).random is None
    with pytest.raises(InputError, match=r"random_effect has shape \(3,\), but there are 40"):
        make_dataset(source, y, random_effect=["a", "b", "a"])


def test_from_a_table(tmp_path: Path):
    make_data(tmp_path)
    table = pd.read_csv(tmp_path / "groups.tsv", sep="\t", dtype=str)
    cage = [str(k // 4) for k in range(N_FILE)]
    cage[10], cage[20], cage[30] = "NA", "-9", "."
    # One sample is not in the table at all, and rows come in another order.
    write(table.assign(box=cage).iloc[:-1].iloc[::-1], tmp_path / "groups.tsv")
    pheno, groups = str(tmp_path / "pheno.tsv"), str(tmp_path / "groups.tsv")
    tables = Tables(pheno=pheno, pheno_name="A", groups=groups, group_column="box", random_effect="box")
    (dataset,) = read_datasets(GenotypeFiles(bfile=str(tmp_path / "d")), tables)
    assert dataset.n_samples == N_FILE - 4
    assert "trait, covariate or box missing\t4\t60\t0\t330\n" in dataset.accounting.table()
    effect = dataset.random
    assert effect is not None
    assert effect.name == "box"
    assert list(effect.levels[effect.codes]) == list(dataset.samples.group)
    assert [int(iid[1:]) // 4 for iid in dataset.samples.iid] == [int(box) for box in dataset.samples.group]
    # -9 is a cage like any other where no code says missing.
    (kept,) = read_datasets(GenotypeFiles(bfile=str(tmp_path / "d")), replace(tables, missing_code=None))
    assert kept.random is not None
    assert kept.n_samples == N_FILE - 3
    assert "-9" in kept.random.levels
    same = read_plink(tmp_path / "d", pheno=pheno, pheno_name="A", groups=groups, random_effect="box")
    assert same.random is not None
    assert np.array_equal(same.random.codes, effect.codes)
    with pytest.raises(InputError, match="no column 'house'"):
        read_datasets(GenotypeFiles(bfile=str(tmp_path / "d")), replace(tables, random_effect="house"))
    with pytest.raises(SettingsError, match=r"--random-effect: 2 columns named; name one column of --groups"):
        read_datasets(GenotypeFiles(bfile=str(tmp_path / "d")), replace(tables, random_effect="box,cage"))
    with pytest.raises(SettingsError, match=r"--random-effect: needs --groups FILE; give the table"):
        Tables(random_effect="box")
