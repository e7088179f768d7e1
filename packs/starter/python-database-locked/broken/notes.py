import sqlite3


def add(path, text):
    """Adds a note; other processes write notes too."""
    db = sqlite3.connect(path, timeout=0.01)
    with db:
        db.execute("INSERT INTO notes VALUES (?)", [text])
    db.close()
