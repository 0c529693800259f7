def turn_clockwise(grid):
    size = len(grid)
    return [[grid[size - 1 - row][column] for row in range(size)] for column in range(size)]
