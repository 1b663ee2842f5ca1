"""Every mistake by the user's hand ends in one line that names the place and the remedy, and leaves no file behind."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import pandas as pd
import pytest
from helpers import FIT, Here, J, N, Outcome, goals, make_data, names, write

BED = 3 + J * (N // 4)


@dataclass(frozen=True)
class Case:
    """A mistake: what spoils the folder, the command, and words that the error must say."""

    id: str
    args: tuple[str, ...]
    words: tuple[str, ...]
    spoil: Callable[[Path], object] = lambda folder: None
    unless_root: bool = field(default=False)


def fit(*more: str) -> tuple[str, ...]:
    """The last one of a repeated option counts."""
    return (*FIT, *more, "--out", "out/x")


def scan(*more: str) -> tuple[str, ...]:
    return ("scan", "m.model.h5", "--threads", "1", "--out", "out/x", *more)


def bed(change: Callable[[bytes], bytes]) -> Callable[[Path], object]:
    return lambda folder: (folder / "d.bed").write_bytes(change((folder / "d.bed").read_bytes()))


def line(suffix: str, number: int, change: Callable[[str], str]) -> Callable[[Path], object]:
    """Change one line (from 1) of d.SUFFIX."""

    def spoil(folder: Path) -> None:
        lines = (folder / f"d.{suffix}").read_text().splitlines()
        lines[number - 1] = change(lines[number - 1])
        (folder / f"d.{suffix}").write_text("\n".join(lines) + "\n")

    return spoil


def strangers(folder: Path) -> None:
    table = pd.read_csv(folder / "pheno.tsv", sep="\t")
    write(table.assign(IID=[f"Z{i}" for i in range(len(table))]).head(50), folder / "pheno.tsv")


def ids(folder: Path) -> None:
    (folder / "ids.txt").write_text("rs10\nrs11\nrsX\n")


def put(name: str, content: bytes = b"") -> Callable[[Path], object]:
    return lambda folder: (folder / name).write_bytes(content)


GENOTYPES = (
    Case("missing-file", fit("--bfile", "nope"), ("--bfile nope", "nope.bed", "no such file", "check the path")),
    Case("missing-bim", fit("--bim", "x.bim"), ("--bim x.bim", "no such file", "check the path")),
    Case(
        "unreadable-file",
        fit(),
        ("d.bed", "not readable", "permissions"),
        lambda folder: (folder / "d.bed").chmod(0),
        unless_root=True,
    ),
    Case("truncated-bed", fit(), ("d.bed", f"{BED - 7} bytes", f"{BED} expected", "cut short"), bed(lambda b: b[:-7])),
    Case("long-bed", fit(), ("d.bed", f"{BED + 1} bytes", f"{BED} expected", "too long"), bed(lambda b: b + b"\0")),
    Case("two-byte-bed", fit(), ("d.bed", "2 bytes", f"{BED} expected", "cut short"), bed(lambda b: b[:2])),
    Case(
        "wrong-magic",
        fit(),
        ("d.bed", "01 02 03", "6c 1b 01", "plink --make-bed"),
        bed(lambda b: b"\x01\x02\x03" + b[3:]),
    ),
    Case("sample-major-bed", fit(), ("d.bed", "sample-major", "--make-bed"), bed(lambda b: b[:2] + b"\x00" + b[3:])),
    Case(
        "fam-five-columns",
        fit(),
        ("d.fam:9", "5 columns", "expected 6", "missing columns"),
        line("fam", 9, lambda text: text.rsplit(maxsplit=1)[0]),
    ),
    Case(
        "fam-duplicate",
        fit(),
        ("d.fam", "1 sample", "F0 M000", "unique"),
        line("fam", 2, lambda text: text.replace("M001", "M000")),
    ),
    Case(
        "bim-position",
        fit(),
        ("d.bim:4", "'12.5kb'", "not a whole number", "fourth"),
        line("bim", 4, lambda text: text.replace("61000", "12.5kb")),
    ),
    Case(
        "bim-few-columns",
        fit(),
        ("d.bim:4", "4 columns", "expected 6", "missing columns"),
        line("bim", 4, lambda text: "\t".join(text.split()[:4])),
    ),
)

TABLES = (
    Case(
        "no-overlap",
        fit(),
        ("--pheno pheno.tsv", f"{N} genotyped", "50 in the table", "F0 M000, F0 M001, F0 M002", "F0 Z0, F0 Z1, F0 Z2",
         "same IDs"),
        strangers,
    ),
    Case("constant-trait", fit("--pheno-name", "flat"), ("flat", "constant", f"3.5 in all {N}", "--pheno-name")),
    Case("all-missing", fit("--pheno-name", "none"), ("none", "0 sample(s)", "missing values")),
    Case("all-minus-9", fit("--pheno-name", "nine"), ("nine", "0 sample(s)", "missing values")),
    Case(
        "unknown-column",
        fit("--pheno-name", "weight"),
        ("pheno.tsv", "no column 'weight'", "columns are: A, B, flat, none, nine"),
    ),
    Case("unknown-group", fit("--group-column", "house"), ("groups.tsv", "no column 'house'", "columns are: cage")),
    Case("covar-name-alone", fit("--covar-name", "age"), ("--covar-name", "needs --covar", "give the table")),
    Case(
        "covariates-as-samples",
        fit("--covar", "covar.tsv", "--covar-name", f"n0-n{N - 1}"),
        (f"{N} covariate", f"{N} samples", "fewer covariates"),
    ),
    Case("pheno-folder", fit("--pheno", "folder"), ("--pheno folder", "folder, not a file", "path"),
         lambda folder: (folder / "folder").mkdir()),
    Case("several-traits", ("fit", "--bfile", "d", "--pheno", "pheno.tsv", "--out", "out/x"),
         ("--pheno pheno.tsv", "5 trait columns: A, B", "--pheno-name")),
    Case("word-in-trait", fit("--pheno-name", "batch", "--pheno", "covar.tsv"), ("covar.tsv:2", "'b1'", "not a number",
         "NA where missing")),
)  # fmt: skip

LISTS = (
    Case("keep-missing", fit("--keep", "k.txt"), ("--keep k.txt", "no such file", "check the path")),
    Case("keep-empty", fit("--keep", "k.txt"), ("--keep k.txt", "empty", "one sample a line"), put("k.txt", b"\n")),
    Case("keep-header-only", fit("--keep", "k.txt"), ("--keep k.txt", "no samples", "one sample a line"),
         put("k.txt", b"FID IID\n")),
    Case("keep-strangers", fit("--keep", "k.txt"), ("--keep k.txt", f"{N} genotyped", "2 in the table",
         "F0 M000, F0 M001", "Z 1, Z 2", "same IDs"), put("k.txt", b"Z 1\nZ 2\n")),
    Case("remove-ragged", fit("--remove", "k.txt"), ("k.txt:2", "1 field(s) found, 2 expected", "FID and IID on every"),
         put("k.txt", b"F0 M000\nM001\n")),
    Case("remove-ids-then-pairs", fit("--remove", "k.txt"), ("k.txt:2", "2 field(s) found, 1 expected", "IID alone"),
         put("k.txt", b"M000\nF0 M001\n")),
    Case("remove-empty-id", fit("--remove", "k.txt"), ("k.txt:2", "empty ID", "0 where there is no family"),
         put("k.txt", b"F0,M000\nF0,\n")),
    Case("remove-zeros", fit("--remove", "k.txt"), ("--remove k.txt", "no sample in common", "letter by letter"),
         put("k.txt", b"M0\nM01\n")),
    Case("remove-everybody", fit("--remove", "pheno.tsv"), ("0 sample(s)", f"remove\t{N}\t0", "check --remove")),
    Case("keep-binary", fit("--keep", "d.bed"), ("--keep d.bed", "text")),
    Case("keep-damaged-gzip", fit("--keep", "k.gz"), ("--keep k.gz", "damaged gzip", "again"),
         put("k.gz", b"\x1f\x8b\x08\x00junk")),
    Case("extract-missing", fit("--extract", "e.txt"), ("--extract e.txt", "no such file", "check the path")),
    Case("extract-folder", fit("--extract", "."), ("--extract .", "folder, not a file", "check the path")),
    Case("extract-empty", fit("--extract", "e.txt"), ("--extract e.txt", "empty", "one variant ID a line"),
         put("e.txt")),
    Case("extract-binary", fit("--extract", "d.bed"), ("--extract d.bed", "text", "one variant ID a line")),
    Case("extract-damaged-gzip", fit("--extract", "e.gz"), ("--extract e.gz", "damaged gzip", "one variant ID a line"),
         put("e.gz", b"\x1f\x8b\x08\x00junk")),
    Case("extract-unknown", fit("--extract", "e.txt"), ("--extract e.txt", "none of its 2 variants", "RS1, RS2",
         "rs0, rs1, rs2", "letter by letter"), put("e.txt", b"RS1\nRS2\n")),
    Case("exclude-unknown", fit("--exclude", "e.txt"), ("--exclude e.txt", "none of its 1 variants"),
         put("e.txt", b"q\n")),
    Case("exclude-everything", fit("--exclude", "d.ids"), ("no variant passes", f"exclude\t0\t{N}\t{J}\t0", "relax"),
         put("d.ids", b"".join(b"rs%d\n" % j for j in range(J)))),
    Case("chr-unknown", fit("--chr", "1,3,Z"), ("--chr 1,3,Z", "no chromosome 3, Z", "they have: 1, X, Y, 2")),
    Case("chr-backwards", fit("--chr", "4-1"), ("--chr", "runs backwards", "write 1-4")),
    Case("chr-empty", fit("--chr", "1,"), ("--chr", "empty name", "comma")),
    Case("from-without-chr", fit("--from-bp", "5"), ("--from-bp", "one chromosome", "--chr")),
    Case("to-with-two-chr", fit("--chr", "1,2", "--to-bp", "5"), ("--to-bp", "--chr 1,2 is not one", "exactly one")),
    Case("range-backwards", fit("--chr", "1", "--from-bp", "9", "--to-bp", "5"),
         ("--from-bp", "9 lies behind", "exchange")),
    Case("range-empty", fit("--chr", "1", "--to-bp", "5"), ("no variant passes", f"to-bp 5\t0\t{N}\t130\t0", "relax")),
    Case("mac", fit("--mac", "-1"), ("--mac", "-1 is negative", "give")),
    Case("mac-large", fit("--mac", "500"), ("no variant passes", "mac 500", "relax")),
    Case("mac-word", fit("--mac", "few"), ("--mac", "'few'", "goals fit --help")),
    Case("hwe", fit("--hwe", "2"), ("--hwe", "2.0 is outside 0 to 1", "p-value")),
    Case("rank-int-constant", fit("--rank-int", "--pheno-name", "flat"), ("flat", "constant", "--pheno-name")),
)  # fmt: skip

OPTIONS = (
    Case("all-filtered", fit(), ("no variant passes", "#FILTER\tSAMPLES_REMOVED", f"maf 0.05\t0\t{N}\t{J}\t0",
         "relax --maf"), bed(lambda b: b[:3] + b"\xff" * (len(b) - 3))),
    Case("fit-memory", fit("--memory", "0.001"), ("--memory 0.001", f"{N} samples", "needs about", "GiB", "raise")),
    Case("scan-memory", scan("--memory", "0.001"), ("--memory 0.001", f"{N} samples", "needs about", "GiB", "raise")),
    Case("model-exists", (*FIT, "--out", "m"), ("m.model.h5", "exists already", "--overwrite")),
    Case("table-exists", ("export", "s.scores.h5", "--out", "covar.tsv"), ("covar.tsv", "exists", "--overwrite")),
    Case("unknown-local", scan("--local", "best"), ("--local", "'best'", "top:K", "one variant ID a line")),
    Case("local-no-number", scan("--local", "top:x"), ("--local", "'top:x'", "top:100")),
    Case("local-unknown-id", scan("--local", "ids.txt"), ("--local ids.txt", "1 variant", "rsX", "misspelt"), ids),
    Case("local-binary", scan("--local", "d.bed"), ("--local d.bed", "text", "one variant ID a line")),
    Case("xi-0", scan("--xi", "0"), ("--xi", "shift of 0", "give")),
    Case("maf", fit("--maf", "0.7"), ("--maf", "0.7", "outside 0 to 0.5", "give")),
    Case("bandwidth", fit("--bandwidth", "foo"), ("--bandwidth", "'foo'", "median, 1/J or a number")),
    Case("noise", fit("--noise", "-1"), ("--noise", "-1", "positive", "above 0")),
    Case("threads-0", fit("--threads", "0"), ("--threads", "0 threads", "1 or more")),
    Case("chunk-size-0", scan("--chunk-size", "0"), ("--chunk-size", "0 variants", "1 or more")),
    Case("no-such-model", fit("--model", "foo"), ("--model", "'foo'", "exact", "goals fit --help")),
    Case("no-out", FIT, ("--out", "Missing option", "goals fit --help")),
    Case("no-such-option", fit("--fenotype", "x"), ("--fenotype", "No such option", "goals fit --help")),
    Case("no-such-command", ("fitt",), ("fitt", "No such command", "goals --help")),
    Case("run-n-top-0", ("run", *fit("--n-top", "0")[1:]), ("--n-top", "0 variants", "1 or more")),
    Case("run-chunk-size-0", ("run", *fit("--chunk-size", "0")[1:]), ("--chunk-size", "0 variants", "1 or more")),
)  # fmt: skip

FILES = (
    Case("fit-below-file", (*FIT, "--out", "d.fam/x"), ("d.fam/x", "cannot be written", "--out")),
    Case("export-below-file", ("export", "s.scores.h5", "--out", "d.fam/x.tsv"), ("d.fam/x.tsv", "cannot be written",
         "check the folder")),
    Case("plot-below-file", ("plot", "manhattan", "s.scores.h5", "--out", "d.fam/x.png"),
         ("d.fam/x.png", "cannot be written", "check the folder")),
    Case("simulate-below-file", ("simulate", "cohort", "--n-samples", "9", "--n-variants", "20", "--out", "d.fam/x"),
         ("d.fam/x", "cannot be written", "another prefix")),
    Case("trait-below-file", ("simulate", "trait", "--bfile", "d", "--out", "d.fam/x"),
         ("d.fam/x", "cannot be written", "another prefix")),
    Case("scores-to-scan", ("scan", "s.scores.h5", "--out", "out/x"), ("s.scores.h5", "goalscli-scores",
         "expected goalscli-model", "goals fit")),
    Case("model-to-top", ("top", "m.model.h5"), ("m.model.h5", "goalscli-model", "expected goalscli-scores",
         "goals scan")),
    Case("text-to-top", ("top", "pheno.tsv"), ("pheno.tsv", "not a readable HDF5 file", "goalscli-scores")),
    Case("top-by", ("top", "s.scores.h5", "--by", "beta"), ("--by", "'beta'", "z, score, p, rms, spread")),
    Case("no-such-scores", ("top", "t.scores.h5"), ("t.scores.h5", "no such file", "check the path")),
    Case("plot-jpg", ("plot", "manhattan", "s.scores.h5", "--out", "x.jpg"), ("x.jpg", "'.jpg'", ".png")),
    Case("plot-unknown-snp", ("plot", "local", "s.scores.h5", "--snp", "rs9999", "--out", "x.png"),
         ("--snp", "'rs9999'", "0 analysed variants", "give the ID")),
    Case("plot-no-model", ("plot", "local", "s.scores.h5", "--snp", "rs20", "--out", "x.png"),
         ("s.model.h5", "not there", "--model")),
    Case("genotypes-deleted", scan(), ("m.model.h5", "d.bed", "no such file", "give --bfile"),
         lambda folder: (folder / "d.bed").unlink()),
    Case("genotypes-changed", scan(), ("m.model.h5", "not those of the fit", "d.bed", "fit again"),
         bed(lambda b: b[:50] + bytes([b[50] ^ 0b11]) + b[51:])),
    Case("bim-changed", scan(), ("m.model.h5", "not those of the fit", "d.bim", "fit again"),
         line("bim", 1, lambda text: text.replace("rs0", "rs00"))),
)  # fmt: skip

CASES = (*GENOTYPES, *TABLES, *LISTS, *OPTIONS, *FILES)


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The data, a model and a scan without local scores but two."""
    folder = tmp_path_factory.mktemp("template")
    make_data(folder)
    (folder / "two.txt").write_text("rs10\nrs11\n")
    for args in ((*FIT, "--out", "m"), ("scan", "m.model.h5", "--local", "two.txt", "--out", "s")):
        assert goals(*args, cwd=folder).code == 0
    return folder


@pytest.fixture
def folder(template: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy to spoil, at the template's own place as far as the model's genotype paths go."""
    copy = tmp_path / "work"
    shutil.copytree(template, copy)
    # The model holds absolute paths; the spoilt copy must be what it finds.
    import h5py

    with h5py.File(copy / "m.model.h5", "r+") as file:
        told = file.attrs["genotypes"]
        file.attrs["genotypes"] = told.replace(str(template), str(copy))
    return copy


def assert_refused(outcome: Outcome, words: tuple[str, ...]) -> None:
    assert outcome.code == 2, outcome.err
    assert "Traceback" not in outcome.err
    assert "Warning" not in outcome.err
    lines = outcome.err.splitlines()
    first = [k for k, text in enumerate(lines) if text.startswith("goals: error: ")]
    assert len(first) == 1, outcome.err
    message = "\n".join(lines[first[0] :])
    # Only the filter table may follow, and the remedy after it.
    assert all("\t" in text or text.startswith("; ") for text in lines[first[0] + 1 :]), outcome.err
    for word in words:
        assert word in message
    assert re.search(r"; \w", message), "no remedy"
    assert outcome.out == ""


@pytest.mark.parametrize("case", CASES, ids=[case.id for case in CASES])
def test_bad_input(case: Case, folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
    if case.unless_root and os.geteuid() == 0:
        pytest.skip("root may read everything")
    case.spoil(folder)
    before = {name: (folder / name).stat().st_mtime_ns for name in names(folder)}
    here = Here(monkeypatch, capsys, folder)
    assert_refused(here(*case.args), case.words)
    assert {name: (folder / name).stat().st_mtime_ns for name in names(folder)} == before


@pytest.mark.parametrize("case", [CASES[0], OPTIONS[0], OPTIONS[9], FILES[1]], ids=lambda case: case.id)
def test_in_a_process_of_its_own(case: Case, folder: Path):
    case.spoil(folder)
    before = names(folder)
    assert_refused(goals(*case.args, cwd=folder), case.words)
    assert names(folder) == before


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_a_scan_without_a_finite_result_leaves_nothing(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    before = names(folder)
    assert_refused(Here(monkeypatch, capsys, folder)(*scan("--xi", "1e200")), ("not finite", "--xi"))
    assert names(folder) == before


def test_each_case_would_work_without_the_mistake(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    here = Here(monkeypatch, capsys, folder)
    here.well(*fit())
    here.well("scan", "m.model.h5", "--out", "again/x", "--local", "two.txt")
    assert {"out/x.model.h5", "out/x.qc.tsv", "again/x.scores.h5"} <= names(folder)
