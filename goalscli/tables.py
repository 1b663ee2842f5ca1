"""Tables a geneticist reads: EFFECT in the direction of a1, whatever the sign and size of the shift."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

EFFECT_NOTE = (
    "EFFECT: joint, shrunken effect of one more unit of A1 in trait sd (not a marginal GWAS beta); "
    "EFFECT_SD: its posterior sd; Z and NEG_LOG10_P: test against the polygenic null (Z is not EFFECT/EFFECT_SD)"
)


def effect_table(
    variants: Mapping[str, NDArray[Any]], goals: Mapping[str, NDArray[np.float64]], xi: float
) -> pd.DataFrame:
    """One row a variant, in file order.

    Parameters
    ----------
    variants : mapping
        chrom, pos, id, a1, a2, a1_freq, n_obs: (J,) each.
    goals : mapping
        score, sd, z, neg_log10_p, rms, spread: (J,) float64 each, the paper's sign (f - g).
    xi : float
        The shift, in its own unit (sd of genotype or allele).

    Returns
    -------
    pandas.DataFrame
        EFFECT = -SCORE/xi and EFFECT_SD = SD/|xi| are per unit of the shift; Z has EFFECT's sign.
    """
    return pd.DataFrame(
        {
            "#CHROM": variants["chrom"],
            "POS": variants["pos"],
            "ID": variants["id"],
            "A1": variants["a1"],
            "A2": variants["a2"],
            "A1_FREQ": variants["a1_freq"],
            "OBS_CT": variants["n_obs"],
            "EFFECT": -goals["score"] / xi,
            "EFFECT_SD": goals["sd"] / abs(xi),
            "Z": -np.sign(xi) * goals["z"],
            "NEG_LOG10_P": goals["neg_log10_p"],
            "SCORE": goals["score"],
            "RMS": goals["rms"],
            "SPREAD": goals["spread"],
        }
    )


def top(table: pd.DataFrame, n: int, by: str = "Z") -> pd.DataFrame:
    """Return the ``n`` rows of greatest |by|, ties in file order."""
    order = np.argsort(-np.abs(table[by].to_numpy()), kind="stable")[:n]
    return table.iloc[order]


def tsv(table: pd.DataFrame) -> str:
    """Tab-separated text, six significant digits."""
    return str(table.to_csv(None, sep="\t", index=False, float_format="%.6g", na_rep="NA", lineterminator="\n"))
