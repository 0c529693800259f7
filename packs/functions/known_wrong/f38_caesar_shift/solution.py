def caesar_shift(text, shift):
    result = ""
    for character in text:
        if character.isalpha():
            result += chr(ord(character) + shift)
        else:
            result += character
    return result
