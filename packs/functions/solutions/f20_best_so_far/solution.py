def best_so_far(scores):
    result = []
    for score in scores:
        result.append(max(score, result[-1]) if result else score)
    return result
