from tags import with_tag

assert with_tag("a") == ["a"]
assert with_tag("b") == ["b"], "the default list holds the tags of an earlier call"
print("ok")
