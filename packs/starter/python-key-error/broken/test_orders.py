from orders import total

assert total({"items": [{"price": 3, "quantity": 2}]}) == 6
assert total({"items": [{"price": 3, "quantity": 2}, {"price": 4}]}) == 10
print("ok")
