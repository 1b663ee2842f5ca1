"""Kernels against their definitions: entry by entry, stacked joint Gaussians, and arbitrary precision."""

from __future__ import annotations

from functools import cache

import mpmath
import numpy as np
import oracles
import pytest
from conftest import dataset_of, random_data

from goalscli.dataset import BLOCK
from goalscli.errors import SettingsError
from goalscli.kernels import KERNELS, kernel
from goalscli.kernels.laplacian import LaplacianShifter
from goalscli.kernels.mixture import MixtureShifter
from goalscli.models.exact import ExactGP
from goalscli.scanning import scan
from goalscli.scores.goals import Goals

SIGNAL, NOISE = 1.7, 0.6
N, FEW, MANY = 40, 23, 900
STATIONARY = tuple(name for name in oracles.KERNELS if name != "linear")
MIXTURES = ("cauchy", "matern32", "matern52")
RADIAL = ("rbf", *MIXTURES)
EACH = "each"
"""Shifts of either sign and another size for each variant."""


@cache
def data_of(kind: str, j: int, scale: str = "standardize"):
    """Hard calls, family-imputed calls with covariates, or dosages of which no two are alike."""
    x, y = random_data(N, j, seed=31, missing=0.04 if kind == "imputed" else 0.0)
    rng = np.random.default_rng(32)
    if kind == "dosages":
        x = np.clip(x + rng.uniform(-0.3, 0.3, x.shape), 0, 2)
    family = np.array([f"F{i // 5}" for i in range(N)], dtype=object)
    covariates = rng.normal(size=(N, 2)) if kind == "imputed" else None
    return dataset_of(x, y, scale=scale, family=family, covariates=covariates)


@cache
def fitted(name: str, kind: str, j: int, scale: str = "standardize"):
    return ExactGP(kernel=name, signal=SIGNAL, noise=NOISE).fit(data_of(kind, j, scale))


def features(dataset) -> np.ndarray:
    return dataset.values(np.arange(dataset.n_variants))


def levels(x: np.ndarray) -> list[int]:
    """Distinct values of each column."""
    return [len(np.unique(column)) for column in x.T]


def oracle_of(posterior, dataset) -> oracles.Stacked:
    x, w = features(dataset), dataset.covariates.matrix
    return oracles.Stacked(posterior.kernel, x, dataset.phenotype, w, posterior.theta, SIGNAL, NOISE)


def close(found, wanted, tolerance: float) -> None:
    np.testing.assert_allclose(found, wanted, rtol=0, atol=tolerance * np.abs(wanted).max())


def shifts_of(xi, count: int) -> np.ndarray:
    return np.random.default_rng(33).choice([-1, 1], count) * np.linspace(0.2, 1.4, count) if xi is EACH else xi


# --- Gram matrix and bandwidth ---------------------------------------------------------------------------------------


def pair_by_pair(name: str, x: np.ndarray) -> np.ndarray:
    """The kernel's own distances of all pairs i < i', in plain loops."""
    found = []
    for i in range(len(x)):
        for k in range(i + 1, len(x)):
            gaps = [a - b for a, b in zip(x[i], x[k], strict=True)]
            found.append(sum(abs(g) for g in gaps) if name == "laplacian" else sum(g * g for g in gaps))
    return np.array(found)


@pytest.mark.parametrize("name", STATIONARY)
@pytest.mark.parametrize("kind", ["hard", "imputed", "dosages"])
@pytest.mark.parametrize("scale", ["standardize", "none"])
def test_gram_and_median_bandwidth(name, kind, scale):
    dataset = data_of(kind, FEW, scale)
    x = features(dataset)
    if kind == "hard":
        assert max(levels(x)) == 3
    elif kind == "imputed":
        assert 3 < max(levels(x)) <= 12
    else:
        assert max(levels(x)) > 12
    found = fitted(name, kind, FEW, scale)
    assert found.theta == pytest.approx(1 / np.median(pair_by_pair(name, x)), rel=1e-12)
    np.testing.assert_allclose(found.gram, oracles.kernel(name, x, x, found.theta), rtol=0, atol=1e-12)
    by_count = ExactGP(kernel=name, bandwidth="1/J", signal=SIGNAL, noise=NOISE).fit(dataset)
    assert by_count.theta == 1 / FEW
    np.testing.assert_allclose(by_count.gram, oracles.kernel(name, x, x, 1 / FEW), rtol=0, atol=1e-12)


@pytest.mark.parametrize("j", [FEW, MANY])
def test_linear_kernel_has_no_bandwidth(j):
    dataset = data_of("imputed", j)
    x = features(dataset)
    found = fitted("linear", "imputed", j)
    assert found.theta == 1 / j
    np.testing.assert_allclose(found.gram, x @ x.T / j, atol=1e-12)
    with pytest.raises(SettingsError, match=r"--theta: the linear kernel has no bandwidth; leave out --theta"):
        ExactGP(kernel="linear", theta=0.1)


@pytest.mark.parametrize("make", [kernel, lambda name: ExactGP(kernel=name)])
def test_unknown_kernel_is_told_with_all_there_are(make):
    with pytest.raises(SettingsError, match="no kernel 'sigmoid'") as caught:
        make("sigmoid")
    assert str(caught.value).endswith("rbf, laplacian, cauchy, matern32, matern52, linear")
    assert tuple(KERNELS) == oracles.KERNELS
    assert [kernel(name).name for name in KERNELS] == list(KERNELS)


# --- Shifts against the stacked joint Gaussian -----------------------------------------------------------------------


def compare(posterior, dataset, xi, chosen, tolerance) -> None:
    """Local scores, score, posterior and null variance of the chosen variants of one block."""
    oracle, values = oracle_of(posterior, dataset), features(dataset)
    steps = np.broadcast_to(xi, len(values.T))
    shift = posterior.shift(values, xi)
    truth = [oracle.goals(j, steps[j]) for j in chosen]
    local, score, variance, null = (np.array([t[k] for t in truth]) for k in (0, 2, 3, 4))
    close(shift.local()[:, chosen].T, local, tolerance)
    close(shift.mean[chosen], score, tolerance)
    close(shift.variance[chosen], variance, tolerance)
    close(shift.null_variance[chosen], null, tolerance)
    close(shift.z[chosen], score / np.sqrt(null), 10 * tolerance)


def reach_of(values: np.ndarray, xi) -> float:
    return float(np.max(np.square(xi) + 2 * np.abs(xi) * np.ptp(values, axis=0)))


TREATED = [("hard", "standardize"), ("imputed", "standardize"), ("imputed", "none"), ("dosages", "standardize")]


@pytest.mark.parametrize("name", oracles.KERNELS)
@pytest.mark.parametrize(("kind", "scale"), TREATED)
@pytest.mark.parametrize("xi", [0.1, 1.0, -1.0, EACH])
def test_few_variants_against_the_joint_gaussian(name, kind, scale, xi):
    dataset, posterior = data_of(kind, FEW, scale), fitted(name, kind, FEW, scale)
    steps = shifts_of(xi, FEW)
    for precision, tolerance in (("double", 1e-8), ("single", 1e-5)):
        compare(posterior.with_precision(precision), dataset, steps, range(0, FEW, 4), tolerance)
    if name in MIXTURES and scale == "standardize" and xi != 0.1:
        reach = reach_of(features(dataset), steps)
        shifter = posterior.with_precision("double").shifts(reach).args[0]
        assert isinstance(shifter, MixtureShifter)
        assert shifter.limit < reach, "these are meant to go entry by entry"


@pytest.mark.parametrize("name", oracles.KERNELS)
@pytest.mark.parametrize("scale", ["standardize", "none"])
def test_many_variants_against_the_joint_gaussian(name, scale):
    dataset, posterior = data_of("imputed", MANY, scale), fitted(name, "imputed", MANY, scale)
    values = features(dataset)
    assert max(levels(values)) > 3
    for xi, chosen in ((0.1, [5, 700]), (1.0, [1, 899]), (-1.0, [42, 301]), (EACH, [0, 450, 898])):
        steps = shifts_of(xi, MANY)
        for precision, tolerance in (("double", 1e-8), ("single", 1e-5)):
            told = posterior.with_precision(precision)
            reach = reach_of(values, steps)
            shifter = told.shifts(reach).args[0]
            if name in MIXTURES:
                assert shifter.parts, "these are meant to be mixtures"
                assert shifter.limit >= reach
                assert shifter.parts[0].matrix.dtype == {"double": np.float64, "single": np.float32}[precision]
            compare(told, dataset, steps, chosen, tolerance)


@pytest.mark.parametrize("name", oracles.KERNELS)
def test_a_scan_gives_the_same(name):
    """Through padded blocks, chunks and the shift of one allele."""
    dataset, posterior = data_of("imputed", FEW), fitted(name, "imputed", FEW)
    result = scan(posterior.with_precision("double"), dataset, [Goals(xi=-0.5, xi_unit="allele")], chunk_size=5)
    oracle = oracle_of(posterior, dataset)
    chosen = range(0, FEW, 3)
    sd = [np.ptp(column) / np.ptp(raw) for column, raw in zip(features(dataset).T, raw_of(dataset).T, strict=True)]
    truth = [oracle.goals(j, -0.5 * sd[j]) for j in chosen]
    got = {name: values[list(chosen)] for name, values in result.columns.items()}
    close(got["goals/score"], np.array([t[2] for t in truth]), 1e-8)
    close(got["goals/sd"] ** 2, np.array([t[3] for t in truth]), 1e-8)
    close(got["goals/null_sd"] ** 2, np.array([t[4] for t in truth]), 1e-8)
    close(got["goals/rms"], np.array([np.sqrt(np.mean(t[0] ** 2)) for t in truth]), 1e-8)


def raw_of(dataset) -> np.ndarray:
    """Dosages of the same samples and variants, imputed, in copies of an allele."""
    return features(data_of("imputed", dataset.n_variants, "none"))


# --- Mixtures of RBF shifts ------------------------------------------------------------------------------------------


def genomes(n: int = 50, j: int = MANY, seed: int = 34) -> np.ndarray:
    """Standardised genotypes of unrelated samples."""
    rng = np.random.default_rng(seed)
    x = rng.binomial(2, rng.uniform(0.2, 0.5, j), (n, j)).astype(float)
    return (x - x.mean(0)) / x.std(0, ddof=1)


def gram_of(name: str, x: np.ndarray, theta: float | None = None) -> tuple[np.ndarray, float]:
    """K/s from the definition, at twice the median bandwidth or so."""
    theta = 1 / (len(x.T) * (1.3 if name == "laplacian" else 2.0)) if theta is None else theta
    return oracles.kernel(name, x, x, theta), theta


def assert_shifted(name, shifter, x, theta, weights, xi, chosen, tolerance=1e-8, values=None) -> None:
    """h, prior variance and local scores of one block against K - B entry by entry; the chosen columns are x's."""
    values = x if values is None else values
    got = shifter(values, xi)
    local = got.local()
    h, prior, mean = [], [], []
    for j in chosen:
        moved = x.copy()
        moved[:, j] += np.broadcast_to(xi, len(values.T))[j]
        rows = oracles.kernel(name, x, x, theta) - oracles.kernel(name, moved, x, theta)
        h.append(rows.mean(0))
        prior.append(2 * rows.mean())
        mean.append(rows @ weights)
    for k, j in enumerate(chosen):
        close(got.mean_covariance[:, j], h[k], tolerance)
        close(local[:, j], mean[k], tolerance)
        assert got.prior_variance[j] == pytest.approx(prior[k], rel=tolerance, abs=1e-15)


def related() -> np.ndarray:
    """Two clones of sample 3, one of sample 30, and 20 that is sample 4 in all but a tenth of the variants."""
    x = genomes()
    x[10], x[11], x[31] = x[3], x[3], x[30]
    x[20] = np.where(np.random.default_rng(35).random(MANY) < 0.1, x[20], x[4])
    return x


@pytest.mark.parametrize("name", MIXTURES)
def test_clones_and_sibs_are_done_pair_by_pair(name):
    x = related()
    gram, theta = gram_of(name, x)
    weights = np.random.default_rng(36).normal(size=len(x))
    shifter = MixtureShifter(kernel(name), gram, theta, weights, np.float64, reach_of(x, 1.0))
    assert shifter.parts
    assert shifter.limit >= reach_of(x, 1.0)
    near = {frozenset(pair) for pair in zip(shifter.first.tolist(), shifter.second.tolist(), strict=True)}
    assert near == {frozenset(pair) for pair in ((3, 10), (3, 11), (10, 11), (30, 31), (4, 20))}
    assert len(shifter.first) == 2 * len(near)
    for xi in (1.0, -0.7):
        assert_shifted(name, shifter, x, theta, weights, xi, (0, 7, 400, 899))


@pytest.mark.parametrize("name", MIXTURES)
@pytest.mark.parametrize("shared", [MANY - 6, MANY - 200], ids=["all-but-6", "all-but-200"])
def test_all_samples_identical_in_most_variants(name, shared):
    x = genomes()
    x[:, :shared] = x[0, :shared]
    weights = np.random.default_rng(37).normal(size=len(x))
    gram, theta = gram_of(name, x, 0.5 / (MANY - shared))
    shifter = MixtureShifter(kernel(name), gram, theta, weights, np.float64, reach_of(x, 0.4))
    assert_shifted(name, shifter, x, theta, weights, 0.4, (0, 500, 897, 899))


@pytest.mark.parametrize("name", MIXTURES)
@pytest.mark.parametrize(("dtype", "tolerance"), [(np.float64, 1e-8), (np.float32, 1e-5)])
def test_as_exact_as_promised_up_to_the_limit(name, dtype, tolerance):
    """Whatever the number of nodes, a shift that changes a distance by just the limit is good enough.

    The limit never exceeds half of the least distance of samples that are not near: here of 28 and 29, which share two
    thirds of their variants.
    """
    used = set()
    for j in (60, 250, MANY):
        x = genomes(30, j, seed=44)
        x[29, : 2 * j // 3] = x[28, : 2 * j // 3]
        least = np.sum((x[29] - x[28]) ** 2)
        gram, theta = gram_of(name, x)
        weights = np.random.default_rng(45).normal(size=len(x))
        for reach in np.geomspace(0.001, 1.0, 9) * j:
            shifter = MixtureShifter(kernel(name), gram, theta, weights, dtype, reach)
            used.add(len(shifter.parts))
            assert shifter.limit <= 0.5 * least * (1 + 1e-9)
            assert not len(shifter.first)
            span = np.ptp(x, axis=0)
            xi = np.sqrt(span**2 + 0.999999 * shifter.limit) - span
            assert np.all(xi**2 + 2 * xi * span < shifter.limit)
            assert_shifted(name, shifter, x, theta, weights, xi, (0, j // 2), tolerance)
    assert len(used) >= 4


@pytest.mark.parametrize("name", MIXTURES)
@pytest.mark.parametrize("alone", [0, 1, 8])
def test_most_samples_are_one_clone(name, alone):
    """Including the extreme: no two samples differ at all."""
    x = genomes()
    x[alone:] = x[-1]
    weights = np.random.default_rng(38).normal(size=len(x))
    gram, theta = gram_of(name, x)
    shifter = MixtureShifter(kernel(name), gram, theta, weights, np.float64, reach_of(x, 1.0))
    assert_shifted(name, shifter, x, theta, weights, 1.0, (0, 3, 899))


@pytest.mark.parametrize("name", MIXTURES)
@pytest.mark.parametrize(("dtype", "tolerance"), [(np.float64, 1e-8), (np.float32, 1e-5)])
def test_large_shifts_beside_small_ones(name, dtype, tolerance):
    """In one block, what is beyond the limit goes entry by entry and does not touch its neighbours."""
    x = related()
    gram, theta = gram_of(name, x)
    weights = np.random.default_rng(39).normal(size=len(x))
    xi = np.ones(MANY)
    xi[[2, 7, 512]] = 30.0, -45.0, 1e4
    shifter = MixtureShifter(kernel(name), gram, theta, weights, dtype, reach_of(x, 1.0))
    epsilon = xi**2 + 2 * np.abs(xi) * np.ptp(x, axis=0)
    assert np.array_equal(np.flatnonzero(epsilon > shifter.limit), [2, 7, 512])
    assert_shifted(name, shifter, x, theta, weights, xi, (1, 2, 3, 7, 8, 512, 513), tolerance)


@pytest.mark.parametrize("name", oracles.KERNELS)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_bits_do_not_depend_on_the_rest_of_the_block(name, dtype):
    """Only on the column's place; neighbours may be empty, far beyond the limit, or of many values."""
    x = related()
    gram, theta = gram_of(name, x)
    weights = np.random.default_rng(40).normal(size=len(x))
    xi = np.full(BLOCK, 0.8)
    shifter = kernel(name).shifter(gram, theta, weights, np.dtype(dtype), reach_of(x, 0.8))
    block = np.asfortranarray(x[:, :BLOCK])
    kept = [0, 1, 100, 254, 255]
    empty, other = (
        np.zeros_like(block, order="F"),
        np.asfortranarray(np.random.default_rng(41).normal(size=block.shape)),
    )
    far = np.full(BLOCK, 60.0)
    empty[:, kept] = other[:, kept] = block[:, kept]
    none = np.zeros(BLOCK)
    none[kept] = far[kept] = xi[kept]
    wanted = shifter(block, xi)
    for values, steps in ((empty, none), (other, xi), (block, far)):
        got = shifter(values, steps)
        assert np.array_equal(got.mean_covariance[:, kept], wanted.mean_covariance[:, kept])
        assert np.array_equal(np.broadcast_to(got.prior_variance, BLOCK)[kept], wanted.prior_variance[kept])
        assert np.array_equal(got.local()[:, kept], wanted.local()[:, kept])


def test_laplacian_shift_beyond_its_classes():
    """Variants of two, three, four and fifty values in one block."""
    x = genomes(j=60)
    rng = np.random.default_rng(42)
    x[:, 1] = rng.integers(0, 2, 50)
    x[:, 2] = rng.integers(0, 4, 50)
    x[:, 3] = rng.normal(size=50)
    assert levels(x)[:4] == [3, 2, 4, 50]
    gram, theta = gram_of("laplacian", x)
    weights = rng.normal(size=50)
    for dtype, tolerance in ((np.float64, 1e-10), (np.float32, 1e-5)):
        shifter = kernel("laplacian").shifter(gram, theta, weights, np.dtype(dtype), 1.0)
        assert isinstance(shifter, LaplacianShifter)
        xi = np.where(np.arange(60) % 2, -1.3, 0.4)
        assert_shifted("laplacian", shifter, x, theta, weights, xi, range(6), tolerance)


# --- The pieces ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", oracles.KERNELS)
def test_leave_out_gives_the_gram_matrix_of_the_others(name):
    x = related()[:, :300]
    gone = np.zeros(300, dtype=bool)
    gone[30:120] = gone[299] = True
    x[40, ~gone] = x[41, ~gone]  # differ in nothing but what is left out
    gram, theta = gram_of(name, x)
    function = kernel(name)
    part = np.asfortranarray(x[:, gone])
    found = function.leave_out(gram.copy(), function.base(iter([part[:, :50], part[:, 50:]]), len(x)), theta)
    np.testing.assert_allclose(found, oracles.kernel(name, x[:, ~gone], x[:, ~gone], theta), rtol=0, atol=1e-10)


@pytest.mark.parametrize("name", STATIONARY)
def test_distance_inverts_value(name):
    theta = 1 / 37
    distance = 37 * np.array([0.0, 1e-6, 1e-3, 0.02, 0.5, 1.0, 1.9, 10.0, 80.0])
    gram = np.exp(-theta * distance) if name == "laplacian" else oracles.RADIAL[name](distance, theta)
    # k is 1 - (θd or so) near 0: the rounding of k is all that is lost.
    np.testing.assert_allclose(kernel(name).distance(gram, theta), distance, rtol=1e-9, atol=37e-15)
    x = related()
    gram, theta = gram_of(name, x)
    gaps = x[:, None] - x
    wanted = np.abs(gaps).sum(-1) if name == "laplacian" else (gaps**2).sum(-1)
    found = kernel(name).distance(gram, theta)
    np.testing.assert_allclose(found, wanted, rtol=1e-11, atol=1e-11)
    assert wanted[3, 10] == 0
    assert np.all(np.diag(found) == 0)


def exact(name: str, d, theta: float):
    """k/s at a distance (squared but for the Laplacian), in mpmath's precision."""
    d, theta = mpmath.mpf(d), mpmath.mpf(theta)
    if name in ("rbf", "laplacian"):
        return mpmath.exp(-theta * d)
    if name == "cauchy":
        return 1 / (1 + theta * d)
    r = mpmath.sqrt((3 if name == "matern32" else 5) * theta * d)
    return (1 + r + (r**2 / 3 if name == "matern52" else 0)) * mpmath.exp(-r)


@pytest.mark.parametrize("name", RADIAL)
@pytest.mark.parametrize("order", [1, 2, 3, 4])
def test_derivatives(name, order):
    theta = 0.21
    distance = np.array([0.05, 0.7, 3.0, 11.0, 40.0])
    function = kernel(name)
    found = function.derivative(function.reference_at(distance, theta), theta, order)
    with mpmath.workdps(60):
        wanted = [float(mpmath.diff(lambda d: exact(name, d, theta), mpmath.mpf(d), order)) for d in distance]
    np.testing.assert_allclose(found, wanted, rtol=1e-12)


@pytest.mark.parametrize("name", RADIAL)
def test_derivatives_of_coinciding_samples(name):
    """Its limit from above, which is infinite from the second derivative on for Matérn 3/2, the third for 5/2."""
    theta, function = 0.21, kernel(name)
    start = function.reference_at(np.zeros(1), theta)
    assert function.derivative(start, theta, 1)[0] == pytest.approx(-function.curvature * theta / 2, rel=1e-14)
    last = {"matern32": 1, "matern52": 2}.get(name, 4)
    for order in (1, 2, 3, 4):
        found = float(function.derivative(start, theta, order)[0])
        if order > last:
            assert np.isinf(found)
            continue
        with mpmath.workdps(80):
            limit = mpmath.diff(lambda d: exact(name, d, theta), mpmath.mpf(10) ** -24, order, h=mpmath.mpf(10) ** -32)
        assert found == pytest.approx(float(limit), rel=1e-9)


@pytest.fixture(scope="module")
def tiny():
    """Two variants of 9 samples, shifts, and the distances by the other variants, at about genome size."""
    rng = np.random.default_rng(43)
    x = rng.integers(0, 3, (9, 2)) * 1.4
    rest = np.abs(rng.normal(20_000, 600, (9, 9)))
    rest = (rest + rest.T) / 2
    np.fill_diagonal(rest, 0.0)
    return x, (0.1, -0.13), rest, 1 / 20_000


def gap(name: str, a, b):
    return abs(a - b) if name == "laplacian" else (a - b) ** 2


def moved_value(name, tiny, i, k, first, second):
    """k/s of sample i moved by ``first`` and sample k by ``second`` (a step for each of the two variants)."""
    x, _, rest, theta = tiny
    points = [[mpmath.mpf(x[row, v]) + mpmath.mpf(step[v]) for v in (0, 1)] for row, step in ((i, first), (k, second))]
    return exact(name, mpmath.mpf(rest[i, k]) + sum(gap(name, *pair) for pair in zip(*points, strict=True)), theta)


def distances_of(name, tiny) -> np.ndarray:
    x, _, rest, _ = tiny
    return rest + sum(gap(name, column[:, None], column) for column in x.T)


def tolerance_of(name) -> dict[str, float]:
    """Matérn kernels take plain differences: good to the rounding of k, twice or so."""
    return {"rtol": 1e-9, "atol": 5e-16} if "matern" in name else {"rtol": 1e-12}


@pytest.mark.parametrize("name", STATIONARY)
def test_differences_without_cancellation(name, tiny):
    x, (xi, other), _, theta = tiny
    function = kernel(name)
    reference = function.reference_at(distances_of(name, tiny), theta)
    a, b = function.increment(x[:, 0], xi), function.increment(x[:, 1], other).T
    assert theta * np.abs(a).min() >= 3e-7
    assert theta * np.abs(a).max() <= 3e-5
    one, two = np.empty((9, 9)), np.empty((9, 9))
    with mpmath.workdps(50):
        for i in range(9):
            for k in range(9):
                still = moved_value(name, tiny, i, k, (0, 0), (0, 0))
                left = moved_value(name, tiny, i, k, (xi, 0), (0, 0))
                right = moved_value(name, tiny, i, k, (0, 0), (0, other))
                both = moved_value(name, tiny, i, k, (xi, 0), (0, other))
                one[i, k], two[i, k] = float(still - left), float(still - left - right + both)
    tolerance = tolerance_of(name)
    np.testing.assert_allclose(function.difference(reference, a, theta), one, **tolerance)
    np.testing.assert_allclose(function.rows(reference, x[:, 0], xi, theta), one, **tolerance)
    np.testing.assert_allclose(function.second_difference(reference, a, b, theta), two, **tolerance)
    cross = function.cross_variance(reference, (x[:, 0], xi), (x[:, 1], other), theta)
    np.testing.assert_allclose(cross, two.mean(), **tolerance)
    assert function.prior_variance(one, xi, theta) == pytest.approx(2 * one.mean(), rel=1e-12)
    with mpmath.workdps(50):
        alone = 2 * (1 - exact(name, gap(name, mpmath.mpf(xi), 0), theta))
    np.testing.assert_allclose(function.shift_variance(xi, theta), float(alone), **tolerance)


def test_linear_pieces():
    """f = Σ x_j β_j with independent β_j of variance theta: shifts and derivatives by hand."""
    function, theta = kernel("linear"), 1 / 7
    x = np.array([0.5, -1.0, 2.0])
    rows = function.rows(np.zeros((3, 3)), x, -0.3, theta)
    np.testing.assert_allclose(rows, [[0.15 / 7, -0.3 / 7, 0.6 / 7]] * 3, rtol=1e-14)
    assert function.prior_variance(rows, -0.3, theta) == pytest.approx(0.09 / 7)
    assert function.shift_variance(-0.3, theta) == pytest.approx(0.09 / 7)
    assert function.cross_variance(np.zeros((3, 3)), (x, 1.0), (x[::-1], 1.0), theta) == 0
    np.testing.assert_allclose(function.slope_rows(np.zeros((3, 3)), x, theta), [x / 7] * 3)
    np.testing.assert_allclose(function.slope_covariance(np.zeros((3, 3)), x, theta), np.full((3, 3), 1 / 7))
