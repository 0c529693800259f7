def join_with_dash(words):
    result = words[0]
    for word in words[1:]:
        result += "-" + word
    return result
