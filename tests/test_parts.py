"""Parts of a scan and of a Gram matrix, and genotypes split by chromosome: the same as all at once."""

from __future__ import annotations

import json
import random
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import h5py
import numpy as np
import pytest
from helpers import CAUSAL, ENVIRONMENT, FIT, Here, arrays, assert_same, goals, make_data, names

from goalscli.genotypes.plink import open_plink, write_plink
from goalscli.genotypes.source import Samples, Variants

PARTS = 7


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("parts")
    make_data(folder)
    assert goals(*FIT, "--out", "m", cwd=folder).code == 0
    return folder


@pytest.fixture
def here(folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Here:
    for path in (*folder.glob("r.*"), *folder.glob("q.*")):
        path.unlink()
    here = Here(monkeypatch, capsys, folder)
    if not (folder / "all.scores.h5").exists():
        here.well(*scan("all"))
        for k in range(1, PARTS + 1):
            here.well(*scan("s", f"{k}/{PARTS}"))
    return here


def scan(out: str, part: str = "", *more: str, model: str = "m") -> tuple[str, ...]:
    split = ("--part", part) if part else ()
    return ("scan", f"{model}.model.h5", "--scores", "goals,rate,psi", "--local", "top:9", "--out", out, *split, *more)


def part(k: int, out: str = "s", count: int = PARTS) -> str:
    return f"{out}.part-{k}-of-{count}.h5"


EVERY = [part(k) for k in (3, 1, 7, 2, 6, 5, 4)]


def refused(here: Here, *args: str) -> str:
    """Exit 2 with one line, and nothing written; returns the line."""
    before = names(here.folder)
    outcome = here(*args)
    assert outcome.code == 2, outcome.err
    assert "Traceback" not in outcome.err
    assert names(here.folder) == before
    return outcome.err.splitlines()[-1]


def test_merged_parts_are_the_unsplit_scan(here: Here, folder: Path):
    here.well("merge", *EVERY, "--out", "r")
    assert_same(folder / "r.scores.h5", folder / "all.scores.h5")
    with h5py.File(folder / "r.scores.h5") as merged, h5py.File(folder / "all.scores.h5") as whole:
        for name in ("goals", "rate", "psi"):
            assert dict(merged[name].attrs) == dict(whole[name].attrs)
    # The strongest variant, whose local scores are kept, is one of a part: its row must be that of the whole.
    assert int(np.abs(arrays(folder / "r.scores.h5")["goals/z"]).argmax()) in range(CAUSAL - 3, CAUSAL + 1)


def test_merge_refuses_what_exists(here: Here):
    assert "exists already" in refused(here, "merge", *EVERY, "--out", "all")


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ([p for p in EVERY if p not in (part(2), part(5))], ("2 of 7 parts missing: 2, 5", "goals scan --part K/7")),
        ([*EVERY, part(3)], ("s.part-3-of-7.h5: is part 3, as is s.part-3-of-7.h5", "give each part once")),
        (["all.scores.h5"], ("all.scores.h5: is a whole scan, no part", "use it as it is")),
        ([*EVERY, "all.scores.h5"], ("all.scores.h5: is a whole scan, no part",)),
        (["m.model.h5"], ("m.model.h5: is a goalscli-model file",)),
        ([*EVERY, "s.part-8-of-7.h5"], ("s.part-8-of-7.h5: no such file",)),
    ],
    ids=["missing", "doubled", "whole", "whole-too", "model", "absent"],
)
def test_merge_names_what_is_wrong(given: list[str], words: tuple[str, ...], here: Here):
    last = refused(here, "merge", *given, "--out", "r")
    for word in words:
        assert word in last, last


def test_merge_refuses_a_copy_under_another_name(here: Here, folder: Path):
    shutil.copy(folder / part(3), folder / "r.copy.h5")
    assert "r.copy.h5: is part 3, as is s.part-3-of-7.h5" in refused(here, "merge", *EVERY, "r.copy.h5", "--out", "r")


@pytest.mark.parametrize("option", [("--xi", "0.5"), ("--precision", "double"), ("--local", "top:8")])
def test_merge_refuses_a_part_of_other_settings(option: tuple[str, str], here: Here):
    here.well(*scan("r", "3/7", *option))
    last = refused(here, "merge", *(p for p in EVERY if p != part(3)), part(3, "r"), "--out", "r")
    assert "r.part-3-of-7.h5: is not of the same scan as s.part-1-of-7.h5 (differs in settings)" in last


def test_merge_refuses_a_part_of_another_model_or_count(here: Here):
    here.well(*FIT, "--bandwidth", "1/J", "--out", "q")
    here.well(*scan("q", "3/7", model="q"))
    others = [p for p in EVERY if p != part(3)]
    last = refused(here, "merge", *others, part(3, "q"), "--out", "r")
    assert "q.part-3-of-7.h5: is not of the same scan as s.part-1-of-7.h5 (differs in model_digest)" in last
    here.well(*scan("r", "3/8"))
    last = refused(here, "merge", *others, part(3, "r", 8), "--out", "r")
    assert "r.part-3-of-8.h5: is not of the same scan as s.part-1-of-7.h5 (differs in parts)" in last


def test_merge_refuses_an_unfinished_part(here: Here, folder: Path):
    shutil.copy(folder / part(3), folder / f"{part(3, 'r')}.partial")
    last = refused(here, "merge", *(p for p in EVERY if p != part(3)), part(3, "r"), "--out", "r")
    assert "r.part-3-of-7.h5: no such file (only an unfinished one); finish it with --resume" in last
    with h5py.File(folder / f"{part(3, 'r')}.partial", "r+") as file:
        file.attrs["complete"] = False
    (folder / f"{part(3, 'r')}.partial").rename(folder / part(3, "r"))
    last = refused(here, "merge", *(p for p in EVERY if p != part(3)), part(3, "r"), "--out", "r")
    assert "r.part-3-of-7.h5: is not complete" in last


@pytest.mark.parametrize("text", ["0/7", "8/7", "a/7", "3", "3/0", "1/1000"])
def test_a_part_that_cannot_be(text: str, here: Here):
    assert "--part" in refused(here, *scan("r", text))


def gram(k: int, count: int, *more: str, out: str = "q") -> tuple[str, ...]:
    return ("gram", *FIT[1:], "--part", f"{k}/{count}", "--out", out, *more)


@pytest.mark.parametrize("kernel", ["rbf", "linear", "laplacian"])
def test_a_gram_matrix_in_parts(kernel: str, here: Here, folder: Path):
    for k in (3, 1, 2):
        here.well(*gram(k, 3, "--kernel", kernel))
    here.well(*FIT, "--kernel", kernel, "--gram", "q.gram-*-of-3.h5", "--out", "q")
    here.well(*FIT, "--kernel", kernel, "--out", "r")
    with h5py.File(folder / "q.model.h5") as a, h5py.File(folder / "r.model.h5") as b:
        for name, tolerance in (("fit/gram", 1e-12), ("variants/mean", 1e-12), ("fit/weights", 1e-4)):
            assert np.abs(a[name][:] - b[name][:]).max() <= tolerance * np.abs(b[name][:]).max(), name
        assert a.attrs["theta"] == pytest.approx(b.attrs["theta"], rel=1e-12)
        # REML's ratio is rounded to 6 decimals, which last bits may turn either way.
        for name in ("signal_variance", "noise_variance", "log_likelihood"):
            assert a.attrs[name] == pytest.approx(b.attrs[name], rel=1e-4), name
        assert np.ptp(b["fit/gram"][:]) > 0.1


def test_gram_parts_are_checked(here: Here, folder: Path):
    for k in (1, 2, 3):
        here.well(*gram(k, 3))
    fit = (*FIT, "--out", "r")
    two = ("--gram", "q.gram-1-of-3.h5", "--gram", "q.gram-3-of-3.h5")
    assert "1 of 3 parts missing: 2" in refused(here, *fit, *two)
    shutil.copy(folder / "q.gram-1-of-3.h5", folder / "q.again.h5")
    last = refused(here, *fit, "--gram", "q.gram-*.h5", "--gram", "q.again.h5")
    assert "is part 1, as is q." in last
    assert "give each part once" in last
    # Named twice it is one file.
    here.well(*FIT, "--gram", "q.gram-*.h5", "--gram", "q.gram-1-of-3.h5", "--out", "q")
    last = refused(here, *fit, "--maf", "0.3", "--gram", "q.gram-*-of-3.h5")
    assert "none of 3 file(s) is of these samples and variants of A" in last
    last = refused(here, *fit, "--kernel", "linear", "--gram", "q.gram-*-of-3.h5")
    assert "rbf kernel, 3 parts; linear kernel, 3 parts wanted" in last
    assert "no such file" in refused(here, *fit, "--gram", "none-*.h5")
    assert "m.model.h5: is a goalscli-model file" in refused(here, *fit, "--gram", "m.model.h5")


def test_gram_parts_of_several_traits(here: Here, folder: Path):
    """One call a part for all traits; the fit finds those of each."""
    both = tuple("A,B" if word == "A" else word for word in FIT)
    for k in (1, 2):
        here.well("gram", *both[1:], "--part", f"{k}/2", "--out", "q")
    assert {f"q.{t}.gram-{k}-of-2.h5" for t in "AB" for k in (1, 2)} <= names(folder)
    here.well(*both, "--gram", "q.*.gram-*.h5", "--out", "q")
    here.well(*both, "--out", "r")
    for trait in "AB":
        with h5py.File(folder / f"q.{trait}.model.h5") as a, h5py.File(folder / f"r.{trait}.model.h5") as b:
            assert np.abs(a["fit/gram"][:] - b["fit/gram"][:]).max() < 1e-12
            assert a.attrs["trait"] == trait
    # The traits are of the same samples here, so the files of either will do for both; but not half of them.
    here.well(*both, "--gram", "q.A.gram-*.h5", "--out", "q", "--overwrite")
    last = refused(here, *both, "--gram", "q.A.gram-1-of-2.h5", "--gram", "q.B.gram-2-of-2.h5", "--out", "q2")
    assert "1 of 2 parts missing: 2" in last


@pytest.fixture
def split(folder: Path) -> Path:
    """The data by chromosome (1, 2, 10, X), c1.bed …, and in one file, j.bed, in the order 1, 2, 10, X."""
    if (folder / "j.bed").exists():
        return folder
    source = open_plink(str(folder / "d"))
    everything = source.read(np.arange(len(source.samples)), np.arange(len(source.variants)))
    dosages = np.where(np.isnan(everything), -127, everything).astype(np.int8)
    told = source.variants
    renamed = np.array([{"Y": "10"}.get(c, c) for c in told.chrom], dtype=object)
    order = []
    for chrom in ("1", "2", "10", "X"):
        rows = np.flatnonzero(renamed == chrom)
        order.append(rows)
        table = Variants(renamed[rows], told.id[rows], told.pos[rows], told.a1[rows], told.a2[rows])
        write_plink(folder / f"c{chrom}", dosages[:, rows], source.samples, table)
    rows = np.concatenate(order)
    table = Variants(renamed[rows], told.id[rows], told.pos[rows], told.a1[rows], told.a2[rows])
    write_plink(folder / "j", dosages[:, rows], source.samples, table)
    return folder


@pytest.mark.parametrize("names_of_files", ["c{chrom}", "c1,c2,c10,cX"])
def test_genotypes_split_by_chromosome(names_of_files: str, split: Path, here: Here):
    """The same bits as of one file, in the order 1, 2, 10, X; also in parts, which know the files again."""
    files = tuple(names_of_files if word == "d" else word for word in FIT)
    one = tuple("j" if word == "d" else word for word in FIT)
    here.well(*one, "--out", "r")
    here.well(*scan("r", model="r"))
    here.well(*files, "--out", "q")
    here.well(*scan("q", model="q"))
    assert_same(split / "q.scores.h5", split / "r.scores.h5")
    chrom = [c.decode() for c in arrays(split / "q.scores.h5")["variants/chrom"]]
    assert list(dict.fromkeys(chrom)) == ["1", "2", "10", "X"]
    for k in (1, 2, 3):
        here.well(*scan("q", f"{k}/3", model="q"))
    here.well("merge", *(part(k, "q", 3) for k in (2, 3, 1)), "--out", "q", "--overwrite")
    assert_same(split / "q.scores.h5", split / "r.scores.h5")


def test_the_order_of_a_list_is_kept(split: Path, here: Here):
    here.well(*("cX,c1" if word == "d" else word for word in FIT), "--out", "q")
    with h5py.File(split / "q.model.h5") as file:
        assert list(dict.fromkeys(file["variants/chrom"].asstr()[:])) == ["X", "1"]


@pytest.mark.parametrize("change", ["fewer", "shuffled"])
def test_samples_that_differ_between_files_are_refused(change: str, split: Path, here: Here):
    source = open_plink(str(split / "c2"))
    keep = np.arange(len(source.samples))[:-1] if change == "fewer" else np.arange(len(source.samples))[::-1]
    told = source.samples
    write_plink(
        split / "q.2",
        np.where(np.isnan(x := source.read(keep, np.arange(len(source.variants)))), -127, x).astype(np.int8),
        Samples(told.fid[keep], told.iid[keep], told.sex[keep], told.phenotype[keep]),
        source.variants,
    )
    last = refused(here, *("c1,q.2" if word == "d" else word for word in FIT), "--out", "r")
    assert f"q.2.bed: {len(keep)} samples, not those of c1.bed (64) in the same order" in last


def test_a_pattern_that_fits_nothing(split: Path, here: Here):
    last = refused(here, *("chr{chrom}" if word == "d" else word for word in FIT), "--out", "r")
    assert "--bfile: no file chr{chrom}.bed for any chromosome" in last
    last = refused(here, *("c1,c3" if word == "d" else word for word in FIT), "--out", "r")
    assert "c3" in last


# Scans parts of m.model.h5, resuming what is there, until the k-th call of a function kills it.
WORKER = """
import json, os, signal, sys
from goalscli.store import writer
from goalscli.jobs.scan import scan
from goalscli.jobs.scan_request import Part, ScanRequest, ScanRun
from goalscli.scores import score
told = json.loads(sys.argv[1])
owner = writer.Writer if hasattr(writer.Writer, told["method"]) else writer
original, calls = getattr(owner, told["method"]), 0
def dying(*args, **options):
    global calls
    calls += 1
    if calls == told["k"]:
        os.kill(os.getpid(), signal.SIGKILL)
    return original(*args, **options)
setattr(owner, told["method"], dying)
for number, count in told["parts"]:
    request = ScanRequest(tuple(score(name)() for name in ("goals", "rate", "psi")), told["local"], told["precision"],
                          Part(number, count) if count else None)
    scan("m.model.h5", request, told["out"], ScanRun(chunk_size=told["chunk"], threads=told["threads"], resume=True))
"""


def work(folder: Path, **told: object) -> int:
    done = subprocess.run(
        [sys.executable, "-c", WORKER, json.dumps(told)], cwd=folder, env=ENVIRONMENT, capture_output=True, text=True,
        check=False,
    )  # fmt: skip
    assert done.returncode in (0, -signal.SIGKILL), done.stderr
    return done.returncode


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(20))
def test_any_cut_kill_and_order_give_the_same_bits(seed: int, tmp_path: Path):
    """1, 7 and 64 parts, each worker killed at random and resumed, merged in random order, equal the unsplit scan."""
    rng = random.Random(seed)
    make_data(tmp_path, seed)
    # Given variances: REML finds no signal at all in some of these traits, and all scores would be 0.
    assert goals(*FIT, "--signal", "0.5", "--noise", "0.5", "--out", "m", cwd=tmp_path).code == 0
    settings = {"local": rng.choice(["all", "top:9", "top:100", "none"]), "precision": rng.choice(["single", "double"])}
    whole = settings | {"chunk": 64, "threads": 1, "method": "finish", "k": 0, "out": "all"}
    assert work(tmp_path, parts=[(1, 0)], **whole) == 0
    killed = 0
    for count in (1, 7, 64):
        numbers = [(k, count) for k in range(1, count + 1)]
        for attempt in range(8):
            how = {"chunk": rng.choice([1, 7, 16, 300]), "threads": rng.choice([1, 2]), "out": f"p{count}"}
            # The first is killed for sure: every scan begins to write, marks and finishes once.
            method = rng.choice(["write", "runs", "finish", "begin"])
            k = rng.randint(1, 1 if attempt == 0 else 40) if attempt < 3 else 0
            rng.shuffle(numbers)
            code = work(tmp_path, parts=numbers, method=method, k=k, **settings, **how)
            killed += code != 0
            if code == 0:
                break
        rng.shuffle(numbers)
        files = [f"p{count}.part-{k}-of-{count}.h5" for k, _ in numbers]
        merged = goals("merge", *files, "--out", f"p{count}", cwd=tmp_path)
        assert merged.code == 0, merged.err
        assert_same(tmp_path / f"p{count}.scores.h5", tmp_path / "all.scores.h5")
    assert killed >= 3
    assert not [name for name in names(tmp_path) if name.endswith((".partial", ".starting"))]
    assert len(np.unique(arrays(tmp_path / "all.scores.h5")["goals/score"])) > 300
