# frozenbench: rank coding agents under frozen controls.
#
#   snakemake --cores 4                                       the default experiment
#   snakemake --cores 4 --configfile config/starter.yaml      another one
#   snakemake -n                                              what would run, and nothing else
#
# The plan (config -> experiment -> cells -> keys -> paths) is made here, at parse time, so a dry run
# shows exactly what would be run and paid for. Rules follow the data: freeze, run, grade, table,
# figures, bundle. Each rule is one subcommand of `frozenbench`, of the same name.

import os
from pathlib import Path

from snakemake.exceptions import WorkflowError
from snakemake.utils import min_version

min_version("9.0")

try:
    from frozenbench import layout
    from frozenbench.canonical import FrozenbenchError
    from frozenbench.forecast import check_keys
    from frozenbench.import_plan import is_import, load_import_plan
    from frozenbench.jobs import Jobs
    from frozenbench.plan import DEFAULT_CONFIG, load_plan
    from frozenbench.preflight import check_cores, check_machine, cores_here, preflight
    from frozenbench.progress import show_progress, wants_own_log
    from frozenbench.view_jobs import ViewJobs, own_command
    from frozenbench.void import void_lost
except ModuleNotFoundError as error:
    raise WorkflowError(
        f"frozenbench is not installed here ({error}). Run `make`, or `pip install -e .` in an active environment."
    )

# Snakemake looks for wildcards in the path of environment.yml, and ends in a traceback.
if set("{}") & set(workflow.basedir):
    raise WorkflowError(
        f"{workflow.basedir}: Snakemake takes braces in a path for wildcards; cure: a folder whose path has none."
    )

# The config is read by frozenbench itself: strictly, and never merged with the default one.
if len(workflow.overwrite_configfiles) > 1 or workflow.config_settings.config:
    raise WorkflowError(
        "Give one --configfile and no --config: an experiment's controls stand in one file, so that they can be read again."
    )
CONFIG = str(next(iter(workflow.overwrite_configfiles), DEFAULT_CONFIG))
if Path(CONFIG).is_absolute():
    CONFIG = os.path.relpath(CONFIG)

try:
    IMPORTED = is_import(CONFIG)
    PLAN = load_import_plan(CONFIG) if IMPORTED else preflight(load_plan(CONFIG))
except FrozenbenchError as error:
    raise WorkflowError(str(error))

JOBS = ViewJobs(PLAN) if IMPORTED else Jobs(PLAN)
FROZENBENCH = own_command()
EXPERIMENT = PLAN.folder.as_posix()
VIEW = PLAN.view_folder.as_posix()
NAME = PLAN.name
MARKER = layout.published_marker(NAME, PLAN.digest, PLAN.view_digest).as_posix()
CHECKED = layout.checked_marker(NAME, PLAN.digest, PLAN.view_digest).as_posix()

# Snakemake does not see that a run or a grade is gone which a finished table stands on, nor what a
# published folder was made of.
MISSING = JOBS.missing()
if MISSING:
    LABEL = f" ({JOBS.lost[0].label})" if JOBS.lost else ""
    logger.warning(
        f"{len(MISSING)} files that results stand on are gone, the first {MISSING[0]}{LABEL}: "
        "they are made again, with all that stands on them."
    )


# The first page of `snakemake --report`: what was frozen stands above every score. write_page writes it.
report: os.path.abspath(f"{VIEW}/page/{layout.LANDING}")


wildcard_constraints:
    key="[0-9a-f]{64}",
    figure="[a-z_]+",


# Before the first job: what this machine lacks, then what is stale, so that a run which is killed
# later leaves nothing of it.
onstart:
    if workflow.local_exec:
        # Its limit of jobs a second looks at all ready jobs once more a second for each job that was
        # ever started: after a thousand cells the scheduler takes a core for itself. What limits
        # jobs here is --cores, and an endpoint's own max_concurrency.
        workflow.scheduler.job_rate_limiter = None
    try:
        if not IMPORTED:
            if workflow.local_exec:
                check_machine(PLAN)
                check_keys(PLAN)
                check_cores(PLAN, workflow.cores, cores_here())
            void_lost(PLAN)
            if not wants_own_log(workflow):
                show_progress(logger, JOBS.cells, JOBS.graded(), JOBS.spending)
    except FrozenbenchError as error:
        raise WorkflowError(str(error))


# A limit of money that was reached has failed jobs, so no table and no refusal was made of it.
onerror:
    if not IMPORTED:
        from frozenbench.open_cells import tell_open

        if lines := tell_open(PLAN):
            logger.error("\n".join(lines))


rule all:
    input:
        CHECKED,
        MISSING,


# The tables come of cells that run here, or of logs of other harnesses.
if IMPORTED:

    include: "workflow/rules/import.smk"

else:
    PACK = PLAN.config.pack.path
    ISOLATION = PLAN.config.isolation
    ENVIRONMENT = layout.environment(PLAN.environment_id).as_posix()

    include: "workflow/rules/freeze.smk"
    include: "workflow/rules/run.smk"
    include: "workflow/rules/grade.smk"
    include: "workflow/rules/collect.smk"


include: "workflow/rules/table.smk"
include: "workflow/rules/figures.smk"
include: "workflow/rules/bundle.smk"
