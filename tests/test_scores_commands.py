"""Scores, kernels and the random effect through the command line and the files."""

from __future__ import annotations

import re
import shutil
import signal
from pathlib import Path

import h5py
import numpy as np
import pandas as pd
import pytest
from helpers import FIT, Here, arrays, assert_same, goals, make_data, names, write
from test_resume import FINISH, WRITE, dying

from goalscli import ExactGP, Goals, Psi, Rate, load_model, read_plink, read_scores, scan

ALL = ("--scores", "goals,rate,psi", "--loco", "--threads", "1")


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Data with two chromosomes' worth of variants, a model m, and a scan all of every score."""
    folder = tmp_path_factory.mktemp("scores")
    make_data(folder)
    assert goals(*FIT, "--out", "m", cwd=folder).code == 0
    assert goals("scan", "m.model.h5", *ALL, "--out", "all", cwd=folder).code == 0
    return folder


@pytest.fixture
def folder(template: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(template, tmp_path / "work"))


@pytest.fixture
def here(folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Here:
    return Here(monkeypatch, capsys, folder)


def table(text: str) -> pd.DataFrame:
    lines = text.splitlines()
    return pd.DataFrame([line.split("\t") for line in lines[1:]], columns=lines[0].split("\t"))


def test_run_with_every_score(here: Here, folder: Path):
    here.well("run", *FIT[1:], "--scores", "goals,rate,psi", "--loco", "--out", "out/r")
    assert {n for n in names(folder) if n.startswith("out/")} == {
        "out/r.model.h5", "out/r.qc.tsv", "out/r.scores.h5", "out/r.top.tsv", "out/r.manhattan.png",
        "out/r.manhattan.rate.png", "out/r.manhattan.psi.png", "out/r.manhattan.loco.png", "out/r.local.png",
    }  # fmt: skip
    assert_same(folder / "out/r.scores.h5", folder / "all.scores.h5")
    header = (folder / "out/r.top.tsv").read_text().splitlines()[0].split("\t")
    assert header[-6:] == ["Z_LOCO", "NEG_LOG10_P_LOCO", "RATE", "KLD", "PSI", "PSI_EXCESS"]


def test_file_and_memory_agree(template: Path):
    """The command's arrays are those of the Python API; attributes say what RATE was and what it amounts to."""
    dataset, posterior, _ = load_model(template / "m.model.h5")
    result = scan(posterior, dataset, [Goals(loco=True), Rate(), Psi()], threads=1)
    found = arrays(template / "all.scores.h5")
    for name, values in result.columns.items():
        assert np.array_equal(found[name], values), name
    read = read_scores(template / "all.scores.h5")
    assert {k: dict(v) for k, v in result.attributes.items()} == read.score_attributes
    rate, told = read.score("rate")["rate"], read.score_attributes["rate"]
    assert rate.sum() == pytest.approx(1)
    assert told["delta"] == pytest.approx(float(np.sum(rate * np.log(len(rate) * rate))))
    assert told["ess"] == pytest.approx(100 / (1 + told["delta"]))
    assert told["null_level"] == 1 / len(rate)
    assert "rank" in told["form"]
    with h5py.File(template / "all.scores.h5") as file:
        for group in ("goals", "rate", "psi"):
            for name, data in file[group].items():
                assert data.attrs["description"], name
                assert data.attrs["unit"], name


def test_rankings_of_top(here: Here):
    by_z = table(here.well("top", "all.scores.h5", "--n", "4").out)
    assert (np.diff(np.abs(by_z["Z"].astype(float))) <= 0).all()
    for by, column in (("rate", "RATE"), ("psi", "PSI"), ("excess", "PSI_EXCESS"), ("loco", "Z_LOCO")):
        ranked = table(here.well("top", "all.scores.h5", "--n", "6", "--by", by).out)[column].astype(float)
        assert (np.diff(np.abs(ranked)) <= 0).all()
        exported = here.well("export", "all.scores.h5", "--out", f"{by}.tsv")
        everything = pd.read_csv(here.folder / exported.out.strip(), sep="\t")[column]
        assert abs(ranked.iloc[0]) == pytest.approx(np.abs(everything).max())


@pytest.mark.parametrize(("scores", "column"), [("rate", "RATE"), ("psi", "PSI"), ("psi,rate", "RATE")])
def test_without_the_goals_score(here: Here, folder: Path, scores: str, column: str):
    here.well("scan", "m.model.h5", "--scores", scores, "--out", "o")
    alone, together = arrays(folder / "o.scores.h5"), arrays(folder / "all.scores.h5")
    assert {n for n in alone if n.startswith(("rate/", "psi/", "goals/"))} == {
        n for n in together if n.split("/")[0] in scores.split(",")
    }
    for name, values in alone.items():
        assert np.array_equal(values, together[name]), name
    shown = table(here.well("top", "o.scores.h5", "--n", "3").out)
    assert "EFFECT" not in shown
    assert (np.diff(shown[column].astype(float)) <= 0).all()
    here.well("plot", "manhattan", "o.scores.h5", "--out", "o.png")
    refused = here("plot", "local", "o.scores.h5", "--out", "l.png")
    assert refused.code == 2
    assert "holds no goals score" in refused.err


def test_run_without_goals_draws_no_local_picture(here: Here, folder: Path):
    here.well("run", *FIT[1:], "--scores", "rate", "--out", "out/r")
    assert {n for n in names(folder) if n.startswith("out/")} == {
        "out/r.model.h5", "out/r.qc.tsv", "out/r.scores.h5", "out/r.top.tsv", "out/r.manhattan.png",
    }  # fmt: skip


def test_the_null_level_is_drawn(here: Here, folder: Path):
    for value in ("rate", "psi", "loco", "p", "score"):
        here.well("plot", "manhattan", "all.scores.h5", "--value", value, "--out", f"{value}.svg")
    drawn = (folder / "rate.svg").read_text()
    assert "threshold" in drawn
    assert "threshold" not in (folder / "psi.svg").read_text()


@pytest.mark.parametrize(("place", "k"), [(WRITE, 3), (WRITE, 20), (FINISH, 1)])
def test_killed_and_resumed(place, k: int, here: Here, folder: Path):
    """Over chromosome borders, with every score: RATE's shares are formed once, at the end."""
    command = ("scan", "m.model.h5", *ALL, "--chunk-size", "16", "--out", "r")
    assert dying(place, k, signal.SIGKILL, *command, cwd=folder).code == -signal.SIGKILL
    assert not (folder / "r.scores.h5").exists()
    assert "resuming: " in here.well(*command, "--resume").err
    assert_same(folder / "r.scores.h5", folder / "all.scores.h5")
    assert "is complete" in here.well(*command, "--resume").err
    other = here("scan", "m.model.h5", "--scores", "goals,rate", "--out", "r", "--resume")
    assert other.code == 2
    assert "other settings" in other.err


@pytest.mark.parametrize("kernel", ["laplacian", "cauchy", "matern32", "matern52", "linear"])
def test_kernels_by_name(kernel: str, here: Here, folder: Path):
    """What is fitted is stored, and scanned from the file as in memory."""
    here.well(*FIT, "--kernel", kernel, "--out", "k")
    here.well("scan", "k.model.h5", "--out", "k")
    dataset = read_plink(folder / "d", pheno=str(folder / "pheno.tsv"), pheno_name="A")
    posterior = ExactGP(kernel=kernel).fit(dataset)
    stored = load_model(folder / "k.model.h5")[1]
    assert stored.kernel == kernel
    assert stored.theta == pytest.approx(posterior.theta, rel=1e-12)
    z = scan(posterior, dataset, [Goals()]).columns["goals/z"]
    np.testing.assert_allclose(read_scores(folder / "k.scores.h5").goals["z"], z, atol=1e-5)
    assert f"kernel\t{kernel}" in here.well("info", "k.model.h5").out


def test_random_effect(here: Here, folder: Path):
    told = here.well(*FIT, "--random-effect", "cage", "--out", "c").err
    share = float(re.search(r"cage \(16 levels\): variance .*, share of variance ([0-9.]+)", told).group(1))
    _, posterior, attributes = load_model(folder / "c.model.h5")
    assert posterior.random is not None
    assert posterior.random.name == "cage"
    assert share == pytest.approx(attributes["random_share"], abs=1e-3)
    # P, from the file, is that of A with the cages in it.
    z = posterior.random.design()
    a = posterior.signal_variance * posterior.gram + posterior.noise_variance * np.eye(len(z))
    ai = np.linalg.inv(a + posterior.random_variance * z @ z.T)
    w = posterior.covariates
    p = ai - ai @ w @ np.linalg.solve(w.T @ ai @ w, w.T @ ai)
    np.testing.assert_allclose(posterior.project(np.eye(len(z))), p, atol=1e-8)
    np.testing.assert_allclose(posterior.weights, p @ posterior.phenotype, atol=1e-8)
    here.well("scan", "c.model.h5", *ALL, "--out", "c")
    with_cages, without = read_scores(folder / "c.scores.h5"), read_scores(folder / "all.scores.h5")
    for score, column in (("goals", "z"), ("rate", "kld"), ("psi", "mean"), ("goals", "loco_z")):
        if posterior.random_variance > 0:
            assert not np.allclose(with_cages.score(score)[column], without.score(score)[column])
    again = here.well("run", *FIT[1:], "--random-effect", "cage", *ALL, "--out", "c2")
    assert "cage (16 levels)" in again.err
    assert_same(folder / "c.scores.h5", folder / "c2.scores.h5")


def one_cage(folder: Path) -> None:
    groups = pd.read_csv(folder / "groups.tsv", sep="\t")
    write(groups.assign(cage="C0", own=groups["IID"]), folder / "groups.tsv")


BAD = [
    (("scan", "m.model.h5", "--scores", "rat"), ("no score 'rat'", "goals", "rate", "psi")),
    (("scan", "m.model.h5", "--scores", "goals,goals"), ("names a score twice",)),
    (("scan", "m.model.h5", "--scores", ""), ("no score ''", "goals")),
    (("scan", "m.model.h5", "--scores", "rate", "--loco"), ("--loco", "add goals to --scores")),
    (("scan", "m.model.h5", "--rate-form", "own"), ("--rate-form", "paper", "released")),
    ((*FIT, "--kernel", "gauss"), ("--kernel", "rbf", "laplacian", "matern52")),
    ((*FIT, "--kernel", "linear", "--theta", "0.1"), ("linear kernel has no bandwidth",)),
    ((*FIT, "--kernel", "linear", "--bandwidth", "0.1"), ("linear kernel has no bandwidth",)),
    (("run", *FIT[1:], "--kernel", "laplacian", "--scores", "goals,psi"), ("no derivative", "rbf", "cauchy")),
    ((*FIT[:-8], "--pheno-name", "A", "--random-effect", "cage"), ("--random-effect", "--groups")),
    ((*FIT, "--random-effect", "litter"), ("litter", "cage")),
    (("top", "m.scores.h5", "--by", "rate"), ("holds no rate score, but goals", "--scores goals,rate")),
    (("top", "m.scores.h5", "--by", "loco"), ("scan with --loco",)),
    (("top", "m.scores.h5", "--by", "weight"), ("no ranking 'weight'", "rate", "psi")),
    (("plot", "manhattan", "m.scores.h5", "--value", "rate"), ("holds no rate score",)),
    (("plot", "manhattan", "m.scores.h5", "--value", "loco"), ("scan with --loco",)),
    (("plot", "manhattan", "m.scores.h5", "--value", "q"), ("nothing called 'q'", "rate", "psi")),
]  # fmt: skip


@pytest.mark.parametrize(("command", "words"), BAD, ids=[" ".join(c[-4:]) for c, _ in BAD])
def test_bad_input(command: tuple[str, ...], words: tuple[str, ...], here: Here, folder: Path):
    here.well("scan", "m.model.h5", "--out", "m")
    before = names(folder)
    out = () if command[0] == "top" else ("--out", "x.png" if command[0] == "plot" else "out/x")
    refused = here(*command, *out)
    assert refused.code == 2
    assert len([line for line in refused.err.splitlines() if line.startswith("goals: error")]) == 1
    for word in words:
        assert word in refused.err
    assert names(folder) == before


@pytest.mark.parametrize(("column", "words"), [("cage", "1 level"), ("own", "64")])
def test_groupings_that_cannot_be_random_effects(column: str, words: str, here: Here, folder: Path):
    one_cage(folder)
    refused = here(*FIT, "--random-effect", column, "--out", "out/x")
    assert refused.code == 2
    assert column in refused.err
    assert words in refused.err


def test_one_chromosome_has_nothing_to_leave(here: Here, folder: Path):
    lines = [line.split("\t") for line in (folder / "d.bim").read_text().splitlines()]
    (folder / "d.bim").write_text("".join("\t".join(["7", *parts[1:]]) + "\n" for parts in lines))
    here.well(*FIT, "--out", "one")
    refused = here("scan", "one.model.h5", "--loco", "--out", "one")
    assert refused.code == 2
    assert "on chromosome 7" in refused.err
    assert not (folder / "one.scores.h5").exists()
    assert not (folder / "one.scores.h5.partial").exists()
