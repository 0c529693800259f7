def count_words(text):
    return text.count(" ") + 1
