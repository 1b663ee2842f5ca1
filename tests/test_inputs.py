"""Inputs as people really have them: each row B.. is a public report of how such a file broke a tool like this one.

What must be accepted is compared with the data it was made from; what must be refused ends in one line and no file.
"""

from __future__ import annotations

import importlib.util
import os
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import zlib
from collections.abc import Callable
from pathlib import Path

import h5py
import numpy as np
import pytest
from helpers import ENVIRONMENT, Here, assert_same, goals, names
from inputs_base import (
    FID,
    GENOTYPES,
    IID,
    PHENO,
    TABLE_FILES,
    TAIL,
    Change,
    X,
    Y,
    assert_refused,
    bed_bytes,
    edit,
    fit,
    fitted,
    put,
    raw,
    sub,
    write_base,
    write_by_plink2,
)
from inputs_recipes import ALL, B02, B05, B13, B15, B16, B21, ROWS, Case, pheno


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("inputs")
    write_base(folder)
    write_by_plink2(folder)
    return folder


@pytest.fixture
def folder(template: Path, tmp_path: Path) -> Path:
    """A copy to spoil."""
    return Path(shutil.copytree(template, tmp_path / "work"))


@pytest.fixture
def here(folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Here:
    return Here(monkeypatch, capsys, folder)


def unreadable(args: tuple[str, ...]) -> bool:
    """True where the program that makes these genotypes, or the package that reads them, is missing."""
    if "--pfile" in args and importlib.util.find_spec("pgenlib") is None:
        return True
    return ("--pfile" in args or "d.bgen" in args) and shutil.which("plink2") is None


def check(case: Case, folder: Path, here: Here) -> None:
    if unreadable(case.args):
        pytest.skip("plink2 or Pgenlib is not installed")
    case.spoil(folder)
    before = names(folder)
    outcome = here(*case.args)
    if case.keep is None:
        assert_refused(outcome, *case.words)
        assert names(folder) == before
        return
    assert outcome.code == 0, outcome.err
    for word in case.words:
        assert word in outcome.err
    assert names(folder) - before == {"o.model.h5", "o.qc.tsv"}
    got = fitted(folder / "o.model.h5")
    assert got.iid == [IID[i] for i in case.keep]
    expected = np.array([case.y[i] for i in case.keep])
    np.testing.assert_allclose(got.y, expected, rtol=1e-12, atol=1e-12 * np.abs(expected).max())
    assert case.more(got), got
    assert got.id == [f"rs{j}" for j in range(5)]
    if "position" not in case.id and "anno" not in case.id:
        assert got.pos == [100, 101, 102, 103, 104]
    if case.keep == ALL:
        np.testing.assert_allclose(got.a1_freq, np.nanmean(np.where(X < 0, np.nan, X), axis=0) / 2, atol=1e-7)


@pytest.mark.parametrize(
    "case", [pytest.param(case, id=f"{row}-{case.id}") for row, cases in ROWS.items() for case in cases]
)
def test_recipe(case: Case, folder: Path, here: Here):
    check(case, folder, here)


# B11: an ID is text, whatever it looks like.

ODD_IDS = (
    ("000", "0", "00", "1e5", "NA", "1.0"),
    ("NaN", "nan", "-9", ".", "0x1", "inf"),
    ("#1", "é", "a#b", "TRUE", "1,0", "s_0"),
)


@pytest.mark.parametrize("genotypes", GENOTYPES)
@pytest.mark.parametrize("ids", [tuple(f"00{k}" for k in range(6)), *ODD_IDS], ids=lambda ids: ids[0])
def test_b11_ids_are_text(ids: tuple[str, ...], genotypes: str, folder: Path, here: Here):
    if unreadable(GENOTYPES[genotypes]):
        pytest.skip("plink2 is not installed")
    if "1,0" in ids and genotypes == "bimbam":
        ids = tuple(one.replace(",", ";") for one in ids)  # its list of samples may be separated by commas
    for name in ("d.fam", "d.psam", "d.sample", "ids.txt", "p.txt"):
        text = (folder / name).read_text()
        for k in range(6):
            text = text.replace(f"s{k}", f"<{k}>")
        for k, one in enumerate(ids):
            text = text.replace(f"<{k}>", one)
        (folder / name).write_text(text)
    here.well(*fit(genotypes))
    got = fitted(folder / "o.model.h5")
    assert got.iid == list(ids)
    np.testing.assert_allclose(got.y, Y)


@pytest.mark.parametrize("genotypes", ["bed", "pgen", "bimbam"])
def test_b11_001_is_not_1(genotypes: str, folder: Path, here: Here):
    if unreadable(GENOTYPES[genotypes]):
        pytest.skip("plink2 is not installed")
    for name in ("d.fam", "d.psam", "ids.txt"):
        sub(name, "s", "00")(folder)
    sub("p.txt", " s", " ")(folder)
    assert_refused(here(*fit(genotypes)), "no sample in common", "001", "letter by letter (001 is not 1)")
    sub("p.txt", " 0 ", " 000 ")(folder)
    assert_refused(here(*fit(genotypes)), "1 sample(s)", "2 are needed")


# B09: IDs that do not match.


@pytest.mark.parametrize(
    ("ids", "words"),
    [
        (None, ("d.bgen", "no sample IDs", "--sample")),
        (
            [f"sample_{k}" for k in range(5)],
            ("6 in the table", "5 genotyped", "overlap 0", "sample_0, ", "f0 s0, f0 s1, f0 s2", "--sample"),
        ),
        ([f"f0_s{k}" for k in range(5)], ("overlap 0", "f0_s0", "FID_IID", "--sample")),
        ([f"other{k}" for k in range(5)], ("overlap 0", "other0, other1, other2", "same IDs")),
    ],
    ids=["none", "placeholders", "fid-iid", "others"],
)
def test_b09_bgen_ids(ids: list[str] | None, words: tuple[str, ...], folder: Path, here: Here):
    from reader_files import bgen_bytes

    (folder / "d.bgen").write_bytes(bgen_bytes(ids=ids))
    before = names(folder)
    outcome = here("fit", "--bgen", "d.bgen", *PHENO, *TAIL)
    # By IID alone, since the BGEN has no families.
    assert_refused(outcome, *(word.replace("f0 s0, f0 s1, f0 s2", "s0, s1, s2") for word in words))
    assert names(folder) == before


@pytest.mark.parametrize("name", TABLE_FILES)
def test_b09_other_ids_in_a_table(name: str, folder: Path, here: Here):
    sub(TABLE_FILES[name], " s", " p")(folder)
    assert_refused(
        here(*fit("bed", name)),
        f"--{name} {TABLE_FILES[name]}",
        "6 genotyped, 6 in the table, overlap 0",
        "f0 s0, f0 s1, f0 s2",
        "f0 p0, f0 p1, f0 p2",
    )


def test_b09_some_ids_match(folder: Path, here: Here):
    sub("p.txt", "s4", "p4")(folder)
    assert "5 of 6 genotyped samples found" in here.well(*fit()).err
    assert fitted(folder / "o.model.h5").iid == ["s0", "s1", "s2", "s3", "s5"]
    assert "trait or covariate missing\t1\t5\t0\t5" in (folder / "o.qc.tsv").read_text()


def test_b13_same_iid_in_two_families(folder: Path, here: Here):
    for name in ("d.fam", "p.txt"):
        sub(name, "f1 s3", "f1 s0")(folder)
    here.well(*fit())
    got = fitted(folder / "o.model.h5")
    assert got.iid == ["s0", "s1", "s2", "s0", "s4", "s5"]
    np.testing.assert_allclose(got.y, Y)


# B19: which allele is counted.


@pytest.mark.parametrize("genotypes", ["bed", "pgen", "bgen"])
def test_b19_counted_allele(genotypes: str, folder: Path, here: Here):
    """Half of the samples have code 00, A A."""
    if unreadable(GENOTYPES[genotypes]):
        pytest.skip("plink2 or Pgenlib is not installed")
    x = np.array([[2, 0], [2, 1], [2, 0], [0, 2], [0, 2], [1, -127]])
    (folder / "d.bed").write_bytes(bed_bytes(x))
    (folder / "d.bim").write_text("1\trs0\t0\t5\tA\tG\n1\trs1\t0\t9\tT\tC\n")
    if not write_by_plink2(folder):
        pytest.skip("plink2 is not installed")
    command = ["plink2", "--bfile", "d", "--freq", "--export", "A", "--export-allele", "alleles.txt", "--out", "p"]
    (folder / "alleles.txt").write_text("rs0 A\nrs1 T\n")
    subprocess.run(command, cwd=folder, capture_output=True, check=True)
    rows = [line.split("\t") for line in (folder / "p.afreq").read_text().splitlines()]
    frequency = [float(row[rows[0].index("ALT_FREQS")]) for row in rows[1:]]
    exported = [line.split("\t") for line in (folder / "p.raw").read_text().splitlines()]
    assert exported[0][6:] == ["rs0_A", "rs1_T"]
    dosages = np.array([[-127 if v == "NA" else int(v) for v in row[6:]] for row in exported[1:]])
    assert np.array_equal(dosages, x)
    here.well("run", *fit(genotypes)[1:])
    got = fitted(folder / "o.model.h5")
    assert (got.a1, got.a2) == (["A", "T"], ["G", "C"])
    np.testing.assert_allclose(got.a1_freq, frequency, atol=1e-6)
    here.well("export", "o.scores.h5", "--out", "t.tsv")
    head, *lines = [line.split("\t") for line in (folder / "t.tsv").read_text().splitlines()]
    assert [line[head.index("A1")] for line in lines] == ["A", "T"]
    np.testing.assert_allclose([float(line[head.index("A1_FREQ")]) for line in lines], frequency, atol=1e-6)


# B22: IDs of variants are labels, not keys.


@pytest.mark.parametrize(
    "ids", [("rs1", "rs1", "rs2", "rs3", "rs4"), (".",) * 5, ("rs1",) * 5], ids=["twice", "dots", "all-one"]
)
@pytest.mark.parametrize("genotypes", ["bed", "pgen", "bgen", "bimbam"])
def test_b22_variant_ids(ids: tuple[str, ...], genotypes: str, folder: Path, here: Here):
    if unreadable(GENOTYPES[genotypes]):
        pytest.skip("plink2 or Pgenlib is not installed")
    (folder / "d.bim").write_text("".join(f"1\t{name}\t0\t{100 + j}\tA\tG\n" for j, name in enumerate(ids)))
    if genotypes in ("pgen", "bgen") and not write_by_plink2(folder):
        pytest.skip("plink2 is not installed")
    text = (folder / "d.txt").read_text().splitlines()
    (folder / "d.txt").write_text(
        "".join(f"{name},{row.split(',', 1)[1]}\n" for name, row in zip(ids, text, strict=True))
    )
    args = tuple(a for a in fit(genotypes)[1:] if a not in ("--anno", "anno.txt"))
    here.well("run", *args, "--local", "all")
    got = fitted(folder / "o.model.h5")
    assert got.id == list(ids)
    mean = np.nanmean(np.where(X < 0, np.nan, X), axis=0) / 2
    np.testing.assert_allclose(got.a1_freq, mean, atol=1e-7)
    with h5py.File(folder / "o.scores.h5") as file:
        assert file["goals/score"].shape == (5,)
        assert len(np.unique(file["goals/score"][:])) == 5
    rows = here.well("top", "o.scores.h5").out.splitlines()[1:]
    places = {(row.split("\t")[0], row.split("\t")[1]) for row in rows}
    assert places == {("0", "0")} if genotypes == "bimbam" else len(places) == 5
    here.well("plot", "manhattan", "o.scores.h5", "--out", "m.svg")
    if ids[0] == "." and genotypes == "bed":
        assert "1:10" in (folder / "m.svg").read_text()


@pytest.mark.parametrize("option", ["--extract", "--exclude"])
def test_b22_lists_of_ids(option: str, folder: Path, here: Here):
    edit("d.bim", lambda text: text.replace("rs1", "rs0"))(folder)
    (folder / "list.txt").write_bytes(b"rs0\r\n")
    outcome = here.well(*fit(), option, "list.txt")
    assert fitted(folder / "o.model.h5").pos == ([100, 101] if option == "--extract" else [102, 103, 104])
    assert "warning" in outcome.err


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"], ids=["lf", "crlf", "cr"])
@pytest.mark.parametrize("option", ["--keep", "--remove"])
def test_b04_lists_of_samples(option: str, end: str, folder: Path, here: Here):
    (folder / "list.txt").write_bytes("f0 s0\nf0 s1\nf1 s3\n".replace("\n", end).encode())
    here.well(*fit(), option, "list.txt")
    kept = ["s0", "s1", "s3"]
    assert fitted(folder / "o.model.h5").iid == (kept if option == "--keep" else [i for i in IID if i not in kept])


# B24, B27, B28, B29, B32: BGEN.


@pytest.mark.parametrize("bits", [8, 16])
def test_b24_bits(bits: int, folder: Path, here: Here):
    if shutil.which("plink2") is None:
        pytest.skip("plink2 is not installed")
    dummy = [
        "plink2",
        "--dummy",
        "40",
        "30",
        "acgt",
        "0.02",
        "dosage-freq=0.6",
        "--seed",
        "3",
        "--make-pgen",
        "--out",
        "q",
    ]
    export = ["plink2", "--pfile", "q", "--export", "bgen-1.2", f"bits={bits}", "--freq", "--out", "q"]
    for command in (dummy, export):
        subprocess.run(command, cwd=folder, capture_output=True, check=True)
    iids = [line.split("\t")[0] for line in (folder / "q.psam").read_text().splitlines()[1:]]
    values = np.random.default_rng(1).normal(size=40)
    (folder / "q.txt").write_text("IID Y\n" + "".join(f"{i} {v}\n" for i, v in zip(iids, values, strict=True)))
    found = []
    for genotypes in (("--pfile", "q"), ("--bgen", "q.bgen", "--sample", "q.sample")):
        here.well("fit", *genotypes, "--pheno", "q.txt", *TAIL, "--geno", "1", "--mind", "1", "--overwrite")
        found.append(fitted(folder / "o.model.h5"))
    rows = [line.split("\t") for line in (folder / "q.afreq").read_text().splitlines()]
    frequency = [float(row[rows[0].index("ALT_FREQS")]) for row in rows[1:]]
    np.testing.assert_allclose(found[0].a1_freq, frequency, atol=1e-5)
    np.testing.assert_allclose(found[1].a1_freq, frequency, atol=1e-2 if bits == 8 else 1e-4)
    assert (found[0].a1, found[0].iid) == (found[1].a1, found[1].iid)


def mixed_bgen(phased: np.ndarray, unphased: np.ndarray) -> bytes:
    """One phased and one unphased variant at 8 bits from the format's description; numbers of 255ths."""
    n = len(phased)
    body = b""
    for k, values in enumerate((phased, unphased)):
        block = struct.pack("<IHBB", n, 2, 2, 2) + b"\2" * n + bytes([k == 0, 8]) + values.astype(np.uint8).tobytes()
        packed = zlib.compress(block)
        for text in ("", f"rs{k}", "1"):
            body += struct.pack("<H", len(text)) + text.encode()
        body += struct.pack("<IH", 100 + k, 2) + struct.pack("<I", 1) + b"A" + struct.pack("<I", 1) + b"G"
        body += struct.pack("<II", len(packed) + 4, len(block)) + packed
    ids = b"".join(struct.pack("<H", len(i)) + i.encode() for i in IID)
    ids = struct.pack("<II", 8 + len(ids), n) + ids
    return struct.pack("<IIII4sI", 20 + len(ids), 20, 2, n, b"bgen", 1 | 2 << 2 | 1 << 31) + ids + body


def test_b27_phased_and_unphased(folder: Path, here: Here):
    rng = np.random.default_rng(4)
    phased = rng.integers(0, 256, (6, 2))  # of A on each haplotype
    unphased = np.stack([first := rng.integers(0, 200, 6), rng.integers(0, 256 - first)], axis=1)  # AA, AG
    (folder / "d.bgen").write_bytes(mixed_bgen(phased, unphased))
    here.well("run", "--bgen", "d.bgen", "--pheno", "p.txt", *TAIL)
    got = fitted(folder / "o.model.h5")
    truth = [phased.sum(axis=1).mean() / 255 / 2, (2 * unphased[:, 0] + unphased[:, 1]).mean() / 255 / 2]
    np.testing.assert_allclose(got.a1_freq, truth, atol=1e-6)
    assert got.iid == list(IID)


@pytest.mark.parametrize(
    "change",
    [lambda b: b[:-20], lambda b: b[:-1], lambda b: b + b"\0", lambda b: b[:30], lambda b: b""],
    ids=["20", "1", "longer", "header", "empty"],
)
@pytest.mark.parametrize("command", ["fit", "scan"])
def test_b28_damaged_bgen(command: str, change: Callable[[bytes], bytes], folder: Path, here: Here):
    if unreadable(GENOTYPES["bgen"]):
        pytest.skip("plink2 is not installed")
    if command == "scan":
        here.well(*fit("bgen"))
    raw("d.bgen", change)(folder)
    before = names(folder)
    args = fit("bgen") if command == "fit" else ("scan", "o.model.h5", "--out", "o")
    assert_refused(here(*args), "d.bgen")
    assert names(folder) == before


def test_b29_read_only_folder():
    """A user that may not write beside the BGEN (root loses that right here) fits and scans it."""
    drop = ["setpriv", "--bounding-set=-dac_override"] if os.geteuid() == 0 else []
    if drop and shutil.which("setpriv") is None:
        pytest.skip("root may write everywhere")
    if shutil.which("plink2") is None:
        pytest.skip("plink2 is not installed")
    top = Path(tempfile.mkdtemp())
    try:
        data, out = top / "data", top / "out"
        for path in (data, out):
            path.mkdir()
        write_base(data)
        write_by_plink2(data)
        before = {p.name: p.stat().st_mtime_ns for p in data.iterdir()}
        data.chmod(0o555)
        assert subprocess.run([*drop, "touch", "x"], cwd=data, capture_output=True, check=False).returncode
        args = [
            "run",
            "--bgen",
            str(data / "d.bgen"),
            "--sample",
            str(data / "d.sample"),
            "--pheno",
            str(data / "p.txt"),
            *TAIL,
        ]
        done = subprocess.run([*drop, sys.executable, "-m", "goalscli", *args], env=ENVIRONMENT, cwd=out, check=False,
                              capture_output=True, text=True, timeout=120)  # fmt: skip
        assert done.returncode == 0, done.stderr
        assert (out / "o.scores.h5").is_file()
        assert {p.name: p.stat().st_mtime_ns for p in data.iterdir()} == before
    finally:
        (top / "data").chmod(0o755)
        shutil.rmtree(top)


SAMPLES = {
    "headerless": "".join(f"{f} {i}\n" for f, i in zip(FID, IID, strict=True)),
    "one-id": "ID\n0\n" + "".join(f"{i}\n" for i in IID),
    "one-id-missing": "ID missing\n0 0\n" + "".join(f"{i} 0\n" for i in IID),
    "one-id-headerless": "".join(f"{i}\n" for i in IID),
    "types": "ID_1 ID_2 missing sex age case\n0 0 0 D C B\n"
    + "".join(f"{f} {i} 0 1 7.5 0\n" for f, i in zip(FID, IID, strict=True)),
    "no-type-line": "ID_1 ID_2 missing\n" + "".join(f"{f} {i} 0\n" for f, i in zip(FID, IID, strict=True)),
    "lower-case": "fid iid missing\n0 0 0\n" + "".join(f"{f} {i} 0\n" for f, i in zip(FID, IID, strict=True)),
}
WRONG_SAMPLES = {
    "one-less": (SAMPLES["headerless"].rsplit("f1", 1)[0], ("5 samples", "has 6")),
    "one-more": (SAMPLES["headerless"] + "f1 s6\n", ("7 samples", "has 6")),
    "header-alone": ("ID_1 ID_2 missing\n0 0 0\n", ("0 samples", "has 6")),
    "commas": (SAMPLES["types"].replace(" ", ","), ("8 samples", "has 6")),
    "unknown-type": (SAMPLES["types"].replace("D C B", "D C X"), ("7 samples", "has 6")),
    "another-order": ("".join(SAMPLES["headerless"].splitlines(keepends=True)[::-1]), ("6 of 6", "another order")),
    "short-line": (SAMPLES["types"].replace("f1 s4 0 1 7.5 0", "f1 s4 0 1"), ("d.sample:7", "4 columns", "expected 6")),
}


@pytest.mark.parametrize("text", SAMPLES.values(), ids=SAMPLES)
def test_b32_sample_file(text: str, folder: Path, here: Here):
    if unreadable(GENOTYPES["bgen"]):
        pytest.skip("plink2 is not installed")
    (folder / "d.sample").write_text(text)
    here.well(*fit("bgen"))
    got = fitted(folder / "o.model.h5")
    assert got.iid == list(IID)
    np.testing.assert_allclose(got.y, Y)


@pytest.mark.parametrize(("text", "words"), WRONG_SAMPLES.values(), ids=WRONG_SAMPLES)
def test_b32_wrong_sample_file(text: str, words: tuple[str, ...], folder: Path, here: Here):
    if unreadable(GENOTYPES["bgen"]):
        pytest.skip("plink2 is not installed")
    (folder / "d.sample").write_text(text)
    before = names(folder)
    assert_refused(here(*fit("bgen")), "d.sample", *words)
    assert names(folder) == before


# B34, B36, B37: what is left after the join, and why.


def account(folder: Path) -> dict[str, list[int]]:
    """Of o.qc.tsv: samples removed and left, variants removed and left, for each step."""
    rows = [line.split("\t") for line in (folder / "o.qc.tsv").read_text().splitlines()[1:]]
    return {row[0]: [int(cell) for cell in row[1:]] for row in rows}


@pytest.mark.parametrize("genotypes", ["bed", "pgen", "bgen"])
def test_b34_polymorphic_only_outside(genotypes: str, folder: Path, here: Here):
    """rs1 varies only in s4, who lacks the trait; rs3 is missing in all others."""
    if unreadable(GENOTYPES[genotypes]):
        pytest.skip("plink2 or Pgenlib is not installed")
    x = X.copy()
    x[4] = np.maximum(x[4], 0)
    x[:, 1] = (0, 0, 0, 0, 1, 0)
    x[:, 3] = (-127, -127, -127, -127, 1, -127)
    (folder / "d.bed").write_bytes(bed_bytes(x))
    if not write_by_plink2(folder):
        pytest.skip("plink2 is not installed")
    pheno(1.5, 2, 3.5, 2.5, "NA", 1)(folder)
    here.well("run", *fit(genotypes)[1:], "--geno", "1", "--impute", "mean")
    steps = account(folder)
    assert steps["trait or covariate missing"] == [1, 5, 0, 5]
    assert steps["monomorphic"] == [0, 5, 2, 3]
    got = fitted(folder / "o.model.h5")
    assert got.id == ["rs0", "rs2", "rs4"]
    rows = [0, 1, 2, 3, 5]
    np.testing.assert_allclose(got.a1_freq, x[rows][:, [0, 2, 4]].mean(axis=0) / 2, atol=1e-7)
    with h5py.File(folder / "o.scores.h5") as file:
        assert np.isfinite(file["goals/score"][:]).all()


def covariates(**columns: list[object]) -> Change:
    rows = zip(FID, IID, *columns.values(), strict=True)
    return put("c.txt", "FID IID " + " ".join(columns) + "\n" + "".join(" ".join(map(str, row)) + "\n" for row in rows))


A = [3, 1, 4, 1, 5, 9]


@pytest.mark.parametrize(
    ("columns", "dropped", "rank"),
    [
        ({"A": A, "B": [2 * a for a in A], "C": [1] * 6}, ("B", "C"), 2),
        ({"A": A, "B": [7 - a for a in A]}, ("B",), 2),
        ({"C": [5] * 6}, ("C",), 1),
        ({"Z": [0] * 6, "A": A}, ("Z",), 2),
        (
            {"A": A, "B": [1, 2, 2, 1, 1, 2], "S": [a + b for a, b in zip(A, [1, 2, 2, 1, 1, 2], strict=True)]},
            ("S",),
            3,
        ),
        ({"A": [1e9 + a for a in A], "B": [1e-9 * a for a in A]}, ("B",), 2),
    ],
    ids=["multiple", "affine", "constant", "zero", "sum", "scales"],
)
def test_b36_collinear_covariates(
    columns: dict[str, list[object]], dropped: tuple[str, ...], rank: int, folder: Path, here: Here
):
    covariates(**columns)(folder)
    outcome = here.well(*fit("bed", "covar"))
    assert f"covariates dropped, since earlier ones determine them: {', '.join(dropped)}\n" in outcome.err
    assert fitted(folder / "o.model.h5").covariates.shape == (6, rank)


def test_b36_too_many_covariates(folder: Path, here: Here):
    rng = np.random.default_rng(5)
    covariates(**{f"c{k}": rng.normal(size=6).tolist() for k in range(7)})(folder)
    before = names(folder)
    assert_refused(here(*fit("bed", "covar")), "7 covariate", "6 samples", "fewer covariates")
    assert_refused(here(*fit("bed", "covar"), "--covar-name", "c0-c4"), "5 covariate", "6 samples")
    assert_refused(here(*fit("bed", "covar"), "--cat-covar-name", "c0"), "c0 with 6 level(s)", "6 samples")
    assert names(folder) == before
    here.well(*fit("bed", "covar"), "--covar-name", "c0-c3")


def test_b37_account(folder: Path, here: Here):
    """60 variants: each filter's count, in the file and the log, by hand."""
    rng = np.random.default_rng(6)
    n, j = 40, 60
    x = rng.binomial(2, 0.5, (n, j))
    x[:, :4] = 2  # no variation: below --maf as well
    x[:, 4:9] = 0
    x[0, 4:9] = 1  # 1 of 80: below 0.05
    x[:, 9:12] = 0
    x[:4, 9:12] = 1  # 4 of 80: at 0.05, stays
    x[:10, 12:15] = -127  # a quarter missing
    x[39, 15:30] = -127  # a sample that lacks a quarter
    (folder / "d.bed").write_bytes(bed_bytes(x))
    (folder / "d.fam").write_text("".join(f"0 i{i} 0 0 0 {'NA' if i in (37, 38) else i % 7}\n" for i in range(n)))
    (folder / "d.bim").write_text("".join(f"1\tv{k}\t0\t{k}\tA\tG\n" for k in range(j)))
    outcome = here.well("fit", "--bfile", "d", "--threads", "1", "--out", "o")
    assert account(folder) == {
        "input": [0, 40, 0, 60],
        "mind 0.1": [1, 39, 0, 60],
        "trait or covariate missing": [2, 37, 0, 60],
        "geno 0.1": [0, 37, 3, 57],
        "maf 0.05": [0, 37, 9, 48],
        "monomorphic": [0, 37, 0, 48],
    }
    assert (folder / "o.qc.tsv").read_text().rstrip() in outcome.err


# B40 to B48: the machine, pictures, output.


def test_b40_killed_and_damaged(folder: Path, here: Here):
    from test_resume import WRITE, dying

    x = np.random.default_rng(7).binomial(2, 0.5, (6, 100))
    (folder / "d.bed").write_bytes(bed_bytes(x))
    (folder / "d.bim").write_text("".join(f"1\tv{k}\t0\t{k}\tA\tG\n" for k in range(100)))
    here.well(*fit())
    scan = ("scan", "o.model.h5", "--chunk-size", "5", "--threads", "1")
    here.well(*scan, "--out", "whole")
    assert dying(WRITE, 11, signal.SIGKILL, *scan, "--out", "r", cwd=folder).code == -signal.SIGKILL
    assert "r.scores.h5" not in names(folder)
    partial = folder / "r.scores.h5.partial"
    content = partial.read_bytes()
    for spoilt in (content[: len(content) // 2], b"\0" * 4096, b""):
        partial.write_bytes(spoilt)
        outcome = here(*scan, "--out", "r", "--resume")
        assert_refused(outcome, "r.scores.h5.partial")
        assert partial.read_bytes() == spoilt
    partial.write_bytes(content)
    assert "resuming: 50 of " in here.well(*scan, "--out", "r", "--resume").err
    assert_same(folder / "r.scores.h5", folder / "whole.scores.h5")


@pytest.mark.parametrize("limit", ["option", "ulimit"])
def test_b41_memory(limit: str, folder: Path):
    import resource

    n = 100_000
    (folder / "d.fam").write_text("".join(f"0 i{i} 0 0 0 {i % 7}\n" for i in range(n)))
    (folder / "d.bim").write_text("1\tv\t0\t1\tA\tG\n")
    (folder / "d.bed").write_bytes(b"\x6c\x1b\x01" + b"\x1b" * (n // 4))
    before = names(folder)
    args = ["fit", "--bfile", "d", "--threads", "1", "--out", "o", *(["--memory", "4"] if limit == "option" else [])]
    ulimit = (lambda: resource.setrlimit(resource.RLIMIT_AS, (2_000_000 * 1024,) * 2)) if limit == "ulimit" else None
    done = subprocess.run([sys.executable, "-m", "goalscli", *args], cwd=folder, env=ENVIRONMENT, capture_output=True,
                          text=True, timeout=120, check=False, preexec_fn=ulimit)  # fmt: skip
    assert done.returncode == 2, done.stderr
    assert "100000 samples" in done.stderr
    assert "needs about" in done.stderr
    assert "GiB" in done.stderr
    assert "Traceback" not in done.stderr
    assert names(folder) == before


def test_b42_threads(folder: Path, tmp_path: Path):
    from goalscli.runtime import cpu_limit

    found = []
    for threads in ("1", "2"):
        outcome = goals("run", "--bfile", "d", *PHENO, *TAIL[:-4], "--threads", threads, "--precision", "double",
                        "--out", f"t{threads}", cwd=folder)  # fmt: skip
        assert outcome.code == 0, outcome.err
        assert f"{threads} thread(s)" in outcome.err
        with h5py.File(folder / f"t{threads}.scores.h5") as file:
            assert int(file.attrs["threads"]) == int(threads)
            found.append(file["goals/score"][:])
    np.testing.assert_allclose(found[0], found[1], atol=1e-10 * np.abs(found[0]).max())
    root = tmp_path / "root"
    (root / "sys/fs/cgroup").mkdir(parents=True)
    (root / "sys/fs/cgroup/cpu.max").write_text("100000 100000\n")
    assert cpu_limit(root) == 1


@pytest.fixture(scope="module")
def scanned(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A scan of 330 variants."""
    from helpers import FIT, make_data

    folder = tmp_path_factory.mktemp("scanned")
    make_data(folder)
    for args in ((*FIT, "--out", "s"), ("scan", "s.model.h5", "--out", "s")):
        assert goals(*args, cwd=folder).code == 0
    return folder


@pytest.mark.parametrize("picture", ["manhattan", "local"])
def test_b43_stale_display(picture: str, scanned: Path, tmp_path: Path):
    environment = {**ENVIRONMENT, "DISPLAY": "localhost:64.0", "MPLBACKEND": "TkAgg", "HOME": "/nowhere"}
    out = tmp_path / "x.png"
    done = subprocess.run(
        [sys.executable, "-m", "goalscli", "plot", picture, "s.scores.h5", "--out", str(out)],
        cwd=scanned,
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert out.read_bytes()[:8] == b"\x89PNG\r\n\x1a\n"


GENOMES = {
    "mixed": ["1", "2", "10", "X", "MT", "0", "NA", *(f"scaffold_{k}" for k in range(1, 301))],
    "dog": [*map(str, range(1, 39)), "X", "Y", "MT"],
    "chr": [*(f"chr{k}" for k in (10, 2, 1, 22, "X", "Y", "M"))],
    "one": ["7"],
    "unplaced": ["0"],
    "scaffolds": [f"contig{k}" for k in range(320)],
    "roman": ["I", "II", "III", "IV", "IX", "X"],
}


@pytest.mark.parametrize("genome", GENOMES)
def test_b44_chromosomes(genome: str, scanned: Path, folder: Path, here: Here):
    shutil.copy(scanned / "s.scores.h5", folder / "s.scores.h5")
    with h5py.File(folder / "s.scores.h5", "r+") as file:
        chrom = np.resize(np.array(GENOMES[genome], dtype=object), len(file["variants/chrom"]))
        file["variants/chrom"][:] = chrom
    here.well("plot", "manhattan", "s.scores.h5", "--out", "m.svg")
    text = (folder / "m.svg").read_text()
    if "0" in GENOMES[genome]:
        assert "unplaced" in text
    if "scaffold_300" in GENOMES[genome]:
        assert "scaffold_300" not in text
    here.well("export", "s.scores.h5", "--out", "t.tsv")
    assert [row.split("\t")[0] for row in (folder / "t.tsv").read_text().splitlines()[1:]] == chrom.tolist()


@pytest.mark.parametrize("value", ["p", "score"])
def test_b45_values_at_the_edge(value: str, scanned: Path, folder: Path, here: Here):
    shutil.copy(scanned / "s.scores.h5", folder / "s.scores.h5")
    edge = np.array([0, -0.0, -1e-12, 1e-320, np.nan, np.inf, -np.inf])
    with h5py.File(folder / "s.scores.h5", "r+") as file:
        for name in ("score", "z", "neg_log10_p"):
            file[f"goals/{name}"][: len(edge)] = edge
    here.well("plot", "manhattan", "s.scores.h5", "--value", value, "--out", "m.svg")
    assert "3" in (told := (folder / "m.svg").read_text())
    assert "not finite" in told
    here.well("export", "s.scores.h5", "--out", "t.tsv")
    head, *rows = [row.split("\t") for row in (folder / "t.tsv").read_text().splitlines()]
    assert [rows[k][head.index("SCORE")] for k in (0, 3, 4, 5, 6)] == ["0", "9.99989e-321", "NA", "inf", "-inf"]
    assert "P" not in head


def test_b45_a_p_value_that_underflows_keeps_its_logarithm():
    """|z| of 50 is p = 2e-545, which is no double."""
    from scipy.special import log_ndtr

    from goalscli.scores.tail import neg_log10_p

    z = np.array([0.0, 1.0, 50.0, -50.0, 1e4])
    expected = -(log_ndtr(-np.abs(z)) + np.log(2)) / np.log(10)
    np.testing.assert_allclose(neg_log10_p(z, 100, profiled=False), expected, rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize("case", [B02[0], B05[0], B13[0], B15[0], B16[0], B21[0]], ids=lambda case: case.id)
def test_b47_exit_codes_of_the_real_command(case: Case, folder: Path):
    case.spoil(folder)
    before = names(folder)
    outcome = goals(*case.args, cwd=folder)
    assert outcome.code == (2 if case.keep is None else 0)
    if case.keep is None:
        assert_refused(outcome, *case.words)
        assert names(folder) == before
    assert not [name for name in names(folder) if name.endswith(".partial")]


def test_b48_out_is_a_prefix(folder: Path, here: Here, tmp_path: Path):
    args = fit()[:-2]
    absolute = tmp_path / "some" / "dir" / "x" / "y"
    here.well(*args, "--out", str(absolute))
    here.well(*args, "--out", "missingdir/z")
    here.well(*args, "--out", "../up")
    assert absolute.with_name("y.model.h5").is_file()
    assert {"missingdir/z.model.h5", "missingdir/z.qc.tsv"} <= names(folder)
    assert (folder.parent / "up.model.h5").is_file()
    before = absolute.with_name("y.model.h5").read_bytes()
    assert_refused(here(*args, "--out", str(absolute)), "y.model.h5", "exists already", "--overwrite")
    assert absolute.with_name("y.model.h5").read_bytes() == before
    here.well(*args, "--out", str(absolute), "--overwrite")
    assert not (folder / "output").exists()


@pytest.mark.parametrize("trait", ["a/b", "../up", "a b", "é", "-x", "a:b", "1"])
def test_b48_names_of_several_traits(trait: str, folder: Path, here: Here):
    """A trait's name is part of a file's name, and must not lead elsewhere."""
    rows = zip(FID, IID, Y, Y[::-1], strict=True)
    (folder / "p.txt").write_text(f"FID\tIID\t{trait}\tZ\n" + "".join("\t".join(map(str, row)) + "\n" for row in rows))
    before, above = names(folder), sorted(p.name for p in folder.parent.iterdir())
    outcome = here(*fit(), "--pheno-name", f"{trait},Z")
    if "/" in trait:
        assert_refused(outcome, repr(trait), "name of a file", "rename")
        assert names(folder) == before
    else:
        assert outcome.code == 0, outcome.err
        assert names(folder) - before == {
            f"o.{name}.{kind}" for name in (trait, "Z") for kind in ("model.h5", "qc.tsv")
        }
    assert sorted(p.name for p in folder.parent.iterdir()) == above


def test_every_row_of_the_list_is_here():
    """The rows that are tables of recipes, and those with tests of their own."""
    text = Path(__file__).read_text()
    rows = {*ROWS, *(f"B{k:02d}" for k in range(1, 49) if f"def test_b{k:02d}_" in text)} - {"text"}
    assert rows == {
        f"B{k:02d}"
        for k in (
            1,
            2,
            4,
            5,
            6,
            7,
            9,
            10,
            11,
            13,
            15,
            16,
            19,
            21,
            22,
            24,
            27,
            28,
            29,
            32,
            34,
            36,
            37,
            40,
            41,
            42,
            43,
            44,
            45,
            47,
            48,
        )
    }
