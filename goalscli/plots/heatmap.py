"""Local effects of many variants in all samples, as colours."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from goalscli.errors import SettingsError
from goalscli.plots.effects import check_effects
from goalscli.plots.genome import natural_key
from goalscli.plots.style import (
    DPI,
    LARGE,
    SMALL,
    add_caption,
    arrange,
    caption_height,
    line_height,
    new_figure,
    plural,
    shortened,
    styled,
    text_width,
    wrapped,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Floats = NDArray[np.float64]

# Okabe and Ito's colours and four of Tol's, in an order that keeps the like ones apart
GROUP_COLOURS = (
    *("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00"),
    *("#F0E442", "#332288", "#882255", "#117733", "#999999", "#000000"),
)

_HEIGHT = 5.0
"""Height in inches of the map, unless the few samples are named."""

_LINES = 800
"""Most lines of the map: of more samples, neighbours are averaged, since nearest pixels would leave samples out."""

_NAMED = 40
"""Most samples that are named."""

_QUANTILE = 0.99
"""Of the absolute effects: where the colours end."""


def heatmap(
    effects: Floats,
    variants: Sequence[str],
    samples: Sequence[str],
    *,
    key: str,
    groups: Sequence[str] | None = None,
    title: str | None = None,
    caption: str | None = None,
) -> Figure:
    """Draw samples (rows) by variants (columns), blue below 0 and red above.

    The colours end at the 99th percentile of the absolute effects; how many lie beyond is told in the caption.

    Parameters
    ----------
    effects : (N, C) float64
        In the order to draw them, the first sample on top.
    variants, samples : sequence of str
        Names of the columns and rows; rows are named up to 40.
    key : str
        What the colours mean, with the unit.
    groups : sequence of str, optional
        Group of each sample, "" for none, for a bar at the side: at most 12.
    title, caption : str, optional

    Returns
    -------
    Figure

    Raises
    ------
    SettingsError
        Nothing to draw, effects that are not finite, other lengths, or more than 12 groups.
    """
    effects = _check(effects, variants, samples, groups)
    limit, told = _limit(effects)
    # Below that, the arithmetic of pixels would overflow.
    effects = np.where(np.abs(effects) < 1e-250, 0.0, effects)
    shown = _lines(effects)
    text = " ".join(filter(None, [caption, told, shown.note]))
    (n, n_columns), names = effects.shape, shortened(variants, 28)
    with styled():
        width = max(5.6, 0.2 * n_columns + 2.0 + 1.5 * (groups is not None))
        below = caption_height(new_figure(width, 3), text)
        map_height = max(0.16 * n, 0.8) if n <= _NAMED else _HEIGHT
        longest = max(text_width(new_figure(1, 1), name, SMALL) for name in names) / DPI
        heading = wrapped(new_figure(1, 1), title or "", LARGE, (width - 0.24) * DPI)
        above = line_height(LARGE) * len(heading.splitlines())
        figure = new_figure(width, map_height + longest + 1.2 + above + below)
        axes = figure.add_subplot()
        axes.imshow(shown.values, cmap="RdBu_r", vmin=-limit, vmax=limit, aspect="auto", interpolation="nearest",
                    extent=(-0.5, n_columns - 0.5, n - 0.5, -0.5), gid="map")  # fmt: skip
        _name_axes(axes, names, samples)
        _add_key(figure, axes, limit, key, map_height)
        if groups is not None:
            _add_groups(axes, groups, map_height)
        figure.suptitle(heading, size=LARGE, x=0.12 / width, ha="left")
        for _ in range(2):  # what lies above the map is measured in its height, and the height changes
            arrange(figure, below / figure.get_figheight())
        add_caption(figure, text)
    return figure


@dataclass(frozen=True, eq=False)
class _Lines:
    """What is drawn, (L, C) float64, and a sentence where it is means of neighbours."""

    values: Floats
    note: str = ""


def _lines(effects: Floats) -> _Lines:
    n = len(effects)
    size = -(-n // _LINES)
    if size == 1:
        return _Lines(effects)
    # Equal lines, since every line is drawn as high as the others.
    starts = np.linspace(0, n, n // size, endpoint=False).astype(np.intp)
    counts = np.diff(np.append(starts, n))
    means = np.add.reduceat(effects, starts, axis=0) / counts[:, None]
    low, high = int(counts.min()), int(counts.max())
    told = f"{low}" if low == high else f"{low} or {high}"
    return _Lines(means, f"Each line is the mean of {told} neighbouring samples.")


def _check(effects: Floats, variants: Sequence[str], samples: Sequence[str], groups: Sequence[str] | None) -> Floats:
    effects = check_effects(effects, "heatmap")
    if effects.shape != (len(samples), len(variants)):
        shape = " x ".join(map(str, effects.shape))
        raise SettingsError(f"{shape} effects of {len(samples)} samples and {len(variants)} variants")
    if groups is None:
        return effects
    if len(groups) != len(samples):
        raise SettingsError(f"{len(samples)} samples but {len(groups)} entries in 'groups'")
    found = len(set(groups) - {""})
    if not 1 <= found <= len(GROUP_COLOURS):
        raise SettingsError(f"{found} groups", remedy=f"draw a bar of 1 to {len(GROUP_COLOURS)} groups")
    return effects


def _limit(effects: Floats) -> tuple[float, str]:
    """Return where the colours end, and a sentence on what lies beyond."""
    sizes = np.abs(effects)
    limit = float(np.quantile(sizes, _QUANTILE, method="higher")) or float(sizes.max())
    if limit < 1e-250:  # all is zero to the eye
        return 1.0, "No effect differs from 0."
    n = int(np.count_nonzero(sizes > limit))
    share = f"{n:,} of {sizes.size:,}"
    return limit, f"{share} effects beyond the ends of the colours (99th percentile), drawn as the end." if n else ""


def _name_axes(axes: Axes, variants: Sequence[str], samples: Sequence[str]) -> None:
    n = len(samples)
    axes.set_xticks(range(len(variants)), variants, rotation=90)
    if n <= _NAMED:
        axes.set_yticks(range(n), shortened(samples, 20))
    else:
        axes.set_yticks([])
        axes.set_ylabel(plural(n, "sample"))
    axes.tick_params(length=0)
    for side in axes.spines.values():
        side.set_visible(False)


def _add_key(figure: Figure, axes: Axes, limit: float, key: str, map_height: float) -> None:
    """Draw the key of the colours above the map; ``map_height`` in inches."""
    bar = figure.colorbar(
        axes.images[0],
        cax=axes.inset_axes((0.05, 1 + 0.12 / map_height, 0.9, 0.12 / map_height)),
        orientation="horizontal",
    )
    bar.ax.xaxis.set_ticks_position("top")
    bar.ax.xaxis.set_label_position("top")
    bar.set_ticks([-limit, 0, limit], labels=[f"{v:.2g}".replace("-", "−") for v in (-limit, 0, limit)])
    bar.set_label(wrapped(figure, key, SMALL, 0.55 * figure.get_figwidth() * figure.dpi), size=SMALL)
    bar.outline.set_visible(False)


def _add_groups(axes: Axes, groups: Sequence[str], map_height: float) -> None:
    """Draw the group of each sample beside the map, and their key."""
    from matplotlib.colors import ListedColormap
    from matplotlib.patches import Patch

    found = sorted(set(groups) - {""}, key=natural_key)
    place = {name: k for k, name in enumerate(found)} | {"": len(found)}
    colours = [*GROUP_COLOURS[: len(found)], "white"]
    wide = 0.03
    bar = axes.inset_axes((1 + wide / 3, 0, wide, 1))
    bar.imshow(np.array([place[group] for group in groups])[:, None], cmap=ListedColormap(colours), vmin=-0.5,
               vmax=len(found) + 0.5, aspect="auto", interpolation="nearest", gid="groups")  # fmt: skip
    bar.axis("off")
    patches = [Patch(color=colour, label=name) for colour, name in zip(colours, shortened(found, 20), strict=False)]
    axes.legend(handles=patches, loc="upper left", bbox_to_anchor=(1 + 2 * wide, 1 + 0.08 / map_height), frameon=False,
                fontsize=SMALL, handlelength=1, handleheight=1)  # fmt: skip
