"""``goals plot manhattan``."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from goalscli.errors import SettingsError
from goalscli.jobs.plot.genes import Genes, read_genes
from goalscli.jobs.plot.tracks import track_of
from goalscli.jobs.scanned import OpenScores, open_scores
from goalscli.plots.coding import Coded, coded
from goalscli.plots.loci import distinct_loci
from goalscli.plots.manhattan import GenomePanel, manhattan_panels
from goalscli.plots.style import plural, save
from goalscli.store import refuse_existing

if TYPE_CHECKING:
    from goalscli.plots.encode import Figure


def plot_manhattan(
    scores: str | Path | Sequence[str | Path],
    out: str | Path,
    *,
    value: str | None = None,
    n_labels: int = 8,
    genes: str | Path | None = None,
    overwrite: bool = False,
    html: str | Path | None = None,
) -> Path:
    """Draw one or several scans along the genome, a panel each, one above the other on the same axis.

    Variants that pass the panel's threshold are labelled (the greatest, where none does), one a locus; pages have no
    labels.
    :func:`goalscli.plots.loci.distinct_loci` says what is taken for the shadow of a greater peak.

    Parameters
    ----------
    scores : path or sequence of paths
        Scores files: traits, kernels, populations.
    out : path
        Ends in .png, .pdf or .svg; or in .html, for a page to zoom and point at
        (:func:`goalscli.jobs.plot.plot_interactive`).
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
    html : path, optional
        Write the page as well.

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
    paths = [scores] if isinstance(scores, str | Path) else list(scores)
    pages = [out] if out.suffix.lower() == ".html" else []
    if html is not None:
        pages.append(Path(html))
        if Path(html).suffix.lower() not in (".html", ".htm"):
            raise SettingsError(f"'{Path(html).suffix}' is not a page", where="--html", remedy="end the name in .html")
    refuse_existing(list(dict.fromkeys([out, *pages])), overwrite)
    # All that can be wrong is found before anything is written.
    if pages:
        _check_page(paths, pages[0], value, genes)
    figure = manhattan_figure([open_scores(path) for path in paths], value, n_labels, genes)
    if out not in pages:
        save(figure, out)
    for page in dict.fromkeys(pages):
        # It needs the whole table, and pandas with it; the picture does not.
        from goalscli.jobs.plot.interactive import plot_interactive

        plot_interactive(paths[0], page, value=value, overwrite=True)
    return out


def manhattan_figure(
    scans: Sequence[OpenScores], value: str | None = None, n_labels: int = 8, genes: str | Path | None = None
) -> Figure:
    """Return the picture that :func:`plot_manhattan` saves."""
    if n_labels < 0:
        raise SettingsError(f"{n_labels} labels", where="--n-labels", remedy="give 0 or more")
    if not scans:
        raise SettingsError("no scores files", remedy="give one or more")
    panels, caption = _content(scans, value, n_labels, None if genes is None else read_genes(genes))
    return manhattan_panels(panels, caption=caption)


def _check_page(paths: Sequence[str | Path], out: Path, value: str | None, genes: str | Path | None) -> None:
    if len(paths) != 1 or (value and "," in value):
        raise SettingsError("a page shows one value of one scan", where=out, remedy="write a page for each")
    if genes is not None:
        raise SettingsError("a page has no labels, so no genes", where=out, remedy="leave out --genes")


def _content(
    scans: Sequence[OpenScores], value: str | None, n_labels: int, genes: Genes | None
) -> tuple[list[GenomePanel], str]:
    """Panels from top to bottom, and the caption."""
    several = len(scans) > 1 or len(_values(scans[0], value)) > 1
    panels: list[GenomePanel] = []
    notes: list[str] = []
    for scan, name in zip(scans, scan_names(scans), strict=True):
        for panel, note in _panels(scan, name, _values(scan, value), n_labels, genes):
            # in one panel alone there is room for its note below
            panels.append(panel if several else replace(panel, note=None))
            told = [f"{name}: " * several + note] if note else []
            notes += told if several or not panel.note else [f"{panel.note}.", *told]
    return panels, " ".join(notes)


def _panels(
    scan: OpenScores, name: str, values: Sequence[str], n_labels: int, genes: Genes | None
) -> Iterator[tuple[GenomePanel, str]]:
    """Yield a panel a value, and what is to be said of its labels, if anything."""
    chrom, pos = coded(scan.raw("chrom")), scan.variants["pos"]
    if genes is not None:
        genes.check(chrom.names)
    counts = f": {plural(scan.n_variants, 'variant')}, {plural(scan.n_samples, 'sample')}"
    for k, value in enumerate(values):
        track = track_of(scan, value)
        hits = distinct_loci(chrom, pos, track.values, n_labels, called=track.called)
        labels, far = locus_labels(scan, hits, chrom, pos, genes)
        panel = GenomePanel(
            chrom=chrom,
            pos=pos,
            value=track.values,
            y_label=track.y_label,
            labels=labels,
            thresholds=track.thresholds,
            title=name + counts * (k == 0),
            note=track.caption,
            signed=track.signed,
        )
        yield panel, f"{plural(far, 'labelled locus', 'labelled loci')} without a gene within 1 Mb." if far else ""


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
    length = f"{size} bp" if size < 1000 else f"{size / 1000:.{int(size < 9950)}f} kb" if size < 999_500 else "1 Mb"
    return f"{name} {'+' if distance > 0 else '−'}{length}"
