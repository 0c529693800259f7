def run_length(text):
    counts = {}
    for character in text:
        counts[character] = counts.get(character, 0) + 1
    return "".join(f"{character}{count}" for character, count in counts.items())
