"""The command line, as a user meets it: what it prints, writes and says."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import h5py
import numpy as np
import pandas as pd
import pytest
from helpers import CAUSAL, ENVIRONMENT, FIT, Here, J, N, goals, make_data, names, write

from goalscli.cli import COMMANDS
from goalscli.cli import goals as group
from goalscli.jobs.plot.reading import ScanModel, local_of
from goalscli.jobs.results import read_scores

COLUMNS = [
    *("#CHROM", "POS", "ID", "A1", "A2", "A1_FREQ", "OBS_CT", "EFFECT", "EFFECT_SD"),
    *("Z", "NEG_LOG10_P", "SCORE", "RMS", "SPREAD"),
]
KEPT = np.array([j for j in range(J) if j not in (5, 6, 7)])


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Data, a model m and a scan s of it with --xi -0.5 and every local score."""
    folder = tmp_path_factory.mktemp("template")
    make_data(folder)
    assert goals(*FIT, "--out", "m", cwd=folder).code == 0
    assert goals("scan", "m.model.h5", "--xi", "-0.5", "--local", "all", "--out", "s", cwd=folder).code == 0
    return folder


@pytest.fixture
def folder(template: Path, tmp_path: Path) -> Path:
    """A copy to work in."""
    return Path(shutil.copytree(template, tmp_path / "work"))


@pytest.fixture
def here(folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Here:
    return Here(monkeypatch, capsys, folder)


@pytest.fixture(scope="module")
def dosages(tmp_path_factory: pytest.TempPathFactory) -> np.ndarray:
    """The same dosages again, NaN where missing."""
    x = make_data(tmp_path_factory.mktemp("again")).astype(float)
    return np.where(x < 0, np.nan, x)


def table(path: Path) -> pd.DataFrame:
    return pd.read_csv(path, sep="\t", dtype={"#CHROM": str})


def modules_after(code: str) -> set[str]:
    told = subprocess.run(
        [sys.executable, "-c", f"{code}\nimport json, sys\nprint('\\n' + json.dumps(list(sys.modules)))"],
        env=ENVIRONMENT, capture_output=True, text=True, check=True, timeout=60,
    ).stdout  # fmt: skip
    return set(json.loads(told.splitlines()[-1]))


HELP = """
import sys
from goalscli.cli import main
sys.argv = {argv!r}
try:
    main()
except SystemExit:
    pass
"""


@pytest.mark.parametrize(
    "code",
    ["import goalscli", *(HELP.format(argv=["goals", *args]) for args in (["--help"], ["run", "--help"]))],
    ids=["import", "help", "run-help"],
)
def test_nothing_heavy_is_imported(code: str):
    loaded = modules_after(code)
    assert "goalscli" in loaded
    assert not {"numpy", "scipy", "pandas", "h5py", "matplotlib", "bed_reader"} & loaded


def commands() -> dict[tuple[str, ...], list[str]]:
    """Every command and subcommand with the names of its options."""
    found: dict[tuple[str, ...], list[str]] = {(): []}
    for name in COMMANDS:
        command = group.get_command(None, name)
        assert command is not None
        subs = getattr(command, "commands", {})
        found[(name,)] = list(subs)
        for path, one in [((name,), command), *(((name, sub), c) for sub, c in subs.items())]:
            found.setdefault(path, []).extend(o for p in one.params for o in p.opts if o.startswith("--"))
    return found


@pytest.mark.parametrize(("path", "options"), commands().items(), ids=lambda value: "-".join(value) or "goals")
def test_help(path: tuple[str, ...], options: list[str], here: Here):
    told = here.well(*path, "--help")
    assert told.err == ""
    assert told.out.startswith(f"Usage: {' '.join(['goals', *path])} ")
    for word in options if path else COMMANDS:
        assert re.search(rf"(?<![\w-]){word}\b", told.out), word
    if path and path[-1] not in ("plot", "simulate", "top", "info", "check"):
        assert "--out" in options


def test_help_and_version_of_the_real_command(tmp_path: Path):
    told = goals("--help", cwd=tmp_path)
    assert (told.code, told.err) == (0, "")
    assert all(name in told.out for name in COMMANDS)
    # Asked nothing, it says how to ask.
    asked = goals(cwd=tmp_path)
    assert (asked.out + asked.err).strip() == told.out.strip()


def test_version(here: Here):
    from goalscli import __version__

    assert here.well("--version").out == f"goals, version {__version__}\n"


def test_run_writes_exactly_what_it_promises(here: Here, folder: Path):
    before = {str(p.relative_to(folder)) for p in folder.rglob("*")}
    told = here.well("run", *FIT[1:], "--out", "new/place/r", "--n-top", "7")
    made = [f"new/place/r.{name}" for name in ("model.h5", "qc.tsv", "scores.h5", "top.tsv", "manhattan.png",
                                               "local.png")]  # fmt: skip
    assert told.out.splitlines() == made
    after = {str(p.relative_to(folder)) for p in folder.rglob("*")}
    assert after - before == {*made, "new", "new/place", "new/place/r.run.log"}
    for name in made[-2:]:
        assert (folder / name).read_bytes().startswith(b"\x89PNG")
    assert len(table(folder / made[3])) == 7
    again = here("run", *FIT[1:], "--out", "new/place/r")
    assert again.code == 2
    assert "exists already" in again.err
    here.well("run", *FIT[1:], "--out", "new/place/r", "--overwrite")


def test_run_is_fit_then_scan_then_top(here: Here, folder: Path):
    here.well("run", *FIT[1:], "--xi", "-0.5", "--out", "r", "--n-top", "9")
    assert (folder / "r.top.tsv").read_text() == here.well("top", "s.scores.h5", "-n", "9").out


def test_several_traits(here: Here, folder: Path):
    here.well("run", *FIT[1:], "--pheno-name", "A,B", "--xi", "-0.5", "--out", "r")
    suffixes = ("model.h5", "qc.tsv", "scores.h5", "top.tsv", "manhattan.png", "local.png")
    made = {name for name in names(folder) if name.startswith("r.")}
    assert made == {f"r.{trait}.{suffix}" for trait in "AB" for suffix in suffixes}
    for trait in "AB":
        assert read_scores(folder / f"r.{trait}.scores.h5").attributes["phenotype"] == trait
    # The first trait is what it is alone.
    assert (folder / "r.A.top.tsv").read_text() == here.well("top", "s.scores.h5").out
    assert (folder / "r.B.top.tsv").read_text() != (folder / "r.A.top.tsv").read_text()


def test_traits_of_the_same_samples_share_the_gram_matrix(here: Here, folder: Path):
    table = pd.read_csv(folder / "pheno.tsv", sep="\t")
    fewer = np.flatnonzero(table["A"].notna())[3]
    table["C"] = table["A"].where(np.arange(len(table)) != fewer)
    table.to_csv(folder / "three.tsv", sep="\t", index=False, na_rep="NA")
    call = ("fit", "--bfile", "d", "--pheno", "three.tsv", "--threads", "1")
    for trait in "ABC":
        here.well(*call, "--pheno-name", trait, "--out", f"alone.{trait}")
    told = here.well(*call, "--pheno-name", "A,B,C", "--out", "r").err
    assert re.findall(r"trait (\w) has the same samples and variants: the Gram matrix is shared", told) == ["B"]
    with h5py.File(folder / "r.A.model.h5") as model:
        n = len(model["samples/iid"])
    # Room for a fit, but not for another matrix: computed again.
    told = here.well(*call, "--pheno-name", "A,B", "--memory", str(0.25 + 3.5 * 8 * n**2 / 2**30), "--out", "s2").err
    assert "shared" not in told
    for trait, prefix in (("A", "r"), ("B", "r"), ("C", "r"), ("A", "s2"), ("B", "s2")):
        assert_same_model(folder / f"{prefix}.{trait}.model.h5", folder / f"alone.{trait}.model.h5")


def assert_same_model(one: Path, other: Path) -> None:
    with h5py.File(one) as a, h5py.File(other) as b:
        for name in ("fit/gram", "fit/weights", "samples/iid", "variants/id"):
            assert np.array_equal(a[name][:], b[name][:])
        assert (a.attrs["signal_variance"], a.attrs["theta"]) == (b.attrs["signal_variance"], b.attrs["theta"])


def test_top_and_the_sign_of_effect(here: Here, folder: Path, dosages: np.ndarray):
    (folder / "top.tsv").write_text(here.well("top", "s.scores.h5", "-n", str(2 * J)).out)
    top = table(folder / "top.tsv")
    assert list(top.columns) == COLUMNS
    assert len(top) == len(KEPT)
    assert (np.diff(np.abs(top["Z"])) <= 0).all()
    assert top["ID"][0] == f"rs{CAUSAL}"
    np.testing.assert_allclose(top["EFFECT"], -top["SCORE"] / -0.5, rtol=2e-5)
    # More A1 raises the trait: a positive effect and z, whatever the sign of the shift.
    trait = pd.read_csv(folder / "pheno.tsv", sep="\t")["A"].to_numpy()
    seen = ~np.isnan(dosages[:, CAUSAL])
    assert np.corrcoef(dosages[seen, CAUSAL], trait[seen])[0, 1] > 0.3
    assert top["EFFECT"][0] > 0
    assert (np.sign(top["EFFECT"]) == np.sign(top["Z"])).all()
    here.well("scan", "m.model.h5", "--xi", "0.5", "--out", "p")
    (folder / "p.tsv").write_text(here.well("top", "p.scores.h5", "-n", str(2 * J)).out)
    # The posterior bends, so a step down is not quite a step up.
    np.testing.assert_allclose(table(folder / "p.tsv").set_index("ID")["Z"][top["ID"]], top["Z"], atol=0.03)
    for by, column in (("rms", "RMS"), ("spread", "SPREAD"), ("p", "NEG_LOG10_P"), ("score", "SCORE")):
        (folder / "by.tsv").write_text(here.well("top", "s.scores.h5", "--by", by, "-n", "30").out)
        found = np.abs(table(folder / "by.tsv")[column])
        assert (np.diff(found) <= 0).all()
        assert found.min() >= np.sort(np.abs(top[column]))[-30]


def test_export(here: Here, folder: Path, dosages: np.ndarray):
    assert here.well("export", "s.scores.h5", "--out", "e/all.tsv").out == "e/all.tsv\n"
    got = table(folder / "e/all.tsv")
    assert list(got.columns) == COLUMNS
    bim = pd.read_csv(folder / "d.bim", sep=r"\s+", header=None, dtype={0: str}).iloc[KEPT]
    for column, name in ((0, "#CHROM"), (1, "ID"), (3, "POS"), (4, "A1"), (5, "A2")):
        assert got[name].tolist() == bim[column].tolist()
    kept = dosages[:, KEPT]
    assert got["OBS_CT"].tolist() == (~np.isnan(kept)).sum(axis=0).tolist()
    np.testing.assert_allclose(got["A1_FREQ"], np.nanmean(kept, axis=0) / 2, rtol=1e-5)
    # Summaries of the stored local scores, by hand.
    with h5py.File(folder / "s.scores.h5") as file:
        local = file["goals/local"][:].astype(float)
    np.testing.assert_allclose(got["SCORE"], local.mean(axis=1), rtol=1e-3, atol=1e-6)
    np.testing.assert_allclose(got["RMS"], np.sqrt((local**2).mean(axis=1)), rtol=1e-4)
    np.testing.assert_allclose(got["SPREAD"], local.std(axis=1, ddof=1), rtol=1e-4)
    assert {"X", "Y"} <= set(got["#CHROM"])


def test_parquet_equals_tsv(here: Here, folder: Path):
    pytest.importorskip("pyarrow")
    here.well("export", "s.scores.h5", "--out", "a.parquet")
    here.well("export", "s.scores.h5", "--out", "a.tsv")
    parquet, text = pd.read_parquet(folder / "a.parquet"), table(folder / "a.tsv")
    assert list(parquet.columns) == list(text.columns)
    for name in text:
        if text[name].dtype.kind == "f":
            np.testing.assert_allclose(parquet[name], text[name], rtol=1e-5)
        else:
            assert parquet[name].tolist() == text[name].tolist()


def test_info(here: Here):
    for file, kind in (("m.model.h5", "goalscli-model"), ("s.scores.h5", "goalscli-scores")):
        told = here.well("info", file).out.splitlines()
        assert told[0].startswith(f"{file}: {kind} (format version ")
        assert f"samples\t{N}" in told
        assert f"variants\t{len(KEPT)}" in told
    assert f"array\tgoals/local\t{len(KEPT)} x {N}" in told


def test_filters_are_accounted(folder: Path):
    rows = (folder / "m.qc.tsv").read_text().splitlines()
    assert rows[0] == "#FILTER\tSAMPLES_REMOVED\tSAMPLES_LEFT\tVARIANTS_REMOVED\tVARIANTS_LEFT"
    assert rows[1] == f"input\t0\t{N}\t0\t{J}"
    # Variant 7 is mostly missing; 5 and 6 are rare, 5 so much that it does not vary.
    assert rows[4:] == [
        f"geno 0.1\t0\t{N}\t1\t{J - 1}", f"maf 0.05\t0\t{N}\t2\t{J - 3}", f"monomorphic\t0\t{N}\t0\t{J - 3}",
    ]  # fmt: skip


def test_covariates(here: Here, folder: Path):
    told = here.well(
        *FIT, "--covar", "covar.tsv", "--covar-name", "age,months,n1-n3", "--cat-covar-name", "batch", "--out", "c"
    )
    assert "warning: covariates dropped, since earlier ones determine them: months" in told.err
    names_line = next(t for t in here.well("info", "c.model.h5").out.splitlines() if t.startswith("covariate_names"))
    for name in ("intercept", "age", "n1", "n2", "n3", "batch=b2", "batch=b10"):
        assert f"'{name}'" in names_line
    assert "batch=b1'" not in names_line
    assert "months" not in names_line
    with h5py.File(folder / "c.model.h5") as file:
        fixed, weights = file["fit/covariates"][:], file["fit/weights"][:]
    # The residual is orthogonal to every covariate, the dropped one too.
    assert fixed.shape == (N, 7)
    months = pd.read_csv(folder / "covar.tsv", sep="\t")["months"]
    assert np.abs(fixed.T @ weights).max() < 1e-8 * np.abs(weights).sum()
    assert abs(months @ weights) < 1e-8 * np.abs(weights).sum() * months.max()


def test_fixed_variances_warn_about_p(here: Here):
    told = here.well(*FIT, "--signal", "0.5", "--noise", "0.5", "--out", "v")
    assert "warning: variances fixed by hand: p-values are only as right as they are" in told.err
    told = here.well("scan", "v.model.h5")
    assert "variances fixed by hand" in told.err
    told = here.well(*FIT, "--out", "w")
    assert "fixed by hand" not in told.err


def test_iid_only(here: Here, folder: Path):
    pheno = pd.read_csv(folder / "pheno.tsv", sep="\t")
    write(pheno.assign(FID=[f"other{i}" for i in range(N)]), folder / "moved.tsv")
    refused = here(*FIT, "--pheno", "moved.tsv", "--out", "i")
    assert refused.code == 2
    assert f"--iid-only would match {N}" in refused.err
    args = ("fit", "--bfile", "d", "--pheno", "moved.tsv", "--pheno-name", "A", "--iid-only", "--out", "i")
    told = here.well(*args)
    assert f"moved.tsv: {N} of {N} genotyped samples found, matched by IID" in told.err
    found, wanted = (values(folder / f"{name}.model.h5", "fit/weights") for name in "im")
    np.testing.assert_allclose(found, wanted, rtol=0, atol=1e-10)


def values(path: Path, name: str) -> np.ndarray:
    with h5py.File(path) as file:
        return file[name][:]


def test_missing_code_is_counted(here: Here, folder: Path):
    pheno = pd.read_csv(folder / "pheno.tsv", sep="\t")
    pheno.loc[[3, 8, 20], "A"] = -9
    pheno.loc[[4], "A"] = np.nan
    pheno.to_csv(folder / "holes.tsv", sep="\t", index=False, na_rep="NA")
    told = here.well(*FIT, "--pheno", "holes.tsv", "--out", "h")
    assert "warning: 3 values -9 of A read as missing (--missing-code)" in told.err
    assert "trait or covariate missing\t4\t60" in (folder / "h.qc.tsv").read_text()
    told = here.well(*FIT, "--pheno", "holes.tsv", "--missing-code", "none", "--out", "k")
    assert "read as missing" not in told.err
    assert "trait or covariate missing\t1\t63" in (folder / "k.qc.tsv").read_text()


def test_quiet_says_only_warnings(here: Here, folder: Path):
    told = here.well(*FIT, "--out", "q", "--quiet")
    assert told.err == ""
    assert told.out == "q.model.h5\n"
    told = here.well(*FIT, "--out", "u", "--quiet", "--signal", "0.5", "--noise", "0.5")
    assert [line.startswith("warning: ") for line in told.err.splitlines()] == [True]
    assert here.well("scan", "q.model.h5", "-q").err == ""
    # The log has everything all the same.
    assert "INFO wrote q.model.h5" in (folder / "q.fit.log").read_text()


def test_log_is_appended(here: Here, folder: Path):
    assert here(*FIT, "--out", "g", "--overwrite").code == 0
    first = (folder / "g.fit.log").read_text()
    assert "share of variance that genotypes explain" in first
    here.well(*FIT, "--out", "g", "--overwrite")
    second = (folder / "g.fit.log").read_text()
    assert second.startswith(first)
    assert second.count("INFO goals ") == 2


def test_chromosome_names_survive(here: Here, folder: Path):
    wanted = ["1"] * 127 + ["X"] * 70 + ["Y"] * 30 + ["2"] * 100
    assert read_scores(folder / "s.scores.h5").variants["chrom"].tolist() == wanted
    here.well("plot", "manhattan", "s.scores.h5", "--out", "m.svg")
    assert {"X", "Y"} <= set(re.findall(r"<!-- (.*?) -->", (folder / "m.svg").read_text()))


def test_local_scores_that_were_not_stored(here: Here, folder: Path):
    """Computed again from the model, and drawn: the very numbers of --local all."""
    here.well("scan", "m.model.h5", "--xi", "-0.5", "--local", "top:3", "--out", "few")
    whole, few = read_scores(folder / "s.scores.h5"), read_scores(folder / "few.scores.h5")
    index = np.array([300, 17, 150, 17], dtype=np.intp)
    assert few.stored_local(np.sort(index)) is None
    again = local_of(ScanModel(few, str(folder / "m.model.h5")), index)
    assert np.array_equal(again, values(folder / "s.scores.h5", "goals/local")[index])
    assert np.array_equal(again, local_of(ScanModel(whole), index))
    for scores, more in (("few", ("--model", "m.model.h5")), ("s", ())):
        drawn = here.well("plot", "local", f"{scores}.scores.h5", *more, "--snp", "rs303", "--out", f"{scores}.png")
        assert ("computing local scores of 1 variants" in drawn.err) == (scores == "few")
        assert (folder / f"{scores}.png").read_bytes().startswith(b"\x89PNG")
    assert (folder / "few.png").read_bytes() == (folder / "s.png").read_bytes()
    # A model of other settings is not taken for this one.
    here.well(*FIT, "--bandwidth", "1/J", "--out", "o")
    refused = here("plot", "local", "few.scores.h5", "--model", "o.model.h5", "--snp", "rs303", "--out", "no.png")
    assert refused.code == 2
    assert "o.model.h5: is not the model of few.scores.h5" in refused.err
    assert not (folder / "no.png").exists()


def test_stored_local_scores_are_those_of_the_list(here: Here, folder: Path):
    (folder / "ids.txt").write_text("rs300 first\n\nrs20\n")
    here.well("scan", "m.model.h5", "--xi", "-0.5", "--local", "ids.txt", "--out", "f")
    rows = values(folder / "f.scores.h5", "goals/local_index")
    assert read_scores(folder / "f.scores.h5").variants["id"][rows].tolist() == ["rs20", "rs300"]
    wanted = values(folder / "s.scores.h5", "goals/local")[rows]
    assert np.array_equal(values(folder / "f.scores.h5", "goals/local"), wanted)
    here.well("scan", "m.model.h5", "--local", "none", "--out", "n")
    with h5py.File(folder / "n.scores.h5") as file:
        assert "local" not in file["goals"]


def test_genotypes_that_moved(here: Here, folder: Path):
    here.well(*FIT, "--out", "mine")
    (folder / "elsewhere").mkdir()
    for suffix in ("bed", "bim", "fam"):
        (folder / f"d.{suffix}").rename(folder / f"elsewhere/moved.v2.{suffix}")
    refused = here("scan", "mine.model.h5", "--out", "r")
    assert refused.code == 2
    assert "--bfile" in refused.err
    here.well("scan", "mine.model.h5", "--bfile", "elsewhere/moved.v2", "--xi", "-0.5", "--local", "all", "--out", "r")
    for name in ("score", "sd", "z", "local"):
        found = values(folder / "r.scores.h5", f"goals/{name}")
        # Fitted with another number of threads, the model may differ in its last bits.
        np.testing.assert_allclose(found, values(folder / "s.scores.h5", f"goals/{name}"), rtol=1e-4, atol=1e-7)
    args = ("plot", "local", "r.scores.h5", "--bfile", "elsewhere/moved.v2", "--model", "mine.model.h5", "--snp", "rs9")
    here.well(*args, "--out", "r.pdf")
    assert (folder / "r.pdf").read_bytes().startswith(b"%PDF")


@pytest.mark.parametrize(
    "args", [("top", "s.scores.h5", "-n", "400"), ("info", "s.scores.h5"), ("export", "s.scores.h5", "--out", "p.tsv")]
)
def test_a_reader_that_left(args: tuple[str, ...], template: Path, folder: Path):
    """As in ``goals top ... | head -1``: the pipe is closed before a word is written."""
    with subprocess.Popen(
        [sys.executable, "-m", "goalscli", *args],
        cwd=folder, env=ENVIRONMENT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    ) as process:  # fmt: skip
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        assert process.stderr.read() == ""
    assert process.returncode == 0


def test_simulated_data_go_through(here: Here, folder: Path):
    cohort = ("simulate", "cohort", "--n-samples", "60", "--n-variants", "300", "--x-chromosome", "--seed", "4")
    told = here.well(*cohort, "--out", "sim/c")
    assert told.out.split() == ["sim/c.bed", "sim/c.bim", "sim/c.fam", "sim/c.groups.tsv"]
    told = here.well("simulate", "trait", "--bfile", "sim/c", "--name", "weight", "--seed", "4", "--out", "sim/t")
    assert told.out.split() == ["sim/t.weight.pheno.tsv", "sim/t.weight.truth.tsv"]
    here.well("run", "--bfile", "sim/c", "--pheno", told.out.split()[0], "--out", "sim/r")
    assert read_scores(folder / "sim/r.scores.h5").attributes["phenotype"] == "weight"
    made = {name for name in names(folder) if name.startswith("sim/c")}
    here.well(*cohort, "--out", "two/c")
    for name in made:
        assert (folder / name).read_bytes() == (folder / name.replace("sim/", "two/")).read_bytes()
