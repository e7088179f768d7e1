from money import round_cents


def price(net, tax):
    return round_cents(net * (1 + tax))
