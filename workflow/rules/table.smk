# From cells to the tables of the experiment and the statistics of its view.


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


rule contrast:
    input:
        **JOBS.settled(
            f"{VIEW}/statistics",
            cells=f"{EXPERIMENT}/cells.parquet",
            measured=f"{EXPERIMENT}/measured.parquet",
            refusals=f"{EXPERIMENT}/refusals.json",
            controls=JOBS.controls,
            view=f"{VIEW}/view.json",
        ),
    output:
        directory(f"{VIEW}/statistics"),
    log:
        f"logs/contrast/{PLAN.view_digest[:12]}.log",
    conda:
        "../../environment.yml"
    params:
        frozenbench=FROZENBENCH,
    message:
        f"contrast: rates, exact contrasts and flips of {NAME}"
    shell:
        "{params.frozenbench} contrast --cells {input.cells:q} --measured {input.measured:q} --controls {input.controls:q}"
        " --view {input.view:q} --refusals {input.refusals:q} --out {output:q} 2> {log:q}"
