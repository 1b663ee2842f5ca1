"""Pictures: seconds and peak memory of each command, start-up included, of 10,000 and of a million variants.

A simulated cohort of few samples is fitted and scanned with every score; each picture is then drawn from the files that
this leaves. PICTURES maps a row of the table to a command: a new picture is a new line.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import h5py
import numpy as np
from common import Table, best_run, goals, load, mb, parser, simulated, workspace

AIM = 3.0
"""Seconds for a picture of all of a million variants."""

PICTURES: dict[str, list[str]] = {
    "manhattan": ["manhattan", "{scores}"],
    "manhattan, three values": ["manhattan", "{scores}", "--value", "p,rate,psi"],
    "manhattan with genes": ["manhattan", "{scores}", "--genes", "{genes}"],
    "manhattan, PDF": ["manhattan", "{scores}", "--out", "{pdf}"],
    "qq": ["qq", "{scores}"],
    "region": ["region", "{scores}", "--snp", "{snp}"],
    "region with genes": ["region", "{scores}", "--snp", "{snp}", "--genes", "{genes}"],
    "manhattan, page": ["manhattan", "{scores}", "--out", "{html}"],
    "local": ["local", "{scores}"],
    "local by sample": ["local", "{scores}", "--by", "sample"],
    "beeswarm": ["beeswarm", "{scores}"],
    "dependence": ["dependence", "{scores}", "--snp", "{snp}"],
    "heatmap": ["heatmap", "{scores}"],
    "report": ["report", "{scores}", "--out", "{html}"],
}
"""What -> the words after `goals plot` (but for report); those in braces are filled in, {snp} being the top variant."""


def annotation(path: Path, lengths: dict[str, int], n_genes: int) -> Path:
    """Write a GTF with a gene line, two transcripts and twenty exons a gene, as Ensembl's have."""
    rng = np.random.default_rng(1)
    names = list(lengths)
    with open(path, "w") as handle:
        for k in range(n_genes):
            chrom = names[k % len(names)]
            start = int(rng.integers(1, lengths[chrom]))
            told = f'gene_id "ENSG{k:011d}"; gene_version "1"; gene_name "Gene{k}"; gene_biotype "protein_coding";'
            for kind, count in (("gene", 1), ("transcript", 2), ("exon", 20)):
                line = f"{chrom}\tsim\t{kind}\t{start}\t{start + 30_000}\t.\t+\t.\t{told}\n"
                handle.write(line * count)
    return path


def files(folder: Path, n: int, j: int, n_genes: int) -> dict[str, str]:
    """Cohort, model, scan and annotation; what the commands are filled in with."""
    data = simulated(folder, n, j)
    out = f"{folder}/run{j}"
    goals("fit", *data.options(), "--maf", "0", "--out", out)
    goals("scan", f"{out}.model.h5", "--scores", "goals,rate,psi", "--loco", "--out", out)
    with h5py.File(f"{out}.scores.h5") as file:
        top = int(np.argmax(file["goals/neg_log10_p"][:]))
        chrom, pos = file["variants/chrom"].asstr()[:], file["variants/pos"][:]
        lengths = {name: int(pos[chrom == name].max()) for name in dict.fromkeys(chrom)}
        snp = file["variants/id"].asstr()[top]
    genes = annotation(folder / f"genes{j}.gtf", lengths, n_genes)
    found = {"scores": f"{out}.scores.h5", "model": f"{out}.model.h5", "genes": str(genes), "snp": snp}
    return found | {"pdf": f"{folder}/picture.pdf", "html": f"{folder}/picture.html", "n": f"{len(pos):,}"}


def commands(found: dict[str, str], png: str) -> Iterator[tuple[str, list[str]]]:
    for what, words in PICTURES.items():
        argv = [word.format(**found) for word in words]
        group = [] if what == "report" else ["plot"]
        yield what, [*group, *argv, *([] if "--out" in argv else ["--out", png]), "--overwrite"]


def main() -> None:
    options = parser(__doc__).parse_args()
    repeat = 1 if options.smoke else options.repeat
    # (samples, variants, genes): 65,000 genes of 23 lines are the 1.5 million lines of a mouse's GTF
    sizes = [(40, 600, 50)] if options.smoke else [(60, 10_000, 65_000), (60, 1_000_000, 65_000)]
    table = Table(f"goals plot, best of {repeat}; {load()}", not options.smoke)
    for n, j, n_genes in sizes:
        with workspace() as folder:
            found = files(folder, n, j, n_genes)
            for what, argv in commands(found, f"{folder}/picture.png"):
                run = best_run(repeat, lambda argv=argv: goals(*argv))
                aimed = what in ("manhattan", "qq") and j == 1_000_000
                table.add(f"{what}, {found['n']} variants", f"{run.seconds:.2f} s, {mb(run.peak)}", "",
                          f"at most {AIM:g} s" if aimed else "", run.seconds <= AIM if aimed else None)  # fmt: skip
    table.show()


if __name__ == "__main__":
    main()
