"""Genotypes handed over by pysnptools are those of the file."""

from __future__ import annotations

import numpy as np
import pytest
from pysnptools.snpreader import Bed, SnpData
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
