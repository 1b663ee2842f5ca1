// Score one part of the variants.
process GOALS_SCAN {
    tag "${meta.id} ${part}/${parts}"
    label 'process_medium'

    conda "${moduleDir}/environment.yml"
    container "goalscli"

    input:
    tuple val(meta), path(model), val(part), val(parts)
    path genotypes

    output:
    tuple val(meta), path("*.part-*-of-*.h5"), emit: part
    tuple val("${task.process}"), val('goals'), eval("goals --version | sed 's/.* //'"), topic: versions, emit: versions_goals

    when:
    task.ext.when == null || task.ext.when

    script:
    def args = task.ext.args ?: ''
    def prefix = task.ext.prefix ?: "${meta.id}"
    """
    goals scan '${model}' \\
        ${args} \\
        --part ${part}/${parts} \\
        --out '${prefix}' \\
        --threads ${task.cpus} \\
        --memory ${task.memory.toGiga()}
    """

    stub:
    def prefix = task.ext.prefix ?: "${meta.id}"
    """
    touch '${prefix}.part-${part}-of-${parts}.h5'
    """
}
