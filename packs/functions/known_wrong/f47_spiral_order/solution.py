def spiral_order(grid):
    if not grid:
        return []
    order = list(grid[0])
    order += [row[-1] for row in grid[1:]]
    if len(grid) > 1:
        order += grid[-1][-2::-1]
        order += [row[0] for row in grid[-2:0:-1]]
    return order
