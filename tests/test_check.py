"""``goals check``: it finds what a fit would refuse, all of it, and tells the counts that the fit uses."""

from __future__ import annotations

import shutil
from pathlib import Path

import pandas as pd
import pytest
import test_bad_input as bad
from helpers import FIT, Here, J, N, make_data, names, write

from goalscli.cli.check import command as check_command
from goalscli.cli.fit import command as fit_command
from goalscli.jobs.check import check
from goalscli.jobs.fit import FitRequest
from goalscli.jobs.inputs import GenotypeFiles, Tables

CHECK = ("check", *FIT[1:])
NOT_INPUTS = {"model-exists", "no-out", "no-such-command", "no-such-option", "fit-below-file"}
REFUSED = [case for case in bad.CASES if case.args[0] == "fit" and case.id not in NOT_INPUTS]


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("template")
    make_data(folder)
    return folder


@pytest.fixture
def folder(template: Path, tmp_path: Path) -> Path:
    """A copy to spoil."""
    return Path(shutil.copytree(template, tmp_path / "work"))


@pytest.fixture
def here(folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Here:
    return Here(monkeypatch, capsys, folder)


def told(here: Here, *args: str) -> list[str]:
    """The problems' lines, filter tables left out; the exit code and stderr must tell as many."""
    outcome = here(*args)
    assert outcome.code == 2, outcome.out
    _, _, listed = outcome.out.partition("problem(s):\n")
    lines = [line for line in listed.splitlines() if not line.startswith("  ")]
    assert f"goals: error: {len(lines)} problem(s) found" in outcome.err
    return lines


def facts(text: str) -> dict[str, str]:
    return dict(line.split("\t", 1) for line in text.splitlines() if "\t" in line)


def test_it_takes_the_options_of_fit():
    # Parts of the Gram matrix are a matter of the fit itself.
    options = {o for p in fit_command.params for o in p.opts} - {"--out", "--gram"}
    assert {o for p in check_command.params for o in p.opts} == options


def test_what_it_tells_is_what_fit_uses(here: Here, folder: Path):
    (folder / "keep.txt").write_text("".join(f"F{i // 4} M{i:03d}\n" for i in range(2, 60)))
    options = [
        *("--covar", "covar.tsv", "--covar-name", "age,months", "--cat-covar-name", "batch"),
        *("--random-effect", "cage", "--keep", "keep.txt", "--chr", "1,X", "--hwe", "1e-3", "--memory", "2"),
    ]
    before = names(folder)
    outcome = here.well(*CHECK, *options)
    assert names(folder) == before
    assert not list(folder.rglob("*.log"))
    assert outcome.out.endswith("nothing wrong: goals fit would run\n")
    here.well(*FIT, *options, "--out", "m")
    table = (folder / "m.qc.tsv").read_text()
    assert table in outcome.out
    last = table.splitlines()[-1].split("\t")
    found = facts(outcome.out)
    assert found["trait"] == f"A: {last[2]} samples, {last[4]} variants"
    assert last[2] == "58"
    assert found["genotypes"] == f"d.bed, d.bim, d.fam: {N} samples, {J} variants"
    assert found["covariates"] == "age, batch=b2, batch=b10; dropped: months"
    assert found["groups"] == found["families"] == "15"
    assert found["random effect"] == "cage: 15 levels"
    assert found["memory"] == "about 0.25 GiB needed, 2 GiB allowed"


def test_several_traits_each_have_their_table(here: Here):
    out = here.well(*CHECK, "--pheno-name", "A,B").out
    assert [line for line in out.splitlines() if line.startswith("trait\t")] == [
        f"trait\t{trait}: {N} samples, {J - 3} variants" for trait in "AB"
    ]


@pytest.mark.parametrize("case", REFUSED, ids=[case.id for case in REFUSED])
def test_it_refuses_what_fit_refuses(case: bad.Case, folder: Path, here: Here):
    if case.unless_root:
        pytest.skip("root may read everything")
    case.spoil(folder)
    before = names(folder)
    outcome = here("check", *(word for word in case.args[1:] if word not in ("--out", "out/x")))
    assert outcome.code == 2
    assert names(folder) == before
    for word in case.words:
        assert word.replace("goals fit --help", "goals check --help") in outcome.out + outcome.err


def spoil_everything(folder: Path) -> None:
    table = pd.read_csv(folder / "pheno.tsv", sep="\t", dtype=str)
    table.loc[4, "A"], table.loc[9, "A"], table.loc[11, "B"] = "x", "inf", "y"
    write(table, folder / "pheno.tsv")
    with open(folder / "pheno.tsv", "a") as file:
        file.write("F0\tlate\n")
    (folder / "keep.txt").write_text("F0 M000\nF0\n")
    (folder / "extract.txt").write_text("nothing\n")


FAULTY = (
    *("--pheno-name", "A,B,C", "--covar", "covar.tsv", "--covar-name", "age,shoe,batch", "--random-effect", "hutch"),
    *("--keep", "keep.txt", "--remove", "gone.txt", "--extract", "extract.txt", "--maf", "0.7", "--mind", "-1"),
    *("--noise", "-1", "--theta", "0", "--bandwidth", "wide", "--from-bp", "7"),
)
OF_OPTIONS = ["--from-bp", "--mind", "--maf", "--bandwidth", "--theta", "--noise"]
OF_TABLES = [
    "covar.tsv: no column 'shoe'",
    "covar.tsv:2: 'b1' in column batch",
    "groups.tsv: no column 'hutch'",
    f"pheno.tsv:{N + 2}: 2 field(s) found, 7 expected",
    "pheno.tsv: no column 'C'",
    "pheno.tsv:6: 'x' in column A",
    "pheno.tsv:11: 'inf' in column A",
    "pheno.tsv:13: 'y' in column B",
]


def begin_as(lines: list[str], wanted: list[str]) -> None:
    assert len(lines) == len(wanted), "\n".join(lines)
    assert [line for line, word in zip(lines, wanted, strict=True) if not line.startswith(word)] == []
    assert [line for line in lines if "; " not in line] == []


def test_every_problem_has_its_line(here: Here, folder: Path):
    spoil_everything(folder)
    lists = [
        "keep.txt:2: 1 field(s)",
        "--remove gone.txt: no such file",
        "--extract extract.txt: none of its 1 variants",
    ]
    begin_as(told(here, *CHECK, *FAULTY), [*OF_OPTIONS, *lists, *OF_TABLES])


def test_without_genotypes_the_tables_are_read_all_the_same(here: Here, folder: Path):
    spoil_everything(folder)
    (folder / "d.bed").unlink()
    (folder / "d.fam").unlink()
    genotypes = ["--bfile d: d.bed: no such file", "--bfile d: d.fam: no such file"]
    lists = ["keep.txt:2: 1 field(s)", "--remove gone.txt: no such file"]
    begin_as(told(here, *CHECK, *FAULTY), [*OF_OPTIONS, *genotypes, *lists, *OF_TABLES])


def test_every_bad_line_of_the_genotypes(here: Here, folder: Path):
    for suffix, numbers in (("bim", (3, 200)), ("fam", (7,))):
        lines = (folder / f"d.{suffix}").read_text().splitlines()
        for number in numbers:
            lines[number - 1] = "1 x"
        (folder / f"d.{suffix}").write_text("\n".join(lines) + "\n")
    begin_as(told(here, *CHECK), ["d.fam:7: 2 columns", "d.bim:3: 2 columns", "d.bim:200: 2 columns"])


def test_odd_lines_of_the_genotypes_are_gathered_too(here: Here, folder: Path):
    fam = (folder / "d.fam").read_text().splitlines()
    fam[3], fam[8] = f"{fam[3]} 1", " ".join(fam[8].split()[:5])
    (folder / "d.fam").write_text("\n".join(["FID IID PAT MAT SEX PHENO", *fam]) + "\n")
    bim = [line.split() for line in (folder / "d.bim").read_text().splitlines()]
    bim[0][1], bim[1][3], bim[4][3] = "an ID", "-5", "1e5"
    (folder / "d.bim").write_text("".join("\t".join(fields) + "\n" for fields in bim))
    wanted = [
        *("d.fam:1: a header line", "d.fam:5: 7 columns, but 6 in the lines before", "d.fam:10: 5 columns, expected 6"),
        *("d.bim:1: a field holds a space", "d.bim:2: position -5 is negative", "d.bim:5: position '1e5'"),
    ]
    begin_as(told(here, *CHECK), wanted)


def test_a_first_line_that_is_wider_is_not_shifted_in_silence(here: Here, folder: Path):
    lines = (folder / "d.fam").read_text().splitlines()
    first = lines[0].split()
    lines[0] = " ".join([first[0], "an", *first[1:]])
    (folder / "d.fam").write_text("\n".join(lines) + "\n")
    wanted = [f"d.fam:{2 + k}: 6 columns, but 7 in the lines before" for k in range(20)]
    begin_as(told(here, *CHECK), [*wanted, f"d.fam: {N - 1} such lines"])


def test_stray_quotes_own_traits_and_names_of_traits_are_gathered(here: Here, folder: Path):
    table = pd.read_csv(folder / "pheno.tsv", sep="\t", dtype=str).rename(columns={"B": "B/2"})
    write(table, folder / "pheno.tsv")
    lines = (folder / "pheno.tsv").read_text().splitlines()
    lines[4] += '"'
    lines[6] = f'"{lines[6]}'
    (folder / "pheno.tsv").write_text("\n".join(lines) + "\n")
    quotes = [f"pheno.tsv:{number}: a double quote is misplaced" for number in (5, 7)]
    begin_as(told(here, *CHECK, "--pheno-name", "A,B/2"), [*quotes, "--pheno-name: trait 'B/2' cannot be part"])
    fam = [line.split()[:5] for line in (folder / "d.fam").read_text().splitlines()]
    (folder / "d.fam").write_text("".join(" ".join([*fields, "none"]) + "\n" for fields in fam))
    found = told(here, "check", "--bfile", "d", "--keep", "gone.txt")
    begin_as(found, ["--keep gone.txt: no such file", f"d.fam: none of the {N} samples has a trait"])
    fam[2].append("1,5")
    fam[5].append("2,5")
    (folder / "d.fam").write_text("".join(" ".join([*fields, "3"][:6]) + "\n" for fields in fam))
    begin_as(told(here, "check", "--bfile", "d"), ["d.fam:3: '1,5' in column PHENO1", "d.fam:6: '2,5'"])


def test_tables_of_strangers_are_still_read(here: Here, folder: Path):
    table = pd.read_csv(folder / "pheno.tsv", sep="\t", dtype=str)
    table["IID"] = "Z" + table["IID"]
    table.loc[4, "A"] = "x"
    write(table, folder / "pheno.tsv")
    begin_as(told(here, *CHECK), ["--pheno pheno.tsv: no sample in common", "pheno.tsv:6: 'x' in column A"])


def test_a_sound_trait_is_tried_beside_a_faulty_one(here: Here, folder: Path):
    table = pd.read_csv(folder / "pheno.tsv", sep="\t", dtype=str)
    table.loc[4, "A"] = "x"
    write(table, folder / "pheno.tsv")
    outcome = here(*CHECK, "--pheno-name", "A,B")
    assert facts(outcome.out)["trait"] == f"B: {N} samples, {J - 3} variants without what is faulty"
    lines = told(here, *CHECK, "--pheno-name", "A,flat", "--covar", "groups.tsv", "--covar-name", "cage")
    begin_as(
        lines, ["groups.tsv:2: 'C0' in column cage", "pheno.tsv:6: 'x' in column A", "flat: the trait is constant"]
    )


def test_twenty_bad_lines_and_their_number(here: Here, folder: Path):
    table = pd.read_csv(folder / "pheno.tsv", sep="\t", dtype=str)
    table.loc[10:, "A"] = "?"
    write(table, folder / "pheno.tsv")
    lines = told(here, *CHECK)
    begin_as(lines, [*(f"pheno.tsv:{12 + k}: '?'" for k in range(20)), f"pheno.tsv: {N - 10} such lines"])
    (folder / "pheno.tsv").write_text(
        "FID IID A\n" + "F0\n" * 30 + "".join(f"F{i // 4} M{i:03d} {i}\n" for i in range(N))
    )
    begin_as(told(here, *CHECK), [*(f"pheno.tsv:{2 + k}: 1 field(s)" for k in range(20)), "pheno.tsv: 30 such lines"])


def test_problems_of_the_data_are_found_together(here: Here, folder: Path):
    """The trait is constant, the covariates are too many, and no variant passes."""
    lines = told(
        here, *CHECK, "--pheno-name", "flat", "--covar", "covar.tsv", "--covar-name", f"n0-n{N - 1}", "--mac", "999",
        "--memory", "0.1",
    )  # fmt: skip
    begin_as(lines, ["--memory 0.1: an exact fit", "flat: the trait is constant", "--covar: 64", "no variant passes"])


def test_memory_is_asked_for_as_fit_asks(here: Here, folder: Path):
    """Before --mind: all samples that have a trait."""
    outcome = here(*CHECK, "--mind", "0.0", "--memory", "0.25")
    assert (outcome.code, here(*FIT, "--mind", "0.0", "--memory", "0.25", "--out", "m").code) == (2, 2)
    assert f"exact fit of {N} samples needs about" in outcome.out


def test_fit_says_that_there_is_more(here: Here, folder: Path):
    spoil_everything(folder)
    outcome = here(*FIT, "--out", "m")
    assert outcome.code == 2
    assert outcome.err.splitlines()[-1].endswith("(and 2 more: goals check lists them)")


def test_from_python(folder: Path):
    tables = Tables(pheno=str(folder / "pheno.tsv"), pheno_name="A")
    report = check(FitRequest(GenotypeFiles(bfile=str(folder / "d")), tables))
    assert report.problems == ()
    assert report.text().splitlines()[-1] == "nothing wrong: goals fit would run"
    report = check(FitRequest(GenotypeFiles(bfile=str(folder / "e")), tables))
    assert [error.remedy for error in report.problems] == ["check the path; --bfile takes the name without .bed"] * 3
