"""Names of samples and variants, choosing a format, and opening again what a model was fitted on."""

from __future__ import annotations

import json
import logging
import sys
from pathlib import Path

import numpy as np
import pytest
from reader_files import IDS, J, N, X, bgen_bytes, everything, make_pgen, mean_genotypes, refused, writer_to

from goalscli.dataset import Columns, Treatment, assemble
from goalscli.errors import SettingsError
from goalscli.genotypes import reopen
from goalscli.genotypes.bgen import open_bgen
from goalscli.genotypes.bimbam import open_bimbam
from goalscli.genotypes.common import objects
from goalscli.genotypes.memory import from_array
from goalscli.genotypes.pgen import open_pgen
from goalscli.jobs.inputs import GenotypeFiles
from goalscli.jobs.model_file import load_model, save_model
from goalscli.models.exact import ExactGP
from goalscli.qc import Filters


@pytest.fixture
def write(tmp_path):
    return writer_to(tmp_path)


@pytest.fixture(scope="module")
def pgen(tmp_path_factory):
    return make_pgen(tmp_path_factory.mktemp("pgen"))


PLAIN_SAMPLE = "\n".join(f"f{i} 00{i}" for i in range(N))


@pytest.mark.parametrize(
    ("text", "fid", "iid", "sex"),
    [
        ("ID_1 ID_2 missing sex\n0 0 0 D\n" + "".join(f"f 00{i} 0 {i % 3}\n" for i in range(N)), "f", "00", [0, 1, 2]),
        ("ID missing sex\n0 0 D\n" + "".join(f"00{i} 0 {i % 3}\n" for i in range(N)), "0", "00", [0, 1, 2]),
        ("ID\n0\n" + "".join(f"00{i}\n" for i in range(N)), "0", "00", [0]),
        ("one two missing\n0 0 0\n" + "".join(f"f 00{i} 0\n" for i in range(N)), "f", "00", [0]),
        ("#FID IID\n" + "".join(f"f\t00{i}\n" for i in range(N)), "f", "00", [0]),
        ("".join(f"f 00{i}\n" for i in range(N)), "f", "00", [0]),
        ("".join(f"00{i}\n" for i in range(N)), "0", "00", [0]),
    ],
)
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_sample_files(write, text, fid, iid, sex, newline):
    source = open_bgen(write("d.bgen", bgen_bytes(ids=None)), sample=write("d.sample", text.replace("\n", newline)))
    assert list(source.samples.fid) == [fid] * N
    assert list(source.samples.iid) == [f"{iid}{i}" for i in range(N)]
    assert list(source.samples.sex) == np.resize(sex, N).tolist()
    assert np.array_equal(everything(source), X, equal_nan=True)


def test_sample_files_that_do_not_fit(write, caplog):
    path = write("d.bgen", bgen_bytes())
    for text, words in (
        (PLAIN_SAMPLE + "\nf x", (f"{N + 1} samples", f"has {N}", "d.sample")),
        ("f a\n" * N, ("more than once", "f a")),
        (PLAIN_SAMPLE.replace("f3 ", ""), ("d.sample:4", "1 columns", "expected 2")),
        ("", ("0 samples",)),
        ("s0\ns1\ns3\ns2\ns4", ("2 of 5 samples", "another order", "d.bgen", "made with")),
    ):
        refused(lambda t=text: open_bgen(path, sample=write("d.sample", t)), *words)
    with caplog.at_level(logging.WARNING):
        open_bgen(path, sample=write("d.sample", "\n".join(["s0", "s1", "x3", "x2", "s4"])))
    assert "2 of 5 sample IDs" in caplog.text


def test_pvar_and_psam(pgen, write):
    def opened(pvar: str | None = None, psam: str | None = None):
        files = {"pvar": f"{pgen}.pvar", "psam": f"{pgen}.psam"}
        for name, text in (("pvar", pvar), ("psam", psam)):
            if text is not None:
                files[name] = write(f"d.{name}", text)
        return open_pgen(pgen=f"{pgen}.pgen", **files)

    head = "##fileformat=VCFv4.2\r\n##INFO=<ID=X>\r\n#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO\r\n"
    rows = [f"chr{k}\t{k}\tv{k}\tT\tG\t.\t.\tX=a b" for k in range(J)]
    source = opened(head + "\r\n".join(rows))
    assert (list(source.variants.chrom), set(source.variants.a1)) == ([f"chr{k}" for k in range(J)], {"G"})
    source = opened("\n".join(f"1 v{k} {k} G T" for k in range(J)))
    assert (list(source.variants.pos), set(source.variants.a2)) == (list(range(J)), {"T"})
    refused(
        lambda: opened(head + "\n".join(rows).replace("T\tG", "T\tG,A", 1)), "d.pvar:4", "v0", "2 ALT", "max-alleles"
    )
    refused(lambda: opened(head + "\n".join(rows[:-1])), f"{J} variants", f"{J - 1} in d.pvar")
    refused(lambda: opened(head + "\n".join(rows).replace("\t3\t", "\tx\t")), "d.pvar:7", "'x'", "whole number")
    refused(lambda: opened("#CHROM POS ID REF\n"), "no column ALT", "d.pvar:1")
    refused(lambda: opened(head + rows[0] + "\n1\t2"), "d.pvar:5", "2 columns")
    source = opened(psam="#IID\tSEX\tPHENO1\r\n" + "".join(f"{'0' * i}1\t{i % 3}\t{i}.5\r\n" for i in range(N)))
    assert list(source.samples.iid) == ["1", "01", "001", "0001", "00001"]
    assert list(source.samples.fid) == ["0"] * N
    assert list(source.samples.sex) == [0, 1, 2, 0, 1]
    assert list(source.samples.phenotype) == [f"{i}.5" for i in range(N)]
    source = opened(psam="".join(f"f i{i} 0 0 1 -9\n" for i in range(N)))
    assert (list(source.samples.fid), list(source.samples.sex)) == (["f"] * N, [1] * N)
    refused(lambda: opened(psam="#FID IID\n" + "f a\n" * N), "more than once", "f a", "d.psam")
    refused(lambda: opened(psam="#FID IID\nf a\nf b\n"), f"{N} samples", "2 in d.psam")
    refused(lambda: opened(psam="#FID SEX\nf a\n"), "no column IID")


def test_files_and_packages_that_are_not_there(pgen, write, monkeypatch):
    refused(lambda: open_pgen(f"{pgen}x"), "--pfile", "no such file", "without .pgen")
    write("z.pgen", b"")
    write("z.pvar.zst", b"")
    refused(lambda: open_pgen(write("z.psam", b"").with_suffix("")), "Zstandard", "zstd -d")
    monkeypatch.setitem(sys.modules, "pgenlib", None)
    refused(lambda: open_pgen(pgen), "pip install 'goalscli[pgen]'", kind=SettingsError)
    monkeypatch.setitem(sys.modules, "bgen", None)
    refused(lambda: open_bgen(write("d.bgen", bgen_bytes())), "pip install 'goalscli[bgen]'", kind=SettingsError)


def assert_same_source(again, source) -> None:
    assert np.array_equal(everything(again), everything(source), equal_nan=True)
    assert [f.name for f in again.files] == [f.name for f in source.files]
    for table in ("samples", "variants"):
        for field in getattr(source, table).__dataclass_fields__:
            assert np.array_equal(getattr(getattr(again, table), field), getattr(getattr(source, table), field))


def test_opened_again_from_what_it_told_in_place_and_moved(pgen, tmp_path):
    folder = tmp_path / "in"
    folder.mkdir()
    put = writer_to(folder)
    bgen, sample = put("d.bgen", bgen_bytes()), put("d.sample", PLAIN_SAMPLE)
    geno, anno, ids = put("d.geno", mean_genotypes(X.T)), put("d.anno", "rs0 5 X\n"), put("d.ids", "\n".join(IDS))
    for suffix in ("pgen", "pvar", "psam"):
        put(f"p.q.{suffix}", Path(f"{pgen}.{suffix}").read_bytes())
    listing = sorted(folder.iterdir())
    folder.chmod(0o555)
    sources = (
        open_bgen(bgen),
        open_bgen(bgen, sample=sample, ref_first=True),
        open_pgen(folder / "p.q"),
        open_bimbam(geno),
        open_bimbam(geno, anno=anno, samples=ids),
    )
    told = [source.describe() for source in sources]
    copies = [from_array(everything(source)) for source in sources]
    assert np.array_equal(copies[0].dosages, 2 - copies[1].dosages, equal_nan=True)
    for description, source in zip(told, sources, strict=True):
        assert json.loads(json.dumps(description)) == description
        assert_same_source(reopen(description), source)
    assert sorted(folder.iterdir()) == listing
    folder.chmod(0o755)
    folder.rename(tmp_path / "moved")
    for description, source, copy in zip(told, sources, copies, strict=True):
        refused(lambda d=description: reopen(d), "no such file")
        main = {"bgen": "d.bgen", "pgen": "p.q", "bimbam": "d.geno"}[description["format"]]
        again = reopen(description, str(tmp_path / "moved" / main))
        assert np.array_equal(everything(again), copy.dosages, equal_nan=True)
        assert [f.name for f in again.files] == [f.name for f in source.files]
        assert np.array_equal(again.samples.iid, source.samples.iid)
        assert np.array_equal(again.variants.chrom, source.variants.chrom)


@pytest.mark.parametrize("kind", ["bgen", "pgen", "bimbam"])
def test_a_model_finds_its_genotypes_again(write, pgen, kind):
    x = np.random.default_rng(1).binomial(2, 0.5, (N, J)).astype(np.float32)
    source = {
        "bgen": lambda: open_bgen(write("d.bgen", bgen_bytes(x))),
        "pgen": lambda: open_pgen(pgen),
        "bimbam": lambda: open_bimbam(write("d.geno.txt", mean_genotypes(x.T)), anno=write("d.anno.txt", "rs0 5 X\n")),
    }[kind]()
    columns = Columns(np.arange(N) + 0.5, [], source.samples.fid, objects([""] * N), "trait")
    dataset = assemble(source, columns, Filters(geno=1, mind=1), Treatment(), intercept=True)
    path = write("m.model.h5", b"")
    path.unlink()
    save_model(path, dataset, ExactGP(signal=1.0, noise=1.0).fit(dataset), {}, {})
    again, _, _ = load_model(path)
    index = np.arange(dataset.n_variants)
    assert np.array_equal(again.values(index), dataset.values(index))
    if kind == "bgen":
        x[0] = 2 - x[0]
        write("d.bgen", bgen_bytes(x))
        refused(lambda: load_model(path), "not those of the fit", "d.bgen")


def test_one_format_is_named(write, pgen):
    bgen, bimbam, ids = (
        str(write(name, content))
        for name, content in (("d.bgen", bgen_bytes()), ("d.txt", mean_genotypes(X.T)), ("ids", "\n".join(IDS)))
    )
    for files in (
        GenotypeFiles(bgen=bgen),
        GenotypeFiles(bgen=bgen, sample=ids, ref_first=True),
        GenotypeFiles(pfile=str(pgen)),
        GenotypeFiles(pgen=f"{pgen}.pgen", pvar=f"{pgen}.bim", psam=f"{pgen}.fam"),
        GenotypeFiles(bimbam=bimbam, sample=ids),
        GenotypeFiles(bfile=str(pgen)),
    ):
        assert (len(files.open().samples), len(files.open().variants)) == (N, J)
    for files, words in (
        (GenotypeFiles(), ("no genotypes", "--bfile", "--bgen", "--pfile", "--bimbam")),
        (GenotypeFiles(bfile="a", bgen="b"), ("2 genotype data sets", "--bfile, --bgen")),
        (GenotypeFiles(pvar="a", bimbam="b"), ("--pvar, --bimbam",)),
        (GenotypeFiles(bfile="a", sample="b"), ("--sample", "--bgen or --bimbam")),
        (GenotypeFiles(bimbam="a", ref_first=True), ("--ref-first", "--bgen only")),
        (GenotypeFiles(bgen="a", anno="b"), ("--anno", "--bimbam only")),
    ):
        refused(files.open, *words, kind=SettingsError)
