"""Programs that run inside the sandbox, started by path: the standard library alone, no imports from here."""
