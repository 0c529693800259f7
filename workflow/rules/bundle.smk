# results/<name>/ always shows the current experiment, or why it has no score.
#
# The marker carries the digests of experiment and view, so that a changed config, and a change back,
# publish again. It is made also when a score is refused; then the last rule fails.


rule publish:
    input:
        **JOBS.shown(
            MARKER,
            MARKER,
            cells=f"{EXPERIMENT}/cells.parquet",
            statistics=f"{VIEW}/statistics",
            figures=[f"{VIEW}/figures/{figure}" for figure in PLAN.config.figures],
            page=f"{VIEW}/page",
            write_up=f"{VIEW}/write_up",
            **JOBS.crossings(),
        ),
    output:
        MARKER,
    log:
        f"logs/publish/{PLAN.digest[:12]}-{PLAN.view_digest[:8]}.log",
    conda:
        "../../environment.yml"
    params:
        frozenbench=FROZENBENCH,
        experiment=lambda wildcards, input: Path(input.cells).parent,
        view=lambda wildcards, input: Path(input.page).parent,
        out=lambda wildcards, output: Path(output[0]).parent,
    message:
        f"publish: results/{NAME}/"
    shell:
        "{params.frozenbench} publish --experiment {params.experiment:q} --view_folder {params.view:q} --out {params.out:q}"
        " --marker {output:q} 2> {log:q}"


rule check_score:
    input:
        **JOBS.shown(MARKER, CHECKED, marker=MARKER),
    output:
        CHECKED,
    log:
        f"logs/check_score/{PLAN.digest[:12]}-{PLAN.view_digest[:8]}.log",
    conda:
        "../../environment.yml"
    params:
        frozenbench=FROZENBENCH,
        published=lambda wildcards, input: Path(input[0]).parent,
    message:
        f"check_score: {NAME}"
    shell:
        "{params.frozenbench} check_score --published {params.published:q} --out {output:q} 2> {log:q}"
