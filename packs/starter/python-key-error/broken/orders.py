def total(order):
    """What an order costs, as the shop's API describes it."""
    return sum(item["price"] * item["quantity"] for item in order["items"])
