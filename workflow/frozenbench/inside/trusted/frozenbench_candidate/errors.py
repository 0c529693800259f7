"""What can go wrong between the tests and the candidate, beside the candidate's own exceptions."""

from __future__ import annotations


class NotPlain(Exception):
    """A value cannot cross, or a question cannot be answered by the candidate's own code."""


class CandidateError(Exception):
    """The candidate raised what no test may see as itself, such as KeyboardInterrupt or a skip."""


class CandidateDied(Exception):
    """The candidate's process is gone, or no longer keeps to the protocol."""


class Malformed(Exception):
    """A line from the candidate's process that says nothing that can be understood."""
