"""Which samples and variants of a genotype file are looked at: lists, chromosomes, a range."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from goalscli.dataset import Selected
from goalscli.errors import InputError, Problems, SettingsError
from goalscli.genotypes.source import GenotypeSource, Strings, Variants
from goalscli.jobs.variants import read_ids
from goalscli.phenotypes import Table, join, read_sample_list
from goalscli.phenotypes.tables import listed
from goalscli.runtime import LOG

_PREFIX = re.compile("^chr(?=.)", re.IGNORECASE)
_RANGE = re.compile(r"(?:chr)?([0-9]+)-(?:chr)?([0-9]+)", re.IGNORECASE)


@dataclass(frozen=True)
class Selection:
    """Lists of samples and variants, in PLINK's words; everything where nothing is given.

    Attributes
    ----------
    keep, remove : str, optional
        Files of samples: FID and IID, or IID alone, one a line.
    extract, exclude : str, optional
        Files of variants: the first word of each line. ``chrom:pos`` and ``chrom:pos:a1:a2`` name variants whose ID
        is "." too.
    chr : str, optional
        Chromosomes, comma-separated, ranges of numbers among them: "1-4,X"; with or without "chr".
    from_bp, to_bp : int, optional
        First and last position, in base pairs, on the only chromosome of ``chr``.

    Raises
    ------
    SettingsError
        ``chr`` cannot be read, or the range is none or has no single chromosome.
    """

    keep: str | None = None
    remove: str | None = None
    extract: str | None = None
    exclude: str | None = None
    chr: str | None = None
    from_bp: int | None = None
    to_bp: int | None = None

    def __post_init__(self) -> None:
        problems, items = Problems(), []
        with problems.catching():
            items = [] if self.chr is None else _items(self.chr)
        limits = [(name, value) for name, value in (("from", self.from_bp), ("to", self.to_bp)) if value is not None]
        problems.add(
            SettingsError(f"{value} is negative", where=f"--{name}-bp", remedy="give a position in base pairs")
            for name, value in limits
            if value < 0
        )
        ends = [_RANGE.fullmatch(item) for item in items]
        if limits and not problems.found and (len(items) != 1 or (ends[0] is not None and ends[0][1] != ends[0][2])):
            given = "there is no --chr" if self.chr is None else f"--chr {self.chr} is not one"
            text, remedy = f"needs one chromosome, and {given}", "name exactly one with --chr"
            problems.add([SettingsError(text, where=f"--{limits[0][0]}-bp", remedy=remedy)])
        if self.from_bp is not None and self.to_bp is not None and self.from_bp > self.to_bp:
            text = f"{self.from_bp} lies behind --to-bp {self.to_bp}"
            problems.add([SettingsError(text, where="--from-bp", remedy="exchange the two")])
        problems.raise_any()

    @property
    def files(self) -> tuple[Path, ...]:
        """The lists' paths."""
        given = (self.keep, self.remove, self.extract, self.exclude)
        return tuple(Path(path) for path in dict.fromkeys(given) if path is not None)

    @classmethod
    def usable(cls, given: Mapping[str, Any]) -> Selection:
        """Make a selection of the lists alone, where chromosomes or the range are at fault."""
        return cls(**{name: given[name] for name in ("keep", "remove", "extract", "exclude")})


def select(source: GenotypeSource, selection: Selection, problems: Problems, *, iid_only: bool = False) -> Selected:
    """Find the rows that the lists leave, in the order keep, remove, extract, exclude, chr, from-bp, to-bp.

    Parameters
    ----------
    source : GenotypeSource
    selection : Selection
    problems : Problems
        Takes the InputError of each list that cannot be read or names nothing in the genotypes.
    iid_only : bool
        Match sample lists on IID alone.
    """
    samples, variants = np.ones(len(source.samples), bool), np.ones(len(source.variants), bool)
    steps = []
    for name, path in (("keep", selection.keep), ("remove", selection.remove)):
        if path is None:
            continue
        with problems.catching():
            named = _named_samples(source, path, f"--{name}", iid_only)
            left = samples & (named if name == "keep" else ~named)
            steps.append((name, int(samples.sum() - left.sum()), 0))
            samples = left
    for name, find in _variant_steps(source.variants, selection):
        with problems.catching():
            left = variants & find()
            steps.append((name, 0, int(variants.sum() - left.sum())))
            variants = left
    return Selected(np.flatnonzero(samples), np.flatnonzero(variants), tuple(steps))


def read_lists(selection: Selection, problems: Problems) -> None:
    """Read the lists without genotypes to look them up in."""
    for option, path in (("--keep", selection.keep), ("--remove", selection.remove)):
        if path is not None:
            with problems.catching():
                read_sample_list(path, option=option)
    for option, path in (("--extract", selection.extract), ("--exclude", selection.exclude)):
        if path is not None:
            with problems.catching():
                _listed_variants(path, option)


def _named_samples(source: GenotypeSource, path: str, option: str, iid_only: bool) -> NDArray[np.bool_]:
    table = read_sample_list(path, option=option)
    samples = source.samples
    joined = join(samples.fid, samples.iid, table, iid_only=iid_only, option=f"{option} {path}")
    if joined.note:
        LOG.info("%s", joined.note)
    absent = np.setdiff1d(np.arange(len(table)), joined.rows)
    LOG.info("%s %s: %d of its %d samples genotyped", option, path, len(table) - len(absent), len(table))
    _warn_absent(option, path, [_name(table, k) for k in absent[:3]], len(absent), "samples")
    found: NDArray[np.bool_] = joined.rows >= 0
    return found


def _name(table: Table, row: int) -> str:
    return str(table.iid[row]) if table.fid is None else f"{table.fid[row]} {table.iid[row]}"


def _warn_absent(option: str, path: str, examples: list[str], n: int, what: str) -> None:
    if n:
        more = ", ..." if n > len(examples) else ""
        shown = ", ".join(examples)
        LOG.warning("warning: %s %s: %d %s are not in the genotypes: %s%s", option, path, n, what, shown, more)


def _variant_steps(variants: Variants, selection: Selection) -> Iterator[tuple[str, Callable[[], NDArray[np.bool_]]]]:
    """Yield each filter's name and what finds the variants that it leaves."""
    extract, exclude, chromosomes = selection.extract, selection.exclude, selection.chr
    first, last = selection.from_bp, selection.to_bp
    if extract is not None:
        yield "extract", lambda: _named_variants(variants, extract, "--extract")
    if exclude is not None:
        yield "exclude", lambda: ~_named_variants(variants, exclude, "--exclude")
    if chromosomes is not None:
        yield f"chr {chromosomes}", lambda: _on_chromosomes(variants.chrom, chromosomes)
    if first is not None:
        yield f"from-bp {first}", lambda: variants.pos >= first
    if last is not None:
        yield f"to-bp {last}", lambda: variants.pos <= last


def _listed_variants(path: str, option: str) -> set[str]:
    given = f"{option} {path}"
    if not Path(path).is_file():
        what = "is a folder, not a file" if Path(path).is_dir() else "no such file"
        raise InputError(what, where=given, remedy="check the path")
    names = set(read_ids(Path(path), given))
    if not names:
        raise InputError("the file is empty", where=given, remedy="list one variant ID a line")
    return names


def _named_variants(variants: Variants, path: str, option: str) -> NDArray[np.bool_]:
    names = _listed_variants(path, option)
    hits = np.fromiter((name in names for name in variants.id), dtype=bool, count=len(variants))
    bearers = Counter(variants.id[hits])
    if any(":" in name for name in names):
        for row in np.flatnonzero((variants.id == ".") & ~hits):
            place = f"{variants.chrom[row]}:{variants.pos[row]}"
            a1, a2 = variants.a1[row], variants.a2[row]
            spelt = names.intersection((place, f"{place}:{a1}:{a2}", f"{place}:{a2}:{a1}"))
            hits[row] = bool(spelt)
            bearers.update(spelt)
    absent = sorted(names - bearers.keys())
    if not bearers:
        raise InputError(
            f"none of its {len(names)} variants is in the genotypes: {_some(absent)}; theirs: {_some(variants.id)}",
            where=f"{option} {path}",
            remedy="list IDs as in the genotypes, letter by letter, or CHROM:POS where the ID is '.'",
        )
    LOG.info("%s %s: %d of its %d variants in the genotypes", option, path, len(bearers), len(names))
    _warn_absent(option, path, absent[:3], len(absent), "variants")
    several = [name for name, n in bearers.items() if n > 1]
    if several:
        total = sum(bearers[name] for name in several)
        LOG.warning(
            "warning: %s %s: %d of its names are borne by several variants each, %d in all, and mean all of them: %s",
            option, path, len(several), total, _some(several),
        )  # fmt: skip
    return hits


def _some(names: list[str] | Strings) -> str:
    return ", ".join(names[:3]) + (", ..." if len(names) > 3 else "")


def _items(text: str) -> list[str]:
    """Split --chr; ranges must run forwards."""
    items = [item.strip() for item in text.split(",")]
    if "" in items:
        raise SettingsError(f"{text!r} has an empty name", where="--chr", remedy="write names with one comma between")
    for item in items:
        ends = _RANGE.fullmatch(item)
        if ends and int(ends[1]) > int(ends[2]):
            remedy = f"write {ends[2]}-{ends[1]}"
            raise SettingsError(f"the range {item} runs backwards", where="--chr", remedy=remedy)
    return items


def _on_chromosomes(chrom: Strings, text: str) -> NDArray[np.bool_]:
    """Which variants lie on the named chromosomes; of a range, members that the file lacks are told in a warning."""
    held = list(dict.fromkeys(chrom))
    keys = {name: _PREFIX.sub("", name) for name in held}
    chosen: set[str] = set()
    absent = []
    for item in _items(text):
        ends = _RANGE.fullmatch(item)
        found = {name for name in held if keys[name] == _PREFIX.sub("", item)}
        if not found and ends:
            first, last = int(ends[1]), int(ends[2])
            found = {name for name in held if keys[name].isdecimal() and first <= int(keys[name]) <= last}
            lacking = last - first + 1 - len({int(keys[name]) for name in found})
            if found and lacking:
                LOG.warning("warning: --chr %s: %d chromosomes of this range are not in the genotypes", item, lacking)
        if not found:
            absent.append(item)
        chosen |= found
    if absent:
        raise InputError(
            f"no chromosome {listed(absent, 5)} in the genotypes",
            where=f"--chr {text}",
            remedy=f"they have: {listed(held, 30)}",
        )
    return np.fromiter((name in chosen for name in chrom), dtype=bool, count=len(chrom))
