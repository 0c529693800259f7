def reverse_text(text):
    return text[::-1]
