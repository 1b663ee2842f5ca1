"""What the Nextflow modules would run: their scripts, taken from the .nf files; Nextflow itself is not here."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest
import yaml
from helpers import assert_same

from workflow.conftest import ROOT, Folder

NEXTFLOW = ROOT / "nextflow"
MODULES = {path.parent.name: path for path in sorted(NEXTFLOW.glob("modules/local/goals/*/main.nf"))}
DEFS = {
    "def args = task.ext.args ?: ''",
    'def prefix = task.ext.prefix ?: "${meta.id}"',
    "def parts = gram ? \"--gram '*.gram-*-of-*.h5'\" : ''",
}


@dataclass(frozen=True)
class Module:
    """One process of a .nf file."""

    sections: Mapping[str, str]

    @classmethod
    def read(cls, name: str) -> Module:
        text = MODULES[name].read_text("utf-8")
        body = re.fullmatch(rf"// .*\nprocess GOALS_{name.upper()} {{\n(.*)}}\n", text, re.DOTALL)
        assert body is not None
        pieces = re.split(r"^    (\w+):\n", body[1], flags=re.MULTILINE)
        return cls({"head": pieces[0], **dict(zip(pieces[1::2], pieces[2::2], strict=True))})

    def script(self, section: str, values: Mapping[str, str]) -> str:
        """What bash is given: a Groovy string with its variables and escapes resolved. An unknown one is a KeyError."""
        before, text, after = self.sections[section].split('"""')
        assert {line.strip() for line in before.splitlines() if line.strip()} <= DEFS
        assert after.strip() == ""
        return filled(text, values)

    @property
    def outputs(self) -> list[str]:
        return re.findall(r'path\("(.+?)"\)', self.sections["output"])

    @property
    def version(self) -> str:
        command = re.search(r'eval\("(.+)"\), topic: versions, emit: versions_goals\n', self.sections["output"])
        assert command is not None
        return filled(command[1], {})


def filled(text: str, values: Mapping[str, str]) -> str:
    return re.sub(r"\\(.)|\$\{(.+?)\}", lambda m: m[1] if m[1] else values[m[2]], text, flags=re.DOTALL)


def parameters() -> dict[str, str]:
    """The text values of nextflow.config's params."""
    text = (NEXTFLOW / "nextflow.config").read_text("utf-8")
    return dict(re.findall(r"^    (\w+) += ['\"]([^'\"]*)['\"]", text, re.MULTILINE))


class Tasks:
    """Runs scripts as Nextflow does: in a new folder, with links to the inputs, nothing else."""

    def __init__(self, folder: Folder) -> None:
        self.folder, self.count = folder, 0

    def __call__(
        self, name: str, values: Mapping[str, str], inputs: Sequence[Path], section: str = "script"
    ) -> list[Path]:
        self.count += 1
        place = self.folder.work / f"task{self.count}"
        place.mkdir()
        for path in inputs:
            (place / path.name).symlink_to(path)
        module = Module.read(name)
        told = {"task.cpus": "1", "task.memory.toGiga()": "2", "prefix": values["meta.id"], "parts": "", **values}
        self.folder.run("bash", "-euo", "pipefail", "-c", module.script(section, told), cwd=place)
        found = [sorted(path for path in place.glob(pattern) if not path.is_symlink()) for pattern in module.outputs]
        assert all(found), f"{name}: {module.outputs} of {sorted(p.name for p in place.iterdir())}"
        return [path for paths in found for path in paths]


def whole(folder: Folder, section: str, trait: str) -> tuple[Path, Path]:
    """Gram in 2 parts, fit, scan in 3 parts, merge: the model and the scores."""
    tasks, told = Tasks(folder), parameters()
    genotypes = [ROOT / "data_samples" / f"mice.{end}" for end in ("bed", "bim", "fam")]
    tables = [ROOT / "data_samples" / f"mice.{name}.tsv" for name in ("pheno", "covar", "groups")]
    meta = {"meta.id": trait, "meta.pheno_name": trait}
    fit = {**meta, "args": f"{told['genotypes_option']} {told['tables_options']}"}
    tasks("check", fit, [*genotypes, *tables], section)
    grams = [
        tasks("gram", {**fit, "part": str(k), "parts": "2"}, [*genotypes, *tables], section)[0] for k in (1, 2)
    ]  # fmt: skip
    model = tasks("fit", {**fit, "parts": "--gram '*.gram-*-of-*.h5'"}, [*grams, *genotypes, *tables], section)[0]
    scan = {**meta, "args": told["genotypes_option"], "model": model.name, "parts": "3"}
    parts = [tasks("scan", {**scan, "part": str(k)}, [model, *genotypes], section)[0] for k in (1, 2, 3)]
    scores = tasks("merge", {**meta, "scans": " ".join(p.name for p in parts)}, parts, section)[0]
    (table,) = tasks("top", {**meta, "args": told["top_options"], "scores": scores.name}, [scores], section)
    assert section == "stub" or len(table.read_text().splitlines()) == 1 + int(told["top_options"].split()[-1])
    for picture in told["plots"].split(","):
        options = "" if picture in ("manhattan", "qq") else told["genotypes_option"]
        plot = {**meta, "args": options, "scores": scores.name, "picture": picture}
        (drawn,) = tasks("plot", plot, [scores, model, *genotypes], section)
        assert drawn.name == f"{trait}.{picture}.png"
        assert section == "stub" or drawn.read_bytes().startswith(b"\x89PNG")
    report = {**meta, "args": told["genotypes_option"], "scores": scores.name}
    (page,) = tasks("report", report, [scores, model, *genotypes], section)
    assert section == "stub" or "Local effects by group" in page.read_text("utf-8")
    return model, scores


@pytest.mark.slow
def test_the_scripts_give_the_scores_of_an_unsplit_scan(folder: Folder) -> None:
    model, scores = whole(folder, "script", "marker")
    options = parameters()["genotypes_option"].replace("mice", str(ROOT / "data_samples" / "mice")).split()
    folder.run("goals", "scan", model, *options, "--out", "unsplit", "--threads", "1")
    assert_same(scores, folder.work / "unsplit.scores.h5")


@pytest.mark.slow
def test_the_stubs_make_what_the_scripts_make(folder: Folder) -> None:
    assert [path.name for path in whole(folder, "stub", "marker")] == ["marker.model.h5", "marker.scores.h5"]


@pytest.mark.slow
def test_the_version_command_prints_the_version_alone(folder: Folder) -> None:
    from goalscli import __version__

    assert {folder.sh(Module.read(name).version) for name in MODULES} == {f"{__version__}\n"}


def test_every_module_has_the_form_of_nf_core() -> None:
    assert set(MODULES) == {"check", "gram", "fit", "scan", "merge", "top", "plot", "report"}
    for name, path in MODULES.items():
        module = Module.read(name)
        assert {"input", "output", "when", "script", "stub"} <= set(module.sections)
        assert "task.ext.when == null || task.ext.when" in module.sections["when"]
        assert re.search(r"^    (tuple val\(meta\), |val meta$)", module.sections["input"], re.MULTILINE)
        assert re.search(r"    label 'process_\w+'", module.sections["head"])
        assert (path.parent / "environment.yml").is_file()
        told = yaml.safe_load((path.parent / "meta.yml").read_text("utf-8"))
        emitted = re.findall(r"emit: (\w+)", module.sections["output"])
        assert (told["name"], list(told["output"])) == (f"goals_{name}", emitted)
        lines = [line.strip() for line in module.sections["input"].splitlines() if line.strip()]
        named = [re.findall(r"(?:val|path)[ (](\w+)", line) for line in lines]
        assert named == [
            [key for one in (group if isinstance(group, list) else [group]) for key in one] for group in told["input"]
        ]


@pytest.mark.slow
def test_a_check_that_fails_tells_what_is_wrong(folder: Folder) -> None:
    script = Module.read("check").script(
        "script", {"args": f"--bfile {ROOT}/data_samples/mice --pheno {ROOT}/data_samples/mice.pheno.tsv",
                   "meta.pheno_name": "none", "prefix": "x", "task.cpus": "1", "task.memory.toGiga()": "2"}
    )  # fmt: skip
    assert "no column 'none'" in folder.sh(script, code=2)


@pytest.mark.parametrize(
    "path", sorted(NEXTFLOW.rglob("*.nf")) + sorted(NEXTFLOW.rglob("*.config")), ids=lambda p: p.name
)
def test_brackets_close(path: Path) -> None:
    text = re.sub(r'""".*?"""|"[^"\n]*"|\'[^\'\n]*\'|//[^\n]*', "", path.read_text("utf-8"), flags=re.DOTALL)
    opened: list[str] = []
    for letter in re.findall(r"[(){}\[\]]", text):
        if letter in "([{":
            opened.append(letter)
        else:
            assert opened
            assert opened.pop() + letter in ("()", "[]", "{}")
    assert opened == []


def test_main_includes_every_module_and_gives_each_its_inputs() -> None:
    text = (NEXTFLOW / "main.nf").read_text("utf-8")
    included = dict(re.findall(r"include { GOALS_(\w+) +} from '\./(.+)'", text))
    assert {name.lower(): NEXTFLOW / f"{path}.nf" for name, path in included.items()} == MODULES
    for name in MODULES:
        call = re.search(rf"^ +GOALS_{name.upper()}(\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\))", text, re.MULTILINE)
        assert call is not None
        inputs = [line for line in Module.read(name).sections["input"].splitlines() if line.strip()]
        told = call[1][1:-1]
        while (bare := re.sub(r"\([^(){}\[\]]*\)|{[^(){}\[\]]*}|\[[^(){}\[\]]*\]", "", told)) != told:
            told = bare
        assert len(told.split(",")) == len(inputs), (name, told)
