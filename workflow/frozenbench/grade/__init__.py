"""The grader's half of a cell: the tree that is graded, the evidence of green, the verdict."""
