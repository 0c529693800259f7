"""Ends the process with status 0 at import, past all cleaning up."""
import os
os._exit(0)
