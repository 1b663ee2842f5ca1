"""Cut, spoilt and random files: our error, or what an independent reading of the same bytes gives; nothing else.

test_readers_damage.py does so for the BGEN, the PGEN and the BIMBAM file; here are the .bed, the text beside them,
the tables, gzip streams, and the command itself. Each example has a deadline, so that a hang fails.
"""

from __future__ import annotations

import gzip
import math
import re
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import numpy as np
import pytest
from helpers import Here, names
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from inputs_base import GENOTYPES, TABLES, TAIL, X, bed_bytes, fam_text, fitted, table, write_base, write_by_plink2

from goalscli.errors import GoalsError
from goalscli.genotypes.bimbam import open_bimbam
from goalscli.genotypes.plink import open_plink, read_bim, read_fam
from goalscli.genotypes.pvar import read_psam, read_pvar
from goalscli.genotypes.sample_file import read_sample_file
from goalscli.phenotypes import Missing, categorical, numeric, read_table

bounded = settings(
    max_examples=120,
    deadline=timedelta(seconds=20),
    derandomize=True,
    database=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
# Bytes that mean something to a reader of tables, and any other.
SIGNS = b" \t\n\r,;\"'#.-+09eENaAx_\0\xff\xef\xbb\xbf\xc3\xa9\xa0"
signs = st.one_of(st.sampled_from(list(SIGNS)), st.integers(0, 255))
at = st.integers(0, 10**6)
changes = st.lists(
    st.one_of(
        st.tuples(st.just("put"), at, signs),
        st.tuples(st.just("insert"), at, signs),
        st.tuples(st.just("drop"), at, st.integers(1, 8)),
        st.tuples(st.just("double"), at, st.integers(1, 30)),
    ),
    min_size=1,
    max_size=4,
)


def spoilt(whole: bytes, steps: list[tuple[str, int, int]]) -> bytes:
    out = bytearray(whole)
    for what, place, number in steps:
        place %= max(1, len(out))
        if what == "put":
            out[place : place + 1] = bytes([number])
        elif what == "insert":
            out[place:place] = bytes([number])
        elif what == "drop":
            del out[place : place + number]
        else:
            out[place:place] = out[place : place + number]
    return bytes(out)


# Independent readings, plainly from the documentation.


def text_lines(data: bytes) -> list[str]:
    """Lines that are not blank."""
    if data[:2] == b"\x1f\x8b":
        data = gzip.decompress(data)
    return [line.strip() for line in re.split("\r\n|\r|\n", data.decode("utf-8-sig")) if line.strip()]


def fields(line: str) -> list[str]:
    return [cell for cell in re.split("[ \t\v\f\x1c-\x1f]+", line) if cell]


def plain_fam(data: bytes) -> list[tuple[str, ...]]:
    return [tuple(fields(line)[k] for k in (0, 1, 5)) for line in text_lines(data)]


def got_fam(path: Path) -> list[tuple[str, ...]]:
    samples = read_fam(path)
    assert set(samples.sex.tolist()) <= {0, 1, 2}
    return list(zip(samples.fid, samples.iid, samples.phenotype, strict=True))


def plain_bim(data: bytes) -> list[tuple[str, ...]]:
    rows = [fields(line) for line in text_lines(data)]
    return [(chrom, name, str(int(pos)), a1, a2) for chrom, name, _, pos, a1, a2, *_ in rows]


def got_variants(variants: object, order: str) -> list[tuple[str, ...]]:
    columns = [getattr(variants, name) for name in order.split()]
    assert variants.pos.dtype == np.int64  # type: ignore[attr-defined]
    return [tuple(map(str, row)) for row in zip(*columns, strict=True)]


def plain_pvar(data: bytes) -> list[tuple[str, ...]]:
    head, *rows = [line for line in text_lines(data) if not line.startswith("##")]
    names = [name.upper() for name in fields(head)]
    names[0] = names[0].removeprefix("#")
    if names[0] != "CHROM":  # no header: a .bim, perhaps without centimorgans
        names, rows = ["CHROM", "ID", *(["CM"] if len(fields(head)) > 5 else []), "POS", "ALT", "REF"], [head, *rows]
    out = []
    for row in rows:
        cells = dict(zip(names, fields(row), strict=False))
        out.append((cells["CHROM"], str(int(cells["POS"])), cells["ID"], cells["REF"], cells["ALT"]))
    return out


def plain_psam(data: bytes) -> list[tuple[str, ...]]:
    rows = text_lines(data)
    while rows[0].startswith("#") and fields(rows[0])[0].upper() not in ("#FID", "#IID"):
        del rows[0]
    names = [name.upper() for name in fields(rows[0])]
    names[0] = names[0].removeprefix("#")
    if names[0] in ("FID", "IID", "CHROM"):
        del rows[0]
    else:
        names = ["FID", "IID", "PAT", "MAT", "SEX", "PHENO1"]
    cells = [dict(zip(names, fields(row), strict=False)) for row in rows]
    return [(row.get("FID", "0"), row["IID"], row.get("PHENO1", "NA")) for row in cells]


def got_psam(path: Path) -> list[tuple[str, ...]]:
    samples = read_psam(path)
    return list(zip(samples.fid, samples.iid, samples.phenotype, strict=True))


def plain_sample(data: bytes) -> list[tuple[str, ...]]:
    """The last six lines are the samples, whatever stands before."""
    rows = [fields(line) for line in text_lines(data)]
    return [tuple(row[:2]) if len(row) > 1 and rows[0][1:2] != ["missing"] else ("0", row[0]) for row in rows[-6:]]


def got_sample(path: Path) -> list[tuple[str, ...]]:
    samples = read_sample_file(path, 6)
    assert len(samples) == 6
    return list(zip(samples.fid, samples.iid, strict=True))


def plain_anno(data: bytes) -> list[tuple[str, ...]]:
    rows = [line.replace(",", " ").replace('"', "").split() for line in text_lines(data)]
    unknown = ("NA", "-9")
    places = {
        row[0]: ("0", "0") if row[2] in unknown else (row[2], "0" if row[1] in unknown else str(int(row[1])))
        for row in rows
        if row[1].lower() not in ("pos", "ps", "bp", "position")
    }
    return [places.get(f"rs{k}", ("0", "0")) for k in range(5)]


def got_anno(path: Path) -> list[tuple[str, ...]]:
    variants = open_bimbam(path.with_name("d.txt"), anno=path).variants
    assert list(variants.id) == [f"rs{k}" for k in range(5)]
    return got_variants(variants, "chrom pos")


def plain_ids(data: bytes) -> list[tuple[str, ...]]:
    rows = [line.replace(",", " ").split() for line in text_lines(data)]
    if rows[0] and rows[0][0].lstrip("#").upper() in ("FID", "IID"):
        del rows[0]
    return [tuple(row[:2]) if len(row) > 1 else ("0", row[0]) for row in rows]


def got_ids(path: Path) -> list[tuple[str, ...]]:
    samples = open_bimbam(path.with_name("d.txt"), samples=path).samples
    assert len(samples) == 6
    return list(zip(samples.fid, samples.iid, strict=True))


HEADER = re.compile(r"#?(fid|iid)", re.IGNORECASE)


def plain_table(data: bytes) -> list[tuple[str, ...]]:
    """Rows with their header; by the rule of docs/data.md, quotes aside."""
    if data[:2] == b"\x1f\x8b":
        data = gzip.decompress(data)
    text = data.decode("utf-8-sig")
    if '"' in text:
        raise NotImplementedError
    rows = [line for line in re.split("\r\n|\r|\n", text) if line.strip().strip(", \t")]
    while rows[0].startswith("##"):
        del rows[0]
    separator = next((s for s in "\t," if s in rows[0] and len(rows[0].split(s)[0].split()) <= 1), None)
    cells = [[cell.strip() for cell in row.split(separator)] for row in rows]
    if HEADER.fullmatch(cells[0][0]):
        names = [cells[0][0].removeprefix("#"), *cells[0][1:]]
        del cells[0]
    else:
        names = ["FID", "IID", *(f"V{k}" for k in range(1, len(cells[0]) - 1))]
    keys = [name.upper() if name.upper() in ("FID", "IID") else name for name in names]
    order = sorted(range(len(keys)), key=lambda k: (keys[k] != "FID", keys[k] != "IID", k))
    return [tuple(row[k] for k in order) for row in [keys, *cells]]


def got_table(path: Path) -> list[tuple[str, ...]]:
    found = read_table(path, option="--pheno")
    ids = {"IID": found.iid} if found.fid is None else {"FID": found.fid, "IID": found.iid}
    columns = ids | dict(found.columns)
    for name in found.columns:
        levels = categorical(found, name, Missing())
        assert len(levels) == len(found)
        try:
            values = numeric(found, name, Missing()).values
        except GoalsError:
            continue
        cells = found.columns[name]
        plain = [math.nan if c.lower() in ("", "na", "nan", ".") or float(c) == -9 else float(c) for c in cells]
        np.testing.assert_array_equal(values, plain)
    return [tuple(columns), *zip(*columns.values(), strict=True)]


WHOLE = {
    "fam": fam_text((1.5, "NA", -9, 2, 3, 4)).encode(),
    "bim": "".join(f"{k + 1}\trs{k}\t0\t{100 + k}\tA\tGT\n" for k in range(5)).encode(),
    "pvar": b"##x\n#CHROM\tPOS\tID\tREF\tALT\n" + "".join(f"{k}\t{9 + k}\trs{k}\tG\tAT\n" for k in range(5)).encode(),
    "psam": b"#FID\tIID\tSEX\tPHENO1\n" + "".join(f"f{k % 2}\ts{k}\t1\t{k}.5\n" for k in range(6)).encode(),
    "sample": b"ID_1 ID_2 missing sex\n0 0 0 D\n" + "".join(f"f{k % 2} s{k} 0 1\n" for k in range(6)).encode(),
    "anno": "".join(f"rs{k}, {100 + k}, {k + 1}\n" for k in range(5)).encode(),
    "ids": "".join(f"f{k % 2} s{k}\n" for k in range(6)).encode(),
    "table": table("Y", (1.5, "NA", -9, 2, 3, 4)).encode(),
    "tabs": b"##x\n" + table("Y", (1.5, "", ".", 2, 3, 4), "\t").encode(),
    "commas": table("Y", ("1e1", "", "nan", 2, 3, 4), ",").encode(),
    "iid": b"#IID\tY\tZ\n" + "".join(f"s{k}\t{k}\tA\n" for k in range(6)).encode(),
}
READ: dict[str, tuple[Callable[[Path], object], Callable[[bytes], object]]] = {
    "fam": (got_fam, plain_fam),
    "bim": (lambda path: got_variants(read_bim(path), "chrom id pos a1 a2"), plain_bim),
    "pvar": (lambda path: got_variants(read_pvar(path), "chrom pos id a2 a1"), plain_pvar),
    "psam": (got_psam, plain_psam),
    "sample": (got_sample, plain_sample),
    "anno": (got_anno, plain_anno),
    "ids": (got_ids, plain_ids),
} | dict.fromkeys(("table", "tabs", "commas", "iid"), (got_table, plain_table))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("fuzz")
    write_base(folder)
    write_by_plink2(folder)
    return folder


def right_or_refused(kind: str, data: bytes, folder: Path) -> bool:
    """True where it was read."""
    path = folder / f"x.{kind}"
    path.write_bytes(data)
    got, plain = READ[kind]
    try:
        found = got(path)
    except GoalsError as error:
        refusal = error
        found = None
    if found is None:
        assert refusal.remedy
        assert "\n" not in str(refusal)
        return False
    try:
        expected = plain(data)
    except NotImplementedError:
        return True
    assert found == expected
    return True


@pytest.mark.parametrize("kind", WHOLE)
def test_the_whole_is_read(kind: str, folder: Path):
    assert right_or_refused(kind, WHOLE[kind], folder)
    for end in (b"\r\n", b"\r"):
        assert right_or_refused(kind, WHOLE[kind].replace(b"\n", end), folder)


@pytest.mark.parametrize("kind", WHOLE)
def test_cut_anywhere(kind: str, folder: Path):
    read = [right_or_refused(kind, WHOLE[kind][:length], folder) for length in range(len(WHOLE[kind]))]
    assert not read[0]
    if kind in ("sample", "ids"):
        # The number of samples is known: only the last name may be cut.
        assert sum(read) <= 3


@pytest.mark.parametrize("kind", WHOLE)
def test_gzip_cut_anywhere(kind: str, folder: Path):
    packed = gzip.compress(WHOLE[kind], mtime=0)
    assert right_or_refused(kind, packed, folder)
    for length in range(len(packed)):
        assert not right_or_refused(kind, packed[:length], folder), length


@pytest.mark.parametrize("kind", WHOLE)
@bounded
@given(steps=changes)
def test_changed(kind: str, folder: Path, steps: list[tuple[str, int, int]]):
    right_or_refused(kind, spoilt(WHOLE[kind], steps), folder)


@pytest.mark.parametrize("kind", WHOLE)
@settings(bounded, max_examples=60)
@given(steps=changes)
def test_gzip_changed(kind: str, folder: Path, steps: list[tuple[str, int, int]]):
    """Two checks end a gzip stream: what is read is the whole, unless the change lies in the header's idle bytes."""
    packed = spoilt(gzip.compress(WHOLE[kind], mtime=0), steps)
    if packed[:2] == b"\x1f\x8b":
        try:
            assert right_or_refused(kind, packed, folder) in (True, False)
        except (EOFError, OSError):
            pytest.fail("the plain reading failed where ours did not")


@pytest.mark.parametrize("kind", WHOLE)
@settings(bounded, max_examples=60)
@given(
    noise=st.one_of(
        st.binary(max_size=200), st.text(max_size=200).map(str.encode), st.lists(signs, max_size=200).map(bytes)
    )
)
def test_noise(kind: str, folder: Path, noise: bytes):
    for head in (b"", WHOLE[kind][:30], b"\xff\xfe", b"\x1f\x8b\x08"):
        if head[:2] != b"\x1f\x8b":
            right_or_refused(kind, head + noise, folder)
            continue
        path = folder / f"x.{kind}"
        path.write_bytes(head + noise)
        with pytest.raises(GoalsError):
            READ[kind][0](path)


# The .bed.


def plain_bed(data: bytes, n: int, j: int) -> np.ndarray:
    value = {0: 2.0, 1: np.nan, 2: 1.0, 3: 0.0}
    width = -(-n // 4)
    calls = [[value[data[3 + k * width + i // 4] >> 2 * (i % 4) & 3] for i in range(n)] for k in range(j)]
    return np.array(calls, dtype=np.float32).T


def read_bed(folder: Path, data: bytes) -> np.ndarray:
    (folder / "x.bed").write_bytes(data)
    source = open_plink(bed=folder / "x.bed", bim=folder / "d.bim", fam=folder / "d.fam")
    return source.read(np.arange(6), np.arange(5))


def test_bed_cut_anywhere(folder: Path):
    whole = bed_bytes(X)
    assert np.array_equal(read_bed(folder, whole), np.where(X < 0, np.nan, X), equal_nan=True)
    for length in [*range(len(whole)), len(whole) + 1]:
        with pytest.raises(GoalsError, match=f"{length} bytes found, 13 expected"):
            read_bed(folder, (whole + b"\0")[:length])


@bounded
@given(places=st.lists(st.tuples(st.integers(0, 12), st.integers(0, 255)), min_size=1, max_size=4))
def test_bed_changed(folder: Path, places: list[tuple[int, int]]):
    data = bytearray(bed_bytes(X))
    for place, byte in places:
        data[place] = byte
    beyond = any(data[4 + 2 * k] >> 4 for k in range(5))
    try:
        got = read_bed(folder, bytes(data))
    except GoalsError:
        assert data[:3] != b"\x6c\x1b\x01" or beyond
        return
    assert not beyond
    assert np.array_equal(got, plain_bed(bytes(data), 6, 5), equal_nan=True)


# The command.

FILES = {
    "bed": ("d.bed", "d.bim", "d.fam", "p.txt"),
    "pgen": ("d.pgen", "d.pvar", "d.psam"),
    "bgen": ("d.bgen", "d.sample"),
    "bimbam": ("d.txt", "ids.txt", "anno.txt"),
    "covar": ("c.txt",),
    "groups": ("g.txt",),
}


@pytest.mark.parametrize("kind", FILES)
@settings(bounded, max_examples=80)
@given(which=st.integers(0, 9), steps=changes)
def test_command(
    kind: str,
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    which: int,
    steps: list[tuple[str, int, int]],
):
    """Exit 2 and nothing written, or exit 0 and a model of finite numbers."""
    name = FILES[kind][which % len(FILES[kind])]
    if not (folder / name).exists():
        pytest.skip("plink2 is not installed")
    genotypes = GENOTYPES.get(kind, GENOTYPES["bed"])
    whole = (folder / name).read_bytes()
    (folder / name).write_bytes(spoilt(whole, steps))
    before = names(folder)
    try:
        outcome = Here(monkeypatch, capsys, folder)("fit", *genotypes, *TABLES.get(kind, TABLES["pheno"]), *TAIL)
        assert outcome.code in (0, 2), outcome.err
        if outcome.code == 2:
            assert names(folder) == before
            assert outcome.err.count("goals: error: ") == 1
            return
        assert names(folder) - before == {"o.model.h5", "o.qc.tsv"}
        got = fitted(folder / "o.model.h5")
        assert 2 <= len(got.iid) == len(got.y) == len(got.group)
        assert 1 <= len(got.id) == len(got.pos) == len(got.a1_freq)
        assert np.isfinite(got.y).all()
        assert ((got.a1_freq >= 0) & (got.a1_freq <= 1)).all()
    finally:
        (folder / name).write_bytes(whole)
        for path in folder.glob("o.*"):
            path.unlink()
