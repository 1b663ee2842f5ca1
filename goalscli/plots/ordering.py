"""An order in which like rows of a table lie together. No matplotlib here."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

OPTIMAL = 500
"""Most rows whose leaves are turned so that neighbours are most alike: the time grows with the cube."""

CLUSTERED = 3000
"""Most rows that are clustered: the memory grows with the square."""


def alike_together(rows: Floats) -> tuple[NDArray[np.intp], str]:
    """Order rows by Ward's clustering, or, beyond 3,000, by their first principal component.

    Parameters
    ----------
    rows : (n, m) float64
        Finite.

    Returns
    -------
    order : (n,) intp
    how : str
        "clustered (Ward)" or "by first principal component"; "" for one row.
    """
    n = len(rows)
    if n < 2:
        return np.arange(n), ""
    largest = np.abs(rows).max()
    scaled = rows / largest if largest > 1e-250 else np.zeros_like(rows)
    centred = scaled - scaled.mean(axis=0)
    if n > CLUSTERED:
        return np.argsort(_first_component(centred), kind="stable"), "by first principal component"
    from scipy.cluster.hierarchy import leaves_list, linkage, optimal_leaf_ordering
    from scipy.spatial.distance import pdist

    distances = pdist(centred)
    tree = linkage(distances, "ward")
    if n <= OPTIMAL:
        tree = optimal_leaf_ordering(tree, distances)
    return leaves_list(tree).astype(np.intp), "clustered (Ward)"


def _first_component(centred: Floats) -> Floats:
    """Scores of the first principal component; its largest loading is positive."""
    loading = np.linalg.eigh(centred.T @ centred)[1][:, -1]
    return np.asarray(centred @ loading * np.sign(loading[np.argmax(np.abs(loading))]), dtype=np.float64)
