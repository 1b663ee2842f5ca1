// The Gram matrix over one part of the variants.
process GOALS_GRAM {
    tag "${meta.id} ${part}/${parts}"
    label 'process_single'

    conda "${moduleDir}/environment.yml"
    container "goalscli"

    input:
    tuple val(meta), val(part), val(parts)
    path genotypes
    path tables

    output:
    tuple val(meta), path("*.gram-*-of-*.h5"), emit: gram
    tuple val("${task.process}"), val('goals'), eval("goals --version | sed 's/.* //'"), topic: versions, emit: versions_goals

    when:
    task.ext.when == null || task.ext.when

    script:
    def args = task.ext.args ?: ''
    def prefix = task.ext.prefix ?: "${meta.id}"
    """
    goals gram \\
        ${args} \\
        --pheno-name '${meta.pheno_name}' \\
        --part ${part}/${parts} \\
        --out '${prefix}' \\
        --threads ${task.cpus} \\
        --memory ${task.memory.toGiga()}
    """

    stub:
    def prefix = task.ext.prefix ?: "${meta.id}"
    """
    touch '${prefix}.gram-${part}-of-${parts}.h5'
    """
}
