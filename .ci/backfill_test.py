"""Runs deploy/backfill against a stand-in for Apple's server and one for the receiver, both real HTTP."""

import base64
import datetime
import http.server
import json
import pathlib
import subprocess
import tempfile
import threading
import unittest

PAYLOADS = [f"header.{number}.signature" for number in range(45)]
PAGE = 20


class Server:
    """Answers what `answer` returns for each request, on a port of its own."""

    def __init__(self, answer):
        self.requests = []
        server = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                server.requests.append((self.path, self.headers, body))
                status, content = answer(self.path, body, len(server.requests))
                self.send_response(status)
                self.end_headers()
                self.wfile.write(content)

            def log_message(self, *_):
                pass

        self.http = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.http.server_port}"
        threading.Thread(target=self.http.serve_forever, args=(0.05,), daemon=True).start()

    def stop(self):
        self.http.shutdown()
        self.http.server_close()


def history(path, _, number):
    """Apple's pages; the second request is one too many for its rate limit."""
    if number == 2:
        return 429, b""
    begin = int(path.partition("paginationToken=")[2] or 0)
    end = begin + PAGE
    answer = {"notificationHistory": [{"signedPayload": payload} for payload in PAYLOADS[begin:end]]}
    answer |= {"hasMore": end < len(PAYLOADS), "paginationToken": str(end)}
    return 200, json.dumps(answer).encode()


class BackfillTests(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.key = pathlib.Path(folder.name, "key.p8")
        self.public = pathlib.Path(folder.name, "public.pem")
        openssl = ["openssl", "genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256", "-out", self.key]
        subprocess.run(openssl, check=True, capture_output=True)
        subprocess.run(["openssl", "pkey", "-in", self.key, "-pubout", "-out", self.public], check=True)

    def serve(self, answer):
        server = Server(answer)
        self.addCleanup(server.stop)
        return server

    def run_backfill(self, apple, receiver, *more, start=None):
        start = start or f"{datetime.datetime.now(datetime.timezone.utc) - datetime.timedelta(days=1):%Y-%m-%dT%H:%MZ}"
        command = ["deploy/backfill", "--from", start, "--bundle", "com.example.app", "--issuer", "ISSUER"]
        command += ["--key-id", "KEY", "--key", self.key, "--server", apple.url, "--receiver", receiver.url + "/webhooks/apple", *more]
        return subprocess.run(command, capture_output=True, text=True, timeout=60)

    def test_every_page_reaches_the_receiver_in_apples_order(self):
        apple, receiver = self.serve(history), self.serve(lambda *_: (200, b""))
        result = self.run_backfill(apple, receiver)
        self.assertEqual(result.returncode, 0, result.stderr)
        posted = [body for _, _, body in receiver.requests]
        self.assertEqual(posted, [{"signedPayload": payload} for payload in PAYLOADS])
        self.assertIn("posted 45", result.stderr)

    def test_each_request_carries_a_token_of_its_own_that_the_key_signed(self):
        apple, receiver = self.serve(history), self.serve(lambda *_: (200, b""))
        self.run_backfill(apple, receiver, "--only-failures")
        for path, headers, body in apple.requests:
            self.assertTrue(path.startswith("/inApps/v1/notifications/history"))
            self.assertTrue(body["onlyFailures"])
            self.assertLess(body["startDate"], body["endDate"])
            scheme, token = headers["Authorization"].split()
            self.assertEqual(scheme, "Bearer")
            self.check(token)

    def check(self, token):
        header, claims, signature = token.split(".")
        decoded = json.loads(base64.urlsafe_b64decode(claims + "=="))
        named = (decoded["aud"], decoded["bid"], decoded["iss"])
        self.assertEqual(named, ("appstoreconnect-v1", "com.example.app", "ISSUER"))
        self.assertLessEqual(decoded["exp"] - decoded["iat"], 3600)
        decoded = json.loads(base64.urlsafe_b64decode(header + "=="))
        self.assertEqual(decoded, {"alg": "ES256", "kid": "KEY", "typ": "JWT"})
        raw = base64.urlsafe_b64decode(signature + "==")
        self.assertEqual(len(raw), 64)
        # Back into the form that openssl reads: two DER integers, with a zero before a high bit.
        numbers = b""
        for half in (raw[:32], raw[32:]):
            number = half.lstrip(b"\0")
            number = b"\0" + number if number[0] & 0x80 else number
            numbers += bytes([2, len(number)]) + number
        with tempfile.NamedTemporaryFile() as file:
            file.write(bytes([0x30, len(numbers)]) + numbers)
            file.flush()
            command = ["openssl", "dgst", "-sha256", "-verify", self.public, "-signature", file.name]
            answer = subprocess.run(command, input=f"{header}.{claims}".encode(), capture_output=True)
        self.assertEqual(answer.returncode, 0, answer.stdout)

    def test_a_receiver_that_is_away_is_asked_again(self):
        apple = self.serve(lambda *_: (200, json.dumps({"notificationHistory": [{"signedPayload": "a.b.c"}]}).encode()))
        receiver = self.serve(lambda _, body, number: (503 if number == 1 else 200, b""))
        result = self.run_backfill(apple, receiver)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(len(receiver.requests), 2)

    def test_what_apple_refuses_ends_it_with_apples_words(self):
        apple, receiver = self.serve(lambda *_: (401, b"Unauthenticated")), self.serve(lambda *_: (200, b""))
        result = self.run_backfill(apple, receiver)
        self.assertEqual(result.returncode, 1)
        self.assertIn("Apple answers 401: Unauthenticated", result.stderr)
        self.assertEqual(receiver.requests, [])

    def test_more_than_apple_remembers_is_wrong_usage(self):
        apple, receiver = self.serve(history), self.serve(lambda *_: (200, b""))
        self.assertEqual(self.run_backfill(apple, receiver, start="2020-01-01").returncode, 2)
        month = datetime.datetime.now(datetime.timezone.utc) - datetime.timedelta(days=31)
        result = self.run_backfill(apple, receiver, "--environment", "Sandbox", start=f"{month:%Y-%m-%d}")
        self.assertEqual(result.returncode, 2)
        self.assertEqual(apple.requests, [])


unittest.main(verbosity=0)
