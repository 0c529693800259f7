def evaluate_postfix(text):
    values = []
    for token in text.split():
        if token not in ("+", "-", "*"):
            values.append(int(token))
            continue
        right = values.pop()
        left = values.pop()
        if token == "+":
            values.append(left + right)
        elif token == "-":
            values.append(left - right)
        else:
            values.append(left * right)
    return values[0]
