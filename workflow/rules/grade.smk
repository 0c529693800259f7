# The grader's half of every cell. It meets the run on disk alone.


rule grade_cell:
    input:
        unpack(lambda wildcards: JOBS.grade_inputs(wildcards.key)),
    output:
        layout.grade("{key}") / "grade.json",
    log:
        "logs/grade_cell/{key}.log",
    priority: lambda wildcards: JOBS.priority(PLAN.grades[wildcards.key])
    conda:
        "../../environment.yml"
    params:
        frozenbench=FROZENBENCH,
        controls=JOBS.controls,
        environment=ENVIRONMENT,
        cell=lambda wildcards: JOBS.grade_arguments(wildcards.key),
        label=lambda wildcards: PLAN.grades[wildcards.key].label,
        out=lambda wildcards: layout.grade(wildcards.key),
    message:
        "grade_cell: {params.label}"
    shell:
        "{params.frozenbench} grade_cell --controls {params.controls:q} {params.cell} --environment {params.environment:q}"
        " --out {params.out:q} 2> {log:q}"
