"""Simulated cohorts and traits: genetics against textbook values, traits against their own truth table."""

from __future__ import annotations

import dataclasses
import hashlib
import importlib.util
import itertools
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from goalscli.errors import InputError, OutputError, SettingsError
from goalscli.genotypes.memory import MemorySource, from_array
from goalscli.genotypes.plink import open_plink
from goalscli.simulate import (
    Cohort,
    CohortSettings,
    TraitSettings,
    mean_imputed,
    simulate_cohort,
    simulate_trait,
    write_cohort,
    write_trait,
)
from goalscli.simulate.haplotypes import gene_drop
from goalscli.simulate.pedigree import Generation, breed, founders, house, litters, mate

REPOSITORY = Path(__file__).parents[1]
SETTINGS = CohortSettings(n_samples=400, n_variants=1500, x_chromosome=True, seed=11)


@pytest.fixture(scope="module")
def cohort() -> Cohort:
    return simulate_cohort(SETTINGS)


@pytest.fixture(scope="module")
def dosages(cohort: Cohort) -> np.ndarray:
    return mean_imputed(MemorySource(cohort.dosages, cohort.samples, cohort.variants))


def equal(one: Cohort, two: Cohort) -> bool:
    def arrays(c: Cohort) -> list[np.ndarray]:
        held = [c.dosages, c.sire, c.dam, c.cage]
        return held + [getattr(part, f.name) for part in (c.samples, c.variants) for f in dataclasses.fields(part)]

    return all(np.array_equal(a, b) for a, b in zip(arrays(one), arrays(two), strict=True))


# ------------------------------------------------------------------------------------------------ cohort


def test_the_seed_decides(cohort: Cohort) -> None:
    assert equal(cohort, simulate_cohort(SETTINGS))
    other = simulate_cohort(dataclasses.replace(SETTINGS, seed=12))
    assert not np.array_equal(cohort.variants.pos, other.variants.pos)
    assert np.mean(cohort.dosages != other.dosages) > 0.2


def test_missing_rate_and_cage_size_leave_the_genotypes_alone(cohort: Cohort) -> None:
    whole = simulate_cohort(dataclasses.replace(SETTINGS, missing_rate=0.0, cage_size=3))
    assert whole.dosages.min() == 0
    called = cohort.dosages != -127
    assert np.array_equal(whole.dosages[called], cohort.dosages[called])
    assert np.array_equal(whole.variants.a1, cohort.variants.a1)
    assert np.array_equal(whole.sire, cohort.sire)
    same_cages = simulate_cohort(dataclasses.replace(SETTINGS, missing_rate=0.0))
    assert np.array_equal(same_cages.cage, cohort.cage)


def test_layout(cohort: Cohort) -> None:
    variants, samples = cohort.variants, cohort.samples
    assert cohort.dosages.shape == (400, 1500)
    assert cohort.dosages.dtype == np.int8
    assert cohort.dosages.flags.f_contiguous
    assert set(np.unique(cohort.dosages)) == {-127, 0, 1, 2}
    assert list(dict.fromkeys(variants.chrom)) == ["1", "2", "3", "4", "5", "X"]
    for chrom in dict.fromkeys(variants.chrom):
        pos = variants.pos[variants.chrom == chrom]
        assert (np.diff(pos) > 0).all()
        assert pos.min() >= 1
        assert pos.max() <= 1.5e8
    assert variants.id[7] == f"sim1_{variants.pos[7]}"
    assert set(variants.a1) | set(variants.a2) == set("ACGT")
    assert (variants.a1 != variants.a2).all()
    assert len(set(samples.iid)) == 400
    assert set(np.unique(samples.sex)) == {1, 2}
    # A family is one sire with one dam, and the other way round.
    couples = set(zip(cohort.sire, cohort.dam, strict=True))
    trios = set(zip(samples.fid, cohort.sire, cohort.dam, strict=True))
    assert len(couples) == len(trios) == len(set(samples.fid))


def test_a1_is_the_minor_allele_and_frequencies_spread() -> None:
    cohort = simulate_cohort(dataclasses.replace(SETTINGS, missing_rate=0.0))
    on_x = cohort.variants.chrom == "X"
    males, females = cohort.sex == 1, cohort.sex == 2
    frequency = cohort.dosages.mean(axis=0) / 2
    # One X in a male, two in a female.
    x = cohort.dosages[:, on_x]
    frequency[on_x] = (x[males].sum(axis=0) / 2 + x[females].sum(axis=0)) / (males.sum() + 2 * females.sum())
    assert frequency.max() <= 0.5
    assert 0 < np.mean(frequency == 0) < 0.15
    assert 0.03 < np.mean((frequency > 0) & (frequency < 0.05)) < 0.25
    counts = np.histogram(frequency, bins=[0.05, 0.15, 0.25, 0.35, 0.5])[0]
    assert counts.min() > 100


def test_missing_calls(cohort: Cohort) -> None:
    per_variant = np.mean(cohort.dosages == -127, axis=0)
    poor = per_variant > 0.06
    assert poor.sum() == 1500 // 250
    assert per_variant[poor].max() < 0.4
    # Binomial over 400 x 1494 calls: sd .00009.
    assert per_variant[~poor].mean() == pytest.approx(0.005, abs=0.0005)


def test_ld_decays_with_distance(dosages: np.ndarray, cohort: Cohort) -> None:
    variants = cohort.variants
    keep = np.flatnonzero((dosages.mean(axis=0) > 0.2) & (variants.chrom != "X"))
    r2 = np.corrcoef(dosages[:, keep], rowvar=False) ** 2
    linked = variants.chrom[keep, None] == variants.chrom[keep]
    centimorgans = np.abs(variants.pos[keep, None] - variants.pos[keep]) / 1.5e6

    def mean_r2(low: float, high: float) -> float:
        return float(r2[linked & (centimorgans > low) & (centimorgans < high)].mean())

    near, middle, far = mean_r2(0, 1), mean_r2(3, 6), mean_r2(30, 100)
    assert near > 0.15
    assert near > 2 * middle
    assert middle > 2 * far
    assert r2[~linked].mean() < 0.03


def test_sibs_share_half_of_the_genome_beyond_others(dosages: np.ndarray, cohort: Cohort) -> None:
    autosomal = (cohort.variants.chrom != "X") & (np.ptp(dosages, axis=0) > 0)
    x = dosages[:, autosomal]
    x = (x - x.mean(axis=0)) / x.std(axis=0)
    relatedness = x @ x.T / x.shape[1]
    sibs = cohort.samples.fid[:, None] == cohort.samples.fid
    np.fill_diagonal(sibs, False)
    others = ~sibs & ~np.eye(400, dtype=bool)
    assert relatedness[sibs].mean() - relatedness[others].mean() == pytest.approx(0.5, abs=0.07)


def test_a_male_has_one_x(cohort: Cohort) -> None:
    on_x = cohort.variants.chrom == "X"
    assert not np.any(cohort.dosages[np.ix_(cohort.sex == 1, on_x)] == 1)
    assert np.mean(cohort.dosages[np.ix_(cohort.sex == 2, on_x)] == 1) > 0.2
    assert np.mean(cohort.dosages[np.ix_(cohort.sex == 1, ~on_x)] == 1) > 0.2


def test_sex_linked_descent() -> None:
    # The only carrier is the founder male, in the one copy that counts (the first of his pair).
    pool = np.array([[1], [0], [0], [0]], dtype=np.int8).repeat(50, axis=1)
    children = Generation(np.zeros(4, np.intp), np.ones(4, np.intp), np.array([True, False, True, False]))
    line = (founders(2), children)
    sites = np.linspace(0.01, 0.99, 50)
    x = gene_drop(line, pool, sites, 1.0, is_x=True, rng=np.random.default_rng(1))
    assert np.array_equal(x, np.array([[0], [1], [0], [1]]).repeat(50, axis=1))
    # A carrier dam: her sons have 0 or 2, her daughters 0 or 1.
    x = gene_drop(line, pool[::-1], sites, 1.0, is_x=True, rng=np.random.default_rng(1))
    assert set(np.unique(x[[0, 2]])) == {0, 2}
    assert set(np.unique(x[[1, 3]])) == {0, 1}


def test_homozygous_parents_breed_true() -> None:
    pool = np.array([[1], [1], [0], [0]], dtype=np.int8).repeat(20, axis=1)
    children = Generation(np.zeros(3, np.intp), np.ones(3, np.intp), np.zeros(3, bool))
    line = (founders(2), children)
    drop = gene_drop(line, pool, np.linspace(0, 1, 20), 1.0, is_x=False, rng=np.random.default_rng(1))
    assert (drop == 1).all()


def test_recombination_follows_haldane() -> None:
    # A sire with alleles 0 and 1 on his two haplotypes, a dam with 0: a dosage tells the sire's strand.
    n = 20_000
    distance = np.array([0.0, 0.05, 0.2, 0.5, 1.0])
    pool = np.array([[1], [0], [0], [0]], dtype=np.int8).repeat(5, axis=1)
    children = Generation(np.zeros(n, np.intp), np.ones(n, np.intp), np.zeros(n, bool))
    strand = gene_drop((founders(2), children), pool, distance, 1.0, is_x=False, rng=np.random.default_rng(3))
    assert strand.mean(axis=0) == pytest.approx(np.full(5, 0.5), abs=0.02)
    recombined = (strand != strand[:, :1]).mean(axis=0)
    assert recombined == pytest.approx((1 - np.exp(-2 * distance)) / 2, abs=0.015)


def test_breeders_never_mate_with_full_sibs() -> None:
    rng = np.random.default_rng(5)
    line = breed(8, 10, 60, rng)
    assert [len(born.male) for born in line] == [8] + [60] * 10
    for parents, born in itertools.pairwise(line):
        assert parents.male[born.sire].all()
        assert not parents.male[born.dam].any()
        couple = np.stack([born.sire, born.dam])
        same = parents.sire[couple[0]] == parents.sire[couple[1]]
        assert not np.any(same & (parents.dam[couple[0]] == parents.dam[couple[1]]))
    sires, dams = mate(line[-1], 90, rng)
    assert len(set(zip(sires, dams, strict=True))) == 90
    assert np.bincount(sires).max() == 3


def test_one_couple_breeds_when_nothing_else_can_be_done() -> None:
    cohort = simulate_cohort(CohortSettings(n_samples=9, n_variants=20, n_founders=2, n_breeders=2))
    assert set(cohort.samples.fid) == {"F001"}


def test_cages_hold_one_sex_and_some_mix_litters() -> None:
    rng = np.random.default_rng(7)
    litter = litters(2000, 6, rng)
    sizes = np.bincount(litter)
    # The last litter is cut to fit; 1 + Poisson(5) has mean 6 and variance 5.
    assert sizes[:-1].mean() == pytest.approx(6, abs=0.5)
    assert sizes[:-1].var() == pytest.approx(5, abs=1.5)
    male = rng.random(2000) < 0.5
    table = pd.DataFrame({"cage": house(litter, male, 4, rng), "litter": litter, "male": male})
    cages = table.groupby("cage")
    assert (cages.male.nunique() == 1).all()
    assert set(cages.size()) == {3, 4, 5}
    assert 0.15 < (cages.litter.nunique() > 1).mean() < 0.35
    assert (table.groupby("litter").cage.nunique() > 1).mean() > 0.5


@pytest.mark.parametrize("size", [2, 3, 6])
@pytest.mark.parametrize("n", [2, 3, 11, 60])
def test_every_animal_has_a_cage(n: int, size: int) -> None:
    rng = np.random.default_rng(n)
    male = rng.random(n) < 0.5
    cage = house(litters(n, 3, rng), male, size, rng)
    assert set(cage) == set(range(cage.max() + 1))
    assert all(len(set(male[cage == c])) == 1 for c in set(cage))
    assert np.bincount(cage).max() <= size + 1


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("n_samples", 1),
        ("n_variants", 0),
        ("n_chromosomes", 0),
        ("n_founders", 1),
        ("n_generations", 0),
        ("n_breeders", 1),
        ("family_size", 0),
        ("cage_size", 1),
        ("missing_rate", 1.0),
        ("missing_rate", float("nan")),
        ("chromosome_length_morgans", 0.0),
        ("bp_per_morgan", -1.0),
        ("bp_per_morgan", 100.0),
        ("seed", -1),
    ],
)
def test_cohort_settings_are_checked(name: str, value: float) -> None:
    with pytest.raises(SettingsError):
        CohortSettings(**{name: value})


def test_more_chromosomes_than_variants() -> None:
    cohort = simulate_cohort(CohortSettings(n_samples=5, n_variants=2, n_chromosomes=4))
    assert list(cohort.variants.chrom) == ["1", "2"]


# ------------------------------------------------------------------------------------------------- files


def test_files_hold_the_cohort(cohort: Cohort, tmp_path: Path) -> None:
    prefix = tmp_path / "new" / "my.cohort"
    written = write_cohort(cohort, prefix)
    assert [path.name for path in written] == [f"my.cohort.{s}" for s in ("bed", "bim", "fam", "groups.tsv")]
    assert sorted(prefix.parent.iterdir()) == sorted(written)
    source = open_plink(prefix)
    read = source.read(np.arange(400), np.arange(1500))
    assert np.array_equal(np.where(np.isnan(read), -127, read), cohort.dosages)
    for field in ("chrom", "id", "pos", "a1", "a2"):
        assert np.array_equal(getattr(source.variants, field), getattr(cohort.variants, field))
    groups = pd.read_csv(written[3], sep="\t", dtype=str)
    assert list(groups) == ["FID", "IID", "family", "sire", "dam", "cage", "sex"]
    assert list(groups.IID) == list(source.samples.iid)
    assert list(groups.cage) == list(cohort.cage)
    assert list(groups.sex.astype(int)) == list(source.samples.sex)


def test_plink2_counts_the_same_alleles(cohort: Cohort, tmp_path: Path) -> None:
    plink2 = shutil.which("plink2")
    if plink2 is None:
        pytest.skip("plink2 is not installed")
    write_cohort(cohort, tmp_path / "c")
    command = [plink2, "--bfile", "c", "--freq", "counts", "--threads", "1", "--memory", "640", "--out", "f"]
    subprocess.run(command, cwd=tmp_path, check=True, capture_output=True)
    table = pd.read_csv(tmp_path / "f.acount", sep="\t", dtype={"#CHROM": str})
    calls = cohort.dosages != -127
    # plink2 counts one X in a male.
    on_x = cohort.variants.chrom == "X"
    weight = np.where((cohort.sex == 1)[:, None] & on_x, 0.5, 1.0)
    assert np.array_equal(table["OBS_CT"], (2 * calls * weight).sum(axis=0))
    assert np.array_equal(table["ALT_CTS"], (cohort.dosages * calls * weight).sum(axis=0))
    assert list(table["ALT"]) == list(cohort.variants.a1)


def test_a_place_that_cannot_be_written(cohort: Cohort, dosages: np.ndarray, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(OutputError, match="cannot be written"):
        write_cohort(cohort, tmp_path / "file" / "c")
    trait = simulate_trait(dosages, cohort.variants, None, TraitSettings())
    with pytest.raises(OutputError, match="cannot be written"):
        write_trait(trait, cohort.samples, tmp_path / "file" / "c")


# ------------------------------------------------------------------------------------------------- trait

FULL = TraitSettings(
    n_causal=6,
    variance_explained=0.5,
    additive_share=0.7,
    structure_share=0.2,
    cage_share=0.1,
    name="weight",
    seed=4,
)
ASKED = {"additive": 0.35, "interaction": 0.15, "structure": 0.1, "cage": 0.1, "noise": 0.3}


def test_mean_imputation_by_hand() -> None:
    raw = [[0, np.nan, np.nan], [1, 2, np.nan], [np.nan, 1, np.nan]]
    filled = mean_imputed(from_array(raw))
    assert np.array_equal(filled, [[0, 1.5, 0], [1, 2, 0], [0.5, 1, 0]])


def test_orthogonal_shares_are_exact(dosages: np.ndarray, cohort: Cohort) -> None:
    trait = simulate_trait(dosages, cohort.variants, cohort.cage, dataclasses.replace(FULL, orthogonal=True))
    assert trait.phenotype.mean() == pytest.approx(0, abs=1e-12)
    assert np.var(trait.phenotype, ddof=1) == pytest.approx(1, abs=1e-12)
    for term, share in ASKED.items():
        assert np.var(trait.components[term], ddof=1) == pytest.approx(share, abs=1e-12)
        assert trait.shares[term] == pytest.approx(share, abs=1e-12)
    covariance = np.cov(trait.components.to_numpy(), rowvar=False)
    assert np.abs(covariance - np.diag(np.diag(covariance))).max() < 1e-12


def test_realised_shares_without_orthogonal_terms(dosages: np.ndarray, cohort: Cohort) -> None:
    trait = simulate_trait(dosages, cohort.variants, cohort.cage, FULL)
    total = trait.components.sum(axis=1).to_numpy()
    assert np.allclose(total, trait.phenotype, rtol=0, atol=1e-14)
    assert np.var(total, ddof=1) == pytest.approx(1, abs=1e-12)
    # The terms keep the proportions asked, whatever their covariances.
    scale = trait.shares["noise"] / ASKED["noise"]
    assert scale != pytest.approx(1, abs=1e-3)
    for term, share in ASKED.items():
        assert trait.shares[term] == pytest.approx(scale * share, rel=1e-12)
    for a, b in itertools.combinations(ASKED, 2):
        covariance = np.mean(trait.components[a] * trait.components[b]) * 400 / 399
        assert trait.shares[f"{a}+{b}"] == pytest.approx(2 * covariance, abs=1e-12)
    assert sum(trait.shares.values()) == pytest.approx(1, abs=1e-12)


@pytest.mark.parametrize("orthogonal", [False, True])
def test_the_truth_table_rebuilds_the_trait(
    orthogonal: bool, dosages: np.ndarray, cohort: Cohort, tmp_path: Path
) -> None:
    settings = dataclasses.replace(FULL, orthogonal=orthogonal)
    trait = simulate_trait(dosages, cohort.variants, cohort.cage, settings)
    pheno, truth = write_trait(trait, cohort.samples, tmp_path / "t")
    assert (pheno.name, truth.name) == ("t.weight.pheno.tsv", "t.weight.truth.tsv")
    written = pd.read_csv(pheno, sep="\t", dtype={"weight": str}).astype({"weight": float})
    assert list(written) == ["FID", "IID", "weight"]
    assert list(written.IID) == list(cohort.samples.iid)
    table = pd.read_csv(truth, sep="\t", dtype={"chrom": str, "effect": str, "share": str})
    table = table.astype({"effect": float, "share": float})
    assert table.role.value_counts().to_dict() == {
        "additive": 6, "interaction": 15, "variance": 5, "covariance": 10
    }  # fmt: skip
    column = {name: dosages[:, k] for k, name in enumerate(cohort.variants.id)}

    def standard(name: str) -> np.ndarray:
        x = column[name] - column[name].mean()
        return x / np.sqrt(np.sum(x**2) / 399)

    rebuilt = trait.components[["structure", "cage", "noise"]].to_numpy().sum(axis=1)
    for row in table[table.role == "additive"].itertuples():
        rebuilt += standard(row.id) * row.effect
        at = list(cohort.variants.id).index(row.id)
        assert (row.chrom, row.pos, row.a1) == (
            cohort.variants.chrom[at], cohort.variants.pos[at], cohort.variants.a1[at]
        )  # fmt: skip
    for row in table[table.role == "interaction"].itertuples():
        product = standard(row.id) * standard(row.id2)
        rebuilt += (product - product.mean()) * row.effect
    assert np.abs(rebuilt - written.weight).max() < 1e-12
    shares = table[table.role.isin(["variance", "covariance"])]
    assert dict(zip(shares.id, shares.share, strict=True)) == trait.shares


def test_structure_lies_in_the_components_and_cages_share_theirs(dosages: np.ndarray, cohort: Cohort) -> None:
    trait = simulate_trait(dosages, cohort.variants, cohort.cage, FULL)
    x = dosages[:, np.ptp(dosages, axis=0) > 0]
    x = (x - x.mean(axis=0)) / x.std(axis=0, ddof=1)
    top = np.linalg.svd(x, full_matrices=False)[0][:, :10]
    structure = trait.components["structure"].to_numpy()
    assert np.allclose(top @ (top.T @ structure), structure, rtol=0, atol=1e-9)
    assert (np.abs(top.T @ structure) > 1e-3).all()
    cage = trait.components["cage"].groupby(np.asarray(cohort.cage))
    assert cage.std().fillna(0).max() < 1e-12
    assert cage.first().nunique() == len(set(cohort.cage))


def test_causal_variants_are_common_and_where_they_may_be(dosages: np.ndarray, cohort: Cohort) -> None:
    settings = TraitSettings(n_causal=200, additive_share=1.0, avoid_chromosomes=("2", "X"))
    causal = simulate_trait(dosages, cohort.variants, None, settings).causal
    frequency = dosages[:, causal].mean(axis=0) / 2
    assert len(set(causal)) == 200
    assert np.minimum(frequency, 1 - frequency).min() >= 0.05
    assert set(cohort.variants.chrom[causal]) == {"1", "3", "4", "5"}


def test_infinitesimal(dosages: np.ndarray, cohort: Cohort) -> None:
    settings = TraitSettings(infinitesimal=True, variance_explained=0.4, orthogonal=True)
    trait = simulate_trait(dosages, cohort.variants, None, settings)
    assert list(trait.causal) == list(np.flatnonzero([len(set(column)) > 1 for column in dosages.T]))
    assert trait.shares["additive"] == pytest.approx(0.4, abs=1e-12)
    assert trait.shares["interaction"] == 0
    effects = trait.truth.effect[trait.truth.role == "additive"].to_numpy()
    assert len(effects) == len(trait.causal)
    # Normal effects: kurtosis 3, sd of the estimate over 1,400 about .13.
    z = (effects - effects.mean()) / effects.std()
    assert np.mean(z**4) == pytest.approx(3, abs=0.6)


def test_trait_seeds(dosages: np.ndarray, cohort: Cohort) -> None:
    def draw(**changes: object) -> np.ndarray:
        settings = dataclasses.replace(FULL, **changes)
        return simulate_trait(dosages, cohort.variants, cohort.cage, settings).components.to_numpy()

    assert np.array_equal(draw(), draw())
    assert not np.allclose(draw(), draw(seed=5))
    # Each term has its own stream: less additive variance leaves the noise's direction alone.
    noise, other = draw()[:, 4], draw(variance_explained=0.2)[:, 4]
    assert np.corrcoef(noise, other)[0, 1] == pytest.approx(1, abs=1e-12)


def test_no_genetic_variance(dosages: np.ndarray, cohort: Cohort) -> None:
    trait = simulate_trait(dosages, cohort.variants, None, TraitSettings(variance_explained=0.0))
    assert len(trait.causal) == 0
    assert np.array_equal(trait.components["noise"], trait.phenotype)
    assert set(trait.truth.role) == {"variance"}


def test_pure_interaction_names_its_variants(dosages: np.ndarray, cohort: Cohort) -> None:
    trait = simulate_trait(dosages, cohort.variants, None, TraitSettings(additive_share=0.0, n_causal=3))
    roles = trait.truth.groupby("role").effect
    assert list(roles.get_group("additive")) == [0, 0, 0]
    assert (roles.get_group("interaction") != 0).all()


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"variance_explained": 1.1}, "1.1 is not a share"),
        ({"additive_share": float("nan")}, "nan is not a share"),
        ({"cage_share": 0.5}, "add up to 1.1"),
        ({"n_causal": 0}, "0 is too small"),
        ({"n_causal": 1}, "no pair"),
        ({"name": "body weight"}, "body weight"),
        ({"name": "IID"}, "IID"),
        ({"name": "a/b"}, "a/b"),
        ({"name": ""}, "cannot name"),
    ],
)
def test_trait_settings_are_checked(changes: dict[str, object], says: str) -> None:
    with pytest.raises(SettingsError, match=says):
        TraitSettings(**changes)


def test_traits_that_cannot_be(dosages: np.ndarray, cohort: Cohort) -> None:
    variants = cohort.variants
    frequency = dosages.mean(axis=0) / 2
    common = int(np.sum(np.minimum(frequency, 1 - frequency) >= 0.05))
    with pytest.raises(SettingsError, match=f"1400 causal variants asked, but only {common} of 1500"):
        simulate_trait(dosages, variants, None, TraitSettings(n_causal=1400, additive_share=1.0))
    with pytest.raises(SettingsError, match="no variants on chromosome 7"):
        simulate_trait(dosages, variants, None, TraitSettings(avoid_chromosomes=("7",)))
    with pytest.raises(SettingsError, match="no cages are known"):
        simulate_trait(dosages, variants, None, TraitSettings(cage_share=0.1))
    one = np.full(400, "C1", dtype=object)
    with pytest.raises(SettingsError, match=r"cage term.* cannot vary"):
        simulate_trait(dosages, variants, one, TraitSettings(cage_share=0.1))
    with pytest.raises(SettingsError, match=r"interaction term.* apart from the 1 term"):
        simulate_trait(dosages, variants, None, TraitSettings(n_causal=2, orthogonal=True))
    with pytest.raises(InputError, match="3 cages given for 400 samples"):
        simulate_trait(dosages, variants, cohort.cage[:3], TraitSettings())
    one[:2] = [None, np.nan]
    with pytest.raises(InputError, match="2 of 400 samples have no cage"):
        simulate_trait(dosages, variants, one, TraitSettings(cage_share=0.1))
    with pytest.raises(InputError, match="do not fit 1500 variants"):
        simulate_trait(dosages[:, :9], variants, None, TraitSettings())
    gap = dosages.copy()
    gap[5, 3] = np.nan
    with pytest.raises(InputError, match="1 of 1500 variants have missing dosages"):
        simulate_trait(gap, variants, None, TraitSettings())
    with pytest.raises(InputError, match="not standardised"):
        simulate_trait(dosages - 1, variants, None, TraitSettings())


# -------------------------------------------------------------------------------------------- data_samples


@pytest.fixture(scope="module")
def samples_made_twice(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    script = REPOSITORY / "scripts" / "make_data_samples.py"
    if not script.is_file():
        pytest.skip("scripts/make_data_samples.py is not in this distribution")
    spec = importlib.util.spec_from_file_location("make_data_samples", script)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    folders = tmp_path_factory.mktemp("one"), tmp_path_factory.mktemp("two")
    for folder in folders:
        module.main(folder)
    return folders


def test_sample_data_come_out_the_same_twice(samples_made_twice: tuple[Path, Path]) -> None:
    digests = [
        {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in folder.iterdir()}
        for folder in samples_made_twice
    ]
    assert digests[0] == digests[1]
    assert len(digests[0]) == 8
    assert sum(path.stat().st_size for path in samples_made_twice[0].iterdir()) < 3e6


def test_the_stored_sample_data_are_what_the_script_makes(samples_made_twice: tuple[Path, Path]) -> None:
    made = samples_made_twice[0]
    for suffix in ("bed", "bim", "fam", "groups.tsv", "covar.tsv"):
        stored = REPOSITORY / "data_samples" / f"mice.{suffix}"
        assert stored.read_bytes() == (made / stored.name).read_bytes(), f"run the script again: {stored.name}"


def test_sample_weight_follows_its_readme(samples_made_twice: tuple[Path, Path]) -> None:
    prefix = samples_made_twice[0] / "mice"
    pheno, covar, truth = (
        pd.read_csv(f"{prefix}.{name}.tsv", sep="\t", dtype={"chrom": str}) for name in ("pheno", "covar", "truth")
    )
    assert (pheno.weight.isna().sum(), pheno.marker.isna().sum()) == (12, 7)
    t = (pheno.weight - 24 - 2.5 * (covar.sex == 1) - 0.06 * (covar.age - 77)) / 3
    assert t.std() == pytest.approx(1, abs=0.03)
    x = mean_imputed(open_plink(prefix))
    ids = list(open_plink(prefix).variants.id)
    additive = np.zeros(len(t))
    for row in truth[(truth.trait == "weight") & (truth.role == "additive")].itertuples():
        column = x[:, ids.index(row.id)]
        additive += row.effect * (column - column.mean()) / column.std(ddof=1)
    # The additive share of the variance is .385, so this correlation is its root (12 animals are missing).
    assert np.corrcoef(additive[t.notna()], t.dropna())[0, 1] == pytest.approx(0.385**0.5, abs=0.02)
