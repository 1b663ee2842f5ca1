"""An interactive page of scores along the genome: one HTML file that needs no network.

Only this module imports plotly, and of it takes the JavaScript library alone: the page is drawn in the browser, from
columns of numbers that are stored once and packed.
"""

from __future__ import annotations

import base64
import html
import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from importlib.resources import files
from string import Template
from typing import Any

import numpy as np
from numpy.typing import NDArray

from goalscli.errors import SettingsError
from goalscli.plots.genome import Genome, Lane, factorize, lay_out
from goalscli.plots.genome_axes import TONES, lane_notes
from goalscli.plots.manhattan import GenomePanel, check_panel
from goalscli.plots.picture import lane_names
from goalscli.plots.style import VERMILION, drawable, value_limits
from goalscli.plots.thinning import Thinned, thin

Floats = NDArray[np.float64]

_TYPES = {"u1": "Uint8Array", "u2": "Uint16Array", "i4": "Int32Array", "f4": "Float32Array", "f8": "Float64Array"}


@dataclass(frozen=True, eq=False)
class Fact:
    """What the text at the pointer tells of each variant, besides the value drawn.

    Attributes
    ----------
    name : str
    values : (J,) float64
        Of a p-value its −log10.
    unit : str
    sd : (J,) float64, optional
        Written behind the value.
    is_p : bool
        The values are −log10 of a p-value, which is written as such.
    """

    name: str
    values: Floats
    unit: str = ""
    sd: Floats | None = None
    is_p: bool = False


@dataclass(eq=False)
class _Columns:
    """Numbers of the drawn variants, each column stored once however often it is named."""

    packed: list[dict[str, str]] = field(default_factory=list)
    _known: dict[tuple[str, bytes], int] = field(default_factory=dict)

    def add(self, values: NDArray[Any]) -> int:
        """Return the number of the column."""
        kind = _kind(values)
        # Little-endian whatever the machine, as nearly every browser's is.
        raw = np.ascontiguousarray(values, dtype=f"<{kind}").tobytes()
        if (kind, raw) not in self._known:
            self._known[kind, raw] = len(self.packed)
            self.packed.append({"type": _TYPES[kind], "data": base64.b64encode(raw).decode()})
        return self._known[kind, raw]


def _kind(values: NDArray[Any]) -> str:
    """Least type that holds the values: whole numbers exactly, others to 7 digits."""
    if values.dtype.kind in "iu":
        low, high = (int(values.min()), int(values.max())) if values.size else (0, 0)
        fits = {"u1": (0, 2**8), "u2": (0, 2**16), "i4": (-(2**31), 2**31)}
        return next((kind for kind, (least, beyond) in fits.items() if least <= low and high < beyond), "f8")
    size = np.abs(values[np.isfinite(values) & (values != 0)])
    return "f4" if not size.size or (size.max() < 1e37 and size.min() > 1e-37) else "f8"


def _told(columns: _Columns, fact: Fact, rows: NDArray[np.intp]) -> dict[str, Any]:
    """One line of what is told of the variant pointed at."""
    sd = None if fact.sd is None else columns.add(fact.sd[rows])
    return {
        "name": fact.name,
        "unit": fact.unit,
        "p": fact.is_p,
        "values": columns.add(fact.values[rows]),
        "sd": sd,
    }


def interactive_manhattan(
    chrom: NDArray[np.object_],
    pos: NDArray[np.int64],
    value: Floats,
    *,
    ids: NDArray[np.object_],
    a1: NDArray[np.object_],
    a2: NDArray[np.object_],
    facts: Sequence[Fact] = (),
    thresholds: Sequence[tuple[float, str]] = (),
    y_label: str,
    title: str,
    caption: str = "",
    signed: bool = False,
    most: int = 80_000,
) -> str:
    """Draw one value per variant along the genome, to be zoomed and pointed at.

    Parameters
    ----------
    chrom, pos, value, thresholds, signed
        As in :func:`goalscli.plots.manhattan`.
    ids, a1, a2 : (J,) object of str
    facts : sequence of Fact
    y_label, title, caption : str
    most : int
        Points drawn at most; see :func:`goalscli.plots.thinning.thin`. The caption says what is left out.

    Returns
    -------
    str
        A whole HTML document, the same for the same arguments and the same plotly.

    Raises
    ------
    SettingsError
        plotly is not installed, there are no variants, lengths differ, or a threshold is not finite.
    """
    library = _plotly_js()
    chrom, pos = np.asarray(chrom, dtype=object), np.asarray(pos, dtype=np.int64)
    value = np.asarray(value, dtype=np.float64)
    check_panel(GenomePanel(chrom, pos, value, y_label, thresholds=thresholds))
    genome = lay_out(chrom, pos)
    shown, notes = drawable(value)
    all_drawable = np.flatnonzero(shown)
    beyond = min((abs(height) for height, _ in thresholds), default=np.inf)
    thinned = thin(genome.x[shown], value[shown], beyond=beyond, most=most)
    rows = all_drawable[thinned.rows]
    notes = [caption, *notes, *lane_notes(genome), *_left_out(thinned, all_drawable.size)]
    low, high = value_limits(value[rows], [t for t, _ in thresholds] + [0.0])
    columns = _Columns()
    told = {
        "genome": _genome(columns, genome, pos, rows),
        "pos": columns.add(pos[rows]),
        "chrom": _coded(columns, chrom[rows]),
        "id": [str(name) for name in ids[rows]],
        "a1": _coded(columns, a1[rows]),
        "a2": _coded(columns, a2[rows]),
        "value": columns.add(value[rows]),
        "facts": [_told(columns, fact, rows) for fact in facts],
        "thresholds": [{"height": float(height), "text": text} for height, text in thresholds],
        "range": [low - (0.06 if low < 0 else 0.02) * (high - low), high + 0.06 * (high - low)],
        "yLabel": y_label,
        "signed": signed,
        "colours": {"tones": TONES, "threshold": VERMILION},
    }
    data = json.dumps({**told, "columns": columns.packed}, ensure_ascii=False, separators=(",", ":"))
    # A "<" in an ID must not end the script.
    return Template(_resource("page.html")).substitute(
        title=html.escape(title),
        caption=html.escape(" ".join(note for note in notes if note)),
        style=_resource("page.css"),
        plotly=library,
        data=data.replace("<", "\\u003c"),
        script=_resource("page.js"),
    )


def _plotly_js() -> str:
    try:
        from plotly.offline import get_plotlyjs
    except ImportError as error:
        raise SettingsError(
            "an interactive page needs the extra", remedy="pip install 'goalscli[interactive]', or write a .png"
        ) from error
    return str(get_plotlyjs())


def _resource(name: str) -> str:
    return files("goalscli.plots").joinpath("page", name).read_text(encoding="utf-8")


def _coded(columns: _Columns, labels: NDArray[np.object_]) -> dict[str, Any]:
    codes, names = factorize(labels)
    return {"codes": columns.add(codes), "names": ["" if name is None else name for name in names]}


def _genome(columns: _Columns, genome: Genome, pos: NDArray[np.int64], rows: NDArray[np.intp]) -> dict[str, Any]:
    """Places of the drawn variants, from the start of their lane, and the lanes themselves."""
    starts = np.array([lane.start for lane in genome.lanes])
    lane = np.maximum(np.searchsorted(starts, genome.x, side="right") - 1, 0)
    names = lane_names([each.name for each in genome.lanes])
    return {
        "lane": columns.add(lane[rows]),
        "offset": columns.add(genome.x[rows] - starts[lane[rows]]),
        "tone": columns.add(genome.tone[rows]),
        "lanes": [
            {"name": name, "start": each.start, "stop": each.stop, **_scale(genome, each, pos, lane == k)}
            for k, (name, each) in enumerate(zip(names, genome.lanes, strict=True))
        ],
    }


def _scale(genome: Genome, lane: Lane, pos: NDArray[np.int64], inside: NDArray[np.bool_]) -> dict[str, Any]:
    """First position of a lane and its base pairs a unit of the axis; nothing where it has no such scale."""
    x, at = genome.x[inside], pos[inside]
    first, last = int(at.min()), int(at.max())
    if first < 1 or first == last or lane.stop <= lane.start:
        return {}
    step = (last - first) / (lane.stop - lane.start)
    if np.abs(first + (x - lane.start) * step - at).max() > 1:  # "other": several sequences
        return {}
    return {"first": first, "step": step}


def _left_out(thinned: Thinned, n: int) -> list[str]:
    if thinned.rows.size == n:
        return []
    columns, rows = thinned.cells
    return [
        f"{thinned.rows.size:,} of {n:,} variants drawn: the {thinned.n_top:,} of greatest absolute value (all beyond "
        f"{thinned.height:.3g}), and of the others the greatest in each of {columns:,} × {rows:,} cells of the picture."
    ]
