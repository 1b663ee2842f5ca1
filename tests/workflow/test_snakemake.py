"""The Snakemake workflow on this machine: the page's command, stopped jobs, configuration."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from helpers import assert_same, make_data

from workflow.conftest import Folder
from workflow.stopping import program

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("snakemake")]
SMALL = """
traits: [A, B]
options:
  genotypes: [--bfile, "{data}/d"]
  tables: [--pheno, "{data}/pheno.tsv"]
  scan: [--local, "top:7"]
  local: [--min-group-size, 2]
gram_parts: 0
scan_parts: 3
plots: []
report: false
"""


def small(folder: Folder, *more: str, code: int | None = 0) -> str:
    """Run the workflow on two traits of a small cohort."""
    if not (folder.work / "d.bed").exists():
        make_data(folder.work)
        (folder.work / "small.yaml").write_text(SMALL)
    return folder.run(
        "snakemake", "--snakefile", "workflow/Snakefile", "--directory", "out",
        "--profile", "workflow/profiles/default", "--configfile", "small.yaml", "--config", f"data={folder.work}",
        *more, code=code,
    )  # fmt: skip


def assert_unsplit(folder: Folder, results: Path, trait: str, *options: str) -> None:
    """The merged scores are those of a scan that was never split, bit for bit."""
    folder.run("goals", "scan", results / f"{trait}.model.h5", "--out", f"unsplit.{trait}", "--threads", "1", *options)
    assert_same(results / f"{trait}.scores.h5", folder.work / f"unsplit.{trait}.scores.h5")


def test_the_command_of_the_page(folder: Folder, page: Callable[[str], str]) -> None:
    text = page("snakemake")
    command = re.findall(r"^```sh\n(.*?)^```", text, re.MULTILINE | re.DOTALL)[0]
    assert "demo/snakemake" in command
    folder.sh(command)
    results = folder.work / "demo" / "snakemake" / "results"
    promised = re.findall(r"`TRAIT\.([\w.]+)`", text)
    assert len(promised) == 8
    for trait in ("weight", "marker"):
        assert [name for name in promised if not (results / f"{trait}.{name}").stat().st_size] == []
        assert_unsplit(folder, results, trait)
    assert list(results.glob("*.part-*.h5*")) == []
    assert "Nothing to be done" in folder.sh(command)


@pytest.mark.parametrize("retries", [0, 1], ids=["the next call", "the next attempt"])
def test_a_stopped_part_goes_on(folder: Folder, retries: int) -> None:
    reached = folder.work / "reached"
    folder.program(program(reached, by_itself=True, chunk_size=16))
    small(folder, "traits=[A]", f"retries={retries}", code=1 if retries == 0 else 0)
    assert reached.exists()
    if retries == 0:
        assert (folder.work / "out/results/A.part-2-of-3.h5.partial").exists()
        small(folder, "traits=[A]")
    log = (folder.work / "out/logs/scan.A.2-of-3.log").read_text()
    assert re.findall(r"resuming: (\d+) of", log) == ["32"]
    assert_unsplit(folder, folder.work / "out/results", "A", "--local", "top:7")


def test_wrong_configuration_is_refused(folder: Folder) -> None:
    assert "scan_parts" in small(folder, "scan_parts=0", "--dry-run", code=1)
    assert "scan_prats" in small(folder, "scan_prats=2", "--dry-run", code=1)
    folder.work.joinpath("small.yaml").write_text(SMALL.replace("top:7", 'top:7", "--resume'))
    assert "--resume" in small(folder, "--dry-run", code=1)


def test_steps_can_be_switched(folder: Folder) -> None:
    def steps(*more: str) -> dict[str, str]:
        return dict(re.findall(r"^(check|gram) +(\d+)", small(folder, *more, "--dry-run"), re.MULTILINE))

    assert steps() == {"check": "2"}
    assert steps("check=False") == {}
    assert steps("gram_parts=2") == {"check": "2", "gram": "4"}


def test_a_newer_table_leads_to_a_new_fit(folder: Folder) -> None:
    small(folder, "traits=[A]", "scan_parts=1")
    assert "Nothing to be done" in small(folder, "traits=[A]", "scan_parts=1")
    table = folder.work / "pheno.tsv"
    table.write_text(table.read_text() + "\n")
    again = small(folder, "traits=[A]", "scan_parts=1", "--dry-run")
    assert re.search(r"^fit +1", again, re.MULTILINE)


def test_wrappers(folder: Folder) -> None:
    def call(name: str, *targets: str) -> None:
        snakefile = f"workflow/wrappers/goalscli/{name}/test/Snakefile"
        prefix = f"file://{(folder.work / 'workflow').resolve()}/wrappers/"
        folder.run("snakemake", "--snakefile", snakefile, "--cores", "2", "--wrapper-prefix", prefix, *targets)

    call("fit", "out/weight.model.h5")
    call("scan", "out/weight.scores.h5", *(f"out/weight.part-{k}-of-2.h5" for k in (1, 2)))
    parts = sorted((folder.work / "out").glob("weight.part-*.h5"))
    folder.run("goals", "merge", *parts, "--out", "merged")
    assert_same(folder.work / "merged.scores.h5", folder.work / "out/weight.scores.h5")
    for name in ("fit", "scan"):
        place = folder.work / "workflow/wrappers/goalscli" / name
        assert {"meta.yaml", "environment.yaml", "wrapper.py", "test"} <= {p.name for p in place.iterdir()}
