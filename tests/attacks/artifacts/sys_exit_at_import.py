"""Raises SystemExit(0) at import."""
import sys
sys.exit(0)
