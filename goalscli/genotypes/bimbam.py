"""BIMBAM mean genotype files, GEMMA's text format: ``rs, A, B, value, value, ...``, one variant a line.

The values are copies of the first allele listed (GEMMA's allele 1, "minor allele first"), which is a1; NA is missing.
Fields are separated by commas, spaces or tabs, and the file may be gzipped. It names no samples.
"""

from __future__ import annotations

import codecs
import re
import sys
import threading
import weakref
from collections.abc import Iterator
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from goalscli.errors import InputError
from goalscli.genotypes.common import (
    DECOMPRESSION_ERRORS,
    existing,
    for_samples,
    lines,
    make_samples,
    objects,
    open_bytes,
    position,
)
from goalscli.genotypes.source import Samples, Strings, Variants
from goalscli.runtime import LOG

_HEAD = re.compile(rb"[ ,\t]*([^ ,\t\r\n]+)[ ,\t]+([^ ,\t\r\n]+)[ ,\t]+([^ ,\t\r\n]+)[ ,\t]+")
_TO_SPACES = bytes.maketrans(b",\t\r\n", b"    ")
_PARSED_AT_ONCE = 16 * 1024**2
"""Bytes of text; a block of many samples is parsed in several pieces."""
_COLUMNS = "rs, allele, allele, values"


@dataclass(frozen=True)
class _Index:
    """Where each variant's values are in the (unpacked) text."""

    start: NDArray[np.int64]
    length: NDArray[np.int64]
    line: NDArray[np.int64]
    n_samples: int


class BimbamSource:
    """An opened mean genotype file (see :class:`goalscli.genotypes.source.GenotypeSource`)."""

    def __init__(self, geno: Path, anno: Path | None, sample: Path | None) -> None:
        self.geno, self.anno, self.sample = geno, anno, sample
        ids, a1, a2, self._index = _index(geno)
        chrom, pos = _positions(ids, anno)
        self.variants = Variants(chrom, objects(ids), pos, objects(a1), objects(a2))
        self.samples = _samples(geno, sample, self._index.n_samples)
        self._lock = threading.Lock()
        self._handle = open_bytes(geno)
        weakref.finalize(self, self._handle.close)

    @property
    def files(self) -> tuple[Path, ...]:
        """The genotypes, and the annotation and sample list where given."""
        return tuple(path for path in (self.geno, self.anno, self.sample) if path is not None)

    def read(self, samples: NDArray[np.intp], variants: NDArray[np.intp]) -> NDArray[np.float32]:
        """Copies of a1, (samples, variants) float32 in Fortran order, NaN where missing.

        A gzipped file is unpacked on the way: reading in file order passes over it once, and going back begins anew.

        Raises
        ------
        InputError
            A value that is not a number in [0, 2] or NA (``file:line`` is named).
        """
        block = np.empty((len(variants), len(self.samples)), dtype=np.float32)
        with self._lock:
            done = 0
            for texts in self._texts(variants):
                block[done : done + len(texts)] = self._parse(texts, variants[done : done + len(texts)])
                done += len(texts)
        outside = ~((block >= 0) & (block <= 2) | np.isnan(block))
        if outside.any():
            row, column = np.argwhere(outside)[0]
            value = f"value {column + 1} is {block[row, column]:g}, outside [0, 2]"
            self._refuse(int(variants[row]), value)
        return for_samples(block, samples)

    def _texts(self, variants: NDArray[np.intp]) -> Iterator[list[bytes]]:
        """Yield the values' text, some variants at a time."""
        texts: list[bytes] = []
        size = 0
        places = self._index.start[variants].tolist(), self._index.length[variants].tolist()
        for start, length in zip(*places, strict=True):
            try:
                self._handle.seek(start)
                text = self._handle.read(length)
            except (OSError, *DECOMPRESSION_ERRORS) as error:
                raise InputError(f"cannot be read: {error}", where=self.geno, remedy="copy the file again") from error
            texts.append(text.translate(_TO_SPACES))
            size += length
            if size > _PARSED_AT_ONCE:
                yield texts
                texts, size = [], 0
        if texts:
            yield texts

    def _parse(self, texts: list[bytes], variants: NDArray[np.intp]) -> NDArray[np.float32]:
        try:
            return self._numbers(texts)
        except ValueError as error:
            for text, variant in zip(texts, variants.tolist(), strict=True):
                try:
                    self._numbers([text])
                except ValueError as at:
                    self._refuse(variant, str(at).split(" at row")[0])
            self._refuse(int(variants[0]), str(error))

    def _numbers(self, texts: list[bytes]) -> NDArray[np.float32]:
        table = BytesIO(b"\n".join(texts).replace(b"NA", b"nan"))
        values = np.loadtxt(table, dtype=np.float32, comments=None, ndmin=2, encoding="latin-1")
        if values.shape != (len(texts), self._index.n_samples):
            raise ValueError("another number of values than when the file was opened")
        return values

    def _refuse(self, variant: int, problem: str) -> NoReturn:
        raise InputError(
            f"{problem} (variant {self.variants.id[variant]})",
            where=f"{self.geno}:{self._index.line[variant]}",
            remedy="values are copies of the first allele, 0 to 2, or NA where missing",
        )

    def describe(self) -> dict[str, Any]:
        """Format and absolute paths."""
        paths = {"geno": self.geno, "anno": self.anno, "sample": self.sample}
        return {"format": "bimbam", **{k: str(p.resolve()) for k, p in paths.items() if p is not None}}


def open_bimbam(geno: str | Path, *, anno: str | Path | None = None, samples: str | Path | None = None) -> BimbamSource:
    """Open a mean genotype file, plain or gzipped.

    Parameters
    ----------
    geno : str or Path
    anno : str or Path, optional
        GEMMA's SNP annotation (rs, position, chromosome); variants that it does not list, or all without it, are
        unplaced: chromosome "0", position 0.
    samples : str or Path, optional
        One IID, or FID and IID, a line, in the order of the values. Without it the samples are "1" to "n", FID "0".

    Raises
    ------
    InputError
        A file is missing or malformed (``file:line`` is named), lines of different numbers of values, another number of
        sample IDs, or a sample listed twice.
    """
    return BimbamSource(
        existing(geno, f"--bimbam {geno}"),
        None if anno is None else existing(anno, f"--anno {anno}"),
        None if samples is None else existing(samples, f"--sample {samples}"),
    )


def _index(geno: Path) -> tuple[list[str], list[str], list[str], _Index]:
    """Pass once over the text: names, alleles, where the values begin, and that each line has as many."""
    names: tuple[list[str], list[str], list[str]] = ([], [], [])
    start, length, numbers = [], [], []
    at, n_samples, number = 0, 0, 0
    try:
        with open_bytes(geno) as handle:
            for number, line in enumerate(handle, 1):
                begin, at = at, at + len(line)
                if number == 1 and line.startswith(codecs.BOM_UTF8):
                    begin, line = begin + 3, line[3:]
                if b"\0" in line:
                    _wrong_line(geno, number, "not text in UTF-8 (NUL bytes)")
                if b"\r" in line.rstrip(b"\r\n"):
                    _wrong_line(geno, number, "line ends of an old Macintosh (\\r alone): rewrite the file with \\n")
                head = _HEAD.match(line)
                values = 0 if head is None else len(line[head.end() :].translate(_TO_SPACES).split())
                if head is None or values == 0:
                    if not line.strip():
                        continue
                    _wrong_line(geno, number, "fewer than four fields")
                if n_samples and values != n_samples:
                    _wrong_line(geno, number, f"{values} values, but {n_samples} in the lines before")
                n_samples = values
                for text, column in zip(head.groups(), names, strict=True):
                    column.append(sys.intern(text.decode().strip('"')))
                start.append(begin + head.end())
                length.append(at - begin - head.end())
                numbers.append(number)
    except UnicodeDecodeError:
        _wrong_line(geno, number, "not text in UTF-8")
    except DECOMPRESSION_ERRORS as error:
        raise InputError(f"damaged gzip file ({error})", where=geno, remedy="copy or make the file again") from error
    if not start:
        raise InputError("no variants", where=geno, remedy="check that the file is not empty")
    return *names, _Index(np.array(start), np.array(length), np.array(numbers), n_samples)


def _wrong_line(geno: Path, number: int, problem: str) -> NoReturn:
    raise InputError(problem, where=f"{geno}:{number}", remedy=f"each line has {_COLUMNS}: one value a sample")


def _positions(ids: list[str], anno: Path | None) -> tuple[Strings, NDArray[np.int64]]:
    places: dict[str, tuple[str, int]] = {}
    for number, text in lines(anno) if anno is not None else ():
        fields = text.replace(",", " ").replace('"', "").split()
        if number == 1 and len(fields) > 1 and fields[1].lower() in ("pos", "ps", "bp", "position"):
            continue
        if len(fields) < 3:
            raise InputError(
                f"{len(fields)} columns, expected 3", where=f"{anno}:{number}", remedy="give rs, position, chromosome"
            )
        unknown = fields[1] in ("NA", "-9")
        place = fields[2], (0 if unknown else position(fields[1], f"{anno}:{number}", "write NA where unknown"))
        if place[0] in ("NA", "-9"):
            place = "0", 0
        if places.setdefault(fields[0], place) != place:
            raise InputError(
                f"variant {fields[0]} has two places", where=f"{anno}:{number}", remedy="keep one line a variant"
            )
    if anno is not None and not places.keys() & set(ids):
        raise InputError(
            f"none of the {len(ids)} variants ({', '.join(ids[:3])}, ...) is among the {len(places)} of this file",
            where=f"--anno {anno}",
            remedy="give rs, position, chromosome, with the IDs of the genotypes",
        )
    placed = [places.get(name, ("0", 0)) for name in ids]
    unplaced = sum(chrom == "0" for chrom, _ in placed)
    if unplaced:
        LOG.info("%d of %d variants unplaced (chromosome 0): --anno gives no chromosome", unplaced, len(ids))
    return objects([chrom for chrom, _ in placed]), np.array([pos for _, pos in placed], dtype=np.int64)


def _samples(geno: Path, sample: Path | None, n_samples: int) -> Samples:
    if sample is None:
        LOG.info('%s: BIMBAM names no samples: IIDs "1" to "%d", FID "0"; give IDs with --sample', geno, n_samples)
        return make_samples(["0"] * n_samples, [str(k) for k in range(1, n_samples + 1)], geno)
    rows = [(number, text.replace(",", " ").split()) for number, text in lines(sample)]
    if rows and rows[0][1] and rows[0][1][0].lstrip("#").upper() in ("FID", "IID"):
        rows.pop(0)
    uneven = [number for number, fields in rows if len(fields) != (len(rows[0][1]) or 1)]
    if uneven:
        raise InputError("another number of columns", where=f"{sample}:{uneven[0]}", remedy="give IID, or FID and IID")
    if len(rows) != n_samples:
        raise InputError(
            f"{len(rows)} sample IDs, but the genotypes have {n_samples} values a line",
            where=sample,
            remedy="list each sample once, in the order of the values",
        )
    two = len(rows[0][1]) > 1
    fid = [fields[0] if two else "0" for _, fields in rows]
    return make_samples(fid, [fields[1] if two else fields[0] for _, fields in rows], sample)
