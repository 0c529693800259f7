def triangle_kind(a, b, c):
    kinds = {1: "equilateral", 2: "isosceles", 3: "scalene"}
    return kinds[len({a, b, c})]
