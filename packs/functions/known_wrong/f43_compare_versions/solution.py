def compare_versions(left, right):
    a = [int(part) for part in left.split(".")]
    b = [int(part) for part in right.split(".")]
    if a < b:
        return -1
    if a > b:
        return 1
    return 0
