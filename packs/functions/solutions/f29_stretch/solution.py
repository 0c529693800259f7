def stretch(text):
    return "".join(character * place for place, character in enumerate(text, start=1))
