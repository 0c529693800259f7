def triangle_kind(a, b, c):
    if a == b and b == c:
        return "equilateral"
    if a == b or b == c:
        return "isosceles"
    return "scalene"
