"""Imputation, filters, frequencies and dosages against other programs and slow loops."""

from __future__ import annotations

import shutil
import subprocess

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from goalscli import qc
from goalscli.dataset import Columns, Treatment, assemble
from goalscli.genotypes.memory import from_array
from goalscli.genotypes.plink import open_plink, write_plink
from goalscli.genotypes.source import Samples, Variants


def test_family_means_of_the_mice(golden, mice):
    """All cells that GEMMA's mice have as family means, rounded there to within 0.005."""
    cells = pd.read_csv(golden / "hs1940_family_mean_imputed.csv.gz", dtype={"iid": str, "family": str})
    assert len(cells) == 19196
    source = open_plink(mice / "hs1940")
    n = len(source.samples)
    everyone = np.arange(n)
    reference = qc.Reference(everyone, qc.family_codes(source.samples.fid), everyone)
    filled = np.full(len(cells), np.nan)
    family = overall = 0
    for start in range(0, len(source.variants), 1024):
        columns = np.arange(start, min(start + 1024, len(source.variants)))
        block = qc.impute(source.read(everyone, columns), reference, by_family=True)
        here = (cells["snp_index0"] >= columns[0]) & (cells["snp_index0"] <= columns[-1])
        filled[here] = block.values[cells["iid_index0"][here], cells["snp_index0"][here] - start]
        family, overall = family + block.by_family.sum(), overall + block.by_overall.sum()
    assert np.abs(filled - cells["value"]).max() <= 0.0051
    assert (family + overall, overall) == (19196, 65)


def slow_impute(raw, family, analysed, by_family):
    """One cell after another."""
    out = raw[analysed].astype(float)
    for i, row in enumerate(analysed):
        for j in range(raw.shape[1]):
            if np.isnan(out[i, j]):
                mates = [raw[k, j] for k in range(len(raw)) if family[k] == family[row] and family[k] not in ("0", "")]
                mates = [m for m in mates if not np.isnan(m)] if by_family else []
                pool = mates or [v for v in raw[:, j] if not np.isnan(v)] or [0.0]
                out[i, j] = np.mean(pool, dtype=np.float64)
    return out


@settings(max_examples=60, deadline=None)
@given(st.integers(2, 14), st.integers(1, 9), st.integers(0, 2**31), st.booleans())
def test_imputation_against_a_loop(n, j, seed, by_family):
    rng = np.random.default_rng(seed)
    raw = rng.choice([0, 1, 2, 0.25, np.nan], p=[0.2, 0.2, 0.2, 0.1, 0.3], size=(n, j)).astype(np.float32)
    family = np.array(rng.choice(["a", "b", "c", "0", ""], size=n), dtype=object)
    analysed = np.sort(rng.choice(n, size=rng.integers(1, n + 1), replace=False))
    reference = qc.Reference(np.arange(n), qc.family_codes(family), analysed)
    got = qc.impute(np.asfortranarray(raw), reference, by_family)
    np.testing.assert_allclose(got.values, slow_impute(raw, family, analysed, by_family), rtol=1e-12, atol=1e-12)
    called = ~np.isnan(raw[analysed])
    assert np.array_equal(got.n_obs, called.sum(0))
    np.testing.assert_allclose(got.dosage_sum, np.nansum(raw[analysed], axis=0, dtype=float), rtol=1e-12)
    assert (got.by_family + got.by_overall).sum() == (~called).sum()


def write_odd_set(prefix, n, j=60, seed=0):
    """Missing calls, monomorphic and all-missing variants, rare alleles; n need not divide by 4."""
    rng = np.random.default_rng(seed)
    dosages = rng.binomial(2, rng.uniform(0, 1, j), (n, j)).astype(np.int8)
    dosages[rng.random((n, j)) < 0.1] = -127
    dosages[:, 0], dosages[:, 1], dosages[:, 2] = 0, 2, -127
    dosages[:, 3] = 0
    dosages[0, 3] = 1
    dosages[:-1, 4] = -127
    samples = Samples(
        fid=np.array([f"f{i // 3}" for i in range(n)], dtype=object),
        iid=np.array([f"i{i}" for i in range(n)], dtype=object),
        sex=np.ones(n, np.int8) + (np.arange(n) % 2).astype(np.int8),
        phenotype=np.full(n, "-9", dtype=object),
    )
    variants = Variants(
        chrom=np.array([str(1 + k // 20) for k in range(j)], dtype=object),
        id=np.array([f"rs{k}" for k in range(j)], dtype=object),
        pos=np.arange(1, j + 1, dtype=np.int64),
        a1=np.full(j, "G", dtype=object),
        a2=np.full(j, "T", dtype=object),
    )
    write_plink(prefix, dosages, samples, variants)
    return dosages


@pytest.mark.parametrize("n", [4, 5, 6, 7, 33, 101])
def test_frequencies_and_dosages_equal_plink2(tmp_path, n):
    if shutil.which("plink2") is None:
        pytest.skip("plink2 is not installed")
    dosages = write_odd_set(tmp_path / "odd", n, seed=n)
    for arguments in (["--freq"], ["--export", "A"]):
        call = ["plink2", "--bfile", "odd", "--out", "odd", *arguments]
        subprocess.run(call, cwd=tmp_path, check=True, capture_output=True)
    source = open_plink(tmp_path / "odd")
    everyone = np.arange(n)
    raw = source.read(everyone, np.arange(60))
    table = pd.read_csv(tmp_path / "odd.raw", sep="\t")
    exported = table.iloc[:, 6:]
    # plink2 may export the count of the other allele: the column's suffix names the counted one.
    counted = np.array([name.rsplit("_", 1)[1] for name in exported.columns])
    theirs = np.where(counted == "G", exported.to_numpy(float), 2 - exported.to_numpy(float))
    assert np.array_equal(raw, theirs.astype(np.float32), equal_nan=True)
    assert np.array_equal(np.where(np.isnan(raw), -127, raw).astype(np.int8), dosages)
    reference = qc.Reference(everyone, qc.family_codes(source.samples.fid), everyone)
    stats = qc.variant_statistics(source, np.arange(60), reference, by_family=True)
    freq = pd.read_csv(tmp_path / "odd.afreq", sep="\t", na_values="nan")
    alt = np.where(freq["ALT"] == "G", freq["ALT_FREQS"], 1 - freq["ALT_FREQS"])
    known = stats.n_obs > 0
    # plink2 prints six significant digits.
    np.testing.assert_allclose(stats.a1_freq[known], alt[known], rtol=1e-5)
    assert np.array_equal(2 * stats.n_obs, freq["OBS_CT"])
    assert not known[2]


def columns_for(source, phenotype):
    empty = np.full(len(source.samples), "", dtype=object)
    return Columns(phenotype, [], source.samples.fid, empty, "trait")


def test_filters_count_what_they_remove():
    rng = np.random.default_rng(3)
    x = rng.binomial(2, 0.4, (40, 30)).astype(float)
    x[0, :10] = np.nan  # sample 0 lacks a third of its calls
    x[5:12, 1] = np.nan  # variant 1 lacks 7 of 39
    x[:, 2] = 0
    x[7, 2] = 1  # variant 2 is rare
    x[:, 3] = 2  # variant 3 is monomorphic
    x[:, 4] = 0
    x[20, 4] = 2  # polymorphic in the file, constant among the analysed samples
    y = rng.normal(size=40)
    y[20] = np.nan
    source = from_array(x)
    dataset = assemble(source, columns_for(source, y), qc.Filters(mind=0.2, geno=0.1, maf=0.05), Treatment())
    assert dataset.accounting.rows == [
        ("input", 0, 40, 0, 30),
        ("mind 0.2", 1, 39, 0, 30),
        ("trait or covariate missing", 1, 38, 0, 30),
        ("geno 0.1", 0, 38, 1, 29),
        ("maf 0.05", 0, 38, 3, 26),
        ("monomorphic", 0, 38, 0, 26),
    ]
    kept = assemble(source, columns_for(source, y), qc.Filters(mind=0.2, geno=0.1, maf=0), Treatment())
    assert kept.accounting.rows[-1] == ("monomorphic", 0, 38, 2, 27)
    # Sample 20 has no trait, but its calls still count for its family's means.
    values = dataset.values(np.arange(dataset.n_variants))
    np.testing.assert_allclose(values.mean(0), 0, atol=1e-12)
    np.testing.assert_allclose(values.std(0, ddof=1), 1, rtol=1e-12)
    assert dataset.phenotype.mean() == pytest.approx(0, abs=1e-14)
    assert dataset.phenotype.std(ddof=1) == pytest.approx(1)


def test_maf_keeps_what_is_exactly_at_the_threshold():
    x = np.zeros((20, 2))
    x[:2, 0] = 1  # frequency 2/40 = 0.05
    x[0, 1] = 1
    source = from_array(x)
    dataset = assemble(source, columns_for(source, np.arange(20.0)), qc.Filters(maf=0.05), Treatment())
    assert list(dataset.variants.id) == ["v0"]


@pytest.mark.parametrize(("scale", "mean", "sd"), [("standardize", 0, 1), ("center", 0, None), ("none", None, None)])
def test_scales(scale, mean, sd):
    x = np.random.default_rng(1).binomial(2, 0.4, (30, 6)).astype(float)
    source = from_array(x)
    y = np.random.default_rng(2).normal(size=30)
    dataset = assemble(source, columns_for(source, y), qc.Filters(), Treatment(scale=scale))
    values = dataset.values(np.arange(6))
    wanted = x - (x.mean(0) if mean == 0 else 0)
    np.testing.assert_allclose(values, wanted / (x.std(0, ddof=1) if sd == 1 else 1), atol=1e-12)
    np.testing.assert_allclose(dataset.allele_step, 1 / x.std(0, ddof=1) if sd == 1 else 1)


def test_frequencies_come_from_analysed_samples_and_family_means_from_all():
    """INPUTS B34: a variant seen only in samples without the trait; and imputation that uses those samples."""
    x = np.array([[2, 0], [np.nan, 1], [0, 0], [0, 2], [1, 1], [0, np.nan]], dtype=float)
    source = from_array(x, fid=["a", "a", "b", "b", "c", "c"])
    y = np.array([np.nan, 1.0, 2.0, 0.5, 3.0, 1.5])
    dataset = assemble(source, columns_for(source, y), qc.Filters(maf=0, geno=1, mind=1), Treatment(scale="none"))
    values = dataset.values(np.arange(2))
    np.testing.assert_allclose(values[:, 0], [2, 0, 0, 1, 0])  # sample 1 takes its sib's 2
    np.testing.assert_allclose(values[:, 1], [1, 0, 2, 1, 1])
    np.testing.assert_allclose(dataset.variants.a1_freq, [1 / 8, 4 / 8])
    assert list(dataset.variants.n_obs) == [4, 4]
