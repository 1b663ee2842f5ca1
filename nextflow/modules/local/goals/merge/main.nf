// All parts of a scan into one scores file.
process GOALS_MERGE {
    tag "${meta.id}"
    label 'process_single'

    conda "${moduleDir}/environment.yml"
    container "goalscli"

    input:
    tuple val(meta), path(scans)

    output:
    tuple val(meta), path("*.scores.h5"), emit: scores
    tuple val("${task.process}"), val('goals'), eval("goals --version | sed 's/.* //'"), topic: versions, emit: versions_goals

    when:
    task.ext.when == null || task.ext.when

    script:
    def prefix = task.ext.prefix ?: "${meta.id}"
    """
    goals merge \\
        ${scans} \\
        --out '${prefix}'
    """

    stub:
    def prefix = task.ext.prefix ?: "${meta.id}"
    """
    touch '${prefix}.scores.h5'
    """
}
