"""Who mates with whom, whose litter is whose, and who shares a cage."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment

Indices = NDArray[np.intp]

_MIXED_SHARE = 0.25
"""Share of the animals housed with other litters, where the litters allow it."""


@dataclass(frozen=True)
class Generation:
    """Animals born together.

    Attributes
    ----------
    sire, dam : (m,) intp
        Row of each parent in the generation before.
    male : (m,) bool
    """

    sire: Indices
    dam: Indices
    male: NDArray[np.bool_]


def founders(n: int) -> Generation:
    """Unrelated animals, males and females in turn; each its own sire and dam, so that no two are sibs."""
    return Generation(np.arange(n), np.arange(n), np.arange(n) % 2 == 0)


def breed(n_founders: int, n_generations: int, n_breeders: int, rng: np.random.Generator) -> tuple[Generation, ...]:
    """Random mating without full sibs (where that can be avoided), at a constant number of breeders.

    Returns
    -------
    tuple of Generation
        The founders, then `n_generations` generations of `n_breeders` animals, half of them male.
    """
    line = [founders(n_founders)]
    male = np.arange(n_breeders) < (n_breeders + 1) // 2
    for _ in range(n_generations):
        parents = line[-1]
        couples = min(int(parents.male.sum()), int((~parents.male).sum()))
        sires, dams = mate(parents, couples, rng)
        # Equal family sizes within each sex: the effective size of the line is then the largest it can be.
        couple = np.concatenate([rng.permutation(np.resize(np.arange(couples), k)) for k in
                                 (int(male.sum()), int((~male).sum()))])  # fmt: skip
        line.append(Generation(sires[couple], dams[couple], male))
    return tuple(line)


def mate(parents: Generation, n_couples: int, rng: np.random.Generator) -> tuple[Indices, Indices]:
    """Draw couples: nobody twice in a round, no couple twice and no full sibs where it can be avoided.

    Returns
    -------
    sires, dams : (n_couples,) intp
        Rows of `parents`.
    """
    males, females = np.flatnonzero(parents.male), np.flatnonzero(~parents.male)
    sibs = (parents.sire[males, None] == parents.sire[females]) & (parents.dam[males, None] == parents.dam[females])
    cost = 1e6 * sibs
    sires: list[Indices] = []
    dams: list[Indices] = []
    for start in range(0, n_couples, min(len(males), len(females))):
        # Random costs make every assignment equally likely; the penalties only rule couples out.
        m, f = linear_sum_assignment(cost + rng.random(cost.shape))
        cost[m, f] += 1e3
        order = rng.permutation(len(m))[: n_couples - start]
        sires.append(males[m[order]])
        dams.append(females[f[order]])
    return np.concatenate(sires), np.concatenate(dams)


def litters(n_samples: int, mean_size: int, rng: np.random.Generator) -> Indices:
    """Litter of each sample, ascending: sizes are 1 + Poisson(mean_size - 1), the last one cut to fit."""
    sizes = 1 + rng.poisson(mean_size - 1, size=n_samples)
    return np.repeat(np.arange(n_samples), sizes)[:n_samples]


def house(litter: Indices, male: NDArray[np.bool_], cage_size: int, rng: np.random.Generator) -> Indices:
    """Put animals of one sex in cages of `cage_size` give or take one, most with litter-mates only.

    About a quarter of the animals are housed with other litters, so that cage and family can be told apart.
    Litters too small for a cage of their own come first among these. Fewer animals than fill a cage share
    one anyway.

    Parameters
    ----------
    litter : (n,) intp, ascending
    male : (n,) bool
    cage_size : int
        At least 2.

    Returns
    -------
    (n,) intp
        Cage of each sample, from 0.
    """
    cages: list[Indices] = []
    for sex in (True, False):
        members = np.flatnonzero(male == sex)
        if len(members) == 0:
            continue
        groups = np.split(members, np.flatnonzero(np.diff(litter[members])) + 1)
        groups = [groups[g] for g in rng.permutation(len(groups))]
        groups.sort(key=lambda group: _cages_for(len(group), cage_size) > 0)
        cut, size = 0, 0
        while cut < len(groups) and not (
            _cages_for(len(groups[cut]), cage_size)
            and size >= _MIXED_SHARE * len(members)
            and _cages_for(size, cage_size)
        ):
            size += len(groups[cut])
            cut += 1
        pool = rng.permutation(np.concatenate(groups[:cut]))
        cages += np.array_split(pool, _cages_for(size, cage_size) or max(1, round(size / cage_size)))
        for group in groups[cut:]:
            cages += np.array_split(rng.permutation(group), _cages_for(len(group), cage_size))
    cage = np.empty(len(litter), dtype=np.intp)
    for number, inmates in enumerate(cages):
        cage[inmates] = number
    return cage


def _cages_for(n: int, cage_size: int) -> int:
    """Fewest cages that hold n animals within the sizes allowed; 0 where none do."""
    count = -(-n // (cage_size + 1))
    return count if count and n // count >= max(2, cage_size - 1) else 0


def labels(letter: str, numbers: Indices | Sequence[int]) -> NDArray[np.object_]:
    """IDs such as F007 from numbers counted from 0, all of one width, counted from 1."""
    values = np.asarray(numbers, dtype=np.intp) + 1
    width = max(3, len(str(int(values.max(initial=1)))))
    return np.array([f"{letter}{value:0{width}d}" for value in values], dtype=object)
