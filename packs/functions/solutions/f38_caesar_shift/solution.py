def caesar_shift(text, shift):
    result = ""
    for character in text:
        if "a" <= character <= "z":
            first = ord("a")
        elif "A" <= character <= "Z":
            first = ord("A")
        else:
            result += character
            continue
        result += chr(first + (ord(character) - first + shift) % 26)
    return result
