# What a reader sees. Pages and figures read tables and control sheets; they compute no score.


rule draw_figure:
    input:
        unpack(lambda wildcards: JOBS.view_inputs(f"figures/{wildcards.figure}")),
    output:
        # As PDF, which the report shows in a frame that scrolls: of a picture that is higher than the window it
        # cuts the top off, and there stand the controls.
        report(
            directory(f"{VIEW}/figures/{{figure}}"),
            patterns=["{name}.pdf"],
            category="2 Scores",
            labels={"what": "figure {figure}"},
            caption="../report/figure.rst",
        ),
    log:
        f"logs/draw_figure/{PLAN.view_digest[:12]}-{{figure}}.log",
    conda:
        "../../environment.yml"
    params:
        frozenbench=FROZENBENCH,
    message:
        "draw_figure: {wildcards.figure}"
    shell:
        "{params.frozenbench} draw_figure --figure {wildcards.figure} --statistics {input.statistics:q} --cells {input.cells:q}"
        " --measured {input.measured:q} --controls {input.controls:q} --view {input.view:q} --out {output:q}"
        " 2> {log:q}"


rule write_page:
    input:
        **JOBS.page_inputs(),
    output:
        report(
            directory(f"{VIEW}/page"),
            htmlindex="index.html",
            category="2 Scores",
            labels={"what": "the whole page"},
            caption="../report/page.rst",
        ),
    log:
        f"logs/write_page/{PLAN.view_digest[:12]}.log",
    conda:
        "../../environment.yml"
    params:
        frozenbench=FROZENBENCH,
        figures=lambda wildcards, output: Path(output[0]).parent / "figures",
    message:
        f"write_page: results/{NAME}/README.md and index.html"
    shell:
        "{params.frozenbench} write_page --statistics {input.statistics:q} --cells {input.cells:q} --measured {input.measured:q}"
        " --controls {input.controls:q} --view {input.view:q} --figures {params.figures:q} --out {output:q} 2> {log:q}"


rule write_tables:
    input:
        **JOBS.view_inputs("write_up"),
    output:
        directory(f"{VIEW}/write_up"),
    log:
        f"logs/write_tables/{PLAN.view_digest[:12]}.log",
    conda:
        "../../environment.yml"
    params:
        frozenbench=FROZENBENCH,
    message:
        f"write_tables: numbers.tex, controls.tex, cite.bib and tables of {NAME}"
    shell:
        "{params.frozenbench} write_tables --statistics {input.statistics:q} --cells {input.cells:q} --measured {input.measured:q}"
        " --controls {input.controls:q} --view {input.view:q} --out {output:q} 2> {log:q}"
