"""What README.md and docs/ show works when pasted: commands, Python, files, tables, links."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

import pytest

import goalscli
from goalscli import ExactGP
from goalscli.errors import SettingsError
from goalscli.kernels import KERNELS
from goalscli.scores import SCORES, score

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"
PAGES = [ROOT / "README.md", *sorted(DOCS.rglob("*.md"))]
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
RESULT = re.compile(r"`((?:demo|toy)/[\w.]+)`")


def named(page: Path) -> str:
    return page.relative_to(ROOT).with_suffix("").as_posix()


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
        run.told += done.stderr
        return done.stdout

    run.folder, run.told = work, ""
    return run


@pytest.mark.parametrize("page", [p for p in PAGES if blocks(p, "bash", "python")], ids=named)
def test_a_page_can_be_pasted_from_top_to_bottom(page: Path, paste) -> None:
    printed = [paste(kind, text) for kind, text in blocks(page, "bash", "python")]
    promised = RESULT.findall(page.read_text("utf-8"))
    assert [name for name in promised if not (paste.folder / name).stat().st_size] == []
    for _, shown in blocks(page, "text"):
        if shown.startswith("#CHROM"):
            assert_same_table(shown, next(text for text in printed if "#CHROM" in text))
        if shown.startswith("goals: error:"):
            # The page breaks the line.
            assert " ".join(shown.split()) in paste.told


def assert_same_table(shown: str, printed: str) -> None:
    """Same header and variants; numbers to what differs between machines."""
    real = [line.split("\t") for line in printed.splitlines() if "\t" in line]
    told = [line.split() for line in shown.splitlines()]
    assert told[0] == real[0]
    assert len(told) == len(real)
    for a, b in zip(told[1:], real[1:], strict=True):
        assert a[:5] == b[:5]
        assert [float(v) for v in a[5:]] == pytest.approx([float(v) for v in b[5:]], rel=1e-4)


def script(name: str) -> ModuleType:
    spec = spec_from_file_location(name, ROOT / "scripts" / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_commands_pages_are_the_help_of_today() -> None:
    assert script("make_command_docs").drift() == [], "run: python scripts/make_command_docs.py"


def test_drift_of_the_commands_pages_is_seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = script("make_command_docs")
    shutil.copytree(DOCS, tmp_path / "docs")
    monkeypatch.setattr(made, "DOCS", tmp_path / "docs")
    pages = tmp_path / "docs" / "commands"
    (pages / "gone.md").write_text("# goals gone\n")
    (pages / "top.md").unlink()
    (pages / "run.md").write_text("# goals run\n")
    assert made.drift() == ["gone.md: no such command", "run.md: differs", "top.md: missing"]
    made.write()
    assert made.drift() == []


def test_every_command_has_a_page_and_an_example_where_the_docs_have_one() -> None:
    told = {page.stem: page.read_text("utf-8") for page in (DOCS / "commands").glob("*.md")}
    assert {"run", "fit", "plot", "plot-manhattan", "plot-local", "simulate-cohort"} <= set(told)
    example = re.search(r"^For example, from \[.*\]\(\.\./(.*)\):\n\n```sh\n(.*?)\n```$", told["run"], re.M | re.S)
    assert example is not None
    assert example[2] in (DOCS / example[1]).read_text("utf-8")


def test_a_help_on_the_commands_page_is_what_the_command_prints(paste) -> None:
    told = re.search(r"^# goals plot local\n\n```text\n(.*?)^```", _commands(), re.MULTILINE | re.DOTALL)
    assert told is not None
    printed = paste("bash", "goals plot local --help").split("\n", 1)[1]
    # The first line has the program's name, and lines break elsewhere on a narrower terminal.
    assert printed.split() == told[1].split("\n", 1)[1].split()


def _commands() -> str:
    pages = (DOCS / "commands.md", *sorted((DOCS / "commands").glob("*.md")))
    return "".join(page.read_text("utf-8") for page in pages)


@pytest.mark.parametrize("page", PAGES, ids=named)
def test_links_lead_somewhere(page: Path) -> None:
    text = re.sub(r"^```.*?^```$", "", page.read_text("utf-8"), flags=re.MULTILINE | re.DOTALL)
    links = re.findall(r"\]\(([^)#]+)", text)
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


def test_the_table_of_kernels_and_scores_is_true() -> None:
    text = (DOCS / "models.md").read_text("utf-8")
    rows = [
        [cell.strip() for cell in row.strip("|").split(" | ")] for row in re.findall(r"^\|.*\|$", text, re.MULTILINE)
    ]
    head, _, *body = rows[: 2 + len(KERNELS)]
    assert head[-len(SCORES) :] == list(SCORES)
    assert [re.findall(r"`(\w+)`", row[0])[0] for row in body] == list(KERNELS)
    for name, row in zip(KERNELS, body, strict=True):
        assert ("default" in row[0]) == (name == ExactGP().kernel)
        for given, cell in zip(SCORES, row[-len(SCORES) :], strict=True):
            try:
                ExactGP(kernel=name).check_scores([score(given).needs])
                possible = "yes"
            except SettingsError:
                possible = "no"
            assert cell.split(":")[0] == possible, (name, given)
