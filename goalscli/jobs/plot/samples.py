"""``goals plot local --by sample``."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from goalscli.jobs.plot.reading import ScanModel, axis_of, dosages_if_there, effects_of, heading_of, variants_of
from goalscli.jobs.results import read_scores
from goalscli.plots import OrderedPanel, ordered, save, spread_in_words
from goalscli.store import refuse_existing


def plot_local_samples(
    scores: str | Path,
    out: str | Path,
    *,
    snps: Sequence[str] = (),
    top: int = 2,
    zoom: bool = False,
    model: str | None = None,
    genotypes: str | None = None,
    overwrite: bool = False,
) -> Path:
    """Draw the local effects of all samples, from the least to the greatest, in the colour of their genotype.

    Parameters
    ----------
    scores, out : str or Path
    snps : sequence of str
        Variant IDs; the top variants of ``top`` loci where empty.
    top : int
    zoom : bool
        Fit the axis to the effects; without it 0 is on it.
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
        ``top`` below 1 or above 20, or a suffix other than .png, .pdf, .svg.
    """
    out = Path(out)
    refuse_existing([out], overwrite)
    read = read_scores(scores)
    index = variants_of(read, snps, top, "--top", most=20)
    source = ScanModel(read, model, genotypes)
    effects = effects_of(source, index)
    dosages, note = dosages_if_there(source, index)
    panels = [
        OrderedPanel(
            title=heading_of(read, int(i)),
            effects=effects[k],
            dosage=None if dosages is None else dosages.values[:, k],
            note=spread_in_words([effects[k]]),
        )
        for k, i in enumerate(index)
    ]
    figure = ordered(
        panels,
        y_label=axis_of(read, line="\n"),
        title=f"{read.attributes['phenotype']}: local effects of all {len(read.samples['iid']):,} samples",
        caption=f"Dashed: mean. {note}".strip(),
        zoom=zoom,
    )
    save(figure, out)
    return out
