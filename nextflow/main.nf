#!/usr/bin/env nextflow
// check -> gram parts -> fit -> scan parts -> merge -> table pictures and report, for every trait. docs/nextflow.md tells how to run it.

include { GOALS_CHECK } from './modules/local/goals/check/main'
include { GOALS_GRAM  } from './modules/local/goals/gram/main'
include { GOALS_FIT   } from './modules/local/goals/fit/main'
include { GOALS_SCAN  } from './modules/local/goals/scan/main'
include { GOALS_MERGE } from './modules/local/goals/merge/main'
include { GOALS_TOP   } from './modules/local/goals/top/main'
include { GOALS_PLOT  } from './modules/local/goals/plot/main'
include { GOALS_REPORT } from './modules/local/goals/report/main'

workflow GOALS {
    take:
    traits      // channel: [ meta ], meta has id and pheno_name
    genotypes   // value channel: [ files ]
    tables      // value channel: [ files ]
    gram_parts  // integer; 0: the fit reads all genotypes itself
    scan_parts  // integer
    plots       // list of pictures of goals plot

    main:
    // Nothing that takes long starts for a trait whose inputs are wrong.
    GOALS_CHECK(traits, genotypes, tables)
    checked = GOALS_CHECK.out.report.map { meta, _report -> meta }

    if (gram_parts > 0) {
        GOALS_GRAM(
            checked.combine(channel.of(1..gram_parts)).map { meta, part -> [meta, part, gram_parts] },
            genotypes,
            tables
        )
        fits = GOALS_GRAM.out.gram.groupTuple(size: gram_parts)
    }
    else {
        fits = checked.map { meta -> [meta, []] }
    }

    GOALS_FIT(fits, genotypes, tables)

    GOALS_SCAN(
        GOALS_FIT.out.model
            .combine(channel.of(1..scan_parts))
            .map { meta, model, part -> [meta, model, part, scan_parts] },
        genotypes
    )

    GOALS_MERGE(GOALS_SCAN.out.part.groupTuple(size: scan_parts))

    GOALS_TOP(GOALS_MERGE.out.scores)

    GOALS_PLOT(
        GOALS_MERGE.out.scores
            .join(GOALS_FIT.out.model)
            .combine(channel.fromList(plots)),
        genotypes
    )

    GOALS_REPORT(GOALS_MERGE.out.scores.join(GOALS_FIT.out.model), genotypes)

    emit:
    model   = GOALS_FIT.out.model
    qc      = GOALS_FIT.out.qc
    scores  = GOALS_MERGE.out.scores
    table   = GOALS_TOP.out.table
    picture = GOALS_PLOT.out.picture
    page    = GOALS_REPORT.out.page
}

workflow {
    main:
    GOALS(
        channel.fromList(params.traits.tokenize(',')).map { name -> [id: name, pheno_name: name] },
        channel.value(files(params.genotypes, checkIfExists: true)),
        channel.value(files(params.tables, checkIfExists: true)),
        params.gram_parts,
        params.scan_parts,
        params.plots.tokenize(',')
    )

    channel.topic('versions')
        .unique()
        .map { process, name, version -> "\"${process}\":\n    ${name}: ${version}" }
        .collectFile(name: 'versions.yml', storeDir: "${params.outdir}/pipeline_info", sort: true, newLine: true)
}
