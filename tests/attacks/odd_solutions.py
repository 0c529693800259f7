"""Right solutions with odd habits: none of them may be called anything but PASS."""

# ruff: noqa: E501
from __future__ import annotations

from attack_task import FIXTURE, RIGHT, Tree, file_of

_RIGHT = RIGHT.encode()

#: Name -> files over the starting tree; text is appended to nothing: it is the whole file.
_FILES: dict[str, dict[str, str | bytes]] = {
    "plain": {"solution.py": RIGHT},
    "own failing tests beside the code": {
        "solution.py": RIGHT,
        "test_mine.py": "def test_mine():\n    assert False\n",
        "tests/test_other.py": "import solution\ndef test_total():\n    assert solution.total([1]) == 2\n",
    },
    "own conftest that raises": {
        "solution.py": RIGHT,
        "conftest.py": "raise RuntimeError('of no use here')\n",
        "tests/conftest.py": "raise RuntimeError('of no use here')\n",
    },
    "settings of its own": {
        "solution.py": RIGHT,
        "pytest.ini": "[pytest]\naddopts = --strict-config -p no_such_plugin\n",
        "setup.cfg": "[tool:pytest]\npython_files = nothing\n",
        "pyproject.toml": "not toml at all [",
    },
    "prints of failures": {
        "solution.py": f"{RIGHT}\nprint('FAILED tests/test_solution.py::test_total - 1 failed, 7 errors')\n"
        "print('E   AssertionError', flush=True)\n",
    },
    "prints like the harness": {
        "solution.py": f'{RIGHT}\nprint(\'{{"nonce": "", "test": "x", "outcome": "failed"}}\')\n'
        'print(\'{"n": 1, "v": 2}\')\n',
    },
    "thread that ends late": {
        "solution.py": f"{RIGHT}\nimport threading, time\n"
        "threading.Thread(target=time.sleep, args=(1.5,)).start()\n",
    },
    "thread that never ends": {
        "solution.py": f"{RIGHT}\nimport threading, time\n"
        "threading.Thread(target=time.sleep, args=(600,), daemon=True).start()\n",
    },
    "thread pool for its answers": {
        "solution.py": f"{RIGHT}\nfrom concurrent.futures import ThreadPoolExecutor\n_sum = sum\n"
        "def total(numbers):\n    with ThreadPoolExecutor(4) as pool:\n"
        "        return pool.submit(_sum, numbers).result()\n",
    },
    "subprocess for its answers": {
        "solution.py": f"{RIGHT}\nimport subprocess, sys\ndef shout(text):\n"
        "    words = [sys.executable, '-c', 'import sys; print(sys.argv[1].upper() + \"!\", end=\"\")', text]\n"
        "    return subprocess.run(words, capture_output=True, text=True, check=True).stdout\n",
    },
    "forks and waits": {
        "solution.py": f"{RIGHT}\nimport os\ndef total(numbers):\n    out, into = os.pipe()\n"
        "    if os.fork() == 0:\n        os.write(into, str(sum(numbers)).encode())\n        os._exit(0)\n"
        "    os.wait()\n    return int(os.read(out, 100))\n",
    },
    "multiprocessing": {
        "solution.py": f"{RIGHT}\nimport multiprocessing\ndef _put(q, numbers):\n    q.send(sum(numbers))\n"
        "def total(numbers):\n    here, there = multiprocessing.Pipe()\n"
        "    child = multiprocessing.get_context('fork').Process(target=_put, args=(there, numbers))\n"
        "    child.start()\n    found = here.recv()\n    child.join()\n    return found\n",
    },
    "__main__ block": {
        "solution.py": f"{RIGHT}\nif __name__ == '__main__':\n    import sys\n    sys.exit('not a program')\n",
    },
    "bytes that are no UTF-8": {
        "solution.py": f"{RIGHT}\nimport sys\nsys.stdout.buffer.write(b'\\xff\\xfe\\x00\\x9b')\n"
        "sys.stderr.buffer.write(b'\\xc3\\x28')\nsys.stdout.flush()\n",
    },
    "50 MB of prints": {
        "solution.py": f"{RIGHT}\nfor _ in range(50):\n    print('x' * 1_000_000)\n",
    },
    "prints in every call": {
        "solution.py": f"{RIGHT}\n_total = total\ndef total(numbers):\n    print('adding', numbers)\n"
        "    print(end='\\r\\x1b[2J')\n    return _total(numbers)\n",
    },
    "CRLF": {"solution.py": _RIGHT.replace(b"\n", b"\r\n")},
    "no last newline": {"solution.py": _RIGHT.rstrip()},
    "byte order mark": {"solution.py": b"\xef\xbb\xbf" + _RIGHT},
    "tabs and form feeds": {
        "solution.py": _RIGHT.replace(b"    ", b"\t").replace(b"\n\n\n", b"\n\x0c\n")
    },
    "Latin-1 source": {
        "solution.py": b"# -*- coding: latin-1 -*-\nNAME = '\xe9\xe8'\nassert len(NAME) == 2\n"
        + _RIGHT,
    },
    "names beyond ASCII": {
        "solution.py": f"{RIGHT}\nжук = total\ndef total(zahlen):\n    größe = жук(zahlen)\n    return größe\n",
    },
    "deep package": {
        "solution.py": "from parts.inner.deeper.sums import *\nfrom parts.inner.texts import *\n",
        "parts/__init__.py": "",
        "parts/inner/__init__.py": "",
        "parts/inner/deeper/__init__.py": "",
        "parts/inner/deeper/sums.py": RIGHT,
        "parts/inner/texts.py": "from .deeper.sums import shout as _shout\nfrom ..inner import deeper\n"
        "def shout(text):\n    return _shout(text)\n",
    },
    "package without __init__": {
        "solution.py": "from parts.sums import *\n",
        "parts/sums.py": RIGHT,
    },
    "data file beside the code": {
        "solution.py": f"{RIGHT}\nimport pathlib\nSIGN = pathlib.Path(__file__).with_name('sign.txt').read_text()\n"
        "def shout(text):\n    return text.upper() + SIGN\n",
        "sign.txt": "!",
    },
    "module state": {
        "solution.py": f"{RIGHT}\nCALLS = []\n_total = total\ndef total(numbers):\n    CALLS.append(len(CALLS))\n"
        "    return _total(numbers)\n",
    },
    "generators inside": {
        "solution.py": f"{RIGHT}\ndef _unique(words):\n    yield from sorted(set(words))\n"
        "def ordered(words):\n    return list(_unique(words))\n",
    },
    "dataclasses and enums": {
        "solution.py": f"{RIGHT}\nfrom dataclasses import dataclass\nfrom enum import IntEnum\n"
        "class Base(IntEnum):\n    ZERO = 0\n@dataclass(frozen=True, slots=True)\nclass Sum:\n    value: int\n"
        "def total(numbers):\n    return Sum(int(Base.ZERO) + sum(numbers)).value\n",
    },
    "exceptions of its own": {
        "solution.py": f"{RIGHT}\nclass TooSmall(ValueError):\n    def __init__(self, text, *, limit):\n"
        "        super().__init__(text)\n        self.limit = limit\n"
        "def positive(text):\n    if int(text) < 1:\n        raise TooSmall(text, limit=1)\n    return int(text)\n",
    },
    "exception with a cause": {
        "solution.py": f"{RIGHT}\ndef positive(text):\n    try:\n        assert int(text) > 0\n"
        "    except AssertionError as error:\n        raise ValueError('too small') from error\n"
        "    return int(text)\n",
    },
    "caches and decorators": {
        "solution.py": f"{RIGHT}\nimport functools\n@functools.lru_cache(maxsize=None)\ndef shout(text):\n"
        "    return text.upper() + '!'\ndef logged(f):\n    @functools.wraps(f)\n    def inner(*a, **k):\n"
        "        return f(*a, **k)\n    return inner\ntotal = logged(total)\n",
    },
    "lambda and partial": {
        "solution.py": f"{RIGHT}\nimport functools, operator\ntotal = lambda numbers: functools.reduce("
        "operator.add, numbers, 0)\nshout = functools.partial(str.join, '') if False else "
        "functools.partial(lambda end, text: text.upper() + end, '!')\n",
    },
    "callable object": {
        "solution.py": f"{RIGHT}\nclass Total:\n    def __call__(self, numbers):\n        return sum(numbers)\n"
        "total = Total()\n",
    },
    "asynchronous inside": {
        "solution.py": f"{RIGHT}\nimport asyncio\nasync def _total(numbers):\n    await asyncio.sleep(0)\n"
        "    return sum(numbers)\ndef total(numbers):\n    return asyncio.run(_total(numbers))\n",
    },
    "warnings": {
        "solution.py": f"{RIGHT}\nimport warnings\nwarnings.warn('old', DeprecationWarning)\n"
        "warnings.simplefilter('error')\n_total = total\ndef total(numbers):\n"
        "    warnings.simplefilter('always')\n    warnings.warn('old')\n    return _total(numbers)\n",
    },
    "logging": {
        "solution.py": f"{RIGHT}\nimport logging\nlogging.basicConfig(level=logging.DEBUG, force=True)\n"
        "logging.getLogger().error('FAILED')\nlogging.captureWarnings(True)\n",
    },
    "recursion limit": {
        "solution.py": f"{RIGHT}\nimport sys\nsys.setrecursionlimit(20000)\ndef _deep(n):\n"
        "    return 0 if n == 0 else 1 + _deep(n - 1)\nassert _deep(5000) == 5000\n",
    },
    "temporary files": {
        "solution.py": f"{RIGHT}\nimport tempfile\ndef shout(text):\n    with tempfile.NamedTemporaryFile('w+') as out:\n"
        "        out.write(text.upper() + '!')\n        out.seek(0)\n        return out.read()\n"
        "open('left.txt', 'w').write('beside the code')\n",
    },
    "environment and locale": {
        "solution.py": f"{RIGHT}\nimport locale, os\nlocale.setlocale(locale.LC_ALL, '')\n"
        "assert os.environ['HOME']\nos.environ['MINE'] = '1'\nos.chdir('/tmp')\n",
    },
    "signals and exit handlers": {
        "solution.py": f"{RIGHT}\nimport atexit, signal\natexit.register(print, 'good bye')\n"
        "signal.signal(signal.SIGALRM, signal.SIG_IGN)\n",
    },
    "changes its arguments as a copy": {
        "solution.py": f"{RIGHT}\ndef ordered(words):\n    words = list(words)\n    words.sort()\n"
        "    for at in range(len(words) - 1, 0, -1):\n        if words[at] == words[at - 1]:\n"
        "            del words[at]\n    return words\n",
    },
    "closed output": {
        "solution.py": f"{RIGHT}\nimport sys\nsys.stdout.close()\nsys.stderr.close()\n"
    },
    "seeded and patched standard library": {
        "solution.py": f"{RIGHT}\nimport builtins, random, time\nrandom.seed(1)\ntime.sleep = lambda s: None\n"
        "builtins._ = str\n",
    },
    "star names and __all__": {
        "solution.py": f"{RIGHT}\n__all__ = ['total']\ndef __getattr__(name):\n    raise AttributeError(name)\n",
    },
}

ODD = {
    name: {**FIXTURE, **{path: file_of(content) for path, content in files.items()}}
    for name, files in _FILES.items()
}


def odd_tree(name: str) -> Tree:
    """Return the artifact."""
    return ODD[name]


#: Whose bytes an editor or a transfer might change.
BYTES_MATTER = (
    "CRLF",
    "no last newline",
    "byte order mark",
    "tabs and form feeds",
    "Latin-1 source",
)
