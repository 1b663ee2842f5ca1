from __future__ import annotations

import itertools
import os
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from goalscli.errors import InputError, OutputError, SettingsError
from goalscli.plots import (
    GroupBox,
    LocalPanel,
    between_group_share,
    chromosome_order,
    local,
    manhattan,
    permutation_reference,
    save,
    select_groups,
    top_loci,
)
from goalscli.plots.genome import lay_out
from goalscli.plots.labels import Crowd, place, spread
from goalscli.plots.style import shortened, styled, value_limits

# ---------------------------------------------------------------- helpers


def texts(figure: Any, gid: str) -> list[Any]:
    from matplotlib.text import Text

    return [text for text in figure.findobj(Text) if text.get_gid() == gid]


def caption(figure: Any) -> str:
    return " ".join(text.get_text().replace("\n", " ") for text in texts(figure, "caption"))


def drawn(figure: Any) -> np.ndarray:
    lines = [line for axes in figure.axes for line in axes.lines if line.get_gid() == "points"]
    return np.concatenate([np.column_stack(line.get_data()) for line in lines]) if lines else np.empty((0, 2))


def extents(figure: Any, artists: list[Any]) -> np.ndarray:
    renderer = figure.canvas.get_renderer()
    with styled():
        return np.array([artist.get_window_extent(renderer).extents for artist in artists]).reshape(-1, 4)


def overlaps(boxes: np.ndarray) -> list[tuple[int, int]]:
    return [
        (i, j)
        for (i, a), (j, b) in itertools.combinations(enumerate(boxes), 2)
        if a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]
    ]


def assert_tidy(figure: Any) -> None:
    """No visible text overlaps another, leaves the figure, or is smaller than 7 points."""
    from matplotlib.text import Text

    with styled():  # text is as wide as in the file
        figure.draw_without_rendering()
    beyond = set()  # ticks outside the limits are not drawn
    for axis in [axis for axes in figure.axes for axis in (axes.xaxis, axes.yaxis)]:
        low, high = sorted(axis.get_view_interval())
        ticks = [*axis.get_major_ticks(), *axis.get_minor_ticks()]
        hidden = [tick for tick in ticks if not low <= tick.get_loc() <= high]
        beyond |= {id(label) for tick in hidden for label in (tick.label1, tick.label2)}
    seen = [text for text in figure.findobj(Text) if text.get_visible() and text.get_text().strip()]
    kept = [text for text in seen if id(text) not in beyond]
    boxes = extents(figure, kept)
    clashes = [(kept[i].get_text(), kept[j].get_text()) for i, j in overlaps(boxes)]
    assert clashes == []
    width, height = figure.canvas.get_width_height()
    outside = (boxes < -0.5).any(axis=1) | (boxes[:, 2] > width + 0.5) | (boxes[:, 3] > height + 0.5)
    assert [kept[i].get_text() for i in np.flatnonzero(outside)] == []
    assert min(text.get_fontsize() for text in kept) >= 7


def objects(values: Any) -> np.ndarray:
    result = np.empty(len(values), dtype=object)
    result[:] = list(values)
    return result


def genome(n_per: int = 200, n_chrom: int = 20, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    chrom = objects(np.repeat([str(i) for i in range(1, n_chrom)] + ["X"], n_per))
    return chrom, rng.integers(1, 150_000_000, chrom.size), rng.normal(size=chrom.size)


# ---------------------------------------------------------------- order, lanes, loci


@pytest.mark.parametrize(
    "ordered",
    [
        ["1", "2", "10", "X", "Y", "XY", "MT", "scaffold_1", "scaffold_2", "scaffold_10", "0"],
        ["chr1", "chr2", "chr10", "chrX", "chrY", "chrM", "chr1_KI270706v1", "chrUn_KI270302v1", "chrUn"],
        ["2L", "2R", "3L", "3R", "4", "X", "Y"],
        ["1A", "1B", "1D", "2A", "7D"],
        ["I", "II", "III", "IV", "V", "X", "MtDNA"],
        ["chrI", "chrII", "chrVIII", "chrIX", "chrX", "chrXI", "chrXVI", "chrM"],
        ["1", "2", "X", "Y", "PAR1", "PAR2", "M"],
        ["9", "X", "contig9", "contig11", "", ".", "NA"],
    ],
)
def test_chromosome_order(ordered: list[str]) -> None:
    rng = np.random.default_rng(1)
    for _ in range(5):
        shuffled = [ordered[i] for i in rng.permutation(len(ordered))]
        assert chromosome_order(shuffled * 2) == ordered


def test_lanes_keep_order_proportion_and_never_overlap() -> None:
    chrom = objects(["2", "1", "2", "1", "MT", "MT"])
    pos = np.array([50_000_000, 100_000_001, 1, 1, 16_000, 1])
    layout = lay_out(chrom, pos)
    assert [lane.name for lane in layout.lanes] == ["1", "2", "MT"]
    one, two, mito = layout.lanes
    assert (one.stop - one.start) / (two.stop - two.start) == pytest.approx(100_000_000 / 49_999_999)
    assert one.stop < two.start < two.stop < mito.start
    assert mito.stop - mito.start > 16_000  # widened, or it could not be seen
    assert layout.x[1] > layout.x[3]  # by position, not by file order
    for lane, name in zip(layout.lanes, ["1", "2", "MT"], strict=True):
        inside = layout.x[chrom == name]
        assert inside.min() == pytest.approx(lane.start)
        assert inside.max() == pytest.approx(lane.stop)


def test_scaffolds_share_a_lane_and_do_not_fall_on_each_other() -> None:
    chrom = objects(["1"] * 50 + ["X"] * 50 + [f"scaffold_{i}" for i in range(300, 0, -1)] + ["0", "NA"])
    pos = np.concatenate([np.arange(1, 101) * 1000, np.full(300, 7), [5, 0]])
    layout = lay_out(chrom, pos)
    assert [lane.name for lane in layout.lanes] == ["1", "X", "other", "unplaced"]
    assert (layout.n_merged, layout.n_unplaced) == (300, 2)
    scaffolds = layout.x[100:400]
    assert np.unique(scaffolds).size == 300
    assert (np.diff(scaffolds) < 0).all()  # natural order, the file has them backwards
    other = layout.lanes[2]
    assert other.start < scaffolds.min()
    assert scaffolds.max() < other.stop < layout.x[400:].min()


def test_unknown_positions() -> None:
    chrom = objects(["1", "1", "2", "2", "2", "1"])
    pos = np.array([10, 0, 0, -1, 0, 30])
    layout = lay_out(chrom, pos)
    assert layout.n_unplaced == 1  # the variant of chromosome 1 without a position
    assert layout.n_file_order == 1
    steps = np.diff(layout.x[2:5])
    assert steps[0] == pytest.approx(steps[1])
    assert steps[0] > 0
    assert layout.x[1] > layout.x[[0, 2, 3, 4, 5]].max()


def top_loci_by_hand(chrom: Any, pos: Any, value: Any, k: int, window: int) -> list[int]:
    order = sorted((i for i in range(len(value)) if np.isfinite(value[i])), key=lambda i: (-abs(value[i]), i))
    picked: list[int] = []
    for i in order:
        same = [j for j in picked if chrom[j] == chrom[i] and pos[i] > 0 and pos[j] > 0]
        if len(picked) < k and not any(abs(pos[j] - pos[i]) <= window for j in same):
            picked.append(i)
    return picked


@pytest.mark.parametrize("seed", range(6))
def test_top_loci_against_a_plain_loop(seed: int) -> None:
    rng = np.random.default_rng(seed)
    chrom = objects(rng.choice(["1", "2", "X"], 80))
    pos = rng.integers(-5, 100, 80)
    value = rng.integers(-6, 7, 80).astype(float)  # many ties
    value[rng.integers(0, 80, 8)] = rng.choice([np.nan, np.inf, -np.inf], 8)
    kept = value.copy()
    for k in (0, 1, 5, 200):
        expected = top_loci_by_hand(chrom, pos, value, k, 10)
        assert top_loci(chrom, pos, value, k, window=10).tolist() == expected
    np.testing.assert_array_equal(value, kept)  # the caller's array is untouched


# ---------------------------------------------------------------- labels


def test_spread_keeps_order_and_limits() -> None:
    centre = spread(np.array([5.0, 5.0, 4.0, 90.0]), np.full(4, 10.0), 0.0, 100.0)
    assert np.argsort(centre).tolist() == [2, 0, 1, 3]
    assert np.diff(np.sort(centre)).min() >= 10 - 1e-9
    assert centre.min() >= 5
    assert centre.max() <= 95


@pytest.mark.parametrize("crossing", [False, True])
def test_place_gives_disjoint_boxes_off_all_markers(crossing: bool) -> None:
    rng = np.random.default_rng(3)
    peak, elsewhere = rng.uniform(300, 330, (12, 2)), rng.uniform(20, 480, (12, 2)) * np.array([2, 1])
    points = np.concatenate([elsewhere[:1], peak, elsewhere[1:]])
    sizes = np.column_stack([rng.uniform(40, 120, 24), np.full(24, 18.0)])
    bounds = (0.0, 0.0, 1000.0, 600.0)
    boxes = place(points, sizes, np.zeros(24, bool), bounds, Crowd.of(points, bounds), crossing=crossing)
    found = ~np.isnan(boxes[:, 0])
    assert found.sum() >= 20
    assert overlaps(boxes[found]) == []
    assert (boxes[found] >= 0).all()
    assert (boxes[found, 2] <= 1000).all()
    assert (boxes[found, 3] <= 600).all()
    np.testing.assert_allclose(boxes[found, 2:] - boxes[found, :2], sizes[found])
    for x, y in points:
        assert not ((boxes[:, 0] < x) & (x < boxes[:, 2]) & (boxes[:, 1] < y) & (y < boxes[:, 3])).any()


@pytest.mark.parametrize("down", [False, True])
def test_labels_of_a_peak_stand_in_two_columns_in_the_order_of_their_points(down: bool) -> None:
    height = np.array([500.0, 330.0, 320.0, 310.0, 300.0, 299.0, 298.0, 297.0])
    peak = np.column_stack([np.full(8, 400.0), 600 - height if down else height])
    points = np.concatenate([[[800.0, 100.0]], peak])
    sizes, bounds = np.tile([80.0, 18.0], (9, 1)), (0.0, 0.0, 1000.0, 600.0)
    crowd = Crowd.of(points, bounds)
    boxes = place(points, sizes, np.full(9, down), bounds, crowd, crossing=False)[1:]
    right = boxes[:, 0] > 400
    assert right.sum() == 4
    assert np.unique(boxes[right, 0]).size == np.unique(boxes[~right, 2]).size == 1
    for side in (right, ~right):
        order = boxes[side, 1] if down else -boxes[side, 1]
        assert (np.diff(order) >= 18).all()


@pytest.mark.parametrize("signed", [False, True])
@pytest.mark.parametrize("one_peak", [False, True])
def test_labels_of_dense_hits_neither_overlap_nor_leave_the_axes(signed: bool, one_peak: bool) -> None:
    chrom, pos, value = genome()
    value += 9 * np.exp(-np.abs(pos - 80e6) / 3e6) * (chrom == "3") * (-1 if signed else 1)
    value[chrom == "17"] += 4
    value = value if signed else np.abs(value)
    pool = np.flatnonzero(chrom == "3") if one_peak else np.arange(value.size)
    hits = pool[np.argsort(-np.abs(value[pool]), kind="stable")[:25]]
    names = [(int(i), f"rs{1_000_000 + 7 * int(i)}") for i in hits]
    figure = manhattan(chrom, pos, value, labels=names, y_label="z", signed=signed, thresholds=[(4.0, "4")])
    labels = texts(figure, "label")
    assert {text.get_text() for text in labels} == {name for _, name in names}
    boxes = extents(figure, labels)
    assert overlaps(boxes) == []
    frame = figure.axes[0].get_window_extent().extents
    assert (boxes[:, :2] >= frame[:2]).all()
    assert (boxes[:, 2:] <= frame[2:]).all()
    assert "left out" not in caption(figure)
    assert_tidy(figure)


def test_labels_without_room_are_counted() -> None:
    chrom, pos, value = genome()
    figure = manhattan(chrom, pos, value, labels=[(i, f"variant_{i}") for i in range(300)], y_label="z")
    labels = texts(figure, "label")
    assert f"{300 - len(labels)} labels left out for want of room" in caption(figure)
    assert len(labels) >= 30
    assert overlaps(extents(figure, labels)) == []


def test_shortened_labels_stay_distinct() -> None:
    assert shortened(["a" * 50, "b"], 11) == ["aaaaaa…aaaa", "b"]
    alike = ["start_" + "x" * 20 + "1" + "x" * 20, "start_" + "x" * 20 + "2" + "x" * 20]
    assert shortened(alike, 12) == alike


# ---------------------------------------------------------------- manhattan

ODD = [0.0, -1e-12, np.nan, np.inf, 1e-320]


@pytest.mark.parametrize("extra", [[], [3.0], [-np.inf, np.nan]])
def test_zeros_and_tiny_values_are_drawn_and_what_is_not_finite_is_counted(extra: list[float]) -> None:
    value = np.array(ODD + extra)
    chrom, pos = objects(["1", "2", "2", "1", "X"] + ["1"] * len(extra)), np.arange(1, value.size + 1)
    figure = manhattan(chrom, pos, value, y_label="score", caption="Given.")
    np.testing.assert_array_equal(np.sort(drawn(figure)[:, 1]), np.sort(value[np.isfinite(value)]))
    n = int((~np.isfinite(value)).sum())
    assert caption(figure).startswith(f"Given. {n} values not finite, not drawn.")


def test_one_value_not_finite_and_values_beyond_the_axis() -> None:
    figure = manhattan(objects(["1"] * 4), np.arange(1, 5), np.array([np.nan, 1.0, 1e305, -2.0]), y_label="s")
    assert "1 value not finite, not drawn. 1 value beyond ±1e+300, not drawn." in caption(figure)
    assert len(drawn(figure)) == 2


@pytest.mark.parametrize("value", [np.zeros(4), np.full(4, np.nan), np.full(4, 1e-320), np.full(4, 7.0)])
@pytest.mark.parametrize("signed", [False, True])
def test_values_without_spread(value: np.ndarray, signed: bool, tmp_path: Path) -> None:
    chrom, names = objects(["1", "1", "2", "2"]), [(0, "a"), (3, "b")]
    figure = manhattan(chrom, np.arange(1, 5), value, y_label="s", signed=signed, labels=names)
    save(figure, tmp_path / "flat.png")
    low, high = figure.axes[0].get_ylim()
    assert np.isfinite([low, high]).all()
    assert low < high
    assert len(drawn(figure)) == np.isfinite(value).sum()
    if np.isnan(value).all():
        assert "2 labels of values not drawn" in caption(figure)


def test_value_limits() -> None:
    assert value_limits(np.array([1.0, 3.0]), [5.0]) == (1.0, 5.0)
    assert value_limits(np.array([0.0, 1e-320])) == (0.0, 1.0)
    assert value_limits(np.array([-1e-320])) == (-1.0, 1.0)
    low, high = value_limits(np.array([2.0, 2.0]))
    assert low < 2 < high


def tick_names(figure: Any) -> list[str]:
    axis = figure.axes[0].xaxis
    ticks = [*axis.get_major_ticks(), *axis.get_minor_ticks()]
    return [t.label1.get_text() for t in sorted(ticks, key=lambda t: t.get_loc()) if t.label1.get_text()]


def test_chromosomes_of_a_messy_file() -> None:
    names = ["1", "2", "10", "X", "MT"] + [f"scaffold_{i}" for i in range(1, 301)] + ["0"]
    chrom = objects(np.repeat(names, 5))
    pos = np.tile([5_000_000, 1_000_000, 9_000_000, 20_000_000, 3], len(names))
    figure = manhattan(chrom, pos, np.arange(chrom.size, dtype=float), y_label="score")
    assert tick_names(figure) == ["1", "2", "10", "X", "MT", "other", "unplaced"]
    assert "300 sequences drawn together as “other”" in caption(figure)
    assert "5 variants without chromosome or position drawn as “unplaced”" in caption(figure)
    assert len(drawn(figure)) == chrom.size
    assert_tidy(figure)


def test_only_scaffolds() -> None:
    chrom = objects([f"scaffold_{i}" for i in range(300)])
    figure = manhattan(chrom, np.full(300, 9), np.ones(300), y_label="score")
    assert tick_names(figure) == ["all sequences"]
    assert "300 sequences drawn together as “all sequences”" in caption(figure)
    assert np.unique(drawn(figure)[:, 0]).size == 300


@pytest.mark.parametrize(
    "names",
    [
        [f"chr{i}" for i in [*range(1, 23), "X", "Y", "M"]],
        [*(str(i) for i in range(1, 39)), "X", "0"],
        [f"scaffold_{i}" for i in range(1, 56)],
        [f"NC_{i:06d}.11" for i in range(1, 25)],
        [*(str(i) for i in range(1, 80)), "X"],
    ],
)
def test_chromosome_names_never_overlap(names: list[str]) -> None:
    rng = np.random.default_rng(0)
    chrom = objects(np.repeat(names, 20))
    length = np.geomspace(250e6, 1e5, len(names)).repeat(20)
    figure = manhattan(
        chrom, (rng.random(chrom.size) * length).astype(np.int64) + 1, rng.normal(size=chrom.size),
        y_label="a long name of the vertical axis that must be broken in lines to fit in the height it has",
        title="A title " * 30, caption="A caption. " * 60,
        thresholds=[(2.0, "two"), (2.05, "a little more than two")],
    )  # fmt: skip
    assert len(tick_names(figure)) >= 5
    assert_tidy(figure)


def test_one_chromosome_has_positions_on_its_axis() -> None:
    pos = np.array([35_000_000, 30_000_000, 41_000_000])
    figure = manhattan(objects(["chr17"] * 3), pos, np.arange(3.0), y_label="score", labels=[(2, "top")])
    np.testing.assert_allclose(np.sort(drawn(figure)[:, 0]), [30, 35, 41])
    assert figure.axes[0].get_xlabel() == "position on chromosome 17 (Mb)"


def test_zero_line_only_for_signed_values() -> None:
    chrom, pos, value = genome(5)
    lines = [
        [line.get_gid() for line in manhattan(chrom, pos, value, y_label="z", signed=signed).axes[0].lines]
        for signed in (False, True)
    ]
    assert ("zero" in lines[0], "zero" in lines[1]) == (False, True)


def test_thresholds_are_in_view_and_named() -> None:
    chrom, pos, value = genome(5)
    figure = manhattan(chrom, pos, value, y_label="z", thresholds=[(30.0, "high"), (-30.0, "low")])
    low, high = figure.axes[0].get_ylim()
    assert low < -30 < 30 < high
    assert [text.get_text() for text in texts(figure, "threshold")] == ["high", "low"]


def test_dollar_signs_are_text_but_for_the_axis_name(tmp_path: Path) -> None:
    chrom, pos, value = genome(5)
    names = [(0, "$\\nonsense$")]
    figure = manhattan(chrom, pos, value, y_label=r"$-\log_{10} P$", title="$a_b$ $\\x$", labels=names)
    save(figure, tmp_path / "dollar.png")
    assert texts(figure, "label")[0].get_text() == "$\\nonsense$"


def test_a_million_variants(tmp_path: Path) -> None:
    chrom, pos, value = genome(50_000)
    assert value.size == 1_000_000
    figure = manhattan(chrom, pos, value, y_label="z", labels=[(int(np.argmax(value)), "top")])
    assert len(drawn(figure)) == 1_000_000
    assert all(line.get_rasterized() for line in figure.axes[0].lines if line.get_gid() == "points")
    save(figure, tmp_path / "million.svg", dpi=100)
    assert (tmp_path / "million.svg").stat().st_size < 3_000_000  # a million vector points would take 100 MB


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"value": np.ones(2)}, "do not match"),
        ({"labels": [(3, "a")]}, "label index 3"),
        ({"labels": [(-1, "a")]}, "label index -1"),
        ({"thresholds": [(np.nan, "5 %")]}, "'5 %' is not finite"),
    ],
)
def test_manhattan_refuses(change: dict[str, Any], message: str) -> None:
    arguments: dict[str, Any] = {"chrom": objects("123"), "pos": np.arange(3), "value": np.ones(3)}
    with pytest.raises(SettingsError, match=message):
        manhattan(**(arguments | change), y_label="s")


def test_manhattan_refuses_nothing_to_draw() -> None:
    with pytest.raises(SettingsError, match="no variants"):
        manhattan(objects(""), np.zeros(0, np.int64), np.zeros(0), y_label="s")


# ---------------------------------------------------------------- local


def panel(n_groups: int = 20, label: str = "cage {}", seed: int = 0, **changes: Any) -> LocalPanel:
    rng = np.random.default_rng(seed)
    groups = tuple(
        GroupBox(label.format(i), rng.normal(0.02 * (i - n_groups / 2), 0.05, rng.integers(3, 15)))
        for i in range(n_groups)
    )
    settings: dict[str, Any] = {
        "title": "rs1  1:173,155,000  A/G",
        "groups": groups,
        "n_lowest": n_groups // 2,
        "overall_mean": 0.012,
        "caption": "Between-group share .755; permuted within family .58; free .31. " * 2,
    }
    return LocalPanel(**(settings | changes))


@pytest.mark.parametrize(
    ("n_panels", "n_groups", "label"),
    [
        (1, 20, "{}A"),
        (3, 10, "{}A"),
        (5, 20, "{}A"),
        (2, 40, "{}A"),
        (1, 8, "environment number {} of the long names"),
        (1, 24, "environment_{}_without_any_blank_in_its_name"),
        (4, 2, "{}"),
        (1, 1, "only {}"),
    ],
)
def test_local_is_tidy(n_panels: int, n_groups: int, label: str) -> None:
    panels = [panel(n_groups, label, seed) for seed in range(n_panels)]
    figure = local(panels, title="Local effects by cage", caption="Effects are joint and shrunken. " * 12)
    drawn = [axes for axes in figure.axes if axes.get_gid() != "percent"]
    assert len(drawn) == n_panels
    assert_tidy(figure)
    heights = [axes.get_window_extent().height / figure.dpi for axes in drawn]
    assert min(heights) > 2
    for axes, shown in zip(drawn, panels, strict=True):
        points = np.concatenate([line.get_ydata() for line in axes.lines if line.get_gid() == "points"])
        given = np.concatenate([group.values for group in shown.groups])
        np.testing.assert_array_equal(np.sort(points), np.sort(given))
        names = [text.get_text().replace("\n", " ") for text in axes.get_xticklabels()]
        for name, group in zip(names, shown.groups, strict=True):
            assert f"n={group.values.size}" in name


def test_local_boxes_headings_and_mean() -> None:
    values = np.array([1.0, 2.0, 3.0, 4.0, 8.0])  # quartiles 2, 3, 4; 8 is beyond 4 + 1.5 · 2
    groups = GroupBox("a", values), GroupBox("b", values + 1)
    figure = local([panel(groups=groups, n_lowest=1, overall_mean=-1.5)])
    axes = figure.axes[0]
    box = axes.patches[0]
    assert (box.get_y(), box.get_y() + box.get_height()) == (2.0, 4.0)
    whiskers, caps, medians = (lines.get_segments() for lines in axes.collections[:3])
    assert sorted(y for segment in whiskers for y in segment[:, 1]) == [1.0, 2.0, 4.0, 4.0]
    assert sorted(segment[0, 1] for segment in caps) == [1.0, 4.0]
    assert medians[0][0, 1] == 3.0
    assert [text.get_text() for text in texts(figure, "heading")] == ["least mean", "greatest mean"]
    assert axes.get_xlabel().endswith("Dashed: mean of all samples, −1.5.")
    assert [line.get_ydata()[0] for line in axes.lines if line.get_gid() == "mean"] == [-1.5]
    # Zero is on the axis; on the right, 0 % is the mean and 100 % of its size above it lies zero.
    assert "without 0" not in axes.get_ylabel()
    right = next(other for other in figure.axes if other.get_gid() == "percent")
    place = np.interp([-1.5, 0.0], axes.get_ylim(), right.get_ylim())
    np.testing.assert_allclose(place, [0, 100], atol=1e-9)
    assert "(axis without 0)" in local([panel(groups=groups, n_lowest=1, overall_mean=2.0)]).axes[0].get_ylabel()
    first, second = axes.get_xticks()
    assert second - first > 1.5  # the gap between the blocks
    assert axes.patches[0].get_edgecolor() != axes.patches[1].get_edgecolor()


def test_all_groups_are_one_block() -> None:
    groups = tuple(GroupBox(name, np.array([1.0, 2.0])) for name in "abc")
    figure = local([panel(groups=groups, n_lowest=2, complete=True)])
    assert [text.get_text() for text in texts(figure, "heading")] == ["all groups, by mean"]
    np.testing.assert_array_equal(np.diff(figure.axes[0].get_xticks()), [1, 1])
    assert len({tuple(box.get_edgecolor()) for box in figure.axes[0].patches}) == 1


def test_local_counts_what_is_not_finite() -> None:
    groups = (GroupBox("a", np.array([np.nan, 1.0, 2.0])), GroupBox("b", np.array([np.inf])))
    figure = local([panel(groups=groups, n_lowest=1, caption="Given.")])
    assert figure.axes[0].get_xlabel() == "Given. Dashed: mean of all samples, 0.012. 2 values not finite, not drawn."


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"groups": ()}, "no groups"),
        ({"n_lowest": 21}, "21 lowest of 20"),
        ({"overall_mean": np.nan}, "overall mean is not finite"),
    ],
)
def test_local_refuses(change: dict[str, Any], message: str) -> None:
    with pytest.raises(SettingsError, match=message):
        local([panel(**change)])
    with pytest.raises(SettingsError, match="no variants"):
        local([])


# ---------------------------------------------------------------- groups


def anova_share(values: Any, group: Any) -> float:
    kept = [(v, g) for v, g in zip(values, group, strict=True) if g]
    mean = sum(v for v, _ in kept) / len(kept)
    total = sum((v - mean) ** 2 for v, _ in kept)
    between = 0.0
    for label in {g for _, g in kept}:
        inside = [v for v, g in kept if g == label]
        between += len(inside) * (sum(inside) / len(inside) - mean) ** 2
    return between / total if total else 0.0


def test_share_by_hand() -> None:
    # means 2 and 6 about 4: between 3·4 + 3·4 = 24; within 2 + 8 = 10; total 34
    values = np.array([1.0, 2.0, 3.0, 4.0, 6.0, 8.0])
    assert between_group_share(values, objects("aaabbb")) == pytest.approx(24 / 34, rel=1e-12)
    assert between_group_share(values, objects("abcdef")) == pytest.approx(1, rel=1e-12)
    assert between_group_share(values, objects("aaaaaa")) == pytest.approx(0, abs=1e-15)


@pytest.mark.parametrize("scale", [1.0, 1e-320, 1e-12, 1e200])
def test_share_against_plain_anova(scale: float) -> None:
    rng = np.random.default_rng(5)
    values = np.round(rng.normal(3, 1, 60), 2)
    group = objects(rng.choice(["a", "b", "c", "", None], 60))
    expected = anova_share(values, group)
    tolerance = 1e-12 if scale > 1e-300 else 0.01  # subnormal numbers have two or three digits
    assert between_group_share(values * scale, group) == pytest.approx(expected, rel=tolerance)


@pytest.mark.parametrize("values", [np.zeros(6), np.full(6, 0.1), np.full(6, -1e300)])
def test_share_of_constant_scores_is_zero(values: np.ndarray) -> None:
    assert between_group_share(values, objects("aabbcc")) == 0
    assert permutation_reference(values, objects("aabbcc"), within=None, seed=1) == 0


def test_free_permutations_against_their_expectation() -> None:
    rng = np.random.default_rng(2)
    values, group = rng.normal(size=300), objects(rng.integers(0, 30, 300).astype(str))
    got = permutation_reference(values, group, within=None, n_permutations=2000, seed=3)
    # E[between share] = (groups − 1) / (samples − 1) whatever the scores
    assert got == pytest.approx((len(set(group)) - 1) / 299, rel=0.02)


def test_permutations_within_blocks_against_all_of_them() -> None:
    values = np.array([0.3, 1.0, 2.5, -1.0, 4.0, -6.0, 9.0])
    group = objects("aabbaba")
    within = objects(["f", "f", "f", "g", "g", None, ""])  # the last two samples keep their own scores
    shares = [
        anova_share([*(values[list(f)]), *(values[list(g)]), values[5], values[6]], group)
        for f in itertools.permutations([0, 1, 2])
        for g in itertools.permutations([3, 4])
    ]
    got = permutation_reference(values, group, within=within, n_permutations=20_000, seed=11)
    assert got == pytest.approx(np.mean(shares), abs=4 * np.std(shares) / np.sqrt(20_000))
    free = [anova_share([values[i] for i in p], group) for p in itertools.permutations(range(7))]
    got = permutation_reference(values, group, within=None, n_permutations=20_000, seed=11)
    assert got == pytest.approx(np.mean(free), abs=4 * np.std(free) / np.sqrt(20_000))


def test_blocks_of_one_and_blocks_that_are_groups_change_nothing() -> None:
    rng = np.random.default_rng(4)
    values, group = rng.normal(size=40), objects(rng.choice(list("abcd"), 40))
    seen = between_group_share(values, group)
    alone, unknown = objects([str(i) for i in range(40)]), objects([None] * 20 + [""] * 20)
    for within in (alone, unknown, group):
        assert permutation_reference(values, group, within=within, seed=1) == pytest.approx(seen, rel=1e-12)


def test_permutations_do_not_depend_on_their_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(4)
    values, group = rng.normal(size=50), objects(rng.choice(["a", "b", "c", ""], 50))
    once = permutation_reference(values, group, within=None, seed=9)
    monkeypatch.setattr("goalscli.plots.groups._BATCH", 120)
    assert permutation_reference(values, group, within=None, seed=9) == pytest.approx(once, rel=1e-12)
    assert permutation_reference(values, group, within=None, seed=10) != pytest.approx(once, rel=1e-6)


def test_select_groups() -> None:
    group = objects(["c2"] * 3 + ["c10"] * 3 + ["d"] * 3 + ["e"] * 4 + ["small"] * 2 + ["", None])
    values = np.array([1.0] * 3 + [1.0] * 3 + [-2.0] * 3 + [5.0] * 4 + [-100.0] * 2 + [99.0, 99.0])
    assert select_groups(values, group, n_groups=1) == (("d",), ("e",), 1)
    assert select_groups(values, group, n_groups=2) == (("d", "c2"), ("c10", "e"), 1)
    assert select_groups(values, group, n_groups=9) == (("d", "c2"), ("c10", "e"), 1)
    assert select_groups(values, group, n_groups=9, min_size=4) == (("e",), (), 4)
    assert select_groups(values, group, n_groups=3, min_size=2) == (("small", "d", "c2"), ("c10", "e"), 0)
    assert select_groups(values, group, n_groups=3, min_size=5) == ((), (), 5)


def test_groups_refuse() -> None:
    values, group = np.array([1.0, np.nan, np.inf]), objects("aab")
    for call in (
        lambda: select_groups(values, group, n_groups=1),
        lambda: between_group_share(values, group),
        lambda: permutation_reference(values, group, within=None, seed=1),
    ):
        with pytest.raises(InputError, match="2 of 3 local scores are not finite"):
            call()
    with pytest.raises(SettingsError, match="4 entries in 'within'"):
        permutation_reference(np.ones(3), group, within=objects("aabb"), seed=1)
    with pytest.raises(SettingsError, match="0 permutations"):
        permutation_reference(np.ones(3), group, within=None, n_permutations=0, seed=1)
    with pytest.raises(SettingsError, match="1 or more"):
        select_groups(np.ones(3), group, n_groups=0)


# ---------------------------------------------------------------- files


@pytest.fixture(scope="module")
def small() -> Any:
    chrom, pos, value = genome(10)
    return manhattan(chrom, pos, value, y_label="z", labels=[(3, "rs3")])


@pytest.mark.parametrize(("suffix", "magic"), [("png", b"\x89PNG"), ("PDF", b"%PDF"), ("svg", b"<?xml")])
def test_save_writes_each_format_whole(small: Any, tmp_path: Path, suffix: str, magic: bytes) -> None:
    path = tmp_path / f"a.{suffix}"
    path.write_text("old")
    save(small, path)
    assert path.read_bytes().startswith(magic)
    assert list(tmp_path.iterdir()) == [path]


def test_dpi_is_that_of_the_file(small: Any, tmp_path: Path) -> None:
    save(small, tmp_path / "a.png", dpi=50)
    header = (tmp_path / "a.png").read_bytes()
    assert (int.from_bytes(header[16:20], "big"), int.from_bytes(header[20:24], "big")) == (500, 200)


@pytest.mark.parametrize("name", ["a.jpg", "a", "a.tar.gz"])
def test_unknown_suffix(small: Any, tmp_path: Path, name: str) -> None:
    with pytest.raises(SettingsError, match=r"\.png, \.pdf or \.svg"):
        save(small, tmp_path / name)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("dpi", [0, -1, np.nan, 1e6])
def test_impossible_dpi(small: Any, tmp_path: Path, dpi: float) -> None:
    with pytest.raises(SettingsError, match="dpi"):
        save(small, tmp_path / "a.png", dpi=dpi)


def test_failure_leaves_the_old_file_and_no_partial_one(
    small: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.png"
    path.write_text("old")

    def fail(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("goalscli.plots.style.os.replace", fail)
    with pytest.raises(OutputError, match="No space left"):
        save(small, path)
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]
    with pytest.raises(OutputError, match="cannot be written"):
        save(small, tmp_path / "no folder" / "a.png")


SCRIPT = """
    import hashlib, pathlib, sys
    import numpy as np
    import goalscli.plots as plots
    assert not [name for name in sys.modules if name.startswith("matplotlib")], "import must stay light"
    rng = np.random.default_rng(0)
    value = rng.normal(size=300)
    chrom = np.array(["1", "2", "X"], dtype=object)[rng.integers(0, 3, 300)]
    pos = rng.integers(1, 10**8, 300)
    figure = plots.manhattan(chrom, pos, value, y_label="z", labels=[(5, "µé")], signed=True)
    boxes = tuple(plots.GroupBox(name, value[i::4]) for i, name in enumerate("abcd"))
    groups = plots.local([plots.LocalPanel("t", boxes, 2, 0.0)])
    folder = pathlib.Path(sys.argv[1])
    for name, picture in (("m", figure), ("l", groups)):
        for suffix in ("png", "pdf", "svg"):
            plots.save(picture, folder / f"{name}.{suffix}")
            print(name, suffix, hashlib.sha256((folder / f"{name}.{suffix}").read_bytes()).hexdigest())
    assert "matplotlib.pyplot" not in sys.modules
    assert "tkinter" not in sys.modules
"""


def run_script(folder: Path, **environment: str) -> str:
    root = str(Path(__file__).parents[1])
    inherited = {k: v for k, v in os.environ.items() if k not in ("MPLBACKEND", "MPLCONFIGDIR", "DISPLAY")}
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(SCRIPT), str(folder)],
        env={**inherited, "PYTHONPATH": root, **environment},
        capture_output=True,
        text=True,
        cwd=folder,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    return done.stdout


def test_same_bytes_without_display_home_or_settings(tmp_path: Path) -> None:
    """A stale DISPLAY, a foreign backend, no HOME, hashing and a matplotlibrc change nothing."""
    plain = run_script(tmp_path, PYTHONHASHSEED="1")
    assert len(plain.splitlines()) == 6
    temporary = tmp_path / "tmp"
    temporary.mkdir()
    bogus = {"DISPLAY": "bogus:64.0", "HOME": "/dev/null/home", "TMPDIR": str(temporary)}
    bogus |= {"XDG_CONFIG_HOME": "", "XDG_CACHE_HOME": "", "PYTHONHASHSEED": "2"}
    assert run_script(tmp_path, MPLBACKEND="TkAgg", **bogus) == plain
    assert list(temporary.iterdir()) == []  # the temporary folder is gone
    (tmp_path / "matplotlibrc").write_text("font.size: 30\naxes.facecolor: red\nsavefig.bbox: tight\n")
    assert run_script(tmp_path, MPLBACKEND="Qt4Agg", SOURCE_DATE_EPOCH="0") == plain


def test_settings_of_the_user_are_left_alone(small: Any, tmp_path: Path) -> None:
    import matplotlib

    before = {key: matplotlib.rcParams._get(key) for key in matplotlib.rcParams}
    save(small, tmp_path / "a.svg")
    assert {key: matplotlib.rcParams._get(key) for key in matplotlib.rcParams} == before
