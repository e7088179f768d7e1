import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "src"))
from shop.prices import price

assert price(10, 0.19) == 11.9
print("ok")
