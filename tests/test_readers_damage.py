"""Cut, spoilt and foreign BGEN, PGEN and BIMBAM files: an error that names them, or dosages of the right shape."""

from __future__ import annotations

import contextlib
import gzip
import logging
import struct
import subprocess
import sys
import warnings
from collections.abc import Callable
from pathlib import Path

import bgen
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from reader_files import IDS, J, N, X, bgen_bytes, everything, make_pgen, mean_genotypes, refused, run, writer_to

from goalscli.errors import InputError
from goalscli.genotypes.bgen import open_bgen
from goalscli.genotypes.bimbam import open_bimbam
from goalscli.genotypes.pgen import open_pgen


@pytest.fixture
def write(tmp_path):
    return writer_to(tmp_path)


@pytest.fixture(scope="module")
def pgen(tmp_path_factory):
    return make_pgen(tmp_path_factory.mktemp("pgen"))


def read_or_refuse(opening: Callable[[], object], shape: tuple[int, int] | None = (N, J)) -> np.ndarray | None:
    """The dosages, if every one of them can be; otherwise the error must be ours."""
    try:
        source = opening()
        got = everything(source)
    except InputError:
        return None
    assert got.shape == (shape or (len(source.samples), len(source.variants)))
    assert np.all(np.isnan(got) | ((got >= 0) & (got <= 2)))
    return got


@pytest.mark.parametrize("compression", [0, 1])
def test_our_own_bgen_is_read(write, compression):
    assert np.array_equal(
        everything(open_bgen(write("d.bgen", bgen_bytes(compression=compression)))), X, equal_nan=True
    )


@pytest.mark.parametrize("compression", [0, 1])
def test_bgen_cut_anywhere_is_refused_on_opening(write, compression):
    whole = bgen_bytes(compression=compression)
    for length in range(len(whole)):
        path = write("d.bgen", whole[:length])
        refused(lambda p=path: open_bgen(p), "d.bgen")
    refused(lambda: open_bgen(write("d.bgen", whole + b"\0")), "1 bytes follow")


def test_pgen_cut_anywhere_is_refused_on_opening(pgen, write):
    whole = pgen.with_suffix(".pgen").read_bytes()
    for length in range(len(whole)):
        path = write("d.pgen", whole[:length])
        refused(lambda p=path: open_pgen(pgen=p, pvar=f"{pgen}.pvar", psam=f"{pgen}.psam"), "d.pgen")


def test_bimbam_cut_anywhere(write):
    text = mean_genotypes(X.T).encode()
    ends = {k for k, c in enumerate(text) if c == 10} | {k + 1 for k, c in enumerate(text) if c == 10}
    ids = write("ids", "\n".join(IDS))
    for length in range(len(text)):
        got = read_or_refuse(lambda n=length: open_bimbam(write("d.txt", text[:n]), samples=ids), None)
        # "1.0" cut to "1." is as good a number: only a cut in the last value of a line can pass unseen.
        if got is not None:
            assert length in ends or length + 2 in ends or length + 1 in ends
            assert np.array_equal(got, X[:, : got.shape[1]], equal_nan=True)
    packed = gzip.compress(text, mtime=0)
    for length in range(len(packed)):
        refused(lambda n=length: everything(open_bimbam(write("d.txt.gz", packed[:n]))), "d.txt.gz")


COMPRESSED = bgen_bytes(compression=1)
PLAIN = bgen_bytes(compression=0)
TEXT = mean_genotypes(X.T).encode()
examples = settings(
    max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)
damage = st.lists(st.tuples(st.integers(0, 10**6), st.integers(0, 255)), min_size=1, max_size=4)


def spoilt(whole: bytes, changes: list[tuple[int, int]]) -> bytes:
    out = bytearray(whole)
    for at, value in changes:
        out[at % len(out)] = value
    return bytes(out)


@examples
@given(changes=damage)
@pytest.mark.parametrize("whole", [COMPRESSED, PLAIN], ids=["zlib", "plain"])
def test_bgen_with_changed_bytes(write, whole, changes):
    read_or_refuse(lambda: open_bgen(write("d.bgen", spoilt(whole, changes))))


@examples
@given(changes=damage)
def test_pgen_with_changed_bytes(pgen, write, changes):
    path = write("d.pgen", spoilt(pgen.with_suffix(".pgen").read_bytes(), changes))
    read_or_refuse(lambda: open_pgen(pgen=path, pvar=f"{pgen}.pvar", psam=f"{pgen}.psam"))


def test_pgen_that_names_samples_beyond_the_last(tmp_path, monkeypatch):
    """Pgenlib writes their dosages behind the row; it must find room there."""
    n, j = 50, 20
    run(
        "plink2",
        tmp_path,
        "--dummy",
        str(n),
        str(j),
        "acgt",
        "dosage-freq=0.3",
        "--seed",
        "1",
        "--make-pgen",
        "--out",
        "d",
    )
    whole = bytearray((tmp_path / "d.pgen").read_bytes())
    ends = len(whole) - np.cumsum([0, *np.frombuffer(whole, np.uint8, j, 12 + 8 + j)[::-1]])[::-1]
    flats = []

    def guarded(count: int, n_samples: int) -> np.ndarray:
        flats.append(np.full(count * n_samples + 64 + 64, 7, dtype=np.float32))
        return flats[-1][: count * n_samples].reshape(count, n_samples)

    monkeypatch.setattr("goalscli.genotypes.pgen._rows", guarded)
    beyond = 0
    for variant, start in enumerate(ends[:-1]):
        # 13 bytes of hard calls (2 bits a sample), then a bit a sample with a dosage; bits 50 to 55 are of nobody.
        last = start + 13 + 6
        if whole[last] & 3 not in (1, 2):
            continue
        for bit in range(2, 8):
            changed = bytearray(whole)
            changed[last] = 1 << bit
            (tmp_path / "e.pgen").write_bytes(changed)
            source = open_pgen(pgen=tmp_path / "e.pgen", pvar=tmp_path / "d.pvar", psam=tmp_path / "d.psam")
            with contextlib.suppress(InputError):
                assert source.read(np.arange(n), np.array([variant])).shape == (n, 1)
            beyond += any((flat[-128:-64] != 7).any() for flat in flats)
            assert all((flat[-64:] == 7).all() for flat in flats)
            flats.clear()
    if not beyond:
        pytest.skip("this Pgenlib refuses such records")


@examples
@given(changes=damage)
@pytest.mark.parametrize("packed", [False, True])
def test_bimbam_with_changed_bytes(write, packed, changes):
    whole = gzip.compress(TEXT, mtime=0) if packed else TEXT
    read_or_refuse(lambda: open_bimbam(write("d.txt", spoilt(whole, changes))), None)


@settings(examples, max_examples=40)
@given(noise=st.binary(max_size=300))
def test_noise(pgen, write, noise):
    for head in (b"", COMPRESSED[:24], COMPRESSED[:60], b"\x6c\x1b\x10", b"\x1f\x8b"):
        path = write("d.x", head + noise)
        refused(lambda p=path: everything(open_bgen(p)), "d.x")
        read_or_refuse(lambda p=path: open_bimbam(p), None)
        read_or_refuse(lambda p=path: open_pgen(pgen=p, pvar=f"{pgen}.pvar", psam=f"{pgen}.psam"))
        for companion in ("pvar", "psam"):
            files = {"pgen": f"{pgen}.pgen", "pvar": f"{pgen}.pvar", "psam": f"{pgen}.psam", companion: path}
            refused(lambda f=files: open_pgen(**f))
        read_or_refuse(lambda p=path: open_bgen(write("d.bgen", COMPRESSED), sample=p))
        read_or_refuse(lambda p=path: open_bimbam(write("d.txt", TEXT), anno=p))
        read_or_refuse(lambda p=path: open_bimbam(write("d.txt", TEXT), samples=p))


def test_bgen_of_another_kind(write):
    refused(lambda: open_bgen(write("a.bgen", bgen_bytes(layout=1))), "layout 1", "--export bgen-1.2")
    refused(lambda: open_bgen(write("b.bgen", bgen_bytes(ids=None))), "no sample IDs", "--sample")
    several = bgen_bytes(X[:, :1], alleles=("A", "G", "T"), probabilities=b"\0" * 5 * N)
    refused(lambda: open_bgen(write("c.bgen", several)), "rs0", "3 alleles", "bcftools norm")
    three = open_bgen(write("d.bgen", bgen_bytes(X[:, :1], ploidy=3, probabilities=b"\0" * 3 * N)))
    refused(lambda: everything(three), "rs0", "ploidy")
    over = bytes([255, 0, 0, 255, 128, 127, 255, 1, 0, 0])
    for compression in (0, 1):
        source = open_bgen(write("e.bgen", bgen_bytes(X[:, :1], probabilities=over, compression=compression)))
        refused(lambda s=source: everything(s), "e.bgen", "rs0", "sum to more than 1")
    for start, length in ((1, 9), (-1, 1)):
        block = bytearray(bgen_bytes(X[:, :1], compression=1))
        at = bytes(block).index(struct.pack("<I", 10 + 3 * N))
        struct.pack_into("<I", block, at, 10 + length * N + start)
        refused(lambda b=block: open_bgen(write("h.bgen", bytes(b))), "rs0", f"{10 + N} to {10 + 9 * N} bytes")
    refused(lambda: open_bgen("nope.bgen"), "--bgen nope.bgen", "no such file")
    refused(lambda: open_bgen(write("f.bgen", bgen_bytes()).parent), "folder")
    refused(lambda: open_bgen(write("g.bgen", bgen_bytes(ids=["a", "b", "a", "c", "d"]))), "more than once", "0 a")


def test_plink2_refuses_what_we_call_malformed(write, tmp_path):
    good = write("good.bgen", bgen_bytes(X[:, :1]))
    run("plink2", tmp_path, "--bgen", good.name, "ref-first", "--make-pgen", "--out", "good")
    write("over.bgen", bgen_bytes(X[:, :1], probabilities=bytes([255, 1] * N)))
    done = subprocess.run(["plink2", "--bgen", "over.bgen", "ref-first", "--make-pgen", "--out", "over"],
                          cwd=tmp_path, capture_output=True, check=False)  # fmt: skip
    assert done.returncode != 0


def test_the_root_logger_is_left_alone(write):
    """The package logs through it; a handler of its own there would print our messages twice."""
    before = list(logging.getLogger().handlers)
    everything(open_bgen(write("d.bgen", bgen_bytes())))
    assert logging.getLogger().handlers == before
    program = (
        "import logging, sys, numpy as np; from goalscli.genotypes.bgen import open_bgen; "
        "s = open_bgen(sys.argv[1]); s.read(np.arange(5), np.arange(6)); print(logging.getLogger().handlers)"
    )
    done = subprocess.run([sys.executable, "-c", program, str(write("d.bgen", bgen_bytes()))],
                          cwd=Path(__file__).parents[1], capture_output=True, text=True, check=True)  # fmt: skip
    assert (done.stdout, done.stderr) == ("[]\n", "")


def test_an_index_beside_the_file_is_left_alone(write):
    writer = bgen.BgenWriter
    path = write("d.bgen", b"")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with writer(str(path), N, IDS) as out:
            for k in range(J):
                out.add_variant("", f"a longer name {k}", "1", k, ["A", "G"], np.eye(3)[np.zeros(N, int)])
    assert path.with_name("d.bgen.bgi").exists(), "the package writes an index"
    assert np.array_equal(everything(open_bgen(path)), np.full((N, J), 2))
    write("d.bgen", bgen_bytes())
    assert np.array_equal(everything(open_bgen(path)), X, equal_nan=True)
    write("d.bgen.bgi", b"not an index")
    assert np.array_equal(everything(open_bgen(path)), X, equal_nan=True)
