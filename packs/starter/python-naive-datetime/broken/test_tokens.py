from tokens import is_expired

assert is_expired({"expires_at": "2020-01-01T00:00:00+00:00"})
assert not is_expired({"expires_at": "2999-01-01T00:00:00+02:00"})
print("ok")
