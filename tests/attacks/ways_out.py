"""Ways out of a box to the network and to the host's services, tried by one script."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from attack_task import FIXTURE, GRADE_SECONDS, WRONG, Tree, agents_box, arena, file_of
from frozenbench.sandbox import run, work_folder

#: Prints one line a way: `WAY name: refused …`, `absent`, or `REACHED`.
PROBE = r"""
import ctypes, json, os, shutil, socket, stat, struct, subprocess
HOST = json.loads(@HOST@)
LIBC = ctypes.CDLL(None, use_errno=True)
QUERY = b"\x12\x34\x01\0\0\1\0\0\0\0\0\0\7example\3org\0\0\1\0\1"

def attempt(name, what):
    if HOST["only"] and name not in HOST["only"]:
        return
    try:
        answer = what()
    except Exception as error:
        print(f"WAY {name}: refused {type(error).__name__} {str(error)[:60]}", flush=True)
    else:
        print(f"WAY {name}: {answer or 'REACHED'}", flush=True)

def tcp(host, port, family=socket.AF_INET):
    def connect():
        with socket.socket(family, socket.SOCK_STREAM) as line:
            line.settimeout(2)
            line.connect((host, port))
    return connect

def datagram(host, port, family=socket.AF_INET, data=QUERY, broadcast=False):
    def send():
        with socket.socket(family, socket.SOCK_DGRAM) as line:
            line.settimeout(0.5)
            if broadcast:
                line.setsockopt(socket.SOL_SOCKET, socket.SO_BROADCAST, 1)
            line.sendto(data, (host, port))
            line.recvfrom(512)
    return send

def unix(*paths):
    def connect():
        error = FileNotFoundError("no path")
        for path in paths:
            for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM):
                try:
                    with socket.socket(socket.AF_UNIX, kind) as line:
                        return line.connect(path)
                except OSError as refused:
                    error = refused
        raise error
    return connect

def opened(family, kind, protocol=0, then=None):
    def make():
        number = LIBC.socket(family, kind, protocol)
        if number < 0:
            raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
        with socket.socket(fileno=number) as line:
            if then is not None:
                line.settimeout(0.5)
                then(line)
    return make

def ping(line):
    line.sendto(b"\x08\0\0\0\0\1\0\1", ("1.1.1.1", 1))
    line.recv(64)

def inherited():
    for name in os.listdir("/proc/self/fd"):
        try:
            if stat.S_ISSOCK(os.fstat(int(name)).st_mode):
                return "REACHED"
        except OSError:
            pass
    raise OSError("no socket was inherited")

def program(*words):
    def start():
        if shutil.which(words[0]) is None:
            return "absent"
        done = subprocess.run(words, capture_output=True, timeout=5)
        if done.returncode:
            raise OSError(f"status {done.returncode}")
    return start

def other_namespace():
    for number in ("1", str(os.getppid())):
        with open(f"/proc/{number}/ns/net") as handle:
            mine = os.stat("/proc/self/ns/net").st_ino
            if os.fstat(handle.fileno()).st_ino != mine:
                if LIBC.setns(handle.fileno(), 0x40000000) == 0:
                    return "REACHED"
    raise OSError("no other network is in sight")

def interfaces():
    others = [name for _, name in socket.if_nameindex() if name != "lo"]
    if others:
        return "REACHED"
    raise OSError("there is loopback alone")

def io_uring():
    if LIBC.syscall(425, 8, ctypes.create_string_buffer(256)) < 0:
        raise OSError(ctypes.get_errno(), "io_uring_setup")

port = HOST["port"]
attempt("host loopback, IPv4", tcp("127.0.0.1", port))
attempt("host loopback, IPv6", tcp("::1", HOST["port6"], socket.AF_INET6))
attempt("host loopback, mapped address", tcp("::ffff:127.0.0.1", port, socket.AF_INET6))
for number, address in enumerate(HOST["addresses"]):
    attempt(f"host address {number + 1}", tcp(address, HOST["anywhere"]))
attempt("host loopback, UDP", datagram("127.0.0.1", HOST["udp"]))
attempt("public IPv4", tcp("1.1.1.1", 443))
attempt("public IPv6", tcp("2606:4700:4700::1111", 443, socket.AF_INET6))
attempt("public UDP", datagram("1.1.1.1", 53))
attempt("broadcast", datagram("255.255.255.255", 9, broadcast=True))
attempt("multicast", datagram("224.0.0.251", 5353))
attempt("name lookup", lambda: socket.getaddrinfo("example.org", 80) and None)
attempt("DNS by TCP", tcp("9.9.9.9", 53))
attempt("metadata address", tcp("169.254.169.254", 80))
attempt("metadata address, IPv6", tcp("fd00:ec2::254", 80, socket.AF_INET6))
attempt("container gateway", tcp("172.17.0.1", 80))
attempt("abstract Unix socket", unix("\0" + HOST["abstract"]))
attempt("Unix socket of the host", unix(HOST["path"]))
attempt("docker", unix("/var/run/docker.sock", "/run/docker.sock", "/run/containerd/containerd.sock"))
attempt("D-Bus", unix("/run/dbus/system_bus_socket", "/run/user/0/bus", "/run/systemd/private"))
attempt("X11", unix("/tmp/.X11-unix/X0", "\0/tmp/.X11-unix/X0"))
attempt("netlink", opened(16, 3))
attempt("raw IPv4", opened(2, 3, 1))
attempt("raw IPv6", opened(10, 3, 58))
attempt("packet", opened(17, 3, 768))
attempt("vsock", opened(40, 1))
attempt("kernel crypto", opened(38, 5))
attempt("Bluetooth", opened(31, 3))
attempt("XDP", opened(44, 3))
attempt("SCTP", opened(2, 1, 132, lambda line: line.connect(("1.1.1.1", 80))))
attempt("ICMP ping socket", opened(2, 2, 1, ping))
attempt("io_uring", io_uring)
attempt("inherited socket", inherited)
attempt("another network namespace", other_namespace)
attempt("interfaces", interfaces)
attempt("curl", program("curl", "-sS", "-m", "2", f"http://127.0.0.1:{port}/"))
attempt("wget", program("wget", "-q", "-T", "2", "-t", "1", "-O", "-", f"http://127.0.0.1:{port}/"))
attempt("bash", program("bash", "-c", f"exec 3<>/dev/tcp/127.0.0.1/{port}"))
attempt("perl", program("perl", "-MIO::Socket", "-e",
        f"IO::Socket::INET->new(PeerAddr=>'127.0.0.1:{port}') or exit 1"))
"""


@dataclass
class Host:
    """What listens outside, and who has come."""

    told: dict[str, object]
    _listening: list[socket.socket] = field(default_factory=list)

    def script(self, *only: str) -> str:
        """Return the probe for this host: all ways, or those of these names."""
        return PROBE.replace("@HOST@", repr(json.dumps({**self.told, "only": only})))

    def tree(self) -> Tree:
        """Return an artifact that runs the probe when it is imported."""
        return {**FIXTURE, "solution.py": file_of(WRONG + self.script())}

    def visitors(self) -> int:
        """Return how many connections and datagrams have come."""
        found = 0
        for listener in self._listening:
            with suppress(BlockingIOError):
                if listener.type == socket.SOCK_DGRAM:
                    listener.recvfrom(512)
                else:
                    listener.accept()[0].close()
                found += 1
        return found

    def visit(self) -> int:
        """Reach each listener from outside any box, as a box must not; return how many came."""
        told = self.told
        for address, port in (("127.0.0.1", told["port"]), ("127.0.0.1", told["anywhere"])):
            socket.create_connection((str(address), int(str(port))), 2).close()
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as line:
            line.sendto(b"x", ("127.0.0.1", int(str(told["udp"]))))
        for path in (f"\0{told['abstract']}", str(told["path"])):
            with socket.socket(socket.AF_UNIX) as line:
                line.connect(path)
        if told["port6"]:
            socket.create_connection(("::1", int(str(told["port6"]))), 2).close()
        return self.visitors()


def _addresses() -> list[str]:
    """Return this machine's own addresses beside loopback."""
    found = set()
    with suppress(OSError), socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as line:
        line.connect(("192.0.2.1", 9))  # sends nothing
        found.add(line.getsockname()[0])
    with suppress(OSError):
        found |= set(socket.gethostbyname_ex(socket.gethostname())[2])
    return sorted(address for address in found if not address.startswith("127."))


@contextmanager
def host(folder: Path, mark: str) -> Iterator[Host]:
    """Listen on every kind of address, with a Unix socket in `folder`."""
    with ExitStack() as stack:

        def listening(
            family: int, address: object, kind: int = socket.SOCK_STREAM
        ) -> socket.socket:
            line = stack.enter_context(socket.socket(family, kind))
            line.setblocking(False)
            line.bind(address)
            if kind == socket.SOCK_STREAM:
                line.listen(64)
            return line

        four = listening(socket.AF_INET, ("127.0.0.1", 0))
        anywhere = listening(socket.AF_INET, ("0.0.0.0", 0))
        udp = listening(socket.AF_INET, ("127.0.0.1", 0), socket.SOCK_DGRAM)
        abstract = listening(socket.AF_UNIX, f"\0{mark}")
        path = folder / f"{mark}.socket"
        named = listening(socket.AF_UNIX, str(path))
        path.chmod(0o777)
        lines = [four, anywhere, udp, abstract, named]
        six = None
        with suppress(OSError):
            six = listening(socket.AF_INET6, ("::1", 0))
            lines.append(six)
        told = {
            "port": four.getsockname()[1],
            "port6": six.getsockname()[1] if six is not None else 0,
            "anywhere": anywhere.getsockname()[1],
            "udp": udp.getsockname()[1],
            "abstract": mark,
            "path": str(path),
            "addresses": _addresses(),
        }
        yield Host(told, lines)


def ways_in(text: str) -> dict[str, str]:
    """Return way -> what came of it, from what the probe printed."""
    found = {}
    for line in text.splitlines():
        if line.startswith("WAY "):
            name, _, answer = line[4:].partition(": ")
            found[name] = answer
    return found


def tried(place: str, environment: Path, outside: Host) -> dict[str, str]:
    """Try all ways from an agent's box, or from the box in which a candidate is graded."""
    if place == "agent":
        with work_folder() as work:
            box = agents_box(work, environment, GRADE_SECONDS)
            return ways_in(run(box, [box.python, "-c", outside.script()]).output.decode())
    with arena(place, environment) as grader:
        return ways_in(grader.grade(outside.tree()).log)
