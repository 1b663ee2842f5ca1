"""PLINK 2 filesets: .pvar and .psam parsed here, hard calls and dosages of the .pgen through Pgenlib, counting ALT.

``plink2 --make-bed`` writes ALT in the fifth column of a .bim, A1, so a .bed and its .pgen count the same allele.
Haploid genotypes are 0 and 2, as in a .bed.
"""

from __future__ import annotations

import os
import threading
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from goalscli.errors import InputError
from goalscli.genotypes.common import existing, for_samples, optional
from goalscli.genotypes.pvar import read_psam, read_pvar

_MAKE = "make the fileset again: plink2 --make-pgen"
_IN_CACHE = 2**17
"""Dosages decoded at once: small enough that marking the missing ones finds them in the cache."""
_BLOCK = 65536
"""Variants in one block of a .pgen's header."""


class PgenSource:
    """An opened pgen/pvar/psam fileset (see :class:`goalscli.genotypes.source.GenotypeSource`)."""

    def __init__(self, pgen: Path, pvar: Path, psam: Path) -> None:
        self.pgen, self.pvar, self.psam = pgen, pvar, psam
        self.samples = read_psam(psam)
        self.variants = read_pvar(pvar)
        n, j = len(self.samples), len(self.variants)
        _check_pgen(pgen, n, j, pvar, psam)
        self._lock = threading.Lock()
        package = optional("pgenlib", "pgen")
        try:
            self._reader = package.PgenReader(os.fsencode(pgen), raw_sample_ct=n, variant_ct=j)
        except (RuntimeError, MemoryError, OverflowError, AssertionError) as error:
            raise InputError(f"cannot be opened: {_text(error)}", where=pgen, remedy=_MAKE) from error

    @property
    def files(self) -> tuple[Path, ...]:
        """The .pgen, .pvar and .psam."""
        return (self.pgen, self.pvar, self.psam)

    def read(self, samples: NDArray[np.intp], variants: NDArray[np.intp]) -> NDArray[np.float32]:
        """Copies of ALT, (samples, variants) float32 in Fortran order, NaN where missing.

        Raises
        ------
        InputError
            Damaged genotypes.
        """
        block = _rows(len(variants), len(self.samples))
        step = max(1, _IN_CACHE // block.shape[1])
        with self._lock:
            for start in range(0, len(block), step):
                self._decode(variants[start : start + step], block[start : start + step])
        return for_samples(block, samples)

    def _decode(self, variants: NDArray[np.intp], block: NDArray[np.float32]) -> None:
        try:
            self._reader.read_dosages_list(variants.astype(np.uint32), block)
        except RuntimeError as error:
            self._blame(variants, error)
        if block.max() > 2:
            raise InputError("dosages outside [0, 2]", where=self.pgen, remedy=_MAKE)
        if block.min() < 0:
            # Missing is -9, the only negative: spreading the sign over all bits makes NaN, in a third of a mask's time.
            bits = block.view(np.int32)
            np.bitwise_or(bits, bits >> 31, out=bits)

    def _blame(self, variants: NDArray[np.intp], error: RuntimeError) -> NoReturn:
        """Name the first variant that cannot be read."""
        (row,) = _rows(1, len(self.samples))
        which = "genotypes cannot be read"
        for variant in variants.tolist():
            try:
                self._reader.read_dosages(variant, row)
            except RuntimeError:
                which = f"variant {variant + 1} ({self.variants.id[variant]}) cannot be read"
                break
        raise InputError(f"{which}: {_text(error)}", where=self.pgen, remedy=_MAKE) from error

    def describe(self) -> dict[str, Any]:
        """Format and absolute paths."""
        paths = {"pgen": self.pgen, "pvar": self.pvar, "psam": self.psam}
        return {"format": "pgen", **{k: str(p.resolve()) for k, p in paths.items()}}


def open_pgen(
    prefix: str | Path | None = None,
    *,
    pgen: str | Path | None = None,
    pvar: str | Path | None = None,
    psam: str | Path | None = None,
) -> PgenSource:
    """Open PREFIX.pgen, PREFIX.pvar and PREFIX.psam, or files named singly.

    Parameters
    ----------
    prefix : str or Path, optional
        The fileset's name, with or without .pgen.
    pgen, pvar, psam : str or Path, optional
        Files in place of those of the prefix; a .bim and a .fam will do for the latter two.

    Raises
    ------
    InputError
        A file is missing, malformed (``file:line`` is named), compressed (.pvar.zst), of another size than its own
        header tells, or does not fit the others; a variant with several ALT alleles.
    SettingsError
        The package Pgenlib is not installed.
    """
    if prefix is None and pgen is not None and str(pgen).endswith(".pgen"):
        prefix = str(pgen)[: -len(".pgen")]
    elif prefix is not None and str(prefix).endswith(".pgen") and not Path(f"{prefix}.pgen").exists():
        prefix = str(prefix)[: -len(".pgen")]
    paths = {}
    for suffix, given in (("pgen", pgen), ("pvar", pvar), ("psam", psam)):
        if given is None and prefix is None:
            raise InputError(f"no .{suffix} file given", remedy=f"give --pfile PREFIX or --{suffix} FILE")
        path = Path(given) if given is not None else Path(f"{prefix}.{suffix}")
        packed = path if path.suffix == ".zst" else Path(f"{path}.zst")
        if packed.is_file() and (packed == path or not path.exists()):
            raise InputError("compressed with Zstandard", where=packed, remedy=f"unpack it: zstd -d {packed}")
        option = f"--{suffix} {given}" if given is not None else f"--pfile {prefix}"
        paths[suffix] = existing(path, option, "check the path; --pfile takes the name without .pgen")
    return PgenSource(paths["pgen"], paths["pvar"], paths["psam"])


def _rows(count: int, n: int) -> NDArray[np.float32]:
    """Return an uninitialised (count, n) array with room behind it.

    From a damaged record Pgenlib writes dosages of samples beyond the last, up to the end of a word of 64 bits: into
    the next row, which is decoded later, and after the last row into this room.
    """
    return np.empty(count * n + 64, dtype=np.float32)[: count * n].reshape(count, n)


def _text(error: BaseException) -> str:
    said = error.args[0] if error.args else error
    return (said.decode(errors="replace") if isinstance(said, bytes) else str(said)).strip().rstrip(".")


def _check_pgen(pgen: Path, n: int, j: int, pvar: Path, psam: Path) -> None:
    """Hold the .pgen's own counts and record lengths against the other files and its size.

    Pgenlib checks the sizes of all storage modes but 0x10 (records of varying length), and that one only on reading.
    """
    size = pgen.stat().st_size
    with open(pgen, "rb") as handle:
        head = handle.read(12)
        if len(head) < 3 or head[:2] != b"\x6c\x1b" or head[2] == 0:
            raise InputError("not a .pgen file", where=pgen, remedy="give a file made by plink2 --make-pgen")
        if head[2] == 1:
            return
        if len(head) < 12:
            raise InputError(f"{size} bytes: cut short", where=pgen, remedy="copy the file again")
        found_j, found_n = (int(count) for count in np.frombuffer(head, dtype="<u4", count=2, offset=3))
        if (found_n, found_j) != (n, j):
            raise InputError(
                f"{found_n} samples and {found_j} variants, but {n} in {psam.name} and {j} in {pvar.name}",
                where=pgen,
                remedy="the .pvar or .psam belongs to another .pgen; copy the three files again",
            )
        if head[2] != 0x10 or head[11] & 0x08:
            return
        n_blocks = -(-j // _BLOCK)
        starts = handle.read(8 * n_blocks)
        expected = 0
        for block in range(n_blocks if len(starts) == 8 * n_blocks else 0):
            (start,) = np.frombuffer(starts, dtype="<u8", count=1, offset=8 * block).tolist()
            if block and start != expected:
                break
            expected = start + _record_bytes(handle.read, head[11], min(_BLOCK, j - block * _BLOCK))
    if expected != size:
        raise InputError(
            f"{size} bytes found, {expected or 'more'} expected from its own header",
            where=pgen,
            remedy="the file is cut short or damaged: copy or make it again",
        )


def _record_bytes(read: Any, control: int, count: int) -> int:
    """Sum the record lengths of one block of the header and step over the rest of it."""
    width, allele_bytes = (control & 3) + 1, control >> 4 & 3
    read(count if control & 4 else (count + 1) // 2)
    lengths = read(width * count)
    read(allele_bytes * count)
    if control >> 6 == 3:
        read((count + 7) // 8)
    if len(lengths) < width * count:
        return 0
    digits = np.frombuffer(lengths, dtype=np.uint8).reshape(count, width).sum(axis=0, dtype=np.int64)
    return int(digits @ (1 << 8 * np.arange(width)))
