"""The interactive page: what is drawn of a million points, what the page holds, and mistakes that end in one line."""

from __future__ import annotations

import base64
import json
import re
import shutil
import sys
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest
from helpers import FIT, Here, goals, make_data

from goalscli.errors import SettingsError
from goalscli.jobs.results import read_scores
from goalscli.plots import Fact, interactive_manhattan
from goalscli.plots.thinning import CELLS, thin


def objects(values: Any) -> np.ndarray:
    made = np.empty(len(values), dtype=object)
    made[:] = list(values)
    return made


def data_of(page: str) -> dict[str, Any]:
    """What the page draws from, columns decoded."""
    data = json.loads(re.search(r"<script>const DATA = (.*);</script>", page)[1])
    kinds = {"Uint8Array": "<u1", "Uint16Array": "<u2", "Int32Array": "<i4", "Float32Array": "<f4",
             "Float64Array": "<f8"}  # fmt: skip
    data["columns"] = [np.frombuffer(base64.b64decode(c["data"]), kinds[c["type"]]) for c in data["columns"]]
    return data


def words(data: dict[str, Any], name: str) -> list[str]:
    return [data[name]["names"][code] for code in data["columns"][data[name]["codes"]]]


def drawn(n: int, seed: int = 0, **more: Any) -> tuple[dict[str, np.ndarray], str]:
    """Variants on three chromosomes and the page of them."""
    rng = np.random.default_rng(seed)
    told = {
        "chrom": objects(rng.choice(["1", "2", "X"], n)),
        "pos": rng.integers(1, 200_000_000, n),
        "value": rng.exponential(size=n),
        "ids": objects([f"rs{i}" for i in range(n)]),
        "a1": objects(rng.choice(["A", "C"], n)),
        "a2": objects(rng.choice(["G", "T", "<DEL>"], n)),
    }
    sd = rng.normal(size=n) ** 2
    facts = [Fact("score", -told["value"], "trait sd", sd=sd), Fact("p", told["value"], is_p=True)]
    more = {"y_label": "−log10 p", "title": "t", "facts": facts} | more
    return told | {"sd": sd}, interactive_manhattan(**told, **more)


# ---------------------------------------------------------------- thinning


def thinned_by_hand(x: Any, value: Any, n_top: int, cells: tuple[int, int]) -> list[int]:
    """One point at a time."""
    order = sorted(range(len(value)), key=lambda i: (-abs(value[i]), i))
    kept, taken = set(order[:n_top]), set()
    for i in order[n_top:]:
        place = tuple(
            min(int((v[i] - min(v)) / (max(v) - min(v)) * count), count - 1)
            for v, count in zip((x.tolist(), value.tolist()), cells, strict=True)
        )
        if place not in taken:
            taken.add(place)
            kept.add(i)
    return sorted(kept)


@pytest.mark.parametrize("signed", [False, True])
def test_thinning_against_a_plain_loop(signed: bool):
    rng = np.random.default_rng(3)
    x, value = rng.uniform(0, 3e9, 4000), rng.normal(size=4000).round(3)
    value = value if signed else np.abs(value)
    for most, n_top in ((1500, 200), (400, 100), (3999, 10)):
        found = thin(x, value, most=most, n_top=n_top)
        assert found.rows.tolist() == thinned_by_hand(x, value, n_top, found.cells)
        assert found.rows.size <= most
        assert np.isin(np.flatnonzero(np.abs(value) > found.height), found.rows).all()
        assert found.n_top == n_top


def test_thinning_keeps_what_is_beyond_a_threshold_and_leaves_few_points_alone():
    rng = np.random.default_rng(4)
    x, value = rng.random(5000), rng.random(5000)
    found = thin(x, value, beyond=0.9, most=1000, n_top=20)
    assert found.n_top == (value > 0.9).sum()
    assert np.isin(np.flatnonzero(value > 0.9), found.rows).all()
    # A threshold that most are beyond leaves room for the others.
    assert thin(x, value, beyond=0.01, most=1000, n_top=20).n_top == 750
    assert thin(x, value, most=5000).rows.tolist() == list(range(5000))
    # As fine as a screen where there is room for it.
    assert thin(x, value, most=4999, n_top=20).cells == CELLS


@pytest.mark.parametrize("value", [np.zeros(50), np.full(50, -1e300), np.where(np.arange(50) % 2, 1e300, -1e300)])
def test_thinning_of_odd_values(value: np.ndarray):
    found = thin(np.arange(50.0), value, most=20, n_top=5)
    assert 5 <= found.rows.size <= 20
    assert found.rows[:5].tolist() == [0, 1, 2, 3, 4]
    assert thin(np.zeros(50), value, most=20, n_top=5).rows.size >= 6


# ---------------------------------------------------------------- the page


def test_the_page_holds_the_numbers_it_was_given():
    told, page = drawn(900)
    data = data_of(page)
    columns = data["columns"]
    assert data["id"] == told["ids"].tolist()
    np.testing.assert_array_equal(columns[data["pos"]], told["pos"])
    np.testing.assert_allclose(columns[data["value"]], told["value"], rtol=1e-7)
    for name in ("chrom", "a1", "a2"):
        assert words(data, name) == told[name].tolist()
    score, p = data["facts"]
    np.testing.assert_allclose(columns[score["values"]], -told["value"], rtol=1e-7)
    np.testing.assert_allclose(columns[score["sd"]], told["sd"], rtol=1e-7)
    assert (p["p"], p["sd"], score["p"]) == (True, None, False)
    # What is the same is stored once.
    assert p["values"] == data["value"]
    assert "variants drawn" not in page


def test_places_on_the_axis_are_in_proportion_to_positions():
    told, page = drawn(900)
    data = data_of(page)
    genome = data["genome"]
    lane, offset = (data["columns"][genome[name]] for name in ("lane", "offset"))
    assert [each["name"] for each in genome["lanes"]] == ["1", "2", "X"]
    for k, each in enumerate(genome["lanes"]):
        inside = told["chrom"] == each["name"]
        assert (lane[inside] == k).all()
        np.testing.assert_allclose(each["first"] + offset[inside] * each["step"], told["pos"][inside], atol=10)
        assert each["first"] == told["pos"][inside].min()


def test_lanes_of_several_sequences_have_no_positions():
    n = 80
    chrom = objects(["1"] * 5 + [f"scaffold_{i}" for i in range(n - 10)] + ["0"] * 5)
    names, pos = objects(["."] * n), np.arange(1, n + 1) * 100
    page = interactive_manhattan(chrom, pos, np.arange(n) * 1.0, ids=names, a1=names, a2=names, y_label="y", title="t")
    lanes = data_of(page)["genome"]["lanes"]
    assert [("step" in lane, lane["name"]) for lane in lanes] == [(True, "1"), (False, "other"), (True, "unplaced")]
    assert "70 sequences drawn together as “other”" in page


def test_what_is_left_out_is_told_and_nothing_is_altered():
    told, page = drawn(3000, most=500, thresholds=[(4.0, "line")], caption="λGC 1.00.")
    data = data_of(page)
    rows = np.array([int(name.removeprefix("rs")) for name in data["id"]])
    np.testing.assert_allclose(data["columns"][data["value"]], told["value"][rows], rtol=1e-7)
    np.testing.assert_array_equal(data["columns"][data["pos"]], told["pos"][rows])
    assert np.isin(np.flatnonzero(told["value"] > 4), rows).all()
    height = np.sort(told["value"])[-376]
    said = re.search(r'<p id="caption">(.*)</p>', page)[1]
    assert said.startswith(f"λGC 1.00. {len(rows):,} of 3,000 variants drawn: the 375 of greatest absolute value (all")
    assert f"beyond {height:.3g})" in said
    assert drawn(3000, most=500, thresholds=[(4.0, "line")], caption="λGC 1.00.")[1] == page


def test_values_that_cannot_be_drawn_are_counted():
    n = 6
    names = objects(list("abcdef"))
    value = np.array([1.0, np.nan, np.inf, 2e300, 1e38, 1e-40])
    page = interactive_manhattan(
        objects(["1"] * n), np.arange(1, n + 1), value, ids=names, a1=names, a2=names, y_label="y", title="t"
    )  # fmt: skip
    data = data_of(page)
    assert data["id"] == ["a", "e", "f"]
    # Beyond the range of the small type, the large one.
    assert data["columns"][data["value"]].tolist() == [1.0, 1e38, 1e-40]
    assert "2 values not finite, not drawn. 1 value beyond ±1e+300, not drawn." in page


def test_positions_beyond_the_small_type_are_exact():
    names = objects(["a", "b"])
    pos = np.array([1, 2**31 + 5])
    page = interactive_manhattan(
        objects(["1", "1"]), pos, np.ones(2), ids=names, a1=names, a2=names, y_label="y", title="t"
    )  # fmt: skip
    data = data_of(page)
    assert data["columns"][data["pos"]].tolist() == pos.tolist()


def test_names_cannot_leave_their_place():
    evil = "</script><script>alert(1)</script>"
    names = objects([evil] * 3)
    page = interactive_manhattan(
        objects([evil, "1", "2"]), np.arange(1, 4), np.ones(3), ids=names, a1=names, a2=names, y_label="y",
        title=f"{evil} & co", caption=evil,
    )  # fmt: skip
    assert evil not in page
    assert "&lt;script&gt;alert(1)&lt;/script&gt; &amp; co</h1>" in page
    assert data_of(page)["id"] == [evil] * 3


def test_mistakes_of_the_caller():
    one = objects(["1"])
    with pytest.raises(SettingsError, match="no variants"):
        interactive_manhattan(
            one[:0], np.array([], int), np.array([]), ids=one[:0], a1=one[:0], a2=one[:0], y_label="", title=""
        )
    with pytest.raises(SettingsError, match="do not match"):
        interactive_manhattan(one, np.array([1, 2]), np.ones(1), ids=one, a1=one, a2=one, y_label="", title="")
    with pytest.raises(SettingsError, match="not finite"):
        drawn(5, thresholds=[(np.nan, "nan")])


# ---------------------------------------------------------------- the command


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("template")
    make_data(folder)
    assert goals(*FIT, "--out", "m", cwd=folder).code == 0
    assert goals("scan", "m.model.h5", "--xi", "-0.5", "--loco", "--scores", "goals,rate,psi", "--out", "s",
                 cwd=folder).code == 0  # fmt: skip
    return folder


@pytest.fixture
def here(template: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Here:
    return Here(monkeypatch, capsys, Path(shutil.copytree(template, tmp_path / "work")))


@pytest.mark.parametrize(
    ("value", "column"),
    [(None, "goals/neg_log10_p"), ("loco", "goals/loco_neg_log10_p"), ("score", None), ("rate", "rate/rate"),
     ("psi", "psi/mean")],
)  # fmt: skip
def test_every_value_has_a_page(here: Here, value: str | None, column: str | None):
    more = () if value is None else ("--value", value)
    assert here.well("plot", "manhattan", "s.scores.h5", "--out", "new/x.html", *more).out == "new/x.html\n"
    data = data_of((here.folder / "new/x.html").read_text("utf-8"))
    with h5py.File(here.folder / "s.scores.h5") as file:
        score, sd = file["goals/score"][:], file["goals/sd"][:]
        wanted = 2 * score if column is None else file[column][:]  # the effect is -score / xi, and xi -0.5
    np.testing.assert_allclose(data["columns"][data["value"]], wanted, rtol=1e-6)
    facts = {fact["name"]: fact for fact in data["facts"]}
    np.testing.assert_allclose(data["columns"][facts["score"]["values"]], score, rtol=1e-6)
    np.testing.assert_allclose(data["columns"][facts["score"]["sd"]], sd, rtol=1e-6)
    if value != "score":
        np.testing.assert_allclose(data["columns"][facts["effect of A1"]["values"]], 2 * score, rtol=1e-6)
    assert data["signed"] == (value == "score")


def test_a_page_beside_the_picture(here: Here):
    told = here.well("plot", "manhattan", "s.scores.h5", "--value", "rate", "--html", "x.html", "--out", "x.png")
    assert told.out.split() == ["x.png", "x.html"]
    here.well("plot", "manhattan", "s.scores.h5", "--value", "rate", "--out", "y.html")
    assert (here.folder / "x.html").read_bytes() == (here.folder / "y.html").read_bytes()
    assert (here.folder / "x.png").read_bytes().startswith(b"\x89PNG")
    assert "RATE" in (here.folder / "x.html").read_text("utf-8")


def test_a_variant_without_id_is_called_by_its_place(here: Here):
    with h5py.File(here.folder / "s.scores.h5", "r+") as file:
        file["variants/id"][0], file["variants/id"][1] = ".", ""
    here.well("plot", "manhattan", "s.scores.h5", "--out", "x.html")
    assert data_of((here.folder / "x.html").read_text("utf-8"))["id"][:3] == ["1:1000", "1:21000", "rs2"]


def test_without_plotly(here: Here, monkeypatch: pytest.MonkeyPatch):
    for name in ("plotly", "plotly.offline"):
        monkeypatch.setitem(sys.modules, name, None)
    told = here("plot", "manhattan", "s.scores.h5", "--out", "x.html")
    assert told.code == 2
    assert "pip install 'goalscli[interactive]'" in told.err
    assert len(told.err.splitlines()) == 1
    assert not list(here.folder.glob("x.html*"))


MISTAKES = {
    "exists": (("s.scores.h5", "--out", "there.html"), "there.html: exists already"),
    "html-exists": (("s.scores.h5", "--out", "x.png", "--html", "there.html"), "there.html: exists already"),
    "picture-exists": (("s.scores.h5", "--out", "there.png", "--html", "x.html"), "there.png: exists already"),
    "folder-is-a-file": (("s.scores.h5", "--out", "d.bim/x.html"), "d.bim/x.html: cannot be written"),
    "no-file": (("no.scores.h5", "--out", "x.html"), "no.scores.h5: no such file"),
    "folder": ((".", "--out", "x.html"), ".: is a folder, not a file"),
    "text": (("d.bim", "--out", "x.html"), "d.bim: not a readable HDF5 file"),
    "model": (("m.model.h5", "--out", "x.html"), "is a goalscli-model file, expected goalscli-scores"),
    "part": (("s.part-1-of-2.h5", "--out", "x.html"), "is a goalscli-scores-part file, expected goalscli-scores"),
    "cut": (("cut.scores.h5", "--out", "x.html"), "cut.scores.h5: not a readable HDF5 file"),
    "unknown-value": (("s.scores.h5", "--out", "x.html", "--value", "no"), "nothing called 'no' to draw"),
    "not-computed": (("r.scores.h5", "--out", "x.html", "--value", "psi"), "holds no psi score"),
    "other-suffix": (("s.scores.h5", "--out", "x.htmlx"), "'.htmlx' is not a picture format"),
    "page-suffix": (("s.scores.h5", "--out", "x.png", "--html", "x.jpg"), "--html: '.jpg' is not a page"),
    "picture-suffix": (("s.scores.h5", "--out", "x.jpg", "--html", "x.html"), "'.jpg' is not a picture format"),
    "labels": (("s.scores.h5", "--out", "x.png", "--html", "x.html", "--n-labels", "-1"), "--n-labels: -1 labels"),
    "two-scans": (("s.scores.h5", "s.scores.h5", "--out", "x.html"), "a page shows one value of one scan"),
    "two-values": (("s.scores.h5", "--value", "p,loco", "--out", "x.html"), "a page shows one value of one scan"),
    "genes": (("s.scores.h5", "--genes", "d.bim", "--out", "x.html"), "a page has no labels, so no genes"),
}


@pytest.mark.parametrize(("args", "said"), MISTAKES.values(), ids=MISTAKES)
def test_mistakes_end_in_one_line(here: Here, args: tuple[str, ...], said: str):
    (here.folder / "there.html").write_text("old")
    (here.folder / "there.png").write_text("old")
    (here.folder / "cut.scores.h5").write_bytes((here.folder / "s.scores.h5").read_bytes()[:5000])
    if "part" in args[0]:
        here.well("scan", "m.model.h5", "--part", "1/2", "--out", "s")
    if "r.scores" in args[0]:
        here.well("scan", "m.model.h5", "--scores", "rate", "--out", "r")
    told = here("plot", "manhattan", *args)
    assert told.code == 2
    assert said in told.err
    assert len(told.err.splitlines()) == 1
    assert (here.folder / "there.html").read_text() == "old"
    assert not list(here.folder.glob("x.*"))


def test_a_scan_without_goals_has_a_page(here: Here):
    here.well("scan", "m.model.h5", "--scores", "rate", "--out", "r")
    here.well("plot", "manhattan", "r.scores.h5", "--out", "x.html")
    data = data_of((here.folder / "x.html").read_text("utf-8"))
    assert [fact["name"] for fact in data["facts"]] == ["frequency of A1"]
    wanted = read_scores(here.folder / "r.scores.h5").score("rate")["rate"]
    np.testing.assert_allclose(data["columns"][data["value"]], wanted, rtol=1e-6)
