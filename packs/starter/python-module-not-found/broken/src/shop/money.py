def round_cents(amount):
    return round(amount, 2)
