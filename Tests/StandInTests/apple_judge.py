"""Asks the stand-in for the statuses of customers with Apple's own library, as often as it is told to: one process for a whole test.

Listens on a port of its own, which it prints. A POST has a JSON list of transaction ids; the answer is a list of what Apple's library
read for each: the subscriptions of that customer, every signature verified.
"""

import http.server
import json
import sys

from appstoreserverlibrary.api_client import AppStoreServerAPIClient
from appstoreserverlibrary.models.Environment import Environment
from appstoreserverlibrary.signed_data_verifier import SignedDataVerifier

given = json.loads(sys.argv[1])
url, bundle = given["url"], given["bundleId"]
key = open(given["privateKeyFile"], "rb").read()
root = open(given["rootFile"], "rb").read()


class Client(AppStoreServerAPIClient):
    def __init__(self):
        super().__init__(key, given["keyId"], given["issuerId"], bundle, Environment.PRODUCTION)
        self._base_url = f"{url}/production"


client = Client()
verifier = SignedDataVerifier([root], False, Environment.PRODUCTION, bundle, given["appAppleId"])


def lines(transaction):
    """The subscriptions of the customer of a transaction."""
    read = []
    for group in client.get_all_subscription_statuses(transaction).data:
        for line in group.lastTransactions:
            period = verifier.verify_and_decode_signed_transaction(line.signedTransactionInfo)
            renewal = verifier.verify_and_decode_renewal_info(line.signedRenewalInfo)
            assert period.originalTransactionId == renewal.originalTransactionId == line.originalTransactionId
            read.append(
                {
                    "originalTransactionId": line.originalTransactionId, "status": line.status.value,
                    "productId": period.productId, "purchaseDate": period.purchaseDate, "expiresDate": period.expiresDate,
                    "revoked": period.revocationDate is not None, "autoRenew": renewal.autoRenewStatus.value,
                }
            )
    return read


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        body = json.dumps({"list": [lines(one) for one in asked]}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


server = http.server.HTTPServer(("127.0.0.1", 0), Handler)
print(server.server_port, flush=True)
server.serve_forever()
