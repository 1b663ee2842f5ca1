"""BGEN files of layout 2 (BGEN 1.2 and 1.3), decoded by the package ``bgen``; they need no index file.

Which allele is counted. The alternate allele is, as in the other formats. Which one that is the file does not tell:
by default the last allele is taken as the reference and the first is counted (a1), as plink2 does under ``ref-last``
and ``ref-unknown`` and regenie by default; with ``ref_first`` the second is counted, as under their ``ref-first``.
Files from ``plink2 --export bgen-1.x`` are of the first kind, and of the second with its ``ref-first``; raw UK Biobank
files are of the second. Read so, a .bed file, its BGEN and its PGEN by plink2 count the same allele.

Haploid genotypes (males on X and Y) are counted 0 and 2, as PLINK codes them in a .bed.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from goalscli.errors import InputError
from goalscli.genotypes.bgen_layout import read_layout
from goalscli.genotypes.common import existing, for_samples, make_samples, optional
from goalscli.genotypes.sample_file import read_sample_file
from goalscli.genotypes.source import Samples
from goalscli.runtime import LOG

_DECODING_ERRORS = (ValueError, IndexError, RuntimeError, MemoryError, OverflowError)
_DIPLOID = 2
_IN_CACHE = 2**17
"""Dosages worked on at once."""
_COPY = "the file is damaged or not as expected: copy or make it again"


class BgenSource:
    """An opened BGEN file (see :class:`goalscli.genotypes.source.GenotypeSource`)."""

    def __init__(self, bgen: Path, sample: Path | None, ref_first: bool) -> None:
        self.bgen, self.sample, self.ref_first = bgen, sample, ref_first
        layout = read_layout(bgen, ref_first)
        self.variants = layout.variants
        self._offsets = layout.offsets
        self.samples = _samples(bgen, sample, layout.sample_ids, layout.n_samples)
        self._all_diploid = bytes([_DIPLOID]) * layout.n_samples
        self._lock = threading.Lock()
        package = optional("bgen", "bgen")
        # A .bgi beside the file, which the package would open, may be stale or damaged, and is not needed.
        without_index = type("Reader", (package.BgenReader,), {"_check_for_index": lambda self, path: False})
        try:
            with _package_log():
                self._reader = without_index(str(bgen), delay_parsing=True)
        except _DECODING_ERRORS as error:
            raise InputError(f"cannot be opened: {error}", where=bgen, remedy=_COPY) from error

    @property
    def files(self) -> tuple[Path, ...]:
        """The .bgen, and the .sample where one was given."""
        return (self.bgen,) if self.sample is None else (self.bgen, self.sample)

    def read(self, samples: NDArray[np.intp], variants: NDArray[np.intp]) -> NDArray[np.float32]:
        """Copies of a1, (samples, variants) float32 in Fortran order, NaN where missing.

        Raises
        ------
        InputError
            A variant that cannot be decoded, of ploidy above 2, or with probabilities that sum to more than 1.
        """
        block = np.empty((len(variants), len(self.samples)), dtype=np.float32)
        step = max(1, _IN_CACHE // block.shape[1])
        with self._lock, _package_log():
            for start in range(0, len(block), step):
                rows = slice(start, start + step)
                self._decode_all(variants[rows], block[rows])
        return for_samples(block, samples)

    def _decode_all(self, variants: NDArray[np.intp], block: NDArray[np.float32]) -> None:
        """Decode a few variants and turn them to the counted allele while they are in the cache."""
        variant = 0
        try:
            for row, variant in zip(block, variants.tolist(), strict=True):
                self._decode(variant, row)
        except _DECODING_ERRORS as error:
            problem = f"variant {variant + 1} ({self.variants.id[variant]}) cannot be read: {error}"
            raise InputError(problem, where=self.bgen, remedy=_COPY) from error
        # The package gives the second allele's copies.
        if not self.ref_first:
            np.subtract(2, block, out=block)
        low, high = np.fmin.reduce(block, axis=None, initial=0), np.fmax.reduce(block, axis=None, initial=2)
        if low < 0 or high > 2:
            self._clip(variants, block)

    def _decode(self, variant: int, row: NDArray[np.float32]) -> None:
        found = self._reader[variant]
        if found.fileoffset != self._offsets[variant]:
            raise ValueError(f"it was found at byte {found.fileoffset}, expected at {self._offsets[variant]}")
        row[:] = found.alt_dosage
        ploidy = found.ploidy
        if ploidy.tobytes() == self._all_diploid:
            return
        if ploidy.max() > _DIPLOID:
            raise ValueError(f"ploidy {ploidy.max()}; only haploid and diploid genotypes are read")
        row[ploidy == 1] *= 2
        # Of no copies at all (females on Y) nothing is known.
        row[ploidy == 0] = np.nan

    def _clip(self, variants: NDArray[np.intp], block: NDArray[np.float32]) -> None:
        """Clip what rounding puts outside [0, 2]; refuse what lies further out."""
        far = ((block < -1e-4) | (block > 2 + 1e-4)).any(axis=1)
        if far.any():
            variant = int(variants[np.flatnonzero(far)[0]])
            raise InputError(
                f"variant {variant + 1} ({self.variants.id[variant]}) has dosages outside [0, 2]",
                where=self.bgen,
                remedy=_COPY,
            )
        np.clip(block, 0, 2, out=block)

    def describe(self) -> dict[str, Any]:
        """Format, absolute paths and which allele is the reference."""
        told: dict[str, Any] = {"format": "bgen", "bgen": str(self.bgen.resolve()), "ref_first": self.ref_first}
        return told if self.sample is None else told | {"sample": str(self.sample.resolve())}


def open_bgen(path: str | Path, *, sample: str | Path | None = None, ref_first: bool = False) -> BgenSource:
    """Open a BGEN file of layout 2: zlib, zstd or no compression, 1 to 32 bits, phased, unphased or both.

    Parameters
    ----------
    path : str or Path
    sample : str or Path, optional
        The .sample file. Without it the IDs inside the BGEN are taken as IIDs, as they are, with FID "0" (no family).
    ref_first : bool
        The first allele of each variant is the reference, so the second is counted (plink2's ``ref-first``). By
        default the first allele is counted (plink2's ``ref-last`` and ``ref-unknown``).

    Raises
    ------
    InputError
        A file is missing, cut short or damaged; another layout than 2; a variant without exactly two alleles; no sample
        IDs anywhere; another number of samples in the .sample file; a sample listed twice.
    SettingsError
        The package ``bgen`` is not installed.
    """
    bgen = existing(path, f"--bgen {path}", "check the path; --bgen takes the whole name, with .bgen")
    return BgenSource(bgen, None if sample is None else existing(sample, f"--sample {sample}"), ref_first)


def _samples(bgen: Path, sample: Path | None, ids: list[str] | None, n_samples: int) -> Samples:
    if sample is not None:
        samples = read_sample_file(sample, n_samples)
        if ids is not None:
            pairs = list(zip(ids, samples.fid, samples.iid, strict=True))
            other = sum(one not in (iid, fid, f"{fid}_{iid}") for one, fid, iid in pairs)
            known = set(samples.iid), {f"{fid}_{iid}" for _, fid, iid in pairs}
            if other and any(listed == set(ids) for listed in known):
                raise InputError(
                    f"{other} of {n_samples} samples stand in another order than in {bgen}",
                    where=sample,
                    remedy="give the .sample file that was made with the .bgen",
                )
            if other:
                LOG.warning("warning: %d of %d sample IDs of %s differ from %s", other, n_samples, bgen, sample)
        return samples
    if ids is None:
        raise InputError(
            f"no sample IDs in this file ({n_samples} samples)",
            where=bgen,
            remedy="give the .sample file with --sample",
        )
    LOG.info("%s: sample IDs of the BGEN file, no families (FID 0); give --sample for FID and IID", bgen)
    return make_samples(["0"] * n_samples, ids, bgen)


class _PackageLog(logging.Handler):
    """The package only logs that probabilities sum to more than 1; PLINK 2 refuses such a file, and so do we.

    It logs by ``logging.debug`` and its like, which would put a handler of theirs on a root logger that has none.
    """

    def emit(self, record: logging.LogRecord) -> None:
        if record.name == "root" and "sum to more than the bit depth allows" in record.getMessage():
            raise ValueError("its probabilities sum to more than 1")


@contextmanager
def _package_log() -> Iterator[None]:
    handler, root = _PackageLog(), logging.getLogger()
    root.addHandler(handler)
    try:
        yield
    finally:
        root.removeHandler(handler)
