def stretch(text):
    return "".join(character * (text.index(character) + 1) for character in text)
