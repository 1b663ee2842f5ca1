"""What README.md and docs/ show works when pasted: commands, Python, files, tables, links."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import pytest

import goalscli

ROOT = Path(__file__).resolve().parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
RESULT = re.compile(r"`((?:demo|toy)/[\w.]+)`")


def blocks(page: Path, *languages: str) -> list[tuple[str, str]]:
    return [(kind, text) for kind, text in BLOCK.findall(page.read_text("utf-8")) if kind in languages]


@pytest.fixture
def paste(tmp_path: Path):
    """A stranger's folder with the sample data, ``goals`` on the PATH and nothing else of ours."""
    (tmp_path / "bin").mkdir()
    goals = tmp_path / "bin" / "goals"
    goals.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m goalscli "$@"\n')
    goals.chmod(0o755)
    work = tmp_path / "work"
    work.mkdir()
    (work / "data_samples").symlink_to(ROOT / "data_samples")
    environment = os.environ | {
        "PATH": f"{goals.parent}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": str(ROOT),
        "PYTHONDONTWRITEBYTECODE": "1",
    }

    def run(kind: str, text: str) -> str:
        program = ["bash", "-euo", "pipefail", "-c"] if kind == "bash" else [sys.executable, "-c"]
        done = subprocess.run([*program, text], cwd=work, env=environment, capture_output=True, text=True)
        assert done.returncode == 0, f"{text}\nexit {done.returncode}\n{done.stderr}"
        return done.stdout

    run.folder = work
    return run


@pytest.mark.parametrize("page", [p for p in PAGES if blocks(p, "bash", "python")], ids=lambda p: p.stem)
def test_a_page_can_be_pasted_from_top_to_bottom(page: Path, paste) -> None:
    printed = [paste(kind, text) for kind, text in blocks(page, "bash", "python")]
    promised = RESULT.findall(page.read_text("utf-8"))
    assert [name for name in promised if not (paste.folder / name).stat().st_size] == []
    for _, shown in blocks(page, "text"):
        if shown.startswith("#CHROM"):
            assert_same_table(shown, next(text for text in printed if "#CHROM" in text))


def assert_same_table(shown: str, printed: str) -> None:
    """Same header and variants; numbers to what differs between machines."""
    real = [line.split("\t") for line in printed.splitlines() if "\t" in line]
    told = [line.split() for line in shown.splitlines()]
    assert told[0] == real[0]
    assert len(told) == len(real)
    for a, b in zip(told[1:], real[1:], strict=True):
        assert a[:5] == b[:5]
        assert [float(v) for v in a[5:]] == pytest.approx([float(v) for v in b[5:]], rel=1e-4)


def test_the_commands_page_is_the_help_of_today() -> None:
    spec = spec_from_file_location("make_command_docs", ROOT / "scripts" / "make_command_docs.py")
    assert spec is not None
    assert spec.loader is not None
    script = module_from_spec(spec)
    spec.loader.exec_module(script)
    assert script.PAGE.read_text("utf-8") == script.page(), "run: python scripts/make_command_docs.py"


def test_a_help_on_the_commands_page_is_what_the_command_prints(paste) -> None:
    told = dict(re.findall(r"^## (goals.*?)\n\n```text\n(.*?)^```", _commands(), re.MULTILINE | re.DOTALL))
    assert {"goals run", "goals plot local", "goals simulate cohort"} <= set(told)
    printed = paste("bash", "goals plot local --help").split("\n", 1)[1]
    # The first line has the program's name, and lines break elsewhere on a narrower terminal.
    assert printed.split() == told["goals plot local"].split("\n", 1)[1].split()


def _commands() -> str:
    return (ROOT / "docs" / "commands.md").read_text("utf-8")


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.stem)
def test_links_lead_somewhere(page: Path) -> None:
    links = re.findall(r"\]\(([^)#]+)", page.read_text("utf-8"))
    assert [link for link in links if "://" not in link and not (page.parent / link).exists()] == []


def test_options_named_in_the_text_exist() -> None:
    known = set(re.findall(r"--[a-z][a-z-]+", _commands()))
    plink = {"--make-bed", "--export", "--nonfounders"}
    slurm = {"--parsable", "--dependency", "--array", "--requeue", "--signal"}
    slurm |= {"--job-name", "--cpus-per-task", "--mem", "--time", "--output", "--open-mode"}
    snakemake = {"--snakefile", "--directory", "--profile", "--config", "--configfile", "--wrapper-prefix"}
    snakemake |= {"--slurm-no-account", "--slurm-status-command"}
    others = plink | slurm | snakemake | {"--outdir"}
    # docs/docker.md is of the options of docker, podman, apptainer and sbatch.
    for page in (page for page in PAGES if page.stem != "docker"):
        named = set(re.findall(r"--[a-z][a-z-]+", page.read_text("utf-8")))
        assert named - known - others == set(), page.name


def test_every_public_name_is_on_the_python_page() -> None:
    text = (ROOT / "docs" / "python.md").read_text("utf-8")
    absent = [name for name in goalscli.__all__ if name != "__version__" and f"`{name}`" not in text]
    assert absent == []
