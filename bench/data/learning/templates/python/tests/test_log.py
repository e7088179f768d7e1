import unittest

from app.log import format_line


class Tests(unittest.TestCase):
    def test_an_error_line_begins_with_its_level(self):
        print(format_line("ERROR", "disk is full"))
        self.assertEqual(format_line("ERROR", "disk is full"), "ERROR disk is full")

    def test_an_unknown_level_raises_an_error(self):
        with self.assertRaises(ValueError):
            format_line("FATAL", "x")
