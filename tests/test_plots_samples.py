"""Pictures of local scores: values read back from the figures against the scores file and the genotypes."""

from __future__ import annotations

import gzip
import shutil
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pandas as pd
import pytest
from helpers import CAUSAL, FIT, Here, N, goals, make_data
from scipy import stats
from test_plots import anova_share, assert_tidy, caption, objects, texts

import goalscli
from goalscli.errors import GoalsError, InputError, SettingsError
from goalscli.jobs.plot import (
    Environment,
    plot_beeswarm,
    plot_dependence,
    plot_heatmap,
    plot_local_samples,
)
from goalscli.jobs.plot.reading import ScanModel, dosages_of, variants_of
from goalscli.jobs.results import read_scores
from goalscli.plots import (
    GroupBox,
    OrderedPanel,
    SwarmRow,
    Words,
    alike_together,
    beeswarm,
    correlation,
    heatmap,
    ordered,
    save,
    spread_in_words,
    strips,
    trend,
)
from goalscli.plots.loci import distinct_loci
from goalscli.plots.means import interval_of_mean, running_means
from goalscli.plots.swarm import stacked

XI = -0.5
TOP = f"rs{CAUSAL}"
OTHER = "rs100"


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Data, a model m, a scan s with every local score, one of few, and one without the goals score."""
    folder = tmp_path_factory.mktemp("template")
    make_data(folder)
    assert goals(*FIT, "--out", "m", cwd=folder).code == 0
    for name, more in (("s", ("--local", "all")), ("few", ("--local", "top:3"))):
        scan = ("scan", "m.model.h5", "--xi", str(XI), *more, "--out", name)
        assert goals(*scan, cwd=folder).code == 0
    assert goals("scan", "m.model.h5", "--scores", "rate", "--out", "rate", cwd=folder).code == 0
    shutil.copy(folder / "m.model.h5", folder / "s.model.h5")
    covar = pd.read_csv(folder / "covar.tsv", sep="\t")
    table = covar[["FID", "IID", "age", "batch"]].copy()
    table["temp"] = np.linspace(-3, 30, N).round(2)
    table["pen"] = np.arange(N) // 2
    table["diet"] = ["hay", "oats"] * (N // 2)
    table["mixed"] = ["12", "13A"] * (N // 2)
    table["none"] = "NA"
    table["one"] = 7
    text = table.astype(object)
    text.loc[:3, "temp"] = "NA"
    text.loc[5, "temp"] = -9
    text.loc[:9, "diet"] = "."
    text.iloc[: N - 2].to_csv(folder / "env.tsv", sep="\t", index=False)
    return folder


@pytest.fixture
def folder(template: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(template, tmp_path / "work"))


@pytest.fixture
def here(folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Here:
    return Here(monkeypatch, capsys, folder)


@pytest.fixture
def figures(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The figures that jobs save, which are saved all the same."""
    found: list[Any] = []

    def keep(figure: Any, path: Any) -> None:
        found.append(figure)
        save(figure, path)

    for name in ("beeswarm", "samples", "dependence", "heatmap"):
        monkeypatch.setattr(f"goalscli.jobs.plot.{name}.save", keep)
    return found


@pytest.fixture(scope="module")
def truth(template: Path) -> Any:
    """Local effects (J, N), IDs and z, straight from the file."""
    with h5py.File(template / "s.scores.h5") as file:
        effects = -file["goals/local"][:].astype(float) / XI
        return effects, [v.decode() for v in file["variants/id"][:]], file["goals/z"][:], file["variants/pos"][:]


@pytest.fixture(scope="module")
def calls(tmp_path_factory: pytest.TempPathFactory) -> np.ndarray:
    """Dosages as written, NaN where missing, (N, all variants)."""
    x = make_data(tmp_path_factory.mktemp("again")).astype(float)
    return np.where(x < 0, np.nan, x)


def clouds(figure: Any, gid: str = "points") -> list[Any]:
    from matplotlib.collections import PathCollection

    return [a for axes in figure.axes for a in axes.collections if isinstance(a, PathCollection) and a.get_gid() == gid]


def lines(axes: Any, gid: str) -> list[np.ndarray]:
    return [np.column_stack(line.get_data()) for line in axes.lines if line.get_gid() == gid]


def tick_texts(axis: Any) -> list[str]:
    return [text.get_text() for text in axis.get_ticklabels()]


# ---------------------------------------------------------------- genotypes and places


def test_dosages_are_those_of_the_file_and_holes_are_known(template: Path, calls: np.ndarray, truth: Any) -> None:
    read = read_scores(template / "s.scores.h5")
    index = np.array([200, 3, 200, 40])
    found = dosages_of(ScanModel(read), index)
    wanted = np.column_stack([calls[:, int(truth[1][j].removeprefix("rs"))] for j in index])
    np.testing.assert_array_equal(found.called, ~np.isnan(wanted))
    np.testing.assert_array_equal(found.values[found.called], wanted[found.called])
    family = np.arange(N) // 4
    for i, k in np.argwhere(np.isnan(wanted)):
        assert found.values[i, k] == pytest.approx(np.nanmean(wanted[family == family[i], k]), abs=1e-6)
    assert (~found.called).any()


@pytest.mark.parametrize("scale", ["none", "center"])
def test_dosages_do_not_depend_on_the_scale_of_the_fit(folder: Path, scale: str, calls: np.ndarray) -> None:
    assert goals(*FIT, "--scale", scale, "--out", "x", cwd=folder).code == 0
    assert goals("scan", "x.model.h5", "--local", "all", "--out", "x", cwd=folder).code == 0
    read = read_scores(folder / "x.scores.h5")
    found = dosages_of(ScanModel(read), np.array([9]))
    wanted = calls[:, int(read.variants["id"][9].removeprefix("rs"))]
    np.testing.assert_array_equal(found.values[found.called[:, 0], 0], wanted[~np.isnan(wanted)])


def test_stacks_are_symmetric_and_points_of_a_bin_do_not_overlap() -> None:
    values = np.array([0.0, 0.01, 0.02, 1.0, 1.02, 3.0])
    np.testing.assert_allclose(stacked(values, 0.1, 10), [-1, 0, 1, -0.5, 0.5, 0])
    np.testing.assert_allclose(stacked(values, 0.1, 1), [-0.5, 0, 0.5, -0.25, 0.25, 0])  # pressed together, all alike
    np.testing.assert_allclose(stacked(np.full(3, 7.0), 0.0, 9), [-1, 0, 1])
    assert stacked(np.empty(0), 1.0, 1.0).size == 0
    shift = stacked(np.random.default_rng(0).normal(size=5000), 0.1, 20)
    assert np.abs(shift).max() <= 10 + 1e-9
    assert abs(shift.sum()) < 1e-6


# ---------------------------------------------------------------- beeswarm


def test_beeswarm_draws_the_effects_of_the_file(folder: Path, figures: list[Any], truth: Any, calls: Any) -> None:
    effects, ids, _, _ = truth
    plot_beeswarm(folder / "s.scores.h5", folder / "b.png", snps=[TOP, OTHER, TOP])
    (figure,) = figures
    first, second = clouds(figure)
    for place, cloud, name in ((0, first, TOP), (1, second, OTHER)):
        x, y = cloud.get_offsets().T
        np.testing.assert_array_equal(x, effects[ids.index(name)])
        assert np.abs(y - place).max() < 0.45
        called = calls[:, int(name[2:])]
        known = ~np.isnan(called)
        np.testing.assert_array_equal(np.asarray(cloud.get_array())[known], called[known])
        assert cloud.get_clim() == (0, 2)
    axes = figure.axes[0]
    assert [text.split("\n")[0] for text in tick_texts(axes.yaxis)] == [TOP, OTHER]
    ticks = [c.get_segments()[0][0, 0] for c in axes.collections if c.get_gid() == "mean"]
    np.testing.assert_allclose(ticks, [effects[ids.index(name)].mean() for name in (TOP, OTHER)])
    low, high = axes.get_xlim()
    assert low <= 0 <= high
    n = int(np.isnan(calls[:, [int(TOP[2:]), int(OTHER[2:])]]).sum())
    assert n > 1
    assert f"{n} missing calls are drawn in the colour of the value filled in" in caption(figure)
    shares = sorted(effects[ids.index(v)].std(ddof=1) / abs(effects[ids.index(v)].mean()) for v in (TOP, OTHER))
    assert f"{100 * shares[0]:.1f} %" in caption(figure) or f"{100 * shares[0]:.0f} %" in caption(figure)
    assert effects[ids.index(TOP)].mean() > 0  # more A1 of it raises the trait: the sign is a geneticist's
    assert_tidy(figure)


def test_beeswarm_takes_the_top_loci_in_order(folder: Path, figures: list[Any], truth: Any) -> None:
    _, ids, z, _ = truth
    plot_beeswarm(folder / "s.scores.h5", folder / "b.png", n=3)
    drawn = [text.split("\n")[0] for text in tick_texts(figures[0].axes[0].yaxis)]
    assert drawn[0] == ids[int(np.argmax(np.abs(z)))] == TOP
    sizes = [abs(z[ids.index(name)]) for name in drawn]
    assert sizes == sorted(sizes, reverse=True)
    with h5py.File(folder / "s.scores.h5") as file:
        chrom, pos = file["variants/chrom"][:], file["variants/pos"][:]
    # Chromosomes are short here: of one chromosome, loci are a tenth of the longest apart.
    longest = max(np.ptp(pos[chrom == name]) for name in set(chrom))
    rows = [ids.index(name) for name in drawn]
    apart = [abs(pos[i] - pos[j]) for i in rows for j in rows if i < j and chrom[i] == chrom[j]]
    assert min(apart, default=longest) > longest / 10


def test_loci_are_those_of_the_manhattan_plot(folder: Path, truth: Any) -> None:
    read = read_scores(folder / "s.scores.h5")
    z = read.goals["z"]
    for n in (1, 4, 9):
        found = variants_of(read, (), n, most=100)
        assert found.tolist() == distinct_loci(read.variants["chrom"], read.variants["pos"], z, n).tolist()


def test_centred_beeswarm(folder: Path, figures: list[Any], truth: Any) -> None:
    effects, ids, _, _ = truth
    plot_beeswarm(folder / "s.scores.h5", folder / "b.png", snps=[TOP], centre=True)
    mine = effects[ids.index(TOP)]
    np.testing.assert_allclose(clouds(figures[0])[0].get_offsets()[:, 0], mine - mine.mean(), atol=1e-18)
    axes = figures[0].axes[0]
    assert "difference from the variant's mean" in axes.get_xlabel()
    assert tick_texts(axes.yaxis)[0].endswith(f"mean {mine.mean():.3g}".replace("-", "−"))
    assert not [c for c in axes.collections if c.get_gid() == "mean"]


def test_without_genotypes_there_is_one_colour_and_the_caption_says_so(
    folder: Path, figures: list[Any], here: Here
) -> None:
    (folder / "s.model.h5").unlink()
    told = here.well("plot", "beeswarm", "s.scores.h5", "--snp", TOP, "--out", "b.png")
    assert "warning: drawn without the colours of genotypes" in told.err
    assert clouds(figures[0])[0].get_array() is None
    assert len(figures[0].axes) == 1
    assert "Genotypes not at hand: one colour." in caption(figures[0])
    refused = here("plot", "beeswarm", "s.scores.h5", "--model", "gone.h5", "--out", "c.png")
    assert refused.code == 2
    assert "gone.h5" in refused.err
    here.well("plot", "local", "s.scores.h5", "--by", "sample", "--out", "l.png")
    assert "one colour" in caption(figures[1])
    assert clouds(figures[1], "genotypes") == []


def test_twenty_thousand_samples_are_rasterised(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    rows = [SwarmRow(f"rs{k}", "1:1 A", rng.normal(0.01, 0.002, 20_000), rng.integers(0, 3, 20_000)) for k in range(4)]
    figure = beeswarm(rows, x_label="local effect of A1")
    assert all(cloud.get_rasterized() for cloud in clouds(figure))
    save(figure, tmp_path / "b.svg")
    assert (tmp_path / "b.svg").stat().st_size < 3_000_000
    assert max(np.abs(cloud.get_offsets()[:, 1] - k).max() for k, cloud in enumerate(clouds(figure))) < 0.45


# ---------------------------------------------------------------- all samples in order


def test_ordered_samples(folder: Path, figures: list[Any], truth: Any, calls: Any) -> None:
    effects, ids, _, _ = truth
    plot_local_samples(folder / "s.scores.h5", folder / "o.png", snps=[TOP])
    (figure,) = figures
    mine = effects[ids.index(TOP)]
    order = np.argsort(mine, kind="stable")
    np.testing.assert_array_equal(clouds(figure)[0].get_offsets(), np.column_stack([np.arange(1, N + 1), mine[order]]))
    strip = clouds(figure, "genotypes")[0].get_offsets()
    called = calls[order, CAUSAL]
    known = ~np.isnan(called)
    np.testing.assert_array_equal(strip[known, 1], called[known])
    axes, percent = figure.axes[0], next(a for a in figure.axes if a.get_gid() == "percent")
    assert lines(axes, "mean")[0][0, 1] == pytest.approx(mine.mean())
    assert lines(axes, "zero")[0][0, 1] == 0
    assert percent.get_ylim() == pytest.approx([100 * (v / mine.mean() - 1) for v in axes.get_ylim()])
    assert "axis without 0" not in axes.get_ylabel()
    assert_tidy(figure)
    plot_local_samples(folder / "s.scores.h5", folder / "z.png", snps=[TOP], zoom=True)
    zoomed = figures[1].axes[0]
    assert zoomed.get_ylim()[0] > 0
    assert "axis without 0" in zoomed.get_ylabel()
    assert lines(zoomed, "zero") == []


# ---------------------------------------------------------------- dependence


def strip_values(figure: Any) -> list[np.ndarray]:
    return [np.sort(points[:, 1]) for points in lines(figure.axes[0], "points")]


def test_dependence_on_the_own_genotype(folder: Path, figures: list[Any], truth: Any, calls: Any) -> None:
    effects, ids, _, _ = truth
    plot_dependence(folder / "s.scores.h5", folder / "d.png", OTHER)
    (figure,) = figures
    mine, called = effects[ids.index(OTHER)], calls[:, int(OTHER[2:])]
    known = ~np.isnan(called)
    assert (~known).any()
    groups = [mine[called == k] for k in (0, 1, 2)]
    for found, wanted in zip(strip_values(figure), groups, strict=True):
        np.testing.assert_array_equal(found, np.sort(wanted))
    assert tick_texts(figure.axes[0].xaxis) == [f"{k}\nn={len(g)}" for k, g in enumerate(groups)]
    means = lines(figure.axes[0], "means")[0][:, 1]
    np.testing.assert_allclose(means, [g.mean() for g in groups])
    (bars,) = [c.get_segments() for c in figure.axes[0].collections if c.get_gid() == "interval"]
    for bar, group in zip(bars, groups, strict=True):
        wanted = stats.t.interval(0.95, len(group) - 1, group.mean(), stats.sem(group))
        np.testing.assert_allclose(bar[:, 1], wanted, rtol=1e-9)
    share = anova_share(mine[known], objects(called[known].astype(int).astype(str)))
    told = caption(figure)
    assert f"between genotypes {share:.3f} (by chance about {2 / (known.sum() - 1):.3f})" in told
    assert f"{(~known).sum()} of {N} samples without a call left out" in told
    assert lines(figure.axes[0], "mean")[0][0, 1] == pytest.approx(mine[known].mean())
    assert_tidy(figure)


def test_dependence_on_another_genotype(folder: Path, figures: list[Any], truth: Any, calls: Any) -> None:
    effects, ids, _, _ = truth
    plot_dependence(folder / "s.scores.h5", folder / "d.png", TOP, against=OTHER)
    groups = [effects[ids.index(TOP)][calls[:, int(OTHER[2:])] == k] for k in (0, 1, 2)]
    for found, wanted in zip(strip_values(figures[0]), groups, strict=True):
        np.testing.assert_array_equal(found, np.sort(wanted))
    assert figures[0].axes[0].get_xlabel() == f"copies of A1 ({'ACGT'[int(OTHER[2:]) % 4]}) of {OTHER}"
    assert TOP in figures[0].axes[0].get_title(loc="left")


def test_dependence_on_a_number(folder: Path, figures: list[Any], truth: Any) -> None:
    effects, ids, _, _ = truth
    plot_dependence(folder / "s.scores.h5", folder / "d.png", TOP, environment=Environment("env.tsv", "temp"))
    told, axes = caption(figures[0]), figures[0].axes[0]
    table = pd.read_csv(folder / "env.tsv", sep="\t")
    keep = table.temp.notna() & (table.temp != -9)
    x, y = table.temp[keep].to_numpy(), effects[ids.index(TOP)][: N - 2][keep]
    np.testing.assert_array_equal(lines(axes, "points")[0], np.column_stack([x, y]))
    assert f"r with temp {np.corrcoef(x, y)[0, 1]:.2f}" in told.replace("−", "-")
    assert f"7 of {N} samples without a value of temp left out" in told  # 4 NA, one -9, two not in the table
    assert_tidy(figures[0])
    kept = Environment("env.tsv", "temp", missing_code=None)
    plot_dependence(folder / "s.scores.h5", folder / "k.png", TOP, environment=kept)
    assert len(lines(figures[1].axes[0], "points")[0]) == len(x) + 1


@pytest.fixture(autouse=True)
def _in_folder(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if "folder" in request.fixturenames:
        monkeypatch.chdir(request.getfixturevalue("folder"))


def test_dependence_on_categories(folder: Path, figures: list[Any], truth: Any) -> None:
    effects, ids, _, _ = truth
    mine = effects[ids.index(TOP)]
    for column, told in (("diet", Environment("env.tsv", "diet")), ("pen", Environment("env.tsv", "pen", True))):
        plot_dependence(folder / "s.scores.h5", folder / f"{column}.png", TOP, environment=told)
        table = pd.read_csv(folder / "env.tsv", sep="\t", dtype=str)
        labels = table[column].where(table[column] != ".")
        known = labels.notna().to_numpy()
        share = anova_share(mine[: N - 2][known], labels[known])
        assert f"between categories of {column} {share:.3f}" in caption(figures[-1])
        assert f"{N - known.sum()} of {N} samples without" in caption(figures[-1])
        assert_tidy(figures[-1])
    hay, oats = strip_values(figures[0])
    np.testing.assert_array_equal(hay, np.sort(mine[: N - 2][(table.diet == "hay").to_numpy()]))
    np.testing.assert_array_equal(oats, np.sort(mine[: N - 2][(table.diet == "oats").to_numpy()]))
    assert len(strip_values(figures[1])) == 24  # of 31 pens of two
    assert "7 other categories (14 samples), none of them larger, not drawn" in caption(figures[1])
    shown = [text.split("\n")[0].split(" ")[0] for text in tick_texts(figures[1].axes[0].xaxis)]
    assert shown == sorted(shown, key=int)


def test_a_column_of_one_value(folder: Path, figures: list[Any]) -> None:
    plot_dependence(folder / "s.scores.h5", folder / "a.png", TOP, environment=Environment("env.tsv", "one"))
    plot_dependence(folder / "s.scores.h5", folder / "b.png", TOP, environment=Environment("env.tsv", "one", True))
    assert "No r with one: one of the two does not vary." in caption(figures[0])
    assert "No share between categories of one: all samples have the same." in caption(figures[1])


def test_running_means() -> None:
    x = np.array([3.0, 1, 1, 2, 2, 2])
    found = running_means(x, np.array([5.0, 1, 3, 0, 0, 6]))
    np.testing.assert_array_equal(found.x, [1, 2, 3])
    np.testing.assert_array_equal(found.mean, [2, 2, 5])
    assert np.isnan(found.half).tolist() == [False, False, True]
    rng = np.random.default_rng(0)
    x, y = np.round(rng.normal(size=400), 1), rng.normal(size=400)
    found = running_means(x, y)
    edges = [set(x[np.argsort(np.abs(x - m))[:1]]) for m in found.x]
    assert 10 <= len(edges) <= 20
    assert (np.diff(found.x) > 0).all()
    # No value of x is in two bins: the counts of bins add up to all
    assert found.x.min() >= x.min()
    assert found.x.max() <= x.max()
    mean, half = interval_of_mean(y)
    np.testing.assert_allclose([mean - half, mean + half], stats.t.interval(0.95, 399, y.mean(), stats.sem(y)))


def test_correlation() -> None:
    rng = np.random.default_rng(1)
    x, y = rng.normal(size=50), rng.normal(size=50)
    for scale in (1, 1e-200, 1e200):
        assert correlation(x * scale, y) == pytest.approx(np.corrcoef(x, y)[0, 1])
    assert correlation(np.full(50, 0.1), y) is None
    assert correlation(x, np.zeros(50)) is None


def test_continuous_dosages_are_a_trend(folder: Path, figures: list[Any], monkeypatch: pytest.MonkeyPatch) -> None:
    from goalscli.jobs.plot import reading

    dosage = np.linspace(0, 2, N)[:, None]
    called = np.arange(N)[:, None] > 1
    monkeypatch.setattr("goalscli.jobs.plot.dependence.dosages_of", lambda *_: reading.Dosages(dosage, called))
    plot_dependence(folder / "s.scores.h5", folder / "d.png", TOP)
    np.testing.assert_array_equal(lines(figures[0].axes[0], "points")[0][:, 0], dosage[2:, 0])
    assert "r with copies of A1" in caption(figures[0])
    assert f"2 of {N} samples without a call left out" in caption(figures[0])


# ---------------------------------------------------------------- heatmap


def image(figure: Any, gid: str = "map") -> np.ndarray:
    from matplotlib.image import AxesImage

    (found,) = [a for a in figure.findobj(AxesImage) if a.get_gid() == gid]
    return np.asarray(found.get_array())


@pytest.mark.parametrize("centre", [False, True])
def test_heatmap_is_the_file_rearranged(folder: Path, figures: list[Any], truth: Any, centre: bool) -> None:
    effects, ids, _, _ = truth
    names = [TOP, OTHER, "rs250", "rs9"]
    plot_heatmap(folder / "s.scores.h5", folder / "h.png", snps=names, centre=centre)
    axes = figures[0].axes[0]
    columns = [text.split(",")[0] for text in tick_texts(axes.xaxis)]
    assert sorted(columns) == sorted(names)
    assert f"{TOP}, chr 1" in tick_texts(axes.xaxis)
    wanted = np.column_stack([effects[ids.index(name)] for name in columns])
    wanted = wanted - wanted.mean(axis=0) if centre else wanted
    drawn = image(figures[0])
    assert drawn.shape == wanted.shape
    np.testing.assert_array_equal(drawn[np.lexsort(drawn.T)], wanted[np.lexsort(wanted.T)])  # whole rows
    limit = axes.images[0].get_clim()[1]
    assert axes.images[0].get_clim() == (-limit, limit)
    n = int((np.abs(wanted) > limit).sum())
    assert n <= 0.01 * wanted.size
    assert f"{n} of {wanted.size} effects beyond the ends" in caption(figures[0])
    assert "Samples and variants clustered (Ward)." in caption(figures[0])
    assert_tidy(figures[0])


def test_heatmap_by_group(folder: Path, figures: list[Any], truth: Any) -> None:
    with h5py.File(folder / "s.scores.h5", "r+") as file:
        file["samples/group"][:] = [("B 10", "B 2", "", "0")[i % 4] for i in range(N)]
    plot_heatmap(folder / "s.scores.h5", folder / "h.png", snps=[TOP, OTHER], by_group=True)
    codes = image(figures[0], "groups")[:, 0]
    assert codes.tolist() == [0] * 16 + [1] * 16 + [2] * 32
    legend = figures[0].axes[0].get_legend()
    assert [text.get_text() for text in legend.get_texts()] == ["B 2", "B 10"]
    assert "Samples by group, variants clustered (Ward)." in caption(figures[0])
    assert "White at the side: no group." in caption(figures[0])
    effects, ids, _, _ = truth
    column = [text.split(",")[0] for text in tick_texts(figures[0].axes[0].xaxis)].index(TOP)
    np.testing.assert_array_equal(
        np.sort(image(figures[0])[:16, column]), np.sort(effects[ids.index(TOP)][np.arange(N) % 4 == 1])
    )
    assert_tidy(figures[0])


def test_many_groups_have_no_bar_and_no_groups_cannot_be_kept_together(folder: Path, figures: list[Any]) -> None:
    plot_heatmap(folder / "s.scores.h5", folder / "h.png", n=3, by_group=True)
    assert "16 groups: too many for a bar." in caption(figures[0])
    with h5py.File(folder / "s.scores.h5", "r+") as file:
        file["samples/group"][:] = [""] * N
    with pytest.raises(InputError, match="no groups"):
        plot_heatmap(folder / "s.scores.h5", folder / "i.png", by_group=True)


def test_lines_of_many_samples_are_means_of_neighbours() -> None:
    effects = np.random.default_rng(0).normal(size=(2001, 2))
    figure = heatmap(effects, ["a", "b"], ["s"] * 2001, key="k")
    drawn = image(figure)
    assert len(drawn) == 667
    np.testing.assert_allclose(drawn, effects.reshape(667, 3, 2).mean(axis=1))
    assert "Each line is the mean of 3 neighbouring samples." in caption(figure)
    figure = heatmap(effects[:1999], ["a", "b"], ["s"] * 1999, key="k")
    np.testing.assert_allclose(image(figure).mean(axis=0), effects[:1999].mean(axis=0), atol=1e-3)
    assert "3 or 4 neighbouring" in caption(figure)


def test_like_rows_come_together() -> None:
    rng = np.random.default_rng(0)
    kind = rng.permutation(np.repeat([0, 1, 2], 20))
    rows = np.array([[0.0, 0], [5, 0], [0, 9]])[kind] + rng.normal(0, 0.1, (60, 2))
    order, how = alike_together(rows)
    assert sorted(order) == list(range(60))
    assert np.count_nonzero(np.diff(kind[order])) == 2
    assert how == "clustered (Ward)"
    again, _ = alike_together(rows * 1e-200)
    np.testing.assert_array_equal(order, again)
    for n in (0, 1):
        assert alike_together(np.ones((n, 2)))[0].tolist() == list(range(n))
    assert sorted(alike_together(np.zeros((4, 2)))[0]) == [0, 1, 2, 3]
    line = rng.permutation(3500).astype(float)
    order, how = alike_together(np.column_stack([line, 2 * line, -line]))
    assert how == "by first principal component"
    np.testing.assert_array_equal(line[order], np.arange(3500))


# ---------------------------------------------------------------- few samples, one variant, no spread

Y = "local effect of A1\n(trait sd per sd of genotype)"
ONE = np.ones(1)
LONG = "a_long_name_without_any_blank_" * 5


@pytest.mark.parametrize("values", [[0.01], [0.01, 0.02, 0.015], [0.01] * 30, [0.0] * 3, [-1e-320, 0, 0], [-2.0, 2.0]])
def test_extreme_samples_are_tidy(values: list[float], tmp_path: Path) -> None:
    v = np.array(values)
    dosage = np.arange(v.size) % 3 * 1.0
    drawn = [
        beeswarm([SwarmRow(LONG, "1:1,000 A", v, dosage)], x_label=Y, title=LONG, caption=LONG),
        ordered([OrderedPanel(LONG, v, dosage, LONG)] * 2, y_label=Y, title=LONG, caption=LONG),
        ordered([OrderedPanel("rs1", v)], y_label=Y, zoom=True),
        heatmap(v[:, None], [LONG], [f"M{i}" for i in range(v.size)], key=Y, title=LONG, groups=["a"] * v.size),
        trend(dosage, v, Words(LONG, Y, LONG, LONG)),
        strips([GroupBox(LONG, v), GroupBox("b", v)], Words(LONG, Y, LONG, LONG), mean=float(v.mean())),
    ]
    for k, figure in enumerate(drawn):
        save(figure, tmp_path / f"{k}.png", dpi=30)
        assert_tidy(figure)


def test_the_missing_code_among_words_is_no_number(here: Here, folder: Path) -> None:
    table = pd.read_csv(folder / "env.tsv", sep="\t")
    table["diet"] = np.where(np.arange(len(table)) % 5 == 0, "-9", table["diet"])
    table.to_csv(folder / "env9.tsv", sep="\t", index=False)
    here.well("plot", *DEPEND, "--table", "env9.tsv", "--column", "diet", "--out", "x.png")
    told = here("plot", *DEPEND, "--table", "env9.tsv", "--column", "diet", "--missing-code", "none", "--out", "y.png")
    assert (told.code, "is not a number" in told.err) == (2, True)


def test_sixty_variants_and_many_categories_are_tidy() -> None:
    rng = np.random.default_rng(0)
    rows = [SwarmRow(f"variant_{k}", f"scaffold_{k}:1,000 A", rng.normal(size=9), None) for k in range(60)]
    assert_tidy(beeswarm(rows, x_label=Y))
    assert_tidy(heatmap(rng.normal(size=(9, 100)), [f"v{k}" for k in range(100)], list("abcdefghi"), key=Y))
    groups = [GroupBox(f"category number {k} of many", rng.normal(size=5)) for k in range(24)]
    assert_tidy(strips(groups, Words("x", Y), mean=0.0))
    assert_tidy(
        heatmap(rng.normal(size=(50, 3)), list("abc"), ["s"] * 50, key=Y, groups=[str(i % 12) for i in range(50)])
    )


def test_spread_in_words() -> None:
    assert "50 % of their mean" in spread_in_words([np.array([1.0, 3.0, 2.0])])
    assert spread_in_words([np.array([1.0])]) == "One sample."
    assert "more than 1,000 %" in spread_in_words([np.array([1.0, -1.0])])
    assert "0 % of" in spread_in_words([np.zeros(4)])
    assert "of each variant: 0 % to 50 %" in spread_in_words([np.ones(3), np.array([1.0, 3.0, 2.0])])


@pytest.mark.parametrize(
    ("draw", "message"),
    [
        (lambda: beeswarm([], x_label=Y), "no variants"),
        (lambda: beeswarm([SwarmRow("a", "", np.array([np.nan, 1]))], x_label=Y), "1 of 2 local effects are not"),
        (lambda: beeswarm([SwarmRow("a", "", np.empty(0))], x_label=Y), "no local effects"),
        (lambda: beeswarm([SwarmRow("a", "", np.ones(2), np.ones(3))], x_label=Y), "2 effects but 3 dosages"),
        (lambda: beeswarm([SwarmRow("a", "", ONE, ONE), SwarmRow("b", "", ONE)], x_label=Y), "dosages of some"),
        (lambda: ordered([], y_label=Y), "no variants"),
        (lambda: ordered([OrderedPanel("a", np.ones(2), np.ones(3))], y_label=Y), "2 effects but 3 dosages"),
        (lambda: strips([], Words("x", Y), mean=0.0), "no categories"),
        (lambda: strips([GroupBox("a", np.ones(2))], Words("x", Y), mean=np.nan), "not finite"),
        (lambda: trend(np.array([np.inf, 1]), np.ones(2), Words("x", Y)), "finite numbers"),
        (lambda: heatmap(np.ones((2, 2)), ["a"], ["b", "c"], key="k"), "2 x 2 effects of 2 samples and 1 variants"),
        (lambda: heatmap(np.ones((2, 1)), ["a"], ["b", "c"], key="k", groups=["x"]), "1 entries"),
        (lambda: heatmap(np.ones((13, 1)), ["a"], ["b"] * 13, key="k", groups=list("abcdefghijklm")), "13 groups"),
    ],
)  # fmt: skip
def test_pictures_refuse(draw: Any, message: str) -> None:
    with pytest.raises(SettingsError, match=message):
        draw()


# ---------------------------------------------------------------- commands

TEMP = Environment("env.tsv", "temp", missing_code=None, iid_only=True)
DEPEND = ("dependence", "s.scores.h5", "--snp", TOP)


@pytest.mark.parametrize(
    ("args", "twin"),
    [
        (("beeswarm", "s.scores.h5", "--n", "2", "--centre"),
         lambda out: plot_beeswarm("s.scores.h5", out, n=2, centre=True)),
        (("local", "s.scores.h5", "--by", "sample", "--top", "1", "--zoom"),
         lambda out: plot_local_samples("s.scores.h5", out, top=1, zoom=True)),
        ((*DEPEND, "--against", OTHER), lambda out: plot_dependence("s.scores.h5", out, TOP, against=OTHER)),
        ((*DEPEND, "--table", "env.tsv", "--column", "temp", "--missing-code", "none", "--iid-only"),
         lambda out: plot_dependence("s.scores.h5", out, TOP, environment=TEMP)),
        (("heatmap", "s.scores.h5", "--n", "3", "--by-group", "--centre"),
         lambda out: plot_heatmap("s.scores.h5", out, n=3, by_group=True, centre=True)),
    ],
    ids=["beeswarm", "local", "against", "table", "heatmap"],
)  # fmt: skip
@pytest.mark.parametrize("suffix", ["svg"])
def test_command_and_twin_write_the_same_bytes(here: Here, folder: Path, args: Any, twin: Any, suffix: str) -> None:
    told = here.well("plot", *args, "--out", f"a.{suffix}")
    assert told.out == f"a.{suffix}\n"
    assert twin(f"b.{suffix}") == Path(f"b.{suffix}")
    assert Path(f"a.{suffix}").read_bytes() == Path(f"b.{suffix}").read_bytes()
    refused = here("plot", *args, "--out", f"a.{suffix}")
    assert (refused.code, "--overwrite" in refused.err) == (2, True)
    here.well("plot", *args, "--out", f"a.{suffix}", "--overwrite")


def test_local_scores_that_are_not_stored_are_computed(here: Here, folder: Path, figures: list[Any]) -> None:
    few = ("few.scores.h5", "--model", "m.model.h5", "--out")
    for picture, more in (("beeswarm", ()), ("heatmap", ()), ("dependence", ()), ("local", ("--by", "sample"))):
        here.well("plot", picture, *few, f"{picture}1.png", "--snp", OTHER, *more)
        here.well("plot", picture, "s.scores.h5", "--out", f"{picture}2.png", "--snp", OTHER, *more)
        assert Path(f"{picture}1.png").read_bytes() == Path(f"{picture}2.png").read_bytes(), picture


BAD = [
    (("beeswarm", "rate.scores.h5"), ("holds no goals score", "--scores rate,goals")),
    (("heatmap", "rate.scores.h5"), ("holds no goals score",)),
    (("dependence", "rate.scores.h5", "--snp", TOP), ("holds no goals score",)),
    (("local", "rate.scores.h5", "--by", "sample"), ("holds no goals score",)),
    (("beeswarm", "s.scores.h5", "--snp", "rs9999"), ("'rs9999'", "0 analysed variants")),
    (("heatmap", "s.scores.h5", "--snp", "rs9999"), ("--snp: 'rs9999'",)),
    (("dependence", "s.scores.h5", "--snp", "rs9999"), ("--snp: 'rs9999'",)),
    ((*DEPEND, "--against", "rs9999"), ("--against: 'rs9999'",)),
    ((*DEPEND, "--against", OTHER, "--table", "env.tsv", "--column", "temp"), ("--against", "leave out")),
    ((*DEPEND, "--table", "env.tsv"), ("--table: needs --column",)),
    ((*DEPEND, "--column", "temp"), ("--column: needs --table",)),
    ((*DEPEND, "--categorical"), ("--categorical: means nothing with genotypes",)),
    ((*DEPEND, "--table", "env.tsv", "--column", "tmp"), ("no column 'tmp'", "temp")),
    ((*DEPEND, "--table", "env.tsv", "--column", "mixed"), ("env.tsv:3", "'13A'", "--categorical")),
    ((*DEPEND, "--table", "env.tsv", "--column", "none"), (f"none of the {N} samples has a value",)),
    ((*DEPEND, "--table", "env.tsv", "--column", "temp", "--missing-code", "x"), ("--missing-code", "'x'")),
    ((*DEPEND, "--model", "gone.model.h5"), ("gone.model.h5", "--model")),
    ((*DEPEND, "--bfile", "gone"), ("gone",)),
    (("beeswarm", "s.scores.h5", "--bfile", "gone"), ("gone",)),
    (("beeswarm", "few.scores.h5", "--snp", OTHER), ("not stored", "few.model.h5")),
    (("beeswarm", "s.scores.h5", "--n", "0"), ("--n: 0 variants", "1 to 100")),
    (("heatmap", "s.scores.h5", "--n", "101"), ("--n: 101 variants",)),
    (("local", "s.scores.h5", "--by", "sample", "--top", "21"), ("--top: 21 variants",)),
    (("local", "s.scores.h5", "--by", "sample", "--seed", "3"), ("--seed: means nothing with --by sample",)),
    (("local", "s.scores.h5", "--snp", TOP, "--top", "3"), ("--top: means nothing with --snp",)),
    (("heatmap", "s.scores.h5", "--snp", TOP, "--n", "3"), ("--n: means nothing with --snp",)),
    (("beeswarm", "s.scores.h5", "--snp", TOP, "--n", "3"), ("--n: means nothing with --snp",)),
    (("beeswarm", "s.scores.h5", "--snp", TOP.upper()), (f"alike: {TOP})", "goals export lists them")),
    (("local", "s.scores.h5", "--top", "0"), ("--top: 0 variants", "1 to 20")),
    (("local", "s.scores.h5", "--n", "21"), ("--top: 21 variants", "1 to 20")),
    (("local", "s.scores.h5", "--seed", "-1"), ("--seed: -1 is too low", "give 0 or more")),
    (("local", "s.scores.h5", "--permutations", "0"), ("--permutations: 0 is too low",)),
    (("local", "s.scores.h5", "--zoom"), ("--zoom: means nothing with --by group",)),
    (("heatmap", "d.bed"), ("d.bed",)),
    (("heatmap", "gone.scores.h5"), ("gone.scores.h5",)),
    (("heatmap", "m.model.h5"), ("m.model.h5",)),
]  # fmt: skip


@pytest.mark.parametrize(("args", "words"), BAD, ids=lambda value: " ".join(value) if isinstance(value, tuple) else "")
def test_mistakes_are_told_in_a_line(here: Here, folder: Path, args: Any, words: Any) -> None:
    told = here("plot", *args, "--out", "x.png", "--quiet")
    assert (told.code, told.out) == (2, "")
    assert len(told.err.strip().splitlines()) == 1, told.err
    for word in words:
        assert word in told.err
    assert list(folder.glob("x.png*")) == []


def test_a_folder_is_no_picture(here: Here, folder: Path) -> None:
    (folder / "made").mkdir()
    for more in ((), ("--overwrite",)):
        told = here("plot", "beeswarm", "s.scores.h5", "--out", "made", *more, "--quiet")
        assert (told.code, "made: is a folder" in told.err) == (2, True)


def test_a_suffix_that_is_no_picture(here: Here, folder: Path) -> None:
    for args in (("beeswarm", "s.scores.h5"), DEPEND, ("heatmap", "s.scores.h5")):
        told = here("plot", *args, "--out", "x.jpg", "--quiet")
        assert (told.code, "'.jpg'" in told.err) == (2, True)


def test_the_model_must_be_that_of_the_scan(here: Here, folder: Path) -> None:
    assert goals(*FIT[:-4], "--theta", "0.001", "--out", "o", cwd=folder).code == 0
    for args in (("beeswarm", "s.scores.h5"), DEPEND):
        told = here("plot", *args, "--model", "o.model.h5", "--out", "x.png", "--quiet")
        assert (told.code, "is not the model of s.scores.h5" in told.err) == (2, True)


def spoil(kind: str, good: bytes) -> bytes:
    return {
        "empty": b"",
        "binary": bytes(range(256)),
        "header only": good.splitlines(keepends=True)[0],
        "strangers": b"FID\tIID\ttemp\nX\tY\t3\n",
        "short row": good + b"F1\tM1\n",
        "twice": good + good.splitlines(keepends=True)[1],
    }[kind]


@pytest.mark.parametrize("kind", ["empty", "binary", "header only", "strangers", "short row", "twice"])
def test_odd_tables_give_the_usual_errors(here: Here, folder: Path, kind: str) -> None:
    Path("bad.tsv").write_bytes(spoil(kind, Path("env.tsv").read_bytes()))
    told = here("plot", *DEPEND, "--table", "bad.tsv", "--column", "temp", "--out", "x.png", "--quiet")
    assert (told.code, "bad.tsv" in told.err, len(told.err.strip().splitlines())) == (2, True, 1), told.err
    assert not Path("x.png").exists()


def test_a_missing_table_a_directory_and_one_cut_short(here: Here, folder: Path) -> None:
    Path("folder.tsv").mkdir()
    Path("cut.tsv.gz").write_bytes(gzip.compress(Path("env.tsv").read_bytes())[:-20])
    for name in ("gone.tsv", "folder.tsv", "cut.tsv.gz"):
        told = here("plot", *DEPEND, "--table", name, "--column", "temp", "--out", "x.png", "--quiet")
        assert (told.code, name in told.err) == (2, True)


def test_line_ends_of_windows_and_gzip_change_nothing(here: Here, folder: Path) -> None:
    plain = Path("env.tsv").read_bytes()
    Path("crlf.tsv").write_bytes(plain.replace(b"\n", b"\r\n"))
    Path("env.tsv.gz").write_bytes(gzip.compress(plain))
    for k, name in enumerate(("env.tsv", "crlf.tsv", "env.tsv.gz")):
        here.well("plot", *DEPEND, "--table", name, "--column", "diet", "--out", f"{k}.png")
    assert Path("0.png").read_bytes() == Path("1.png").read_bytes() == Path("2.png").read_bytes()


def test_scores_that_are_not_finite_are_told(folder: Path) -> None:
    with h5py.File("s.scores.h5", "r+") as file:
        file["goals/local"][3, 5] = np.nan
        name = file["variants/id"][3].decode()
    with pytest.raises(InputError, match=f"1 of {N} local scores are not finite"):
        plot_beeswarm("s.scores.h5", "x.png", snps=[name])


def test_twins_are_public() -> None:
    names = {"plot_beeswarm", "plot_dependence", "plot_heatmap", "plot_local", "plot_local_samples", "Environment"}
    assert names | {"LocalPlot"} <= set(goalscli.__all__)
    assert goalscli.plot_heatmap is plot_heatmap
    assert issubclass(SettingsError, GoalsError)


def test_texts_helper_sees_captions() -> None:
    figure = beeswarm([SwarmRow("a", "", np.ones(2))], x_label=Y, caption="Words.")
    assert [t.get_text() for t in texts(figure, "caption")] == ["Words."]
