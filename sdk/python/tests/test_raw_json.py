"""Assets byte for byte."""

from __future__ import annotations

import unittest

from capsid_client.raw_json import compute_read_proof, find_asset_texts

BODY = '{"asset_id": "sha256:1",  "n": 1.50, "s":"\\u00e9"}'


class RawJson(unittest.TestCase):
    def test_assets_are_taken_as_they_were_served(self) -> None:
        for answer in (
            f'{{"protocol":"gep-a2a","payload":{{"results":[{BODY}, {BODY}],"count":1}},"x":[1]}}',
            f' {{ "count": 1 , "assets" : [ {BODY} , {{"no":"id"}}, 7 ] }} ',
        ):
            self.assertEqual(find_asset_texts(answer), {"sha256:1": BODY})
        for odd in ("", "[]", "7", "{", '{"payload":7}', '{"results":{}}', '{"results":[', '{"payload":{"results":[{}]}}'):
            self.assertEqual(find_asset_texts(odd), {}, odd)

    def test_the_proof_is_an_hmac(self) -> None:
        expected = "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
        self.assertEqual(compute_read_proof("Jefe", "what do ya want for nothing?"), expected)


if __name__ == "__main__":
    unittest.main()
