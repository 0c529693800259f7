"""The agent's half of a cell: the loop, its meters, its clock and its snapshots."""
