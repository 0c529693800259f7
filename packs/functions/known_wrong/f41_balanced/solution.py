def balanced(text):
    return all(
        text.count(opening) == text.count(closing)
        for opening, closing in ("()", "[]", "{}")
    )
