"""``goals plot region``."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from goalscli.errors import InputError, SettingsError
from goalscli.jobs.plot.genes import Genes, read_genes
from goalscli.jobs.plot.tracks import track_of
from goalscli.jobs.scanned import OpenScores, only_variants, open_scores
from goalscli.plots.coding import Coded, coded
from goalscli.plots.gene_track import Gene
from goalscli.plots.genome import bare_name
from goalscli.plots.region import RegionPicture, region
from goalscli.plots.style import plural, save
from goalscli.store import refuse_existing

_CHUNK = 1024


@dataclass(frozen=True)
class RegionPlot:
    """Settings of the picture of a region.

    Attributes
    ----------
    snp : str, optional
        ID of the lead variant; the region is the window around it.
    region : str, optional
        CHROM:FROM-TO in base pairs, instead; the lead is then the variant of the greatest absolute value.
    window : int
        Base pairs on each side of ``snp``.
    value : str, optional
        p, score, loco, rate or psi; p, or what else the scan computed, where None.
    genes : str, optional
        GTF, GFF3 or BED of the genes to draw below.
    model, genotypes : str, optional
        The model, if it is not beside the scores, and the genotypes' prefix or file, if they have moved.
    """

    snp: str | None = None
    region: str | None = None
    window: int = 2_000_000
    value: str | None = None
    genes: str | None = None
    model: str | None = None
    genotypes: str | None = None


def plot_region(scores: str | Path, out: str | Path, settings: RegionPlot, *, overwrite: bool = False) -> Path:
    """Draw the scores of a stretch of a chromosome, coloured by r² with its lead variant.

    r² is the squared correlation of dosages among the samples of the scan, missing calls filled as for the fit.

    Parameters
    ----------
    scores : path
    out : path
        Ends in .png, .pdf or .svg.
    settings : RegionPlot
    overwrite : bool

    Returns
    -------
    Path
        ``out``.

    Raises
    ------
    SettingsError
        Neither or both of a variant and a region; a region that is none; another value or suffix.
    InputError
        No such variant, none in the region, no model, or not that of the scan.
    OutputError
        ``out`` exists and may not be overwritten.
    """
    out = Path(out)
    refuse_existing([out], overwrite)
    if (settings.snp is None) == (settings.region is None):
        if settings.snp is not None:
            raise SettingsError("two places", where="--snp and --region", remedy="leave one of them out")
        raise SettingsError("no place is given", remedy="give --snp ID or --region CHROM:FROM-TO")
    if settings.window < 1:
        raise SettingsError(f"{settings.window} base pairs", where="--window", remedy="give 1 or more")
    read = open_scores(scores)
    track = track_of(read, settings.value or ("p" if "goals" in read.columns else next(iter(read.columns))))
    chrom, pos = coded(read.raw("chrom")), read.variants["pos"]
    name, limits, rows, lead = _window(read, settings, chrom, pos, track.values)
    genes = None if settings.genes is None else _genes(read_genes(settings.genes), chrom, name, limits)
    r2 = _r2(settings.model, read, settings.genotypes, rows, lead)
    lead_name = read.labels(np.array([lead]))[0]
    picture = RegionPicture(
        chrom=name,
        limits=limits,
        pos=pos[rows],
        value=track.values[rows],
        r2=r2,
        lead=int(np.searchsorted(rows, lead)),
        lead_name=lead_name,
        y_label=track.y_label,
        thresholds=track.thresholds,
        genes=genes,
        title=f"{read.attributes['phenotype']}: {plural(len(rows), 'variant')}, {plural(read.n_samples, 'sample')}",
        caption=f"r²: squared correlation of dosages with {lead_name}, in these samples.",
        signed=track.signed,
    )
    save(region(picture), out)
    return out


def parse_region(text: str) -> tuple[str, int, int]:
    """Read CHROM:FROM-TO, with or without commas in the numbers.

    Raises
    ------
    SettingsError
    """
    found = re.fullmatch(r"(.+):([\d,]+)\s*[-–]\s*([\d,]+)", text.strip())
    numbers = [digits.replace(",", "") for digits in found.groups()[1:]] if found else []
    if found and all(numbers) and int(numbers[1]) < int(numbers[0]):
        raise SettingsError(f"{text!r} ends before it begins", where="--region", remedy="give CHROM:FROM-TO")
    if not found or not all(numbers) or not int(numbers[1]) < 2**62:
        raise SettingsError(
            f"{text!r} is no region", where="--region", remedy="give CHROM:FROM-TO, as 1:5000000-9000000"
        )
    return found[1], int(numbers[0]), int(numbers[1])


def _window(
    read: OpenScores, settings: RegionPlot, chrom: Coded, pos: NDArray[np.int64], value: NDArray[np.float64]
) -> tuple[str, tuple[int, int], NDArray[np.intp], int]:
    """Chromosome, limits, variants inside, and the lead among them."""
    if settings.snp is not None:
        lead = int(only_variants(read, [settings.snp])[0])
        if pos[lead] <= 0:
            raise InputError("has no position", where=f"--snp {settings.snp}", remedy="name a variant with a position")
        if not np.isfinite(value[lead]):
            raise InputError("its score is not finite", where=f"--snp {settings.snp}", remedy="name another variant")
        code = int(chrom.codes[lead])
        on = (chrom.codes == code) & (pos > 0)
        low, high = int(pos[lead]) - settings.window, int(pos[lead]) + settings.window
        rows = np.flatnonzero(on & (pos >= low) & (pos <= high))
        return chrom.names[code], _on_chromosome(low, high, pos[on]), rows, lead
    assert settings.region is not None
    wanted, *ends = parse_region(settings.region)
    key = bare_name(wanted).upper()
    codes = [code for code, name in enumerate(chrom.names) if bare_name(name).upper() == key]
    if not codes:
        known = ", ".join(list(chrom.names)[:30])
        raise InputError(f"no variant is on chromosome {wanted!r}", where="--region", remedy=f"give one of: {known}")
    on = np.isin(chrom.codes, codes)
    rows = np.flatnonzero(on & (pos >= max(ends[0], 1)) & (pos <= ends[1]))
    finite = rows[np.isfinite(value[rows])]
    if not len(finite):
        least, most = int(pos[on].min()), int(pos[on].max())
        raise InputError(
            f"no variant with a score lies in {settings.region}",
            where="--region",
            remedy=f"those of chromosome {wanted} are at {least:,} to {most:,}",
        )
    lead = int(finite[np.argmax(np.abs(value[finite]))])
    return chrom.names[int(chrom.codes[lead])], _on_chromosome(ends[0], ends[1], pos[on & (pos > 0)]), rows, lead


def _on_chromosome(low: int, high: int, pos: NDArray[np.int64]) -> tuple[int, int]:
    """Limits of the axis: those asked for, but no farther than a little beyond the chromosome's variants."""
    first, last = int(pos.min()), int(pos.max())
    margin = max((last - first) // 50, 1000)
    return max(low, first - margin, 1), min(high, last + margin)


def _genes(genes: Genes, chrom: Coded, name: str, limits: tuple[int, int]) -> list[Gene]:
    genes.check(chrom.names)
    rows = genes.on(name)
    rows = rows[(genes.stop[rows] >= limits[0]) & (genes.start[rows] <= limits[1])]
    return [
        Gene(str(genes.name[i]), int(genes.start[i]), int(genes.stop[i]), str(genes.strand[i])) for i in rows.tolist()
    ]


def _r2(
    given: str | None, read: OpenScores, genotypes: str | None, rows: NDArray[np.intp], lead: int
) -> NDArray[np.float64]:
    """Squared correlation of these variants with the lead, (len(rows),) float64."""
    # They bring pandas with them.
    from goalscli.jobs.model_file import load_dataset
    from goalscli.jobs.plot.reading import model_there

    model = model_there(read, given, "r² is computed from the genotypes that the model names")
    dataset, attributes = load_dataset(model, genotypes)
    read.check_model(model, attributes["digest"])
    unit = _unit(dataset.values(np.array([lead])))[:, 0]
    parts = [_unit(chunk.values).T @ unit for chunk in dataset.chunks(_CHUNK, rows)]
    return np.asarray(np.clip(np.concatenate(parts), -1, 1) ** 2, dtype=np.float64)


def _unit(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Centre the columns and scale them to unit length; a column that does not vary becomes 0."""
    values = values - values.mean(axis=0)
    length = np.sqrt(np.einsum("ij,ij->j", values, values))
    return np.asarray(values / np.where(length > 0, length, 1.0), dtype=np.float64)
