"""Files beside the hidden ones that differ from them by case, script, spaces or a line end."""
#> agent
from pathlib import Path
TESTS = "".join(f"def test_{name}(): pass\n" for name in (
    "total", "total_of_many", "ordered", "tally", "shout", "positive", "positive_refuses", "count"))
Path("tests").mkdir()
for name in ("tests/TEST_SOLUTION.py", "tests/test_solution.py\n", "tests/test_s\u043elution.py", "tests/test_solution.py ",
             "tests/test_solution.py::test_total", "\uff34ests", "tests\n", "tests/conftest.py\n", "tests/.test_solution.py",
             "tests/test_\u017folution.py", "\u017folution.py", "tests/test_solution.pyi", "tests/test_solution.pyw"):
    Path(name).write_text(TESTS)
Path("Tests").mkdir()
Path("Tests/test_solution.py").write_text(TESTS)
