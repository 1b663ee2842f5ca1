"""The exact test of Hardy–Weinberg equilibrium."""

from __future__ import annotations

import re

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import gammaln

from goalscli.genotypes.source import Strings

_CELLS = 2**20  # terms held at once: 8 MiB an array
_TIE = 1e-8  # relative: probabilities that differ by rounding alone count as equal
_PREFIX = re.compile("chr", re.IGNORECASE)


def hardy_weinberg(hom1: ArrayLike, het: ArrayLike, hom2: ArrayLike) -> NDArray[np.float64]:
    """Exact p of the genotype counts, given the allele counts (Wigginton et al. 2005; not the mid-p).

    Parameters
    ----------
    hom1, het, hom2 : (C,) array of int
        Samples of each genotype.

    Returns
    -------
    (C,) float64
        Sum of the probabilities of all numbers of heterozygotes that are as likely as the one seen, or less; 1 where
        nobody has a call.
    """
    one, seen, two = (np.asarray(counts, dtype=np.int64) for counts in (hom1, het, hom2))
    n, rare = one + seen + two, 2 * np.minimum(one, two) + seen
    log_factorial = gammaln(np.arange(int(n.max(initial=0)) + 1) + 1.0)
    p = np.ones(len(n))
    step = max(1, _CELLS // (int(rare.max(initial=0)) // 2 + 1))
    for start in range(0, len(n), step):
        part = slice(start, start + step)
        half = rare[part] // 2
        # Column k: k more rare homozygotes broken into pairs of heterozygotes.
        k = np.arange(int(half.max(initial=0)) + 1)
        possible = k <= half[:, None]
        k = np.where(possible, k, 0)
        rare_hom, hets = half[:, None] - k, rare[part, None] % 2 + 2 * k
        common_hom = n[part, None] - rare_hom - hets
        log_p = hets * np.log(2) - log_factorial[rare_hom] - log_factorial[hets] - log_factorial[common_hom]
        log_p[~possible] = -np.inf
        log_p -= log_p.max(axis=1, keepdims=True)
        likely = np.exp(log_p)
        observed = np.take_along_axis(log_p, seen[part, None] // 2, axis=1)
        less = np.where(log_p <= observed + _TIE, likely, 0.0)
        p[part] = less.sum(axis=1) / likely.sum(axis=1)
    return np.minimum(p, 1.0)


def diploid(chrom: Strings) -> NDArray[np.bool_]:
    """Which variants have two copies in both sexes.

    X, Y, M and MT have not, in any case and with or without "chr". Nor have 23, 24 and 26, PLINK's numbers for a
    human's X, Y and MT, unless the names hold an X or a number above 26, since then these are autosomes.

    Parameters
    ----------
    chrom : (J,) object of str
        Of the whole file.
    """
    names = {name: _PREFIX.sub("", name, count=1) if _PREFIX.match(name) else name for name in set(chrom)}
    keys = {name: key.upper() for name, key in names.items()}
    numbers = "X" not in keys.values() and not any(key.isdecimal() and int(key) > 26 for key in keys.values())
    single = {"X", "Y", "M", "MT"} | ({"23", "24", "26"} if numbers else set())
    return np.fromiter((keys[name] not in single for name in chrom), dtype=np.bool_, count=len(chrom))
