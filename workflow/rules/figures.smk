# What a reader sees. Pages and figures read tables and control sheets; they compute no score.


rule draw_figure:
    input:
        statistics=f"{VIEW}/statistics",
        cells=f"{EXPERIMENT}/cells.parquet",
        measured=f"{EXPERIMENT}/measured.parquet",
        controls=ancient(f"{EXPERIMENT}/controls.json"),
        view=ancient(f"{VIEW}/view.json"),
    output:
        report(
            directory(f"{VIEW}/figures/{{figure}}"),
            patterns=["{name}.png"],
            category="2 Score",
            caption="../report/figure.rst",
        ),
    log:
        f"logs/draw_figure/{PLAN.view_digest[:12]}-{{figure}}.log",
    message:
        "draw_figure: {wildcards.figure}"
    shell:
        "{FROZENBENCH} draw_figure --figure {wildcards.figure} --statistics {input.statistics:q} --cells {input.cells:q}"
        " --measured {input.measured:q} --controls {input.controls:q} --view {input.view:q} --out {output:q}"
        " 2> {log:q}"


rule write_page:
    input:
        statistics=f"{VIEW}/statistics",
        cells=f"{EXPERIMENT}/cells.parquet",
        measured=f"{EXPERIMENT}/measured.parquet",
        controls=ancient(f"{EXPERIMENT}/controls.json"),
        view=ancient(f"{VIEW}/view.json"),
    output:
        directory(f"{VIEW}/page"),
    log:
        f"logs/write_page/{PLAN.view_digest[:12]}.log",
    message:
        f"write_page: results/{NAME}/README.md"
    shell:
        "{FROZENBENCH} write_page --statistics {input.statistics:q} --cells {input.cells:q} --measured {input.measured:q}"
        " --controls {input.controls:q} --view {input.view:q} --out {output:q} 2> {log:q}"
