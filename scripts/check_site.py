"""Check a built site: ``python scripts/check_site.py site``. No page may fetch anything from another host.

Every link inside the site leads to a page and an anchor that exist, and every script, style and image is a file of the
site. Links to other sites are listed, not followed.
"""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

REMOTE = re.compile(r"^(?:[a-z][a-z+.-]*:)?//", re.IGNORECASE)
STYLE_URL = re.compile(r"""url\(\s*['"]?([^'")]+)|@import\s+['"]([^'"]+)""")
SOURCES = {"src", "srcset", "poster", "data", "xlink:href", "action", "background"}
"""Attributes whose address a browser fetches or sends to."""


@dataclass
class Page(HTMLParser):
    """What one page links to, and what can be linked to in it."""

    path: Path
    anchors: set[str] = field(default_factory=set)
    links: list[str] = field(default_factory=list)
    assets: list[str] = field(default_factory=list)
    code: list[str] = field(default_factory=list)
    _inside: str = ""

    def __post_init__(self) -> None:
        super().__init__()
        self.feed(self.path.read_text("utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        told = {name: value or "" for name, value in attrs}
        self._inside = tag
        self.anchors |= {told[name] for name in ("id", "name") if name in told}
        self.code += [told["style"]] if "style" in told else []
        for name in SOURCES & set(told):
            addresses = told[name].split(",") if name == "srcset" else [told[name]]
            self.assets += [address.split()[0] for address in addresses if address.strip()]
        if "href" in told:
            (self.links if tag in ("a", "area") else self.assets).append(told["href"])
        if "mermaid" in told.get("class", "").split():
            self.assets.append("https://unpkg.com/mermaid (a diagram: the theme would fetch the program for it)")

    def handle_endtag(self, tag: str) -> None:
        self._inside = ""

    def handle_data(self, data: str) -> None:
        if self._inside in ("script", "style"):
            self.code.append(data)


@dataclass(frozen=True)
class Report:
    """What is wrong with a site, and where it leads out."""

    pages: int
    problems: list[str]
    external: list[str]


def check(site: Path) -> Report:
    """Check all pages and styles of a built site."""
    site = site.resolve()
    pages = {path: Page(path) for path in sorted(site.rglob("*.html"))}
    problems, external = [], set()
    for path, page in pages.items():
        name = path.relative_to(site)
        faults = (_fault(address, path, site, pages) for address in page.assets)
        problems += [f"{name}: {fault}" for fault in faults if fault]
        named = (url for text in page.code for url in re.findall(r"https?://[\w./-]+", text))
        problems += [f"{name}: its code names {url}" for url in named]
        for address in page.links:
            if REMOTE.match(address) or urlsplit(address).scheme in ("http", "https", "mailto"):
                external.add(address)
            elif fault := _fault(address, path, site, pages):
                problems.append(f"{name}: {fault}")
    for path in sorted(site.rglob("*.css")):
        found = (a or b for a, b in STYLE_URL.findall(path.read_text("utf-8")))
        faults = (_fault(address, path, site, pages) for address in found)
        problems += [f"{path.relative_to(site)}: {fault}" for fault in faults if fault]
    return Report(len(pages), problems, sorted(external))


def _fault(address: str, path: Path, site: Path, pages: dict[Path, Page]) -> str | None:
    """Say what is wrong with an address that should lead into the site, or None."""
    if address.startswith("data:"):
        return None
    if REMOTE.match(address) or urlsplit(address).scheme:
        return f"{address} is not of this site"
    parts = urlsplit(address)
    start = site if parts.path.startswith("/") else path.parent
    target = (start / unquote(parts.path).lstrip("/")).resolve() if parts.path else path
    if target.is_dir():
        target = target / "index.html"
    if not target.is_relative_to(site) or not target.is_file():
        return f"{address} leads nowhere"
    if parts.fragment and target in pages and unquote(parts.fragment) not in pages[target].anchors:
        return f"{address}: no such anchor"
    return None


def main(site: str) -> int:
    """Print what is wrong; 1 where anything is."""
    report = check(Path(site))
    for address in report.external:
        print(f"leads out: {address}")
    for problem in report.problems:
        print(problem, file=sys.stderr)
    print(f"{report.pages} pages, {len(report.problems)} problems")
    return 1 if report.problems or not report.pages else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1] if len(sys.argv) > 1 else "site"))
