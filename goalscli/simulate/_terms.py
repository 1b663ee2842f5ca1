"""The linear algebra of one term of a trait: design times standard normal effects, scaled to its share."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh

from goalscli.errors import SettingsError

Floats = NDArray[np.float64]

_BLOCK = 4096


def varies(dosages: NDArray[np.floating]) -> NDArray[np.bool_]:
    """Columns that differ between samples by more than the rounding of a mean put in for missing calls."""
    different: NDArray[np.bool_] = np.ptp(dosages, axis=0) > 1e-6
    return different


def standardised(dosages: NDArray[np.floating]) -> Floats:
    """Columns with mean 0 and sd 1 (divisor n - 1); none may be constant."""
    x = dosages.astype(np.float64)
    x -= x.mean(axis=0)
    x /= x.std(axis=0, ddof=1)
    return x


def principal_components(dosages: NDArray[np.floating], n_components: int) -> Floats:
    """Top principal components of the standardised polymorphic variants.

    Returns
    -------
    (n, min(n_components, n - 1)) float64
        Orthonormal columns, leading first, the largest entry of each positive.
    """
    n = len(dosages)
    gram = np.zeros((n, n))
    for start in range(0, dosages.shape[1], _BLOCK):
        block = dosages[:, start : start + _BLOCK]
        x = standardised(block[:, varies(block)])
        gram += x @ x.T
    vectors = eigh(gram, subset_by_index=[max(1, n - n_components), n - 1])[1][:, ::-1]
    largest = np.take_along_axis(vectors, np.abs(vectors).argmax(axis=0)[None], axis=0)
    components: Floats = vectors * np.sign(largest)
    return components


def draw_term(
    design: Floats | None,
    n: int,
    earlier: Sequence[Floats],
    share: float,
    rng: np.random.Generator,
    *,
    term: str,
) -> tuple[Floats, Floats]:
    """Draw standard normal effects and scale the term they make to a sample variance.

    Parameters
    ----------
    design : (n, p) float64 or None
        None for one effect a sample.
    n : int
        Samples.
    earlier : sequence of (n,) float64
        Centred terms that this one shall not covary with. The effects are projected, not the term, so it
        stays a combination of the columns of its own design.
    share : float
        Sample variance wanted (divisor n - 1).
    rng : numpy.random.Generator
    term : str
        Its name, for the message.

    Returns
    -------
    effects : (p,) float64
    value : (n,) float64
        Design times effects, centred.

    Raises
    ------
    SettingsError
        The term cannot vary, or only together with the earlier ones.
    """
    effects = rng.standard_normal(n if design is None else design.shape[1])
    drawn = float(np.std(effects if design is None else design @ effects))
    if earlier:
        against = np.column_stack(earlier)
        against = against if design is None else design.T @ against
        # Once leaves a covariance of the size of the rounding; twice removes that too.
        for _ in range(2):
            effects -= against @ np.linalg.lstsq(against, effects, rcond=None)[0]
    value: Floats = effects if design is None else design @ effects
    value = value - value.mean()
    sd = float(np.std(value, ddof=1))
    if sd <= 1e-8 * drawn:
        apart = f" apart from the {len(earlier)} terms before it" if earlier else ""
        raise SettingsError(
            f"the {term} term, of {len(effects)} effects in {n} samples, cannot vary{apart}",
            where=term,
            remedy="use more causal variants, cages or samples, or set this term's share to 0",
        )
    scale = np.sqrt(share) / sd
    return effects * scale, value * scale
