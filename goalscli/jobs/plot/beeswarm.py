"""``goals plot beeswarm``."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from goalscli.jobs.plot.reading import ScanModel, axis_of, dosages_if_there, effects_of, label_of, place_of, variants_of
from goalscli.jobs.results import read_scores
from goalscli.plots import SwarmRow, beeswarm, save, spread_in_words
from goalscli.store import refuse_existing


def plot_beeswarm(
    scores: str | Path,
    out: str | Path,
    *,
    snps: Sequence[str] = (),
    n: int = 10,
    centre: bool = False,
    model: str | None = None,
    genotypes: str | None = None,
    overwrite: bool = False,
) -> Path:
    """Draw the local effects of the top variants, every sample a point in the colour of its genotype.

    Parameters
    ----------
    scores, out : str or Path
    snps : sequence of str
        Variant IDs; the top variants of ``n`` loci where empty.
    n : int
    centre : bool
        Draw differences from each variant's mean.
    model, genotypes : str, optional
        The model where it is not beside the scores, the genotypes if moved. Without any, points have one colour.
    overwrite : bool

    Returns
    -------
    Path

    Raises
    ------
    InputError
        An unknown variant, no goals score, or local scores that are neither stored nor computable.
    SettingsError
        ``n`` below 1 or above 100, or a suffix other than .png, .pdf, .svg.
    """
    out = Path(out)
    refuse_existing([out], overwrite)
    read = read_scores(scores)
    index = variants_of(read, snps, n, most=100)
    source = ScanModel(read, model, genotypes)
    effects = effects_of(source, index)
    dosages, note = dosages_if_there(source, index)
    rows = [
        SwarmRow(
            label=label_of(read, int(i)),
            place=place_of(read, int(i)),
            effects=effects[k],
            dosage=None if dosages is None else dosages.values[:, k],
        )
        for k, i in enumerate(index)
    ]
    figure = beeswarm(
        rows,
        x_label=axis_of(read, centre),
        title=f"{read.attributes['phenotype']}: local effects, {len(read.samples['iid']):,} samples",
        caption=" ".join(filter(None, ["" if centre else "Black ticks: means.", spread_in_words(list(effects)), note])),
        centre=centre,
    )
    save(figure, out)
    return out
