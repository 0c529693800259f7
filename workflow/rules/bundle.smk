# results/<name>/ always shows the current experiment, or why it has no score.
#
# The marker carries the digests of experiment and view, so that a changed config, and a change back,
# publish again. It is made also when a score is refused; then the last rule fails.


rule publish:
    input:
        cells=f"{EXPERIMENT}/cells.parquet",
        statistics=f"{VIEW}/statistics",
        figures=[f"{VIEW}/figures/{figure}" for figure in PLAN.config.figures],
        page=f"{VIEW}/page",
    output:
        MARKER,
    log:
        f"logs/publish/{PLAN.digest[:12]}-{PLAN.view_digest[:8]}.log",
    params:
        out=layout.published(NAME).as_posix(),
    message:
        f"publish: results/{NAME}/"
    shell:
        "{FROZENBENCH} publish --experiment {EXPERIMENT:q} --view_folder {VIEW:q} --out {params.out:q}"
        " --marker {output:q} 2> {log:q}"


rule check_score:
    input:
        MARKER,
    output:
        CHECKED,
    log:
        f"logs/check_score/{PLAN.digest[:12]}-{PLAN.view_digest[:8]}.log",
    params:
        published=layout.published(NAME).as_posix(),
    message:
        f"check_score: {NAME}"
    shell:
        "{FROZENBENCH} check_score --published {params.published:q} --out {output:q} 2> {log:q}"
