"""Where each variant stands on a genome-wide axis: order of chromosomes, lanes, loci. No matplotlib here."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from goalscli.plots.coding import Labels
from goalscli.plots.coding import factorize as factorize

MAX_LANES = 60
"""With more chromosome names than this, names that are not chromosomes share the lane "other"."""

MIN_LANE = 0.004
"""Least width of a lane as a share of the whole: a mitochondrion is 1/200,000 of a human genome."""

Floats = NDArray[np.float64]

_UNPLACED = {"", "0", ".", "NA", "NAN", "UN"}
_SPECIAL = {
    name: rank
    for rank, names in enumerate(
        [("X",), ("Y",), ("Z",), ("W",), ("XY", "PAR"), ("PAR1",), ("PAR2",), ("MT", "M", "MTDNA"), ("PT",)]
    )
    for name in names
}
_ROMAN = {
    tens + units: 10 * i + j
    for i, tens in enumerate(["", "X", "XX"])
    for j, units in enumerate(["", "I", "II", "III", "IV", "V", "VI", "VII", "VIII", "IX"])
    if i + j
}

_NUMBER, _SEX_OR_MT, _OTHER, _NOWHERE = range(4)
_Key = tuple[int, tuple[tuple[int, int, str], ...], str]


def bare_name(name: str) -> str:
    """Return the chromosome name without white space around it and without a "chr" prefix."""
    return re.sub(r"^(chromosome|chrom|chr)[_ ]?(?=.)", "", name.strip(), flags=re.IGNORECASE)


def is_unplaced(name: str) -> bool:
    """Tell whether the name means "no known chromosome": 0, NA, nan, ".", Un or nothing."""
    return bare_name(name).upper() in _UNPLACED


def _natural(text: str) -> tuple[tuple[int, int, str], ...]:
    """Sort key in which scaffold_2 comes before scaffold_10."""
    return tuple((0, int(part), "") if part.isdecimal() else (1, 0, part.lower())
                 for part in re.split(r"(\d+)", text) if part)  # fmt: skip


def natural_key(text: str) -> tuple[tuple[tuple[int, int, str], ...], str]:
    """Sort key for labels: digits compare as numbers; the text itself settles ties such as 1 and 01."""
    return _natural(text), text


def _keys(names: Iterable[str]) -> dict[str, _Key]:
    """Sort key of every name; Roman numerals count only where both I and II are among the names."""
    bare = {name: bare_name(name).upper() for name in names}
    present = set(bare.values())
    roman = _ROMAN if {"I", "II"} <= present else {}
    if "IX" not in present:
        roman = {numeral: number for numeral, number in roman.items() if numeral != "X"}
    keys: dict[str, _Key] = {}
    for name, short in bare.items():
        if is_unplaced(name):
            keys[name] = (_NOWHERE, (), name)
        elif short in roman:
            keys[name] = (_NUMBER, ((0, roman[short], ""),), name)
        elif re.fullmatch(r"[0-9]+[A-Z]?", short):  # 2L and 2R of a fly, 1A to 7D of wheat
            keys[name] = (_NUMBER, _natural(short), name)
        elif short in _SPECIAL:
            keys[name] = (_SEX_OR_MT, ((0, _SPECIAL[short], ""),), name)
        else:
            keys[name] = (_OTHER, _natural(short), name)
    return keys


def chromosome_order(names: Iterable[str]) -> list[str]:
    """Sort chromosome names as a geneticist would.

    Parameters
    ----------
    names : iterable of str
        Names as written in the file, repeats allowed.

    Returns
    -------
    list of str
        The distinct names: numbers (also 2L, 1A, and Roman numerals where I and II both occur), then X, Y,
        Z, W, XY or PAR, MT or M, then other names in natural order (scaffold_2 before scaffold_10), then the
        names that mean "unknown" (0, NA, nan, ".", Un and the empty string). A "chr" prefix does not count.
    """
    keys = _keys(set(names))
    return sorted(keys, key=keys.__getitem__)


def top_loci(chrom: Labels, pos: NDArray[np.int64], value: Floats, k: int, window: int = 1_000_000) -> NDArray[np.intp]:
    """Pick the variants of greatest absolute value, one per locus.

    Parameters
    ----------
    chrom : (J,) object of str, or Coded
    pos : (J,) int64
        Base pairs; a variant at 0 or less has no known position and is a locus of its own.
    value : (J,) float64
        Signed or not; values that are not finite are never picked.
    k : int
        How many to pick at most.
    window : int
        Variants at most this many base pairs from a greater one on the same chromosome are skipped.

    Returns
    -------
    (≤ k,) intp
        Indices, greatest absolute value first, ties in file order.
    """
    code = factorize(chrom)[0]
    pos = np.asarray(pos, dtype=np.int64)
    magnitude = np.abs(np.asarray(value, dtype=np.float64))
    magnitude[~np.isfinite(magnitude)] = -1.0
    picked: list[int] = []
    while len(picked) < min(k, magnitude.size):
        best = int(np.argmax(magnitude))
        if magnitude[best] < 0:
            break
        picked.append(best)
        magnitude[best] = -1.0
        if pos[best] > 0:
            near = (code == code[best]) & (pos > 0) & (np.abs(pos - pos[best]) <= window)
            magnitude[near] = -1.0
    return np.array(picked, dtype=np.intp)


@dataclass(frozen=True)
class Lane:
    """One named stretch of the axis: a chromosome, "other" or "unplaced"."""

    name: str
    start: float
    stop: float


@dataclass(frozen=True, eq=False)
class Genome:
    """Variants laid out along one axis.

    Attributes
    ----------
    x : (J,) float64
        Place on the axis, in base pairs (variant counts where no position is known).
    tone : (J,) intp
        0 or 1 by turns along the chromosomes; 2 or 3 in "other" and "unplaced".
    lanes : tuple of Lane
        From left to right.
    n_unplaced : int
        Variants in the lane "unplaced": no chromosome, or no position where their chromosome has positions.
    n_merged : int
        Chromosome names that share the lane "other".
    n_file_order : int
        Chromosomes without any position, drawn in file order.
    origin : float or None
        Position in base pairs of x = 0 where all variants are on one chromosome with positions, else None.
    """

    x: Floats
    tone: NDArray[np.intp]
    lanes: tuple[Lane, ...]
    n_unplaced: int
    n_merged: int
    n_file_order: int
    origin: float | None


@dataclass(frozen=True, eq=False)
class _Segments:
    """Every chromosome name, plus "unplaced" as the last, with its variants' places within it."""

    names: list[str]
    of: NDArray[np.intp]
    within: Floats
    span: Floats
    size: NDArray[np.intp]
    step: float
    n_file_order: int


def _segments(chrom: Labels, pos: NDArray[np.int64]) -> _Segments:
    code, labels = factorize(chrom)
    found = ["" if label is None else label for label in labels]
    names = chromosome_order(found)
    n = sum(not is_unplaced(name) for name in names)
    rank = {name: min(i, n) for i, name in enumerate(names)}
    of = np.array([rank[name] for name in found], dtype=np.intp)[code]
    known = pos > 0
    has_positions = np.bincount(of[known], minlength=n + 1) > 0
    has_positions[n] = False  # a position without a chromosome says nothing
    of[has_positions[of] & ~known] = n
    placed = has_positions[of]
    first = np.full(n + 1, np.iinfo(np.int64).max)
    last = np.zeros(n + 1, dtype=np.int64)
    np.minimum.at(first, of[placed], pos[placed])
    np.maximum.at(last, of[placed], pos[placed])
    span = np.where(has_positions, last - first, 0).astype(np.float64)
    within = np.zeros(of.size)
    within[placed] = pos[placed] - first[of[placed]]
    step = max(float(span.sum()) / max(int(placed.sum()), 1), 1.0)
    size = np.bincount(of, minlength=n + 1)
    # variants without a position stand in file order, one mean distance apart
    rest = np.flatnonzero(~placed)
    rest = rest[np.argsort(of[rest], kind="stable")]
    starts = np.searchsorted(of[rest], of[rest])
    within[rest] = step * (np.arange(rest.size) - starts)
    span = np.where(has_positions, span, step * np.maximum(size - 1, 0))
    n_file_order = int(np.count_nonzero(~has_positions[:n] & (size[:n] > 0)))
    return _Segments([*names[:n], "unplaced"], of, within, span, size, step, n_file_order)


def lay_out(chrom: Labels, pos: NDArray[np.int64], max_lanes: int = MAX_LANES) -> Genome:
    """Lay variants out along one axis, a lane per chromosome, widths in proportion to the spans.

    Parameters
    ----------
    chrom : (J,) object of str, or Coded
    pos : (J,) int64
        Base pairs in any order; 0 or less is unknown.
    max_lanes : int
        With more chromosome names than this, names other than numbers, sex chromosomes and MT share a lane.

    Returns
    -------
    Genome
    """
    parts = _segments(chrom, pos)
    names = parts.names[:-1]
    merged = np.zeros(len(parts.names), dtype=bool)
    if len(names) > max_lanes:
        keys = _keys(names)
        merged[:-1] = [keys[name][0] == _OTHER or i >= max_lanes - 1 for i, name in enumerate(names)]
    shown = (parts.size > 0) & ~merged
    # scaffolds with one variant have no span; a step each keeps them apart
    width = np.where(merged, parts.span + parts.step, np.where(shown, parts.span, 0.0))
    total = max(float(width.sum()), 1.0)
    stretch = np.ones(width.size)
    if merged.any():
        stretch[merged] = max(1.0, MIN_LANE * total / float(width[merged].sum()))
    thin = shown & (parts.span > 0) & (parts.span < MIN_LANE * total)
    stretch[thin] = MIN_LANE * total / parts.span[thin]
    width = np.where(shown, np.maximum(width, MIN_LANE * total), width * stretch)
    n_lanes = int(shown.sum()) + int(merged.any())
    gap = total * min(0.008, 0.15 / n_lanes)
    ends_lane = shown.copy()
    if merged.any():
        ends_lane[np.flatnonzero(merged)[-1]] = True
    start = np.concatenate([[0.0], np.cumsum(width + gap * ends_lane)[:-1]])
    inset = np.where(merged, parts.step * stretch / 2, np.where(parts.span > 0, 0.0, width / 2))
    x = (start + inset)[parts.of] + parts.within * stretch[parts.of]
    lanes = [Lane(parts.names[i], float(start[i]), float(start[i] + width[i])) for i in np.flatnonzero(shown)]
    if merged.any():
        inside = np.flatnonzero(merged)
        name = "other" if shown[:-1].any() else "all sequences"
        other = Lane(name, float(start[inside[0]]), float((start + width)[inside[-1]]))
        lanes.insert(int(shown[: inside[0]].sum()), other)
    tone = np.arange(width.size) % 2 + 2 * (merged & bool(shown[:-1].any()))
    tone[-1] = 2
    alone = len(lanes) == 1 and not merged.any() and bool((pos > 0).all()) and parts.size[-1] == 0
    origin = float(pos.min()) if alone else None
    n_unplaced = int(parts.size[-1])
    return Genome(x, tone[parts.of], tuple(lanes), n_unplaced, int(merged.sum()), parts.n_file_order, origin)
