# From cells to the tables of an experiment.


rule collect_cells:
    input:
        **JOBS.settled(
            f"{EXPERIMENT}/cells.parquet",
            f"{EXPERIMENT}/measured.parquet",
            f"{EXPERIMENT}/refusals.json",
            **JOBS.leaves(),
            controls=JOBS.controls,
            record=layout.frozen_record(PLAN.record_id),
        ),
    output:
        cells=f"{EXPERIMENT}/cells.parquet",
        measured=f"{EXPERIMENT}/measured.parquet",
        refusals=f"{EXPERIMENT}/refusals.json",
    log:
        f"logs/collect_cells/{PLAN.digest[:12]}.log",
    conda:
        "../../environment.yml"
    params:
        frozenbench=FROZENBENCH,
        out=lambda wildcards, output: Path(output.cells).parent,
    message:
        f"collect_cells: {len(PLAN.cells)} cells of {NAME}"
    shell:
        "{params.frozenbench} collect_cells --controls {input.controls:q} --record {input.record:q} --out {params.out:q}"
        " 2> {log:q}"
