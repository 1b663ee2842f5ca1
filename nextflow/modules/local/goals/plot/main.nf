// One picture of a scan: manhattan, local, or another of goals plot.
process GOALS_PLOT {
    tag "${meta.id} ${picture}"
    label 'process_single'

    conda "${moduleDir}/environment.yml"
    container "goalscli"

    input:
    tuple val(meta), path(scores), path(model), val(picture)
    path genotypes

    output:
    tuple val(meta), path("*.png"), emit: picture
    tuple val("${task.process}"), val('goals'), eval("goals --version | sed 's/.* //'"), topic: versions, emit: versions_goals

    when:
    task.ext.when == null || task.ext.when

    script:
    def args = task.ext.args ?: ''
    def prefix = task.ext.prefix ?: "${meta.id}"
    """
    goals plot ${picture} '${scores}' \\
        ${args} \\
        --out '${prefix}.${picture}.png'
    """

    stub:
    def prefix = task.ext.prefix ?: "${meta.id}"
    """
    touch '${prefix}.${picture}.png'
    """
}
