def reads_same_backwards(text):
    cleaned = text.replace(" ", "").lower()
    return cleaned == cleaned[::-1]
