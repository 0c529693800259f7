def letter_counts(text):
    counts = {}
    for character in text.lower():
        if "a" <= character <= "z":
            counts[character] = counts.get(character, 0) + 1
    return counts
