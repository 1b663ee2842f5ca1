"""What mkdocs.yml cannot say: the commands' pages, references in docstrings."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

ROLE = re.compile(r":(?:func|class|meth|attr|data|mod):<code>([\w.]+)</code>")


def on_config(config: Any) -> Any:
    """Complete the navigation."""
    docs = Path(config["docs_dir"])
    for section in config["nav"]:
        for name, pages in section.items():
            if name == "Commands":
                told = (docs / "commands.md").read_text("utf-8")
                pages += [{n: f} for n, f in re.findall(r"\[`(goals [^`]+)`\]\((commands/[\w-]+\.md)\)", told)]
    return config


def on_page_content(html: str, **_: Any) -> str:
    """Turn the references of docstrings, :func:`goalscli.scan`, into links where the name has a place in the site."""
    link = '<autoref optional identifier="{0}"><code>{1}</code></autoref>'
    return ROLE.sub(lambda role: link.format(role[1], role[1].split(".")[-1]), html)
