# A job that is stopped (time limit, pre-emption) leaves PART.h5.partial, which is not an output and so is not deleted:
# the next attempt, or the next call of snakemake, goes on from there, to the same result.
rule scan:
    input:
        files("genotypes"),
        model="results/{trait}.model.h5",
    output:
        passing("results/{trait}.part-{part}-of-{parts}.h5"),
    log:
        "logs/scan.{trait}.{part}-of-{parts}.log",
    benchmark:
        "benchmarks/scan.{trait}.{part}-of-{parts}.tsv"
    retries: config["retries"]
    threads: needs("scan", "threads")
    resources:
        mem_mb=memory("scan"),
        runtime=needs("scan", "runtime"),
    params:
        goals=config["goals"],
        options=join(options("scan")),
        memory=gib,
    shell:
        "{params.goals} scan {input.model:q} {params.options} --part {wildcards.part}/{wildcards.parts} --resume"
        " --out results/{wildcards.trait:q} --threads {threads} --memory {params.memory} >>{log} 2>&1"


rule merge:
    input:
        parts("scan"),
    output:
        "results/{trait}.scores.h5",
    log:
        "logs/merge.{trait}.log",
    retries: config["retries"]
    threads: needs("merge", "threads")
    resources:
        mem_mb=memory("merge"),
        runtime=needs("merge", "runtime"),
    params:
        goals=config["goals"],
    shell:
        "{params.goals} merge {input:q} --out results/{wildcards.trait:q} --overwrite >{log} 2>&1"
