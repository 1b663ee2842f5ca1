"""Every model × kernel × score: the same bits however the variants are cut; a clear word for pairs that cannot be."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from conftest import dataset_of, random_data
from threadpoolctl import threadpool_limits

from goalscli.cli.options import model as model_options
from goalscli.errors import GoalsError, SettingsError
from goalscli.kernels import KERNELS
from goalscli.models import MODELS, model
from goalscli.models.exact import ExactGP
from goalscli.scanning import LocalRequest, bind, finish, scan, stream
from goalscli.scores import SCORES, score
from goalscli.scores.goals import Goals
from goalscli.scores.psi import Psi
from goalscli.scores.rate import Rate

N, J = 70, 600
CHROMOSOMES = np.array([str(1 + 3 * k // J) for k in range(J)], dtype=object)
REQUESTS = {
    "goals": Goals(),
    "goals-loco": Goals(xi=0.5, xi_unit="allele", loco=True),
    "rate": Rate(),
    "rate-released": Rate(form="released"),
    "rate-covariance": Rate(projection="covariance"),
    "psi": Psi(),
}


class Columns:
    """A sink of arrays, as a part of a scan has it."""

    def __init__(self) -> None:
        self.arrays: dict[str, np.ndarray] = {}

    def write(self, index, columns):
        for name, values in columns.items():
            self.arrays.setdefault(name, np.full((J, *values.shape[1:]), np.nan, values.dtype))[index] = values

    def read(self, name):
        return self.arrays[name]

    def merged(self, others: list[Columns]) -> Columns:
        """Fill what is missing here from other parts."""
        for other in others:
            for name, values in other.arrays.items():
                mine = self.arrays[name]
                assert not np.any(~np.isnan(mine) & ~np.isnan(values)), "parts overlap"
                mine[~np.isnan(values)] = values[~np.isnan(values)]
        return self


@pytest.fixture(scope="module")
def dataset():
    x, y = random_data(N, J, seed=21, missing=0.01)
    family = np.array([f"F{i // 5}" for i in range(N)], dtype=object)
    made = dataset_of(x, y, family=family, covariates=np.random.default_rng(2).normal(size=(N, 1)))
    assert made.n_variants == J
    return replace(made, variants=replace(made.variants, chrom=CHROMOSOMES))


@pytest.fixture(scope="module")
def posteriors(dataset):
    with threadpool_limits(1):
        return {name: ExactGP(kernel=name).fit(dataset) for name in KERNELS}


def in_parts(posterior, dataset, request):
    """Three parts of uneven size, scanned apart in any order, joined, then finished once."""
    parts = [Columns() for _ in range(3)]
    for part, (start, stop) in zip(parts, ((400, J), (0, 131), (131, 400)), strict=True):
        bound = bind(posterior, dataset, [request])
        stream(bound, dataset, part, np.arange(start, stop), threads=1, chunk_size=37)
    joined = parts[0].merged(parts[1:])
    changed, attributes = finish(bind(posterior, dataset, [request]), joined.read)
    return joined.arrays | changed, attributes


PAIRS = [
    (kernel, name)
    for kernel in KERNELS
    for name in REQUESTS
    if not (kernel == "laplacian" and name == "psi")  # f has no derivative: see below
]


def test_the_lists_are_whole():
    """Models, kernels and scores that are not tried here would go unnoticed."""
    assert set(MODELS) == {"exact"}
    assert {request.name for request in REQUESTS.values()} == set(SCORES)
    assert {name for name, _ in PAIRS} == set(KERNELS)


@pytest.mark.parametrize("precision", ["single", "double"])
@pytest.mark.parametrize(("kernel", "name"), PAIRS)
def test_bits_of_every_pair(dataset, posteriors, kernel, name, precision):
    posterior, request = posteriors[kernel].with_precision(precision), REQUESTS[name]
    whole = scan(posterior, dataset, [request], threads=1)
    fields = {f"{request.name}/{field.name}" for field in request.fields}
    assert set(whole.columns) == fields
    for values in whole.columns.values():
        assert values.shape == (J,)
        assert np.isfinite(values).all()
    for size, threads in ((1, 2), (7, 1), (J, 2)):
        other = scan(posterior, dataset, [request], chunk_size=size, threads=threads)
        for column in fields:
            assert np.array_equal(whole.columns[column], other.columns[column]), (column, size, threads)
        assert other.attributes == whole.attributes
    columns, attributes = in_parts(posterior, dataset, request)
    for column in fields:
        assert np.array_equal(whole.columns[column], columns[column]), column
    assert attributes == whole.attributes


@pytest.mark.parametrize("kernel", list(KERNELS))
def test_scores_together_are_the_scores_alone(dataset, posteriors, kernel):
    requests = [Goals(loco=True), Rate(), *([] if kernel == "laplacian" else [Psi()])]
    kept = LocalRequest(top=5)
    together = scan(posteriors[kernel], dataset, requests, local=kept, threads=2)
    for request in requests:
        alone = scan(posteriors[kernel], dataset, [request], local=kept, threads=2)
        for column, values in alone.columns.items():
            assert np.array_equal(values, together.columns[column]), column
        assert alone.attributes[request.name] == together.attributes[request.name]
    assert set(together.local) == {"goals"}
    assert together.local["goals"].shape == (5, N)


@pytest.mark.parametrize("kernel", list(KERNELS))
def test_other_thread_counts_of_the_fit(dataset, kernel):
    """Fitted and scanned with one and two threads of BLAS: equal to 1e-9 of the greatest."""
    results = []
    for threads in (1, 2):
        with threadpool_limits(threads):
            posterior = ExactGP(kernel=kernel).fit(dataset).with_precision("double")
        requests = [Goals(), Rate(), *([] if kernel == "laplacian" else [Psi()])]
        results.append(scan(posterior, dataset, requests, threads=threads).columns)
    for column, values in results[0].items():
        np.testing.assert_allclose(results[1][column], values, rtol=0, atol=1e-9 * np.abs(values).max())


def test_a_pair_that_cannot_be_says_what_can(dataset, posteriors):
    with pytest.raises(SettingsError, match="no derivative with the laplacian kernel") as caught:
        scan(posteriors["laplacian"], dataset, [Psi()])
    for name in ("rbf", "cauchy", "matern32", "matern52", "linear", "goals", "rate"):
        assert name in str(caught.value)


class OnlyMean:
    """A posterior that can do nothing but be there."""

    residual_df, profiled, mean = N - 1, True, np.zeros(N)

    def covariance(self):
        return np.eye(N)

    def project(self, right):
        return right


@pytest.mark.parametrize("request_", [Goals(), Psi()], ids=["goals", "psi"])
def test_a_model_without_shifts_or_slopes_is_refused_by_name(dataset, request_):
    with pytest.raises(SettingsError, match="OnlyMean") as caught:
        request_.bind(OnlyMean(), dataset)
    assert "exact" in str(caught.value)


@pytest.mark.parametrize(
    ("find", "kind", "known"), [(model, "model", MODELS), (score, "score", SCORES)], ids=["model", "score"]
)
def test_unknown_names_list_what_exists(find, kind, known):
    with pytest.raises(SettingsError, match=f"no {kind} 'rat'") as caught:
        find("rat")
    assert all(name in str(caught.value) for name in known)


def test_the_command_line_lists_every_kernel():
    @model_options
    def probe(**_):
        pass

    choices = next(p for p in probe.__click_params__ if p.name == "kernel").type.choices
    assert list(choices) == list(KERNELS)


SMALL = {
    "more variants than samples": random_data(20, 60, 1),
    "one variant": (random_data(20, 6, 1)[0][:, :1], random_data(20, 6, 1)[1]),
    "two samples": (np.array([[0, 1, 2.0], [2, 1, 1]]), np.array([1.0, 2.0])),
    "three samples": (np.array([[0, 1, 2.0], [2, 1, 1], [1, 0, 0]]), np.array([1.0, 2.0, 0.0])),
    "perfect LD": (np.tile(random_data(40, 10, 1)[0], 2), random_data(40, 10, 1)[1]),
    "every sample four times": (np.tile(random_data(10, 10, 1)[0], (4, 1)), random_data(40, 10, 1)[1]),
    "a constant column": (np.column_stack([random_data(40, 9, 1)[0], np.ones(40)]), random_data(40, 9, 1)[1]),
}


@pytest.mark.parametrize("scale", ["standardize", "none"])
@pytest.mark.parametrize("kernel", list(KERNELS))
@pytest.mark.parametrize("case", list(SMALL))
def test_degenerate_data_give_finite_results(case, kernel, scale):
    """Never NaN or a warning (warnings are errors here); what cannot be fitted is refused in words."""
    x, y = SMALL[case]
    dataset = dataset_of(x, y, scale=scale)
    assert dataset.n_variants == x.shape[1] - (case == "a constant column") - (case == "two samples")
    posterior = ExactGP(kernel=kernel).fit(dataset)
    requests = [Goals(), *([] if kernel == "laplacian" else [Psi()])]
    for request in (Rate(), Rate(form="released"), Rate(projection="covariance")):
        got = scan(posterior, dataset, [request, *requests], threads=1)
        assert got.columns["rate/rate"].sum() == pytest.approx(1, abs=1e-9)
        for column, values in got.columns.items():
            assert np.isfinite(values).all(), column
    if case == "perfect LD":
        half = dataset.n_variants // 2
        for column, values in got.columns.items():
            np.testing.assert_allclose(values[:half], values[half:], rtol=1e-5, atol=1e-6, err_msg=column)


@pytest.mark.parametrize("kernel", [name for name in KERNELS if name != "linear"])
def test_samples_all_alike_are_refused(kernel):
    with pytest.raises(GoalsError, match="median distance between samples is 0"):
        ExactGP(kernel=kernel).fit(dataset_of(np.vstack([np.zeros((9, 3)), [[1, 1, 2]]]), np.arange(10.0)))
