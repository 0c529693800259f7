"""Rank coding agents under frozen controls."""

__version__ = "0.1.0"
