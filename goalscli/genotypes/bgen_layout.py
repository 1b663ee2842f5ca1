"""The structure of a BGEN file: header, sample IDs and variant headers, walked without decompressing a genotype.

Every length is held against the file's size, so that a cut or damaged file is known before the first genotype is read.
Layout: https://www.chg.ox.ac.uk/~gav/bgen_format/spec/latest.html.
"""

from __future__ import annotations

import mmap
import struct
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

import numpy as np
from numpy.typing import NDArray

from goalscli.errors import InputError
from goalscli.genotypes.common import objects
from goalscli.genotypes.source import Variants

_CONVERT = "convert it: plink2 --bgen FILE REF-MODE --sample FILE --export bgen-1.2 bits=8"
_COPY = "the file is cut short or damaged: copy or make it again"


@dataclass(frozen=True)
class Layout:
    """What the headers of a BGEN file tell.

    Attributes
    ----------
    n_samples : int
    sample_ids : list of str or None
        None where the file holds none.
    variants : Variants
    offsets : (J,) int64
        Byte at which each variant begins.
    """

    n_samples: int
    sample_ids: list[str] | None
    variants: Variants
    offsets: NDArray[np.int64]


def read_layout(path: Path, ref_first: bool) -> Layout:
    """Walk the headers.

    Parameters
    ----------
    path : Path
    ref_first : bool
        The first allele is the reference, so the second is counted; otherwise the first is.

    Raises
    ------
    InputError
        Not a BGEN of layout 2, cut short, damaged, without variants, or a variant without exactly two alleles.
    """
    if path.stat().st_size < 24:
        _fail(path, f"{path.stat().st_size} bytes: too short for a BGEN file")
    with open(path, "rb") as handle, mmap.mmap(handle.fileno(), 0, access=mmap.ACCESS_READ) as data:
        return _Walker(path, data).walk(ref_first)


def _fail(path: Path, problem: str, remedy: str = _COPY) -> NoReturn:
    raise InputError(problem, where=path, remedy=remedy)


class _Walker:
    """A position in the mapped file."""

    def __init__(self, path: Path, data: mmap.mmap) -> None:
        self.path, self.data, self.size = path, data, len(data)

    def walk(self, ref_first: bool) -> Layout:
        start, length, n_variants, n_samples, magic = struct.unpack_from("<IIII4s", self.data)
        if magic not in (b"bgen", b"\0\0\0\0"):
            _fail(self.path, f"not a BGEN file (bytes 17 to 20 are {magic!r})", "give a .bgen file to --bgen")
        if length < 20 or length > start or start + 4 > self.size:
            _fail(
                self.path, f"header of {length} bytes, variants from byte {start + 4}, in a file of {self.size} bytes"
            )
        (flags,) = struct.unpack_from("<I", self.data, length)
        compression, layout, has_ids = flags & 3, flags >> 2 & 15, bool(flags >> 31)
        if layout != 2:
            _fail(self.path, f"BGEN layout {layout}; only layout 2 (BGEN 1.2 and 1.3) is read", _CONVERT)
        if compression == 3:
            _fail(self.path, "unknown compression 3", _CONVERT)
        if not n_samples or not n_variants:
            _fail(self.path, f"{n_samples} samples and {n_variants} variants in the header", "give a file with both")
        ids = self._sample_ids(length + 4, start + 4, n_samples) if has_ids else None
        variants, offsets = self._variants(start + 4, n_variants, n_samples, compression > 0, ref_first)
        return Layout(n_samples, ids, variants, offsets)

    def _sample_ids(self, at: int, stop: int, n_samples: int) -> list[str]:
        ids = []
        try:
            length, count = struct.unpack_from("<II", self.data, at)
            if count != n_samples or at + length > stop:
                _fail(self.path, f"{count} sample IDs in {length} bytes, but {n_samples} samples in the header")
            stop, at = at + length, at + 8
            for _ in range(count):
                (width,) = struct.unpack_from("<H", self.data, at)
                at += 2 + width
                if at > stop:
                    _fail(self.path, f"the sample IDs run over their {length} bytes")
                ids.append(self.data[at - width : at].decode())
                if "\0" in ids[-1]:
                    _fail(self.path, f"sample ID {len(ids)} holds a NUL byte")
        except (struct.error, UnicodeDecodeError) as error:
            raise InputError(f"unreadable sample IDs ({error})", where=self.path, remedy=_COPY) from error
        return ids

    def _variants(
        self, at: int, n_variants: int, n_samples: int, compressed: bool, ref_first: bool
    ) -> tuple[Variants, NDArray[np.int64]]:
        # Of two alleles and ploidy up to 2, a block has 10 + n bytes and at most two numbers of 32 bits a sample.
        least, most = 10 + n_samples, 10 + 9 * n_samples
        offsets = np.empty(min(n_variants, self.size // 20 + 1), dtype=np.int64)
        columns: tuple[list[str], ...] = ([], [], [], [])
        chroms, ids, firsts, seconds = columns
        positions = []
        for number in range(n_variants):
            begin = at
            try:
                snp_id, at = self._text(at, "<H")
                rs_id, at = self._text(at, "<H")
                chrom, at = self._text(at, "<H")
                position, n_alleles = struct.unpack_from("<IH", self.data, at)
                at += 6
                name = rs_id or snp_id or "."
                if n_alleles != 2:
                    self._not_biallelic(number, name, chrom, position, n_alleles)
                first, at = self._text(at, "<I")
                second, at = self._text(at, "<I")
                block, expanded = struct.unpack_from("<II", self.data, at) if compressed else (0, 0)
                if not compressed:
                    (block,) = struct.unpack_from("<I", self.data, at)
                    expanded = block
            except (struct.error, UnicodeDecodeError, IndexError) as error:
                raise InputError(
                    f"variant {number + 1} of {n_variants} is cut short or unreadable at byte {begin} of {self.size}",
                    where=self.path,
                    remedy=_COPY,
                ) from error
            at += 4 + block
            if at > self.size or not least <= expanded <= most or (compressed and block < 4):
                _fail(
                    self.path,
                    f"variant {number + 1} of {n_variants} ({name}) has {expanded} bytes of genotypes up to byte {at}; "
                    f"{least} to {most} bytes are possible for {n_samples} samples, and the file has {self.size}",
                )
            offsets[number] = begin
            chroms.append(sys.intern(chrom or "0"))
            ids.append(name)
            firsts.append(sys.intern(first))
            seconds.append(sys.intern(second))
            positions.append(position)
        if at != self.size:
            _fail(self.path, f"{self.size - at} bytes follow the last of {n_variants} variants")
        a1, a2 = (seconds, firsts) if ref_first else (firsts, seconds)
        pos = np.array(positions, dtype=np.int64)
        return Variants(objects(chroms), objects(ids), pos, objects(a1), objects(a2)), offsets

    def _text(self, at: int, width: str) -> tuple[str, int]:
        (length,) = struct.unpack_from(width, self.data, at)
        at += struct.calcsize(width)
        if at + length > self.size:
            raise IndexError(at)
        text = self.data[at : at + length]
        if b"\0" in text:
            raise IndexError(at)
        return text.decode(), at + length

    def _not_biallelic(self, number: int, name: str, chrom: str, position: int, n_alleles: int) -> NoReturn:
        _fail(
            self.path,
            f"variant {number + 1} ({name}, {chrom}:{position}) has {n_alleles} alleles; only two are read",
            "split it (bcftools norm -m -any) or leave such variants out (plink2 --max-alleles 2 --export bgen-1.2)",
        )
