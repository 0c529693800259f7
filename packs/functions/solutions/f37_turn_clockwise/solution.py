def turn_clockwise(grid):
    return [list(column) for column in zip(*reversed(grid))]
