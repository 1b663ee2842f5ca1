"""``goals plot local``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from goalscli.errors import InputError, SettingsError
from goalscli.jobs.plot.reading import ScanModel, effects_of, heading_of, variants_of
from goalscli.jobs.results import Scores, read_scores
from goalscli.plots import (
    GroupBox,
    LocalPanel,
    between_group_share,
    local,
    permutation_reference,
    save,
    select_groups,
    spread_in_words,
)
from goalscli.plots.style import plural
from goalscli.store import refuse_existing

if TYPE_CHECKING:
    from goalscli.plots.encode import Figure


MOST_PANELS = 20
"""Variants in one picture: the more there are, the less one sees."""


@dataclass(frozen=True)
class LocalPlot:
    """Settings of the picture by group.

    Attributes
    ----------
    snps : tuple of str
        Variant IDs; the top variants of different loci where empty.
    top : int
        How many top variants where none is named.
    n_groups : int
        Groups with the least and as many with the greatest mean.
    min_group_size : int
        Smaller groups are left out.
    permutations, seed : int
        Of the reference of the between-group share.
    model, genotypes : str, optional
        Where local scores must be computed: the model, and the genotypes' PLINK prefix if moved.
    """

    snps: tuple[str, ...] = ()
    top: int = 2
    n_groups: int = 8
    min_group_size: int = 3
    permutations: int = 200
    seed: int = 1
    model: str | None = None
    genotypes: str | None = None

    def __post_init__(self) -> None:
        for name, least in (("n_groups", 1), ("min_group_size", 1), ("permutations", 1), ("seed", 0)):
            if getattr(self, name) < least:
                option = f"--{name.replace('_', '-')}"
                raise SettingsError(f"{getattr(self, name)} is too low", where=option, remedy=f"give {least} or more")


def plot_local(
    scores: str | Path,
    out: str | Path,
    settings: LocalPlot = LocalPlot(),
    *,
    overwrite: bool = False,
) -> Path:
    """Draw local effects by group, for the groups with the least and the greatest means.

    Parameters
    ----------
    scores : str or Path
        PREFIX.scores.h5.
    out : str or Path
        The .png, .pdf or .svg file.
    settings : LocalPlot
    overwrite : bool

    Returns
    -------
    Path
        The file written.

    Raises
    ------
    SettingsError
        No variants or more than 20, or another suffix.
    InputError
        An unknown variant, no groups large enough, or local scores that are neither stored nor computable.
    """
    out = Path(out)
    refuse_existing([out], overwrite)
    figure = local_figure(read_scores(scores), settings)
    save(figure, out)
    return out


def local_figure(read: Scores, settings: LocalPlot = LocalPlot()) -> Figure:
    """Return the picture that :func:`plot_local` saves."""
    index = variants_of(read, settings.snps, settings.top, "--top", most=MOST_PANELS)
    effects = effects_of(ScanModel(read, settings.model, settings.genotypes), index)
    panels = [_panel(read, int(i), row, settings) for i, row in zip(index, effects, strict=True)]
    return local(panels, title=f"{read.attributes['phenotype']}: local effects by group")


def _panel(read: Scores, i: int, effects: NDArray[np.float64], settings: LocalPlot) -> LocalPanel:
    group = read.samples["group"]
    lowest, highest, left_out = select_groups(
        effects, group, n_groups=settings.n_groups, min_size=settings.min_group_size
    )
    if not lowest and not highest:
        raise InputError(
            f"no group has {settings.min_group_size} samples ({left_out} smaller groups)",
            where=str(read.path),
            remedy="fit with --groups and --group-column, or lower --min-group-size",
        )
    share = between_group_share(effects, group)
    free = permutation_reference(effects, group, within=None, n_permutations=settings.permutations, seed=settings.seed)
    caption = f"{spread_in_words([effects])} Between-group share of their variance {share:.2f}"
    caption += f"; samples permuted freely {free:.2f}"
    family = read.samples["family"]
    if _families_differ(family, group):
        within = permutation_reference(
            effects, group, within=family, n_permutations=settings.permutations, seed=settings.seed
        )
        caption += f", within families {within:.2f}"
    if left_out:
        caption += f". {plural(left_out, 'group')} of fewer than {settings.min_group_size} left out"
    return LocalPanel(
        title=heading_of(read, i),
        groups=tuple(GroupBox(label, effects[group == label]) for label in (*lowest, *highest)),
        n_lowest=len(lowest),
        complete=len(lowest) + len(highest) + left_out == len({name for name in group if name}),
        overall_mean=float(effects.mean()),
        caption=f"{caption}.",
        y_label=f"local effect of A1\n(trait sd per {read.unit})",
    )


def _families_differ(family: NDArray[np.object_], group: NDArray[np.object_]) -> bool:
    """Families are known, and are not the groups themselves."""
    known: Sequence[str] = [f for f in family if f not in ("", "0")]
    return len(set(known)) > 1 and len(set(known)) < len(known) and bool(np.any(family != group))
