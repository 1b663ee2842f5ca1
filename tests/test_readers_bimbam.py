"""BIMBAM mean genotypes against what was written and against GEMMA."""

from __future__ import annotations

import gzip

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from reader_files import everything, mean_genotypes, refused, run, writer_to

from goalscli.genotypes.bimbam import open_bimbam


@pytest.fixture
def write(tmp_path):
    return writer_to(tmp_path)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_bimbam_round_trip(tmp_path, data):
    n, j = data.draw(st.integers(1, 6)), data.draw(st.integers(1, 7))
    cell = st.floats(0, 2, width=32) | st.just(float("nan")) | st.sampled_from([0.0, 1.0, 2.0])
    values = np.array(data.draw(st.lists(cell, min_size=n * j, max_size=n * j)), dtype=np.float32).reshape(j, n)
    separator = data.draw(st.sampled_from([",", ", ", " ", "\t", "  ", " ,\t"]))
    text = mean_genotypes(values, separator, data.draw(st.sampled_from(["\n", "\r\n"])))
    text = text if data.draw(st.booleans()) else text.rstrip()
    packed = data.draw(st.booleans())
    path = tmp_path / "geno.txt"
    path.write_bytes(gzip.compress(text.encode()) if packed else text.encode())
    source = open_bimbam(path)
    assert np.array_equal(everything(source), values.T, equal_nan=True)
    order = data.draw(st.lists(st.integers(0, j - 1), min_size=1, max_size=9))
    assert np.array_equal(source.read(np.arange(n), np.array(order)), values[order].T, equal_nan=True)
    assert list(source.variants.id) == [f"rs{k}" for k in range(j)]
    assert (set(source.variants.a1), set(source.variants.a2)) == ({"A"}, {"G"})
    assert list(source.samples.iid) == [str(i + 1) for i in range(n)]
    assert set(source.variants.chrom) == {"0"}
    assert not source.variants.pos.any()


@pytest.mark.parametrize("separator", [",", "\t", ", ", " "])
def test_bimbam_annotation_and_sample_list(tmp_path, separator):
    (tmp_path / "g.bimbam").write_text(mean_genotypes(np.eye(4)[:, :3]))
    places = [("rs2", "500", "X"), ("rs0", "12", "chr1"), ("rs3", "NA", "7", "0.1"), ("other", "1", "1")]
    (tmp_path / "g.anno").write_text("\r\n".join(map(separator.join, places)) + "\r\n")
    (tmp_path / "ids.txt").write_bytes(f"FID IID\r\nf1{separator}001\r\nf1{separator}1\r\n0{separator}x\r\n".encode())
    source = open_bimbam(tmp_path / "g.bimbam", anno=tmp_path / "g.anno", samples=tmp_path / "ids.txt")
    assert list(source.variants.chrom) == ["chr1", "0", "X", "7"]
    assert list(source.variants.pos) == [12, 0, 500, 0]
    assert list(source.samples.fid) == ["f1", "f1", "0"]
    assert list(source.samples.iid) == ["001", "1", "x"]


def test_bimbam_counts_what_gemma_counts(tmp_path):
    """GEMMA's allele1, its frequency and the sign of its slope."""
    rng = np.random.default_rng(4)
    n, j = 60, 25
    x = rng.binomial(2, rng.uniform(0.1, 0.9, j), (n, j)).astype(np.float32)
    y = x[:, 10] - x[:, 11] + 0.3 * rng.normal(size=n)
    x[rng.random((n, j)) < 0.03] = np.nan
    (tmp_path / "g.txt").write_text(mean_genotypes(x.T))
    np.savetxt(tmp_path / "y.txt", y)
    run("gemma", tmp_path, "-g", "g.txt", "-p", "y.txt", "-lm", "4", "-maf", "0", "-miss", "1", "-o", "o")
    told = pd.read_csv(tmp_path / "output" / "o.assoc.txt", sep="\t").set_index("rs")
    source = open_bimbam(tmp_path / "g.txt")
    assert np.array_equal(told.index, source.variants.id)
    assert np.array_equal(told["allele1"], source.variants.a1)
    assert np.array_equal(told["allele0"], source.variants.a2)
    got = everything(source)
    np.testing.assert_allclose(told["af"], np.nanmean(got, axis=0) / 2, atol=6e-4)
    for k, sign in ((10, 1), (11, -1)):
        called = ~np.isnan(got[:, k])
        assert np.sign(told["beta"].iloc[k]) == np.sign(np.polyfit(got[called, k], y[called], 1)[0]) == sign


def test_bimbam_with_mistakes(write):
    def opened(text: str, **others: str):
        return open_bimbam(write("g.txt", text), **{k: write(f"{k}.txt", v) for k, v in others.items()})

    good = "rs0, A, G, 0, 1\nrs1, A, G, 2, NA\n"
    for text, words in (
        (good + "rs2, A, G, 1\n", ("g.txt:3", "1 values", "2 in the lines")),
        (good + "\nrs2, A, G\n", ("g.txt:4", "fewer than four")),
        (good.replace("2,", "2.5,"), ("g.txt:2", "rs1", "2.5", "outside [0, 2]")),
        (good.replace("2,", "-9,"), ("g.txt:2", "-9", "NA where missing")),
        (good.replace("2,", "AG,"), ("g.txt:2", "rs1", "AG")),
        ("", ("no variants",)),
    ):
        refused(lambda t=text: everything(opened(t)), *words)
    for others, words in (
        ({"anno": "rs0 1\n"}, ("anno.txt:1", "2 columns")),
        ({"anno": "rs0 1 1\nrs1 x 1\n"}, ("anno.txt:2", "'x'", "whole number")),
        ({"anno": "rs0 1 1\nrs0 2 1\n"}, ("anno.txt:2", "rs0", "two places")),
        ({"samples": "a\nb\nc\n"}, ("3 sample IDs", "2 values")),
        ({"samples": "a\na\n"}, ("more than once", "0 a")),
        ({"samples": "f a\nb\n"}, ("samples.txt:2", "columns")),
    ):
        refused(lambda o=others: opened(good, **o), *words)
