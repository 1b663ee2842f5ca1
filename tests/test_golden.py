"""Against figures of the authors' released code, whose sign is g - f (ours is the paper's f - g)."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from conftest import dataset_of

import goalscli
from goalscli.models.exact import ExactGP
from goalscli.scanning import LocalRequest, scan
from goalscli.scores.goals import Goals


def load(folder, name):
    return np.loadtxt(folder / f"{name}.csv", delimiter=",", ndmin=1)


@pytest.mark.parametrize(("name", "noise"), [("n200p50", 1e-2), ("n100p300", 1e-3)])
def test_small_sets(golden, name, noise):
    x, y = load(golden, f"{name}_X"), load(golden, f"{name}_y")
    dataset = dataset_of(x, y, scale="none", intercept=False)
    posterior = ExactGP(bandwidth="1/J", signal=1.0, noise=noise).fit(dataset).with_precision("double")
    assert dataset.n_variants == x.shape[1]
    solution = load(golden, f"{name}_Aiy_f_exact")
    np.testing.assert_allclose(posterior.weights, solution[:, 0], atol=1e-9)
    np.testing.assert_allclose(posterior.mean, solution[:, 1], atol=1e-9)
    got = scan(posterior, dataset, [Goals()], threads=1).columns
    np.testing.assert_allclose(-got["goals/score"], load(golden, f"{name}_goals_global_gminusf_exact"), atol=1e-9)
    np.testing.assert_allclose(got["goals/sd"] ** 2, load(golden, f"{name}_goals_var_globalmean_double"), atol=1e-9)
    local = posterior.shift(dataset.values(np.arange(dataset.n_variants)), 1.0).local()
    np.testing.assert_allclose(-local, load(golden, f"{name}_goals_delta_gminusf_exact"), atol=1e-9)


@pytest.fixture(scope="module")
def released(mice):
    """The mice as the authors' code sees them: raw genotypes, theta 1/J, s 1, noise 0.01, no mean, MAF above .05."""
    dataset = goalscli.read_plink(
        mice / "hs1814",
        pheno=str(mice / "hs1814.pheno.tsv"),
        pheno_name="HDL_resid",
        groups=str(mice / "hs1814.pheno.tsv"),
        group_column="cage",
        filters=goalscli.Filters(maf=0.0501),
        treatment=goalscli.Treatment(scale="none"),
        intercept=False,
    )
    posterior = ExactGP(bandwidth="1/J", signal=1.0, noise=0.01).fit(dataset)
    return dataset, posterior


def test_all_variants_of_the_mice(golden, released):
    dataset, posterior = released
    wanted = pd.read_csv(golden / "hs1814_HDL_goals_global.csv")
    assert dataset.n_samples == 1400
    assert np.array_equal(dataset.variants.file_index, wanted["col"])
    for precision, tolerance in (("double", 1e-9), ("single", 1e-6 * np.abs(wanted["global_gminusf"]).max())):
        got = scan(posterior.with_precision(precision), dataset, [Goals()]).columns["goals/score"]
        np.testing.assert_allclose(-got, wanted["global_gminusf"], atol=tolerance, rtol=0)


def test_means_by_cage_of_the_mice(golden, released):
    dataset, posterior = released
    wanted = pd.read_csv(golden / "hs1814_HDL_top2_percage.csv", dtype={"cage": str}).set_index("cage")
    names = ["rs8245216", "rs13476237"]
    index = np.array(sorted(int(np.flatnonzero(dataset.variants.id == n)[0]) for n in names))
    local = -posterior.with_precision("double").shift(dataset.values(index), 1.0).local()
    means = pd.DataFrame(local, columns=dataset.variants.id[index]).groupby(dataset.samples.group).mean()
    sizes = pd.Series(dataset.samples.group).value_counts()
    found = means.loc[wanted.index]
    for name in names:
        np.testing.assert_allclose(found[name], wanted[name], atol=1e-9)
    assert np.array_equal(sizes.loc[wanted.index], wanted["n"])


@pytest.mark.parametrize(
    ("trait", "chrom", "low", "high", "first"),
    [
        ("HDL_resid", "1", 171e6, 175e6, "rs13476237"),
        ("BW_resid", "11", 52e6, 56e6, None),
        ("CD8_qn", "17", 33e6, 37e6, None),
    ],
)
def test_known_loci_of_the_mice(mice, trait, chrom, low, high, first):
    pheno = str(mice / "hs1814.pheno.tsv")
    dataset = goalscli.read_plink(mice / "hs1814", pheno=pheno, pheno_name=trait)
    if trait == "HDL_resid":
        assert (dataset.n_samples, dataset.n_variants) == (1400, 10329)
    result = scan(ExactGP().fit(dataset), dataset, [Goals()], local=LocalRequest())
    lead = int(np.argmax(np.abs(result.columns["goals/z"])))
    assert dataset.variants.chrom[lead] == chrom
    assert low <= dataset.variants.pos[lead] <= high
    if first:
        assert dataset.variants.id[lead] == first
