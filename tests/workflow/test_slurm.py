"""The scripts of docs/slurm.md, and the Snakemake workflow, on a real SLURM of one node."""

from __future__ import annotations

import os
import re
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from helpers import assert_same

from workflow.conftest import SLURM, Folder
from workflow.stopping import program

pytestmark = pytest.mark.slow


def write_scripts(folder: Folder, text: str) -> list[str]:
    """Write each script of the page under the name before it."""
    scripts = dict(re.findall(r"^`([\w.]+)`:\n\n```sh\n(.*?)^```", text, re.MULTILINE | re.DOTALL))
    for name, script in scripts.items():
        folder.work.joinpath(name).write_text(script)
    return list(scripts)


def state(job: str) -> dict[str, str]:
    """JobState, ExitCode and the rest, as SLURM tells them, of a job or an array's task."""
    told = subprocess.run(["scontrol", "--oneliner", "show", "job", job], capture_output=True, text=True, check=True)
    return dict(re.findall(r"(\w+)=(\S*)", told.stdout.splitlines()[0]))


def wait(done: Callable[[], bool], what: str, seconds: float = 90) -> None:
    end = time.monotonic() + seconds
    while not done():
        assert time.monotonic() < end, f"{what}: not within {seconds} s"
        time.sleep(0.2)


def wait_for(job: str, wanted: str = "COMPLETED") -> None:
    over = {"COMPLETED", "FAILED", "CANCELLED", "TIMEOUT", "NODE_FAIL", "OUT_OF_MEMORY", wanted}
    wait(lambda: state(job)["JobState"] in over, f"job {job}")
    assert state(job)["JobState"] == wanted, state(job)


def unsplit(folder: Folder) -> Path:
    folder.run("goals", "scan", "cluster/weight.model.h5", "--out", "unsplit", "--threads", "1")
    return folder.work / "unsplit.scores.h5"


def test_a_foreign_slurm_conf_is_left_alone() -> None:
    conf = Path("/etc/slurm/slurm.conf")
    if os.getuid() != 0 or not conf.parent.is_dir() or conf.exists():
        pytest.skip("needs root, and SLURM installed but not set up")
    try:
        conf.write_text("ClusterName=foreign\n")
        for verb in ("start", "stop"):
            done = subprocess.run([SLURM, verb], capture_output=True, text=True, check=False)
            assert done.returncode == 2
            assert "left alone" in done.stderr
        assert conf.read_text() == "ClusterName=foreign\n"
    finally:
        conf.unlink()


@pytest.mark.usefixtures("slurm")
def test_the_scripts_of_the_page(folder: Folder, page: Callable[[str], str]) -> None:
    names = write_scripts(folder, page("slurm"))
    assert names == ["fit.sbatch", "scan.sbatch", "merge.sbatch", "submit.sh", "gram.sbatch"]
    gram = folder.run("sbatch", "--parsable", "gram.sbatch").strip()
    merge = folder.sh((folder.work / "submit.sh").read_text()).strip()
    wait_for(merge)
    assert_same(folder.work / "cluster/weight.scores.h5", unsplit(folder))
    wait_for(gram)
    assert len(list((folder.work / "cluster").glob("weight.gram-*-of-2.h5"))) == 2
    pattern = re.findall(r"`goals fit` is then given `--gram '(.+?)'`", page("slurm"))
    fit = (folder.work / "fit.sbatch").read_text().splitlines()
    fit[-1] = fit[-1].replace("cluster/weight", "cluster/summed") + f" --gram '{pattern[0]}'"
    folder.work.joinpath("summed.sbatch").write_text("\n".join(fit))
    wait_for(folder.run("sbatch", "--parsable", "summed.sbatch").strip())
    assert (folder.work / "cluster/summed.model.h5").exists()


@pytest.mark.usefixtures("slurm")
@pytest.mark.parametrize("how", ["pre-empted", "time limit"])
def test_a_stopped_task_goes_on(folder: Folder, page: Callable[[str], str], how: str) -> None:
    write_scripts(folder, page("slurm"))
    folder.sh("fit=$(sbatch --parsable --wait fit.sbatch)")
    reached = folder.work / "reached"
    folder.program(program(reached, by_itself=False, chunk_size=64))
    job = folder.run("sbatch", "--parsable", "scan.sbatch").strip()
    wait(reached.exists, "two chunks of part 2")
    if how == "pre-empted":
        # What PreemptMode=REQUEUE does: SIGTERM, and back into the queue.
        folder.run("scontrol", "requeue", f"{job}_2")
    else:
        # Less than the 60 seconds of --signal are left at once; SLURM looks every 30.
        folder.run("scontrol", "update", f"JobId={job}_2", "TimeLimit=1")
        wait_for(f"{job}_2", "FAILED")
        assert state(f"{job}_2")["ExitCode"] == "143:0"
        assert (folder.work / "cluster/weight.part-2-of-4.h5.partial").exists()
        job = folder.run("sbatch", "--parsable", "--array=2,3", "scan.sbatch").strip()
    parts = [folder.work / f"cluster/weight.part-{k}-of-4.h5" for k in range(1, 5)]
    wait(lambda: all(part.exists() for part in parts), "all parts")
    wait_for(f"{job}_2")
    log = (folder.work / f"goals-scan.{job}_2.log").read_text()
    assert re.findall(r"resuming: (\d+) of", log) == ["128"]
    folder.sh("sbatch --wait merge.sbatch")
    assert_same(folder.work / "cluster/weight.scores.h5", unsplit(folder))


@pytest.mark.usefixtures("slurm", "snakemake")
def test_the_slurm_profile(folder: Folder, page: Callable[[str], str]) -> None:
    command = re.findall(r"^```sh\n(.*?)^```", page("snakemake"), re.MULTILINE | re.DOTALL)[1]
    assert "profiles/slurm" in command
    account = re.findall(r"`(--slurm-no-account .*?)`", page("snakemake"))[0]
    fewer = "traits='[weight]' plots='[]' report=False gram_parts=0 scan_parts=2"
    sooner = "--slurm-init-seconds-before-status-checks 2 --seconds-between-status-checks 2 --latency-wait 5"
    told = folder.sh(f"{command.rstrip()} {fewer} {account} {sooner}")
    # check, fit, two parts and the merge
    assert len(re.findall(r"has been submitted with SLURM jobid (\d+)", told)) == 5
    results = folder.work / "demo/cluster/results"
    folder.run("goals", "scan", results / "weight.model.h5", "--out", "unsplit", "--threads", "1")
    assert_same(results / "weight.scores.h5", folder.work / "unsplit.scores.h5")
