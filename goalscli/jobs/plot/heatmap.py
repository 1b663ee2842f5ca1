"""``goals plot heatmap``."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from goalscli.errors import InputError
from goalscli.jobs.plot.reading import ScanModel, axis_of, effects_of, label_of, variants_of
from goalscli.jobs.results import Scores, read_scores
from goalscli.plots import alike_together, bare_name, heatmap, natural_key, save, spread_in_words
from goalscli.store import refuse_existing

MOST_GROUPS = 12
"""Groups that have a bar at the side: more colours are not told apart."""


def plot_heatmap(
    scores: str | Path,
    out: str | Path,
    *,
    snps: Sequence[str] = (),
    n: int = 30,
    by_group: bool = False,
    centre: bool = False,
    model: str | None = None,
    genotypes: str | None = None,
    overwrite: bool = False,
) -> Path:
    """Draw local effects of the top variants in all samples as colours, the like ones together.

    Parameters
    ----------
    scores, out : str or Path
    snps : sequence of str
        Variant IDs; the top variants of ``n`` loci where empty.
    n : int
    by_group : bool
        Keep the samples of a group (--group-column of the fit) together.
    centre : bool
        Draw differences from each variant's mean.
    model, genotypes : str, optional
        Where local scores must be computed: the model, and the genotypes if moved.
    overwrite : bool

    Returns
    -------
    Path

    Raises
    ------
    InputError
        An unknown variant, no goals score, local scores that are neither stored nor computable, or no groups.
    SettingsError
        ``n`` below 1 or above 100, or a suffix other than .png, .pdf, .svg.
    """
    out = Path(out)
    refuse_existing([out], overwrite)
    read = read_scores(scores)
    index = variants_of(read, snps, n, most=100)
    named = _named(read, by_group)
    effects = effects_of(ScanModel(read, model, genotypes), index).T
    words, group = spread_in_words(list(effects.T)), read.samples["group"]
    if centre:
        effects = effects - effects.mean(axis=0)
    rows, how = _by_group(effects, group) if by_group else alike_together(effects)
    columns, _ = alike_together(effects.T)
    notes = [_order_in_words(how, len(columns)), words, _groups_in_words(group, named, by_group)]
    figure = heatmap(
        effects[np.ix_(rows, columns)],
        [_column_name(read, int(index[k])) for k in columns],
        [str(read.samples["iid"][k]) for k in rows],
        key=axis_of(read, centre),
        groups=_bar(group[rows], named),
        title=f"{read.attributes['phenotype']}: local effects, {len(rows):,} samples",
        caption=" ".join(filter(None, notes)),
    )
    save(figure, out)
    return out


def _named(read: Scores, needed: bool) -> set[str]:
    """Names of the groups."""
    named = {str(name) for name in read.samples["group"] if name not in (None, "", "0")}
    if needed and not named:
        remedy = "fit with --groups and --group-column, or leave --by-group out"
        raise InputError("the samples have no groups", where=read.path, remedy=remedy)
    return named


def _order_in_words(how: str, n_columns: int) -> str:
    clustered = "clustered (Ward)"
    if n_columns < 2:
        return f"Samples {how}." if how else ""
    if how == clustered:
        return f"Samples and variants {how}."
    return f"Samples {how}, variants {clustered}." if how else f"Variants {clustered}."


def _groups_in_words(group: NDArray[np.object_], named: set[str], by_group: bool) -> str:
    if by_group and len(named) > MOST_GROUPS:
        return f"{len(named)} groups: too many for a bar."
    has_bar = 2 <= len(named) <= MOST_GROUPS
    return "White at the side: no group." if has_bar and len(named) < len({str(name) for name in group}) else ""


def _bar(group: NDArray[np.object_], named: set[str]) -> list[str] | None:
    if not 2 <= len(named) <= MOST_GROUPS:
        return None
    return [str(name) if name in named else "" for name in group]


def _column_name(read: Scores, i: int) -> str:
    name = label_of(read, i)
    if name != read.variants["id"][i]:
        return name  # chrom:pos
    chrom = bare_name(str(read.variants["chrom"][i]))
    return f"{name}, {'chr ' * (len(chrom) < 4)}{chrom}"


def _by_group(effects: NDArray[np.float64], group: NDArray[np.object_]) -> tuple[NDArray[np.intp], str]:
    """Groups in natural order, those without one last; in each the like ones together."""
    labels = np.array(["" if name in (None, "0") else str(name) for name in group], dtype=object)
    names = sorted(set(labels), key=lambda name: (name == "", natural_key(name)))
    blocks = [np.flatnonzero(labels == name) for name in names]
    return np.concatenate([rows[alike_together(effects[rows])[0]] for rows in blocks]), "by group"
