def spiral_order(grid):
    rows = [list(row) for row in grid]
    order = []
    while rows:
        order.extend(rows.pop(0))
        # What is left, turned counterclockwise: the next side lies on top.
        rows = [list(column) for column in zip(*rows)][::-1]
    return order
