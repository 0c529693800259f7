"""The process goes on in a child; the one that is waited for ends with status 0."""
import os, time
if os.fork():
    os._exit(0)
time.sleep(0.2)
