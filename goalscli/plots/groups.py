"""Local scores by group of samples: which groups to show, and how much of the variance lies between groups.

No matplotlib here.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from goalscli.errors import InputError, SettingsError
from goalscli.plots.coding import factorize
from goalscli.plots.genome import natural_key

Floats = NDArray[np.float64]

_BATCH = 4_000_000
"""Random keys held at once, 32 MB."""


def _codes(group: NDArray[np.object_]) -> tuple[NDArray[np.intp], list[str]]:
    """Group number of each sample, -1 where there is none, and the labels by first appearance."""
    codes, found = factorize(group)
    names = [label for label in found if label]
    rank = {label: i for i, label in enumerate(names)}
    return np.array([rank[label] if label else -1 for label in found], dtype=np.intp)[codes], names


def _check(local: Floats, **others: NDArray[np.object_]) -> Floats:
    values = np.asarray(local, dtype=np.float64)
    for what, other in others.items():
        if values.shape != np.shape(other):
            raise SettingsError(f"{values.size} local scores but {np.size(other)} entries in '{what}'")
    bad = int(np.count_nonzero(~np.isfinite(values)))
    if bad:
        raise InputError(
            f"{bad} of {values.size} local scores are not finite",
            remedy="score this variant again or leave it out",
        )
    return values


def select_groups(
    local: Floats, group: NDArray[np.object_], *, n_groups: int, min_size: int = 3
) -> tuple[tuple[str, ...], tuple[str, ...], int]:
    """Choose the groups with the least and the greatest mean local score.

    Parameters
    ----------
    local : (N,) float64
        Local scores or effects of one variant.
    group : (N,) object of str or None
        Group of each sample; samples with None or "" belong to no group.
    n_groups : int
        How many groups to take at each end.
    min_size : int
        Groups with fewer samples are left out.

    Returns
    -------
    lowest, highest : tuple of str
        Labels in order of increasing mean, ties in natural order of the labels. No group is in both: when
        fewer than ``2 * n_groups`` remain they are halved, the middle one going to `lowest`.
    n_left_out : int
        Groups left out because they are smaller than `min_size`.

    Raises
    ------
    SettingsError
        When lengths differ or `n_groups` or `min_size` is less than 1.
    InputError
        When local scores are not finite.
    """
    if n_groups < 1 or min_size < 1:
        raise SettingsError(f"{n_groups} groups an end, least size {min_size}: both must be 1 or more")
    values = _check(local, group=group)
    codes, names = _codes(group)
    inside = codes >= 0
    size = np.bincount(codes[inside], minlength=len(names))
    mean = np.bincount(codes[inside], weights=values[inside], minlength=len(names)) / np.maximum(size, 1)
    large = np.flatnonzero(size >= min_size)
    ordered = [names[i] for i in sorted(large, key=lambda i: (mean[i], natural_key(names[i])))]
    n_low = min(n_groups, (len(ordered) + 1) // 2)
    n_high = min(n_groups, len(ordered) - n_low)
    return tuple(ordered[:n_low]), tuple(ordered[len(ordered) - n_high :]), len(names) - large.size


def _standard(values: Floats) -> Floats | None:
    """Centre and scale to unit sum of squares; None where the values do not vary beyond rounding."""
    if not values.size:
        return None
    largest = np.abs(values).max()
    if largest == 0:
        return None
    # A power of two, exactly: dividing subnormal numbers overflows in some versions of numpy.
    centred = np.ldexp(values, -int(np.frexp(largest)[1]))
    centred = centred - centred.mean()
    total = float(centred @ centred)
    if total <= values.size * (4 * np.finfo(np.float64).eps) ** 2:
        return None
    return np.asarray(centred / np.sqrt(total), dtype=np.float64)


def between_group_share(local: Floats, group: NDArray[np.object_]) -> float:
    """Share of the variance of local scores that lies between groups (one-way ANOVA, eta squared).

    Parameters
    ----------
    local : (N,) float64
        Local scores or effects of one variant.
    group : (N,) object of str or None
        Group of each sample, groups of any size; samples with None or "" are left out.

    Returns
    -------
    float
        Between-group sum of squares over total sum of squares, 0 to 1; 0 when the scores do not vary.

    Raises
    ------
    SettingsError
        When lengths differ.
    InputError
        When local scores are not finite.
    """
    values = _check(local, group=group)
    codes = _codes(group)[0]
    unit = _standard(values[codes >= 0])
    if unit is None:
        return 0.0
    codes = codes[codes >= 0]
    return min(1.0, float(np.sum(np.bincount(codes, weights=unit) ** 2 / np.bincount(codes))))


def permutation_reference(
    local: Floats,
    group: NDArray[np.object_],
    *,
    within: NDArray[np.object_] | None,
    n_permutations: int = 200,
    seed: int,
) -> float:
    """Mean between-group share when the local scores are shuffled among samples.

    Parameters
    ----------
    local : (N,) float64
        Local scores or effects of one variant.
    group : (N,) object of str or None
        Group of each sample; samples with None or "" are left out, as in `between_group_share`.
    within : (N,) object of str or None, optional
        Blocks, such as families, that the shuffle respects; a sample with None or "" keeps its own score.
        None shuffles among all samples.
    n_permutations : int
        Number of shuffles.
    seed : int
        Seed of the random generator.

    Returns
    -------
    float
        Mean share over the shuffles, 0 to 1; 0 when the scores do not vary.

    Raises
    ------
    SettingsError
        When lengths differ or `n_permutations` is less than 1.
    InputError
        When local scores are not finite.
    """
    if n_permutations < 1:
        raise SettingsError(f"{n_permutations} permutations: at least 1 is needed")
    values = _check(local, group=group, **({} if within is None else {"within": within}))
    codes, names = _codes(group)
    inside = codes >= 0
    unit, codes = _standard(values[inside]), codes[inside]
    if unit is None:
        return 0.0
    block = np.zeros(codes.size) if within is None else _blocks(np.asarray(within, dtype=object)[inside])
    # the samples of one block stand together and are reordered by random keys below one half
    home = np.argsort(block, kind="stable")
    rng = np.random.default_rng(seed)
    size = np.bincount(codes, minlength=len(names))
    size, place = np.maximum(size, 1), codes[home]
    total = 0.0
    rows = max(1, _BATCH // codes.size)
    for start in range(0, n_permutations, rows):
        n = min(rows, n_permutations - start)
        order = np.argsort(block + rng.random((n, codes.size)) / 2, axis=1)
        cell = place + len(names) * np.arange(n)[:, None]
        sums = np.bincount(cell.ravel(), weights=unit[order].ravel(), minlength=n * len(names))
        total += float(np.sum(sums.reshape(n, -1) ** 2 / size))
    return min(1.0, total / n_permutations)


def _blocks(within: NDArray[np.object_]) -> Floats:
    """Block number of each sample; those without a block get one of their own."""
    codes, names = _codes(within)
    alone = codes < 0
    codes[alone] = len(names) + np.arange(int(alone.sum()))
    return codes.astype(np.float64)
