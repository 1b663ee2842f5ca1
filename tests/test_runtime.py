"""Limits of the machine and container, progress, and the store's small parts."""

from __future__ import annotations

import logging
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from goalscli import runtime
from goalscli.errors import InputError, OutputError, ResourceError, SettingsError
from goalscli.provenance import file_digest
from goalscli.store import Writer, atomic, opened, partial_path, read_attributes, runs

ROOT = Path(__file__).resolve().parents[1]


def fake_cgroup(root, version, cpu=None, memory=None, inner="a/b"):
    """A /proc and /sys with one limit in an inner group."""
    (root / "proc/self").mkdir(parents=True)
    line = f"0::/{inner}" if version == 2 else f"4:cpu,cpuacct:/{inner}\n5:memory:/{inner}"
    (root / "proc/self/cgroup").write_text(line + "\n")
    base = root / "sys/fs/cgroup"
    for controller, name, text in (
        ("" if version == 2 else "cpu", "cpu.max" if version == 2 else "cpu.cfs_quota_us", cpu),
        ("" if version == 2 else "memory", "memory.max" if version == 2 else "memory.limit_in_bytes", memory),
    ):
        if text is not None:
            # The limit sits on the parent: it binds the groups inside it too.
            folder = base / controller / "a"
            (folder / "b").mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(text)


@pytest.mark.parametrize(
    ("version", "text", "cpus"),
    [
        (2, "100000 100000", 1),
        (2, "150000 100000", 1),
        (2, "50000 100000", 1),
        (1, "100000", 1),
        (2, "max 100000", None),
    ],
)
def test_cpu_limit_of_a_container(tmp_path, version, text, cpus):
    fake_cgroup(tmp_path, version, cpu=text)
    assert runtime.cpu_limit(tmp_path) == (cpus or len(os.sched_getaffinity(0)))


def test_memory_limit_of_a_container(tmp_path):
    fake_cgroup(tmp_path, 2, memory=str(300 * 2**20))
    assert runtime.memory_limit(tmp_path) == 300 * 2**20
    fake = tmp_path / "one"
    fake_cgroup(fake, 1, memory=str(200 * 2**20))
    assert runtime.memory_limit(fake) == 200 * 2**20
    assert runtime.memory_limit(tmp_path / "nothing") > 2**28


def test_memory_is_refused_with_numbers():
    with pytest.raises(ResourceError, match=r"a fit of 100 samples needs about 3 GiB of memory; 2 GiB"):
        runtime.check_memory(3 * 2**30, "a fit of 100 samples", 2.0)
    runtime.check_memory(1, "little", 1.0)


def test_threads():
    with pytest.raises(SettingsError, match="0 threads"):
        runtime.use_threads(0)
    script = (
        "from goalscli.runtime import use_threads; import os; use_threads(1); import numpy as np;"
        "np.ones((200, 200)) @ np.ones((200, 200)); from threadpoolctl import threadpool_info;"
        "print({d['num_threads'] for d in threadpool_info()}, os.environ['OMP_NUM_THREADS'])"
    )
    told = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True)
    assert told.stdout.strip() == "{1} 1"


def test_progress_says_how_far(caplog):
    with caplog.at_level(logging.INFO, "goalscli"), runtime.Progress("work", 4, interval=0.0) as progress:
        for _ in range(4):
            progress.advance(1)
    told = [r.getMessage() for r in caplog.records]
    assert told[0].startswith("work: 1 of 4 (25%)")
    assert len(told) == 4
    assert told[-1].startswith("work: done in")
    assert not any("\r" in line for line in told)


def test_runs_cut_an_index_at_its_gaps():
    index = np.array([0, 1, 2, 7, 9, 10])
    assert [(a.start, a.stop, b.start, b.stop) for a, b in runs(index)] == [(0, 3, 0, 3), (3, 4, 7, 8), (4, 6, 9, 11)]
    assert list(runs(np.array([], dtype=np.intp))) == []


def test_writer_marks_resumes_and_finishes(tmp_path):
    path = tmp_path / "deep" / "x.h5"
    with Writer.create(path, "kind", {"settings": {"a": 1, "b": [1, 2]}, "name": "[not json"}) as writer:
        writer.add("ids", np.array(["ä", "b" * 500], dtype=object))
        writer.allocate("s/score", (5,), "f8", "what", "unit")
        writer.allocate("s/local", (5, 3), "f4")
        writer.begin(5)
        writer.write(np.array([0, 1, 4]), {"s/score": np.array([1.0, 2, 3]), "s/local": np.ones((3, 3), np.float32)})
    assert not path.exists()
    with pytest.raises(InputError, match="only an unfinished one"), opened(path, "kind"):
        pass
    with pytest.raises(OutputError, match=r"differs in a\)"):
        Writer.resume(path, "kind", {"settings": {"a": 2, "b": [1, 2]}})
    with Writer.resume(path, "kind", {"settings": {"a": 1, "b": [1, 2]}}) as writer:
        assert list(writer.done()) == [True, True, False, False, True]
        assert np.isnan(writer.read("s/score")[2:4]).all()
        writer.write(np.array([2, 3]), {"s/score": np.array([7.0, 8]), "s/local": np.zeros((2, 3), np.float32)})
        writer.finish()
    assert not partial_path(path).exists()
    with opened(path, "kind") as file:
        assert list(file["s/score"]) == [1, 2, 7, 8, 3]
        assert file["s/local"][:].sum() == 9
        assert list(file["ids"].asstr()) == ["ä", "b" * 500]
        assert read_attributes(file)["settings"] == {"a": 1, "b": [1, 2]}
        assert read_attributes(file)["name"] == "[not json"
    with pytest.raises(InputError, match="is a kind file, expected other"), opened(path, "other"):
        pass


def fail_half_way(path):
    with atomic(path) as partial:
        partial.write_text("half")
        raise RuntimeError


def test_atomic_leaves_nothing_behind_a_failure(tmp_path):
    with pytest.raises(RuntimeError):
        fail_half_way(tmp_path / "t.tsv")
    assert list(tmp_path.iterdir()) == []
    with atomic(tmp_path / "t.tsv") as partial:
        partial.write_text("whole")
    assert (tmp_path / "t.tsv").read_text() == "whole"


def test_digest_sees_content_and_size(tmp_path):
    a, b, c = (tmp_path / name for name in "abc")
    a.write_bytes(b"12345")
    b.write_bytes(b"12346")
    c.write_bytes(b"1234")
    assert len({file_digest(p) for p in (a, b, c)}) == 3
    b.write_bytes(b"12345")
    assert file_digest(a) == file_digest(b)
