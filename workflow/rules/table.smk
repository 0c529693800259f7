# From cells to the tables of the experiment and the statistics of its view.


rule collect_cells:
    input:
        runs=[layout.run(key).as_posix() + "/run.json" for key in PLAN.runs],
        grades=[layout.grade(key).as_posix() + "/grade.json" for key in PLAN.grades],
        controls=ancient(f"{EXPERIMENT}/controls.json"),
        record=ancient(layout.frozen_record(PLAN.record_id).as_posix()),
    output:
        cells=f"{EXPERIMENT}/cells.parquet",
        measured=f"{EXPERIMENT}/measured.parquet",
        refusals=f"{EXPERIMENT}/refusals.json",
    log:
        f"logs/collect_cells/{PLAN.digest[:12]}.log",
    params:
        out=EXPERIMENT,
    message:
        f"collect_cells: {len(PLAN.cells)} cells of {NAME}"
    shell:
        "{FROZENBENCH} collect_cells --controls {input.controls:q} --record {input.record:q} --out {params.out:q}"
        " 2> {log:q}"


rule contrast:
    input:
        cells=f"{EXPERIMENT}/cells.parquet",
        measured=f"{EXPERIMENT}/measured.parquet",
        refusals=f"{EXPERIMENT}/refusals.json",
        controls=ancient(f"{EXPERIMENT}/controls.json"),
        view=ancient(f"{VIEW}/view.json"),
    output:
        directory(f"{VIEW}/statistics"),
    log:
        f"logs/contrast/{PLAN.view_digest[:12]}.log",
    message:
        f"contrast: rates, exact contrasts and flips of {NAME}"
    shell:
        "{FROZENBENCH} contrast --cells {input.cells:q} --measured {input.measured:q} --controls {input.controls:q}"
        " --view {input.view:q} --refusals {input.refusals:q} --out {output:q} 2> {log:q}"
