"""A figure as bytes, to be put into a page."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

from goalscli.plots.style import styled

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Figure  # jobs name the type, and import it from here


def png(figure: Figure, dpi: float = 150) -> bytes:
    """Return the figure as PNG, the same bytes for the same figure.

    Parameters
    ----------
    figure : Figure
    dpi : float
        Dots per inch.
    """
    stream = io.BytesIO()
    with styled():
        figure.savefig(stream, format="png", dpi=dpi, metadata={})
    return stream.getvalue()
