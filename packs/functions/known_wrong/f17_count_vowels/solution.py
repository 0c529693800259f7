def count_vowels(text):
    count = 0
    for character in text:
        if character in "aeiou":
            count += 1
    return count
