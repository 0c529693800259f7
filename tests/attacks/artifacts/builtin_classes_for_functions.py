"""Builtin classes in the places of functions: what they give is made where they are called."""
from right import *
positive, shout, count = float, str, complex
total, ordered, tally = SystemExit, KeyboardInterrupt, type
