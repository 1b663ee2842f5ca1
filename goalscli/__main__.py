"""``python -m goalscli`` is the ``goals`` command."""

from __future__ import annotations

from goalscli.cli import main

main()
