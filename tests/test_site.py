"""The documentation builds without complaint or network, leads nowhere wrong and fetches nothing from elsewhere."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from importlib.util import find_spec, module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

import pytest

import goalscli

ROOT = Path(__file__).resolve().parents[1]
ABSENT = [name for name in ("mkdocs", "material", "mkdocstrings", "mkdocstrings_handlers") if find_spec(name) is None]
NOWHERE = "http://127.0.0.1:9"


@pytest.fixture(scope="session")
def checker() -> ModuleType:
    spec = spec_from_file_location("check_site", ROOT / "scripts" / "check_site.py")
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    sys.modules["check_site"] = module  # a dataclass looks its module up
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if ABSENT:
        pytest.skip(f"not installed: {', '.join(ABSENT)} (extra: docs)")
    folder = tmp_path_factory.mktemp("site")
    # Any request would go to a port where nothing listens.
    environment = os.environ | {"http_proxy": NOWHERE, "https_proxy": NOWHERE, "NO_MKDOCS_2_WARNING": "1"}
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(folder)],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "WARNING" not in done.stderr
    return folder


def test_every_link_and_asset_of_the_site_is_there_and_its_own(site: Path, checker: ModuleType) -> None:
    report = checker.check(site)
    assert report.problems == []
    assert report.pages > 40
    assert all(address.startswith("https://") for address in report.external)


def test_every_page_is_in_the_navigation(site: Path) -> None:
    front = (site / "index.html").read_text("utf-8")
    pages = {p.relative_to(ROOT / "docs").with_suffix(".html").as_posix() for p in (ROOT / "docs").rglob("*.md")}
    assert {page for page in pages if f'href="{page}"' not in front} == set()


def test_every_public_name_has_its_place_in_the_reference(site: Path) -> None:
    places = set()
    for page in (site / "api").glob("*.html"):
        places |= set(re.findall(r'id="(goalscli\.[\w.]+)"', page.read_text("utf-8")))
    named = {place.rpartition(".")[2] for place in places}
    assert set(goalscli.__all__) - {"__version__"} - named == set()


def test_references_of_docstrings_are_links(site: Path) -> None:
    text = "".join(page.read_text("utf-8") for page in (site / "api").glob("*.html"))
    assert re.findall(r":(?:func|class|meth|attr|data|mod):", text) == []
    assert re.search(r'href="[^"]*#goalscli\.tables\.score_table"[^>]*><code>score_table</code>', text)


@pytest.mark.parametrize(
    ("html", "fault"),
    [
        ('<script src="https://cdn.example.org/x.js"></script>', "https://cdn.example.org/x.js is not of this site"),
        ('<script src="//cdn.example.org/x.js"></script>', "//cdn.example.org/x.js is not of this site"),
        ('<link rel="stylesheet" href="https://fonts.example.org/a.css">', "is not of this site"),
        ('<link rel="preconnect" href="https://fonts.example.org">', "is not of this site"),
        ('<img srcset="a.png 1x, https://example.org/b.png 2x">', "https://example.org/b.png is not of this site"),
        ('<img src="b.png">', "b.png leads nowhere"),
        ('<img src="../a.png">', "../a.png leads nowhere"),
        ('<a href="b.html">b</a>', "b.html leads nowhere"),
        ('<a href="a.html#there">a</a>', "a.html#there: no such anchor"),
        ('<a href="#nowhere">a</a>', "#nowhere: no such anchor"),
        ('<script>fetch("https://example.org/x")</script>', "its code names https://example.org/x"),
        ('<p style="background: url(https://example.org/b.png)">', "its code names https://example.org/b.png"),
        ('<pre class="mermaid"></pre>', "unpkg.com/mermaid"),
        ('<form action="https://example.org/"></form>', "https://example.org/ is not of this site"),
    ],
)
def test_the_check_sees(html: str, fault: str, tmp_path: Path, checker: ModuleType) -> None:
    site = tmp_path / "site"
    site.mkdir()
    (tmp_path / "a.png").touch()
    (site / "a.png").touch()
    (site / "a.html").write_text('<h1 id="here">a</h1><img src="a.png"><a href="https://example.org">out</a>')
    (site / "index.html").write_text(f'<a href="a.html#here">a</a>{html}')
    report = checker.check(site)
    assert len(report.problems) == 1
    assert fault in report.problems[0]
    assert report.external == ["https://example.org"]


def test_the_check_reads_styles(tmp_path: Path, checker: ModuleType, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "index.html").write_text('<link rel="stylesheet" href="a.css">')
    (tmp_path / "a.css").write_text(
        "a { background: url('data:image/png;base64,AA') } p { background: url(\"b.png\") }"
    )
    assert checker.check(tmp_path).problems == ["a.css: b.png leads nowhere"]
    (tmp_path / "b.png").touch()
    assert checker.main(str(tmp_path)) == 0
    (tmp_path / "a.css").write_text('@import "https://example.org/x.css";')
    assert checker.main(str(tmp_path)) == 1
    assert "a.css: https://example.org/x.css is not of this site" in capsys.readouterr().err


def test_a_folder_without_pages_is_no_site(tmp_path: Path, checker: ModuleType) -> None:
    assert checker.main(str(tmp_path)) == 1
