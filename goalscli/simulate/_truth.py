"""What a simulated trait is made of, as a table."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from goalscli.genotypes.source import Variants
from goalscli.simulate._terms import Floats

TERMS = ("additive", "interaction", "structure", "cage", "noise")
"""The terms of a trait, in the order in which they are drawn."""

_COLUMNS = ["role", "id", "chrom", "pos", "a1", "id2", "chrom2", "pos2", "a1_2", "effect", "share"]


def realised_shares(components: pd.DataFrame) -> dict[str, float]:
    """Share of each term, and twice the covariance of each two that are there."""
    covariance = np.cov(components[list(TERMS)].to_numpy(), rowvar=False)
    covariance /= covariance.sum()
    shares = dict(zip(TERMS, covariance.diagonal().tolist(), strict=True))
    present = [k for k in range(len(TERMS)) if covariance[k, k] > 0]
    for a, b in combinations(present, 2):
        shares[f"{TERMS[a]}+{TERMS[b]}"] = 2 * float(covariance[a, b])
    return shares


def truth_table(
    variants: Variants,
    causal: NDArray[np.intp],
    pairs: tuple[NDArray[np.intp], NDArray[np.intp]],
    effects: dict[str, Floats],
    shares: dict[str, float],
) -> pd.DataFrame:
    """One row per causal variant, per pair, per term and per pair of terms (see `Trait.truth`).

    Parameters
    ----------
    variants : Variants
    causal : (c,) intp
        Their columns.
    pairs : tuple of (p,) intp
        First and second of each pair, as places in `causal`.
    effects : dict of str to (c,) or (p,) float64
        Under "additive" and "interaction"; a variant without an additive effect has 0.
    shares : dict of str to float
    """

    def named(columns: NDArray[np.intp], suffixes: tuple[str, str]) -> dict[str, NDArray[np.generic]]:
        own, other = suffixes
        return {
            f"id{own}": variants.id[columns],
            f"chrom{own}": variants.chrom[columns],
            f"pos{own}": variants.pos[columns],
            f"a1{other}": variants.a1[columns],
        }

    first, second = causal[pairs[0]], causal[pairs[1]]
    additive = named(causal, ("", "")) | {"effect": effects.get("additive", np.zeros(len(causal)))}
    interaction = named(first, ("", "")) | named(second, ("2", "_2"))
    interaction["effect"] = effects.get("interaction", np.zeros(0))
    terms = [(("covariance" if "+" in term else "variance"), term, share) for term, share in shares.items()]
    parts = [
        pd.DataFrame(additive).assign(role="additive"),
        pd.DataFrame(interaction).assign(role="interaction"),
        pd.DataFrame(terms, columns=["role", "id", "share"]),
    ]
    # Some pandas versions warn of empty tables in a concatenation.
    table = pd.concat([part for part in parts if len(part)], ignore_index=True)
    return table.reindex(columns=_COLUMNS).astype({"pos": "Int64", "pos2": "Int64"})
