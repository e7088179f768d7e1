def read_names(path):
    """The names of a file, one a line."""
    with open(path, encoding="utf-8") as file:
        return file.read().splitlines()
