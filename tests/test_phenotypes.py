from __future__ import annotations

import csv
import gzip
import io
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from goalscli.errors import InputError, SettingsError
from goalscli.phenotypes import (
    Covariate,
    Missing,
    Table,
    categorical,
    covariate_matrix,
    join,
    numeric,
    read_table,
    select_columns,
)

DEFAULT = Missing()


def strings(*values: str) -> np.ndarray:
    return np.array(values, dtype=object)


def write(folder: Path, content: str | bytes, name: str = "p.txt") -> Path:
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def read(folder: Path, content: str | bytes) -> Table:
    return read_table(write(folder, content), option="--pheno")


def as_dict(table: Table) -> dict[str, list[str] | None]:
    ids = {"fid": None if table.fid is None else list(table.fid), "iid": list(table.iid)}
    return ids | {name: list(cells) for name, cells in table.columns.items()}


def refused(folder: Path, content: str | bytes) -> InputError:
    with pytest.raises(InputError) as caught:
        read(folder, content)
    assert caught.value.remedy
    return caught.value


TWO = {"fid": ["f0", "f1"], "iid": ["s0", "s1"], "Y": ["1.5", "2"]}
NO_FID = TWO | {"fid": None}


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        pytest.param("FID\tIID\tY\r\nf0\ts0\t1.5\r\nf1\ts1\t2\r\n", TWO, id="B04-crlf-tab"),
        pytest.param("FID IID Y\r\nf0 s0 1.5\r\nf1 s1 2", TWO, id="B04-crlf-space-no-final-newline"),
        pytest.param("FID,IID,Y\r\nf0,s0,1.5\r\n\r\nf1,s1,2\r\n\r\n", TWO, id="B04-crlf-comma-blank-lines"),
        pytest.param("FID\tIID\tY\rf0\ts0\t1.5\rf1\ts1\t2\r", TWO, id="B04-cr-only"),
        pytest.param("FID,IID,Y\nf0,s0,1.5\nf1,s1,2\n", TWO, id="B06-comma"),
        pytest.param("FID, IID, Y\nf0, s0, 1.5\nf1 ,s1 , 2 \n", TWO, id="B06-comma-and-spaces"),
        pytest.param('"FID","IID","Y"\n"f0","s0",1.5\n"f1", "s1","2"\n', TWO, id="B06-comma-quoted"),
        pytest.param('"FID" "IID" "Y"\n"f0" "s0" 1.5\n"f1" "s1" "2"\n', TWO, id="B06-space-quoted"),
        pytest.param("#FID\tIID\tY\nf0\ts0\t1.5\nf1\ts1\t2\n", TWO, id="B06-hash-fid"),
        pytest.param("#IID\tY\ns0\t1.5\ns1\t2\n", NO_FID, id="B06-hash-iid"),
        pytest.param("iid Y\ns0 1.5\ns1 2\n", NO_FID, id="B06-lower-case-iid"),
        pytest.param("Fid iId Y\nf0 s0 1.5\nf1 s1 2\n", TWO, id="B06-mixed-case"),
        pytest.param("IID\tFID\tY\ns0\tf0\t1.5\ns1\tf1\t2\n", TWO, id="B06-iid-first"),
        pytest.param("  FID   IID \t Y\n f0  s0\t1.5  \nf1\t\ts1 2\n", TWO, id="B06-runs-of-blanks"),
        pytest.param("FID IID\tY\nf0 s0\t1.5\nf1\ts1 2\n", TWO, id="B06-spaces-then-tab"),
        pytest.param("##one\n##two words\n#FID\tIID\tY\nf0\ts0\t1.5\nf1\ts1\t2\n", TWO, id="B06-plink2-comments"),
        pytest.param("\ufeffFID\tIID\tY\nf0\ts0\t1.5\nf1\ts1\t2\n", TWO, id="B06-byte-order-mark"),
        pytest.param("f0 s0 1.5\nf1 s1 2\n", {"fid": TWO["fid"], "iid": TWO["iid"], "V1": TWO["Y"]}, id="B06-none"),
        pytest.param("f0,s0\nf1,s1\n", {"fid": TWO["fid"], "iid": TWO["iid"]}, id="B06-none-two-columns"),
        pytest.param(
            "#IID\tSID\tY\ns0\t0\t1.5\ns1\t0\t2\n",
            {"fid": None, "iid": ["s0", "s1"], "SID": ["0", "0"], "Y": ["1.5", "2"]},
            id="B06-sid-is-a-column",
        ),
        pytest.param(
            "FID\tIID\tY\tZ\nf0\ts0\t\t1\nf1\ts1\t2\t\n",
            {"fid": ["f0", "f1"], "iid": ["s0", "s1"], "Y": ["", "2"], "Z": ["1", ""]},
            id="B07-empty-tab-fields",
        ),
        pytest.param(
            'IID,Y\n"s,0","a ""b"""\ns1,\n,\n',
            {"fid": None, "iid": ["s,0", "s1"], "Y": ['a "b"', ""]},
            id="B07-empty-comma-fields",
        ),
        pytest.param(
            "FID IID Y\n0 001 007\n0 1 1.0\n",
            {"fid": ["0", "0"], "iid": ["001", "1"], "Y": ["007", "1.0"]},
            id="B11-zeros-kept",
        ),
        pytest.param(
            "FID IID Y\nf0 s0 1.5\nf1 s0 2\n",
            {"fid": ["f0", "f1"], "iid": ["s0", "s0"], "Y": ["1.5", "2"]},
            id="B13-same-iid-two-families",
        ),
    ],
)
def test_read(tmp_path: Path, content: str, expected: dict[str, list[str] | None]) -> None:
    table = read(tmp_path, content)
    assert as_dict(table) == expected
    assert list(as_dict(table)) == list(expected)  # order of columns
    # Known by its content: the name ends in .txt.
    assert as_dict(read(tmp_path, gzip.compress(content.encode()))) == expected
    assert table.path == tmp_path / "p.txt"
    assert len(table) == len(expected["iid"] or ())


def test_lines_are_those_of_the_file(tmp_path: Path) -> None:
    table = read(tmp_path, "##x\n\n#FID IID Y\r\n\r\nf0 s0 1\r\n \t \nf1 s1 2\n")
    assert table.lines.tolist() == [5, 7]
    assert table.lines.dtype == np.int64


@pytest.mark.parametrize(
    ("content", "line", "words"),
    [
        pytest.param("FID IID Y\nf0 s0 1.5\nf0 s1\n", 3, ["2 field", "3 expected"], id="B05-ragged"),
        pytest.param("FID,IID,Y\n\nf0,s0,1.5,9\n", 3, ["4 field", "3 expected", "comma"], id="B05-too-many"),
        pytest.param("#IID\tY\ns0 1.5\n", 2, ["1 field", "2 expected", "tab"], id="B05-other-separator"),
        pytest.param("f0 s0 1\nf0 s1\n", 2, ["2 field", "3 expected"], id="B05-ragged-no-header"),
        pytest.param('"Y"\n"1" 2.5\n', 1, ["one column", "Y"], id="B06-one-column"),
        pytest.param("FID;IID;Y\nf0;s0;1\n", 1, ["one column", "FID;IID;Y"], id="B06-semicolons"),
        pytest.param("# my table\nFID IID Y\n", 1, ["'#'"], id="B06-comment"),
        pytest.param("#CHROM POS\n1 2\n", 1, ["'#CHROM'"], id="B06-other-header"),
        pytest.param("FID Y\nf0 1\n", 1, ["no IID"], id="B06-fid-alone"),
        pytest.param("FID\tIID\tY\t\nf0\ts0\t1\t\n", 1, ["without a name", "4"], id="B06-unnamed"),
        pytest.param('IID,Y\ns0,1\n"s1,2\n', 3, ["quote"], id="B06-open-quote"),
        pytest.param("FID IID Y Y Z Z W\nf0 s0 1 2 3 4 5\n", 1, ["2 column name(s)", ": Y, Z;"], id="duplicate-names"),
        pytest.param("FID IID Y fid\nf0 s0 1 2\n", 1, ["FID"], id="duplicate-fid"),
        pytest.param("FID,IID,Y\nf0,s0,1\nf0,,2\n", 3, ["empty ID"], id="empty-iid"),
        pytest.param("FID,IID,Y\n,s0,1\nf0,s1,2\n", 2, ["empty ID"], id="empty-fid"),
    ],
)
def test_faulty_line_is_named(tmp_path: Path, content: str, line: int, words: list[str]) -> None:
    error = refused(tmp_path, content)
    assert error.where == f"{tmp_path / 'p.txt'}:{line}"
    assert all(word in str(error) for word in words), str(error)


def test_ragged_line_far_down(tmp_path: Path) -> None:
    rows = [f"f{i}\ts{i}\t{i}" for i in range(5000)]
    rows[4321] += "\t1"
    assert refused(tmp_path, "FID\tIID\tY\n" + "\n".join(rows)).where == f"{tmp_path / 'p.txt'}:4323"


@pytest.mark.parametrize(
    ("content", "listed", "not_listed"),
    [
        pytest.param(
            "FID IID Y\nf0 s0 1\nf0 s1 3\nf0 s0 5\n",
            ["1 sample(s)", "f0 s0 (lines 2, 4)"],
            "s1",
            id="B13-pair",
        ),
        pytest.param("#IID\tY\na\t1\na\t1\nb\t1\n", ["a (lines 2, 3)"], "b (", id="B13-iid"),
        pytest.param(
            "FID IID\n" + "".join(f"f s{i}\nf s{i}\n" for i in range(7)),
            ["7 sample(s)", "f s4 (lines 10, 11)", "and 2 more"],
            "f s5",
            id="B13-seven",
        ),
    ],
)
def test_duplicates(tmp_path: Path, content: str, listed: list[str], not_listed: str) -> None:
    error = refused(tmp_path, content)
    assert error.where == tmp_path / "p.txt"
    assert all(word in error.problem for word in listed), error.problem
    assert not_listed not in error.problem


@pytest.mark.parametrize(
    ("content", "words"),
    [
        pytest.param(b"", "empty", id="B16-empty"),
        pytest.param(b"\n \r\n\n", "empty", id="B16-blank"),
        pytest.param(b"##only\n", "empty", id="B16-comments-only"),
        pytest.param(b"FID IID Y\n", "no rows", id="B16-header-only"),
        pytest.param(b"\x6c\x1b\x01\x00\xff", "NUL", id="B16-bed"),
        pytest.param("FID IID Y\nf0 s0 1\n".encode("utf-16"), "NUL", id="B16-utf16"),
        pytest.param("FID IID Y\nf0 s\u00e9 1\n".encode("latin-1"), "line 2 is not UTF-8", id="B16-latin1"),
        pytest.param(gzip.compress(b"FID IID Y\nf0 s0 1\n" * 9)[:-9], "gzip", id="B16-cut-gzip"),
        pytest.param(b"\x1f\x8bnonsense", "gzip", id="B16-not-gzip"),
    ],
)
def test_unreadable_content(tmp_path: Path, content: bytes, words: str) -> None:
    error = refused(tmp_path, content)
    assert error.where == f"--pheno {tmp_path / 'p.txt'}"
    assert words in error.problem


@pytest.mark.parametrize(
    ("path", "where", "remedy"),
    [
        pytest.param("nope.tsv", "--pheno nope.tsv", "path", id="B16-missing"),
        pytest.param(" p.txt", "--pheno ' p.txt'", "p.txt exists", id="B16-space"),
        pytest.param(".", "--pheno .", "path", id="B16-folder"),
        pytest.param("p.txt/q.txt", "--pheno p.txt/q.txt", "path", id="B16-below-a-file"),
        pytest.param("p\0.txt", "--pheno p\0.txt", "path", id="B16-nul-in-name"),
    ],
)
def test_bad_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, path: str, where: str, remedy: str) -> None:
    write(tmp_path, "FID IID Y\nf0 s0 1\n")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError) as caught:
        read_table(path, option="--pheno")
    assert caught.value.where == where
    assert remedy in (caught.value.remedy or "")


def test_no_permission(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write(tmp_path, "FID IID Y\nf0 s0 1\n")

    def denied(self: Path) -> bytes:
        raise PermissionError(13, "Permission denied", str(self))

    monkeypatch.setattr(Path, "read_bytes", denied)  # root may read everything, so chmod proves nothing
    with pytest.raises(InputError, match=r"Permission denied; check its path and permissions") as caught:
        read_table(path, option="--covar")
    assert caught.value.where == f"--covar {path}"


WORDS = st.text(
    st.characters(min_codepoint=33, exclude_categories=("Cs", "Cc", "Z"), exclude_characters=',"'), min_size=1
)
# Quoted cells may hold separators, quotes and plain spaces, and be empty.
CELLS = st.text(st.characters(min_codepoint=32, exclude_categories=("Cs", "Cc", "Z"), include_characters=" \t"))


@st.composite
def tables(draw: st.DrawFn, cells: st.SearchStrategy[str]) -> list[list[str]]:
    names = draw(st.lists(WORDS.filter(lambda w: w.casefold() not in ("fid", "iid")), unique=True, max_size=5))
    ids = draw(st.lists(st.tuples(WORDS, WORDS), unique=True, min_size=1, max_size=8))
    return [["FID", "IID", *names], *([*pair, *(draw(cells) for _ in names)] for pair in ids)]


def check_round_trip(path: Path, rows: list[list[str]]) -> None:
    table = read_table(path, option="--pheno")
    assert table.fid is not None
    assert list(table.columns) == rows[0][2:]
    assert list(zip(table.fid, table.iid, *table.columns.values(), strict=True)) == [tuple(r) for r in rows[1:]]
    assert table.lines.tolist() == list(range(2, len(rows) + 1))


HERE = settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, derandomize=True)


@HERE
@given(rows=tables(WORDS), separator=st.sampled_from(["\t", ",", " ", "  "]), end=st.sampled_from(["\n", "\r\n"]))
def test_round_trip(tmp_path: Path, rows: list[list[str]], separator: str, end: str) -> None:
    check_round_trip(write(tmp_path, end.join(separator.join(row) for row in rows) + end), rows)


@HERE
@given(rows=tables(CELLS.filter(lambda cell: cell == cell.strip())), separator=st.sampled_from(["\t", ","]))
def test_round_trip_of_quoted_and_empty_cells(tmp_path: Path, rows: list[list[str]], separator: str) -> None:
    buffer = io.StringIO()
    csv.writer(buffer, delimiter=separator, quoting=csv.QUOTE_ALL).writerows(rows)
    check_round_trip(write(tmp_path, buffer.getvalue()), rows)


def column(*cells: str, path: str = "p.txt") -> Table:
    n = len(cells)
    iid = strings(*(f"s{i}" for i in range(n)))
    return Table(Path(path), None, iid, {"Y": strings(*cells)}, np.arange(2, n + 2, dtype=np.int64))


NAN = float("nan")


@pytest.mark.parametrize(
    ("cells", "code", "values", "n_code"),
    [
        pytest.param(["-9", "2", "3"], "-9", [NAN, 2, 3], 1, id="B07-minus-nine"),
        pytest.param(["-9.0", "-9.000", "-0.9e1", "-90"], "-9", [NAN, NAN, NAN, -90], 3, id="B07-as-number"),
        pytest.param(["-9", "-9.5"], None, [-9, -9.5], 0, id="B07-none-keeps"),
        pytest.param(["-9", "-99", "1"], "-99", [-9, NAN, 1], 1, id="B07-other-code"),
        pytest.param(["0", "-0.0", "1"], "0", [NAN, NAN, 1], 2, id="B07-zero-code"),
        pytest.param(["NA", "na", "NaN", "nan", ".", "", "-9", "1"], "NA", [NAN] * 6 + [-9, 1], 0, id="B07-always"),
        pytest.param(["-9", "-9"], "-9", [NAN, NAN], 2, id="B07-all-missing"),
        pytest.param(["1e-300", "+3", "007", ".5", "5."], "-9", [1e-300, 3, 7, 0.5, 5], 0, id="B07-numbers"),
    ],
)
def test_numeric(cells: list[str], code: str | None, values: list[float], n_code: int) -> None:
    found = numeric(column(*cells), "Y", Missing(code))
    np.testing.assert_array_equal(found.values, values)
    assert found.values.dtype == np.float64
    assert found.n_code == n_code


WORDY = ["abc", "inf", "-Infinity", "1e999", "1,5", "1_000", "n/a", "-nan", "0x1A", "<0.1", "--"]


@pytest.mark.parametrize("cell", WORDY)
def test_not_a_number(cell: str) -> None:
    with pytest.raises(InputError) as caught:
        numeric(column("1", "NA", cell, "2", cell), "Y", DEFAULT)
    assert caught.value.where == "p.txt:4"
    assert repr(cell) in caught.value.problem
    assert "column Y" in caught.value.problem
    assert "2 such cells" in caught.value.problem
    assert "header" not in (caught.value.remedy or "")


def test_unrecognised_header_is_suspected(tmp_path: Path) -> None:
    table = read(tmp_path, "family sample height\nf0 s0 1.5\n")
    with pytest.raises(InputError, match=r"p.txt:1: 'height' in column V1 .* begin it with FID IID"):
        numeric(table, "V1", DEFAULT)
    with pytest.raises(InputError, match=r"no column 'height'; its columns are: V1 \(no header was found"):
        select_columns(table, "height")


@pytest.mark.parametrize("code", ["x", "none", "inf", "1_0"])
def test_missing_code_must_be_a_number(code: str) -> None:
    with pytest.raises(SettingsError, match=r"--missing-code: .* is not a number"):
        Missing(code)


@pytest.mark.parametrize(
    ("code", "levels"),
    [
        ("-9", ["1", "01", "b c", None, None, None, None, None]),
        (None, ["1", "01", "b c", "-9", "-9.0", None, None, None]),
    ],
    ids=["B07-code", "B07-none"],
)
def test_categorical(code: str | None, levels: list[str | None]) -> None:
    found = categorical(column("1", "01", "b c", "-9", "-9.0", "nan", ".", ""), "Y", Missing(code))
    assert found.dtype == object
    assert found.tolist() == levels


def named(*names: str) -> Table:
    return Table(Path("c.txt"), None, strings("s0"), {n: strings("1") for n in names}, np.array([2]))


PCS = named("SEX", *(f"PC{i}" for i in range(1, 13)), "A", "X1-X2", "X1", "X2", "Q08", "Q09", "Q10", "p.2", "p.3")


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ("A,PC1-PC3,SEX", ["A", "PC1", "PC2", "PC3", "SEX"]),
        ("PC9-PC12", ["PC9", "PC10", "PC11", "PC12"]),
        ("X1-X2", ["X1-X2"]),
        ("X1,X2", ["X1", "X2"]),
        ("Q08-Q10", ["Q08", "Q09", "Q10"]),
        (" A , p.2-p.3", ["A", "p.2", "p.3"]),
        ("PC2,PC1-PC3,PC2", ["PC2", "PC1", "PC3"]),
        ("PC4-PC4", ["PC4"]),
    ],
)
def test_select_columns(spec: str, expected: list[str]) -> None:
    assert select_columns(PCS, spec) == expected


def test_select_column_of_crlf_file(tmp_path: Path) -> None:
    assert select_columns(read(tmp_path, "FID\tIID\tY\r\nf0\ts0\t1\r\n"), "Y") == ["Y"]  # B04


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        ("B,A,sex", "no column 'B', 'sex'; its columns are: SEX, PC1, "),
        ("A,", "no column ''"),
        ("", "no column ''"),
        ("PC11-PC14", "no column 'PC13', 'PC14'"),
        ("PC1-999999999999", "no column 'PC1-999999999999'"),
        ("PC1-PC999999999999", "no column 'PC13', 'PC14', 'PC15', 'PC16', 'PC17' and "),
        ("PC3-PC1", "runs backwards; write PC1-PC3"),
        ("PC1-Q10", "no column 'PC1-Q10'"),
    ],
)
def test_unknown_columns(spec: str, words: str) -> None:
    with pytest.raises(InputError) as caught:
        select_columns(PCS, spec)
    assert words in str(caught.value)
    assert caught.value.where == Path("c.txt")


def test_long_lists_of_columns_are_cut() -> None:
    with pytest.raises(InputError) as caught:
        numeric(named(*(f"c{i}" for i in range(27))), "Y", DEFAULT)
    assert (caught.value.remedy or "").endswith("c18, c19 and 7 more")


FID = strings("f0", "f0", "f0", "f1", "f1", "f1")
IID = strings("s0", "s1", "s2", "s3", "s4", "s5")
ZERO = strings(*"000000")
PAIR, ALONE = "FID and IID", "IID"


def ids(fid: list[str] | None, iid: list[str]) -> Table:
    lines = np.arange(2, len(iid) + 2)
    return Table(Path("p.txt"), None if fid is None else strings(*fid), strings(*iid), {}, lines)


ORDER = ["s5", "s9", "s0", "s3"]
ORDER_ROWS = [2, -1, -1, 3, -1, 0]


@pytest.mark.parametrize(
    ("fid", "iid", "table", "iid_only", "rows", "by", "note"),
    [
        pytest.param(FID, IID, ids(["f1", "f1", "f0", "f1"], ORDER), False, ORDER_ROWS, PAIR, None, id="B10-both"),
        pytest.param(
            FID,
            IID,
            ids(["f1", "f1", "x", "f1"], ORDER),
            False,
            [-1, -1, -1, 3, -1, 0],
            PAIR,
            None,
            id="B10-fid-counts",
        ),
        pytest.param(FID, IID, ids(["f1", "f1", "x", "f1"], ORDER), True, ORDER_ROWS, ALONE, None, id="B10-asked"),
        pytest.param(FID, IID, ids(None, ORDER), False, ORDER_ROWS, ALONE, "table has no FID", id="B10-no-fid"),
        pytest.param(FID, IID, ids(None, ORDER), True, ORDER_ROWS, ALONE, None, id="B10-no-fid-asked"),
        pytest.param(ZERO, IID, ids(ORDER, ORDER), False, ORDER_ROWS, ALONE, "genotype file is 0", id="B10-fam-zero"),
        pytest.param(FID, IID, ids(["0"] * 4, ORDER), False, ORDER_ROWS, ALONE, "table is 0", id="B10-pheno-zero"),
        pytest.param(
            ZERO,
            IID,
            ids(["0", "0", "f", "0"], ["s5", "s0", "s0", "s3"]),
            False,
            [1, -1, -1, 3, -1, 0],
            PAIR,
            None,
            id="B10-zero-but-iid-twice",
        ),
        pytest.param(
            strings("0", "f1"),
            strings("s", "s"),
            ids(["0"], ["s"]),
            False,
            [0, -1],
            PAIR,
            None,
            id="B10-pheno-zero-but-iid-twice",
        ),
        pytest.param(
            strings("f0", "f1"),
            strings("s", "s"),
            ids(["f1", "f0"], ["s", "s"]),
            False,
            [1, 0],
            PAIR,
            None,
            id="B13-same-iid-two-families",
        ),
        pytest.param(
            strings("f0", "f0", "f0"),
            strings("s", "s0", "t"),
            ids(None, ["t"]),
            False,
            [-1, -1, 0],
            ALONE,
            "no FID",
            id="B13-twice-elsewhere",
        ),
        pytest.param(
            strings("a", "b", "c"),
            strings("s", "s", "t"),
            ids(["x"], ["t"]),
            True,
            [-1, -1, 0],
            ALONE,
            None,
            id="B13-twice-but-not-matched",
        ),
        pytest.param(
            strings(*"ffffff"),
            strings("000", "001", "002", "003", "004", "005"),
            ids(["f", "f", "f"], ["1", "005", "001"]),
            False,
            [-1, 2, -1, -1, -1, 1],
            PAIR,
            None,
            id="B11-001-is-not-1",
        ),
    ],
)
def test_join(
    fid: np.ndarray, iid: np.ndarray, table: Table, iid_only: bool, rows: list[int], by: str, note: str | None
) -> None:
    joined = join(fid, iid, table, iid_only=iid_only, option="--pheno p.txt")
    assert joined.rows.tolist() == rows
    assert joined.rows.dtype == np.intp
    assert joined.by == by
    if note is None:
        assert joined.note is None
    else:
        assert note in (joined.note or "")
        assert "--pheno p.txt" in (joined.note or "")
        assert "IID alone" in (joined.note or "")


PLACEHOLDERS = strings("sample_0", "sample_1", "sample_2", "sample_3")


@pytest.mark.parametrize(
    ("fid", "iid", "table", "words", "never"),
    [
        pytest.param(
            PLACEHOLDERS,
            PLACEHOLDERS,
            ids(["f0", "f0"], ["s0", "s1"]),
            [
                "4 genotyped",
                "2 in the table",
                "overlap 0",
                "sample_0 sample_0, sample_1 sample_1, sample_2 sample_2, ...",
                "table IDs f0 s0, f0 s1;",
                "--sample",
            ],
            "sample_3",
            id="B09-no-sample-block",
        ),
        pytest.param(
            FID,
            IID,
            ids(None, ["Sample1", "Sample2"]),
            ["6 genotyped", "IDs s0, s1, s2, ...", "table's IDs look like"],
            "--sample",
            id="B09-table-placeholders",
        ),
        pytest.param(
            FID,
            IID,
            ids(["s0", "s1"], ["s0", "s1"]),
            ["--iid-only would match 2"],
            "--sample",
            id="B10-other-fid",
        ),
        pytest.param(
            strings("f"),
            strings("001"),
            ids(["f"], ["1"]),
            ["001 is not 1"],
            "--iid-only",
            id="B11-001-is-not-1",
        ),
    ],
)
def test_nothing_in_common(fid: np.ndarray, iid: np.ndarray, table: Table, words: list[str], never: str) -> None:
    with pytest.raises(InputError) as caught:
        join(fid, iid, table, option="--pheno p.txt")
    assert caught.value.where == "--pheno p.txt"
    assert all(word in str(caught.value) for word in words), str(caught.value)
    assert never not in str(caught.value)


@pytest.mark.parametrize(
    ("iid", "table", "side"),
    [
        pytest.param(strings("s", "s", "t"), ids(None, ["s", "t"]), "genotype file: s", id="B13-genotypes"),
        pytest.param(strings("s", "u", "t"), ids(["a", "b", "c"], ["s", "t", "s"]), "the table: s", id="B13-table"),
    ],
)
def test_iid_that_does_not_tell_samples_apart(iid: np.ndarray, table: Table, side: str) -> None:
    with pytest.raises(InputError, match=r"1 IID\(s\) to match occur more than once in") as caught:
        join(strings("a", "b", "c"), iid, table, iid_only=True, option="--pheno p.txt")
    assert side in caught.value.problem


def number(name: str, values: np.ndarray) -> Covariate:
    return Covariate(name, np.asarray(values, dtype=float), categorical=False)


def category(name: str, *levels: str) -> Covariate:
    return Covariate(name, strings(*levels), categorical=True)


def projector(matrix: np.ndarray) -> np.ndarray:
    # pinv is an SVD: independent of the order of columns and of our orthogonalisation.
    return matrix @ np.linalg.pinv(matrix, rcond=1e-9)


A = np.array([1.0, 2, 4, 3, 0, 7])
B = np.array([0.0, 1, 0, 0, 5, 1])


@pytest.mark.parametrize(
    ("columns", "intercept", "names", "dropped"),
    [
        pytest.param(
            [number("A", A), number("B", 2 * A), number("C", np.ones(6))],
            True,
            ["intercept", "A"],
            ["B", "C"],
            id="B36-recipe",
        ),
        pytest.param(
            [number("A", A), number("B", 2 * A), number("C", np.ones(6))],
            False,
            ["A", "C"],
            ["B"],
            id="B36-no-intercept",
        ),
        pytest.param(
            [number("S", A + B), number("A", A), number("B", B)],
            True,
            ["intercept", "S", "A"],
            ["B"],
            id="B36-earliest-stay",
        ),
        pytest.param([number("B", 1e6 * A + 3), number("A", A)], True, ["intercept", "B"], ["A"], id="B36-shifted"),
        pytest.param(
            [number("C", np.full(6, 0.1)), number("Z", np.zeros(6))],
            True,
            ["intercept"],
            ["C", "Z"],
            id="B36-constant",
        ),
        pytest.param(
            [number("C", np.array([0.3] * 5 + [0.1 + 0.2]))],
            True,
            ["intercept"],
            ["C"],
            id="B36-constant-but-rounding",
        ),
        pytest.param([number("A", A), number("T", 1e9 + A)], True, ["intercept", "A"], ["T"], id="B36-rounded-copy"),
        pytest.param([number("T", 1.7e9 + A)], True, ["intercept", "T"], [], id="B36-far-from-zero"),
        pytest.param(
            [number("H", 1e300 * A), number("L", 1e-300 * B)],
            True,
            ["intercept", "H", "L"],
            [],
            id="B36-huge-tiny",
        ),
        pytest.param(
            [number("H", 1e300 * A), number("L", 1e-300 * B), number("M", 3e299 * A)],
            False,
            ["H", "L"],
            ["M"],
            id="B36-huge-tiny-no-intercept",
        ),
        pytest.param(
            [number("A", A), number("N", A + 1e-6 * B)],
            True,
            ["intercept", "A", "N"],
            [],
            id="B36-near-copy-stays",
        ),
        pytest.param([category("K", *"aaaaaa")], True, ["intercept"], ["K"], id="B36-one-level"),
        pytest.param(
            [category("K", "10", "2", "x1", "2", "1", "x1")],
            True,
            ["intercept", "K=2", "K=10", "K=x1"],
            [],
            id="natural-order",
        ),
        pytest.param(
            [category("K", *"abcabc"), category("M", *"xyzxyz"), number("A", A)],
            True,
            ["intercept", "K=b", "K=c", "A"],
            ["M=y", "M=z"],
            id="B36-same-categories",
        ),
        pytest.param([], True, ["intercept"], [], id="intercept-alone"),
        pytest.param([], False, [], [], id="nothing"),
    ],
)
def test_covariates(columns: list[Covariate], intercept: bool, names: list[str], dropped: list[str]) -> None:
    found = covariate_matrix(columns, intercept, n=6)
    assert found.names == tuple(names)
    assert found.dropped == tuple(dropped)
    assert found.matrix.shape == (6, len(names))
    assert found.matrix.dtype == np.float64
    if names:
        scaled = found.matrix / np.abs(found.matrix).max(axis=0)
        assert np.linalg.cond(scaled / np.linalg.norm(scaled, axis=0)) < 1e8


def test_columns_are_scaled_only_with_an_intercept() -> None:
    columns = [number("A", A), category("K", *"babcab")]
    bare = covariate_matrix(columns, intercept=False).matrix
    np.testing.assert_array_equal(bare, np.column_stack([A, [1, 0, 1, 0, 0, 1], [0, 0, 0, 1, 0, 0]]))
    scaled = covariate_matrix(columns, intercept=True).matrix
    np.testing.assert_array_equal(scaled[:, 0], np.ones(6))
    np.testing.assert_allclose(scaled[:, 1], (A - A.mean()) / A.std(ddof=1), rtol=1e-14)
    np.testing.assert_array_equal(scaled[:, 2:], bare[:, 1:])
    np.testing.assert_array_equal(columns[0].values, [1.0, 2, 4, 3, 0, 7])  # input untouched


@HERE
@given(
    seed=st.integers(0, 2**32 - 1),
    n=st.integers(12, 40),
    rank=st.integers(0, 5),
    q=st.integers(0, 8),
    levels=st.integers(1, 4),
    intercept=st.booleans(),
)
def test_column_space(seed: int, n: int, rank: int, q: int, levels: int, intercept: bool) -> None:
    rng = np.random.default_rng(seed)
    numbers = rng.normal(size=(n, rank)) @ rng.integers(-2, 3, size=(rank, q)) if rank else np.zeros((n, q))
    # A column may be far from zero or constant, which only the intercept can see.
    numbers = (numbers + rng.choice([0, 0, 50], size=q)) * rng.choice([1e-3, 1, 1e3], size=q)
    labels = rng.integers(levels, size=n)
    columns = [number(f"x{i}", numbers[:, i]) for i in range(q)]
    columns.insert(q // 2, category("K", *(str(k) for k in labels)))
    found = covariate_matrix(columns, intercept)

    seen = np.unique(labels)[1:]
    indicators = (labels[:, None] == seen).astype(float)
    parts = [np.ones((n, int(intercept))), numbers[:, : q // 2], indicators, numbers[:, q // 2 :]]
    full = np.hstack(parts)
    names = ["intercept"] * intercept + [f"x{i}" for i in range(q // 2)]
    names += [f"K={k}" for k in seen] + [f"x{i}" for i in range(q // 2, q)]
    full = full / np.maximum(np.linalg.norm(full, axis=0), 1e-300)
    ranks = [np.linalg.matrix_rank(full[:, :k], tol=1e-9) if k else 0 for k in range(full.shape[1] + 1)]
    assert found.names == tuple(name for name, step in zip(names, np.diff(ranks), strict=True) if step)
    assert found.matrix.shape[1] == ranks[-1]
    np.testing.assert_allclose(projector(found.matrix), projector(full), atol=1e-7)
    assert len(found.names) + len(found.dropped) == full.shape[1] + (len(seen) == 0)


def six(q: int) -> list[Covariate]:
    return [number(f"x{i}", x) for i, x in enumerate(np.random.default_rng(3).normal(size=(q, 6)))]


@pytest.mark.parametrize(
    ("columns", "intercept", "words"),
    [
        pytest.param(six(7), True, "7 covariate column(s) and the intercept for 6 samples", id="B36-seven-for-six"),
        pytest.param(
            six(5), True, "5 covariate column(s) and the intercept for 6 samples", id="B36-five-and-intercept"
        ),
        pytest.param(six(6), False, "6 covariate column(s) for 6 samples", id="B36-six-no-intercept"),
        pytest.param([category("K", *"abcdef")], True, "covariate K with 6 level(s)", id="B36-level-a-sample"),
    ],
)
def test_too_many_covariates(columns: list[Covariate], intercept: bool, words: str) -> None:
    with pytest.raises(InputError) as caught:
        covariate_matrix(columns, intercept)
    assert words in caught.value.problem


def test_as_many_covariates_as_fit() -> None:
    assert covariate_matrix(six(4), intercept=True).matrix.shape == (6, 5)
    assert covariate_matrix(six(5), intercept=False).matrix.shape == (6, 5)
    copies = [number(f"c{i}", A) for i in range(9)]  # nine columns, rank one
    assert covariate_matrix(copies, intercept=True).names == ("intercept", "c0")


@pytest.mark.parametrize(
    "covariate",
    [
        number("A", [1, NAN, 2]),
        number("A", [1, np.inf, 2]),
        Covariate("A", np.array(["a", None, "b"], object), True),
    ],
    ids=["nan", "inf", "none"],
)
def test_incomplete_covariate(covariate: Covariate) -> None:
    with pytest.raises(InputError, match="covariate A: "):
        covariate_matrix([covariate], intercept=True)


def test_number_of_samples_must_be_clear() -> None:
    for columns, n in (([], None), ([number("A", A)], 5), ([number("A", A), number("B", B[:5])], None)):
        with pytest.raises(ValueError, match="number of samples"):
            covariate_matrix(columns, intercept=True, n=n)


def test_covariate_present_and_take() -> None:
    x, k = number("A", [1, NAN, 3]), Covariate("K", np.array(["a", "b", None], object), True)
    assert x.present.tolist() == [True, False, True]
    assert k.present.tolist() == [True, True, False]
    rows = np.array([2, 0], dtype=np.intp)
    assert x.take(rows).values.tolist() == [3, 1]
    assert k.take(rows).values.tolist() == [None, "a"]
    assert k.take(rows).categorical
