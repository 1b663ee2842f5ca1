"""What share of a trait's variance each component explains."""

from __future__ import annotations

from dataclasses import dataclass
from math import isnan, nan, sqrt

import numpy as np
from numpy.typing import NDArray

from goalscli.models.reml import Components

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Shares:
    """Shares of the variance over the samples and their standard errors, NaN where there is none.

    Attributes
    ----------
    pve, pve_se : float
        Of what genotypes explain, additive and not.
    random_share, random_share_se : float
        Of the random effect; 0 and NaN without one.
    """

    pve: float
    pve_se: float
    random_share: float
    random_share_se: float


def shares(gram: Array, components: Components, design: Array | None = None) -> Shares:
    """Divide s·c and τ·c_z by s·c + τ·c_z + σ².

    c = (tr K₀ - 1ᵀK₀1/N)/(N-1), and c_z likewise of ZZᵀ. Standard errors by the delta method; a component that was
    given, or ended at a bound, counts as known.

    Parameters
    ----------
    gram : (N, N) float64
        K₀ = K/s.
    components : Components
    design : (N, L) float64, optional
        Z, as it was given to :func:`goalscli.models.reml.estimate`.
    """
    n, r, ratio = len(gram), components.ratio, components.random_ratio
    c = float((np.trace(gram) - gram.sum() / n) / (n - 1))
    c_z = 0.0 if design is None else float(np.einsum("ij,ij->", design, design)) / (n - 1)
    total = components.signal * c + components.noise + components.random * c_z
    # In units of s + σ² the total is rc + 1 - r + ratio·c_z: the shares' derivatives by r and by the ratio.
    square = (r * c + 1 - r + ratio * c_z) ** 2
    by_r = c * (1 + ratio * c_z) / square, ratio * c_z * (1 - c) / square
    by_ratio = -r * c * c_z / square, c_z * (r * c + 1 - r) / square
    pve_known = isnan(components.ratio_se) and components.at_bound
    random_known = isnan(components.random_ratio_se)
    return Shares(
        pve=components.signal * c / total,
        pve_se=nan if pve_known else _standard_error(components, by_r[0], by_ratio[0]),
        random_share=components.random * c_z / total,
        random_share_se=nan if random_known else _standard_error(components, by_r[1], by_ratio[1]),
    )


def _standard_error(components: Components, by_r: float, by_ratio: float) -> float:
    """Of a function of r and the random effect's ratio with these derivatives; NaN where both are known."""
    r_se, ratio_se = components.ratio_se, components.random_ratio_se
    if isnan(ratio_se):
        return by_r * r_se
    if isnan(r_se):
        return abs(by_ratio) * ratio_se
    variance = (by_r * r_se) ** 2 + (by_ratio * ratio_se) ** 2 + 2 * by_r * by_ratio * components.ratios_covariance
    return sqrt(max(variance, 0.0))
