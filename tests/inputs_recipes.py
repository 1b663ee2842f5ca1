"""The recipes of test_inputs.py: each is the base of inputs_base.py with one change, and what must come of it."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from dataclasses import dataclass, field

from inputs_base import (
    FID,
    GENOTYPES,
    IID,
    PHENO,
    TABLE_FILES,
    TABLES,
    TAIL,
    Change,
    Fitted,
    Y,
    both,
    edit,
    fam_text,
    fit,
    put,
    raw,
    sub,
    table,
)


@dataclass(frozen=True)
class Case:
    """One recipe: the base with one change, the command, and what must come of it."""

    id: str
    spoil: Change = lambda folder: None
    args: tuple[str, ...] = fit()
    words: tuple[str, ...] = ()
    """Of the error, or of the log where it works."""
    keep: tuple[int, ...] | None = None
    """Samples that must be analysed; None: the command must refuse."""
    y: tuple[float, ...] = Y
    more: Callable[[Fitted], bool] = field(default=lambda fitted: True)


ALL = (0, 1, 2, 3, 4, 5)


def good(
    id: str,
    spoil: Change,
    args: tuple[str, ...] = fit(),
    *words: str,
    keep: tuple[int, ...] = ALL,
    y: tuple[float, ...] | list[float] = Y,
    more: Callable[[Fitted], bool] = lambda fitted: True,
) -> Case:
    return Case(id, spoil, args, words, keep, tuple(y), more)


def bad(id: str, spoil: Change, *words: str, args: tuple[str, ...] = fit()) -> Case:
    return Case(id, spoil, args, words)


# Text that every reader takes from a file of its own.
TEXTS = {
    "fam": ("d.fam", fit()),
    "bim": ("d.bim", fit()),
    "psam": ("d.psam", fit("pgen")),
    "pvar": ("d.pvar", fit("pgen")),
    "sample": ("d.sample", fit("bgen")),
    "ids": ("ids.txt", fit("bimbam")),
    "anno": ("anno.txt", fit("bimbam")),
    "bimbam": ("d.txt", fit("bimbam")),
    **{name: (TABLE_FILES[name], fit("bed", name)) for name in TABLES},
}


def every(name: str, change: Callable[[bytes], bytes], *words: str, ok: bool, without: str = "") -> list[Case]:
    """The same change in every text file."""
    return [
        good(f"{kind}-{name}", raw(file, change), args)
        if ok
        else bad(f"{kind}-{name}", raw(file, change), *words, args=args)
        for kind, (file, args) in TEXTS.items()
        if kind not in without.split()
    ]


def fam(*phenotype: object) -> Change:
    return put("d.fam", fam_text(phenotype))


def pheno(*cells: object, separator: str = " ") -> Change:
    return put("p.txt", table("Y", cells, separator))


def first(value: object, separator: str = "\t") -> Change:
    """The trait of s0."""
    return pheno(value, *Y[1:], separator=separator)


NO_PHENO = ("fit", "--bfile", "d", *TAIL)
PSAM_ONLY = ("fit", "--pfile", "d", *TAIL)

B01 = [
    good("bim-spaces", sub("d.bim", "\t", " ")),
    good("bim-runs", sub("d.bim", "\t", " \t  ")),
    good("bim-blanks-around", edit("d.bim", lambda t: t.replace("\n", " \t\n").replace("2\trs1", "  2\trs1"))),
    good("fam-two-spaces", sub("d.fam", "f0 s1", "f0  s1")),
    good("fam-tabs", sub("d.fam", " ", "\t")),
    good("fam-mixed", sub("d.fam", " ", " \t ")),
    good(
        "fam-one-line-of-tabs",
        edit("d.fam", lambda t: t.replace(t.splitlines()[2], t.splitlines()[2].replace(" ", "\t"))),
    ),
    bad("fam-commas", sub("d.fam", " ", ","), "d.fam:1", "1 columns", "expected 6"),
    bad("bim-commas", sub("d.bim", "\t", ","), "d.bim:1", "1 columns", "expected 6"),
    good("pvar-spaces", sub("d.pvar", "\t", "  "), fit("pgen")),
    good("psam-spaces", sub("d.psam", "\t", " \t"), fit("pgen")),
    good("sample-tabs", sub("d.sample", " ", "\t"), fit("bgen")),
    good("bimbam-mixed", sub("d.txt", ", ", " ,\t", 9), fit("bimbam")),
    good("bimbam-spaces", sub("d.txt", ", ", " "), fit("bimbam")),
    good("anno-spaces", sub("anno.txt", ", ", "\t "), fit("bimbam")),
    *(good(f"{name}-runs", sub(file, " ", " \t "), fit("bed", name)) for name, file in TABLE_FILES.items()),
    *(
        good(
            f"{name}-header-spaces-rows-tabs",
            edit(file, lambda t: t.split("\n", 1)[0] + "\n" + t.split("\n", 1)[1].replace(" ", "\t")),
            fit("bed", name),
        )
        for name, file in TABLE_FILES.items()
    ),
    *(
        bad(
            f"{name}-header-tabs-rows-spaces",
            edit(file, lambda t: t.replace(" ", "\t", 2)),
            f"{file}:2",
            "3 expected",
            "tab-separated",
            args=fit("bed", name),
        )
        for name, file in TABLE_FILES.items()
    ),
    *every("trailing-blanks", lambda b: b.replace(b"\n", b" \n"), ok=True),
    *every("blank-lines", lambda b: b.replace(b"\n", b"\n\n \n"), ok=True),
    # A space inside an ID shifts what follows: never read as another ID, silently.
    bad(
        "fam-id-with-space",
        put("d.fam", fam_text(separator="\t").replace("s2", "s 2")),
        "d.fam:3",
        "space",
        "6 fields by tabs",
    ),
    bad("fam-ids-with-space", put("d.fam", fam_text(separator="\t").replace("\ts", "\tmouse ")), "d.fam:1", "space"),
    bad("fam-id-with-space-by-spaces", sub("d.fam", "s2", "s 2"), "d.fam:3", "7 columns", "6 in the lines before"),
    bad("bim-id-with-space", sub("d.bim", "rs2", "rs 2"), "d.bim:3", "space"),
    bad("bim-ids-with-space", sub("d.bim", "rs", "snp "), "d.bim:1", "space"),
    bad("pvar-id-with-space", sub("d.pvar", "rs2", "rs 2"), "d.pvar:4", "6 columns", "expected 5", args=fit("pgen")),
    bad("psam-id-with-space", sub("d.psam", "s2", "s 2"), "d.psam:4", "4 columns", "expected 3", args=fit("pgen")),
    bad(
        "sample-id-with-space", sub("d.sample", "s2", "s 2"), "d.sample:5", "5 columns", "expected 4", args=fit("bgen")
    ),
    bad(
        "bimbam-id-with-space",
        sub("d.txt", "rs2", "rs 2"),
        "d.txt:3",
        "7 values",
        "6 in the lines before",
        args=fit("bimbam"),
    ),
    bad("pheno-id-with-space", sub("p.txt", "s2", "s 2"), "p.txt:4", "4 field(s)", "3 expected"),
]

B02 = [
    good("fam-NA", fam("NA", 2, 3.5, 2.5, 4, 1), NO_PHENO, keep=(1, 2, 3, 4, 5)),
    *(
        good(f"fam-{word or 'empty'}", fam(word, 2, 3.5, 2.5, 4, 1), NO_PHENO, keep=(1, 2, 3, 4, 5))
        for word in ("nan", "NaN", ".", "na")
    ),
    *(
        good(f"fam-{word}", fam(word, 2, 3.5, 2.5, 4, 1), NO_PHENO, "1 words", word, "d.fam", keep=(1, 2, 3, 4, 5))
        for word in ("case", "?", "-", "N/A", "TRUE", "<5")
    ),
    *(
        bad(f"fam-{figure}", fam(1, figure, 3.5, 2.5, 4, 1), "d.fam:2", repr(figure), "not a number", args=NO_PHENO)
        for figure in ("1,5", "1.500,0", "1_000", "0x1F", "1e400", "inf", "-Inf", "2020-01-01", "5kg", "+1,5")
    ),
    good("fam-scientific", fam("15e-1", *Y[1:]), NO_PHENO),
    *(
        good(f"fam-{code}", fam(code, *Y[1:]), NO_PHENO, "1 values -9", keep=(1, 2, 3, 4, 5))
        for code in ("-9", "-9.0", "-9.00", "-9e0")
    ),
    bad("fam-all-NA", fam(*["NA"] * 6), "d.fam", "none of the 6 samples has a trait", "--pheno", args=NO_PHENO),
    bad("fam-all-words", fam(*["case"] * 6), "d.fam", "none of the 6 samples", "--pheno", args=NO_PHENO),
    bad("fam-all-minus-9", lambda folder: None, "PHENO1", "0 sample(s)", args=NO_PHENO),
    bad(
        "fam-one-line-of-5",
        edit("d.fam", lambda t: t.replace("f0 s1 0 0 2 -9", "f0 s1 0 0 2")),
        "d.fam:2",
        "5 columns",
        "expected 6",
    ),
    bad("fam-5-columns", sub("d.fam", " -9", ""), "d.fam:1", "5 columns", "expected 6"),
    bad("fam-1-column", put("d.fam", "s0\ns1\n"), "d.fam:1", "1 columns", "expected 6"),
    bad("bim-5-columns", sub("d.bim", "\t0\t", "\t"), "d.bim:1", "5 columns", "expected 6"),
    bad("bim-allele-missing", sub("d.bim", "102\tA\tG", "102\tA\t"), "d.bim:3", "5 columns", "expected 6"),
    good("fam-7-columns", sub("d.fam", "-9\n", "-9 8\n")),
    good("bim-7-columns", sub("d.bim", "G\n", "G\tx\n")),
    bad("fam-one-line-of-7", sub("d.fam", "s2 0 0 1 -9", "s2 0 0 1 -9 8"), "d.fam:3", "7 columns"),
    bad("bim-one-line-of-7", sub("d.bim", "102\tA", "102\tA\tT"), "d.bim:3", "7 columns"),
    *(
        bad(
            f"fam-header-{mark}FID",
            edit("d.fam", lambda t, m=mark: f"{m}FID IID PAT MAT SEX PHENO\n{t}"),
            "d.fam:1",
            "header line",
        )
        for mark in ("", "#")
    ),
    bad("bim-header", edit("d.bim", lambda t: f"#CHROM\tID\tCM\tPOS\tA1\tA2\n{t}"), "d.bim:1", "'POS'", "whole number"),
    bad("fam-comment", edit("d.fam", lambda t: f"# made by me\n{t}"), "d.fam:1", "4 columns", "expected 6"),
    *(
        good(
            f"psam-{value}",
            put("d.psam", "#FID\tIID\tPHENO1\n" + table("x", [value, *Y[1:]], "\t").split("\n", 1)[1]),
            PSAM_ONLY,
            keep=(1, 2, 3, 4, 5),
        )
        for value in ("NA", "case", "-9", ".")
    ),
    bad(
        "psam-1,5",
        put("d.psam", "#FID\tIID\tPHENO1\n" + table("x", ["1,5", *Y[1:]], "\t").split("\n", 1)[1]),
        "d.psam",
        "'1,5'",
        args=PSAM_ONLY,
    ),
    bad("psam-no-trait", lambda folder: None, "d.psam", "none of the 6 samples", "--pheno", args=PSAM_ONLY),
    good(
        "psam-as-pheno",
        put(
            "d.psam",
            "#FID\tIID\tSEX\tY\n" + "".join(f"{f}\t{i}\t1\t{y}\n" for f, i, y in zip(FID, IID, Y, strict=True)),
        ),
        ("fit", "--pfile", "d", "--pheno", "d.psam", "--pheno-name", "Y", *TAIL),
    ),
    bad("bgen-no-trait", lambda folder: None, "d.bgen", "no trait", "--pheno", args=("fit", *GENOTYPES["bgen"], *TAIL)),
    bad(
        "bimbam-no-trait",
        lambda folder: None,
        "d.txt",
        "no trait",
        "--pheno",
        args=("fit", *GENOTYPES["bimbam"], *TAIL),
    ),
    bad(
        "psam-short-line", sub("d.psam", "f1\ts5\t2", "f1\ts5"), "d.psam:7", "2 columns", "expected 3", args=fit("pgen")
    ),
    bad("pvar-short-line", sub("d.pvar", "\trs4", ""), "d.pvar:6", "4 columns", "expected 5", args=fit("pgen")),
    bad("psam-two-columns-of-one-name", sub("d.psam", "SEX", "IID"), "d.psam:1", "two columns IID", args=fit("pgen")),
    good("psam-header-without-hash", sub("d.psam", "#", ""), fit("pgen")),
    good("pvar-header-without-hash", sub("d.pvar", "#", ""), fit("pgen")),
    good("psam-header-lower-case", edit("d.psam", lambda t: t.replace("FID\tIID\tSEX", "fid\tiid\tsex")), fit("pgen")),
]

B04 = [
    *every("crlf", lambda b: b.replace(b"\n", b"\r\n"), ok=True),
    *every("old-mac", lambda b: b.replace(b"\n", b"\r"), ok=True, without="bimbam"),
    bad("bimbam-old-mac", raw("d.txt", lambda b: b.replace(b"\n", b"\r")), "d.txt:1", "line ends", args=fit("bimbam")),
    *every("no-last-newline", lambda b: b.rstrip(b"\n"), ok=True),
    *every("crlf-gz", lambda b: gzip.compress(b.replace(b"\n", b"\r\n")), ok=True),
    *(
        good(f"last-name-{sep}", put("p.txt", table("Y", Y, s).replace("\n", "\r\n")), (*fit(), "--pheno-name", "Y"))
        for sep, s in (("space", " "), ("tab", "\t"), ("comma", ","))
    ),
    good(
        "last-name-covar",
        raw("c.txt", lambda b: b.replace(b"\n", b"\r\n")),
        (*fit("bed", "covar"), "--covar-name", "age"),
    ),
    good("mixed-line-ends", edit("p.txt", lambda t: t.replace("\n", "\r\n", 3))),
]

B05 = [
    *(
        bad(
            f"{name}-short",
            edit(file, lambda t: t.rsplit(" ", 1)[0] + "\n"),
            f"{file}:7",
            "2 field(s)",
            "3 expected",
            args=fit("bed", name),
        )
        for name, file in TABLE_FILES.items()
    ),
    *(
        bad(
            f"{name}-long",
            edit(file, lambda t: t.rstrip("\n") + " 7\n"),
            f"{file}:7",
            "4 field(s)",
            "3 expected",
            args=fit("bed", name),
        )
        for name, file in TABLE_FILES.items()
    ),
    bad("recipe", put("p.txt", "FID IID Y\nf0 s0 1.5\nf0 s1\n"), "p.txt:3", "2 field(s)", "3 expected"),
    bad("after-blank-lines", put("p.txt", "\n\nFID IID Y\n\nf0 s0 1.5\n\nf0 s1\n"), "p.txt:7", "2 field(s)"),
    bad("row-names-of-R", edit("p.txt", lambda t: t.replace("\nf", "\n1 f")), "p.txt:2", "4 field(s)", "3 expected"),
    bad(
        "trailing-tab-in-a-row",
        put("p.txt", table("Y", Y, "\t").replace("3.5\n", "3.5\t\n")),
        "p.txt:4",
        "4 field(s)",
        "3 expected",
    ),
    bad(
        "trailing-commas",
        put("p.txt", table("Y", Y, ",").replace("\n", ",\n")),
        "p.txt:1",
        "without a name",
        "trailing",
    ),
    bad("blank-between-spaces", first("", " "), "p.txt:2", "2 field(s)", "NA where"),
    bad("comment-inside", edit("p.txt", lambda t: t.replace("f1 s4", "# note\nf1 s4")), "p.txt:6", "2 field(s)"),
]

UNREADABLE = [
    *every("utf-8-bom", lambda b: b"\xef\xbb\xbf" + b, ok=True),
    *every("utf-16", lambda b: b.decode().encode("utf-16"), ok=False),
    *every("utf-16-le", lambda b: b.decode().encode("utf-16-le"), "NUL", ok=False),
    *every("utf-32", lambda b: b.decode().encode("utf-32"), ok=False),
    *every("nul", lambda b: b.replace(b"s4", b"s\x004"), "NUL", ok=False),
    *every("latin-1", lambda b: b.replace(b"s4", b"s\xe9"), "UTF-8", ok=False),
    *every("empty", lambda b: b"", ok=False),
    *every("blank", lambda b: b"\n \n\t\n", ok=False),
    *every("gz-under-another-name", gzip.compress, ok=True),
    *every("gz-cut", lambda b: gzip.compress(b)[:-9], "gzip", ok=False),
    *every("gz-of-2-bytes", lambda b: b"\x1f\x8b", "gzip", ok=False),
    *every("gz-and-more", lambda b: gzip.compress(b) + b"more", "gzip", ok=False),
    *(
        bad(f"{kind}-header-only", edit(file, lambda t: t.split("\n", 1)[0] + "\n"), args=args)
        for kind, (file, args) in TEXTS.items()
        if kind in ("psam", "pvar", "sample", "pheno", "covar", "groups")
    ),
    good(
        "plain-under-gz-name",
        lambda folder: (folder / "p.txt").rename(folder / "p.txt.gz"),
        (*fit(), "--pheno", "p.txt.gz"),
    ),
    good(
        "fam-id-with-no-break-space",
        both(sub("d.fam", "s2", "s\u00a02"), sub("p.txt", "s2", "x2")),
        keep=(0, 1, 3, 4, 5),
    ),
    bad("xlsx", put("p.txt", b"PK\x03\x04\x14\0\0\0"), "p.txt", "not a text file", "save as CSV"),
]

B06 = [
    *(
        good(f"{name}-{sep}", edit(file, lambda t, s=s: t.replace(" ", s)), fit("bed", name))
        for name, file in TABLE_FILES.items()
        for sep, s in (("comma", ","), ("tab", "\t"), ("comma-space", ", "), ("blanks", "   "))
    ),
    *(
        good(
            f"{name}-header-{head.replace(' ', '-')}",
            edit(file, lambda t, h=head: t.replace("FID IID", h)),
            fit("bed", name),
        )
        for name, file in TABLE_FILES.items()
        for head in ("#FID IID", "fid iid", "Fid Iid", "#fid iid", '"FID" "IID"')
    ),
    *(
        good(
            f"{name}-{mark}IID",
            edit(file, lambda t, m=mark: t.replace("FID IID", f"{m}IID").replace("\nf0 ", "\n").replace("\nf1 ", "\n")),
            fit("bed", name),
            "IID alone",
        )
        for name, file in TABLE_FILES.items()
        for mark in ("#", "")
    ),
    good("no-header", edit("p.txt", lambda t: t.split("\n", 1)[1])),
    good("no-header-V1", edit("p.txt", lambda t: t.split("\n", 1)[1]), (*fit(), "--pheno-name", "V1")),
    good("no-header-comma", put("p.txt", table("Y", Y, ",").split("\n", 1)[1])),
    good(
        "quoted",
        put("p.txt", "".join(",".join(f'"{c}"' for c in row.split()) + "\n" for row in table("Y", Y).splitlines())),
    ),
    good(
        "quoted-space",
        put("p.txt", "".join(" ".join(f'"{c}"' for c in row.split()) + "\n" for row in table("Y", Y).splitlines())),
    ),
    good("plink2-comments", edit("p.txt", lambda t: f"##one\n##two, three\n{t}")),
    good(
        "iid-before-fid",
        put("p.txt", "IID\tFID\tY\n" + "".join(f"{i}\t{f}\t{y}\n" for f, i, y in zip(FID, IID, Y, strict=True))),
    ),
    *(
        bad(f"separator-{s}", sub("p.txt", " ", s), "p.txt:1", "one column only", "tab, comma or space")
        for s in (";", "|")
    ),
    bad("other-comment", edit("p.txt", lambda t: f"# made by me\n{t}"), "p.txt:1", "begins with '#'", "FID IID"),
    bad(
        "unknown-header",
        sub("p.txt", "FID IID", "Family Individual"),
        "p.txt:1",
        "'Y'",
        "not a number",
        "begin it with FID IID",
    ),
    bad("iid-is-not-first", sub("p.txt", "FID IID", "ID IID"), "p.txt:1", "begins with 'ID'", "FID IID"),
    bad(
        "row-names-of-R",
        edit("p.txt", lambda t: "".join(f",{row}\n" for row in t.replace(" ", ",").splitlines())),
        "p.txt:1",
        "begins with ''",
    ),
    bad("fid-alone", sub("p.txt", "FID IID", "FID ID"), "p.txt:1", "no IID"),
    good("commas-and-tabs", put("p.txt", table("Y", Y, ",").replace("f0,s1", "\tf0,\ts1\t"))),
    good(
        "no-break-spaces-around",
        put("p.txt", table("Y", Y, "\t").replace("s3", "s3\u00a0").replace("2.5", "\u00a02.5")),
    ),
    bad("unclosed-quote", sub("p.txt", "s2", '"s2'), "p.txt:4", "quote"),
    bad("unopened-quote", put("p.txt", table("Y", Y, ",").replace("s2", 's2"')), "p.txt:4", "quote"),
    *(
        bad(
            f"{name}-name-twice",
            edit(file, lambda t: "".join(f"{row} {row.split()[2]}\n" for row in t.splitlines())),
            f"{file}:1",
            "more than once",
            args=fit("bed", name),
        )
        for name, file in TABLE_FILES.items()
    ),
    bad(
        "two-traits",
        edit("p.txt", lambda t: "".join(f"{row} {k}\n" for k, row in enumerate(t.splitlines()))),
        "p.txt",
        "2 trait columns",
        "--pheno-name",
    ),
    bad(
        "no-traits",
        edit("p.txt", lambda t: "".join(" ".join(row.split()[:2]) + "\n" for row in t.splitlines())),
        "p.txt",
        "0 trait columns",
    ),
    bad(
        "other-case-of-a-name",
        lambda folder: None,
        "no column 'y'",
        "columns are: Y",
        args=(*fit(), "--pheno-name", "y"),
    ),
    bad("id-as-trait", lambda folder: None, "no column 'IID'", args=(*fit(), "--pheno-name", "IID")),
]

NUMBERS = (
    "1,5",
    "1.500,0",
    "1 000",
    "1_000",
    "inf",
    "-inf",
    "Infinity",
    "0x10",
    "1e400",
    "TRUE",
    "false",
    "2020-01-01",
    "1.5kg",
    "5%",
    "１５",
    "1/2",
    "N/A",
    "null",
    "None",
    "?",
    "-",
    "#N/A",
    "<NA>",
    "--9",
)
B07 = [
    *(
        good(f"pheno-{cell or 'empty'}", first(cell), keep=(1, 2, 3, 4, 5))
        for cell in ("NA", "NaN", "nan", "Na", ".", "", " ")
    ),
    *(
        good(f"pheno-{cell}", first(cell), fit(), "1 values -9 of Y", keep=(1, 2, 3, 4, 5))
        for cell in ("-9", "-9.0", "-9.00", "-9.", "-9e0", "-09")
    ),
    *(
        good(
            f"covar-{cell or 'empty'}",
            put("c.txt", table("age", [cell, 1, 4, 1, 5, 9], "\t")),
            fit("bed", "covar"),
            keep=(1, 2, 3, 4, 5),
        )
        for cell in ("NA", "", ".", "-9", "-9.0")
    ),
    good(
        "groups-NA",
        put("g.txt", table("cage", ["NA", "A", "B", "B", "", "."], "\t")),
        fit("bed", "groups"),
        more=lambda f: f.group == ["", "A", "B", "B", "", ""],
    ),
    *(
        bad(f"pheno-number-{cell}", first(cell), "p.txt:2", repr(cell), "not a number", "NA where missing")
        for cell in NUMBERS
    ),
    *(
        bad(
            f"covar-number-{cell}",
            put("c.txt", table("age", [cell, 1, 4, 1, 5, 9], "\t")),
            "c.txt:2",
            repr(cell),
            "not a number",
            args=fit("bed", "covar"),
        )
        for cell in NUMBERS
    ),
    good("code-none", first(-9), (*fit(), "--missing-code", "none"), y=(-9, *Y[1:])),
    good("code-99", first(-99), (*fit(), "--missing-code", "-99"), "1 values -99", keep=(1, 2, 3, 4, 5)),
    good(
        "code-0",
        pheno(1, 2, 1, 2, 0, 2),
        (*fit(), "--missing-code", "0"),
        "1 values 0",
        keep=(0, 1, 2, 3, 5),
        y=(1, 2, 1, 2, 0, 2),
    ),
    bad("all-minus-9", pheno(*[-9] * 6), "Y", "0 sample(s)"),
    bad("all-NA", pheno(*["NA"] * 6), "Y", "0 sample(s)", "missing values"),
    bad("all-NA-covar", put("c.txt", table("age", ["NA"] * 6)), "0 sample(s)", args=fit("bed", "covar")),
    bad("one-left", pheno(1, *["NA"] * 5), "1 sample(s)", "2 are needed"),
    bad("one-row", put("p.txt", "FID IID Y\nf0 s0 1\n"), "1 sample(s)", "2 are needed"),
    bad("constant", pheno(*[2.5] * 6), "constant", "2.5", "--pheno-name"),
    bad("constant-0", pheno(*[0] * 6), "constant (0 in all 6", "--pheno-name"),
    *(
        good(f"scale-{unit:g}", pheno(*[unit * y for y in Y]), y=[unit * y for y in Y])
        for unit in (1e-200, 1e-14, 1e200, 1e307)
    ),
    bad("below-rounding", pheno(*[f"{10**15 + k}" for k in range(6)]), "Y", "varies too little", "other units"),
    bad("below-normal-numbers", pheno(*[1e-310 * y for y in Y]), "Y", "varies too little", "other units"),
    good("quoted-number", put("p.txt", table("Y", [f'"{y}"' for y in Y], ","))),
    good("signs-and-exponents", first("+15E-1")),
    good(
        "case-control-12",
        pheno(1, 2, 1, 2, 2, 1),
        fit(),
        "two values, 1 and 2",
        "taken as numbers",
        y=(1, 2, 1, 2, 2, 1),
    ),
    good(
        "case-control-01",
        pheno(0, 1, 0, 1, 1, 0),
        fit(),
        "two values, 0 and 1",
        "taken as numbers",
        y=(0, 1, 0, 1, 1, 0),
    ),
    good("case-control-012", fam(0, 1, 2, 1, 2, 1), NO_PHENO, "0, 1 and 2", "--missing-code 0", y=(0, 1, 2, 1, 2, 1)),
]

B10 = [
    good(
        "fam-fid-0",
        both(
            edit("d.fam", lambda t: t.replace("f0 ", "0 ").replace("f1 ", "0 ")),
            edit("p.txt", lambda t: t.replace("f0 s", "sX s")),
        ),
        fit(),
        "IID alone",
        "every FID of the genotype file is 0",
    ),
    good(
        "fam-fid-0-pheno-fid-iid",
        both(
            edit("d.fam", lambda t: t.replace("f0 ", "0 ").replace("f1 ", "0 ")),
            put("p.txt", "FID IID Y\n" + "".join(f"{i} {i} {y}\n" for i, y in zip(IID, Y, strict=True))),
        ),
        fit(),
        "IID alone",
    ),
    *(
        good(
            f"{name}-fid-0",
            edit(file, lambda t: t.replace("f0 ", "0 ").replace("f1 ", "0 ")),
            fit("bed", name),
            "every FID of the table is 0",
        )
        for name, file in TABLE_FILES.items()
    ),
    *(
        bad(
            f"{name}-fid-is-iid",
            edit(
                file,
                lambda t: "".join(
                    f"{row.split()[1]} {row.split(' ', 1)[1]}\n" for row in t.replace("FID IID", "IID FID").splitlines()
                ).replace("FID FID", "FID IID"),
            ),
            "no sample in common",
            "overlap 0",
            "--iid-only would match 6",
            args=fit("bed", name),
        )
        for name, file in TABLE_FILES.items()
    ),
    *(
        good(
            f"{name}-iid-only",
            edit(file, lambda t: t.replace("f0 ", "x ").replace("f1 ", "y ")),
            (*fit("bed", name), "--iid-only"),
            "matched by IID",
        )
        for name, file in TABLE_FILES.items()
    ),
    bad(
        "iid-only-twice",
        both(sub("d.fam", "f1 s3", "f1 s0"), sub("p.txt", "f1 s3", "f1 s0")),
        "s0",
        "more than once",
        args=(*fit(), "--iid-only"),
    ),
    good("pgen-iid-alone", put("d.psam", "#IID\n" + "".join(f"{i}\n" for i in IID)), fit("pgen"), "IID alone"),
    good("bimbam-iid-alone", put("ids.txt", "".join(f"{i}\n" for i in IID)), fit("bimbam"), "IID alone"),
    good(
        "rows-in-another-order",
        edit("p.txt", lambda t: "\n".join([t.split("\n")[0], *t.rstrip("\n").split("\n")[:0:-1]])),
    ),
]

B13 = [
    *(
        bad(
            f"{name}-twice",
            edit(file, lambda t: t + t.splitlines()[1].rsplit(" ", 1)[0] + " 5\n"),
            file,
            "1 sample(s)",
            "f0 s0",
            "lines 2, 8",
            args=fit("bed", name),
        )
        for name, file in TABLE_FILES.items()
    ),
    bad("same-value-twice", edit("p.txt", lambda t: t + t.splitlines()[1] + "\n"), "p.txt", "f0 s0 (lines 2, 8)"),
    bad("fam-twice", sub("d.fam", "f0 s1", "f0 s0"), "d.fam", "1 sample(s)", "f0 s0", "unique"),
    bad("psam-twice", sub("d.psam", "f0\ts1", "f0\ts0"), "d.psam", "f0 s0", args=fit("pgen")),
    bad("sample-twice", sub("d.sample", "f0 s1", "f0 s0"), "d.sample", "f0 s0", args=fit("bgen")),
    bad("ids-twice", sub("ids.txt", "f0 s1", "f0 s0"), "ids.txt", "f0 s0", args=fit("bimbam")),
    bad("iid-table-twice", put("p.txt", "#IID\tY\ns0\t1\ns1\t2\ns0\t3\n"), "p.txt", "s0 (lines 2, 4)"),
]

B15 = [
    bad(
        "cut",
        raw("d.bed", lambda b: b[:-1]),
        "d.bed",
        "12 bytes",
        "13 expected",
        "6 samples (d.fam)",
        "5 variants (d.bim)",
        "cut short",
    ),
    bad("longer", raw("d.bed", lambda b: b + b"\0"), "d.bed", "14 bytes", "13 expected", "too long"),
    *(
        bad(f"{n}-bytes", raw("d.bed", lambda b, n=n: b[:n]), "d.bed", f"{n} bytes", "13 expected")
        for n in (0, 1, 2, 3)
    ),
    bad("sample-major", raw("d.bed", lambda b: b[:2] + b"\0" + b[3:]), "d.bed", "sample-major", "--make-bed"),
    bad("gz", raw("d.bed", gzip.compress), "d.bed", "1f 8b", "6c 1b 01"),
    bad("text", put("d.bed", "FID IID Y\n...."), "d.bed", "not a PLINK 1 .bed"),
    bad("bim-short", edit("d.bim", lambda t: t.rsplit("\n", 2)[0] + "\n"), "d.bed", "11 expected", "4 variants"),
    bad(
        "fam-long",
        edit("d.fam", lambda t: t + "f2 a 0 0 1 1\nf2 b 0 0 1 1\nf2 c 0 0 1 1\n"),
        "d.bed",
        "18 expected",
        "9 samples",
    ),
    # The size of a .bed does not tell five samples from six, but there are genotypes of the sixth.
    bad(
        "fam-lacks-one",
        edit("d.fam", lambda t: t.split("\n", 1)[1]),
        "d.bed",
        "more than the 5 samples of d.fam",
        "lacks samples",
    ),
    bad("pgen-cut", raw("d.pgen", lambda b: b[:-1]), "d.pgen", args=fit("pgen")),
    bad("pgen-empty", put("d.pgen", b""), "d.pgen", args=fit("pgen")),
    bad(
        "psam-lacks-one",
        edit("d.psam", lambda t: t.rsplit("\n", 2)[0] + "\n"),
        "d.pgen",
        "6 samples",
        "5 in d.psam",
        args=fit("pgen"),
    ),
    bad(
        "pvar-lacks-one",
        edit("d.pvar", lambda t: t.rsplit("\n", 2)[0] + "\n"),
        "d.pgen",
        "5 variants",
        "4 in d.pvar",
        args=fit("pgen"),
    ),
    bad(
        "ids-lack-one",
        edit("ids.txt", lambda t: t.split("\n", 1)[1]),
        "ids.txt",
        "5 sample IDs",
        "6 values",
        args=fit("bimbam"),
    ),
    bad(
        "bimbam-short-line",
        edit("d.txt", lambda t: t.rsplit(",", 1)[0] + "\n"),
        "d.txt:5",
        "5 values",
        "6 in the lines before",
        args=fit("bimbam"),
    ),
    bad(
        "bimbam-header",
        edit("d.txt", lambda t: "rs, A, B, s0, s1, s2, s3, s4, s5\n" + t),
        "d.txt:1",
        "'s0'",
        args=fit("bimbam"),
    ),
    *(
        bad(f"bimbam-value-{value}", sub("d.txt", "NA", value), "d.txt:5", "rs4", args=fit("bimbam"))
        for value in ("-9", "inf", "3", "-0.5", "0x1", "1_0", ".", "A/G", "1e400")
    ),
    bad("bimbam-value-missing", sub("d.txt", "NA", ""), "d.txt:5", "5 values", args=fit("bimbam")),
    bad("bimbam-decimal-comma", sub("d.txt", "NA", "1,5"), "d.txt:5", "7 values", args=fit("bimbam")),
    good("bimbam-NaN", sub("d.txt", "NA", "NaN"), fit("bimbam")),
    good(
        "bimbam-quoted-ids",
        edit("d.txt", lambda t: t.replace("rs3", '"rs3"')),
        fit("bimbam"),
        more=lambda f: f.pos == [100, 101, 102, 103, 104],
    ),
    bad(
        "anno-of-other-variants",
        sub("anno.txt", "rs", "snp"),
        "--anno anno.txt",
        "none of the 5 variants",
        "rs0",
        args=fit("bimbam"),
    ),
    bad("anno-two-places", edit("anno.txt", lambda t: t + "rs2, 900, 1\n"), "anno.txt:6", "rs2", args=fit("bimbam")),
]

OPTIONS = {
    "--bfile": ("fit", "--bfile", "nope", *PHENO, *TAIL),
    "--bed": (*fit(), "--bed", "nope"),
    "--bim": (*fit(), "--bim", "nope"),
    "--fam": (*fit(), "--fam", "nope"),
    "--pfile": ("fit", "--pfile", "nope", *PHENO, *TAIL),
    "--pvar": (*fit("pgen"), "--pvar", "nope"),
    "--psam": (*fit("pgen"), "--psam", "nope"),
    "--bgen": ("fit", "--bgen", "nope", *PHENO, *TAIL),
    "--sample": (*fit("bgen"), "--sample", "nope"),
    "--bimbam": ("fit", "--bimbam", "nope", *PHENO, *TAIL),
    "--anno": (*fit("bimbam"), "--anno", "nope"),
    "--pheno": (*fit(), "--pheno", "nope"),
    "--covar": (*fit("bed", "covar"), "--covar", "nope"),
    "--groups": (*fit("bed", "groups"), "--groups", "nope"),
}
B16 = [
    *(
        bad(f"{option[2:]}-nope", lambda folder: None, f"{option} nope", "no such file", "check the path", args=args)
        for option, args in OPTIONS.items()
    ),
    *(
        bad(
            f"{option[2:]}-folder", lambda folder: (folder / "nope").mkdir(), f"{option} nope", "is a folder", args=args
        )
        for option, args in OPTIONS.items()
        if option not in ("--bfile", "--pfile")
    ),
    bad(
        "space-before",
        lambda folder: None,
        "--pheno ' p.txt'",
        "no such file",
        "p.txt exists",
        args=(*fit(), "--pheno", " p.txt"),
    ),
    bad(
        "space-after",
        lambda folder: None,
        "--covar 'c.txt '",
        "no such file",
        "c.txt exists",
        args=(*fit("bed", "covar"), "--covar", "c.txt "),
    ),
    bad("empty-name", lambda folder: None, "--pheno ''", args=(*fit(), "--pheno", "")),
    bad(
        "bfile-with-suffix",
        lambda folder: None,
        "--bfile d.bed",
        "without .bed",
        args=("fit", "--bfile", "d.bed", *PHENO, *TAIL),
    ),
    *(
        bad(
            f"no-{suffix}",
            lambda folder, s=suffix: (folder / f"d.{s}").unlink(),
            "--bfile d",
            f"d.{suffix}",
            "no such file",
        )
        for suffix in ("bed", "bim", "fam")
    ),
    *(
        bad(
            f"no-{suffix}",
            lambda folder, s=suffix: (folder / f"d.{s}").unlink(),
            "--pfile d",
            f"d.{suffix}",
            "no such file",
            args=fit("pgen"),
        )
        for suffix in ("pgen", "pvar", "psam")
    ),
    bad("bed-folder", lambda folder: ((folder / "d.bed").unlink(), (folder / "d.bed").mkdir()), "--bfile d", "folder"),
]

CHROMOSOMES = (
    "chr1",
    "chrX",
    "27",
    "29",
    "scaffold_12",
    "PAR1",
    "M",
    "x",
    "0",
    "NA",
    "1_random",
    "HLA-A*01:01",
    "MT",
    "Ⅱ",
    "2L",
)
POSITIONS = ("-5", "99999999999999999999", "1e5", "102.0", "1_000", "1,000", "NA", ".", "+5", "９", "0x10")


def chromosomes(*names: str) -> Change:
    return put("d.bim", "".join(f"{name}\trs{j}\t0\t{100 + j}\tA\tG\n" for j, name in enumerate(names)))


B21 = [
    *(good(f"bim-{name}", chromosomes(*[name] * 5), more=lambda f, n=name: f.chrom == [n] * 5) for name in CHROMOSOMES),
    *(
        good(
            f"pvar-{name}",
            edit("d.pvar", lambda t, n=name: t.replace("3\t102", f"{n}\t102")),
            fit("pgen"),
            more=lambda f, n=name: f.chrom[2] == n,
        )
        for name in CHROMOSOMES
    ),
    good("mouse", chromosomes("1", "19", "X", "Y", "MT"), more=lambda f: f.chrom == ["1", "19", "X", "Y", "MT"]),
    good("unsorted", chromosomes("10", "2", "chrX", "1", "2"), more=lambda f: f.chrom == ["10", "2", "chrX", "1", "2"]),
    good(
        "bimbam-anno",
        edit("anno.txt", lambda t: t.replace("102, 3", "102, chrUn_7")),
        fit("bimbam"),
        more=lambda f: f.chrom[2] == "chrUn_7",
    ),
    *(bad(f"bim-position-{p}", sub("d.bim", "102", p), "d.bim:3", "position", p) for p in POSITIONS),
    *(
        bad(f"pvar-position-{p}", sub("d.pvar", "102", p), "d.pvar:4", "position", p, args=fit("pgen"))
        for p in POSITIONS
    ),
    *(
        bad(f"anno-position-{p}", sub("anno.txt", "102", p), "anno.txt:3", "position", args=fit("bimbam"))
        for p in POSITIONS
        if p not in ("NA", "1,000")
    ),
    good("position-of-10-digits", sub("d.bim", "102", "3000000000"), more=lambda f: f.pos[2] == 3_000_000_000),
    good("position-0", sub("d.bim", "102", "0"), more=lambda f: f.pos[2] == 0),
    good("anno-NA", sub("anno.txt", "102", "NA"), fit("bimbam"), more=lambda f: f.pos[2] == 0),
    *(
        good(
            f"alleles-{a[:9]}-{b}",
            sub("d.bim", "A\tG", f"{a}\t{b}"),
            more=lambda f, a=a, b=b: set(f.a1) == {a} and set(f.a2) == {b},
        )
        for a, b in (
            ("0", "G"),
            (".", "."),
            ("ACGT" * 9000, "A"),
            ("<DEL>", "N"),
            ("1", "2"),
            ("a", "g"),
            ("*", "-"),
            ("A", "A"),
        )
    ),
    bad("pvar-two-alt", sub("d.pvar", "rs2\tG\tA", "rs2\tG\tA,T"), "d.pvar:4", "2 ALT", args=fit("pgen")),
]

ROWS = {
    "B01": B01,
    "B02": B02,
    "B04": B04,
    "B05": B05,
    "B06": B06,
    "B07": B07,
    "B10": B10,
    "B13": B13,
    "B15": B15,
    "B16": B16,
    "B21": B21,
    "text": UNREADABLE,
}
