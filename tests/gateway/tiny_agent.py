"""A whole agent in a few lines, run inside the box: `tiny_agent.py WIRE BASE_URL [OPTION…]`.

It asks its model, carries out the tool calls of the answer, asks again with what came of them, and
ends when an answer holds no tool call. Tools: write {path, text}, sleep {seconds}, say {text},
chance (says what is never the same), exit.
Options: stream; today (its first message names the day and the kernel); many=N (N equal
conversations at once); again (hang up and send a body once more); stubborn (ask on after an error);
linger (go on living after its end); early (write a file before it asks); json (a broken request).
"""

from __future__ import annotations

import http.client
import json
import os
import platform
import socket
import sys
import threading
import time
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

TOOLS = ("write", "sleep", "say")
PATHS = {
    "openai-chat": "/v1/chat/completions",
    "openai-responses": "/v1/responses",
    "anthropic-messages": "/v1/messages?beta=true",
}


def main() -> int:
    wire, base, options = sys.argv[1], sys.argv[2], sys.argv[3:]
    time.sleep(float(os.environ.get("WAIT", "0")))
    if "early" in options:
        write("early.txt", "early")
    many = [int(word.partition("=")[2]) for word in options if word.startswith("many=")]
    if not many:
        status = Agent(wire, base, options, "Correct it.").run()
    else:
        agents = [Agent(wire, base, options, f"Conversation {n}.") for n in range(many[0])]
        threads = [threading.Thread(target=agent.run) for agent in agents]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        status = 0
    if "linger" in options:
        time.sleep(60)
    return status


class Agent:
    def __init__(self, wire: str, base: str, options: list[str], prompt: str) -> None:
        self.wire, self.options = wire, options
        self.stream = "stream" in options
        self.host = urlsplit(base)
        self.connection = self.connect()
        if "today" in options:
            day = os.environ.get("TINY_TODAY") or time.strftime("%a %b %d %Y")
            prompt += f"\nToday is {day}. OS: Linux {platform.release()}."
        self.messages: list[Any] = [{"role": "user", "content": prompt}]
        self.asked = 0

    def connect(self) -> http.client.HTTPConnection:
        return http.client.HTTPConnection(self.host.hostname or "", self.host.port, timeout=60)

    def run(self) -> int:
        while True:
            calls = self.ask()
            if calls is None:
                if "stubborn" in self.options:
                    time.sleep(0.1)
                    continue
                return 0  # many agents end like this when they are refused
            if not calls:
                return 0
            for call in calls:
                self.carry_out(call)

    def body(self) -> dict[str, Any]:
        body: dict[str, Any] = {"model": "whatever", "stream": self.stream}
        if self.wire == "openai-responses":
            body["input"] = self.messages
            body["prompt_cache_key"] = os.urandom(4).hex()
            body["tools"] = [{"type": "function", "name": name} for name in TOOLS]
        else:
            body["messages"] = self.messages
            body["metadata"] = {"user_id": os.urandom(4).hex()}
        if self.wire == "anthropic-messages":
            body["max_tokens"] = 100
            body["tools"] = [{"name": name, "input_schema": {}} for name in TOOLS]
        if self.wire == "openai-chat":
            body["tools"] = [{"type": "function", "function": {"name": name}} for name in TOOLS]
        return body

    def ask(self) -> list[dict[str, Any]] | None:
        raw = json.dumps(self.body()).encode()
        if "json" in self.options:
            raw = raw[:-5]
        self.asked += 1
        if "again" in self.options and self.asked == 1:
            self.hang_up(raw)
        headers = {"Content-Type": "application/json", "Authorization": "Bearer of-the-box"}
        try:
            self.connection.request("POST", PATHS[self.wire], raw, headers)
            response = self.connection.getresponse()
            data = response.read()
        except (OSError, http.client.HTTPException) as error:
            print("broken", type(error).__name__, flush=True)
            self.connection = self.connect()
            return None
        if response.status != 200:
            retry = response.headers.get("x-should-retry")
            print("refused", response.status, retry, data[:200], flush=True)
            return None
        print("told of the end" if b"used up" in data else "answer", flush=True)
        return self.read(data)

    def hang_up(self, raw: bytes) -> None:
        """Send a request and hang up before its response comes."""
        plain = socket.create_connection((self.host.hostname, self.host.port))
        head = f"POST {PATHS[self.wire]} HTTP/1.1\r\nHost: x\r\nContent-Length: {len(raw)}\r\n\r\n"
        plain.sendall(head.encode() + raw)
        time.sleep(0.3)
        plain.close()
        time.sleep(0.3)

    def read(self, data: bytes) -> list[dict[str, Any]]:
        events = [
            json.loads(line[6:])
            for line in data.decode().splitlines()
            if line.startswith("data: ") and line != "data: [DONE]"
        ]
        return getattr(self, self.wire.replace("-", "_"))(data, events)

    def openai_chat(self, data: bytes, events: list[Any]) -> list[dict[str, Any]]:
        if self.stream:
            found: dict[int, Any] = {}
            for event in events:
                for choice in event["choices"]:
                    for part in choice["delta"].get("tool_calls", []):
                        held = found.setdefault(part["index"], {"function": {"arguments": ""}})
                        held["id"] = part.get("id") or held.get("id")
                        function = part["function"]
                        held["function"]["name"] = function.get("name") or held["function"]["name"]
                        held["function"]["arguments"] += function.get("arguments", "")
            calls = [{"type": "function", **call} for _, call in sorted(found.items())]
            message: dict[str, Any] = {"role": "assistant", "content": None, "tool_calls": calls}
        else:
            message = json.loads(data)["choices"][0]["message"]
        self.messages.append(message)
        return [
            {
                "id": call["id"],
                "name": call["function"]["name"],
                "input": json.loads(call["function"]["arguments"]),
            }
            for call in message.get("tool_calls") or []
        ]

    def openai_responses(self, data: bytes, events: list[Any]) -> list[dict[str, Any]]:
        whole = events[-1]["response"] if self.stream else json.loads(data)
        self.messages += [{**item, "id": os.urandom(4).hex()} for item in whole["output"]]
        return [
            {
                "id": item["call_id"],
                "name": item["name"],
                "input": json.loads(item["arguments"]),
            }
            for item in whole["output"]
            if item["type"] == "function_call"
        ]

    def anthropic_messages(self, data: bytes, events: list[Any]) -> list[dict[str, Any]]:
        if self.stream:
            blocks: dict[int, Any] = {}
            for event in events:
                if event["type"] == "content_block_start":
                    blocks[event["index"]] = {**event["content_block"], "json": ""}
                elif event["type"] == "content_block_delta":
                    delta = event["delta"]
                    blocks[event["index"]]["json"] += delta.get("partial_json", "")
            content = []
            for _, block in sorted(blocks.items()):
                text = block.pop("json")
                content.append(block | ({"input": json.loads(text)} if text else {}))
        else:
            content = json.loads(data)["content"]
        self.messages.append({"role": "assistant", "content": content})
        return [block for block in content if block["type"] == "tool_use"]

    def carry_out(self, call: dict[str, Any]) -> None:
        told = self.tool(call["name"], call["input"])
        if self.wire == "openai-chat":
            self.messages.append({"role": "tool", "tool_call_id": call["id"], "content": told})
        elif self.wire == "openai-responses":
            item = {"type": "function_call_output", "call_id": call["id"], "output": told}
            self.messages.append(item)
        else:
            block = {"type": "tool_result", "tool_use_id": call["id"], "content": told}
            self.messages.append({"role": "user", "content": [block]})

    def tool(self, name: str, given: dict[str, Any]) -> str:
        if name == "write":
            write(given["path"], given["text"])
            return "written"
        if name == "sleep":
            time.sleep(given["seconds"])
            return "slept"
        if name == "chance":
            return os.urandom(3).hex()
        if name == "exit":
            os._exit(0)
        return str(given.get("text"))


def write(path: str, text: str) -> None:
    Path(path).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
