# The grader's half of every cell. It meets the run on disk alone.


def grade_inputs(wildcards):
    cell = PLAN.grades[wildcards.key]
    task = PLAN.tasks[cell.task]
    return needs(
        layout.grade(wildcards.key) / "grade.json",
        controls=f"{EXPERIMENT}/controls.json",
        run=layout.run(cell.run_key) / "run.json",
        task=layout.frozen_task(task.digest) / "task.json",
        grader=layout.frozen_grader(task.grader.digest) / "grader.json",
        expected=PLAN.expected_path(task),
        names=layout.frozen_names(PLAN.environment_id),
        environment=f"{ENVIRONMENT}/environment.json",
    )


def grade_arguments(wildcards):
    cell = PLAN.grades[wildcards.key]
    task = PLAN.tasks[cell.task]
    words = ["--agent", cell.agent, "--task", cell.task, "--budget", cell.budget, "--repeat", cell.repeat]
    words += ["--run", layout.run(cell.run_key), "--task_files", layout.frozen_task(task.digest)]
    words += ["--grader_files", layout.frozen_grader(task.grader.digest)]
    words += ["--expected", PLAN.expected_path(task), "--names", layout.frozen_names(PLAN.environment_id)]
    return shlex.join(map(str, words))


rule grade_cell:
    input:
        unpack(grade_inputs),
    output:
        layout.grade("{key}").as_posix() + "/grade.json",
    log:
        "logs/grade_cell/{key}.log",
    params:
        cell=grade_arguments,
        label=lambda wildcards: PLAN.grades[wildcards.key].label,
        out=lambda wildcards: layout.grade(wildcards.key),
    message:
        "grade_cell: {params.label}"
    shell:
        "{FROZENBENCH} grade_cell --controls {EXPERIMENT}/controls.json {params.cell} --environment {ENVIRONMENT:q}"
        " --out {params.out:q} 2> {log:q}"
