"""Tables a geneticist reads: EFFECT in the direction of a1, whatever the sign and size of the shift."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray


def effect_table(
    variants: Mapping[str, NDArray[Any]], goals: Mapping[str, NDArray[np.float64]], xi: float
) -> pd.DataFrame:
    """One row a variant, in file order: :func:`goalscli.tables.score_table` of the goals score alone.

    Parameters
    ----------
    variants : mapping
        chrom, pos, id, a1, a2, a1_freq, n_obs: (J,) each.
    goals : mapping of str to (J,) float64
        score, sd, z, neg_log10_p, rms, spread, in the paper's sign f - g; loco_z and loco_neg_log10_p if computed.
    xi : float
        The shift, in its own unit (sd of genotype or allele).

    Returns
    -------
    pandas.DataFrame
        J rows; EFFECT = -SCORE/xi and EFFECT_SD = SD/|xi| in trait sd per unit of the shift, Z in EFFECT's sign.

    Raises
    ------
    KeyError
        One of these arrays is not there.
    """
    return score_table(variants, {"goals": goals}, xi)


def score_table(
    variants: Mapping[str, NDArray[Any]], scores: Mapping[str, Mapping[str, NDArray[np.float64]]], xi: float
) -> pd.DataFrame:
    """One row a variant, in file order.

    Parameters
    ----------
    variants : mapping
        chrom, pos, id, a1, a2, a1_freq, n_obs: (J,) each.
    scores : mapping of str to mapping of str to (J,) float64
        By score, as far as computed: goals (score, sd, z, neg_log10_p, rms, spread, loco_z, loco_neg_log10_p, in the
        paper's sign f - g), rate (kld, rate), psi (mean, plug_in, excess).
    xi : float
        The shift, in its own unit (sd of genotype or allele).

    Returns
    -------
    pandas.DataFrame
        J rows. EFFECT = -SCORE/xi and EFFECT_SD = SD/|xi| are in trait sd per unit of the shift; Z has EFFECT's sign.

    Raises
    ------
    KeyError
        One of these arrays is not there.
    """
    columns: dict[str, NDArray[Any]] = {
        "#CHROM": variants["chrom"],
        "POS": variants["pos"],
        "ID": variants["id"],
        "A1": variants["a1"],
        "A2": variants["a2"],
        "A1_FREQ": variants["a1_freq"],
        "OBS_CT": variants["n_obs"],
    }
    if "goals" in scores:
        columns |= _goals_columns(scores["goals"], xi)
    if "rate" in scores:
        columns |= {"RATE": scores["rate"]["rate"], "KLD": scores["rate"]["kld"]}
    if "psi" in scores:
        columns |= {"PSI": scores["psi"]["mean"], "PSI_EXCESS": scores["psi"]["excess"]}
    return pd.DataFrame(columns)


def _goals_columns(goals: Mapping[str, NDArray[np.float64]], xi: float) -> dict[str, NDArray[Any]]:
    columns: dict[str, NDArray[Any]] = {
        "EFFECT": -goals["score"] / xi,
        "EFFECT_SD": goals["sd"] / abs(xi),
        "Z": -np.sign(xi) * goals["z"],
        "NEG_LOG10_P": goals["neg_log10_p"],
        "SCORE": goals["score"],
        "RMS": goals["rms"],
        "SPREAD": goals["spread"],
    }
    if "loco_z" in goals:
        columns |= {"Z_LOCO": -np.sign(xi) * goals["loco_z"], "NEG_LOG10_P_LOCO": goals["loco_neg_log10_p"]}
    return columns


def top(table: pd.DataFrame, n: int, by: str = "Z") -> pd.DataFrame:
    """Return the ``n`` rows of greatest |by|, ties in file order.

    Parameters
    ----------
    table : pandas.DataFrame
        One row a variant.
    n : int
        How many; all where there are fewer.
    by : str
        A column of numbers.

    Returns
    -------
    pandas.DataFrame
    """
    order = np.argsort(-np.abs(table[by].to_numpy()), kind="stable")[:n]
    return table.iloc[order]


def tsv(table: pd.DataFrame) -> str:
    """Tab-separated text, six significant digits."""
    return str(table.to_csv(None, sep="\t", index=False, float_format="%.6g", na_rep="NA", lineterminator="\n"))
