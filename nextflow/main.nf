#!/usr/bin/env nextflow
// gram parts -> fit -> scan parts -> merge, for every trait. docs/nextflow.md tells how to run it.

include { GOALS_GRAM  } from './modules/local/goals/gram/main'
include { GOALS_FIT   } from './modules/local/goals/fit/main'
include { GOALS_SCAN  } from './modules/local/goals/scan/main'
include { GOALS_MERGE } from './modules/local/goals/merge/main'

workflow GOALS {
    take:
    traits      // channel: [ meta ], meta has id and pheno_name
    genotypes   // value channel: [ files ]
    tables      // value channel: [ files ]
    gram_parts  // integer; 0: the fit reads all genotypes itself
    scan_parts  // integer

    main:
    if (gram_parts > 0) {
        GOALS_GRAM(
            traits.combine(channel.of(1..gram_parts)).map { meta, part -> [meta, part, gram_parts] },
            genotypes,
            tables
        )
        fits = GOALS_GRAM.out.gram.groupTuple(size: gram_parts)
    }
    else {
        fits = traits.map { meta -> [meta, []] }
    }

    GOALS_FIT(fits, genotypes, tables)

    GOALS_SCAN(
        GOALS_FIT.out.model
            .combine(channel.of(1..scan_parts))
            .map { meta, model, part -> [meta, model, part, scan_parts] },
        genotypes
    )

    GOALS_MERGE(GOALS_SCAN.out.part.groupTuple(size: scan_parts))

    emit:
    model  = GOALS_FIT.out.model
    qc     = GOALS_FIT.out.qc
    scores = GOALS_MERGE.out.scores
}

workflow {
    main:
    GOALS(
        channel.fromList(params.traits.tokenize(',')).map { name -> [id: name, pheno_name: name] },
        channel.value(files(params.genotypes, checkIfExists: true)),
        channel.value(files(params.tables, checkIfExists: true)),
        params.gram_parts,
        params.scan_parts
    )

    channel.topic('versions')
        .unique()
        .map { process, name, version -> "\"${process}\":\n    ${name}: ${version}" }
        .collectFile(name: 'versions.yml', storeDir: "${params.outdir}/pipeline_info", sort: true, newLine: true)
}
