"""HTML by small functions; every text is escaped, and nothing is fetched from elsewhere."""

from __future__ import annotations

import base64
import html
import math
import struct
from collections.abc import Iterable, Mapping, Sequence
from importlib.resources import files
from string import Template
from typing import Any


def text(value: Any) -> str:
    """Escape what a file says; numbers to four digits, whole ones in full."""
    if isinstance(value, bool) or value is None:
        return {True: "yes", False: "no", None: "none"}[value]
    if isinstance(value, float):
        return html.escape(f"{value:.4g}" if math.isfinite(value) else "NA")
    if isinstance(value, int):
        return f"{value:,}"
    return html.escape(str(value))


def paragraph(*sentences: str) -> str:
    """Return one paragraph of plain sentences."""
    return f"<p>{text(' '.join(sentences))}</p>\n"


def points(sentences: Iterable[str]) -> str:
    """Return a list of plain sentences."""
    return "<ul>\n" + "".join(f"<li>{text(each)}</li>\n" for each in sentences) + "</ul>\n"


def facts(caption: str, rows: Mapping[str, Any]) -> str:
    """Return a table of two columns: what, and its value."""
    body = "".join(
        f'<tr><th scope="row">{text(name)}</th><td>{text(value)}</td></tr>\n' for name, value in rows.items()
    )
    return f'<div class="wide"><table class="facts"><caption>{text(caption)}</caption>\n{body}</table></div>\n'


def table(caption: str, head: Sequence[str], rows: Iterable[Sequence[Any]], *, words: Sequence[str] = ()) -> str:
    """Return a table with a header row; columns named in ``words`` are left-aligned, others are of numbers."""
    kinds = ["" if name in words else ' class="number"' for name in head]
    names = [_breakable(name) for name in head]
    titles = "".join(f'<th scope="col"{kind}>{name}</th>' for name, kind in zip(names, kinds, strict=True))
    many = ' class="many"' if len(head) > 14 else ""
    body = ""
    for row in rows:
        cells = "".join(f"<td{kind}>{text(_aligned(value))}</td>" for value, kind in zip(row, kinds, strict=True))
        body += f"<tr>{cells}</tr>\n"
    return (
        f'<div class="wide"><table{many}><caption>{text(caption)}</caption>\n'
        f"<thead><tr>{titles}</tr></thead>\n<tbody>\n{body}</tbody></table></div>\n"
    )


def _breakable(name: str) -> str:
    """Let a long name such as NEG_LOG10_P_LOCO break at the underscore nearest to its middle."""
    marks = [i for i, letter in enumerate(name) if letter == "_"]
    if not marks:
        return text(name)
    cut = 1 + min(marks, key=lambda i: abs(i - len(name) / 2))
    return f"{text(name[:cut])}<wbr>{text(name[cut:])}"


def _aligned(value: Any) -> Any:
    """Keep the zeros at the end of a number, so that those of a column end alike."""
    return f"{value:#.4g}" if isinstance(value, float) and math.isfinite(value) else value


def picture(png: bytes, caption: str, alt: str) -> str:
    """Return a PNG inside the page, with a caption and what it shows in words."""
    width, height = struct.unpack(">II", png[16:24])
    data = base64.b64encode(png).decode()
    source = f"data:image/png;base64,{data}"
    # As wide as the text, but letters no larger than those of the widest pictures (10 inches).
    share = min(1.0, round(width / 1500, 2))
    return (
        f'<figure class="wide"><img style="--share: {share}" src="{source}" alt="{text(alt)}"'
        f' width="{width}" height="{height}">'
        f"<figcaption>{text(caption)}</figcaption></figure>\n"
    )


def section(title: str, content: str) -> str:
    """Return a section under its title."""
    name = anchor(title)
    head = f'<h2 id="{name}-title">{text(title)}</h2>'
    return f'<section id="{name}" aria-labelledby="{name}-title">\n{head}\n{content}</section>\n'


def anchor(title: str) -> str:
    """Name of a section inside the page's address."""
    return "".join(letter if letter.isalnum() else "-" for letter in title.lower())


def document(title: str, lead: str, sections: Sequence[tuple[str, str]]) -> str:
    """Return the whole page: its title, what stands above all, and the sections with a list of them."""
    links = "".join(f'<li><a href="#{anchor(name)}">{text(name)}</a></li>\n' for name, _ in sections)
    return Template(_resource("report.html")).substitute(
        title=text(title),
        style=_resource("report.css"),
        lead=lead,
        contents=links,
        sections="".join(section(name, content) for name, content in sections),
    )


def _resource(name: str) -> str:
    return files(__package__ or "goalscli.jobs.report").joinpath(name).read_text(encoding="utf-8")
