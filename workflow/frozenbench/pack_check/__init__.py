"""Pack checks: whether a pack's graders can tell right from wrong, before any agent runs."""
