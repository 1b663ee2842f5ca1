"""docs/mice.md does what it says, on the mice of Debian's package gemma-doc; skipped where they are not installed."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from goalscli import load_model, read_scores
from goalscli.jobs.results import Scores

ROOT = Path(__file__).resolve().parents[1]
PAGE = (ROOT / "docs" / "mice.md").read_text("utf-8")
HS = Path("/usr/share/doc/gemma/example/mouse_hs1940")
PARTS = ("geno.txt.gz", "anno.txt.gz", "pheno.txt.gz", "fam.gz")
BLOCK = re.compile(r"^```sh\n(.*?)^```$", re.MULTILINE | re.DOTALL)
FIRST, LOCO, GEMMA = re.split(r"^## (?:Without the chromosome|Beside GEMMA)$", PAGE, flags=re.MULTILINE)
LINE = -np.log10(0.05 / 10087)

pytestmark = pytest.mark.skipif(
    not all(HS.with_name(f"{HS.name}.{part}").is_file() for part in PARTS),
    reason="the mice are not here (Debian and Ubuntu: apt-get install gemma-doc)",
)


def paste(folder: Path, text: str) -> str:
    """Run the ``sh`` blocks of a text in one shell, but the installation; return what they printed."""
    goals = folder / "bin" / "goals"
    goals.parent.mkdir(exist_ok=True)
    goals.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m goalscli "$@"\n')
    goals.chmod(0o755)
    blocks = [block for block in BLOCK.findall(text) if not block.startswith("apt-get ")]
    assert blocks
    environment = os.environ | {"PATH": f"{goals.parent}{os.pathsep}{os.environ['PATH']}", "PYTHONPATH": str(ROOT)}
    program = ["bash", "-euo", "pipefail", "-c", f"HS={HS}\n" + "".join(blocks)]
    done = subprocess.run(program, cwd=folder, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def pasted(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """A folder in which the first part of the page was pasted, and what it printed."""
    folder = tmp_path_factory.mktemp("mice")
    return folder, paste(folder, FIRST)


@pytest.fixture(scope="module")
def default(pasted: tuple[Path, str]) -> Scores:
    return read_scores(pasted[0] / "hs" / "cd8.scores.h5")


def test_the_table_is_the_one_on_the_page(pasted: tuple[Path, str]) -> None:
    shown = re.search(r"^```text\n(#CHROM.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    assert shown is not None
    told = [line.split() for line in shown[1].splitlines()]
    at = pasted[1].index("#CHROM")
    real = [line.split("\t") for line in pasted[1][at:].splitlines()[: len(told)]]
    assert told[0] == real[0]
    for a, b in zip(told[1:], real[1:], strict=True):
        assert a[:5] == b[:5]
        assert [float(v) for v in a[5:]] == pytest.approx([float(v) for v in b[5:]], rel=1e-4)


def test_the_mhc_is_found(pasted: tuple[Path, str], default: Scores) -> None:
    table = default.table()
    assert len(table) == 10087
    assert len(default.samples["iid"]) == 1410
    called = table[table["NEG_LOG10_P"] > LINE]
    assert called["#CHROM"].value_counts().to_dict() == {"17": 27, "1": 2}
    best = called[(called["#CHROM"] == "17") & (called["POS"] > 0)].nlargest(6, "NEG_LOG10_P")
    assert best["POS"].between(32_000_000, 38_000_000).all()
    assert called.loc[called["#CHROM"] == "1", "POS"].between(173_000_000, 175_000_000).all()
    assert (table["POS"] == 0).sum() == 1543
    assert default.score_attributes["goals"]["lambda_gc"] == pytest.approx(0.745, abs=1e-3)
    _, posterior, _ = load_model(pasted[0] / "hs" / "cd8.model.h5")
    assert (posterior.pve, posterior.pve_se) == pytest.approx((0.847, 0.038), abs=1e-3)
    for name in ("manhattan.png", "local.png"):
        assert (pasted[0] / "hs" / f"cd8.{name}").stat().st_size > 10_000


@pytest.mark.slow
def test_loco_finds_more(pasted: tuple[Path, str]) -> None:
    paste(pasted[0], LOCO)
    read = read_scores(pasted[0] / "hs" / "loco.scores.h5")
    table = read.table()
    chromosomes = table.loc[table["NEG_LOG10_P_LOCO"] > LINE, "#CHROM"].value_counts().to_dict()
    assert chromosomes == {"17": 60, "2": 44, "1": 18, "3": 17}
    assert read.score_attributes["goals"]["loco_lambda_gc"] == pytest.approx(1.71, abs=0.01)


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("gemma") is None, reason="gemma is not on the PATH")
def test_gemma_agrees_as_the_page_says(pasted: tuple[Path, str], default: Scores) -> None:
    paste(pasted[0], GEMMA)
    gemma = pd.read_table(pasted[0] / "output" / "cd8.assoc.txt")
    theirs = -np.log10(gemma["p_score"].to_numpy())
    linear = read_scores(pasted[0] / "hs" / "linear.scores.h5")
    for read, correlation, rank, shared, called in ((default, 0.978, 0.892, 9, 29), (linear, 0.992, 0.976, 10, 30)):
        table = read.table()
        assert table["ID"].tolist() == gemma["rs"].tolist()
        assert table["A1"].tolist() == gemma["allele1"].tolist()
        ours = table["NEG_LOG10_P"].to_numpy()
        assert np.corrcoef(theirs, ours)[0, 1] == pytest.approx(correlation, abs=1e-3)
        assert pd.Series(theirs).rank().corr(pd.Series(ours).rank()) == pytest.approx(rank, abs=1e-3)
        assert len({*np.argsort(-theirs)[:10]} & {*np.argsort(-ours)[:10]}) == shared
        assert (np.sum(theirs > LINE), np.sum(ours > LINE)) == (26, called)
        assert np.sum((theirs > LINE) & (ours > LINE)) == 26
        clear = ours > 2
        assert (np.sign(table["EFFECT"])[clear] == np.sign(gemma["beta"])[clear]).all()
    _, additive, _ = load_model(pasted[0] / "hs" / "linear.model.h5")
    assert (additive.pve, additive.pve_se) == pytest.approx((0.603, 0.033), abs=1e-3)
    told = (pasted[0] / "output" / "cd8.log.txt").read_text()
    assert float(re.search(r"pve estimate in the null model = (\S+)", told)[1]) == pytest.approx(0.609, abs=1e-3)
