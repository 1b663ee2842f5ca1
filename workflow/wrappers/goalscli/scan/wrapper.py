"""Snakemake wrapper of ``goals scan``."""

import re

from snakemake.shell import shell

log = snakemake.log_fmt_shell(stdout=True, stderr=True)  # noqa: F821 (given by Snakemake)
extra = snakemake.params.get("extra", "")  # noqa: F821

output = str(snakemake.output[0])  # noqa: F821
named = re.fullmatch(r"(?P<prefix>.+)\.(?:scores|part-(?P<part>\d+)-of-(?P<parts>\d+))\.h5", output)
if named is None:
    raise ValueError(f"output {output}: must be PREFIX.scores.h5 or PREFIX.part-K-of-N.h5")
prefix = named["prefix"]
part = f"--part {named['part']}/{named['parts']}" if named["part"] else ""
memory = snakemake.resources.get("mem_mb")  # noqa: F821
limit = f"--memory {memory / 1024:g}" if memory else ""

shell(
    "goals scan {snakemake.input.model:q} {extra} {part} --resume --out {prefix:q}"
    " --threads {snakemake.threads} {limit} {log}"
)
