def wrap_text(text, width):
    import textwrap

    return textwrap.wrap(text, width)
