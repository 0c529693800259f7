def best_so_far(scores):
    best = 0
    result = []
    for score in scores:
        if score > best:
            best = score
        result.append(best)
    return result
