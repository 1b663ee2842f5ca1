"""The machine we are a guest on: threads, memory limit, signals, progress and the log.

Imports neither numpy nor anything heavy, since the thread count must be set before BLAS loads.
"""

from __future__ import annotations

import logging
import os
import resource
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import FrameType, TracebackType

from goalscli.errors import OutputError, ResourceError, SettingsError

LOG = logging.getLogger("goalscli")

_BLAS_VARIABLES = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "BLIS_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
)
_GIB = 1024**3


def _cgroup_files(name_v2: str, controller: str, name_v1: str, root: Path) -> Iterator[Path]:
    """Limit files of this process's cgroup and all its parents, version 2 then 1."""
    try:
        lines = (root / "proc/self/cgroup").read_text().splitlines()
    except OSError:
        lines = []
    groups = [tuple(line.split(":", 2)) for line in lines if line.count(":") >= 2]
    base = root / "sys/fs/cgroup"
    v2 = next((g[2] for g in groups if g[0] == "0"), "/")
    together, v1 = next(((g[1], g[2]) for g in groups if controller in g[1].split(",")), (controller, "/"))
    tops = [(base, v2, name_v2), (base / "unified", v2, name_v2)]
    # Controllers mounted together have links with the name of each, but not in every container.
    tops += [(base / name, v1, name_v1) for name in dict.fromkeys((controller, together))]
    for top, inner, name in tops:
        folder = top / inner.strip("/")
        for place in (folder, *folder.parents):
            if (place / name).is_file():
                yield place / name
            if place == top:
                break


def cpu_limit(root: Path = Path("/")) -> int:
    """Return how many CPUs this process may use: the smaller of its affinity and the cgroup's quota."""
    affinity = getattr(os, "sched_getaffinity", None)
    cpus = len(affinity(0)) if affinity else (os.cpu_count() or 1)
    for path in _cgroup_files("cpu.max", "cpu", "cpu.cfs_quota_us", root):
        fields = path.read_text().split()
        if path.name != "cpu.max":
            try:
                fields += path.with_name("cpu.cfs_period_us").read_text().split()
            except OSError:
                fields.append("100000")  # its default
        if len(fields) == 2 and fields[0] not in ("max", "-1"):
            cpus = min(cpus, max(1, int(float(fields[0]) / float(fields[1]))))
    return cpus


def memory_limit(root: Path = Path("/")) -> int:
    """Return the bytes this process may use: the least of the machine's memory, the cgroup's limit and ulimit -v."""
    limits = [os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")]
    files = _cgroup_files("memory.max", "memory", "memory.limit_in_bytes", root)
    limits += [int(text) for path in files if (text := path.read_text().strip()).isdigit()]
    soft, _ = resource.getrlimit(resource.RLIMIT_AS)
    if soft != resource.RLIM_INFINITY:
        limits.append(soft)
    return min(limits)


def check_memory(needed: float, what: str, limit_gb: float | None = None) -> None:
    """Refuse early what cannot fit.

    Parameters
    ----------
    needed : float
        Estimated peak, bytes.
    what : str
        What needs it, with its numbers.
    limit_gb : float, optional
        GiB allowed (``--memory``); the machine's or container's limit when not given.

    Raises
    ------
    ResourceError
        When ``needed`` is above the limit.
    """
    limit = memory_limit() if limit_gb is None else limit_gb * _GIB
    if needed > limit:
        raise ResourceError(
            f"{what} needs about {needed / _GIB:.3g} GiB of memory; {limit / _GIB:.3g} GiB are allowed",
            where=None if limit_gb is None else f"--memory {limit_gb:g}",
            remedy="use fewer samples, a larger machine, or raise --memory",
        )


def use_threads(threads: int | None) -> int:
    """Set the number of threads for BLAS, before it loads where that is still possible.

    Returns
    -------
    int
        The number in force: ``threads``, or :func:`cpu_limit` where None.
    """
    if threads is not None and threads < 1:
        raise SettingsError(f"{threads} threads", where="--threads", remedy="give 1 or more")
    count = cpu_limit() if threads is None else threads
    for name in _BLAS_VARIABLES:
        os.environ[name] = str(count)
    if "numpy" in sys.modules:
        from threadpoolctl import threadpool_limits

        threadpool_limits(count)
    return count


@contextmanager
def single_threaded_blas() -> Iterator[None]:
    """Let each caller's thread run its own one-threaded products (see :mod:`goalscli.scanning`)."""
    from threadpoolctl import threadpool_limits

    with threadpool_limits(1):
        yield


@contextmanager
def graceful_termination() -> Iterator[None]:
    """Turn SIGTERM into ``SystemExit(143)``, so that ``finally`` blocks run before a scheduler's SIGKILL."""

    def stop(signum: int, frame: FrameType | None) -> None:
        raise SystemExit(128 + signum)

    previous = signal.signal(signal.SIGTERM, stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, previous)


class _LogFile(logging.FileHandler):
    """A log whose disk may get full: the work that it tells of will say so in one line, so the log need not."""

    def handleError(self, record: logging.LogRecord) -> None:
        """Leave the line out."""

    def close(self) -> None:
        """Close, whether or not the last lines can be written."""
        with suppress(OSError):
            super().close()


@contextmanager
def logging_to(path: str | Path | None, *, quiet: bool = False, verbose: bool = False) -> Iterator[None]:
    """Send the log to stderr and, appended, to ``path``.

    Raises
    ------
    OutputError
        The log cannot be written.
    """
    terminal = logging.StreamHandler(sys.stderr)
    terminal.setLevel(logging.WARNING if quiet else logging.DEBUG if verbose else logging.INFO)
    terminal.setFormatter(logging.Formatter("%(message)s"))
    handlers: list[logging.Handler] = [terminal]
    if path is not None:
        try:
            Path(path).parent.mkdir(parents=True, exist_ok=True)
            file = _LogFile(path, mode="a", encoding="utf-8")
        except OSError as error:
            raise OutputError(
                f"cannot be written ({error.strerror})",
                where=path,
                remedy="give an --out in a folder you may write to",
            ) from error
        file.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(message)s"))
        handlers.append(file)
    for handler in handlers:
        LOG.addHandler(handler)
    LOG.setLevel(logging.DEBUG)
    try:
        yield
    finally:
        for handler in handlers:
            LOG.removeHandler(handler)
            handler.close()


class Progress:
    """Say how far long work has come: a bar on a terminal, else a timed line every ``interval`` seconds.

    Parameters
    ----------
    what : str
        The work's name.
    total : int
        How many units there are.
    interval : float
        Seconds between lines off a terminal.
    """

    def __init__(self, what: str, total: int, *, interval: float = 10.0) -> None:
        self.what, self.total, self.interval = what, total, interval
        self.done = 0
        self._start = self._last = time.monotonic()
        # A quiet run has no handler that would show INFO; a bar would be the same noise by another way.
        shown = any(type(h) is logging.StreamHandler and h.level <= logging.INFO for h in LOG.handlers)
        self._bar = shown and sys.stderr.isatty()

    def __enter__(self) -> Progress:
        return self

    def advance(self, units: int) -> None:
        """Count ``units`` more as done."""
        self.done += units
        now = time.monotonic()
        if now - self._last < (0.1 if self._bar else self.interval) and self.done < self.total:
            return
        share = self.done / max(1, self.total)
        left = (now - self._start) * (1 - share) / max(share, 1e-9)
        if self._bar:
            filled = int(30 * share)
            bar = f"\r{self.what} [{'#' * filled}{'.' * (30 - filled)}] {share:4.0%} {left:5.0f} s left "
            sys.stderr.write(bar)
            sys.stderr.flush()
        elif now - self._last >= self.interval and self.done < self.total:
            LOG.info(
                "%s: %d of %d (%.0f%%), about %.0f s left",
                self.what,
                self.done,
                self.total,
                100 * share,
                left,
            )
        self._last = now

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None, tb: TracebackType | None) -> None:
        if self._bar:
            sys.stderr.write("\r\033[K")
            sys.stderr.flush()
        if kind is None:
            LOG.info("%s: done in %.1f s", self.what, time.monotonic() - self._start)


def scan_prefix(model: str | Path) -> str:
    """PREFIX of PREFIX.model.h5: where a scan's files go unless told otherwise."""
    return str(model).removesuffix(".h5").removesuffix(".model")
