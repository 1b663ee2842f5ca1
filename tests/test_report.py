"""The report: its numbers against the files, its pictures, what it says where something is missing, and mistakes."""

from __future__ import annotations

import base64
import re
import shutil
import struct
from html.parser import HTMLParser
from pathlib import Path

import h5py
import numpy as np
import pytest
from helpers import CAUSAL, FIT, Here, N, goals, make_data, names

from goalscli import ReportSettings, report
from goalscli.jobs.report import SECTIONS, markup

TITLES = [title for title, _ in SECTIONS]


class Page(HTMLParser):
    """Tables by caption, pictures, text by section, and every tag with its attributes."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.tables: dict[str, list[list[str]]] = {}
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text: dict[str, str] = {}
        self._section, self._caption, self._cell, self._rows = "", "", "", []
        self.source = path.read_text("utf-8")
        self.feed(self.source)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag == "table":
            self._rows = []
        elif tag == "tr":
            self._rows.append([])
        elif tag in ("caption", "td", "th", "h2"):
            self._cell = ""

    def handle_endtag(self, tag: str) -> None:
        if tag == "caption":
            self._caption = self._cell
        elif tag in ("td", "th"):
            self._rows[-1].append(self._cell)
        elif tag == "table":
            self.tables[self._caption] = self._rows
        elif tag == "h2":
            self._section = self._cell
            self.text[self._section] = ""

    def handle_data(self, data: str) -> None:
        self._cell += data
        if self._section:
            self.text[self._section] += data

    def all(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.tags if name == tag]

    def facts(self, caption: str) -> dict[str, str]:
        return {row[0]: row[1] for row in self.tables[caption]}


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model m with a random effect, a scan s of it, all scores and local scores, and a report s.html."""
    folder = tmp_path_factory.mktemp("template")
    make_data(folder)
    assert goals(*FIT, "--random-effect", "cage", "--out", "m", cwd=folder).code == 0
    scan = ("scan", "m.model.h5", "--xi", "-0.5", "--loco", "--scores", "goals,rate,psi", "--local", "all")
    assert goals(*scan, "--out", "s", cwd=folder).code == 0
    told = goals("report", "s.scores.h5", "--model", "m.model.h5", "--n-top", "7", "--out", "s.html", cwd=folder)
    assert (told.code, told.out, told.err) == (0, "s.html\n", "")
    return folder


@pytest.fixture
def folder(template: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(template, tmp_path / "work"))


@pytest.fixture
def here(folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Here:
    return Here(monkeypatch, capsys, folder)


def test_the_top_table_is_that_of_the_file(template: Path):
    found = Page(template / "s.html").tables["The 7 variants of greatest |Z|"]
    with h5py.File(template / "s.scores.h5") as file:
        goals_ = {name: file[f"goals/{name}"][:] for name in ("score", "sd", "z", "local", "loco_z", "neg_log10_p")}
        told = {name: file[f"variants/{name}"][:] for name in ("id", "pos", "a1")}
        rate = file["rate/rate"][:]
    order = np.argsort(-np.abs(goals_["z"]), kind="stable")[:7]
    head, *rows = found
    assert len(rows) == 7
    column = {name: [row[k] for row in rows] for k, name in enumerate(head)}
    assert column["ID"] == [told["id"][i].decode() for i in order]
    assert column["ID"][0] == f"rs{CAUSAL}"
    assert column["A1"] == [told["a1"][i].decode() for i in order]
    assert column["POS"] == [f"{told['pos'][i]:,}" for i in order]
    for name, wanted in {
        "EFFECT": goals_["score"] / 0.5,
        "EFFECT_SD": goals_["sd"] / 0.5,
        "Z": goals_["z"],
        "Z_LOCO": goals_["loco_z"],
        "NEG_LOG10_P": goals_["neg_log10_p"],
        "RATE": rate,
    }.items():
        np.testing.assert_allclose([float(v) for v in column[name]], wanted[order], rtol=1e-3)
    # With xi -0.5, a local score above 0 is an effect of A1 above 0.
    raised = (goals_["local"][order] > 0).sum(axis=1)
    assert [int(v) for v in column["RAISED"]] == raised.tolist()
    assert [int(v) for v in column["LOWERED"]] == (N - raised).tolist()
    assert 0 < raised.sum() < 7 * N


def test_facts_are_those_of_the_files(template: Path):
    page = Page(template / "s.html")
    assert list(page.text) == TITLES
    with h5py.File(template / "m.model.h5") as file:
        model = dict(file.attrs)
    told = page.facts("Variances are in units of the trait's variance")
    assert told["share of variance that genotypes explain, additive and not (pve)"].startswith(f"{model['pve']:.3f} (")
    assert told["share of cage"].startswith(f"{model['random_share']:.3f} (")
    for name, key in (("signal variance s", "signal_variance"), ("noise variance σ²", "noise_variance"),
                      ("variance of cage", "random_variance")):  # fmt: skip
        assert float(told[name]) == pytest.approx(model[key], rel=1e-3)
    rows = [row.split("\t") for row in (template / "m.qc.tsv").read_text().splitlines()[1:]]
    filters = page.tables["In the order in which they are applied"][1:]
    assert [[name, *(cell.replace(",", "") for cell in counts)] for name, *counts in filters] == rows
    scan = page.facts("The scan")  # the second of this name, in the provenance
    assert scan["command"].endswith("--local all --out s")
    assert page.facts("The fit")["command"].endswith("--random-effect cage --out m")
    assert page.facts("Of the scan")["scores: goals: xi"] == "-0.5"
    assert page.facts("Of the fit")["tables: random effect"] == "cage"
    digests = page.facts("Files and their digests (SHA-256 of size and content)")
    assert digests["model of the scan"] == model["digest"]
    assert {"d.bed", "d.bim", "d.fam", "pheno.tsv", "groups.tsv"} <= {Path(name).name for name in digests}
    assert all(re.fullmatch("[0-9a-f]{64}", digest) for digest in digests.values())
    assert f"samples</th><td>{N}<" in page.source


def test_pictures_are_inside_and_have_words(template: Path):
    page = Page(template / "s.html")
    pictures = page.all("img")
    assert len(pictures) == 8  # p, loco, effect, RATE, psi; expected p twice; local
    for picture in pictures:
        kind, data = picture["src"].split(",", 1)
        assert kind == "data:image/png;base64"
        raw = base64.b64decode(data)
        assert raw.startswith(b"\x89PNG")
        assert struct.unpack(">II", raw[16:24]) == (int(picture["width"]), int(picture["height"]))
        assert len(picture["alt"]) > 30
    assert f"rs{CAUSAL}" in pictures[0]["alt"]


def test_the_page_stands_alone_and_is_the_same_every_time(here: Here, folder: Path):
    page = Page(folder / "s.html")
    tags = {tag for tag, _ in page.tags}
    assert not tags & {"script", "link", "iframe", "object", "form"}
    assert not re.search(r"https?:|@import|url\(", page.source)
    outside = [a for _, attributes in page.tags for a in (attributes.get("href"), attributes.get("src")) if a]
    assert all(a.startswith(("#", "data:image/png;")) for a in outside)
    anchors = {attributes["id"] for _, attributes in page.tags if "id" in attributes}
    assert {a[1:] for a in outside if a.startswith("#")} <= anchors
    here.well("report", "s.scores.h5", "--model", "m.model.h5", "--n-top", "7", "--out", "again.html")
    assert (folder / "again.html").read_bytes() == (folder / "s.html").read_bytes()


def test_names_from_files_are_only_text(here: Here, folder: Path):
    evil = "<script>alert('1')</script>"
    for path in ("s.scores.h5", "m.model.h5"):
        with h5py.File(folder / path, "r+") as file:
            file.attrs["phenotype"] = file.attrs["trait"] = evil
            file.attrs["provenance"] = file.attrs["provenance"].replace("--out", "<img src=x onerror=alert(1)>")
            for name in ("variants/id", "variants/a1", "variants/chrom", "samples/group"):
                values = file[name].asstr()[:]
                file[name][:] = [f"<b onclick='x'>{value}&" for value in values]
    here.well("report", "s.scores.h5", "--model", "m.model.h5", "--out", "x.html")
    page = Page(folder / "x.html")
    assert {tag for tag, _ in page.tags} == {tag for tag, _ in Page(folder / "s.html").tags}
    assert not any(name.startswith("on") for _, attributes in page.tags for name in attributes)
    assert page.facts("The scan")["command"].count("<img src=x onerror=alert(1)>") == 1
    ids = [row[2] for row in page.tables["The 20 variants of greatest |Z|"][1:]]
    assert ids[0] == f"<b onclick='x'>rs{CAUSAL}&"
    assert f"<h1>{markup.text(evil)}: scan report</h1>" in page.source


def test_without_a_model_what_needs_it_says_so(here: Here, folder: Path):
    here.well("scan", "m.model.h5", "--local", "none", "--out", "few")
    told = here.well("report", "few.scores.h5", "--out", "x.html")
    assert "few.model.h5: no such file" in told.err
    page = Page(folder / "x.html")
    assert list(page.text) == TITLES
    for title in ("Variance components", "Filters"):
        assert "Left out, since the model file is not at hand (few.model.h5: no such file)" in page.text[title]
    assert "the model is not there" in page.text["Local effects by group"]
    assert len(page.all("img")) == 3
    assert "are not stored, so samples are not counted" in page.text["Top variants"]
    # Beside the scores it is found.
    shutil.copy(folder / "m.model.h5", folder / "few.model.h5")
    assert here.well("report", "few.scores.h5", "--out", "y.html").err.count("warning") == 0
    page = Page(folder / "y.html")
    assert "Left out" not in page.source
    assert len(page.all("img")) == 4


def test_a_model_of_another_fit_is_not_taken(here: Here, folder: Path):
    here.well(*FIT, "--out", "o")
    told = here("report", "s.scores.h5", "--model", "o.model.h5", "--out", "x.html")
    assert (told.code, len(told.err.splitlines())) == (2, 1)
    assert "o.model.h5: is not the model of s.scores.h5" in told.err
    assert not (folder / "x.html").exists()
    shutil.copy(folder / "o.model.h5", folder / "s.model.h5")
    here.well("report", "s.scores.h5", "--out", "x.html")
    assert "s.model.h5: is not the model of s.scores.h5" in Page(folder / "x.html").text["Filters"]


def test_a_scan_without_the_goals_score(here: Here, folder: Path):
    here.well("scan", "m.model.h5", "--scores", "rate", "--out", "r")
    here.well("report", "r.scores.h5", "--model", "m.model.h5", "--out", "x.html")
    page = Page(folder / "x.html")
    assert len(page.all("img")) == 1
    assert "Left out: " in page.text["Local effects by group"]
    assert len(page.tables["The 20 variants of greatest |RATE|"]) == 21
    assert "RAISED" not in page.source


def test_groups_that_are_too_small(here: Here, folder: Path):
    """Everyone in a cage of his own: no picture by group, and the rest as ever."""
    with h5py.File(folder / "s.scores.h5", "r+") as file:
        file["samples/group"][:] = [f"C{i}" for i in range(N)]
    here.well("report", "s.scores.h5", "--model", "m.model.h5", "--out", "x.html")
    page = Page(folder / "x.html")
    assert "no group has 3 samples" in page.text["Local effects by group"]
    assert len(page.all("img")) == 7


def test_run_writes_a_report(here: Here, folder: Path):
    before = names(folder)
    told = here.well("run", *FIT[1:], "--out", "r", "--n-top", "4", "--report")
    assert told.out.splitlines()[-1] == "r.report.html"
    assert "r.report.html" in names(folder) - before
    assert "The 4 variants of greatest |Z|" in Page(folder / "r.report.html").tables
    here.well("report", "r.scores.h5", "--n-top", "4", "--out", "again.html")
    assert (folder / "again.html").read_bytes() == (folder / "r.report.html").read_bytes()
    for name in names(folder) - before - {"r.report.html"}:
        (folder / name).unlink()
    refused = here("run", *FIT[1:], "--out", "r", "--report")
    assert refused.code == 2
    assert "r.report.html: exists already" in refused.err
    assert not (folder / "r.model.h5").exists()


def test_from_python(folder: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(folder)
    settings = ReportSettings(n_top=7, model="m.model.h5")
    assert report("s.scores.h5", "new/place/p.html", settings) == Path("new/place/p.html")
    assert (folder / "new/place/p.html").read_bytes() == (folder / "s.html").read_bytes()


MISTAKES = {
    "exists": (("s.scores.h5", "--out", "there.html"), "there.html: exists already"),
    "folder-is-a-file": (("s.scores.h5", "--out", "d.bim/x.html"), "d.bim/x.html: cannot be written"),
    "suffix": (("s.scores.h5", "--out", "x.pdf"), "x.pdf: '.pdf' is not a page; end the name in .html"),
    "no-file": (("no.scores.h5", "--out", "x.html"), "no.scores.h5: no such file"),
    "folder": ((".", "--out", "x.html"), ".: is a folder, not a file"),
    "empty": (("empty.h5", "--out", "x.html"), "empty.h5: not a readable HDF5 file"),
    "text": (("d.bim", "--out", "x.html"), "d.bim: not a readable HDF5 file"),
    "cut": (("cut.scores.h5", "--out", "x.html"), "cut.scores.h5: not a readable HDF5 file"),
    "model": (("m.model.h5", "--out", "x.html"), "is a goalscli-model file, expected goalscli-scores"),
    "part": (("s.part-1-of-2.h5", "--out", "x.html"), "is a goalscli-scores-part file, expected goalscli-scores"),
    "no-model": (("s.scores.h5", "--model", "no.h5", "--out", "x.html"), "no.h5: no such file"),
    "scores-as-model": (("s.scores.h5", "--model", "s.scores.h5", "--out", "x.html"), "expected goalscli-model"),
    "n-top": (("s.scores.h5", "--n-top", "0", "--out", "x.html"), "--n-top: 0 is too low; give 1 or more"),
    "n-loci": (("s.scores.h5", "--n-loci", "-1", "--out", "x.html"), "--n-loci: -1 is too low"),
    "many-loci": (("s.scores.h5", "--n-loci", "21", "--out", "x.html"), "--n-loci: 21 is too many; give 20 at most"),
    "n-groups": (("s.scores.h5", "--n-groups", "0", "--out", "x.html"), "--n-groups: 0 is too low"),
    "seed": (("s.scores.h5", "--seed", "-1", "--out", "x.html"), "--seed: -1 is too low; give 0 or more"),
}


@pytest.mark.parametrize(("args", "said"), MISTAKES.values(), ids=MISTAKES)
def test_mistakes_end_in_one_line(here: Here, folder: Path, args: tuple[str, ...], said: str):
    (folder / "there.html").write_text("old")
    (folder / "empty.h5").write_bytes(b"")
    (folder / "cut.scores.h5").write_bytes((folder / "s.scores.h5").read_bytes()[:5000])
    if "part" in args[0]:
        here.well("scan", "m.model.h5", "--part", "1/2", "--out", "s")
    told = here("report", *args)
    assert told.code == 2
    [line] = [line for line in told.err.splitlines() if not line.startswith("warning: without the model")]
    assert said in line
    assert (folder / "there.html").read_text() == "old"
    assert not list(folder.glob("x.*"))


def test_overwrite(here: Here, folder: Path):
    (folder / "x.html").write_text("old")
    here.well("report", "s.scores.h5", "--model", "m.model.h5", "--n-top", "7", "--out", "x.html", "--overwrite")
    assert (folder / "x.html").read_bytes() == (folder / "s.html").read_bytes()


@pytest.mark.parametrize(
    ("value", "written"),
    [
        (None, "none"),
        (True, "yes"),
        (12345, "12,345"),
        (0.05, "0.05"),
        (float("nan"), "NA"),
        ("<&\"'>", "&lt;&amp;&quot;&#x27;&gt;"),
    ],
)
def test_text(value: object, written: str):
    assert markup.text(value) == written
