"""``goals plot manhattan``."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from goalscli.errors import SettingsError
from goalscli.jobs.plot.genes import Genes, read_genes
from goalscli.jobs.plot.tracks import Track, track_of
from goalscli.jobs.scanned import OpenScores, open_scores
from goalscli.plots.coding import Coded, coded
from goalscli.plots.genome import top_loci
from goalscli.plots.manhattan import GenomePanel, manhattan_panels
from goalscli.plots.style import plural, save
from goalscli.store import refuse_existing

SHADOW = 10_000_000
"""Base pairs around a labelled variant within which a lesser one is taken for its shadow."""


def plot_manhattan(
    scores: str | Path | Sequence[str | Path],
    out: str | Path,
    *,
    value: str | None = None,
    n_labels: int = 8,
    genes: str | Path | None = None,
    overwrite: bool = False,
) -> Path:
    """Draw one or several scans along the genome, a panel each, one above the other on the same axis.

    A variant is labelled where it passes the panel's threshold and no greater one lies within 10 Mb (or a tenth of the
    longest chromosome, where that is less): in a cross or an outbred stock linkage disequilibrium carries a strong
    signal that far, and on an axis of a whole genome two labels nearer than that name the same spike.

    Parameters
    ----------
    scores : path or sequence of paths
        Scores files: traits, kernels, populations.
    out : path
        Ends in .png, .pdf or .svg.
    value : str, optional
        What to draw, or several separated by commas, a panel each: -log10 p ("p"; "loco" without the chromosome), the
        signed effect ("score"), RATE ("rate") or psi ("psi"). Default: p, or what else the scan computed.
    n_labels : int
        Loci to label at most, in each panel.
    genes : path, optional
        GTF, GFF3 or BED, plain or gzipped: loci are labelled with the nearest gene instead of the variant's ID. "Abc1
        +12 kb" lies 12,000 base pairs beyond the end of Abc1, "Abc1 −12 kb" before its start, in the order of the
        chromosome whatever the gene's strand.
    overwrite : bool

    Returns
    -------
    Path
        ``out``.

    Raises
    ------
    SettingsError
        Another value, a negative number of labels, more than 20 panels, or another suffix.
    InputError
        The scan did not compute the value; no gene lies on a chromosome of the scan.
    OutputError
        ``out`` exists and may not be overwritten.
    """
    out = Path(out)
    refuse_existing([out], overwrite)
    if n_labels < 0:
        raise SettingsError(f"{n_labels} labels", where="--n-labels", remedy="give 0 or more")
    scans = [open_scores(path) for path in ([scores] if isinstance(scores, str | Path) else scores)]
    known = None if genes is None else read_genes(genes)
    panels: list[GenomePanel] = []
    notes: list[str] = []
    several = len(scans) > 1 or len(_values(scans[0], value) if scans else ()) > 1
    for scan, name in zip(scans, scan_names(scans), strict=True):
        chrom, pos = coded(scan.raw("chrom")), scan.variants["pos"]
        if known is not None:
            known.check(chrom.names)
        for k, one in enumerate(_values(scan, value)):
            track = track_of(scan, one)
            hits = _hits(chrom, pos, track, n_labels)
            labels, far = locus_labels(scan, hits, chrom, pos, known)
            counts = f": {scan.n_variants:,} variants, {scan.n_samples:,} samples" if k == 0 else ""
            title = f"{name}{counts}"
            if far:
                notes.append(f"{name}: " * several + f"{plural(far, 'labelled locus', 'labelled loci')} without a gene "
                             "within 1 Mb.")  # fmt: skip
            panels.append(
                GenomePanel(
                    chrom, pos, track.values, track.y_label, labels, track.thresholds, title,
                    note=track.caption if several else None, signed=track.signed,
                )  # fmt: skip
            )
            caption = track.caption if not several else None
            if caption:
                notes.insert(0, f"{caption}{'.' * bool(far)}")
    save(manhattan_panels(panels, caption=" ".join(notes)), out)
    return out


def _values(scan: OpenScores, value: str | None) -> list[str]:
    if value is None:
        return ["p" if "goals" in scan.columns else next(iter(scan.columns))]
    names = [name.strip() for name in value.split(",")]
    if len(set(names)) < len(names):
        raise SettingsError(f"{value!r} names a value twice", where="--value", remedy="give each once")
    return names


def scan_names(scans: Sequence[OpenScores]) -> list[str]:
    """Traits of the scans, with the files' names where they are not enough to tell them apart."""
    traits = [str(scan.attributes["phenotype"]) for scan in scans]
    if len(set(traits)) == len(traits):
        return traits
    stems = [scan.path.name.removesuffix(".h5").removesuffix(".scores") for scan in scans]
    if len(set(stems)) < len(stems):
        stems = [str(scan.path) for scan in scans]
    return [trait if trait == stem else f"{trait} ({stem})" for trait, stem in zip(traits, stems, strict=True)]


def _hits(chrom: Coded, pos: NDArray[np.int64], track: Track, n: int) -> NDArray[np.intp]:
    """Variants to label, greatest first: of those called, one per locus."""
    called = np.arange(len(pos)) if track.called is None else np.flatnonzero(track.called)
    placed = pos > 0
    last = np.zeros(len(chrom.names), dtype=np.int64)
    np.maximum.at(last, chrom.codes[placed], pos[placed])
    first = last.copy()
    np.minimum.at(first, chrom.codes[placed], pos[placed])
    window = min(SHADOW, int((last - first).max(initial=0)) // 10)
    part = Coded(chrom.codes[called], chrom.names)
    return called[top_loci(part, pos[called], track.values[called], n, window=window)]


def locus_labels(
    scan: OpenScores, hits: NDArray[np.intp], chrom: Coded, pos: NDArray[np.int64], genes: Genes | None
) -> tuple[list[tuple[int, str]], int]:
    """Name variants by the nearest gene, or by their IDs where there is none near.

    Returns
    -------
    labels : list of (index, text)
    n_far : int
        How many have no gene within 1 Mb.
    """
    labels, far = [], 0
    for i, name in zip(hits.tolist(), scan.labels(hits), strict=True):
        if genes is not None:
            found = genes.nearest(chrom.names[chrom.codes[i]], int(pos[i]))
            far += found is None
            name = name if found is None else gene_label(*found)
        labels.append((i, name))
    return labels, far


def gene_label(name: str, distance: int) -> str:
    """Write "Abc1", or "Abc1 +12 kb" where the variant lies 12,000 base pairs beyond its end."""
    if distance == 0:
        return name
    size = abs(distance)
    length = f"{size} bp" if size < 1000 else f"{size / 1000:.3g} kb" if size < 999_500 else "1 Mb"
    return f"{name} {'+' if distance > 0 else '−'}{length}"
