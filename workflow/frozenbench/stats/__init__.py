"""Statistics of PROTOCOL 8: exact tests, Holm, intervals, resamples, ranks, flips and power.

Every module here takes numbers and gives numbers; `frozenbench.contrast` reads and writes files.
"""
