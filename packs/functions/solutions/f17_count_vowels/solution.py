def count_vowels(text):
    return sum(character in "aeiouAEIOU" for character in text)
