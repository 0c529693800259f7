"""The one way out of a box: loopback inside to the gateway's socket, and the agent as its child.

Started as `python -I forward.py SPEC`, SPEC = a file with JSON {"socket", "port", "argv"}. It listens on
127.0.0.1, hands every connection on to the socket, and starts the agent only then; its input is
empty, what it prints goes to standard error, and its end is the end of the box.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import sys

_PIECE = 1 << 16


async def copy(source: asyncio.StreamReader, target: asyncio.StreamWriter) -> None:
    """Hand bytes on until one side ends; the other then sees that end."""
    with contextlib.suppress(OSError):
        while data := await source.read(_PIECE):
            target.write(data)
            await target.drain()
    with contextlib.suppress(OSError, RuntimeError):
        target.write_eof()


async def hand_on(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, path: str) -> None:
    """Join one connection of the agent to one of the gateway's."""
    try:
        inner_reader, inner_writer = await asyncio.open_unix_connection(path)
    except OSError:
        writer.close()
        return
    there = asyncio.ensure_future(copy(reader, inner_writer))
    with contextlib.suppress(asyncio.CancelledError):  # the agent ended first: no news either
        await copy(inner_reader, writer)  # the gateway ends a connection; an agent only hangs up
    there.cancel()
    for end in (writer, inner_writer):
        end.close()


async def serve(path: str, port: int, argv: list[str]) -> int:
    """Listen, run the agent to its end, and return its status as a shell would."""
    server = await asyncio.start_server(
        lambda reader, writer: hand_on(reader, writer, path), "127.0.0.1", port, backlog=128
    )
    async with server:
        try:
            child = await asyncio.create_subprocess_exec(
                *argv, stdin=asyncio.subprocess.DEVNULL, stdout=2, stderr=2
            )
        except OSError as error:
            print(f"{argv[0]}: cannot be run: {error.strerror}", file=sys.stderr)
            return 127
        status = await child.wait()
    return status if status >= 0 else 128 - status


def main() -> int:
    """Read the orders and follow them."""
    with open(sys.argv[1], encoding="utf-8") as handle:
        spec = json.load(handle)
    return asyncio.run(serve(spec["socket"], spec["port"], spec["argv"]))


if __name__ == "__main__":
    code = main()
    sys.stderr.flush()
    os._exit(code)  # connections that hang must not hold up the end
