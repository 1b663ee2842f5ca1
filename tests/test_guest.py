"""A good guest on a shared machine: CPUs, memory, signals, disks, HOME, locks."""

from __future__ import annotations

import os
import pty
import re
import resource
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import h5py
import numpy as np
import pytest
from helpers import ENVIRONMENT, FIT, Here, Outcome, assert_same, goals, make_data, names
from test_resume import ADD, DYING, FILL, FINISH, WRITE, dying

from goalscli import runtime
from goalscli.errors import is_locked, mended, told

# Runs the command on a machine of 8 CPUs whose /proc and /sys are below a folder.
ELSEWHERE = """
import os, sys
from pathlib import Path
from goalscli import runtime
os.sched_getaffinity = lambda process: set(range(8))
for limit in (runtime.cpu_limit, runtime.memory_limit):
    limit.__defaults__ = (Path(sys.argv[1]),)
from goalscli.cli import main
sys.argv = ["goals", *sys.argv[2:]]
try:
    main()
finally:
    from threadpoolctl import threadpool_info
    print("BLAS:", {d["num_threads"] for d in threadpool_info()}, os.environ["OPENBLAS_NUM_THREADS"])
"""


def script(text: str, *args: str, cwd: Path, **more: str) -> Outcome:
    done = subprocess.run(
        [sys.executable, "-c", text, *args],
        cwd=cwd, env=ENVIRONMENT | more, capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    return Outcome(done.returncode, done.stdout, done.stderr)


def limits(root: Path, cgroup: str, **files: str) -> Path:
    """A machine with this /proc/self/cgroup and these files below /sys/fs/cgroup (__ for /)."""
    (root / "proc/self").mkdir(parents=True)
    (root / "proc/self/cgroup").write_text(cgroup)
    for name, text in files.items():
        path = root / "sys/fs/cgroup" / name.replace("__", "/").replace("D", ".").replace("C", ",")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text + "\n")
    return root


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Data, a model m, a scan of it (all local scores) and part 2 of 3."""
    folder = tmp_path_factory.mktemp("guest")
    make_data(folder)
    assert goals(*FIT, "--out", "m", cwd=folder).code == 0
    assert goals("scan", "m.model.h5", "--local", "all", "--out", "all", cwd=folder).code == 0
    assert goals("scan", "m.model.h5", "--local", "top:9", "--out", "all", "--part", "2/3", cwd=folder).code == 0
    return folder


@pytest.fixture
def here(folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Here:
    for path in (*folder.glob("r.*"), *folder.glob("q.*")):
        path.unlink()
    return Here(monkeypatch, capsys, folder)


V1 = "3:cpu,cpuacct:/job\n4:memory:/job\n1:name=systemd:/x\n0::/\n"
CPUS = {
    "v2": ("0::/slurm/job_7/step_0\n", {"slurm__job_7__cpuDmax": "300000 100000"}, 3),
    "v2-inner-is-tighter": ("0::/a/b\n", {"a__cpuDmax": "600000 100000", "a__b__cpuDmax": "200000 100000"}, 2),
    "v2-outer-is-tighter": ("0::/a/b\n", {"a__cpuDmax": "200000 100000", "a__b__cpuDmax": "600000 100000"}, 2),
    "v2-another-period": ("0::/a\n", {"a__cpuDmax": "20000 10000"}, 2),
    "v2-namespaced": ("0::/\n", {"cpuDmax": "100000 100000"}, 1),
    "v2-no-limit": ("0::/a\n", {"a__cpuDmax": "max 100000"}, 8),
    "v2-foreign-group": ("0::/elsewhere\n", {"a__cpuDmax": "100000 100000"}, 8),
    "v1": (V1, {"cpu__job__cpuDcfs_quota_us": "400000", "cpu__job__cpuDcfs_period_us": "100000"}, 4),
    "v1-another-period": (V1, {"cpu__job__cpuDcfs_quota_us": "100000", "cpu__job__cpuDcfs_period_us": "50000"}, 2),
    "v1-no-link": (V1, {"cpuCcpuacct__job__cpuDcfs_quota_us": "100000"}, 1),
    "v1-container": (V1, {"cpu__cpuDcfs_quota_us": "200000"}, 2),
    "v1-no-limit": (V1, {"cpu__job__cpuDcfs_quota_us": "-1", "cpu__job__cpuDcfs_period_us": "100000"}, 8),
    "hybrid": (V1, {"unified__cpuDmax": "500000 100000"}, 5),
}


@pytest.mark.parametrize(("cgroup", "files", "cpus"), CPUS.values(), ids=CPUS)
def test_cpus_of_a_cgroup(cgroup: str, files: dict[str, str], cpus: int, tmp_path: Path, monkeypatch):
    monkeypatch.setattr(os, "sched_getaffinity", lambda process: set(range(8)), raising=False)
    assert runtime.cpu_limit(limits(tmp_path, cgroup, **files)) == cpus


MIB = 2**20
MEMORY = {
    "v2-inner": ("0::/a/b\n", {"a__memoryDmax": str(900 * MIB), "a__b__memoryDmax": str(300 * MIB)}, 300),
    "v2-outer": ("0::/a/b\n", {"a__memoryDmax": str(300 * MIB), "a__b__memoryDmax": "max"}, 300),
    "v1": (V1, {"memory__job__memoryDlimit_in_bytes": str(200 * MIB)}, 200),
    "v1-outer": (V1, {"memory__memoryDlimit_in_bytes": str(250 * MIB),
                      "memory__job__memoryDlimit_in_bytes": "9223372036854771712"}, 250),
}  # fmt: skip


@pytest.mark.parametrize(("cgroup", "files", "mebibytes"), MEMORY.values(), ids=MEMORY)
def test_memory_of_a_cgroup(cgroup: str, files: dict[str, str], mebibytes: int, tmp_path: Path):
    assert runtime.memory_limit(limits(tmp_path, cgroup, **files)) == mebibytes * MIB


def test_memory_of_ulimit(tmp_path: Path):
    text = (
        "import resource; from goalscli.runtime import memory_limit; resource.setrlimit(resource.RLIMIT_AS, "
        "(123456789, resource.RLIM_INFINITY)); print(memory_limit())"
    )
    assert script(text, cwd=tmp_path).out == "123456789\n"


@pytest.mark.parametrize(("quota", "threads"), [("100000 100000", 1), ("300000 100000", 3), ("max 100000", 8)])
def test_threads_are_those_of_the_container(quota: str, threads: int, folder: Path, here: Here, tmp_path: Path):
    """In BLAS, in the log and in the file; --threads has the last word."""
    root = limits(tmp_path, "0::/a\n", a__cpuDmax=quota)
    args = [word for word in FIT if word not in ("--threads", "1")]
    done = script(ELSEWHERE, str(root), *args, "--out", "q", cwd=folder)
    assert done.code == 0, done.err
    assert done.out.endswith(f" {threads}\n")
    # A BLAS makes no more threads than there are CPUs in truth.
    assert f"BLAS: {{{min(threads, os.cpu_count() or 1)}}}" in done.out
    assert f"{threads} thread(s)" in (folder / "q.fit.log").read_text()
    with h5py.File(folder / "q.model.h5") as file:
        assert f'"threads":{threads}' in file.attrs["provenance"]
    done = script(ELSEWHERE, str(root), "scan", "q.model.h5", "--threads", "2", cwd=folder)
    assert done.out.endswith(" 2\n")
    assert "2 thread(s)" in (folder / "q.scan.log").read_text()


def test_the_affinity_is_obeyed(folder: Path, here: Here):
    text = "import os; from goalscli.runtime import cpu_limit; os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})"
    assert script(f"{text}; print(cpu_limit())", cwd=folder).out == "1\n"


WORK = {
    "fit": (*FIT, "--out", "q"),
    "gram": ("gram", *FIT[1:], "--part", "1/2", "--out", "q"),
    "scan": ("scan", "stub.model.h5", "--out", "q"),
    "posterior": ("posterior", "stub.model.h5", "--snps", "rs41,rs42", "--out", "q"),
}


@pytest.mark.parametrize("command", WORK)
def test_too_little_memory_is_told_before_any_work(command: str, folder: Path, here: Here, tmp_path: Path):
    """By a cgroup of 200 MiB, less than is reckoned for Python alone; no matrix of the model has been read by then."""
    shutil.copy(folder / "m.model.h5", folder / "stub.model.h5")
    with h5py.File(folder / "stub.model.h5", "r+") as file:
        del file["fit/gram"], file["fit/weights"]
    root = limits(tmp_path, "0::/a/b\n", a__memoryDmax=str(200 * MIB))
    before = names(folder)
    refused = script(ELSEWHERE, str(root), *WORK[command], cwd=folder)
    assert refused.code == 2, refused.err
    last = refused.err.splitlines()[-1]
    assert re.search(r"of 64 samples .*needs about 0\.2\d* GiB of memory; 0\.195 GiB are allowed", last), last
    assert "raise --memory" in last
    assert names(folder) == before
    allowed = script(ELSEWHERE, str(root), *WORK[command], "--memory", "1", cwd=folder)
    # With leave it goes on: the fits to their end, the others to the matrix that is not there.
    assert allowed.code == (0 if command in ("fit", "gram") else 1)
    assert "GiB" not in allowed.err


def test_a_picture_that_needs_the_matrices_is_refused_too(folder: Path, here: Here, tmp_path: Path):
    here.well("scan", "m.model.h5", "--local", "none", "--out", "few")
    root = limits(tmp_path, "0::/a/b\n", a__memoryDmax=str(200 * MIB))
    call = ("plot", "local", "few.scores.h5", "--model", "m.model.h5", "--out", "q.png")
    refused = script(ELSEWHERE, str(root), *call, cwd=folder)
    assert refused.code == 2, refused.err
    assert "a scan of 64 samples with 1 thread(s) needs about 0.2" in refused.err.splitlines()[-1]
    assert not (folder / "q.png").exists()


def test_a_biobank_is_refused_with_numbers(tmp_path: Path):
    """100,000 samples: three matrices of 75 GiB, refused before a genotype is read (the .bed has none)."""
    n = 100_000
    (tmp_path / "big.fam").write_text("".join(f"{i} {i} 0 0 1 {i % 7}\n" for i in range(n)))
    (tmp_path / "big.bim").write_text("1 rs1 0 1 A G\n1 rs2 0 2 A G\n")
    with open(tmp_path / "big.bed", "wb") as handle:
        handle.write(b"\x6c\x1b\x01")
        handle.truncate(3 + 2 * n // 4)
    refused = goals("fit", "--bfile", "big", "--memory", "32", "--out", "q", cwd=tmp_path)
    assert refused.code == 2
    assert "--memory 32: an exact fit of 100000 samples needs about 224 GiB of memory; 32 GiB" in refused.err
    assert "q.model.h5" not in names(tmp_path)


def test_within_an_address_space_of_two_gigabytes(folder: Path, here: Here):
    done = subprocess.run(
        [sys.executable, "-m", "goalscli", *FIT, "--out", "q"], cwd=folder, env=ENVIRONMENT, capture_output=True,
        text=True, timeout=120, check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (2_000_000 * 1024,) * 2),
    )  # fmt: skip
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(("place", "k"), [(WRITE, 5), (FILL, 1), (FINISH, 1)], ids=["write", "fill", "finish"])
def test_a_part_is_stopped_and_resumed(place: tuple[str, str, str], k: int, folder: Path, here: Here):
    args = ("scan", "m.model.h5", "--local", "top:9", "--chunk-size", "16", "--part", "2/3", "--out", "r")
    stopped = dying(place, k, signal.SIGTERM, *args, cwd=folder)
    assert stopped.code == 143, stopped.err
    assert "Traceback" not in stopped.err
    assert {name for name in names(folder) if name.startswith("r.")} == {"r.part-2-of-3.h5.partial"}
    resumed = here.well(*args, "--resume")
    assert f"resuming: {16 * (k - 1) if place == WRITE else 109} of 109 variants are done" in resumed.err
    assert_same(folder / "r.part-2-of-3.h5", folder / "all.part-2-of-3.h5")


JOBS = [
    ("run", *FIT[1:], "--scores", "goals,rate,psi", "--local", "top:9", "--out", "{out}/a"),
    ("scan", "{out}/a.model.h5", "--part", "1/1", "--out", "{out}/b"),
    ("merge", "{out}/b.part-1-of-1.h5", "--out", "{out}/b"),
    ("gram", *FIT[1:], "--part", "1/1", "--out", "{out}/c"),
    ("posterior", "{out}/a.model.h5", "--snps", "rs41,rs42", "--psi", "--out", "{out}/d"),
    ("plot", "manhattan", "{out}/a.scores.h5", "--out", "{out}/e.svg"),
    ("plot", "local", "{out}/a.scores.h5", "--out", "{out}/e.pdf"),
    ("export", "{out}/a.scores.h5", "--out", "{out}/f.tsv"),
    ("top", "{out}/a.scores.h5"),
    ("info", "{out}/a.model.h5"),
    ("simulate", "cohort", "--n-samples", "20", "--n-variants", "60", "--n-chromosomes", "1", "--out", "{out}/g"),
    ("simulate", "trait", "--bfile", "{out}/g"),
]
EXPECTED = {
    "a.model.h5", "a.qc.tsv", "a.scores.h5", "a.top.tsv", "a.manhattan.png", "a.manhattan.rate.png",
    "a.manhattan.psi.png", "a.local.png", "b.part-1-of-1.h5", "b.scores.h5", "c.gram-1-of-1.h5", "d.posterior.h5",
    "d.posterior.tsv", "d.correlation.tsv", "e.svg", "e.pdf", "f.tsv",
}  # fmt: skip


def tree(folder: Path) -> dict[str, bytes]:
    return {str(p.relative_to(folder)): p.read_bytes() if p.is_file() else b"" for p in folder.rglob("*")}


def test_nothing_is_written_but_beside_the_output(tmp_path: Path):
    """HOME cannot be, the working directory and the data are read-only, TMPDIR is empty again."""
    data, cwd, out, temporary = (tmp_path / name for name in ("data", "cwd", "out", "tmp"))
    for place in (data, cwd, out, temporary):
        place.mkdir()
    make_data(data)
    (data / "d.fam").chmod(0o444)
    before = tree(data)
    data.chmod(0o555)
    cwd.chmod(0o555)
    inputs = {"d", "pheno.tsv", "groups.tsv"}
    guest = ENVIRONMENT | {"HOME": "/proc/nonexistent", "TMPDIR": str(temporary), "XDG_CONFIG_HOME": "",
                           "XDG_CACHE_HOME": "", "PYTHONDONTWRITEBYTECODE": "1"}  # fmt: skip
    guest.pop("MPLCONFIGDIR", None)
    for job in JOBS:
        words = [str(data / word) if word in inputs else word.replace("{out}", str(out)) for word in job]
        done = subprocess.run(
            [sys.executable, "-m", "goalscli", *words], cwd=cwd, env=guest, capture_output=True, text=True, timeout=120,
            check=False,
        )  # fmt: skip
        assert done.returncode == 0, (job, done.stderr)
        assert "\r" not in done.stderr + done.stdout
        assert tree(cwd) == {}, job
        assert tree(temporary) == {}, job
    assert tree(data) == before
    assert {name for name in names(out) if name[0] != "g"} == EXPECTED
    for log in out.glob("*.log"):
        assert "\r" not in log.read_text(), log
    assert len({log.name for log in out.glob("*.log")}) >= 5


def test_temporary_files_are_in_tmpdir(tmp_path: Path):
    text = "from goalscli.plots.style import styled\nimport os\nwith styled(): print(os.environ['MPLCONFIGDIR'])"
    (tmp_path / "t").mkdir()
    bare = {"HOME": "/proc/nonexistent", "XDG_CONFIG_HOME": "", "XDG_CACHE_HOME": "", "MPLCONFIGDIR": ""}
    done = script(text, cwd=tmp_path, TMPDIR=str(tmp_path / "t"), **bare)
    assert done.code == 0, done.err
    assert Path(done.out.strip()).parent == tmp_path / "t"
    assert tree(tmp_path / "t") == {}


def test_a_terminal_gets_a_bar_and_the_log_does_not(folder: Path, here: Here):
    keeper, terminal = pty.openpty()
    child = subprocess.Popen(
        [sys.executable, "-m", "goalscli", *FIT, "--out", "q"], cwd=folder, env=ENVIRONMENT, stdout=terminal,
        stderr=terminal,
    )  # fmt: skip
    os.close(terminal)
    shown = b""
    while True:
        try:
            piece = os.read(keeper, 4096)
        except OSError:  # what Linux says when the other end is closed
            piece = b""
        if not piece:
            break
        shown += piece
    os.close(keeper)
    assert child.wait(timeout=120) == 0
    assert b"\rGram matrix [" in shown
    log = (folder / "q.fit.log").read_bytes()
    assert b"\r" not in log
    assert b"Gram matrix: done in" in log


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of its own, resized by :func:`resize`."""
    disk = tmp_path / "disk"
    disk.mkdir()
    if os.geteuid() or not shutil.which("mount") or subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=16k", "none", disk], capture_output=True, check=False
    ).returncode:  # fmt: skip
        pytest.skip("no small disk can be mounted here")
    yield disk
    subprocess.run(["umount", disk], check=True)


def resize(disk: Path, kilobytes: int) -> None:
    subprocess.run(["mount", "-o", f"remount,size={kilobytes}k", disk], check=True)


def full(outcome: Outcome) -> None:
    """Exit 2 and one line about the disk, after whatever the log said."""
    assert outcome.code == 2, outcome.err
    lines = outcome.err.splitlines()
    assert "goals: error: " in lines[-1]
    assert "no space left on " in lines[-1].lower(), lines[-1]
    assert sum("error" in line.lower() for line in lines) == 1, outcome.err
    assert "Traceback" not in outcome.err


# Fills the disk at the k-th write of a chunk, or before the end.
FILLING = """
import os, sys
from goalscli import store
filler, method, k = sys.argv[1], sys.argv[2], int(sys.argv[3])
original, calls = getattr(store.Writer, method), 0
def filling(*args, **options):
    global calls
    calls += 1
    if calls == k:
        try:
            with open(filler, "wb", 0) as handle:
                while handle.write(bytes(512)):
                    pass
        except OSError:
            pass
    return original(*args, **options)
setattr(store.Writer, method, filling)
from goalscli.cli import main
sys.argv = ["goals", *sys.argv[4:]]
main()
"""


@pytest.fixture(scope="module")
def wide(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A scan whose local scores are larger than what HDF5 writes at once."""
    folder = tmp_path_factory.mktemp("wide")
    cohort = ("--n-samples", "200", "--n-variants", "1500", "--n-chromosomes", "2", "--out", "w")
    pheno = ("--pheno", "w.trait.pheno.tsv", "--pheno-name", "trait")
    for words in (
        ("simulate", "cohort", *cohort),
        ("simulate", "trait", "--bfile", "w"),
        ("fit", "--bfile", "w", *pheno, "--out", "w"),
        ("scan", "w.model.h5", "--local", "all"),
    ):
        done = goals(*words, cwd=folder)
        assert done.code == 0, done.err
    return folder


@pytest.mark.parametrize(("method", "k"), [("write", 1), ("write", 3), ("write", 8), ("fill", 1), ("finish", 1)])
def test_the_disk_gets_full_amid_a_scan(method: str, k: int, wide: Path, small_disk: Path):
    """What was done is kept, and gone on with once there is room."""
    resize(small_disk, 8192)
    filler = small_disk / "filler"
    args = ("scan", "w.model.h5", "--local", "all", "--chunk-size", "100", "--out", str(small_disk / "r"))
    stopped = script(FILLING, str(filler), method, str(k), *args, cwd=wide)
    if stopped.code == 0:
        assert method != "write"  # nothing more had to be written
    else:
        full(stopped)
        assert "--resume" in stopped.err.splitlines()[-1]
        assert names(small_disk) == {"r.scores.h5.partial", "filler"}
        filler.unlink()
        resumed = goals(*args, "--resume", cwd=wide)
        assert resumed.code == 0, resumed.err
        assert f"resuming: {100 * (k - 1) if method == 'write' else 1500} of " in resumed.err
    assert_same(small_disk / "r.scores.h5", wide / "w.scores.h5")


@pytest.mark.parametrize("kilobytes", [8, 24, 40, 56, 72, 96, 112, 128, 144])
def test_a_full_disk_and_then_room(kilobytes: int, folder: Path, small_disk: Path):
    """Too small a disk is found out at the start; nothing stays on it that would be in the way."""
    resize(small_disk, kilobytes)
    args = ("scan", "m.model.h5", "--local", "all", "--chunk-size", "16", "--out", str(small_disk / "r"))
    full(goals(*args, cwd=folder))
    assert names(small_disk) == set()
    resize(small_disk, 4096)
    resumed = goals(*args, "--resume", cwd=folder)
    assert resumed.code == 0, resumed.err
    assert names(small_disk) == {"r.scores.h5"}
    assert_same(small_disk / "r.scores.h5", folder / "all.scores.h5")


OTHERS = {
    "fit": (FIT, "--out", "{disk}/q"),
    "gram": (("gram", *FIT[1:], "--part", "1/2"), "--out", "{disk}/q"),
    "part": (("scan", "m.model.h5", "--part", "1/2"), "--out", "{disk}/q"),
    "merge": (("merge", "one.part-1-of-1.h5"), "--out", "{disk}/q"),
    "posterior": (("posterior", "m.model.h5", "--snps", "rs41,rs42"), "--out", "{disk}/q"),
    "plot": (("plot", "manhattan", "all.scores.h5"), "--out", "{disk}/q.png"),
    "export": (("export", "all.scores.h5"), "--out", "{disk}/q.tsv"),
    "simulate": (("simulate", "cohort", "--n-samples", "40", "--n-variants", "9000"), "--out", "{disk}/q"),
}


@pytest.mark.parametrize("kilobytes", [8, 20])
@pytest.mark.parametrize("command", OTHERS)
def test_a_full_disk_leaves_no_result(command: str, kilobytes: int, folder: Path, small_disk: Path):
    if command == "merge" and not (folder / "one.part-1-of-1.h5").exists():
        assert goals("scan", "m.model.h5", "--part", "1/1", "--out", "one", cwd=folder).code == 0
    resize(small_disk, kilobytes)
    words, *out = OTHERS[command]
    full(goals(*words, *(word.replace("{disk}", str(small_disk)) for word in out), cwd=folder))
    assert names(small_disk) == set()


# Opens a file for writing, says so, and holds it until told to go.
HOLDER = "import h5py, sys; f = h5py.File(sys.argv[1], sys.argv[2]); print('held', flush=True); sys.stdin.read()"


@pytest.fixture
def held() -> Iterator[object]:
    holders = []

    def hold(path: Path, mode: str) -> None:
        child = subprocess.Popen(
            [sys.executable, "-c", HOLDER, str(path), mode], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        holders.append(child)
        assert child.stdout is not None
        assert child.stdout.readline() == "held\n"

    yield hold
    for child in holders:
        child.communicate("")


def locked(outcome: Outcome, name: str) -> None:
    assert outcome.code == 2, outcome.err
    last = outcome.err.splitlines()[-1]
    assert last.startswith(f"goals: error: {name}: "), last
    assert "another process has locked it" in last
    assert "HDF5_USE_FILE_LOCKING=FALSE" in last
    assert "Traceback" not in outcome.err


def test_a_locked_model_is_told_with_its_remedy(folder: Path, here: Here, held):
    shutil.copy(folder / "m.model.h5", folder / "q.model.h5")
    held(folder / "q.model.h5", "r+")
    args = ("scan", "q.model.h5", "--local", "all", "--out", "r")
    locked(goals(*args, cwd=folder), "q.model.h5")
    unlocking = script(DYING, *ADD, "999999", "15", *args, cwd=folder, HDF5_USE_FILE_LOCKING="FALSE")
    assert unlocking.code == 0, unlocking.err
    assert_same(folder / "r.scores.h5", folder / "all.scores.h5")


def test_a_second_scan_does_no_harm_to_the_first(folder: Path, here: Here, held):
    args = ("scan", "m.model.h5", "--local", "all", "--chunk-size", "16", "--out", "r")
    assert dying(WRITE, 4, signal.SIGKILL, *args, cwd=folder).code == -signal.SIGKILL
    partial = folder / "r.scores.h5.partial"
    content = partial.read_bytes()
    held(partial, "r+")
    locked(goals(*args, cwd=folder), "r.scores.h5")
    locked(goals(*args, "--resume", cwd=folder), "r.scores.h5.partial")
    assert partial.read_bytes() == content


def test_a_file_system_without_locks_is_told():
    error = OSError(
        37, "Unable to synchronously open file (unable to lock file, errno = 37, error message = 'No locks')"
    )
    assert is_locked(error)
    assert told(error) == f"its file system does not lock files: {os.strerror(37)}"
    assert "HDF5_USE_FILE_LOCKING=FALSE" in mended(error, "other")
    assert mended(OSError(2, "No such file"), "other") == "other"
    assert told(OSError(2, "No such file")) == "No such file"


def test_a_part_holds_what_the_whole_does(folder: Path):
    """That the comparisons above are of something."""
    with h5py.File(folder / "all.scores.h5") as whole, h5py.File(folder / "all.part-2-of-3.h5") as part:
        assert np.array_equal(whole["goals/score"][109:218], part["goals/score"][:])
        assert whole["goals/local"].shape == (327, 64)
