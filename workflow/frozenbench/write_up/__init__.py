"""What a write-up includes: tables, one macro for each number, the controls, and references.

Pure functions from the tables and sheets of a view to text; `frozenbench.write_tables` reads and
writes the files. Nothing is computed here: a number in a text is the number in a table.
"""
