"""What a process behind walls sees, and what it cannot reach."""

from __future__ import annotations

import json
import os
import socket
from pathlib import Path

import pytest
from conftest import MakeBox
from frozenbench.canonical import BadInput
from frozenbench.sandbox import Mount, measure, run, work_folder
from inside import python, said

REFUSED = """
import socket, sys
def attempt(name, what):
    try:
        what()
    except OSError as error:
        print(name, "refused", type(error).__name__)
    else:
        print(name, "REACHED")
"""


def test_host_network_is_out_of_reach(walled: MakeBox, work: Path) -> None:
    with (
        socket.create_server(("127.0.0.1", 0)) as four,
        socket.create_server(("127.0.0.1", 0)) as datagrams,
        socket.socket(socket.AF_UNIX) as abstract,
        work_folder() as outside,
        socket.socket(socket.AF_UNIX) as named,
    ):
        abstract.bind(f"\0frozenbench-{os.getpid()}")
        abstract.listen()
        path = outside / "socket"
        named.bind(str(path))
        named.listen()
        port = four.getsockname()[1]
        socket.create_connection(("127.0.0.1", port), 2).close()  # reached from here
        code = (
            REFUSED
            + f"""
tcp = lambda host, port: lambda: socket.create_connection((host, port), 2)
def unix(path):
    def connect():
        socket.socket(socket.AF_UNIX).connect(path)
    return connect
attempt("loopback", tcp("127.0.0.1", {port}))
attempt("loopback6", tcp("::1", {port}))
attempt("metadata", tcp("169.254.169.254", 80))
attempt("public", tcp("192.0.2.1", 80))
attempt("public6", tcp("2001:db8::1", 80))
attempt("name", lambda: socket.getaddrinfo("example.org", 80))
attempt("dns", lambda: socket.socket(2, 2).sendto(b"x", ("192.0.2.53", 53)))
attempt("abstract", unix("\\0frozenbench-{os.getpid()}"))
attempt("named", unix("{path}"))
attempt("raw", lambda: socket.socket(2, socket.SOCK_RAW, 1))
attempt("packet", lambda: socket.socket(17, socket.SOCK_RAW))
"""
        )
        lines = said(python(walled(), code)).splitlines()
        assert len(lines) == 11
        assert not [line for line in lines if "refused" not in line]
        assert datagrams.getsockname()[1] != port


def test_own_loopback_works(walled: MakeBox) -> None:
    code = """
import socket
with socket.create_server(("127.0.0.1", 0)) as server:
    with socket.create_connection(server.getsockname()) as client:
        server.accept()[0].sendall(b"hello")
        print(client.recv(5))
"""
    assert said(python(walled(), code)) == "b'hello'\n"


def test_only_the_work_folder_keeps_what_is_written(walled: MakeBox, work: Path) -> None:
    code = """
import os
def writable(folder):
    path = folder + "/written"
    try:
        open(path, "w").close()
        return True
    except OSError:
        return False
tried = ["/", "/usr", "/usr/lib", "/opt", "/opt/env", "/opt/env/lib", "/opt/python/bin", "/etc",
         "/dev", "/home", "/proc", "/bin", "/work", "/tmp", "/home/agent", "/dev/shm"]
print(*[folder for folder in tried if writable(folder)])
"""
    assert said(python(walled(), code)).split() == ["/work", "/tmp", "/home/agent", "/dev/shm"]
    assert [path.name for path in work.iterdir()] == ["written"]


def test_scratch_folders_are_small(walled: MakeBox) -> None:
    code = """
import os
for folder in ("/tmp", "/home/agent", "/dev/shm"):
    size = 0
    try:
        with open(folder + "/fill", "wb", 0) as file:
            while size < 200 << 20:
                size += file.write(bytes(1 << 20))
    except OSError:
        pass
    print(size <= 64 << 20)
"""
    assert said(python(walled(limits={"file_bytes": 1 << 30}), code)).split() == ["True"] * 3


def test_scratch_folders_hold_few_files(walled: MakeBox) -> None:
    if not measure().sized_work:
        pytest.skip("here bubblewrap makes them, which knows no such limit")
    code = """
import os
for folder in ("/tmp", "/home/agent", "/dev/shm"):
    made = 0
    try:
        while made < 30_000:
            os.close(os.open(f"{folder}/{made}", os.O_CREAT))
            made += 1
    except OSError as error:
        print(made < 20_000, error.strerror)
"""
    assert (
        said(python(walled(seconds=60), code)).splitlines() == ["True No space left on device"] * 3
    )


def test_host_files_are_invisible(walled: MakeBox, work: Path) -> None:
    (work / "mine").write_text("seen")
    repository = Path(__file__).resolve().parents[2]
    hidden = ["/root", "/var", "/mnt", "/srv", "/boot", "/run", "/sys", "/etc/passwd"]
    hidden += ["/etc/hostname", str(repository), str(Path.home()), str(work), str(work.parent)]
    code = """
import os, sys
print([path for path in sys.argv[1:] if os.path.exists(path)])
print(os.listdir("/home"), os.listdir("/home/agent"), os.listdir("/tmp"), os.listdir("/work"))
print(sorted(os.listdir("/opt")), os.uname().nodename)
"""
    seen, folders, rest = said(python(walled(), code, *hidden)).splitlines()
    assert seen == "[]"
    assert folders == "['agent'] [] [] ['mine']"
    assert rest in ("['env', 'python'] cell", "['env'] cell")


def test_environment_is_clean_and_complete(
    walled: MakeBox, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SECRET_KEY", "outside")
    box = walled(variables={"TASK": "t 1=2"})
    code = "import json, os; print(json.dumps(dict(os.environ)))"
    told = json.loads(said(python(box, code)))
    assert told == {
        "PATH": "/opt/env/bin:/usr/bin:/bin",
        "HOME": "/home/agent",
        "LANG": "C.UTF-8",
        "PYTHONHASHSEED": "0",
        "PYTHONDONTWRITEBYTECODE": "1",
        "TASK": "t 1=2",
        "PWD": "/work",
    }


def test_python_starts_without_any_environment_variable(walled: MakeBox) -> None:
    code = "import subprocess, sys; subprocess.run([sys.executable, '-c', 'print(7)'], env={})"
    assert said(python(walled(), code)) == "7\n"


def test_python_is_the_pack_environments(walled: MakeBox) -> None:
    code = (
        "import sys; print(sys.prefix, sys.executable, *[p for p in sys.path if 'packages' in p])"
    )
    box = walled()
    assert box.python == "/opt/env/bin/python"
    prefix, executable, *packages = said(python(box, code)).split()
    assert (prefix, executable) == ("/opt/env", "/opt/env/bin/python")
    assert all(path.startswith("/opt/env/") for path in packages)
    assert said(run(box, ["python", "-c", "print(1)"])) == "1\n"


def test_a_mount_is_seen_only_where_it_is_mounted(walled: MakeBox, tmp_path: Path) -> None:
    (tmp_path / "hidden").mkdir()
    (tmp_path / "hidden" / "test_it.py").write_text("secret = 1")
    (tmp_path / "one.txt").write_text("one")
    code = """
import os
print(os.path.exists("/hidden/test_it.py"), os.path.exists("/deep/er/one.txt"))
found = [os.path.join(root, name) for root, _, names in os.walk("/") for name in names
         if name == "test_it.py" and not root.startswith("/proc")]
print(found)
try:
    open("/hidden/test_it.py", "a")
except OSError as error:
    print("read-only")
"""
    assert said(python(walled(), code)).splitlines()[:2] == ["False False", "[]"]
    mounts = (
        Mount(tmp_path / "hidden", "/hidden"),
        Mount(tmp_path / "one.txt", "/deep/er/one.txt"),
    )
    lines = said(python(walled(mounts=mounts), code)).splitlines()
    assert lines == ["True True", "['/hidden/test_it.py']", "read-only"]


def test_a_changed_source_is_mounted_as_it_is_now(walled: MakeBox, tmp_path: Path) -> None:
    source = tmp_path / "hidden"
    source.mkdir()
    box = walled(mounts=(Mount(source, "/hidden"),))
    for text in ("first", "other"):
        (source / "file").write_text(text)
        assert said(python(box, "print(open('/hidden/file').read())")) == f"{text}\n"


def test_a_writable_mount_can_be_written(walled: MakeBox) -> None:
    with work_folder() as folder:
        box = walled(mounts=(Mount(folder, "/out", writable=True),))
        said(python(box, "open('/out/file', 'w').write('kept')"))
        assert (folder / "file").read_text() == "kept"


def test_a_mounted_socket_is_a_way_out(walled: MakeBox) -> None:
    with work_folder() as folder, socket.socket(socket.AF_UNIX) as server:
        path = folder / "gateway"
        server.bind(str(path))
        path.chmod(0o666)
        server.listen()
        code = "import socket; socket.socket(socket.AF_UNIX).connect('/gateway'); print('through')"
        box = walled(mounts=(Mount(path, "/gateway"),))
        assert said(python(box, code)) == "through\n"


def test_a_missing_mount_is_named(walled: MakeBox, tmp_path: Path) -> None:
    box = walled(mounts=(Mount(tmp_path / "absent", "/hidden"),))
    with pytest.raises(BadInput, match=r"absent.*is not there"):
        python(box, "")


@pytest.mark.parametrize("target", ["relative", "/up/../x", "/trailing/"])
def test_a_mount_target_must_be_plain(walled: MakeBox, work: Path, target: str) -> None:
    with pytest.raises(BadInput, match="plain absolute path"):
        walled(mounts=(Mount(work, target),))


def test_kernel_settings_are_not_writable(walled: MakeBox) -> None:
    code = """
import os
opened = 0
for root, _, names in os.walk("/proc/sys"):
    for name in names:
        try:
            os.close(os.open(os.path.join(root, name), os.O_WRONLY))
            opened += 1
        except OSError:
            pass
print(opened)
"""
    assert said(python(walled(), code)) == "0\n"


def test_no_privilege_and_none_to_be_had(walled: MakeBox) -> None:
    code = """
import os
status = dict(line.split(":", 1) for line in open("/proc/self/status"))
print(os.getuid(), os.getgid(), int(status["CapEff"], 16), int(status["CapBnd"], 16))
print(status["NoNewPrivs"].strip(), os.system("unshare --user true 2>/dev/null") != 0)
"""
    assert said(python(walled(), code)).splitlines() == ["1000 1000 0 0", "1 True"]


def test_other_processes_are_invisible(walled: MakeBox) -> None:
    code = "import os; print(max(int(name) for name in os.listdir('/proc') if name.isdigit()) < 50)"
    assert said(python(walled(), code)) == "True\n"


def test_filter_refuses_what_namespaces_leave_open(walled: MakeBox) -> None:
    code = """
import ctypes, errno, socket
libc = ctypes.CDLL(None, use_errno=True)
for family in (16, 40, 17, 38, 31):
    for call in (libc.socket, lambda f, t, p: libc.socketpair(f, t, p, (ctypes.c_int * 2)())):
        assert call(family, 1, 0) == -1, family
        print(errno.errorcode[ctypes.get_errno()])
print(libc.ptrace(0, 0, 0, 0), errno.errorcode[ctypes.get_errno()])
print(libc.syscall(425, 1, ctypes.create_string_buffer(256)), errno.errorcode[ctypes.get_errno()])
for family in (socket.AF_UNIX, socket.AF_INET, socket.AF_INET6):
    socket.socket(family).close()
socket.socketpair()
"""
    lines = said(python(walled(), code)).splitlines()
    assert lines == ["EAFNOSUPPORT"] * 10 + ["-1 EPERM", "-1 ENOSYS"]


def test_the_boxed_user_owns_what_the_adapter_wrote(walled: MakeBox, work: Path) -> None:
    box = walled()
    said(python(box, "import os; os.mkdir('folder')"))
    (work / "folder" / "proposal.py").write_text("x = 1\n")
    code = "open('folder/proposal.py', 'a').write('y = 2\\n'); import os; os.remove('link')"
    (work / "link").symlink_to("/etc/hostname")
    before = Path("/etc/hostname").stat().st_uid
    said(python(box, code))
    assert (work / "folder" / "proposal.py").read_text() == "x = 1\ny = 2\n"
    assert Path("/etc/hostname").stat().st_uid == before


@pytest.mark.parametrize(("network", "reached"), [("blocked", False), ("open", True)])
def test_only_an_open_network_reaches_the_host(
    walled: MakeBox, network: str, reached: bool
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        box = walled(network=network)
        code = f"import socket; socket.create_connection(('127.0.0.1', {port}), 2)"
        ended = run(box, [box.python, "-c", code])
    assert (ended.exit_status == 0) is reached, ended.output
