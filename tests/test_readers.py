"""BGEN and PGEN against plink2 and the values that were written: dosages, counted allele, names, scores."""

from __future__ import annotations

import warnings
from pathlib import Path

import bgen
import numpy as np
import pandas as pd
import pytest
from reader_files import everything, run

from goalscli.dataset import Columns, Treatment, assemble
from goalscli.genotypes.bgen import open_bgen
from goalscli.genotypes.common import objects
from goalscli.genotypes.pgen import open_pgen
from goalscli.genotypes.plink import open_plink, write_plink
from goalscli.genotypes.source import Samples, Variants
from goalscli.models.exact import ExactGP
from goalscli.qc import Filters
from goalscli.scanning import scan
from goalscli.scores.goals import Goals

N, J, N_X = 41, 70, 12
BITS = (1, 8, 11, 16)  # the most that plink2 writes


def assert_same_names(left, right, samples: bool = True) -> None:
    for field in ("chrom", "id", "pos", "a1", "a2"):
        assert np.array_equal(getattr(left.variants, field), getattr(right.variants, field)), field
    for field in ("fid", "iid", "sex") if samples else ():
        assert np.array_equal(getattr(left.samples, field), getattr(right.samples, field)), field


@pytest.fixture(scope="module")
def calls(tmp_path_factory) -> Path:
    """Hard calls with missing ones; the last variants are on X, where males (odd rows) have one copy."""
    folder = tmp_path_factory.mktemp("calls")
    rng = np.random.default_rng(11)
    x = rng.binomial(2, rng.uniform(0.1, 0.9, J), (N, J)).astype(np.int8)
    x[1::2, -N_X:] = 2 * (x[1::2, -N_X:] > 0)
    x[rng.random((N, J)) < 0.05] = -127
    x[:, 3], x[:, 4], x[:, 5] = 0, 2, -127
    iid = [f"{i:03d}" for i in range(N - 1)] + ["1"]
    samples = Samples(
        objects([f"F{i // 3}" for i in range(N)]),
        objects(iid),
        (2 - np.arange(N) % 2).astype(np.int8),
        objects(["-9"] * N),
    )
    a1, a2 = (objects([letters[j % 4] for j in range(J)]) for letters in (("A", "C", "G", "TTG"), ("G", "T", "A", "T")))
    chrom = objects(["1"] * (J - N_X) + ["X"] * N_X)
    pos = 50_000_000 + 1000 * np.arange(J)
    write_plink(folder / "d", x, samples, Variants(chrom, objects([f"rs{j}" for j in range(J)]), pos, a1, a2))
    run("plink2", folder, "--bfile", "d", "--make-pgen", "--out", "d")
    for bits in BITS:
        for mode in ("ref-first", ""):
            for version in ("1.2", "1.3"):
                out = f"v{version}-{bits}{mode}"
                args = ["--export", f"bgen-{version}", f"bits={bits}", *mode.split(), "--out", out]
                run("plink2", folder, "--bfile", "d", *args)
    run("plink2", folder, "--bfile", "d", "--export", "A", "--out", "d")
    run("plink2", folder, "--bfile", "d", "--freq", "--out", "d")
    return folder


def exported(path: Path, a1: np.ndarray) -> np.ndarray:
    """Copies of a1 from plink2's --export A; each column's suffix names the allele that it counts."""
    table = pd.read_csv(path, sep=r"\s+").iloc[:, 6:]
    counted = np.array([name.rsplit("_", 1)[1] for name in table.columns])
    return np.where(counted == a1, table.to_numpy(float), 2 - table.to_numpy(float))


def readers(folder: Path):
    """Every form of the same hard calls: (name, source)."""
    yield "pgen", open_pgen(folder / "d")
    yield "pgen file", open_pgen(folder / "d.pgen", pvar=folder / "d.bim", psam=folder / "d.fam")
    yield "bed as pgen", open_pgen(pgen=folder / "d.bed", pvar=folder / "d.bim", psam=folder / "d.fam")
    for bits in BITS:
        for mode in ("ref-first", ""):
            for version in ("1.2", "1.3"):
                path = folder / f"v{version}-{bits}{mode}"
                sample = path.with_name(f"{path.name}.sample")
                yield path.name, open_bgen(f"{path}.bgen", sample=sample, ref_first=bool(mode))


def test_hard_calls_are_those_of_the_bed_and_of_plink2(calls):
    bed = open_plink(calls / "d")
    truth = everything(bed)
    assert np.array_equal(truth, exported(calls / "d.raw", bed.variants.a1).astype(np.float32), equal_nan=True)
    freq = pd.read_csv(calls / "d.afreq", sep="\t", na_values="nan")
    assert np.array_equal(freq["ALT"], bed.variants.a1)
    for name, source in readers(calls):
        got = everything(source)
        assert got.dtype == np.float32, name
        assert got.flags.f_contiguous, name
        assert np.array_equal(got, truth, equal_nan=True), name
        assert_same_names(source, bed)
        # On X, plink2 counts a male once.
        mean = np.nanmean(got[:, : J - N_X][:, np.arange(J - N_X) != 5], axis=0) / 2
        told = freq["ALT_FREQS"].to_numpy()[: J - N_X][np.arange(J - N_X) != 5]
        np.testing.assert_allclose(mean, told, rtol=1e-5, atol=1e-9)
    assert len(list(readers(calls))) == 3 + 2 * 2 * len(BITS)


def test_any_samples_and_variants_in_any_order(calls):
    truth = everything(open_plink(calls / "d"))
    rng = np.random.default_rng(2)
    for name, source in readers(calls):
        for rows, columns in (
            (rng.permutation(N)[:7], rng.permutation(J)[:9]),
            (rng.permutation(N), rng.permutation(J)),
            (np.array([4, 4, 0]), np.array([6, 2, 2])),
            (np.arange(N), np.array([], dtype=np.intp)),
            (np.array([], dtype=np.intp), np.arange(3)),
        ):
            got = source.read(rows, columns)
            assert got.shape == (len(rows), len(columns))
            assert np.array_equal(got, truth[np.ix_(rows, columns)], equal_nan=True), name


def test_ids_inside_the_bgen(calls):
    source = open_bgen(calls / "v1.2-8.bgen")
    bed = open_plink(calls / "d")
    assert list(source.samples.fid) == ["0"] * N
    assert list(source.samples.iid) == [f"{f}_{i}" for f, i in zip(bed.samples.fid, bed.samples.iid, strict=True)]


@pytest.fixture(scope="module")
def imputed(tmp_path_factory) -> tuple[Path, np.ndarray]:
    """Dosages of ALT through a VCF; variants alternate between phased and unphased calls."""
    folder = tmp_path_factory.mktemp("imputed")
    rng = np.random.default_rng(5)
    n, j = 23, 40
    calls = rng.binomial(1, 0.4, (n, j, 2))
    dosage = np.clip(calls.sum(axis=2) + rng.uniform(-0.45, 0.45, (n, j)), 0, 2).round(4)
    missing = rng.random((n, j)) < 0.05
    head = ["##fileformat=VCFv4.2", "##contig=<ID=7>", '##FORMAT=<ID=GT,Number=1,Type=String,Description="calls">',
            '##FORMAT=<ID=DS,Number=1,Type=Float,Description="dosage">']  # fmt: skip
    columns = ["#CHROM", "POS", "ID", "REF", "ALT", "QUAL", "FILTER", "INFO", "FORMAT", *(f"s{i}" for i in range(n))]
    rows = ["\t".join(columns)]
    for k in range(j):
        bar = "|/"[k % 2]
        pairs = (sorted(c) if k % 2 else c for c in calls[:, k].tolist())
        cells = [f"{a}{bar}{b}:{d}" for (a, b), d in zip(pairs, dosage[:, k], strict=True)]
        cells = ["./.:." if gone else cell for cell, gone in zip(cells, missing[:, k], strict=True)]
        rows.append("\t".join(["7", str(100 + k), f"v{k}", "A", "C", ".", ".", ".", "GT:DS", *cells]))
    (folder / "d.vcf").write_text("\n".join(head + rows) + "\n")
    run("plink2", folder, "--vcf", "d.vcf", "dosage=DS", "--make-pgen", "--out", "d")
    for bits in BITS:
        for mode in ("", "ref-first"):
            args = ["--export", "bgen-1.3", f"bits={bits}", *mode.split(), "--out", f"d{bits}{mode}"]
            run("plink2", folder, "--pfile", "d", *args)
    run("plink2", folder, "--pfile", "d", "--export", "A", "--out", "d")
    run("plink2", folder, "--pfile", "d", "--freq", "--out", "d")
    return folder, np.where(missing, np.nan, dosage)


def test_imputed_dosages_of_a_pgen(imputed):
    folder, dosage = imputed
    source = open_pgen(folder / "d")
    got = everything(source)
    assert set(source.variants.a1) == {"C"}
    np.testing.assert_allclose(got, dosage, atol=1 / 32768 + 1e-6)
    # plink2 prints as few digits as tell its steps of 1/16384 apart.
    np.testing.assert_allclose(got, exported(folder / "d.raw", source.variants.a1), atol=1 / 32768 + 1e-6)
    freq = pd.read_csv(folder / "d.afreq", sep="\t")
    np.testing.assert_allclose(np.nanmean(got, axis=0) / 2, freq["ALT_FREQS"], rtol=1e-4)


def _loaded(path: Path):
    for variant in bgen.BgenReader(str(path)):
        assert variant.probabilities is not None
        yield variant


@pytest.mark.parametrize("mode", ["", "ref-first"])
@pytest.mark.parametrize(("bits", "tolerance"), [(8, 1e-2), (11, 2e-3), (16, 1e-4)])
def test_imputed_dosages_of_a_bgen(imputed, bits, tolerance, mode):
    folder, dosage = imputed
    source = open_bgen(folder / f"d{bits}{mode}.bgen", sample=folder / f"d{bits}{mode}.sample", ref_first=bool(mode))
    assert set(source.variants.a1) == {"C"}
    got = everything(source)
    told = [variant.is_phased for variant in _loaded(folder / f"d{bits}{mode}.bgen")]
    assert told == [True, False] * (len(told) // 2)
    assert np.array_equal(np.isnan(got), np.isnan(dosage))
    np.testing.assert_allclose(got, dosage, atol=tolerance)


@pytest.mark.parametrize("compression", [None, "zlib", "zstd"])
@pytest.mark.parametrize("bits", [1, 2, 3, 7, 8, 11, 16, 24, 31, 32])
def test_phased_and_unphased_in_one_file(tmp_path, bits, compression):
    """At any number of bits, with one, two and no copies; the stored numbers are computed here from the format."""
    writer = bgen.BgenWriter
    rng = np.random.default_rng(bits)
    n, top = 29, 2**bits - 1
    whole = rng.dirichlet(np.ones(3), n)
    whole[:4] = [[1, 0, 0], [0, 1, 0], [0, 0, 1], [0, 0, 1]]
    first, second = rng.random((2, n))
    haplotypes = np.stack([first, 1 - first, second, 1 - second], axis=1)
    ploidy = np.where(np.arange(n) % 2, 2, 1).astype(np.uint8)
    mixed = whole.copy()
    mixed[ploidy == 1] = np.stack([first, 1 - first, np.full(n, np.nan)], axis=1)[ploidy == 1]
    gone = np.zeros(n, dtype=bool)
    gone[[6, 17]] = True
    for table in (whole, haplotypes, mixed):
        table[gone] = np.nan
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of coarse bits
        with writer(tmp_path / "m.bgen", n, [f"s{i}" for i in range(n)], compression=compression) as out:
            out.add_variant("a", "unphased", "1", 10, ["A", "G"], whole, bit_depth=bits)
            out.add_variant("b", "phased", "1", 11, ["A", "G"], haplotypes, phased=True, bit_depth=bits)
            out.add_variant("c", "", "X", 12, ["A", "G"], mixed, ploidy=ploidy, bit_depth=bits)
    truth = np.stack(
        [2 * whole[:, 0] + whole[:, 1], first + second, np.where(ploidy == 1, 2 * first, 2 * mixed[:, 0] + mixed[:, 1])]
    ).T
    truth[gone] = np.nan
    source = open_bgen(tmp_path / "m.bgen")
    assert list(source.variants.id) == ["unphased", "phased", "c"]
    got = everything(source)
    np.testing.assert_allclose(got, truth, atol=2.01 / top + 3e-7)
    assert np.array_equal(got[:4, 0], [2, 1, 0, 0])
    assert np.nanmin(got) >= 0
    assert np.nanmax(got) <= 2
    other = open_bgen(tmp_path / "m.bgen", ref_first=True)
    assert (set(source.variants.a1), set(other.variants.a1)) == ({"A"}, {"G"})
    np.testing.assert_allclose(everything(other), 2 - got, atol=3e-7)


def scores(source, seed: int = 0) -> dict[str, np.ndarray]:
    n = len(source.samples)
    y = np.random.default_rng(seed).normal(size=n)
    columns = Columns(y, [], source.samples.fid, objects([""] * n), "trait")
    dataset = assemble(source, columns, Filters(maf=0.05), Treatment(), intercept=True)
    posterior = ExactGP(signal=1.3, noise=0.7).fit(dataset)
    found = scan(posterior.with_precision("double"), dataset, [Goals()], threads=1).columns
    return {"a1": dataset.variants.a1, "a1_freq": dataset.variants.a1_freq, **found}


def test_same_scores_from_every_form(calls):
    wanted = scores(open_plink(calls / "d"))
    assert len(wanted["a1"]) > 50
    for name, source in readers(calls):
        got = scores(source)
        assert got.keys() == wanted.keys()
        for column, values in wanted.items():
            assert np.array_equal(got[column], values), (name, column)


def test_mice_from_bed_and_bgen(mice):
    bed = open_plink(mice / "hs1814")
    bgen = open_bgen(mice / "hs1814_chr17.bgen", sample=mice / "hs1814_chr17.sample", ref_first=True)
    on_17 = np.flatnonzero(bed.variants.chrom == "17")
    everyone = np.arange(len(bed.samples))
    assert np.array_equal(bgen.samples.iid, bed.samples.iid)
    assert np.array_equal(bgen.samples.fid, bed.samples.fid)
    for field in ("id", "a1", "a2", "pos"):
        assert np.array_equal(getattr(bgen.variants, field), getattr(bed.variants, field)[on_17]), field
    from_bed = bed.read(everyone, on_17)
    np.testing.assert_allclose(everything(bgen), from_bed, atol=1e-4)
    some = np.arange(0, len(everyone), 4)

    class Part:
        """A quarter of the mice, chromosome 17 alone."""

        def __init__(self, source, variants):
            self.source, self.chosen = source, variants
            take = lambda table, rows: type(table)(*(getattr(table, f)[rows] for f in table.__dataclass_fields__))  # noqa: E731
            self.samples, self.variants = take(source.samples, some), take(source.variants, variants)

        def read(self, samples, variants):
            return self.source.read(some[samples], self.chosen[variants])

    left, right = (scores(Part(s, v)) for s, v in ((bed, on_17), (bgen, np.arange(len(on_17)))))
    for name in ("goals/score", "goals/sd", "goals/z"):
        np.testing.assert_allclose(right[name], left[name], rtol=0, atol=1e-6 * np.abs(left[name]).max())
    assert np.array_equal(left["a1"], right["a1"])
