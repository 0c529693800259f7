# From tables to the statistics of a view.


rule freeze_view:
    input:
        **JOBS.view_controls(),
    output:
        f"{VIEW}/view.json",
    log:
        f"logs/freeze_view/{PLAN.view_digest[:12]}.log",
    conda:
        "../../environment.yml"
    params:
        frozenbench=FROZENBENCH,
        config=CONFIG,
    message:
        f"freeze_view: {NAME} {PLAN.view_digest[:8]}"
    shell:
        "{params.frozenbench} freeze_view --config {params.config:q} --out {output:q} 2> {log:q}"


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
        report(
            directory(f"{VIEW}/statistics"),
            patterns=["{name}.csv"],
            category="3 Tables",
            labels={"what": "{name}"},
            caption="../report/table.rst",
        ),
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
