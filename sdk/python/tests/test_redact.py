"""The most common credentials are taken out, and ordinary text is left."""

from __future__ import annotations

import time
import unittest

from capsid_client.redact import REDACTED, redact, redact_text

KEY = "k3Jx9QpL2mZr7TbV5nHs8YdF"


class Redaction(unittest.TestCase):
    def test_common_credentials_are_redacted(self) -> None:
        secrets = [
            "AKIA" + "ABCDEFGH12345678",
            "ghp_" + "a1B2" * 9,
            "github_pat_" + KEY,
            "glpat-" + KEY,
            "sk-ant-" + KEY,
            "sk-proj-" + KEY,
            "sk_live_" + KEY,
            "npm_" + "a1B2" * 9,
            "pypi-" + KEY * 2,
            "xoxb-123456789012-" + KEY,
            "AIza" + (KEY * 2)[:35],
            "hf_" + KEY + "abcdefgh",
            "sess_" + "0a1b2c3d" * 8,
            "ek_" + "0a1b2c3d" * 6,
            "secret_" + (KEY * 2)[:43],
            "nfp_" + (KEY * 2)[:36],
            "whsec_" + KEY * 2,
            "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJhZGEifQ.c2lnbmF0dXJl",
        ]
        for secret in secrets:
            for text in (f"use {secret} now", f'{{"t": "{secret}"}}', f"x={secret}\n"):
                self.assertNotIn(secret, redact_text(text), text)
        for text, gone in [
            ("postgres://ada:hunter22@db/shop", "hunter22"),
            (f"Authorization: Bearer {KEY}", KEY),
            (f'"authorization": "Basic {KEY}"', KEY),
            (f"curl -H 'X: Bearer {KEY}'", KEY),
            ("DB_PASSWORD=hunter22", "hunter22"),
            ('"password": "correct-horse"', "correct-horse"),
            (f"api_key: {KEY}", KEY),
            (f"export GITHUB_TOKEN={KEY}", KEY),
            ("A2A_NODE_SECRET=" + "0a1b2c3d" * 8, "0a1b2c3d"),
            ('{"node_secret": "' + "0a1b2c3d" * 8 + '"}', "0a1b2c3d"),
            (f"-----BEGIN RSA PRIVATE KEY-----\n{KEY}\n-----END RSA PRIVATE KEY-----", KEY),
            (f"-----BEGIN PRIVATE KEY-----\n{KEY}", KEY),
        ]:
            self.assertNotIn(gone, redact_text(text), text)
        self.assertEqual(redact({"node_secret": "tea", "a": [{"api_key": KEY}]})["node_secret"], REDACTED)

    def test_ordinary_text_stays(self) -> None:
        for text in [
            "Fix timeout with retry",
            "password: required",
            "the token: expired",
            "max_tokens = 4096",
            "secret = os.environ['SECRET']",
            "password=$DB_PASSWORD",
            "token: <your token here>",
            "https://example.org/path?x=1",
            "sha256:1c378f08f5cf0f2ad82f3f8a695aec9610137b5708dbff31d38fe2fe29176919",
            "bearer of good news",
            "task-force and risk-free",
            "sess_1770477654236 ended",
            "ek_name and a secret_rotation_of_all_keys",
            "node_secret_version: 3",
        ]:
            self.assertEqual(redact_text(text), text)
        self.assertEqual(redact({"n": 1, "t": True, "x": None, "l": (1, 2)}), {"n": 1, "t": True, "x": None, "l": [1, 2]})

    def test_long_texts_are_redacted_quickly(self) -> None:
        start = time.monotonic()
        for part in ("-----BEGIN PRIVATE KEY-----", "a://b:", "password=", "eyJaaaaaaaa.eyJ", "bearer ", "x" * 9):
            redact_text(part * (200_000 // len(part)))
        self.assertLess(time.monotonic() - start, 20)


if __name__ == "__main__":
    unittest.main()
