"""Verifies signed bodies with the public package standardwebhooks: a list of them as JSON, one word each is the answer."""
import json
import sys

from standardwebhooks.webhooks import Webhook, WebhookVerificationError


def word(given):
    try:
        value = Webhook(given["secret"]).verify(given["body"], given["headers"])
        assert value == json.loads(given["body"])
        return "verified"
    except WebhookVerificationError:
        return "refused"


print(" ".join(word(given) for given in json.loads(sys.argv[1])))
