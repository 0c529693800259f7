def reads_same_backwards(text):
    cleaned = "".join(character for character in text.lower() if character.isalnum())
    return cleaned == cleaned[::-1]
