"""The pages in a browser: no complaint, nothing fetched, the numbers at the pointer, nothing cut off.

Pictures of what the browser shows go to the folder GOALS_ARTIFACTS, if that is set.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest
from browser_helpers import chromium, complaints, overflow, requests, screenshot, set_width, until
from helpers import CAUSAL, FIT, goals, make_data

from goalscli.plots import Fact, interactive_manhattan


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    with chromium(tmp_path_factory.mktemp("profile")) as driver:
        yield driver


@pytest.fixture
def artifacts(tmp_path: Path) -> Path:
    return Path(os.environ.get("GOALS_ARTIFACTS") or tmp_path)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory, browser: Any) -> Path:
    """A run with its report s.report.html, and pages p.html and score.html; not made where there is no browser."""
    folder = tmp_path_factory.mktemp("pages")
    make_data(folder)
    run = ("run", *FIT[1:], "--scores", "goals,rate,psi", "--loco", "--xi", "-0.5", "--local", "all", "--report")
    assert goals(*run, "--out", "s", cwd=folder).code == 0
    for value in ("p", "score"):
        done = goals("plot", "manhattan", "s.scores.h5", "--value", value, "--out", f"{value}.html", cwd=folder)
        assert done.code == 0
    return folder


def visit(browser: Any, path: Path, width: int = 1200) -> None:
    """Open a page and wait until it is drawn; what was said or fetched before is forgotten."""
    set_width(browser, width)
    browser.get("about:blank")
    complaints(browser)
    requests(browser)
    browser.get(path.as_uri())
    if path.name.endswith("report.html"):
        until(browser, "document.readyState === 'complete'")
    else:
        until(browser, "document.getElementById('plot').dataset.ready")


def assert_quiet(browser: Any) -> None:
    assert complaints(browser) == []
    assert requests(browser) == []


FIND = """
const plot = document.getElementById("plot"), layout = plot._fullLayout, box = plot.getBoundingClientRect();
for (const trace of plot.data) {
  const i = trace.text.findIndex((text) => text.startsWith("<b>" + arguments[0] + "</b>"));
  if (i >= 0) return [box.x + layout.xaxis._offset + layout.xaxis.l2p(trace.x[i]),
                      box.y + layout.yaxis._offset + layout.yaxis.l2p(trace.y[i])];
}
"""
SHOWN = """[...document.querySelectorAll(".hoverlayer .hovertext")].flatMap((text) => {
  const lines = [...text.querySelectorAll(".nums tspan.line")];
  return (lines.length ? lines : [text.querySelector(".nums")]).map((line) => line.textContent);
})"""


def pointed_at(browser: Any, name: str) -> list[str]:
    """Lines shown when the pointer is where plotly's axes put the variant."""
    x, y = browser.execute_script(FIND, name)
    for event in ({"x": x - 30, "y": y + 30}, {"x": x, "y": y}):
        browser.execute_cdp_cmd("Input.dispatchMouseEvent", {"type": "mouseMoved", **event})
        time.sleep(0.2)
    until(browser, f"{SHOWN}.length")
    return [
        line.replace("−", "-").replace("\N{NO-BREAK SPACE}", " ") for line in browser.execute_script(f"return {SHOWN}")
    ]


def number(lines: list[str], start: str, after: str = "") -> float:
    [line] = [line for line in lines if line.startswith(start)]
    return float(re.search(rf"{after} ?(-?\d[\d.]*(?:e[+-]?\d+)?)", line.removeprefix(start))[1])


@pytest.mark.parametrize("width", [1200, 400])
def test_pages_are_whole(browser: Any, folder: Path, artifacts: Path, width: int):
    for name in ("s.report.html", "p.html", "score.html"):
        visit(browser, folder / name, width)
        screenshot(browser, artifacts / f"{name.removesuffix('.html')}.{width}.png", whole="report" in name)
        assert overflow(browser) <= 0
        assert_quiet(browser)


def test_pictures_of_the_report_are_loaded(browser: Any, folder: Path):
    visit(browser, folder / "s.report.html")
    widths = browser.execute_script("return [...document.images].map((image) => image.complete && image.naturalWidth)")
    assert len(widths) == 8
    assert all(width > 600 for width in widths)
    # Each as wide as the text, and none stretched.
    shapes = browser.execute_script(
        "return [...document.images].map((i) => [i.width / i.height, i.naturalWidth / i.naturalHeight, i.width])"
    )
    for shown, real, width in shapes:
        assert shown == pytest.approx(real, rel=0.01)
        assert width <= 1200
    assert_quiet(browser)


def test_tables_of_the_report_fit_a_wide_window(browser: Any, folder: Path):
    visit(browser, folder / "s.report.html")
    script = "return [...document.querySelectorAll('.wide')].filter((e) => e.scrollWidth > e.clientWidth + 1).length"
    assert browser.execute_script(script) == 0


@pytest.mark.parametrize("width", [1200, 400])
@pytest.mark.parametrize("page", ["p", "score"])
def test_the_pointer_shows_what_the_file_says(browser: Any, folder: Path, artifacts: Path, page: str, width: int):
    visit(browser, folder / f"{page}.html", width)
    with h5py.File(folder / "s.scores.h5") as file:
        ids = file["variants/id"].asstr()[:].tolist()
        told = {name: file[f"goals/{name}"][:] for name in ("score", "sd", "neg_log10_p", "loco_neg_log10_p")}
        variants = {name: file[f"variants/{name}"] for name in ("chrom", "a1", "a2")}
        text = {name: data.asstr()[:] for name, data in variants.items()}
        pos, freq = file["variants/pos"][:], file["variants/a1_freq"][:]
    i = ids.index(f"rs{CAUSAL}")
    lines = pointed_at(browser, ids[i])
    screenshot(browser, artifacts / f"{page}.hover.{width}.png")
    assert lines[0] == ids[i]
    assert lines[1].split() == [f"{text['chrom'][i]}:{pos[i]:,}", "A1", f"{text['a1'][i]},", "A2", text["a2"][i]]
    assert number(lines, "score:") == pytest.approx(told["score"][i], rel=1e-3)
    assert number(lines, "score:", "sd") == pytest.approx(told["sd"][i], rel=1e-3)
    assert number(lines, "effect of A1") == pytest.approx(2 * told["score"][i], rel=1e-3) if page == "p" else True
    assert number(lines, "p:") == pytest.approx(10 ** -told["neg_log10_p"][i], rel=1e-2)
    assert number(lines, "p without the chromosome:") == pytest.approx(10 ** -told["loco_neg_log10_p"][i], rel=1e-2)
    assert number(lines, "frequency of A1:") == pytest.approx(freq[i], rel=1e-3)
    drawn = told["neg_log10_p"][i] if page == "p" else 2 * told["score"][i]
    assert float(lines[2].rsplit(": ", 1)[1]) == pytest.approx(drawn, rel=1e-3)
    assert_quiet(browser)


def test_zooming_in_shows_positions(browser: Any, folder: Path, artifacts: Path):
    visit(browser, folder / "p.html")
    name = "document.getElementById('plot')._fullLayout.xaxis.title.text"
    assert until(browser, name) == "chromosome"
    zoom = """const lane = DATA.genome.lanes[0];
    const from = lane.start + 0.2 * (lane.stop - lane.start), to = lane.start + 0.6 * (lane.stop - lane.start);
    return Plotly.relayout("plot", {"xaxis.range": [from, to]}).then(() => null)"""
    browser.execute_script(zoom)
    until(browser, f"{name} === 'position on chromosome 1 (Mb)'")
    axis = browser.execute_script(
        "const axis = document.getElementById('plot')._fullLayout.xaxis; return [axis.tickvals, axis.ticktext]"
    )
    assert len(axis[0]) >= 3
    # Variants of chromosome 1 stand at 1000 + 20,000 k, 130 of them, and the lane begins with the first.
    places = browser.execute_script(
        "const t = document.getElementById('plot').data[0]; return t.x.map((x, i) => [t.text[i].split('<br>')[1], x])"
    )
    known = sorted(
        (int(text.split(" ")[0].split(":")[1].replace(",", "")), x) for text, x in places if text[:2] == "1:"
    )
    for at, label in zip(*axis, strict=True):
        wanted = np.interp(float(label) * 1e6, [pos for pos, _ in known], [x for _, x in known])
        assert at == pytest.approx(wanted, abs=2000)
    screenshot(browser, artifacts / "p.zoom.png")
    browser.execute_script('return Plotly.relayout("plot", {"xaxis.autorange": true}).then(() => null)')
    until(browser, f"{name} === 'chromosome'")
    assert_quiet(browser)


def objects(values: Any) -> np.ndarray:
    made = np.empty(len(values), dtype=object)
    made[:] = list(values)
    return made


def large(folder: Path, n: int, **more: Any) -> tuple[Path, np.ndarray]:
    """A page of many variants, of which rs7 stands out."""
    rng = np.random.default_rng(1)
    value = rng.exponential(size=n)
    value[7] = 40.0
    page = interactive_manhattan(
        objects(rng.choice([str(i) for i in range(1, 20)] + ["X"], n)), rng.integers(1, 190_000_000, n), value,
        ids=objects([f"rs{i}" for i in range(n)]), a1=objects(["A"] * n), a2=objects(["G"] * n),
        facts=[Fact("p", value, is_p=True)], thresholds=[(8.0, "a line")], y_label="−log10 p", title="large", **more,
    )  # fmt: skip
    (folder / "large.html").write_text(page, encoding="utf-8")
    return folder / "large.html", value


NO_WEBGL = """const canvas = HTMLCanvasElement.prototype, known = canvas.getContext;
canvas.getContext = function (kind, ...more) { return /webgl/.test(kind) ? null : known.call(this, kind, ...more); };
"""


@pytest.mark.parametrize("webgl", [True, False])
def test_many_variants_with_and_without_webgl(browser: Any, tmp_path: Path, artifacts: Path, webgl: bool):
    path, _ = large(tmp_path, 120_000, most=30_000)
    script = {"source": NO_WEBGL}
    key = None
    if not webgl:
        key = browser.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", script)["identifier"]
    try:
        visit(browser, path)
        kind = browser.execute_script("return document.getElementById('plot').dataset.kind")
        if webgl and kind == "scatter":
            pytest.skip("this browser has no WebGL")
        assert kind == ("scattergl" if webgl else "scatter")
        lines = pointed_at(browser, "rs7")
        assert lines[0] == "rs7"
        assert number(lines, "p:") == pytest.approx(1e-40)
        screenshot(browser, artifacts / f"large.{kind}.png")
        severe = [
            said for said in complaints(browser) if "WebGL" not in said
        ]  # a headless one computes it, and says so
        assert severe == []
        assert requests(browser) == []
    finally:
        if key is not None:
            browser.execute_cdp_cmd("Page.removeScriptToEvaluateOnNewDocument", {"identifier": key})


def test_names_with_signs_are_shown_as_they_are(browser: Any, tmp_path: Path):
    evil = "<img src=x onerror=document.title='hit'>&amp;<b>"
    names = objects([evil, "rs2"])
    page = interactive_manhattan(
        objects(["<i>1</i>", "2"]), np.array([5, 6]), np.array([1.0, 2.0]), ids=names, a1=names, a2=names,
        y_label="y", title="<script>document.title='hit'</script>",
    )  # fmt: skip
    (tmp_path / "evil.html").write_text(page, encoding="utf-8")
    visit(browser, tmp_path / "evil.html")
    assert browser.title == "<script>document.title='hit'</script>"
    x, y = browser.execute_script(FIND.replace('"<b>" + arguments[0] + "</b>"', '"<b>&lt;img"'))
    for event in ({"x": x - 30, "y": y - 30}, {"x": x, "y": y}):
        browser.execute_cdp_cmd("Input.dispatchMouseEvent", {"type": "mouseMoved", **event})
        time.sleep(0.2)
    until(browser, f"{SHOWN}.length")
    shown = browser.execute_script(f"return {SHOWN}")
    assert shown[0] == evil
    assert shown[1].startswith("<i>1</i>:5")
    assert browser.execute_script("return document.images.length") == 0
    ticks = browser.execute_script("return [...document.querySelectorAll('.xtick')].map((tick) => tick.textContent)")
    assert sorted(ticks) == ["2", "<i>1</i>"]
    assert_quiet(browser)
