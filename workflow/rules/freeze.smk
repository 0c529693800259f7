# Copies of everything that a score depends on, at places that carry its digest.


rule freeze_controls:
    output:
        report(
            JOBS.controls,
            category="1 Controls",
            labels={"what": "all controls"},
            caption="../report/controls.rst",
        ),
    log:
        f"logs/freeze_controls/{PLAN.digest[:12]}.log",
    conda:
        "../../environment.yml"
    params:
        frozenbench=FROZENBENCH,
        config=CONFIG,
    message:
        f"freeze_controls: {NAME} {PLAN.digest[:12]}"
    shell:
        "{params.frozenbench} freeze_controls --config {params.config:q} --out {output:q} 2> {log:q}"


rule freeze_task:
    output:
        layout.frozen_task("{key}") / "task.json",
    log:
        "logs/freeze_task/{key}.log",
    conda:
        "../../environment.yml"
    params:
        frozenbench=FROZENBENCH,
        pack=PACK,
        task=lambda wildcards: PLAN.task_by_digest[wildcards.key].id,
        out=lambda wildcards: layout.frozen_task(wildcards.key),
    message:
        "freeze_task: {params.task}"
    shell:
        "{params.frozenbench} freeze_task --pack {params.pack:q} --task {params.task:q} --out {params.out:q} 2> {log:q}"


rule freeze_grader:
    output:
        layout.frozen_grader("{key}") / "grader.json",
    log:
        "logs/freeze_grader/{key}.log",
    conda:
        "../../environment.yml"
    params:
        frozenbench=FROZENBENCH,
        pack=PACK,
        task=lambda wildcards: PLAN.task_by_grader[wildcards.key].id,
        out=lambda wildcards: layout.frozen_grader(wildcards.key),
    message:
        "freeze_grader: {params.task}"
    shell:
        "{params.frozenbench} freeze_grader --pack {params.pack:q} --task {params.task:q} --out {params.out:q} 2> {log:q}"


rule freeze_agent:
    output:
        layout.frozen_agent("{key}") / "agent.json",
    log:
        "logs/freeze_agent/{key}.log",
    conda:
        "../../environment.yml"
    params:
        frozenbench=FROZENBENCH,
        agent=lambda wildcards: PLAN.agent_by_frozen[wildcards.key].name,
        out=lambda wildcards: layout.frozen_agent(wildcards.key),
    message:
        "freeze_agent: {params.agent}"
    shell:
        "{params.frozenbench} freeze_agent --agent {params.agent:q} --out {params.out:q} 2> {log:q}"


rule freeze_record:
    output:
        layout.frozen_record(PLAN.record_id),
    log:
        f"logs/freeze_record/{PLAN.record_id}.log",
    conda:
        "../../environment.yml"
    params:
        frozenbench=FROZENBENCH,
        record=JOBS.record_argument(),
    message:
        f"freeze_record: {PLAN.config.responses.record or 'no record named'}"
    shell:
        "{params.frozenbench} freeze_record {params.record} --out {output:q} 2> {log:q}"


rule build_environment:
    output:
        JOBS.environment,
    log:
        f"logs/build_environment/{PLAN.environment_id[:12]}.log",
    conda:
        "../../environment.yml"
    params:
        frozenbench=FROZENBENCH,
        lock=JOBS.lock_argument(),
        out=lambda wildcards, output: Path(output[0]).parent,
    message:
        f"build_environment: {PACK}/requirements.txt"
    shell:
        "{params.frozenbench} build_environment {params.lock} --out {params.out:q} 2> {log:q}"


rule freeze_names:
    input:
        **JOBS.settled(layout.frozen_names(PLAN.environment_id), mark=JOBS.environment),
    output:
        layout.frozen_names(PLAN.environment_id),
    log:
        f"logs/freeze_names/{PLAN.environment_id[:12]}.log",
    conda:
        "../../environment.yml"
    params:
        frozenbench=FROZENBENCH,
        environment=lambda wildcards, input: Path(input[0]).parent,
        isolation=ISOLATION,
    message:
        "freeze_names: modules and names of the pack environment"
    shell:
        "{params.frozenbench} freeze_names --environment {params.environment:q} --isolation {params.isolation:q} --out {output:q}"
        " 2> {log:q}"


rule freeze_expected:
    input:
        unpack(
            lambda wildcards: JOBS.expected_inputs(
                JOBS.expected_task(wildcards.grader, wildcards.short)
            )
        ),
    output:
        "results/frozen/expected/{grader}/{short}.json",
    log:
        "logs/freeze_expected/{grader}-{short}.log",
    conda:
        "../../environment.yml"
    params:
        frozenbench=FROZENBENCH,
        environment=ENVIRONMENT,
        isolation=ISOLATION,
        grader=lambda wildcards: layout.frozen_grader(
            JOBS.expected_task(wildcards.grader, wildcards.short).grader.digest
        ),
        task=lambda wildcards: layout.frozen_task(
            JOBS.expected_task(wildcards.grader, wildcards.short).digest
        ),
        label=lambda wildcards: JOBS.expected_task(wildcards.grader, wildcards.short).id,
    message:
        "freeze_expected: {params.label}"
    shell:
        "{params.frozenbench} freeze_expected --grader_files {params.grader:q} --task_files {params.task:q}"
        " --environment {params.environment:q} --isolation {params.isolation:q} --out {output:q} 2> {log:q}"
