def clap_word(n):
    if n % 3 == 0:
        return "clap"
    elif n % 5 == 0:
        return "stomp"
    elif n % 3 == 0 and n % 5 == 0:
        return "clapstomp"
    return str(n)
