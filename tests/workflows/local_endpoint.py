"""A model endpoint of the tests' own on this machine, which can go down and come back."""

from __future__ import annotations

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

MODEL = "small-model-1"
#: The answer to a task's first request, and to those with other seeds.
ANSWERS = {
    "number.py": ("def double(n):\n    return n + 1\n", "def double(n):\n    return n + n\n"),
    "greeting.py": (
        "def greet(name):\n    return name\n",
        "def greet(name):\n    return 'Hello, ' + name + '!'\n",
    ),
}


class Handler(BaseHTTPRequestHandler):
    """Answers in the wire format of chat completions, by what it is asked and nothing else."""

    server: Server

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if not self.server.may_answer():
            self.close_connection = True  # hangs up, as a server does that is going down
            return
        body = json.dumps(answer(asked)).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        pass


def answer(asked: dict[str, Any]) -> dict[str, Any]:
    """Return the response to a request: right for every other seed."""
    prompt = asked["messages"][-1]["content"]
    file = next(name for name in ANSWERS if name in prompt)
    text = f"```python {file}\n{ANSWERS[file][asked['seed'] % 2]}```\n"
    return {
        "model": MODEL,
        "choices": [{"index": 0, "message": {"role": "assistant", "content": text}}],
        "usage": {"prompt_tokens": 20, "completion_tokens": 10, "total_tokens": 30},
    }


class Server(ThreadingHTTPServer):
    """The listening side."""

    daemon_threads = True

    def __init__(self, port: int, answers: float) -> None:
        super().__init__(("127.0.0.1", port), Handler)
        self.left, self.guard = answers, threading.Lock()

    def may_answer(self) -> bool:
        """Take one of the answers that are left; go down after the last one."""
        with self.guard:
            self.left -= 1
            if self.left == 0:
                threading.Thread(target=self.stop).start()
            return self.left >= 0

    def stop(self) -> None:
        """Refuse connections from now on."""
        self.shutdown()
        self.server_close()


class Endpoint:
    """An address at which a model answers while it is up."""

    def __init__(self) -> None:
        self.server = Server(0, float("inf"))
        self.port = int(self.server.server_port)
        self._serve()

    @property
    def root(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def goes_down_after(self, answers: int) -> None:
        """Answer so many requests and go down."""
        self.server.left = answers

    def comes_back(self) -> None:
        """Serve at the same port again."""
        self.server = Server(self.port, float("inf"))
        self._serve()

    def _serve(self) -> None:
        threading.Thread(target=self.server.serve_forever, args=(0.01,), daemon=True).start()
