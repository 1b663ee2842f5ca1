"""The look that all pictures share, text that fits, and writing them to files.

Figures are made with ``Figure`` and ``FigureCanvasAgg`` alone: no pyplot, no display, and neither DISPLAY,
MPLBACKEND nor a matplotlibrc changes a picture.
"""

from __future__ import annotations

import atexit
import contextlib
import math
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from goalscli.errors import OutputError, SettingsError

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.backends.backend_agg import RendererAgg
    from matplotlib.figure import Figure

DPI = 200
SMALL, NORMAL, LARGE = 7.5, 8.5, 10.0
"""Font sizes in points: notes and tick labels, axis labels, titles."""

# Okabe and Ito's colours, told apart by colour-blind readers
BLUE, SKY, VERMILION, GREY, PALE = "#0072B2", "#56B4E9", "#D55E00", "#5F5F5F", "#9A9A9A"

_MARGIN = 0.12
"""Inches between a caption and the edges."""

HUGE = 1e300
"""Greatest absolute value that can be drawn: axis arithmetic would overflow beyond."""

_RC: dict[str, Any] = {
    "font.family": ["DejaVu Sans"],
    "font.size": NORMAL,
    "axes.titlesize": LARGE,
    "axes.labelsize": NORMAL,
    "xtick.labelsize": SMALL,
    "ytick.labelsize": SMALL,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.edgecolor": "#404040",
    "axes.linewidth": 0.8,
    "text.parse_math": False,  # a "$" in a variant or group label is a "$"
    "text.hinting": "none",  # text measured at one resolution fits at another
    "svg.hashsalt": "goalscli",
    "pdf.fonttype": 42,
}


def _default_folders() -> list[Path]:
    """Return the folders matplotlib would write to."""
    configured = os.environ.get("MPLCONFIGDIR")
    if configured:
        return [Path(configured)]
    if not sys.platform.startswith(("linux", "freebsd")):
        return [Path.home() / ".matplotlib"]
    roots = (("XDG_CONFIG_HOME", ".config"), ("XDG_CACHE_HOME", ".cache"))
    return [Path(os.environ.get(name) or Path.home() / below) / "matplotlib" for name, below in roots]


def _ensure_config_folder() -> None:
    """Point matplotlib to a temporary folder where its own cannot be written."""
    try:
        for folder in _default_folders():
            folder.mkdir(parents=True, exist_ok=True)
            tempfile.TemporaryFile(dir=folder).close()
    except (OSError, RuntimeError):  # RuntimeError: no home folder at all
        temporary = tempfile.mkdtemp(prefix="goals-matplotlib-")
        atexit.register(shutil.rmtree, temporary, ignore_errors=True)
        os.environ["MPLCONFIGDIR"] = temporary


def _import_matplotlib() -> Any:
    """Import matplotlib so that neither an unwritable HOME nor a stale MPLBACKEND stops it."""
    if "matplotlib" not in sys.modules:
        _ensure_config_folder()
        backend = os.environ.pop("MPLBACKEND", None)
        import matplotlib

        if backend is not None:
            os.environ["MPLBACKEND"] = backend
            with contextlib.suppress(ValueError):
                matplotlib.rcParams["backend"] = backend  # the user's own pyplot keeps the choice
    import matplotlib

    return matplotlib


@contextlib.contextmanager
def styled() -> Iterator[None]:
    """Use our settings, and no one else's, for the time of drawing or writing."""
    matplotlib = _import_matplotlib()
    with matplotlib.rc_context():
        matplotlib.rcdefaults()
        matplotlib.rcParams.update(_RC)
        yield


def new_figure(width: float, height: float) -> Figure:
    """Return an empty figure of this size in inches, drawn by Agg."""
    _import_matplotlib()
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), dpi=DPI)
    FigureCanvasAgg(figure)
    return figure


def renderer(figure: Figure) -> RendererAgg:
    """Return the Agg renderer that measures text for this figure, in pixels."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    assert isinstance(figure.canvas, FigureCanvasAgg)
    agg: RendererAgg = figure.canvas.get_renderer()  # type: ignore[no-untyped-call]
    return agg


def text_width(figure: Figure, text: str, size: float) -> float:
    """Width in pixels of one line of text at this font size."""
    from matplotlib.font_manager import FontProperties

    font = FontProperties(size=size)
    agg: Any = renderer(figure)
    return float(agg.get_text_width_height_descent(text, font, ismath=False)[0])


def wrapped(figure: Figure, text: str, size: float, width: float) -> str:
    """Break text into lines of at most `width` pixels; a single longer word is broken too."""
    lines: list[str] = []
    for paragraph in text.splitlines():
        line = ""
        for word in paragraph.split():
            longer = f"{line} {word}" if line else word
            if text_width(figure, longer, size) <= width:
                line = longer
                continue
            if line:
                lines.append(line)
            line = word
            while (full := text_width(figure, line, size)) > width and len(line) > 1:
                cut = max(1, int(len(line) * width / full))
                lines.append(line[:cut])
                line = line[cut:]
        lines.append(line)
    return "\n".join(lines)


def name_y_axis(figure: Figure, axes: Axes, name: str, height: float) -> None:
    """Name the vertical axis, in lines of at most this height in inches; mathematics is not broken."""
    lines = name if "$" in name else wrapped(figure, name, NORMAL, height * figure.dpi)
    axes.set_ylabel(lines, parse_math=True)


def shortened(texts: Sequence[str], most: int) -> list[str]:
    """Leave out the middle of texts longer than `most` characters, unless two would become the same."""
    half = most // 2
    short = [text if len(text) <= most else f"{text[: most - half]}…{text[1 - half :]}" for text in texts]
    return short if len(set(short)) == len(set(texts)) else list(texts)


def line_height(size: float) -> float:
    """Height in inches of one line of text at this font size."""
    return size * 1.35 / 72


def _caption_lines(figure: Figure, text: str) -> str:
    return wrapped(figure, text, SMALL, (figure.get_figwidth() - 2 * _MARGIN) * figure.dpi)


def caption_height(figure: Figure, text: str) -> float:
    """Height in inches that a caption takes at the lower edge; 0 without text."""
    return line_height(SMALL) * len(_caption_lines(figure, text).splitlines()) + _MARGIN if text else 0.0


def add_caption(figure: Figure, text: str) -> None:
    """Write the caption along the lower edge."""
    if text:
        width, height = figure.get_size_inches()
        x, y, lines = _MARGIN / width, _MARGIN / height / 2, _caption_lines(figure, text)
        figure.text(x, y, lines, size=SMALL, color="#303030", va="bottom", gid="caption")


def add_heading(figure: Figure, title: str) -> None:
    """Write the title of the whole figure along its upper edge, wrapped to its width."""
    width = figure.get_figwidth()
    lines = wrapped(figure, title, LARGE + 1, (width - 2 * _MARGIN) * figure.dpi)
    figure.suptitle(lines, size=LARGE + 1, x=_MARGIN / width, ha="left")


def arrange(figure: Figure, bottom: float) -> None:
    """Fit the axes and all their texts into the figure above `bottom`, then leave them in place."""
    from matplotlib.layout_engine import ConstrainedLayoutEngine

    engine = ConstrainedLayoutEngine(rect=(0, bottom, 1, 1 - bottom), w_pad=0.08, h_pad=0.08)
    figure.set_layout_engine(engine)
    engine.execute(figure)
    figure.set_layout_engine("none")


def drawable(values: NDArray[np.float64]) -> tuple[NDArray[np.bool_], list[str]]:
    """Tell which values can be drawn, with a sentence that counts those that cannot.

    Parameters
    ----------
    values : (J,) float64

    Returns
    -------
    mask : (J,) bool
    notes : list of str
        Empty when every value can be drawn.
    """
    finite = np.isfinite(values)
    mask = finite & (np.abs(values) <= HUGE)
    counts = ((int((~finite).sum()), "not finite"), (int((finite & ~mask).sum()), f"beyond ±{HUGE:g}"))
    return mask, [f"{plural(n, 'value')} {what}, not drawn." for n, what in counts if n]


def plural(count: int, noun: str, many: str | None = None) -> str:
    """Write "1 value" or "3 values"; ``many`` where the plural is no mere s."""
    return f"{count:,} {noun if count == 1 else many or noun + 's'}"


def value_limits(values: NDArray[np.float64], extra: Sequence[float] = ()) -> tuple[float, float]:
    """Least and greatest of the values and of `extra`, widened where they do not differ visibly."""
    pool = np.concatenate([values, np.asarray(extra, dtype=np.float64)])
    low, high = (float(pool.min()), float(pool.max())) if pool.size else (0.0, 1.0)
    size = max(abs(low), abs(high))
    if size < 1e-250:  # axis arithmetic would underflow: all is zero to the eye
        return (-1.0 if low < 0 else 0.0), 1.0
    if high - low < 1e-6 * size:
        return low - 0.1 * size, high + 0.1 * size
    return low, high


def save(figure: Figure, path: str | Path, dpi: float = DPI) -> None:
    """Write a figure as PNG, PDF or SVG, whichever the file name ends in.

    The file appears whole or not at all, and the same figure gives the same bytes: no date is stored.

    Parameters
    ----------
    figure : Figure
    path : str or Path
        Ends in .png, .pdf or .svg. An existing file is replaced.
    dpi : float
        Dots per inch, of the whole picture in PNG and of the point clouds in PDF and SVG.

    Raises
    ------
    SettingsError
        When the suffix is none of the three, or the picture would have no pixels or more than 65,535 a side.
    OutputError
        When the file cannot be written.
    """
    path = Path(path)
    kind = path.suffix.lower()
    if kind not in (".png", ".pdf", ".svg"):
        raise SettingsError(
            f"'{path.suffix}' is not a picture format",
            where=path,
            remedy="end the name in .png, .pdf or .svg",
        )
    side = float(max(figure.get_size_inches()))
    if not (math.isfinite(dpi) and dpi >= 10 and side * dpi < 2**16):
        raise SettingsError(f"dpi {dpi:g} does not fit", remedy=f"choose 10 to {int((2**16 - 1) / side)}")
    metadata: dict[str, Any] = {".png": {}, ".pdf": {"CreationDate": None}, ".svg": {"Date": None}}[kind]
    partial = path.with_name(f"{path.name}.{os.getpid()}.partial")
    form: Literal["png", "pdf", "svg"] = kind[1:]  # type: ignore[assignment]
    try:
        with styled():
            figure.savefig(partial, format=form, dpi=dpi, metadata=metadata)
        os.replace(partial, path)
    except OSError as error:
        raise OutputError(
            f"cannot be written ({error.strerror})", where=path, remedy="check the folder and its free space"
        ) from error
    finally:
        with contextlib.suppress(OSError):
            partial.unlink(missing_ok=True)
