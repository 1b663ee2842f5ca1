"""Parts of a scan must share the work: two processes at once against one, each with one thread.

A simulated cohort is fitted once. One process scans all of it; then two processes scan part 1/2 and 2/2 at the same
time, and the merge is timed too. A process starts, reads the model and makes its kernel ready before it scores: that is
not shared, so the ratio is given with it and, from what the log says, for the scoring alone.
"""

from __future__ import annotations

import re
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from common import Run, Table, best_run, command, goals, load, parser, simulated, workspace


def scan(model: str, out: str, part: str = "") -> list[str]:
    split = ["--part", part] if part else []
    return [sys.executable, "-m", "goalscli", "scan", model, *split, "--local", "none", "--threads", "1", "--out", out,
            "--overwrite"]  # fmt: skip


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
    n, j, repeat = (100, 3000, 1) if options.smoke else (1000, 60_000, options.repeat)
    table = Table(f"goals scan of {n} samples x {j:,} variants, best of {repeat}; {load()}", not options.smoke)
    with workspace() as folder:
        data = simulated(folder, n, j)
        model = f"{folder}/m.model.h5"
        goals("fit", *data.options(), "--out", f"{folder}/m")
        one = best_run(repeat, lambda: command(scan(model, f"{folder}/one")))
        two = best_run(repeat, lambda: at_once([scan(model, f"{folder}/two", f"{k}/2") for k in (1, 2)]))
        parts = [f"{folder}/two.part-{k}-of-2.h5" for k in (1, 2)]
        merge = best_run(repeat, lambda: goals("merge", *parts, "--out", f"{folder}/two", "--overwrite"))
        alone, shared = scoring(folder, "one.scan.log", repeat), scoring(folder, "two.part-*.log", repeat)
    table.add("one process, one thread", f"{one.seconds:.2f} s", "1x")
    ratio = one.seconds / two.seconds
    table.add("two processes, a part each", f"{two.seconds:.2f} s", f"{ratio:.2f}x", "at least 1.7x", ratio >= 1.7)
    table.add("scoring alone, one process", f"{alone:.1f} s", "1x")
    table.add("scoring alone, the slower of two", f"{shared:.1f} s", f"{alone / max(shared, 0.05):.2f}x")
    table.add("goals merge", f"{merge.seconds:.2f} s")
    table.show()


if __name__ == "__main__":
    main()
