# Only with check: true. `goals check` exits 0 only when `goals fit` would run.
rule check:
    input:
        files("genotypes", "tables", "fit"),
    output:
        touch("results/{trait}.check.ok"),
    log:
        "logs/check.{trait}.log",
    threads: needs("check", "threads")
    resources:
        mem_mb=memory("check"),
        runtime=needs("check", "runtime"),
    params:
        goals=config["goals"],
        options=join(FIT),
    shell:
        "{params.goals} check {params.options} --pheno-name {wildcards.trait:q}"
        " --threads {threads} >{log} 2>&1"
