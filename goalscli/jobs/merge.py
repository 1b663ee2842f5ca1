"""``goals merge``: parts of a scan into the file that an unsplit scan would have written, bit for bit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import h5py
import numpy as np
from numpy.typing import NDArray

from goalscli.errors import InputError, SettingsError
from goalscli.jobs.scan import conclude
from goalscli.jobs.scores_file import KIND, PART_KIND, begin
from goalscli.provenance import canonical_json, provenance
from goalscli.runtime import LOG, Progress
from goalscli.scanning import LocalRequest, finish_columns
from goalscli.scores import Score, score
from goalscli.store import Writer, opened, read_attributes, refuse_existing, strings

_SAME = ("model_digest", "settings", "phenotype", "all_variants", "parts", "shift_unit")
_ROWS = 4096


@dataclass(frozen=True)
class _Part:
    """One part's file: its attributes, variants, samples and notes of its scores."""

    path: Path
    attributes: dict[str, Any]
    variants: dict[str, NDArray[Any]]
    samples: dict[str, NDArray[Any]]
    notes: dict[str, dict[str, Any]]

    @property
    def number(self) -> int:
        return int(self.attributes["part"])

    @property
    def rows(self) -> slice:
        first = int(self.attributes["first_variant"])
        return slice(first, first + len(self.variants["id"]))


def merge(parts: Sequence[str | Path], out: str, *, overwrite: bool = False) -> Path:
    """Merge all parts of one scan, given in any order.

    Parameters
    ----------
    parts : sequence of str or Path
        PREFIX.part-1-of-N.h5 … PREFIX.part-N-of-N.h5.
    out : str
        PREFIX of the result.
    overwrite : bool
        Replace a result that exists.

    Returns
    -------
    Path
        PREFIX.scores.h5.

    Raises
    ------
    InputError
        A part is missing, given twice, unfinished, or of another model, scan or number of parts; each is named.
    """
    path = Path(f"{out}.scores.h5")
    refuse_existing([path], overwrite)
    if not parts:
        raise SettingsError("no parts named", remedy="give PREFIX.part-*-of-N.h5")
    read = sorted((_read(Path(part)) for part in parts), key=lambda part: part.number)
    _check(read)
    told = read[0].attributes
    scores = [score(name)(**settings) for name, settings in told["settings"]["scores"].items()]
    local = _local(read, scores)
    record = provenance(told["settings"], {part.path.name: told["model_digest"] for part in read}, told["threads"])
    attributes = {name: told[name] for name in ("model_digest", "settings", "phenotype", "threads", "shift_unit")}
    variants = {
        name: np.concatenate([part.variants[name] for part in read]) for name in read[0].variants
    }  # fmt: skip
    writer = begin(
        path, KIND, attributes | {"provenance": record}, variants, read[0].samples, scores,
        local_rows=None if local.everything else local.count,
    )  # fmt: skip
    try:
        with writer, Progress("merge", len(read)) as progress:
            for part in read:
                _copy(writer, part, scores, local.everything)
                progress.advance(1)
            if local.count:
                _copy_local(writer, read, scores, local)
            known = {one.name: (one, read[0].notes[one.name]) for one in scores}
            conclude(writer, *finish_columns(known, writer.read))
            writer.finish()
    finally:
        path.with_name(path.name + ".partial").unlink(missing_ok=True)
    LOG.info("wrote %s", path)
    return path


def _read(path: Path) -> _Part:
    with opened(path, (PART_KIND, KIND)) as file:
        attributes = read_attributes(file)
        if attributes["format"] == KIND:
            raise InputError(
                "is a whole scan, no part", where=path, remedy="give the files of goals scan --part, or use it as it is"
            )
        notes = {name: read_attributes(file[name])["notes"] for name in attributes["settings"]["scores"]}
        return _Part(path, attributes, _arrays(file["variants"]), _arrays(file["samples"]), notes)


def _arrays(group: h5py.Group) -> dict[str, NDArray[Any]]:
    return {n: strings(d) if h5py.check_string_dtype(d.dtype) else d[:] for n, d in group.items()}


def _check(read: Sequence[_Part]) -> None:
    """Refuse what does not belong together, and name what is missing."""
    first = read[0]
    for part in read[1:]:
        for name in _SAME:
            if canonical_json(part.attributes[name]) != canonical_json(first.attributes[name]):
                raise InputError(
                    f"is not of the same scan as {first.path} (differs in {name})",
                    where=part.path,
                    remedy="leave it out, or scan this part again with the same model and options",
                )
    by_number: dict[int, Path] = {}
    for part in read:
        if part.number in by_number:
            raise InputError(
                f"is part {part.number}, as is {by_number[part.number]}", where=part.path, remedy="give each part once"
            )
        by_number[part.number] = part.path
    count = int(first.attributes["parts"])
    missing = [k for k in range(1, count + 1) if k not in by_number]
    if missing:
        named = ", ".join(map(str, missing[:10])) + (" …" if len(missing) > 10 else "")
        raise InputError(
            f"{len(missing)} of {count} parts missing: {named}",
            where=first.path.parent,
            remedy=f"run goals scan --part K/{count} for each of them (with --resume where it was interrupted)",
        )
    ends = [0, *(part.rows.stop for part in read)]
    if [part.rows.start for part in read] != ends[:-1] or ends[-1] != first.attributes["all_variants"]:
        raise InputError("parts do not cover the variants", where=first.path, remedy="scan all parts again")
    _compare_machines(read)


def _compare_machines(read: Sequence[_Part]) -> None:
    """Bits are those of the library that computed them: say so where parts come from different ones."""
    seen: dict[str, Path] = {}
    for part in read:
        record = part.attributes["provenance"]["environment"]
        seen.setdefault(canonical_json([record.get("packages"), record.get("blas")]), part.path)
    if len(seen) > 1:
        LOG.warning(
            "warning: parts were computed with different libraries (%s): the result agrees with an unsplit scan to "
            "1e-5 of the greatest value (1e-12 in double), but not bit for bit",
            ", ".join(map(str, seen.values())),
        )


def _copy(writer: Writer, part: _Part, scores: Sequence[Score], everything: bool) -> None:
    with opened(part.path, PART_KIND) as file:
        start, stop = part.rows.start, part.rows.stop
        for one in scores:
            names = [field.name for field in one.fields if not field.derived]
            for name in names:
                writer.fill(f"{one.name}/{name}", part.rows, file[one.name][name][:])
            if everything and one.keeps_local:
                for row in range(0, stop - start, _ROWS):
                    rows = slice(row, min(row + _ROWS, stop - start))
                    target = slice(start + rows.start, start + rows.stop)
                    writer.fill(f"{one.name}/local", target, file[one.name]["local"][rows])
    writer.mark(part.rows)


def _local(read: Sequence[_Part], scores: Sequence[Score]) -> LocalRequest:
    """Whose local scores the merged file keeps."""
    asked = read[0].attributes["settings"]["local"]
    if not any(one.keeps_local for one in scores) or asked == "none":
        return LocalRequest()
    if asked == "all":
        return LocalRequest(everything=True)
    if isinstance(asked, str):
        return LocalRequest(top=min(int(asked.removeprefix("top:")), int(read[0].attributes["all_variants"])))
    return LocalRequest(named=np.array(asked, dtype=np.intp))


def _copy_local(writer: Writer, read: Sequence[_Part], scores: Sequence[Score], local: LocalRequest) -> None:
    """Of what each part kept, what an unsplit scan would keep: the greatest of each part hold the greatest of all."""
    one = next(one for one in scores if one.keeps_local)
    chosen = local.choose(writer.read(f"{one.name}/{one.ranking}"))
    writer.fill(f"{one.name}/local_index", slice(0, len(chosen)), chosen)
    for part in read:
        places = np.flatnonzero((chosen >= part.rows.start) & (chosen < part.rows.stop))
        if not len(places):
            continue
        with opened(part.path, PART_KIND) as file:
            index = file[one.name]["local_index"][:] + part.rows.start
            kept = np.searchsorted(index, chosen[places])
            for place, row in zip(places, kept, strict=True):
                writer.fill(f"{one.name}/local", slice(place, place + 1), file[one.name]["local"][row : row + 1])
