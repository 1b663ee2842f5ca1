// Table of the top variants.
process GOALS_TOP {
    tag "${meta.id}"
    label 'process_single'

    conda "${moduleDir}/environment.yml"
    container "goalscli"

    input:
    tuple val(meta), path(scores)

    output:
    tuple val(meta), path("*.top.tsv"), emit: table
    tuple val("${task.process}"), val('goals'), eval("goals --version | sed 's/.* //'"), topic: versions, emit: versions_goals

    when:
    task.ext.when == null || task.ext.when

    script:
    def args = task.ext.args ?: ''
    def prefix = task.ext.prefix ?: "${meta.id}"
    """
    goals top '${scores}' \\
        ${args} \\
        > '${prefix}.top.tsv'
    """

    stub:
    def prefix = task.ext.prefix ?: "${meta.id}"
    """
    touch '${prefix}.top.tsv'
    """
}
