"""What the benchmarks share: data, commands in fresh processes with their peak memory, repetition, one table."""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
MICE = ROOT.parent / "shared/data/hs_mice/hs1814"
sys.path.insert(0, str(ROOT))

# A process's peak starts at that of the process that forked it, so a small one (no site packages, no numpy) forks.
_RUNNER = """
import json, os, resource, sys, time
start = time.perf_counter()
child = os.fork()
if child == 0:
    os.dup2(2, 1)
    os.execvp(sys.argv[1], sys.argv[1:])
_, status, usage = os.wait4(child, 0)
unit = 1 if sys.platform == "darwin" else 1024
print(json.dumps([time.perf_counter() - start, usage.ru_maxrss * unit, os.waitstatus_to_exitcode(status)]))
"""


@dataclass(frozen=True)
class Run:
    """Wall time in seconds and peak resident memory in bytes of a command."""

    seconds: float
    peak: int


@dataclass(frozen=True)
class Data:
    """PLINK prefix, phenotype table, its trait, and the options that name the groups of the picture."""

    bfile: str
    pheno: str
    trait: str
    groups: tuple[str, ...]

    def options(self) -> list[str]:
        return ["--bfile", self.bfile, "--pheno", self.pheno, "--pheno-name", self.trait, *self.groups]


@dataclass
class Table:
    """The table a benchmark prints; ``judge`` says whether the sizes are such that the aims mean something."""

    title: str
    judge: bool = True

    def __post_init__(self) -> None:
        self._rows: list[tuple[str, str, str, str]] = [("what", "measured", "ratio", "aim")]

    def add(self, what: str, measured: str, ratio: str = "", aim: str = "", met: bool | None = None) -> None:
        verdict = "" if met is None or not self.judge else " (met)" if met else " (not met)"
        self._rows.append((what, measured, ratio, aim + verdict))

    def show(self) -> None:
        width = [max(len(row[k]) for row in self._rows) for k in range(4)]
        print(f"\n{self.title}")
        for row in self._rows:
            print("  ".join(cell.ljust(w) for cell, w in zip(row, width, strict=True)).rstrip())


def parser(description: str | None) -> argparse.ArgumentParser:
    options = argparse.ArgumentParser(description=description)
    options.add_argument("--smoke", action="store_true", help="a tiny simulated cohort, once: does it still run?")
    options.add_argument("--repeat", type=int, default=3, help="the best of so many is reported (default 3)")
    return options


@contextmanager
def workspace() -> Iterator[Path]:
    """Yield a temporary folder; commands keep their bytecode there, so that only the first one compiles its imports.

    An installed package is compiled already; a checkout, or PYTHONDONTWRITEBYTECODE, would add a second a command.
    """
    with tempfile.TemporaryDirectory() as name:
        os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
        os.environ["PYTHONPYCACHEPREFIX"] = f"{name}/bytecode"
        yield Path(name)


def command(argv: Sequence[str], cwd: Path | None = None) -> Run:
    """Run once in a fresh process; stops the benchmark, showing the output, where the command fails."""
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", _RUNNER, *argv], cwd=cwd, env=environment, capture_output=True, text=True
    )
    if done.returncode:
        sys.exit(f"{' '.join(argv)}\n{done.stderr}")
    seconds, peak, status = json.loads(done.stdout)
    if status:
        sys.exit(f"{' '.join(argv)}\nexit status {status}\n{done.stderr}")
    return Run(seconds, peak)


def goals(*argv: str) -> Run:
    return command([sys.executable, "-m", "goalscli", *argv])


def best_run(repeat: int, job: Callable[[], Run]) -> Run:
    """Return the least time and the greatest peak of ``repeat`` runs."""
    runs = [job() for _ in range(repeat)]
    return Run(min(r.seconds for r in runs), max(r.peak for r in runs))


def best_time(repeat: int, job: Callable[[], object]) -> float:
    times = []
    for _ in range(repeat):
        start = time.perf_counter()
        job()
        times.append(time.perf_counter() - start)
    return min(times)


def simulated(folder: Path, n_samples: int, n_variants: int, n_chromosomes: int = 5) -> Data:
    """Simulate a cohort and a trait, in processes of their own."""
    prefix = str(folder / f"simulated{n_variants}")
    sizes = {"samples": n_samples, "variants": n_variants, "chromosomes": n_chromosomes}
    goals("simulate", "cohort", "--out", prefix, *(w for k, v in sizes.items() for w in (f"--n-{k}", str(v))))
    goals("simulate", "trait", "--bfile", prefix)
    return Data(prefix, f"{prefix}.trait.pheno.tsv", "trait", ("--groups", f"{prefix}.groups.tsv"))


def mb(size: float) -> str:
    return f"{size / 1e6:,.0f} MB"


def load() -> str:
    """Say how busy the machine is: products on shared cores are slow, and the times and ratios then worthless."""
    count, busy = os.cpu_count() or 1, os.getloadavg()[0]
    return f"{count} CPUs, load {busy:.1f}" + (": BUSY, DO NOT QUOTE" if busy > 0.5 * count else "")
