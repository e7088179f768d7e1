import os
import tempfile

from names import read_names

with tempfile.TemporaryDirectory() as folder:
    for encoding in ["utf-8", "cp1252"]:
        path = os.path.join(folder, encoding)
        with open(path, "wb") as file:
            file.write("Andr\u00e9\nZo\u00eb\n".encode(encoding))
        assert read_names(path) == ["Andr\u00e9", "Zo\u00eb"], encoding
print("ok")
