"""Parts of a scan must share the work: two processes at once against one, each with one thread on a CPU of its own.

A simulated cohort is fitted once. One process scans all of it; then two processes scan part 1/2 and 2/2 at the same
time, and the merge is timed too. Each process is pinned to one CPU, as the tasks of an array job with one CPU each are:
a process that may use a second one reads the genotypes there, beside its one scoring thread, and that row is given too.
A process starts, reads the model and makes its kernel ready before it scores: that is not shared, so the ratio of the
scoring alone, from what the log says, is given with it.
"""

from __future__ import annotations

import re
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from common import Run, Table, best_run, command, goals, load, parser, simulated, workspace


def scan(model: str, out: str, part: str = "", cpus: str = "0-1") -> list[str]:
    split = ["--part", part] if part else []
    return ["taskset", "-c", cpus, sys.executable, "-m", "goalscli", "scan", model, *split, "--local", "none",
            "--threads", "1", "--out", out, "--overwrite"]  # fmt: skip


def at_once(commands: Sequence[list[str]]) -> Run:
    """Wall time of all, peak of the largest."""
    start = time.perf_counter()
    with ThreadPoolExecutor(len(commands)) as pool:
        runs = list(pool.map(command, commands))
    return Run(time.perf_counter() - start, max(run.peak for run in runs))


def scoring(folder: Path, pattern: str, repeat: int) -> float:
    """Seconds of the scoring loop: of the slowest of the processes, the best of the repeats."""
    told = [
        [float(s) for s in re.findall(r"INFO scan: done in ([\d.]+) s", log.read_text())]
        for log in folder.glob(pattern)
    ]
    assert all(len(times) == repeat for times in told), told
    return min(max(times) for times in zip(*told, strict=True))


def main() -> None:
    options = parser(__doc__).parse_args()
    n, j, repeat = (100, 3000, 1) if options.smoke else (1000, 240_000, options.repeat)
    table = Table(f"goals scan of {n} samples x {j:,} variants, best of {repeat}; {load()}", not options.smoke)
    with workspace() as folder:
        data = simulated(folder, n, j)
        model = f"{folder}/m.model.h5"
        goals("fit", *data.options(), "--out", f"{folder}/m")
        one = best_run(repeat, lambda: command(scan(model, f"{folder}/one", cpus="0")))
        free = best_run(repeat, lambda: command(scan(model, f"{folder}/free")))
        halves = [scan(model, f"{folder}/two", f"{k}/2", str(k - 1)) for k in (1, 2)]
        two = best_run(repeat, lambda: at_once(halves))
        parts = [f"{folder}/two.part-{k}-of-2.h5" for k in (1, 2)]
        merge = best_run(repeat, lambda: goals("merge", *parts, "--out", f"{folder}/two", "--overwrite"))
        alone, shared = scoring(folder, "one.scan.log", repeat), scoring(folder, "two.part-*.log", repeat)
    table.add("one process, one thread, one CPU", f"{one.seconds:.2f} s", "1x")
    beside = f"{one.seconds / free.seconds:.2f}x"
    table.add("the same where it may read on a second CPU", f"{free.seconds:.2f} s", beside)
    ratio = one.seconds / two.seconds
    table.add("two processes, a part each", f"{two.seconds:.2f} s", f"{ratio:.2f}x", "at least 1.7x", ratio >= 1.7)
    table.add("scoring alone, one process", f"{alone:.1f} s", "1x")
    table.add("scoring alone, the slower of two", f"{shared:.1f} s", f"{alone / max(shared, 0.05):.2f}x")
    table.add("goals merge", f"{merge.seconds:.2f} s")
    table.show()


if __name__ == "__main__":
    main()
