"""A stranger's folder with the sample data, ``goals`` and the workflows; SLURM on this machine for the while."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SLURM = ROOT / "scripts" / "one_node_slurm.sh"
GOALS = f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m goalscli "$@"\n'


@dataclass(frozen=True)
class Folder:
    """``work`` has links to data_samples and workflow; ``bin`` is first on the PATH."""

    work: Path
    bin: Path

    def program(self, text: str, name: str = "goals") -> Path:
        """Write a program that is found by its name."""
        path = self.bin / name
        path.write_text(text, "utf-8")
        path.chmod(0o755)
        return path

    def run(self, *words: str | Path, code: int | None = 0, cwd: Path | None = None) -> str:
        """What a command says, on both streams, having checked its exit code (None: any but 0)."""
        environment = os.environ | {
            "PATH": os.pathsep.join([str(self.bin), str(Path(sys.executable).parent), os.environ["PATH"]]),
            "PYTHONPATH": str(ROOT),
            "PYTHONDONTWRITEBYTECODE": "1",
            "OPENBLAS_NUM_THREADS": "1",
        }
        done = subprocess.run(
            [str(word) for word in words], cwd=cwd or self.work, env=environment, text=True, timeout=240, check=False,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL,
        )  # fmt: skip
        good = done.returncode != 0 if code is None else done.returncode == code
        assert good, f"{words}\nexit {done.returncode}\n{done.stdout}"
        return done.stdout

    def sh(self, text: str, code: int | None = 0) -> str:
        """Run a block of a page."""
        return self.run("bash", "-euo", "pipefail", "-c", text, code=code)


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    work = tmp_path / "work"
    for made in (work, tmp_path / "bin"):
        made.mkdir()
    for name in ("data_samples", "workflow"):
        (work / name).symlink_to(ROOT / name)
    folder = Folder(work, tmp_path / "bin")
    folder.program(GOALS)
    return folder


@pytest.fixture
def snakemake() -> None:
    if not (Path(sys.executable).parent / "snakemake").exists() and shutil.which("snakemake") is None:
        pytest.skip("no snakemake: pip install -e '.[workflow]'")


@pytest.fixture(scope="session")
def slurm() -> Iterator[None]:
    """SLURM of one node, ended and removed after the tests."""
    needed = ("slurmctld", "slurmd", "sbatch", "munged")
    absent = [name for name in needed if shutil.which(name) is None and not Path("/usr/sbin", name).exists()]
    if absent or os.getuid() != 0:
        pytest.skip(f"no SLURM to start here: {', '.join(absent) + ' not found' if absent else 'needs root'}")
    if subprocess.run(["sinfo"], capture_output=True, check=False).returncode == 0:
        pytest.skip("this machine is in a SLURM cluster already")
    started = subprocess.run([SLURM, "start"], capture_output=True, text=True, check=False)
    assert started.returncode == 0, started.stderr
    yield
    assert subprocess.run([SLURM, "stop"], check=False).returncode == 0
    assert not Path("/etc/slurm/slurm.conf").exists()


@pytest.fixture(scope="session")
def page() -> Callable[[str], str]:
    """The text of a page of docs/."""
    return lambda name: (ROOT / "docs" / f"{name}.md").read_text("utf-8")
