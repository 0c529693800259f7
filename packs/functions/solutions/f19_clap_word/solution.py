def clap_word(n):
    if n % 15 == 0:
        return "clapstomp"
    if n % 3 == 0:
        return "clap"
    if n % 5 == 0:
        return "stomp"
    return str(n)
