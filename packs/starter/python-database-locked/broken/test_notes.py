import os
import sqlite3
import tempfile
import threading

from notes import add

with tempfile.TemporaryDirectory() as folder:
    path = os.path.join(folder, "notes.db")
    other = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    other.execute("CREATE TABLE notes (text)")
    other.execute("BEGIN IMMEDIATE")
    threading.Timer(0.3, other.execute, ["COMMIT"]).start()
    add(path, "buy milk")
    assert other.execute("SELECT count(*) FROM notes").fetchone() == (1,)
print("ok")
