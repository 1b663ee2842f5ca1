"""What pictures of local effects share: the colours of genotypes, a scale in per cent, how wide effects spread."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from goalscli.errors import SettingsError
from goalscli.plots.style import BLUE, HUGE, SMALL, VERMILION

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.colors import LinearSegmentedColormap
    from matplotlib.figure import Figure

Floats = NDArray[np.float64]


def dosage_colours() -> LinearSegmentedColormap:
    """Blue, grey, vermilion for 0, 1, 2 copies: told apart by colour-blind readers, continuous between."""
    from matplotlib.colors import LinearSegmentedColormap

    return LinearSegmentedColormap.from_list("dosage", [BLUE, "#A6A6A6", VERMILION])


def add_dosage_bar(figure: Figure, axes: Sequence[Axes]) -> None:
    """Draw the key of the colours beside these axes."""
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import Normalize

    key = ScalarMappable(Normalize(0, 2), dosage_colours())
    height = min(1.0, 1.6 / (figure.get_figheight() - 1))
    bar = figure.colorbar(key, ax=list(axes), ticks=[0, 1, 2], shrink=height, aspect=18 * height + 4, pad=0.02)
    bar.set_label("copies of A1", size=SMALL)
    bar.outline.set_visible(False)


def check_effects(values: Floats, what: str) -> Floats:
    """Return the values as float64.

    Raises
    ------
    SettingsError
        None at all, or some that cannot be drawn.
    """
    values = np.asarray(values, dtype=np.float64)
    if not values.size:
        raise SettingsError("no local effects to draw", where=what, remedy="name variants that have local scores")
    bad = int(np.count_nonzero(~(np.abs(values) <= HUGE)))
    if bad:
        raise SettingsError(f"{bad} of {values.size} local effects are not finite", where=what)
    return values


def spread_in_words(effects: Sequence[Floats]) -> str:
    """Say how the sd of local effects compares with their mean: over one variant, or the range over several."""
    shares = [
        float(values.std(ddof=1)) / max(abs(float(values.mean())), 1e-300) for values in effects if values.size > 1
    ]
    if not shares:
        return "One sample."
    low, high = _percent(min(shares)), _percent(max(shares))
    many = " of each variant" if len(shares) > 1 else ""
    return f"sd of the local effects over samples{many}: {low if low == high else f'{low} to {high}'} of their mean."


def _percent(share: float) -> str:
    if share > 10:
        return "more than 1,000 %"
    if share < 0.0005:
        return "less than 0.1 %" if share > 0 else "0 %"
    return f"{100 * share:.1f} %" if share < 0.0995 else f"{100 * share:.0f} %"


def add_percent_axis(axes: Axes, mean: float) -> bool:
    """Give the limits of the left axis, on the right, as differences from the mean in per cent of it.

    Returns
    -------
    bool
        False where the mean is too close to 0 for that; then there is no such axis.
    """
    low, high = axes.get_ylim()
    reach = max(abs(low - mean), abs(high - mean))
    if reach > 10 * abs(mean) or reach < 1e-250:
        return False
    right = axes.twinx()
    # Of the mean's size: above is more, whatever its sign.
    right.set_ylim(100 * (low - mean) / abs(mean), 100 * (high - mean) / abs(mean))
    right.spines["right"].set_visible(True)
    right.set_ylabel("difference from the mean\n(% of the mean)")
    right.set_gid("percent")
    right.ticklabel_format(axis="y", useOffset=False)
    return True


def plain_ticks(axes: Axes, axis: str) -> None:
    """Write ticks in full: neither an offset nor a power of ten that a reader could overlook."""
    if axis in ("x", "both"):
        axes.ticklabel_format(axis="x", useOffset=False, scilimits=(-4, 5))
    if axis in ("y", "both"):
        axes.ticklabel_format(axis="y", useOffset=False, scilimits=(-4, 5))
