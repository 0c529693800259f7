def without_spaces(text):
    return text.replace(" ", "")
