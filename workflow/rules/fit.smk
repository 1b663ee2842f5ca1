rule gram:
    input:
        files("genotypes", "tables", "fit"),
        checked,
    output:
        passing("results/{trait}.gram-{part}-of-{parts}.h5"),
    log:
        "logs/gram.{trait}.{part}-of-{parts}.log",
    benchmark:
        "benchmarks/gram.{trait}.{part}-of-{parts}.tsv"
    retries: config["retries"]
    threads: needs("gram", "threads")
    resources:
        mem_mb=memory("gram"),
        runtime=needs("gram", "runtime"),
    params:
        goals=config["goals"],
        options=join(FIT),
        memory=gib,
    shell:
        "{params.goals} gram {params.options} --pheno-name {wildcards.trait:q}"
        " --part {wildcards.part}/{wildcards.parts} --out results/{wildcards.trait:q} --overwrite"
        " --threads {threads} --memory {params.memory} >{log} 2>&1"


rule fit:
    input:
        files("genotypes", "tables", "fit"),
        checked,
        gram=parts("gram"),
    output:
        model="results/{trait}.model.h5",
        qc="results/{trait}.qc.tsv",
    log:
        "logs/fit.{trait}.log",
    benchmark:
        "benchmarks/fit.{trait}.tsv"
    retries: config["retries"]
    threads: needs("fit", "threads")
    resources:
        mem_mb=memory("fit"),
        runtime=needs("fit", "runtime"),
    params:
        goals=config["goals"],
        options=join(FIT),
        gram=lambda wildcards, input: join(word for part in input.gram for word in ("--gram", part)),
        memory=gib,
    shell:
        # Unfinished parts of an older model could not be resumed.
        "rm -f results/{wildcards.trait:q}.part-*-of-*.h5.partial &&"
        " {params.goals} fit {params.options} --pheno-name {wildcards.trait:q} {params.gram}"
        " --out results/{wildcards.trait:q} --overwrite"
        " --threads {threads} --memory {params.memory} >{log} 2>&1"
