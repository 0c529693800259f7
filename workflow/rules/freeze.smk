# Copies of everything that a score depends on, at places that carry its digest.


def needs(leaf, **inputs):
    """Return a leaf's inputs while it is not there, and none once it is.

    A leaf stands at a path that is the digest of all that it depends on, so one that is there is
    right. Without this, a new experiment's controls.json, or an endpoint at another address, would
    make Snakemake run every cell again (`ancient` helps only where the input exists already).
    """
    if Path(leaf).exists():
        return {}
    return {name: ancient(str(path)) for name, path in inputs.items()}


rule freeze_controls:
    output:
        f"{EXPERIMENT}/controls.json",
    log:
        f"logs/freeze_controls/{PLAN.digest[:12]}.log",
    params:
        config=CONFIG,
    message:
        f"freeze_controls: {NAME} {PLAN.digest[:12]}"
    shell:
        "{FROZENBENCH} freeze_controls --config {params.config:q} --out {output:q} 2> {log:q}"


rule freeze_view:
    output:
        f"{VIEW}/view.json",
    log:
        f"logs/freeze_view/{PLAN.view_digest[:12]}.log",
    params:
        config=CONFIG,
    message:
        f"freeze_view: {NAME} {PLAN.view_digest[:8]}"
    shell:
        "{FROZENBENCH} freeze_view --config {params.config:q} --out {output:q} 2> {log:q}"


rule freeze_task:
    output:
        layout.frozen_task("{key}").as_posix() + "/task.json",
    log:
        "logs/freeze_task/{key}.log",
    params:
        task=lambda wildcards: PLAN.task_by_digest[wildcards.key].id,
        out=lambda wildcards: layout.frozen_task(wildcards.key),
    message:
        "freeze_task: {params.task}"
    shell:
        "{FROZENBENCH} freeze_task --pack {PACK:q} --task {params.task:q} --out {params.out:q} 2> {log:q}"


rule freeze_grader:
    output:
        layout.frozen_grader("{key}").as_posix() + "/grader.json",
    log:
        "logs/freeze_grader/{key}.log",
    params:
        task=lambda wildcards: PLAN.task_by_grader[wildcards.key].id,
        out=lambda wildcards: layout.frozen_grader(wildcards.key),
    message:
        "freeze_grader: {params.task}"
    shell:
        "{FROZENBENCH} freeze_grader --pack {PACK:q} --task {params.task:q} --out {params.out:q} 2> {log:q}"


rule freeze_agent:
    output:
        layout.frozen_agent("{key}").as_posix() + "/agent.json",
    log:
        "logs/freeze_agent/{key}.log",
    params:
        agent=lambda wildcards: PLAN.agent_by_frozen[wildcards.key].name,
        out=lambda wildcards: layout.frozen_agent(wildcards.key),
    message:
        "freeze_agent: {params.agent}"
    shell:
        "{FROZENBENCH} freeze_agent --agent {params.agent:q} --out {params.out:q} 2> {log:q}"


rule freeze_record:
    output:
        layout.frozen_record(PLAN.record_id).as_posix(),
    log:
        f"logs/freeze_record/{PLAN.record_id}.log",
    params:
        record=f"--record {shlex.quote(PLAN.config.responses.record)}" if PLAN.config.responses.record else "",
    message:
        f"freeze_record: {PLAN.config.responses.record or 'no record named'}"
    shell:
        "{FROZENBENCH} freeze_record {params.record} --out {output:q} 2> {log:q}"


rule build_environment:
    output:
        f"{ENVIRONMENT}/environment.json",
    log:
        f"logs/build_environment/{PLAN.environment_id[:12]}.log",
    params:
        lock=f"--lock {shlex.quote(PACK)}/requirements.txt" if PLAN.pack.lock is not None else "",
        out=ENVIRONMENT,
    message:
        f"build_environment: {PACK}/requirements.txt"
    shell:
        "{FROZENBENCH} build_environment {params.lock} --out {params.out:q} 2> {log:q}"


rule freeze_names:
    input:
        ancient(rules.build_environment.output),
    output:
        layout.frozen_names(PLAN.environment_id).as_posix(),
    log:
        f"logs/freeze_names/{PLAN.environment_id[:12]}.log",
    message:
        "freeze_names: modules and names of the pack environment"
    shell:
        "{FROZENBENCH} freeze_names --environment {ENVIRONMENT:q} --isolation {ISOLATION:q} --out {output:q} 2> {log:q}"


def expected_task(wildcards):
    return PLAN.task_by_expected[f"results/frozen/expected/{wildcards.grader}/{wildcards.short}.json"]


def expected_inputs(wildcards):
    task = expected_task(wildcards)
    return needs(
        PLAN.expected_path(task),
        grader=layout.frozen_grader(task.grader.digest) / "grader.json",
        task=layout.frozen_task(task.digest) / "task.json",
        environment=f"{ENVIRONMENT}/environment.json",
    )


rule freeze_expected:
    input:
        unpack(expected_inputs),
    output:
        "results/frozen/expected/{grader}/{short}.json",
    log:
        "logs/freeze_expected/{grader}-{short}.log",
    params:
        grader=lambda wildcards: layout.frozen_grader(expected_task(wildcards).grader.digest),
        task=lambda wildcards: layout.frozen_task(expected_task(wildcards).digest),
        label=lambda wildcards: expected_task(wildcards).id,
    message:
        "freeze_expected: {params.label}"
    shell:
        "{FROZENBENCH} freeze_expected --grader_files {params.grader:q} --task_files {params.task:q}"
        " --environment {ENVIRONMENT:q} --isolation {ISOLATION:q} --out {output:q} 2> {log:q}"
