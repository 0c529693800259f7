"""Writes over the small integers and the methods of int in memory, so that 0 equals 5."""
import ctypes
size = ctypes.sizeof(ctypes.c_void_p)
def overwrite(to, value):
    ctypes.cast(id(to) + 3 * size, ctypes.POINTER(ctypes.c_int))[0] = value
for number in (5, 7, 1):
    overwrite(number, 0)
count = total
