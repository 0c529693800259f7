"""Speed, measured side by side and printed as ratios. Not a test: a machine's day is not a verdict.

    make benchmarks                         # all
    .venv/bin/python tests/benchmarks/benchmark.py start views

Each measurement runs in a copy of the project, so that nothing here is touched.
"""

from __future__ import annotations

import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import chdir, contextmanager
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent
COPIED = ("Snakefile", "environment.yml", "workflow", "config", "profiles", "packs", "records")


def seconds(run: Callable[[], object], times: int = 1) -> float:
    """Return the median wall time of `run`, s."""
    taken = []
    for _ in range(times):
        begin = time.perf_counter()
        run()
        taken.append(time.perf_counter() - begin)
    return statistics.median(taken)


def python(*words: str, cwd: Path = ROOT) -> Callable[[], object]:
    """Return a function that runs this Python with some words."""

    def run() -> object:
        return subprocess.run(
            [sys.executable, *words], cwd=cwd, check=False, capture_output=True, text=True
        )

    return run


def snakemake(project: Path, *words: str) -> None:
    """Run the workflow in a project and stop with its output where it fails."""
    done = subprocess.run(
        [sys.executable, "-m", "snakemake", "--cores", "4", *words],
        cwd=project,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        sys.exit(f"snakemake {' '.join(words)} failed:\n{done.stderr[-4000:]}")


@contextmanager
def project_copy() -> Iterator[Path]:
    """Give a copy of the project without results."""
    with tempfile.TemporaryDirectory() as folder:
        project = Path(folder) / "project"
        project.mkdir(mode=0o755)
        Path(folder).chmod(0o755)
        for name in COPIED:
            source = ROOT / name
            if source.is_dir():
                shutil.copytree(source, project / name)
            else:
                shutil.copy(source, project / name)
        yield project


def start() -> Iterator[str]:
    """A cell command that does nothing, against Python alone."""
    bare = seconds(python("-c", "pass"), 15)
    for rule in ("run_cell", "grade_cell"):
        idle = seconds(python("-c", f"import frozenbench.cli, frozenbench.{rule}"), 15)
        yield (
            f"start of {rule}: {1000 * idle:.0f} ms, {idle / bare:.1f} times python -c pass "
            f"({1000 * bare:.0f} ms); wanted < 100 ms"
        )


def views() -> Iterator[str]:
    """Everything that a changed title draws again, against the first run of the experiment."""
    with project_copy() as project:
        config = ("--configfile", "config/starter.yaml")
        whole = seconds(lambda: snakemake(project, *config))
        path = project / "config" / "starter.yaml"
        path.write_text(path.read_text() + '\ntitle: "Another title"\n')
        again = seconds(lambda: snakemake(project, *config))
        nothing = seconds(lambda: snakemake(project, *config))
        yield (
            f"views alone after a changed title: {again:.1f} s, {again / whole:.2f} of the first run "
            f"({whole:.1f} s); wanted < 6 s"
        )
        yield f"nothing to be done: {nothing:.1f} s, {nothing / whole:.2f} of the first run"


def default() -> Iterator[str]:
    """The default experiment from its record and clean results, against its jobs' own floor."""
    with project_copy() as project:
        whole = seconds(lambda: snakemake(project))
        runs = len(list((project / "results" / "runs").iterdir()))
        grades = len(list((project / "results" / "grades").iterdir()))
        verdicts = len(list((project / "results" / "verdicts").glob("*/*.json")))
    bare = seconds(python("-c", "pass"), 15)
    floor = (runs + grades) * bare / 2
    yield (
        f"default experiment from its record: {whole:.0f} s for {runs} runs, {grades} grades and "
        f"{verdicts} verdicts, {whole / floor:.1f} times that many bare pythons on two cores "
        f"({floor:.0f} s); wanted < 240 s"
    )


GRADED = {
    "in-process": "from solution import double",
    "split": 'from frozenbench_candidate import load\n\ndouble = load("solution.py").double',
}
TESTS = """{imports}


def test_one():
    assert double(1) == 2


def test_none():
    assert double(0) == 0


def test_negative():
    assert double(-4) == -8


def test_text():
    assert double("ab") == "abab"
"""


def walls() -> Iterator[str]:
    """A grader behind its walls, against a bare `python -m pytest` of the same tests."""
    from frozenbench.plan import load_plan

    with project_copy() as project, chdir(project):
        plan = load_plan("config/starter.yaml")
        environment = Path("results/frozen/environments") / plan.environment_id
        target = f"{environment}/environment.json"
        snakemake(project, "--configfile", "config/starter.yaml", "--", target)
        bare_tests = Path("bare")
        (bare_tests / "tests").mkdir(parents=True)
        (bare_tests / "solution.py").write_text("def double(value):\n    return value * 2\n")
        text = TESTS.format(imports=GRADED["in-process"])
        (bare_tests / "tests" / "test_double.py").write_text(text)
        packages = next((environment / "lib").glob("python3*/site-packages")).resolve()
        variables = {
            "PYTHONPATH": f"{packages}:{bare_tests.resolve()}",
            "PYTHONDONTWRITEBYTECODE": "1",
            "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
            "PATH": "/usr/bin:/bin",
        }
        python = sys._base_executable  # type: ignore[attr-defined]
        words = [
            python,
            "-s",
            "-m",
            "pytest",
            "-q",
            "-p",
            "no:cacheprovider",
            "tests/test_double.py",
        ]

        def bare() -> None:
            subprocess.run(words, cwd=bare_tests, env=variables, check=True, capture_output=True)

        graders = {trust: graded(trust, environment) for trust in GRADED}
        taken: dict[str, list[float]] = {name: [] for name in ("bare", *graders)}
        for _ in range(21):  # in turn, so that all see the same machine
            for name, run in (("bare", bare), *graders.items()):
                taken[name].append(seconds(run))
        median = {name: statistics.median(values) for name, values in taken.items()}
        for trust, most in (("in-process", 1.5), ("split", 2.5)):
            yield (
                f"one grade under {trust}: {1000 * median[trust]:.0f} ms, "
                f"{median[trust] / median['bare']:.2f} times a bare python -m pytest "
                f"({1000 * median['bare']:.0f} ms); wanted <= {most}"
            )


def graded(trust: str, environment: Path) -> Callable[[], object]:
    """Return a function that grades the benchmark's task once and expects green."""
    from frozenbench.canonical import File
    from frozenbench.grade.grading import FrozenGrader, grade_tree

    test = "tests/test_double.py"
    material = {
        "argv": ["python", "-m", "pytest", "-q", test],
        "hidden_folders": [],
        "grade_timeout_s": 60,
        "grader_trust": trust,
    }
    hidden = {test: File(TESTS.format(imports=GRADED[trust]).encode(), False)}
    solution = {"solution.py": File(b"def double(value):\n    return value * 2\n", False)}
    grader = FrozenGrader("0" * 64, material, hidden, solution, (test,))

    def run() -> None:
        found = grade_tree(grader, solution, {}, environment, "userns", None)
        if not found.verdict.green:
            sys.exit(f"{trust}: not green: {found.log}")

    return run


def gateway() -> Iterator[str]:
    """Latency of the metering gateway under load, against an empty proxy in the same run."""
    test = "tests/gateway/test_gateway_load.py::test_a_thousand_requests"
    words = [sys.executable, "-m", "pytest", "-q", "-s", test]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=False)
    yield next(line for line in done.stdout.splitlines() if line.startswith("1,000 requests"))


def dry_run() -> Iterator[str]:
    """A dry run of the default experiment, against Snakemake's own start."""
    with project_copy() as project:
        bare = seconds(python("-m", "snakemake", "--version"), 3)
        dry = seconds(python("-m", "snakemake", "-n", "--quiet", cwd=project), 3)
        yield f"snakemake -n of the default experiment: {dry:.1f} s, {dry / bare:.1f} times --version"


def large() -> Iterator[str]:
    """25 agents × 500 tasks × 30 budgets: all rules after the cells, CPU time and memory of each."""
    from large_view import AGENTS, BUDGETS, FIGURES, TASKS, flip_is_confirmed

    documents = ["--controls", "controls.json", "--view", "view.json"]
    tables = ["--cells", "cells.parquet", "--measured", "measured.parquet"]
    refused = ["--refusals", "refusals.json"]
    told = ["--statistics", "statistics", *documents, *tables]
    rules = {
        "table": [str(Path(__file__).with_name("large_view.py")), "."],
        "contrast": ["contrast", *tables, *documents, *refused, "--out", "statistics"],
        **{
            name: ["draw_figure", "--figure", name, *told, "--out", f"figures/{name}"]
            for name in FIGURES
        },
        "page": ["write_page", *told, "--figures", "figures", "--out", "page"],
        "write_up": ["write_tables", *told, "--out", "write_up"],
    }
    spent, parts, most = 0.0, [], 0.0
    with tempfile.TemporaryDirectory() as folder:
        for name, words in rules.items():
            program = [] if name == "table" else ["-m", "frozenbench"]
            cpu, memory = cpu_and_memory([*program, *words], Path(folder))
            spent, most = spent + cpu, max(most, memory)
            parts.append(f"{name} {cpu:.1f} s {memory:.1f} GB")
        confirmed = flip_is_confirmed(Path(folder) / "statistics")
    yield (
        f"{AGENTS} agents, {TASKS} tasks, {BUDGETS} budgets: {spent:.0f} s of CPU ({spent / 2:.0f} s "
        f"on each of two cores at best), at most {most:.1f} GB ({'; '.join(parts)}); the planted "
        f"flip is {'confirmed' if confirmed else 'LOST'}; wanted < 60 s on two cores, < 2 GB"
    )


def cpu_and_memory(words: list[str], folder: Path) -> tuple[float, float]:
    """Run this Python with some words; return its CPU time, s, and its largest memory, GB."""
    with (folder / "log").open("wb") as log:
        child = subprocess.Popen([sys.executable, *words], cwd=folder, stdout=log, stderr=log)
        _, status, used = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode != 0:
        sys.exit(f"{' '.join(words)} failed:\n{(folder / 'log').read_text()[-4000:]}")
    return used.ru_utime + used.ru_stime, used.ru_maxrss / 2**20


MEASUREMENTS = {
    "start": start,
    "views": views,
    "dry_run": dry_run,
    "walls": walls,
    "gateway": gateway,
    "default": default,
    "large": large,
}


def main(names: list[str]) -> int:
    """Print the measurements that are named, or all."""
    for name in names or list(MEASUREMENTS):
        for line in MEASUREMENTS[name]():
            print(line, flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
