"""Pictures along the genome: panels on one axis, QQ plots, regions; from arrays and through the command."""

from __future__ import annotations

import gzip
import shutil
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest
from helpers import FIT, Here, goals, make_data, names
from test_plots import assert_tidy, caption, drawn, extents, genome, objects, overlaps, texts

import goalscli
from goalscli import load_model, read_scores
from goalscli.errors import SettingsError
from goalscli.jobs.plot.region import parse_region
from goalscli.jobs.scanned import open_scores
from goalscli.plots.coding import Coded, coded, factorize, joined
from goalscli.plots.gene_track import Gene, arrange_genes
from goalscli.plots.loci import distinct_loci
from goalscli.plots.manhattan import GenomePanel, manhattan_panels
from goalscli.plots.qq import QQSeries, expected_band, qq
from goalscli.plots.region import R2_COLOURS, RegionPicture, region
from goalscli.plots.style import new_figure, save

# ---------------------------------------------------------------- names as numbers, loci


@pytest.mark.parametrize("seed", range(4))
def test_factorize_against_a_plain_loop(seed: int) -> None:
    rng = np.random.default_rng(seed)
    labels = objects([["1", "2", "X", None, "scaffold"][k] for k in np.sort(rng.integers(0, 5, 40))][:: (-1) ** seed])
    if seed > 1:
        labels = labels[rng.permutation(40)]
    codes, found = factorize(labels)
    assert [found[code] for code in codes] == labels.tolist()
    assert found == list(dict.fromkeys(labels.tolist()))


def test_coded_names() -> None:
    found = coded(objects([b"1", b"1", "µ".encode(), b"1"]))
    assert found.names == ("1", "µ")
    assert found.codes.tolist() == [0, 0, 1, 0]
    assert coded(objects(["1", None, float("nan")])).names[1:] == ("", "")
    assert len(coded(objects([]))) == 0
    both = joined([found, Coded(np.array([1, 0], dtype=np.intp), ("µ", "2"))])
    assert [both.names[code] for code in both.codes] == ["1", "1", "µ", "1", "2", "µ"]


def spikes(peaks: list[tuple[int, float]], last: int = 200_000_000) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """One chromosome with a variant of 0.3 every 0.5 Mb, and peaks at these positions."""
    pos = np.arange(1, last, last // 400)
    value = np.full(pos.size, 0.3)
    for place, height in peaks:
        value[np.argmin(np.abs(pos - place))] = height
    return objects(["1"] * pos.size), pos, value


def places(picked: np.ndarray, pos: np.ndarray) -> list[float]:
    return [float(round(p / 1e6)) for p in pos[picked]]


def test_a_lesser_peak_nearby_is_a_shadow() -> None:
    chrom, pos, value = spikes([(50_000_000, 20.0), (58_000_000, 9.0), (62_000_000, 8.0), (150_000_000, -7.0)])
    assert places(distinct_loci(chrom, pos, value, 8)[:3], pos) == [50, 62, 150]
    assert places(distinct_loci(chrom, pos, value, 2), pos) == [50, 62]
    called = np.abs(value) < 19
    assert places(distinct_loci(chrom, pos, value, 2, called=called), pos) == [58, 150]
    value[:] = np.nan
    assert distinct_loci(chrom, pos, value, 3).size == 0


def test_a_peak_without_a_valley_before_it_is_a_shadow() -> None:
    ridge = [(place, 5.0) for place in range(52_000_000, 75_000_000, 1_500_000)]
    chrom, pos, value = spikes([(50_000_000, 20.0), *ridge, (75_500_000, 8.0), (120_000_000, 7.0)])
    assert places(distinct_loci(chrom, pos, value, 2), pos) == [50, 120]
    value[(pos > 60_000_000) & (pos < 66_000_000)] = 0.3  # now there is one
    assert places(distinct_loci(chrom, pos, value, 2), pos) == [50, 76]


def test_small_chromosomes_have_small_shadows() -> None:
    chrom, pos, value = spikes([(500_000, 20.0), (650_000, 9.0), (900_000, 8.0)], last=2_000_000)
    found = pos[distinct_loci(chrom, pos, value, 2)]
    assert np.abs(found - [500_000, 900_000]).max() <= 5000  # 150 kb away is within a tenth of 2 Mb
    unknown = distinct_loci(objects(["1", "1", "2"]), np.array([0, 0, 5]), np.array([1.0, 3.0, 2.0]), 5)
    assert unknown.tolist() == [1, 2, 0]


# ---------------------------------------------------------------- panels


def panel(seed: int = 0, **changes: Any) -> GenomePanel:
    chrom, pos, value = genome(seed=seed)
    given: dict[str, Any] = {"chrom": chrom, "pos": pos, "value": value, "y_label": "z", "title": f"trait {seed}"}
    return GenomePanel(**(given | changes))


def points_of(axes: Any) -> np.ndarray:
    lines = [line for line in axes.lines if line.get_gid() == "points"]
    return np.concatenate([np.column_stack(line.get_data()) for line in lines])


def shown_names(axes: Any) -> list[str]:
    ticks = [*axis_ticks(axes)]
    return [t.label1.get_text() for t in sorted(ticks, key=lambda t: t.get_loc()) if t.label1.get_text()]


def axis_ticks(axes: Any) -> list[Any]:
    return [t for t in [*axes.xaxis.get_major_ticks(), *axes.xaxis.get_minor_ticks()] if t.label1.get_visible()]


def test_panels_share_one_axis() -> None:
    first = panel(0, thresholds=[(5.0, "five")], note="λGC 0.9", labels=[(3, "a"), (9, "b")])
    second = panel(
        0, chrom=first.chrom, pos=first.pos, value=-first.value, thresholds=[(-6.0, "minus six")], signed=True
    )
    third = GenomePanel(objects(["19", "22", "22"]), np.array([5, 1, 9_000_000]), np.array([1.0, np.nan, 2.0]), "other",
                        title="third")  # fmt: skip
    figure = manhattan_panels([first, second, third], caption="Given.")
    top, middle, bottom = figure.axes
    assert top.get_xlim() == middle.get_xlim() == bottom.get_xlim()
    a, b = points_of(top), points_of(middle)
    np.testing.assert_array_equal(np.sort(a[:, 0]), np.sort(b[:, 0]))
    np.testing.assert_array_equal(np.sort(a[:, 1]), np.sort(first.value))
    assert shown_names(top) == shown_names(middle) == []
    assert shown_names(bottom) == [*map(str, range(1, 20)), "22", "X"]
    # The union's genome: chromosome 22 is there for the third alone, between 19 and X.
    on_x = np.sort(a[:, 0])[-200:]
    third_x = np.sort(points_of(bottom)[:, 0])
    assert np.sort(a[:, 0])[-201] < third_x[1] < on_x[0]
    assert [axes.get_title(loc="left") for axes in figure.axes] == ["trait 0", "trait 0", "third"]
    assert top.get_title(loc="right") == "λGC 0.9"
    assert [t.get_text() for t in texts(figure, "threshold")] == ["five", "minus six"]
    assert caption(figure) == "Given. third: 1 value not finite, not drawn."
    assert_tidy(figure)
    lefts = {round(axes.get_window_extent().x0, 3) for axes in figure.axes}
    assert len(lefts) == 1


def test_a_place_is_the_same_in_every_panel() -> None:
    """Scans with different variants: the common one stands above itself."""
    one = GenomePanel(objects(["1", "1", "2"]), np.array([10, 5_000_000, 7_000_000]), np.array([1.0, 2.0, 3.0]), "a")
    two = GenomePanel(objects(["2", "2"]), np.array([7_000_000, 90_000_000]), np.array([4.0, 5.0]), "b")
    figure = manhattan_panels([one, two])
    by_value = [{y: x for x, y in points_of(axes)} for axes in figure.axes]
    assert by_value[0][3.0] == by_value[1][4.0]
    assert by_value[1][5.0] > by_value[0][3.0] > by_value[0][2.0] > by_value[0][1.0]


def test_labels_without_room_are_counted_over_panels() -> None:
    many = [(i, f"variant_{i}") for i in range(120)]
    figure = manhattan_panels([panel(0, labels=many), panel(1, labels=many)])
    kept = texts(figure, "label")
    assert f"{240 - len(kept)} labels left out for want of room" in caption(figure)
    for axes in figure.axes:
        assert overlaps(extents(figure, [t for t in kept if t.axes is axes])) == []


@pytest.mark.parametrize(
    ("panels", "message"),
    [([], "0 panels"), ([panel()] * 21, "21 panels"), ([panel(value=np.ones(3))], "do not match"),
     ([panel(), panel(thresholds=[(np.inf, "x")])], "'x' is not finite")],
)  # fmt: skip
def test_panels_refused(panels: list[GenomePanel], message: str) -> None:
    with pytest.raises(SettingsError, match=message):
        manhattan_panels(panels)


@pytest.mark.parametrize(
    ("scale", "name"),
    [(1e-4, "score (10⁻⁴ × unit)"), (3e7, "score (10⁷ × unit)"), (1.0, "score (unit)"), (2e-3, "score (unit)")],
)
def test_small_values_have_a_power_of_ten_in_the_name(scale: float, name: str) -> None:
    figure = manhattan_panels([GenomePanel(objects(["1"] * 3), np.arange(1, 4), np.array([1.2, 1.4, 1.6]) * scale,
                                           "score (unit)")])  # fmt: skip
    (axes,) = figure.axes
    assert axes.get_ylabel() == name
    with_power = "×" in name
    figure.draw_without_rendering()
    shown = {tick.get_loc(): tick.label1.get_text() for tick in axes.yaxis.get_major_ticks()}
    power = 10.0 ** np.floor(np.log10(1.6 * scale)) if with_power else 1.0
    for value, text in shown.items():
        assert float(text.replace("−", "-")) == pytest.approx(value / power, rel=1e-6)


# ---------------------------------------------------------------- QQ


def test_band_by_closed_forms() -> None:
    n = 500
    expected, low, high = (10.0**-a for a in expected_band(np.array([1, n]), n))
    np.testing.assert_allclose(expected, [1 / 501, 500 / 501])
    # The least of n uniforms is below x with probability 1 − (1 − x)^n, the greatest with x^n.
    np.testing.assert_allclose([high[0], low[0]], [1 - 0.975 ** (1 / n), 1 - 0.025 ** (1 / n)], rtol=1e-9)
    np.testing.assert_allclose([high[1], low[1]], [0.025 ** (1 / n), 0.975 ** (1 / n)], rtol=1e-9)


def test_band_against_simulated_order_statistics() -> None:
    rng = np.random.default_rng(3)
    sorted_p = np.sort(rng.random((20_000, 50)), axis=1)
    ranks = np.array([1, 5, 25, 49])
    _, low, high = expected_band(ranks, 50)
    seen = -np.log10(sorted_p[:, ranks - 1])
    inside = ((seen >= low) & (seen <= high)).mean(axis=0)
    np.testing.assert_allclose(inside, 0.95, atol=0.008)


def test_qq_points_are_those_of_the_definition() -> None:
    value = np.array([0.2, 3.0, np.nan, 1.0, 0.7])
    figure = qq([QQSeries("weight", value)], y_label="observed", title="t", caption="Given.")
    xy = drawn(figure)
    np.testing.assert_allclose(xy[:, 1], [3.0, 1.0, 0.7, 0.2])
    np.testing.assert_allclose(xy[:, 0], -np.log10(np.arange(1, 5) / 5))
    assert caption(figure) == "Given. 1 value not finite, not drawn."
    assert_tidy(figure)


def test_qq_thins_only_what_cannot_be_seen() -> None:
    value = -np.log10(np.random.default_rng(2).random(200_000))
    value[:3] = [9.0, 8.9, 8.7]
    figure = qq([QQSeries("a", value)], y_label="o")
    axes, xy = figure.axes[0], drawn(figure)
    assert len(xy) < 10_000
    whole = np.column_stack([-np.log10(np.arange(1, 200_001) / 200_001), np.sort(value)[::-1]])
    np.testing.assert_array_equal(xy[:1000], whole[:1000])
    pixels = [{tuple(p) for p in np.floor(axes.transData.transform(points)).astype(int)} for points in (whole, xy)]
    lost = pixels[0] - pixels[1]
    assert len(lost) <= 0.02 * len(pixels[0])  # the limits moved for the legend after the thinning, if at all
    assert all(min(abs(x - u) + abs(y - v) for u, v in pixels[1]) <= 1 for x, y in lost)


def test_qq_of_several_scans(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    series = [QQSeries(f"trait {k}, λGC 1.0{k}", -np.log10(rng.random(2000 * (k + 1)))) for k in range(7)]
    figure = qq(series, y_label="observed")
    legend = figure.axes[0].get_legend()
    assert [t.get_text() for t in legend.get_texts()][1:] == [one.name for one in series]
    bands = [c for c in figure.axes[0].collections if c.get_gid() == "band"]
    assert len(bands) == 7
    looks = {(line.get_color(), line.get_marker()) for line in figure.axes[0].lines if line.get_gid() == "points"}
    assert len(looks) == 7
    # The legend is not upon the points.
    box = legend.get_window_extent(figure.canvas.get_renderer())
    pixels = figure.axes[0].transData.transform(drawn(figure))
    assert not ((pixels >= [box.x0, box.y0]) & (pixels <= [box.x1, box.y1])).all(axis=1).any()
    assert_tidy(figure)
    save(figure, tmp_path / "qq.svg")
    with pytest.raises(SettingsError, match="8 scans"):
        qq([*series, series[0]], y_label="o")
    with pytest.raises(SettingsError, match="no variants"):
        qq([QQSeries("a", np.full(3, np.nan))], y_label="o")


@pytest.mark.parametrize("value", [np.array([0.4]), np.zeros(5), np.full(3, 1e-320), np.full(2, 400.0)])
def test_qq_of_little(value: np.ndarray, tmp_path: Path) -> None:
    figure = qq([QQSeries("a long name of a trait that goes on and on and on, λGC 1.00", value)], y_label="o",
                title="a long title " * 12)  # fmt: skip
    assert len(drawn(figure)) == value.size
    assert_tidy(figure)
    save(figure, tmp_path / "qq.png")


# ---------------------------------------------------------------- region


def picture(**changes: Any) -> RegionPicture:
    given: dict[str, Any] = {
        "chrom": "chr1",
        "limits": (1_000_000, 3_000_000),
        "pos": np.array([1_000_000, 1_500_000, 2_000_000, 2_500_000, 3_000_000]),
        "value": np.array([1.0, 3.0, 7.0, 2.0, 0.5]),
        "r2": np.array([0.05, 0.2, 1.0, 0.79, 0.6]),
        "lead": 2,
        "lead_name": "rs7",
        "y_label": "−log10 p",
        "title": "weight: 5 variants, 9 samples",
        "caption": "Given.",
    }
    return RegionPicture(**(given | changes))


def test_region_colours_say_r2() -> None:
    figure = region(picture(thresholds=[(5.0, "five"), (50.0, "far away")]))
    (axes,) = figure.axes
    lines = [line for line in axes.lines if line.get_gid() == "points"]
    found = {x: line.get_color() for line in lines for x in line.get_xdata()}
    pale, light, _, strong, _ = R2_COLOURS
    assert found == {1.0: pale, 1.5: light, 2.5: strong, 3.0: strong}
    (lead,) = [line for line in axes.lines if line.get_gid() == "lead"]
    assert (*lead.get_data()[0], *lead.get_data()[1], lead.get_marker()) == (2.0, 7.0, "D")
    assert axes.get_xlim() == pytest.approx((1.0 - 0.024, 3.0 + 0.024))  # marks at the ends are whole
    assert [t.get_text() for t in texts(figure, "threshold")] == ["five"]
    assert [t.get_text() for t in texts(figure, "label")] == ["rs7"]
    assert len(axes.get_legend().get_texts()) == 6
    lightness = [0.2126 * r + 0.7152 * g + 0.0722 * b for r, g, b in
                 (tuple(int(c[k : k + 2], 16) for k in (1, 3, 5)) for c in R2_COLOURS)]  # fmt: skip
    assert (np.diff(lightness) < -20).all()
    assert_tidy(figure)


def test_a_short_stretch_is_in_kb() -> None:
    figure = region(picture(limits=(5000, 5000), pos=np.full(5, 5000), genes=[Gene("A", 4000, 5000, "+")]))
    assert {x for line in figure.axes[0].lines if line.get_gid() == "points" for x in line.get_xdata()} == {5.0}
    assert figure.axes[1].get_xlabel() == "position on chromosome 1 (kb)"
    (bar,) = [line for line in figure.axes[1].lines if line.get_gid() == "gene"]
    assert tuple(bar.get_xdata()) == (4.0, 5.0)
    assert_tidy(figure)


@pytest.mark.parametrize("lead", [0, 4])
def test_the_name_of_a_lead_at_the_edge_stays_inside(lead: int) -> None:
    name = "a_long_name_of_a_variant_" + "x" * 15
    figure = region(picture(lead=lead, lead_name=name, signed=True, value=np.array([-9.0, 1, 2, 3, -8])))
    frame, (box,) = figure.axes[0].get_window_extent().extents, extents(figure, texts(figure, "label"))
    assert (box[:2] >= frame[:2]).all()
    assert (box[2:] <= frame[2:]).all()
    assert_tidy(figure)


@pytest.mark.parametrize("n", [0, 1, 30, 400])
def test_gene_names_do_not_overlap(n: int, tmp_path: Path) -> None:
    rng = np.random.default_rng(n)
    starts = rng.integers(900_000, 3_000_000, n)
    genes = [Gene(f"Gene{k}", int(a), int(a) + int(rng.integers(200, 300_000)), "+-."[k % 3])
             for k, a in enumerate(starts)]  # fmt: skip
    genes = [gene for gene in genes if gene.stop >= 1_000_000]
    figure = region(picture(genes=genes, limits=(1_000_000, 3_000_000)))
    drawn_names = texts(figure, "gene name")
    left = len(genes) - len(drawn_names)
    assert (f"{left} genes left out" in caption(figure)) == (left > 0)
    assert ("No gene in this stretch" in caption(figure)) == (not genes)
    if n == 30:
        assert left < 5
    assert_tidy(figure)
    if drawn_names:
        upper, lower = figure.axes
        assert upper.get_xlim() == lower.get_xlim()
        arrows = {t.get_text() for t in drawn_names}
        shown = {gene.label for gene in genes}
        assert arrows <= shown
        bars = [line for line in lower.lines if line.get_gid() == "gene"]
        assert {tuple(bar.get_xdata()) for bar in bars} <= {(g.start / 1e6, g.stop / 1e6) for g in genes}
        assert lower.get_ylim()[0] > lower.get_ylim()[1]
    save(figure, tmp_path / "r.pdf")


def test_the_nearest_genes_come_first() -> None:
    genes = [Gene(f"G{k}", 2_000_000 + 100 * k, 2_000_000 + 100 * k + 50) for k in range(20)]
    track = arrange_genes(new_figure(8, 4), genes, (1.0, 3.0), 1200, 2.0)
    assert {gene.name for gene in track.genes} == {f"G{k}" for k in range(8)}
    assert track.n_left_out == 12
    assert [Gene("A", 1, 2, s).label for s in "+-."] == ["A →", "← A", "A"]


@pytest.mark.parametrize(
    ("change", "message"),
    [({"lead": 5}, "no value"), ({"value": np.array([1.0, 3.0, np.nan, 2.0, 0.5])}, "no value"),
     ({"r2": np.ones(2)}, "do not match"), ({"limits": (3, 2)}, "no base pair")],
)  # fmt: skip
def test_region_refuses(change: dict[str, Any], message: str) -> None:
    with pytest.raises(SettingsError, match=message):
        region(picture(**change))


@pytest.mark.parametrize(
    ("text", "parts"),
    [("1:5-9", ("1", 5, 9)), ("chrX:1,000-2,000,000", ("chrX", 1000, 2_000_000)), (" HLA:A:3 - 3", ("HLA:A", 3, 3))],
)
def test_regions_as_written(text: str, parts: tuple[str, int, int]) -> None:
    assert parse_region(text) == parts


@pytest.mark.parametrize("text", ["", "1", "1:5", ":1-2", "1:a-b", "1:,-,", "1:-5-9", "1:1-" + "9" * 20])
def test_what_is_no_region(text: str) -> None:
    with pytest.raises(SettingsError, match="is no region"):
        parse_region(text)


def test_a_region_that_ends_before_it_begins() -> None:
    with pytest.raises(SettingsError, match="ends before it begins"):
        parse_region("1:9-5")


# ---------------------------------------------------------------- through the command


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("genome")
    make_data(folder)
    assert goals(*FIT, "--out", "s", cwd=folder).code == 0
    assert goals("scan", "s.model.h5", "--scores", "goals,rate,psi", "--loco", "--out", "s", cwd=folder).code == 0
    shutil.copy(folder / "s.scores.h5", folder / "t.scores.h5")
    (folder / "g.bed").write_text("1\t810000\t815000\tAbc1\t0\t+\nchr2\t5\t9000000\tBig\n")
    return folder


@pytest.fixture
def folder(template: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(template, tmp_path / "work"))


@pytest.fixture
def here(folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Here:
    return Here(monkeypatch, capsys, folder)


@pytest.fixture
def figures(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Every figure that is saved."""
    seen: list[Any] = []
    for module in ("genome", "qq", "region"):
        monkeypatch.setattr(
            f"goalscli.jobs.plot.{module}.save", lambda figure, path: (seen.append(figure), save(figure, path))
        )
    return seen


def test_what_is_read_lazily_is_what_is_in_the_file(folder: Path) -> None:
    lazy, whole = open_scores(folder / "s.scores.h5"), read_scores(folder / "s.scores.h5")
    assert (lazy.n_variants, lazy.n_samples) == (len(whole.variants["id"]), len(whole.samples["iid"]))
    assert set(lazy.variants) == set(whole.variants)
    for name, values in whole.variants.items():
        np.testing.assert_array_equal(lazy.variants[name], values)
    for score, columns in whole.columns.items():
        assert set(lazy.score(score)) == set(columns)
        for name, values in columns.items():
            np.testing.assert_array_equal(lazy.score(score)[name], values)
    assert (lazy.xi, lazy.unit, lazy.score_attributes) == (whole.xi, whole.unit, whole.score_attributes)
    with pytest.raises(KeyError):
        lazy.variants["gene"]
    rows = np.array([9, 2, 9, 300])
    assert lazy.labels(rows) == whole.variants["id"][rows].tolist()
    with h5py.File(folder / "s.scores.h5", "r+") as file:
        file["variants/id"][2], file["variants/id"][9] = ".", ""
    chrom, pos = whole.variants["chrom"], whole.variants["pos"]
    assert open_scores(folder / "s.scores.h5").labels(rows)[:2] == [f"{chrom[k]}:{pos[k]}" for k in (9, 2)]
    assert lazy.labels(np.array([], dtype=np.intp)) == []


def test_manhattan_of_scans_and_values(here: Here, figures: list[Any]) -> None:
    here.well("plot", "manhattan", "s.scores.h5", "t.scores.h5", "--value", "p,rate", "--out", "m.png")
    assert [a.get_title(loc="left").split(":")[0] for a in figures[0].axes] == ["A (s)"] * 2 + ["A (t)"] * 2
    read = read_scores(here.folder / "s.scores.h5")
    for axes, values in zip(figures[0].axes, [read.goals["neg_log10_p"], read.score("rate")["rate"]] * 2, strict=True):
        np.testing.assert_array_equal(np.sort(points_of(axes)[:, 1]), np.sort(values))
    lines = [t.get_text() for t in texts(figures[0], "threshold")]
    n = len(read.variants["id"])
    assert [line.split(",")[0] for line in lines] == [f"0.05 / {n} variants", f"1 / {n}"] * 2
    assert_tidy(figures[0])
    alone = here.well("plot", "manhattan", "s.scores.h5", "--out", "one.png")
    assert alone.out == "one.png\n"
    assert caption(figures[1]).startswith("λGC ")
    assert figures[1].axes[0].get_title(loc="left") == f"A: {n} variants, 64 samples"


@pytest.mark.parametrize("kind", ["bed", "gff", "gz"])
def test_labels_are_genes(kind: str, here: Here, figures: list[Any]) -> None:
    text = (here.folder / "g.bed").read_text()
    if kind == "gff":
        text = "1\tx\tgene\t810001\t815000\t.\t+\t.\tName=Abc1\nchr2\tx\tgene\t6\t9000000\t.\t.\t.\tID=Big\n"
    (here.folder / "genes").write_bytes(gzip.compress(text.encode()) if kind == "gz" else text.encode())
    here.well("plot", "manhattan", "s.scores.h5", "--genes", "genes", "--n-labels", "1", "--out", "m.png")
    (label,) = texts(figures[0], "label")
    read = read_scores(here.folder / "s.scores.h5")
    top = int(np.argmax(read.goals["neg_log10_p"]))
    chrom, pos = read.variants["chrom"][top], int(read.variants["pos"][top])
    assert chrom == "1"  # the causal variant
    assert pos == 821_000
    assert label.get_text() == "Abc1 +6.0 kb"


def test_a_locus_without_a_gene_keeps_its_id(here: Here, figures: list[Any]) -> None:
    (here.folder / "far.bed").write_text("1\t90000000\t90000009\tFar\n")
    here.well("plot", "manhattan", "s.scores.h5", "--genes", "far.bed", "--n-labels", "1", "--out", "m.png")
    assert "1 labelled locus without a gene within 1 Mb." in caption(figures[0])
    assert texts(figures[0], "label")[0].get_text().startswith("rs")


@pytest.mark.parametrize("value", ["p", "loco"])
def test_qq_through_the_command(value: str, here: Here, figures: list[Any]) -> None:
    here.well("plot", "qq", "s.scores.h5", "t.scores.h5", "--value", value, "--out", "q.pdf")
    read = read_scores(here.folder / "s.scores.h5")
    column, told = {"p": ("neg_log10_p", "lambda_gc"), "loco": ("loco_neg_log10_p", "loco_lambda_gc")}[value]
    lines = [line for line in figures[0].axes[0].lines if line.get_gid() == "points"]
    for line in lines:
        np.testing.assert_array_equal(line.get_ydata(), np.sort(read.goals[column])[::-1])
    legend = [t.get_text() for t in figures[0].axes[0].get_legend().get_texts()]
    gc = read.score_attributes["goals"][told]
    assert legend == ["95 % if independent", f"A (s), λGC {gc:.2f}", f"A (t), λGC {gc:.2f}"]
    assert "independent" in caption(figures[0])
    assert "linkage disequilibrium" in caption(figures[0])


def test_region_through_the_command(here: Here, figures: list[Any], monkeypatch: pytest.MonkeyPatch) -> None:
    drawn: list[RegionPicture] = []
    monkeypatch.setattr("goalscli.jobs.plot.region.region", lambda p: (drawn.append(p), region(p))[1])
    here.well(
        "plot", "region", "s.scores.h5", "--snp", "rs41", "--window", "300000", "--genes", "g.bed", "--out", "r.png"
    )
    dataset, _, _ = load_model(here.folder / "s.model.h5")
    read = read_scores(here.folder / "s.scores.h5")
    chrom, pos, ids = (read.variants[name] for name in ("chrom", "pos", "id"))
    lead = int(np.flatnonzero(ids == "rs41")[0])
    rows = np.flatnonzero((chrom == "1") & (np.abs(pos - pos[lead]) <= 300_000))
    r2 = np.corrcoef(dataset.values(rows).T)[list(rows).index(lead)] ** 2
    np.testing.assert_allclose(drawn[0].r2, r2, rtol=1e-9, atol=1e-15)
    np.testing.assert_array_equal(drawn[0].value, read.goals["neg_log10_p"][rows])
    upper, lower = figures[0].axes
    by_colour = {x: line.get_color() for line in upper.lines if line.get_gid() == "points" for x in line.get_xdata()}
    assert len(by_colour) == len(rows) - 1
    for row, squared in zip(rows, r2, strict=True):
        if row != lead:
            assert by_colour[pos[row] / 1e6] == R2_COLOURS[min(int(squared * 5), 4)]
    assert [t.get_text() for t in texts(figures[0], "label")] == ["rs41"]
    assert upper.get_xlim() == lower.get_xlim()
    reach = 0.3 + 0.012 * 0.6  # marks at the ends are whole
    assert upper.get_xlim() == pytest.approx((pos[lead] / 1e6 - reach, pos[lead] / 1e6 + reach))
    assert [t.get_text() for t in texts(figures[0], "gene name")] == ["Abc1 →"]
    # By its ends: the strongest is the lead.
    here.well("plot", "region", "s.scores.h5", "--region", "chr1:1-1,500,000", "--value", "score", "--out", "r2.png")
    inside = np.flatnonzero((chrom == "1") & (pos <= 1_500_000))
    strongest = inside[np.argmax(np.abs(read.goals["score"][inside]))]
    assert [t.get_text() for t in texts(figures[1], "label")] == [ids[strongest]]
    (mark,) = [line for line in figures[1].axes[0].lines if line.get_gid() == "lead"]
    assert mark.get_ydata()[0] == pytest.approx(-read.goals["score"][strongest])
    for figure in figures:
        assert_tidy(figure)


MANHATTAN, QQ, REGION = (("plot", name, "s.scores.h5") for name in ("manhattan", "qq", "region"))
BAD = [
    ((*MANHATTAN, "--value", "p,p"), ("--value", "twice")),
    ((*MANHATTAN, "--value", "p,q"), ("'q'",)),
    ((*MANHATTAN, "--n-labels", "-1"), ("--n-labels",)),
    ((*MANHATTAN, "no.scores.h5"), ("no.scores.h5", "no such file")),
    ((*MANHATTAN, "s.model.h5"), ("s.model.h5", "goalscli-model")),
    ((*MANHATTAN, "--genes", "none.gtf"), ("none.gtf", "no such file")),
    ((*MANHATTAN, "--genes", "."), ("is a folder",)),
    ((*MANHATTAN, "--genes", "pheno.tsv"), ("pheno.tsv:1", "GTF, GFF3 or BED")),
    ((*MANHATTAN, "--genes", "alien.bed"), ("alien.bed", "NC_1", "none of those of the scan (1, X, Y, 2)")),
    (("plot", "manhattan"), ("SCORES",)),
    ((*QQ, "--value", "rate"), ("--value", "'rate'", "p or loco")),
    ((*QQ, *["s.scores.h5"] * 7), ("8 scans", "1 to 7")),
    ((*QQ, "pheno.tsv"), ("pheno.tsv", "HDF5")),
    (REGION, ("--snp", "--region")),
    ((*REGION, "--snp", "rs41", "--region", "1:1-2"), ("--snp and --region: two places", "leave one of them out")),
    ((*REGION, "--snp", "rs9999"), ("'rs9999'", "0 analysed variants")),
    ((*REGION, "--snp", "rs41", "--window", "0"), ("--window",)),
    ((*REGION, "--region", "1:1-900000", "--window", "5"), ("--window: means nothing with --region",)),
    ((*REGION, "--region", "1:9-5"), ("--region", "CHROM:FROM-TO")),
    ((*REGION, "--region", "7:5-9"), ("chromosome '7'", "1, X, Y, 2")),
    ((*REGION, "--region", "1:5-9"), ("no variant", "1,000 to")),
    ((*REGION, "--snp", "rs41", "--value", "q"), ("'q'",)),
    ((*REGION, "--snp", "rs41", "--model", "none.h5"), ("none.h5", "--model")),
    (("plot", "region", "t.scores.h5", "--snp", "rs41"), ("t.model.h5", "--model MODEL.model.h5")),
    ((*REGION, "--snp", "rs41", "--model", "s.scores.h5"), ("s.scores.h5", "expected goalscli-model")),
    ((*REGION, "--snp", "rs41", "--bfile", "none"), ("none",)),
    ((*REGION, "--snp", "rs41", "--genes", "alien.bed"), ("none of those of the scan",)),
]  # fmt: skip


@pytest.mark.parametrize(("command", "words"), BAD, ids=[" ".join(c[1:])[-40:] for c, _ in BAD])
def test_bad_input(command: tuple[str, ...], words: tuple[str, ...], here: Here, folder: Path) -> None:
    (folder / "alien.bed").write_text("NC_1\t5\t9\tAbc\n")
    before = names(folder)
    refused = here(*command, "--out", "x.png")
    assert refused.code == 2
    assert len([line for line in refused.err.splitlines() if "error" in line.lower()]) == 1
    for word in words:
        assert word in refused.err
    assert names(folder) == before


def test_a_foreign_model_is_refused(here: Here) -> None:
    here.well(*FIT, "--bandwidth", "1/J", "--out", "o")
    refused = here("plot", "region", "s.scores.h5", "--snp", "rs41", "--model", "o.model.h5", "--out", "x.png")
    assert refused.code == 2
    assert "is not the model of s.scores.h5" in refused.err


@pytest.mark.parametrize("picture", ["manhattan", "qq", "region"])
def test_existing_pictures_and_python_twins(picture: str, folder: Path, here: Here) -> None:
    more = ("--snp", "rs41") if picture == "region" else ()
    here.well("plot", picture, "s.scores.h5", *more, "--out", "a.svg")
    assert "exists already" in here("plot", picture, "s.scores.h5", *more, "--out", "a.svg").err
    twin = getattr(goalscli, f"plot_{picture}")
    settings = [goalscli.RegionPlot(snp="rs41")] if more else []
    assert twin(folder / "s.scores.h5", folder / "b.svg", *settings) == folder / "b.svg"
    assert (folder / "a.svg").read_bytes() == (folder / "b.svg").read_bytes()


def test_pictures_of_scores_alone_import_neither_pandas_nor_scipy(folder: Path) -> None:
    import subprocess
    import sys

    from helpers import ENVIRONMENT

    code = (
        "import sys; from goalscli.jobs.plot import plot_manhattan; plot_manhattan('s.scores.h5', 'm.png'); "
        "print([n for n in ('pandas', 'scipy', 'goalscli.models') if n in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=folder, env=ENVIRONMENT, capture_output=True, text=True)
    assert done.stdout == "[]\n", done.stderr
