# The agent's half of every cell. Nothing here knows a grader.


def run_inputs(wildcards):
    cell = PLAN.runs[wildcards.key]
    inputs = {
        "controls": f"{EXPERIMENT}/controls.json",
        "task": layout.frozen_task(PLAN.tasks[cell.task].digest) / "task.json",
        "environment": f"{ENVIRONMENT}/environment.json",
        "record": layout.frozen_record(PLAN.record_id),
    }
    if not cell.control:
        inputs["agent"] = layout.frozen_agent(PLAN.agents[cell.agent].frozen_digest) / "agent.json"
    if cell.agent == "reference":
        inputs["solution"] = layout.frozen_grader(PLAN.tasks[cell.task].grader.digest) / "grader.json"
    return needs(layout.run(wildcards.key) / "run.json", **inputs)


def run_arguments(wildcards):
    """Return the names of the cell and the frozen files that only some agents have."""
    cell = PLAN.runs[wildcards.key]
    words = ["--agent", cell.agent, "--task", cell.task, "--budget", cell.budget, "--repeat", cell.repeat]
    words += ["--task_files", layout.frozen_task(PLAN.tasks[cell.task].digest)]
    if not cell.control:
        words += ["--agent_files", layout.frozen_agent(PLAN.agents[cell.agent].frozen_digest)]
        words += ["--startup_timeout_s", PLAN.config.startup_timeout_s]
    if cell.agent == "reference":
        words += ["--solution", layout.frozen_grader(PLAN.tasks[cell.task].grader.digest) / "solution"]
    return shlex.join(map(str, words))


rule run_cell:
    input:
        unpack(run_inputs),
    output:
        layout.run("{key}").as_posix() + "/run.json",
    log:
        "logs/run_cell/{key}.log",
    params:
        cell=run_arguments,
        label=lambda wildcards: PLAN.runs[wildcards.key].label,
        out=lambda wildcards: layout.run(wildcards.key),
    message:
        "run_cell: {params.label}"
    shell:
        "{FROZENBENCH} run_cell --controls {EXPERIMENT}/controls.json {params.cell} --environment {ENVIRONMENT:q}"
        " --out {params.out:q} 2> {log:q}"
