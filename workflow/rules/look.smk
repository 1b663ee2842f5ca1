rule top:
    input:
        "results/{trait}.scores.h5",
    output:
        "results/{trait}.top.tsv",
    log:
        "logs/top.{trait}.log",
    params:
        goals=config["goals"],
        options=join(options("top")),
    shell:
        "{params.goals} top {input:q} {params.options} >{output:q} 2>{log}"


rule plot:
    input:
        # Where local scores were not stored, `plot local` asks the model for them.
        scores="results/{trait}.scores.h5",
        model="results/{trait}.model.h5",
    output:
        "results/{trait}.{plot}.png",
    log:
        "logs/plot.{trait}.{plot}.log",
    retries: config["retries"]
    threads: needs("plot", "threads")
    resources:
        mem_mb=memory("plot"),
        runtime=needs("plot", "runtime"),
    params:
        goals=config["goals"],
        options=lambda wildcards: join(options(wildcards.plot)),
    shell:
        "{params.goals} plot {wildcards.plot} {input.scores:q} {params.options} --out {output:q} --overwrite >{log} 2>&1"


rule report:
    input:
        scores="results/{trait}.scores.h5",
        model="results/{trait}.model.h5",
    output:
        "results/{trait}.report.html",
    log:
        "logs/report.{trait}.log",
    retries: config["retries"]
    threads: needs("plot", "threads")
    resources:
        mem_mb=memory("plot"),
        runtime=needs("plot", "runtime"),
    params:
        goals=config["goals"],
        options=join(options("report")),
    shell:
        "{params.goals} report {input.scores:q} {params.options} --out {output:q} --overwrite >{log} 2>&1"
