def shout(text):
    loud = text.upper()
    return loud if loud.endswith("!") else loud + "!"
