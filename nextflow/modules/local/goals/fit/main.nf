// Fit the model; sums the parts of GOALS_GRAM where there are any.
process GOALS_FIT {
    tag "${meta.id}"
    label 'process_high'

    conda "${moduleDir}/environment.yml"
    container "goalscli"

    input:
    tuple val(meta), path(gram)
    path genotypes
    path tables

    output:
    tuple val(meta), path("*.model.h5"), emit: model
    tuple val(meta), path("*.qc.tsv"), emit: qc
    tuple val("${task.process}"), val('goals'), eval("goals --version | sed 's/.* //'"), topic: versions, emit: versions_goals

    when:
    task.ext.when == null || task.ext.when

    script:
    def args = task.ext.args ?: ''
    def prefix = task.ext.prefix ?: "${meta.id}"
    def parts = gram ? "--gram '*.gram-*-of-*.h5'" : ''
    """
    goals fit \\
        ${args} \\
        --pheno-name '${meta.pheno_name}' \\
        ${parts} \\
        --out '${prefix}' \\
        --threads ${task.cpus} \\
        --memory ${task.memory.toGiga()}
    """

    stub:
    def prefix = task.ext.prefix ?: "${meta.id}"
    """
    touch '${prefix}.model.h5' '${prefix}.qc.tsv'
    """
}
