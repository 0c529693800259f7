def multiples_up_to(step, limit):
    return list(range(step, limit + 1, step))
