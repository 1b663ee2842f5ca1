"""Founder haplotypes with linkage disequilibrium, and their way down a pedigree."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from goalscli.simulate.pedigree import Generation

_ANCESTORS = 12
_BLOCKS_PER_MORGAN = 50.0
_PATTERNS_PER_BLOCK = 4
_ERROR_RATE = 0.04
_SWITCHES_PER_MORGAN = 20.0


def founder_haplotypes(
    n: int, morgans: NDArray[np.float64], length: float, rng: np.random.Generator
) -> NDArray[np.int8]:
    """Mosaics of a few ancestral haplotypes (Li and Stephens, 2003).

    The ancestors' own sites follow a few carrier patterns a block, copied with errors: this gives neighbours
    high LD; carriers from 1 to all but 1 give the spread of frequencies, and the mosaic the decay of LD.

    Parameters
    ----------
    n : int
        Haplotypes wanted.
    morgans : (Jc,) float64, ascending
        Sites, from 0 to `length`.
    length : float
        Morgans.
    rng : numpy.random.Generator

    Returns
    -------
    (n, Jc) int8
        Alleles, 0 or 1.
    """
    n_patterns = _PATTERNS_PER_BLOCK * (int(length * _BLOCKS_PER_MORGAN) + 1)
    ranks = np.argsort(rng.random((n_patterns, _ANCESTORS)), axis=1)
    carriers = ranks < rng.integers(1, _ANCESTORS, size=(n_patterns, 1))
    pattern = (morgans * _BLOCKS_PER_MORGAN).astype(np.intp) * _PATTERNS_PER_BLOCK
    pattern += rng.integers(_PATTERNS_PER_BLOCK, size=len(morgans))
    ancestors = carriers[pattern].T ^ (rng.random((_ANCESTORS, len(morgans))) < _ERROR_RATE)
    haplotypes = np.empty((n, len(morgans)), dtype=np.int8)
    for row in haplotypes:
        switches = np.sort(rng.uniform(0, length, size=rng.poisson(length * _SWITCHES_PER_MORGAN)))
        copied = rng.integers(_ANCESTORS, size=len(switches) + 1)[np.searchsorted(switches, morgans)]
        row[:] = ancestors[copied, np.arange(len(morgans))]
    return haplotypes


def gene_drop(
    line: tuple[Generation, ...],
    pool: NDArray[np.int8],
    morgans: NDArray[np.float64],
    length: float,
    *,
    is_x: bool,
    rng: np.random.Generator,
) -> NDArray[np.int8]:
    """Pass the founders' haplotypes down a pedigree.

    Parameters
    ----------
    line : tuple of Generation
        The founders first.
    pool : (2 n_founders, Jc) int8
    morgans : (Jc,) float64, ascending
    length : float
        Morgans.
    is_x : bool
        Males have one copy, from the dam, and count it twice.
    rng : numpy.random.Generator

    Returns
    -------
    (n, Jc) int8
        Dosages of the last generation.
    """
    maternal, paternal = pool[::2].copy(), pool[1::2].copy()
    for depth, born in enumerate(line):
        if depth:
            from_dam = _gametes(maternal, paternal, born.dam, morgans, length, rng)
            from_sire = _gametes(maternal, paternal, born.sire, morgans, length, rng)
            maternal, paternal = from_dam, from_sire
        if is_x:
            # A male's only X, held twice: his sons never get it, his daughters get it whole.
            paternal[born.male] = maternal[born.male]
    maternal += paternal
    return maternal


def _gametes(
    maternal: NDArray[np.int8],
    paternal: NDArray[np.int8],
    parents: NDArray[np.intp],
    morgans: NDArray[np.float64],
    length: float,
    rng: np.random.Generator,
) -> NDArray[np.int8]:
    """One gamete (Jc,) of each parent, crossing over Poisson(length) times at uniform places."""
    n, n_sites = len(parents), len(morgans)
    strand = np.zeros((n, n_sites + 1), dtype=np.bool_)
    strand[:, 0] = rng.random(n) < 0.5
    crossovers = rng.poisson(length, size=n)
    sites = np.searchsorted(morgans, rng.uniform(0, length, size=int(crossovers.sum())))
    # Two crossovers between the same neighbours cancel, hence .at; the last column takes those past the end.
    np.logical_xor.at(strand, (np.repeat(np.arange(n), crossovers), sites), True)
    np.logical_xor.accumulate(strand, axis=1, out=strand)
    gametes = maternal[parents]
    np.copyto(gametes, paternal[parents], where=strand[:, :n_sites])
    return gametes
