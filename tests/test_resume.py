"""A scan killed anywhere goes on to the very same bits; nothing half-written ever bears a final name."""

from __future__ import annotations

import random
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import h5py
import pytest
from helpers import ENVIRONMENT, FIT, Here, Outcome, arrays, assert_same, goals, make_data, names

# Runs the command and sends itself a signal at the k-th call of a function of the program.
DYING = """
import importlib, os, sys
name, owner, attribute, k, number = sys.argv[1:6]
holder = importlib.import_module(name)
holder = getattr(holder, owner) if owner else holder
original, calls = getattr(holder, attribute), 0
def dying(*args, **options):
    global calls
    calls += 1
    if calls == int(k):
        os.kill(os.getpid(), int(number))
    return original(*args, **options)
setattr(holder, attribute, dying)
from goalscli.cli import main
sys.argv = ["goals", *sys.argv[6:]]
main()
"""
WRITE, FILL, ADD = (("goalscli.store", "Writer", method) for method in ("write", "fill", "add"))
# Called for each column of a chunk and once for its marks: a signal here comes amid a chunk.
RUNS = ("goalscli.store.writer", "", "runs")
FINISH = ("goalscli.store", "Writer", "finish")
GENOTYPES = ("goalscli.dataset", "Dataset", "values")


def dying(place: tuple[str, str, str], k: int, number: signal.Signals, *args: str, cwd: Path) -> Outcome:
    """Run the command until the k-th call of ``place``."""
    done = subprocess.run(
        [sys.executable, "-c", DYING, *place, str(k), str(int(number)), *args],
        cwd=cwd, env=ENVIRONMENT, capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    return Outcome(done.returncode, done.stdout, done.stderr)


def scan(local: str, chunk: int = 16, threads: int = 1, *more: str, out: str = "r") -> tuple[str, ...]:
    return ("scan", "m.model.h5", "--local", local, "--chunk-size", str(chunk), "--threads", str(threads),
            "--out", out, *more)  # fmt: skip


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Data, a model, and an uninterrupted scan of each kind: all.scores.h5 and top.scores.h5."""
    folder = tmp_path_factory.mktemp("resume")
    make_data(folder)
    assert goals(*FIT, "--out", "m", cwd=folder).code == 0
    for local, out in (("all", "all"), ("top:9", "top")):
        assert goals(*scan(local, 64, 1, out=out), cwd=folder).code == 0
    return folder


@pytest.fixture
def here(folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Here:
    """The command in this process; what it leaves under r.* is removed before."""
    for path in (*folder.glob("r.*"), *folder.glob("q.*")):
        path.unlink()
    return Here(monkeypatch, capsys, folder)


RANDOM = random.Random(20240611)
KILLS = [
    *(("all", WRITE, RANDOM.randrange(2, 20)) for _ in range(2)),
    *(("all", RUNS, RANDOM.randrange(2, 180)) for _ in range(2)),
    ("top:9", WRITE, 1),
    ("top:9", RUNS, RANDOM.randrange(2, 160)),
    ("top:9", FILL, 1),
    ("top:9", FINISH, 1),
]


@pytest.mark.parametrize(("local", "place", "k"), KILLS, ids=[f"{a}-{b[2]}-{k}" for a, b, k in KILLS])
def test_killed_and_resumed(local: str, place: tuple[str, str, str], k: int, folder: Path, here: Here):
    killed = dying(place, k, signal.SIGKILL, *scan(local), cwd=folder)
    assert killed.code == -signal.SIGKILL, killed.err
    assert names(folder) >= {"r.scores.h5.partial"}
    assert not (folder / "r.scores.h5").exists()
    resumed = here.well(*scan(local, 50, 2, "--resume"))
    assert "resuming: " in resumed.err
    assert_same(folder / "r.scores.h5", folder / f"{local[:3]}.scores.h5")
    assert "r.scores.h5.partial" not in names(folder)


def test_killed_twice(folder: Path, here: Here):
    """What the first run did is not done again."""
    assert dying(WRITE, 8, signal.SIGKILL, *scan("all"), cwd=folder).code == -signal.SIGKILL
    again = dying(WRITE, 5, signal.SIGKILL, *scan("all", 7, 2, "--resume"), cwd=folder)
    assert again.code == -signal.SIGKILL
    assert f"resuming: {7 * 16} of " in again.err
    assert f"resuming: {7 * 16 + 4 * 7} of " in here.well(*scan("all", 1, 1, "--resume")).err
    assert_same(folder / "r.scores.h5", folder / "all.scores.h5")


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGINT, 130)])
@pytest.mark.parametrize("place", [WRITE, RUNS], ids=["write", "runs"])
def test_interrupted(number: signal.Signals, code: int, place: tuple[str, str, str], folder: Path, here: Here):
    stopped = dying(place, 11, number, *scan("top:9", 16, 2), cwd=folder)
    assert stopped.code == code, stopped.err
    assert "Traceback" not in stopped.err
    assert stopped.out == ""
    assert "r.scores.h5.partial" in names(folder)
    assert "r.scores.h5" not in names(folder)
    here.well(*scan("top:9", 64, 1, "--resume"))
    assert_same(folder / "r.scores.h5", folder / "top.scores.h5")


def test_an_unfinished_file_is_no_result(folder: Path, here: Here):
    assert dying(WRITE, 3, signal.SIGTERM, *scan("top:9"), cwd=folder).code == 143
    refused = here("top", "r.scores.h5")
    assert refused.code == 2
    assert "only an unfinished one" in refused.err
    assert "--resume" in refused.err
    # Without --resume the scan starts again.
    started = here.well(*scan("top:9"))
    assert "resuming" not in started.err
    assert_same(folder / "r.scores.h5", folder / "top.scores.h5")


def test_resume_refuses_other_settings(folder: Path, here: Here):
    assert dying(WRITE, 5, signal.SIGTERM, *scan("top:9"), cwd=folder).code == 143
    partial = folder / "r.scores.h5.partial"
    content = partial.read_bytes()
    here.well(*FIT, "--bandwidth", "1/J", "--out", "q")
    other_model = ("scan", "q.model.h5", *scan("top:9")[2:], "--resume")
    for args, word in (
        (scan("top:9", 16, 1, "--resume", "--xi", "0.5"), "scores"),
        (scan("top:9", 16, 1, "--resume", "--xi-unit", "allele"), "scores"),
        (scan("top:9", 16, 1, "--resume", "--precision", "double"), "precision"),
        (scan("top:8", 16, 1, "--resume"), "local"),
        (scan("all", 16, 1, "--resume"), "local"),
        (other_model, "model_digest"),
    ):
        refused = here(*args)
        assert refused.code == 2
        last = refused.err.splitlines()[-1]
        assert last.startswith("goals: error: r.scores.h5.partial: belongs to a run with other settings")
        assert f"differs in {word}" in last
        assert "delete it" in last
        assert partial.read_bytes() == content
    here.well(*scan("top:9", 16, 1, "--resume"))
    assert_same(folder / "r.scores.h5", folder / "top.scores.h5")


def test_resume_with_nothing_there_starts(folder: Path, here: Here):
    assert "resuming" not in here.well(*scan("all", 16, 1, "--resume")).err
    assert_same(folder / "r.scores.h5", folder / "all.scores.h5")


def test_resume_of_a_complete_result(folder: Path, here: Here):
    shutil.copy(folder / "top.scores.h5", folder / "r.scores.h5")
    content = (folder / "r.scores.h5").read_bytes()
    done = here.well(*scan("top:9", 3, 2, "--resume"))
    assert "r.scores.h5 is complete" in done.err
    assert done.out == "r.scores.h5\n"
    here.well(*FIT, "--bandwidth", "1/J", "--out", "q")
    for args in (
        scan("top:9", 16, 1, "--resume", "--xi", "2"),
        scan("top:9", 16, 1, "--resume", "--precision", "double"),
        scan("none", 16, 1, "--resume"),
        ("scan", "q.model.h5", *scan("top:9")[2:], "--resume"),
        scan("top:9"),
    ):
        refused = here(*args)
        assert refused.code == 2
        assert refused.err.splitlines()[-1].startswith("goals: error: r.scores.h5: ")
        assert (folder / "r.scores.h5").read_bytes() == content


def test_a_garbage_partial_file_is_refused(folder: Path, here: Here):
    partial = folder / "r.scores.h5.partial"
    partial.write_bytes(b"not HDF5 at all")
    refused = here(*scan("top:9", 16, 1, "--resume"))
    assert refused.code == 2
    last = refused.err.splitlines()[-1]
    assert last.startswith("goals: error: r.scores.h5.partial: the unfinished file cannot be opened")
    assert "delete it" in last
    assert partial.read_bytes() == b"not HDF5 at all"
    partial.unlink()
    with h5py.File(partial, "w") as file:
        file["x"] = 1
    assert here(*scan("top:9", 16, 1, "--resume")).code == 2
    # Without --resume it is replaced.
    here.well(*scan("top:9"))
    assert_same(folder / "r.scores.h5", folder / "top.scores.h5")


@pytest.mark.parametrize(("place", "k"), [(GENOTYPES, 1), (ADD, 1), (ADD, 9)], ids=["gram", "add-1", "add-9"])
@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGINT, 130)])
def test_an_interrupted_fit_leaves_nothing(
    place: tuple[str, str, str], k: int, number: signal.Signals, code: int, folder: Path, here: Here
):
    before = names(folder)
    stopped = dying(place, k, number, *FIT, "--out", "q", cwd=folder)
    assert stopped.code == code, stopped.err
    assert "Traceback" not in stopped.err
    assert names(folder) == before


def test_a_killed_fit_starts_again(folder: Path, here: Here):
    assert dying(ADD, 9, signal.SIGKILL, *FIT, "--out", "q", cwd=folder).code == -signal.SIGKILL
    assert "q.model.h5" not in names(folder)
    assert "q.qc.tsv" not in names(folder)
    here.well(*FIT, "--out", "q")
    assert not {name for name in names(folder) if name.endswith(".partial")}


def test_an_interrupted_run_resumes(folder: Path, here: Here):
    """The model is complete, the scan is not: the model is used again, the scan goes on."""
    args = ("run", *FIT[1:], "--local", "top:9", "--chunk-size", "16", "--out", "q")
    assert dying(WRITE, 4, signal.SIGTERM, *args, cwd=folder).code == 143
    model = (folder / "q.model.h5").read_bytes()
    assert {"q.scores.h5.partial", "q.model.h5", "q.qc.tsv"} <= names(folder)
    assert not {"q.scores.h5", "q.top.tsv", "q.manhattan.png", "q.local.png"} & names(folder)
    resumed = here.well(*args, "--resume")
    assert "q.model.h5 is complete" in resumed.err
    assert f"resuming: {3 * 16} of " in resumed.err
    assert (folder / "q.model.h5").read_bytes() == model
    assert_same(folder / "q.scores.h5", folder / "top.scores.h5")
    assert {"q.scores.h5", "q.top.tsv", "q.manhattan.png", "q.local.png"} <= names(folder)
    refused = here(*args, "--resume", "--maf", "0.2")
    assert refused.code == 2
    assert "q.model.h5: belongs to a run with other settings" in refused.err


@pytest.mark.parametrize("precision", ["single", "double"])
@pytest.mark.parametrize(("chunk", "threads"), [(1, 2), (7, 1), (7, 2), (256, 1), (256, 2), (5000, 1), (5000, 2)])
def test_bits_do_not_depend_on_chunks_or_threads(precision: str, chunk: int, threads: int, folder: Path, here: Here):
    reference = folder / f"one-{precision}.scores.h5"
    if not reference.exists():
        here.well(*scan("all", 1, 1, "--precision", precision, out=f"one-{precision}"))
    here.well(*scan("all", chunk, threads, "--precision", precision))
    assert_same(folder / "r.scores.h5", reference)
    # The comparison is of something: local scores of all, which differ between variants and samples.
    local = arrays(reference)["goals/local"]
    assert len({row.tobytes() for row in local}) == len(local)
