// Say what is wrong with the inputs of a fit; ends with an error where a fit would.
process GOALS_CHECK {
    tag "${meta.id}"
    label 'process_single'

    conda "${moduleDir}/environment.yml"
    container "goalscli"

    input:
    val meta
    path genotypes
    path tables

    output:
    tuple val(meta), path("*.check.txt"), emit: report
    tuple val("${task.process}"), val('goals'), eval("goals --version | sed 's/.* //'"), topic: versions, emit: versions_goals

    when:
    task.ext.when == null || task.ext.when

    script:
    def args = task.ext.args ?: ''
    def prefix = task.ext.prefix ?: "${meta.id}"
    """
    goals check \\
        ${args} \\
        --pheno-name '${meta.pheno_name}' \\
        --threads ${task.cpus} \\
        --memory ${task.memory.toGiga()} \\
        > '${prefix}.check.txt' || { code=\$?; cat '${prefix}.check.txt' >&2; exit \$code; }
    """

    stub:
    def prefix = task.ext.prefix ?: "${meta.id}"
    """
    touch '${prefix}.check.txt'
    """
}
