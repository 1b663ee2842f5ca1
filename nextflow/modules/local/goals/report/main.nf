// A scan in one HTML page.
process GOALS_REPORT {
    tag "${meta.id}"
    label 'process_single'

    conda "${moduleDir}/environment.yml"
    container "goalscli"

    input:
    tuple val(meta), path(scores), path(model)
    path genotypes

    output:
    tuple val(meta), path("*.report.html"), emit: page
    tuple val("${task.process}"), val('goals'), eval("goals --version | sed 's/.* //'"), topic: versions, emit: versions_goals

    when:
    task.ext.when == null || task.ext.when

    script:
    def args = task.ext.args ?: ''
    def prefix = task.ext.prefix ?: "${meta.id}"
    """
    goals report '${scores}' \\
        ${args} \\
        --out '${prefix}.report.html'
    """

    stub:
    def prefix = task.ext.prefix ?: "${meta.id}"
    """
    touch '${prefix}.report.html'
    """
}
