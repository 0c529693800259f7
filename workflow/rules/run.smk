# The agent's half of every cell. Nothing here knows a grader.


rule run_cell:
    input:
        unpack(lambda wildcards: JOBS.run_inputs(wildcards.key)),
    output:
        layout.run("{key}") / "run.json",
    log:
        "logs/run_cell/{key}.log",
    priority: lambda wildcards: JOBS.priority(PLAN.runs[wildcards.key])
    conda:
        "../../environment.yml"
    params:
        frozenbench=FROZENBENCH,
        controls=JOBS.controls,
        environment=ENVIRONMENT,
        cell=lambda wildcards: JOBS.run_arguments(wildcards.key),
        label=lambda wildcards: PLAN.runs[wildcards.key].label,
        out=lambda wildcards: layout.run(wildcards.key),
    message:
        "run_cell: {params.label}"
    shell:
        "{params.frozenbench} run_cell --controls {params.controls:q} {params.cell} --environment {params.environment:q}"
        " --out {params.out:q} 2> {log:q}"
