"""Genotypes handed over by pysnptools are those of the file."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from pysnptools.distreader import DistData, DistHdf5, DistMemMap, DistNpz
from pysnptools.snpreader import Bed, SnpData, SnpHdf5, SnpMemMap, SnpNpz
from pysnptools.standardizer import Beta, Unit
from test_qc import write_odd_set

import goalscli
from goalscli.errors import InputError
from goalscli.genotypes.plink import open_plink


def test_bed_and_snpdata(tmp_path):
    dosages = write_odd_set(tmp_path / "odd", 33)
    ours = open_plink(tmp_path / "odd")
    reader = Bed(str(tmp_path / "odd.bed"), count_A1=True)
    rows, columns = np.array([3, 0, 32]), np.array([0, 1, 5, 59])
    for given in (reader, reader.read()):
        source = goalscli.from_snpreader(given)
        assert list(source.samples.iid) == list(ours.samples.iid)
        assert list(source.variants.id) == list(ours.variants.id)
        assert list(source.variants.chrom) == list(ours.variants.chrom)
        assert np.array_equal(source.variants.pos, ours.variants.pos)
        block = source.read(rows, columns)
        assert block.flags.f_contiguous
        assert block.dtype == np.float32
        assert np.array_equal(block, ours.read(rows, columns), equal_nan=True)
    assert np.array_equal(np.nan_to_num(block, nan=-127).astype(int), dosages[np.ix_(rows, columns)])


def test_what_is_no_snpreader_or_no_dosage():
    with pytest.raises(InputError, match="not a SnpReader"):
        goalscli.from_snpreader(np.zeros((2, 2)))
    data = SnpData(iid=[["f", "a"], ["f", "b"]], sid=["s"], val=[[-1.2], [0.7]])
    with pytest.raises(InputError, match=r"outside \[0, 2\]"):
        goalscli.from_snpreader(data).read(np.arange(2), np.arange(1))


IIDS = [["f", "a"], ["f", "b"], ["g", "001"], ["g", "1"]]
SIDS = ["x", "y", "z"]
POS = [[1, 0, 10], [23, 0, 3_000_000_000], [np.nan] * 3]
VALUES = np.array([[0, 1, 2.0], [np.nan, 2, 0], [1, 1, 0], [2, 0, 1.25]])
ROWS, COLUMNS = np.array([3, 0, 2]), np.array([2, 0])


def snpdata(val: np.ndarray = VALUES, pos: object = POS, iid: object = IIDS) -> SnpData:
    return SnpData(iid=iid, sid=SIDS, val=val, pos=pos)


def distribution() -> np.ndarray:
    """Probabilities of 0, 1 and 2 copies."""
    out = np.random.default_rng(5).dirichlet(np.ones(3), (4, 3))
    out[2, 1] = np.nan
    out[0, :2] = [[0, 0, 1], [1, 0, 0]]
    return out


def distdata(val: np.ndarray) -> DistData:
    return DistData(iid=IIDS, sid=SIDS, val=val, pos=POS)


def stored(kind: type, data: SnpData | DistData, folder: Path) -> object:
    # np.savez gives every name this ending.
    path = str(folder / ("d.npz" if kind.__name__.endswith("Npz") else "d.x"))
    kind.write(path, data)
    return kind(path)


@pytest.mark.parametrize("kind", [SnpHdf5, SnpNpz, SnpMemMap])
def test_stored_dosages(kind: type, tmp_path: Path):
    source = goalscli.from_snpreader(stored(kind, snpdata(), tmp_path))
    assert list(source.samples.fid) == ["f", "f", "g", "g"]
    assert list(source.samples.iid) == ["a", "b", "001", "1"]
    assert list(source.variants.id) == SIDS
    assert list(source.variants.chrom) == ["1", "23", "0"]
    assert list(source.variants.pos) == [10, 3_000_000_000, 0]
    block = source.read(ROWS, COLUMNS)
    assert (block.dtype, block.flags.f_contiguous) == (np.float32, True)
    assert np.array_equal(block, VALUES[np.ix_(ROWS, COLUMNS)], equal_nan=True)


@pytest.mark.parametrize("kind", [DistHdf5, DistNpz, DistMemMap, None])
def test_expected_dosage_of_a_distribution(kind: type | None, tmp_path: Path):
    data = distdata(distribution())
    reader = data if kind is None else stored(kind, data, tmp_path)
    truth = distribution() @ [0, 1, 2]
    source = goalscli.from_snpreader(reader)
    block = source.read(ROWS, COLUMNS)
    assert (block.dtype, block.flags.f_contiguous) == (np.float32, True)
    np.testing.assert_allclose(block, truth[np.ix_(ROWS, COLUMNS)], atol=1e-6)
    everything = np.arange(4), np.arange(3)
    np.testing.assert_allclose(source.read(*everything), truth, atol=1e-6)
    # pysnptools' own expectation.
    np.testing.assert_allclose(goalscli.from_snpreader(reader.as_snp(max_weight=2)).read(*everything), truth, atol=1e-6)
    cut = goalscli.from_snpreader(reader[[2, 0], ::-1])
    assert list(cut.samples.iid) == ["001", "a"]
    assert list(cut.variants.id) == SIDS[::-1]
    np.testing.assert_allclose(cut.read(np.arange(2), np.arange(3)), truth[[2, 0], ::-1], atol=1e-6)


@pytest.mark.parametrize("wrong", ["sum", "negative", "infinite"])
def test_what_is_no_distribution(wrong: str):
    val = distribution()
    val[1, 1] = {"sum": [0.5, 0.5, 0.5], "negative": [-0.5, 1, 0.5], "infinite": [np.inf, 0, 0]}[wrong]
    with pytest.raises(InputError, match="1 genotypes have probabilities"):
        goalscli.from_snpreader(distdata(val)).read(np.arange(4), np.arange(3))


@pytest.mark.parametrize("count_a1", [True, False])
def test_counted_allele_and_subsets_of_a_bed(count_a1: bool, tmp_path: Path):
    write_odd_set(tmp_path / "odd", 33)
    ours = open_plink(tmp_path / "odd")
    reader = Bed(str(tmp_path / "odd.bed"), count_A1=count_a1)
    rows, columns = np.array([30, 2, 17, 4]), np.array([59, 0, 33])
    cut = goalscli.from_snpreader(reader[rows, :][:, columns])
    assert list(cut.samples.iid) == list(ours.samples.iid[rows])
    assert list(cut.variants.id) == list(ours.variants.id[columns])
    a1 = ours.read(rows, columns)
    again = np.array([3, 1]), np.array([2, 0, 1])
    expected = (a1 if count_a1 else 2 - a1)[np.ix_(*again)]
    assert np.array_equal(cut.read(*again), expected, equal_nan=True)
    # Whichever is counted, the reader knows no alleles.
    assert (set(cut.variants.a1), set(cut.variants.a2)) == ({"counted"}, {"other"})


def test_a_dataset_of_a_reader_is_that_of_the_file(tmp_path: Path):
    write_odd_set(tmp_path / "odd", 33)
    y = np.random.default_rng(2).normal(size=33)
    reader = Bed(str(tmp_path / "odd.bed"), count_A1=True)
    options = {"filters": goalscli.Filters(maf=0.01, geno=0.5, mind=0.9)}
    ours = goalscli.make_dataset(open_plink(tmp_path / "odd"), y, **options)
    theirs = goalscli.make_dataset(goalscli.from_snpreader(reader), y, **options)
    assert np.array_equal(ours.variants.a1_freq, theirs.variants.a1_freq)
    assert np.array_equal(ours.variants.mean, theirs.variants.mean)
    assert list(ours.samples.iid) == list(theirs.samples.iid)


@pytest.mark.parametrize("standardizer", [Unit(), Beta(1, 25)], ids=["unit", "beta"])
@pytest.mark.parametrize("stored_as", [None, SnpHdf5, SnpNpz, SnpMemMap])
def test_standardised_readers_are_refused(standardizer: object, stored_as: type | None, tmp_path: Path):
    data = snpdata(VALUES.copy()).standardize(standardizer)
    reader = data if stored_as is None else stored(stored_as, snpdata(data.val), tmp_path)
    source = goalscli.from_snpreader(reader)
    with pytest.raises(InputError, match=r"outside \[0, 2\]; hand over unstandardised"):
        source.read(np.arange(4), np.arange(3))
    with pytest.raises(InputError, match="unstandardised"):
        goalscli.make_dataset(source, np.arange(4.0))


def test_whole_numbers_have_minus_127_where_missing():
    val = np.array([[0, 1, 2], [-127, 2, 0], [1, 1, 0], [2, 0, 1]], dtype=np.int8)
    block = goalscli.from_snpreader(snpdata(val)).read(np.arange(4), np.arange(3))
    assert np.array_equal(block, np.where(val < 0, np.nan, val), equal_nan=True)
    assert val.min() == -127


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: snpdata(iid=[["f", "a"], ["f", "b"], ["g", "c"], ["f", "a"]]), "more than once: f a"),
        (lambda: snpdata(pos=[[1, 0, -5]] * 3), r"3 positions .*x: -5"),
        (lambda: snpdata(pos=[[1, 0, 5], [1, 0, 5.5], [1, 0, 6]]), r"1 positions .*y: 5.5"),
        (lambda: snpdata(pos=[[1, 0, np.inf]] * 3), r"3 positions .*x: inf"),
        (lambda: snpdata(pos=[[1, 0, 1e300]] * 3), r"3 positions .*x: 1e\+300"),
        (lambda: snpdata()[[], :].read(), "no samples"),
        (lambda: snpdata()[:, []].read(), "no variants"),
        (lambda: Bed("nope.bed", count_A1=True), "no such file: nope.bed"),
        (lambda: "d.bed", "str is not a SnpReader"),
        (lambda: None, "NoneType is not a SnpReader"),
    ],
    ids=["twice", "negative", "half", "infinite", "huge", "no-samples", "no-variants", "no-file", "path", "none"],
)
def test_readers_that_are_refused(make: Callable[[], object], words: str):
    with pytest.raises(InputError, match=words) as told:
        goalscli.from_snpreader(make())
    assert told.value.remedy


def test_chromosome_numbers_are_written_out():
    source = goalscli.from_snpreader(snpdata(pos=[[1234567, 0, 1], [1.5, 0, 2], [26, 0, 3]]))
    assert list(source.variants.chrom) == ["1234567", "1.5", "26"]
    assert list(goalscli.from_snpreader(SnpData(iid=IIDS, sid=SIDS, val=VALUES)).variants.chrom) == ["0"] * 3
