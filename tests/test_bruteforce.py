"""GOALS against the stacked joint Gaussian: build cov of (f at x, f at x + xi e_j), condition on y, read off."""

from __future__ import annotations

import numpy as np
import pytest
from conftest import dataset_of, random_data

from goalscli.models.exact import ExactGP, ExactPosterior
from goalscli.scanning import LocalRequest, scan
from goalscli.scores.goals import Goals

N, J = 60, 23


def stacked(x, y, w, theta, s, noise, xi, j):
    """Local mean, global mean, global variance and hᵀPh of one variant, by conditioning 2N points on y.

    Fixed effects have a flat prior: a Gaussian one of huge variance would lose digits, so generalised least squares
    and its covariance are written out.
    """
    n = len(x)
    moved = x.copy()
    moved[:, j] += xi
    points = np.vstack([x, moved])
    d2 = ((points[:, None, :] - points[None, :, :]) ** 2).sum(-1)
    k = s * np.exp(-theta * d2)
    a = k[:n, :n] + noise * np.eye(n)
    ai = np.linalg.inv(a)
    p = ai if w.shape[1] == 0 else ai - ai @ w @ np.linalg.inv(w.T @ ai @ w) @ w.T @ ai
    mean = k[:, :n] @ p @ y
    cov = k - k[:, :n] @ p @ k[:n, :]
    contrast = np.hstack([np.eye(n), -np.eye(n)])
    local = contrast @ mean
    average = contrast.mean(axis=0)
    h = average @ k[:, :n]
    return local, local.mean(), average @ cov @ average, h @ p @ h


CASES = [
    pytest.param(xi, scale, covariates, id=f"xi={xi}-{scale}-{name}")
    for xi in (0.1, 1.0, -1.0)
    for scale in ("standardize", "none")
    for name, covariates in (("none", 0), ("intercept", 1), ("covariates", 3))
]


@pytest.fixture(scope="module")
def data():
    x, y = random_data(N, J, seed=4, missing=0.03)
    extra = np.random.default_rng(8).normal(size=(N, 2))
    return x, y, extra


def fitted(data, scale, n_fixed) -> tuple:
    x, y, extra = data
    dataset = dataset_of(x, y, covariates=extra if n_fixed == 3 else None, scale=scale, intercept=n_fixed > 0)
    posterior = ExactGP(signal=1.7, noise=0.6).fit(dataset)
    return dataset, posterior


@pytest.mark.parametrize(("xi", "scale", "n_fixed"), CASES)
@pytest.mark.parametrize("chunk_size", [1, 7, None])
@pytest.mark.parametrize(("precision", "rtol"), [("double", 1e-10), ("single", 1e-5)])
def test_local_global_and_variance(data, xi, scale, n_fixed, chunk_size, precision, rtol):
    dataset, posterior = fitted(data, scale, n_fixed)
    everything = LocalRequest(everything=True)
    result = scan(
        posterior.with_precision(precision), dataset, [Goals(xi=xi)], local=everything, chunk_size=chunk_size, threads=2
    )
    values = dataset.values(np.arange(dataset.n_variants))
    w, y = dataset.covariates.matrix, dataset.phenotype
    assert w.shape[1] == n_fixed
    truth = [stacked(values, y, w, posterior.theta, 1.7, 0.6, xi, j) for j in range(dataset.n_variants)]
    score, variance, null = (np.array([t[k] for t in truth]) for k in (1, 2, 3))
    local = np.array([t[0] for t in truth])
    got = result.columns

    def close(found, wanted, tolerance=rtol):
        np.testing.assert_allclose(found, wanted, rtol=0, atol=tolerance * np.abs(wanted).max())

    close(got["goals/score"], score)
    close(got["goals/sd"], np.sqrt(variance))
    close(got["goals/null_sd"], np.sqrt(null))
    close(got["goals/z"], score / np.sqrt(null), 10 * rtol)
    close(got["goals/rms"], np.sqrt((local**2).mean(1)))
    close(got["goals/mean_abs"], np.abs(local).mean(1))
    close(got["goals/spread"], local.std(1, ddof=1))
    # Local scores are stored in single precision whatever the products'.
    close(result.local["goals"], local, max(rtol, 1e-7))
    if precision == "double":
        from goalscli.kernels import kernel

        shifter = kernel("rbf").shifter(posterior.gram, posterior.theta, posterior.weights, np.float64, 10.0)
        exact = 1.7 * shifter(values, xi).local().T
        close(exact, local)


def test_allele_unit_is_one_more_copy(data):
    """xi of one allele on standardised genotypes is a shift of 1/sd_j in the model's features."""
    dataset, posterior = fitted(data, "standardize", 1)
    result = scan(posterior.with_precision("double"), dataset, [Goals(xi=1.0, xi_unit="allele")], threads=1)
    values = dataset.values(np.arange(dataset.n_variants))
    for j in (0, 5, J - 1):
        raw = dataset.source.read(dataset.reference.file_index, dataset.variants.file_index[[j]])[:, 0].astype(float)
        raw[np.isnan(raw)] = np.nanmean(raw)
        sd = raw.std(ddof=1)
        _, score, variance, _ = stacked(
            values, dataset.phenotype, dataset.covariates.matrix, posterior.theta, 1.7, 0.6, 1 / sd, j
        )
        assert result.columns["goals/score"][j] == pytest.approx(score, rel=1e-9)
        assert result.columns["goals/sd"][j] == pytest.approx(np.sqrt(variance), rel=1e-9)


def test_bits_do_not_depend_on_chunks_or_threads(data):
    """The same bits, whatever the chunk size and the number of threads: over several blocks, both precisions."""
    x, y = random_data(90, 600, seed=5)
    dataset = dataset_of(x, y)
    posterior = ExactGP().fit(dataset)
    for precision in ("single", "double"):
        kept = LocalRequest(everything=True)
        results = [
            scan(posterior.with_precision(precision), dataset, [Goals()], local=kept, chunk_size=size, threads=threads)
            for size, threads in ((None, 2), (1, 2), (7, 1), (300, 2), (600, 1))
        ]
        for other in results[1:]:
            for name, values in results[0].columns.items():
                assert np.array_equal(values, other.columns[name]), name
            assert np.array_equal(results[0].local["goals"], other.local["goals"])
        top = scan(posterior.with_precision(precision), dataset, [Goals()], local=LocalRequest(top=9), threads=2)
        ranked = np.argsort(-np.abs(top.columns["goals/z"]), kind="stable")[:9]
        assert np.array_equal(top.local_index, np.sort(ranked))
        assert np.array_equal(top.local["goals"], results[0].local["goals"][top.local_index])


def test_no_signal_gives_zero_scores_and_a_finite_z():
    """Where REML puts the signal at 0, z is its limit as the signal goes to 0, and scores are 0."""
    x, _ = random_data(80, 40, seed=6)
    for seed in range(50):
        y = np.random.default_rng(seed).normal(size=80)
        dataset = dataset_of(x, y)
        posterior = ExactGP().fit(dataset)
        if posterior.signal_variance == 0:
            break
    else:
        pytest.fail("no trait without signal among 50: make another")
    assert "signal variance at 0" in posterior.at_bound
    assert np.isnan(posterior.pve_se)
    got = scan(posterior.with_precision("double"), dataset, [Goals()], threads=1).columns
    assert np.all(got["goals/score"] == 0)
    tiny = ExactGP(signal=1e-7, noise=posterior.noise_variance, theta=posterior.theta).fit(dataset)
    limit = scan(tiny.with_precision("double"), dataset, [Goals()], threads=1).columns
    np.testing.assert_allclose(got["goals/z"], limit["goals/z"], rtol=1e-4)


def test_a_variant_that_a_covariate_determines_has_no_p_value():
    x, y = random_data(70, 12, seed=7)
    dataset = dataset_of(x, y, covariates=x[:, [3]])
    posterior = ExactGP(signal=1.0, noise=0.5).fit(dataset)
    for precision in ("single", "double"):
        got = scan(posterior.with_precision(precision), dataset, [Goals()], threads=1).columns
        assert np.isfinite(got["goals/z"]).all()


def test_posterior_mean_covariance_and_projection(data):
    dataset, posterior = fitted(data, "standardize", 3)
    values = dataset.values(np.arange(dataset.n_variants))
    d2 = ((values[:, None] - values[None]) ** 2).sum(-1)
    k = 1.7 * np.exp(-posterior.theta * d2)
    ai = np.linalg.inv(k + 0.6 * np.eye(N))
    w = dataset.covariates.matrix
    p = ai - ai @ w @ np.linalg.solve(w.T @ ai @ w, w.T @ ai)
    np.testing.assert_allclose(posterior.mean, k @ p @ dataset.phenotype, atol=1e-10)
    np.testing.assert_allclose(posterior.covariance(), k - k @ p @ k, atol=1e-10)
    np.testing.assert_allclose(posterior.project(values), p @ values, atol=1e-9)
    median = np.median(d2[np.triu_indices(N, 1)])
    assert ExactGP().fit(dataset).theta == pytest.approx(1 / median, rel=1e-12)


def dense(gram, w, t, s, v):
    """Minus the restricted log-likelihood, with dense inverses."""
    a = s * gram + v * np.eye(len(gram))
    ai = np.linalg.inv(a)
    p = ai - ai @ w @ np.linalg.inv(w.T @ ai @ w) @ w.T @ ai
    return 0.5 * (np.linalg.slogdet(a)[1] + np.linalg.slogdet(w.T @ ai @ w)[1] + t @ p @ t)


def test_reml_against_a_dense_search(data):
    """The variance components maximise the restricted likelihood, written out with dense inverses."""
    x, y = random_data(120, 60, seed=11)
    extra = np.random.default_rng(1).normal(size=(120, 1))
    dataset = dataset_of(x, y, covariates=extra)
    found = ExactGP().fit(dataset)
    w, t = dataset.covariates.matrix, dataset.phenotype

    def minus_log_likelihood(s, v):
        return dense(found.gram, w, t, s, v)

    best = minus_log_likelihood(found.signal_variance, found.noise_variance)
    assert found.log_likelihood == pytest.approx(-best, abs=1e-8)
    grid = np.exp(np.linspace(-4, 2, 25))
    assert best <= min(minus_log_likelihood(s, v) for s in grid for v in grid) + 1e-9
    for ds, dv in ((1e-3, 0), (-1e-3, 0), (0, 1e-3), (0, -1e-3)):
        assert best < minus_log_likelihood(found.signal_variance + ds, found.noise_variance + dv)
    # Standard error of the share: curvature of the profile likelihood, here over the share itself by brute force.
    c = (np.trace(found.gram) - found.gram.sum() / 120) / 119
    assert found.pve == pytest.approx(found.signal_variance * c / (found.signal_variance * c + found.noise_variance))

    def profile(pve):
        r = pve / (pve + c * (1 - pve))
        a = r * found.gram + (1 - r) * np.eye(120)
        ai = np.linalg.inv(a)
        p = ai - ai @ w @ np.linalg.inv(w.T @ ai @ w) @ w.T @ ai
        scale = (t @ p @ t) / found.residual_df
        logs = np.linalg.slogdet(a)[1] + np.linalg.slogdet(w.T @ ai @ w)[1]
        return 0.5 * (logs + found.residual_df * np.log(scale))

    step = 2e-3
    curvature = (profile(found.pve + step) - 2 * profile(found.pve) + profile(found.pve - step)) / step**2
    assert found.pve_se == pytest.approx(1 / np.sqrt(curvature), rel=0.05)


@pytest.mark.parametrize("given", [{"noise": 0.5}, {"signal": 1.2}])
def test_one_variance_given_the_other_searched(given):
    x, y = random_data(100, 50, seed=12)
    dataset = dataset_of(x, y)
    found = ExactGP(**given).fit(dataset)
    w, t = dataset.covariates.matrix, dataset.phenotype

    def minus_log_likelihood(s, v):
        return dense(found.gram, w, t, s, v)

    best = minus_log_likelihood(found.signal_variance, found.noise_variance)
    for factor in (0.5, 0.9, 0.99, 1.01, 1.1, 2.0):
        s = found.signal_variance * (factor if "noise" in given else 1)
        v = found.noise_variance * (factor if "signal" in given else 1)
        assert best < minus_log_likelihood(s, v)
    assert not found.profiled
    assert isinstance(found, ExactPosterior)
