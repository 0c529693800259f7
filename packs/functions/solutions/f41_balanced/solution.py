def balanced(text):
    partners = {")": "(", "]": "[", "}": "{"}
    opened = []
    for character in text:
        if character in "([{":
            opened.append(character)
        elif character in partners and (not opened or opened.pop() != partners[character]):
            return False
    return not opened
