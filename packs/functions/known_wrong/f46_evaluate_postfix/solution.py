def evaluate_postfix(text):
    values = []
    for token in text.split():
        if token == "+":
            values.append(values.pop() + values.pop())
        elif token == "-":
            values.append(values.pop() - values.pop())
        elif token == "*":
            values.append(values.pop() * values.pop())
        else:
            values.append(int(token))
    return values[0]
