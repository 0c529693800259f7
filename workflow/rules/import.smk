# From logs of other harnesses to the tables of an experiment: in place of freezing, running and grading.


rule import_logs:
    output:
        controls=report(
            JOBS.controls,
            category="1 Controls",
            labels={"what": "what the logs state"},
            caption="../report/controls.rst",
        ),
        cells=f"{EXPERIMENT}/cells.parquet",
        measured=f"{EXPERIMENT}/measured.parquet",
        counts=f"{EXPERIMENT}/counts.parquet",
        refusals=f"{EXPERIMENT}/refusals.json",
    log:
        f"logs/import_logs/{PLAN.digest[:12]}.log",
    conda:
        "../../environment.yml"
    threads: 2
    params:
        frozenbench=FROZENBENCH,
        config=CONFIG,
        out=lambda wildcards, output: Path(output.cells).parent,
    message:
        f"import_logs: {NAME} {PLAN.digest[:12]}"
    shell:
        "{params.frozenbench} import_logs --config {params.config:q} --out {params.out:q} --jobs {threads} 2> {log:q}"


rule list_crossings:
    input:
        **JOBS.settled(
            f"{VIEW}/crossings",
            counts=f"{EXPERIMENT}/counts.parquet",
            statistics=f"{VIEW}/statistics",
            controls=JOBS.controls,
        ),
    output:
        directory(f"{VIEW}/crossings"),
    log:
        f"logs/list_crossings/{PLAN.view_digest[:12]}.log",
    conda:
        "../../environment.yml"
    params:
        frozenbench=FROZENBENCH,
    message:
        f"list_crossings: every change of lead of {NAME}"
    shell:
        "{params.frozenbench} list_crossings --counts {input.counts:q} --statistics {input.statistics:q}"
        " --controls {input.controls:q} --out {output:q} 2> {log:q}"
