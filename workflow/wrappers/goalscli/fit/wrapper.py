"""Snakemake wrapper of ``goals fit``."""

import shlex

from snakemake.shell import shell

log = snakemake.log_fmt_shell(stdout=True, stderr=True)  # noqa: F821 (given by Snakemake)
extra = snakemake.params.get("extra", "")  # noqa: F821

model = str(snakemake.output.model)  # noqa: F821
if not model.endswith(".model.h5"):
    raise ValueError(f"output model={model}: must be PREFIX.model.h5")
prefix = model.removesuffix(".model.h5")
parts = snakemake.input.get("gram", [])  # noqa: F821
gram = " ".join(f"--gram {shlex.quote(part)}" for part in ([parts] if isinstance(parts, str) else parts))
memory = snakemake.resources.get("mem_mb")  # noqa: F821
limit = f"--memory {memory / 1024:g}" if memory else ""

shell("goals fit {extra} {gram} --out {prefix:q} --overwrite --threads {snakemake.threads} {limit} {log}")
