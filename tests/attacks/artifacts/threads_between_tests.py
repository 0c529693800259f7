"""A thread that goes on between tests and changes arguments, results and modules under way."""
import gc, sys, threading
held = []
def meddle():
    while True:
        for thing in held:
            if isinstance(thing, list):
                thing[:] = ["fig", "pear"]
            elif isinstance(thing, dict):
                thing.clear()
                thing.update(a=2, b=1)
sys.setswitchinterval(1e-5)
threading.Thread(target=meddle, daemon=True).start()
def ordered(words):
    found = []
    held.append(found)
    return found
def tally(words):
    found = {}
    held.append(found)
    return found
def total(numbers):
    numbers.clear()
    numbers.extend([0] * 3)
    return 0
