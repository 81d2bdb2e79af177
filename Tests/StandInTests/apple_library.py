"""Drives the stand-in for Apple's servers with Apple's own library, through every call, and prints what it read."""

import enum
import json
import sys
import time
import urllib.request

import attrs
from appstoreserverlibrary.api_client import APIException, AppStoreServerAPIClient
from appstoreserverlibrary.models.ConsumptionRequest import ConsumptionRequest
from appstoreserverlibrary.models.DeliveryStatus import DeliveryStatus
from appstoreserverlibrary.models.Environment import Environment
from appstoreserverlibrary.models.ExtendReasonCode import ExtendReasonCode
from appstoreserverlibrary.models.ExtendRenewalDateRequest import ExtendRenewalDateRequest
from appstoreserverlibrary.models.MassExtendRenewalDateRequest import MassExtendRenewalDateRequest
from appstoreserverlibrary.models.NotificationHistoryRequest import NotificationHistoryRequest
from appstoreserverlibrary.models.RefundPreference import RefundPreference
from appstoreserverlibrary.models.TransactionHistoryRequest import TransactionHistoryRequest
from appstoreserverlibrary.models.UpdateAppAccountTokenRequest import UpdateAppAccountTokenRequest
from appstoreserverlibrary.api_client import GetTransactionHistoryVersion
from appstoreserverlibrary.receipt_utility import ReceiptUtility
from appstoreserverlibrary.signed_data_verifier import SignedDataVerifier

given = json.loads(sys.argv[1])
url, bundle = given["url"], given["bundleId"]
key = open(given["privateKeyFile"], "rb").read()
root = open(given["rootFile"], "rb").read()


class Client(AppStoreServerAPIClient):
    def __init__(self, environment, **other):
        terms = {"signing_key": key, "key_id": given["keyId"], "issuer_id": given["issuerId"], "bundle_id": bundle}
        super().__init__(environment=environment, **{**terms, **other})
        # An address for each environment is all that Apple's libraries can be given.
        self._base_url = f"{url}/{environment.value.lower()}"


def shop(path, body):
    request = urllib.request.Request(f"{url}/stand-in/{path}", json.dumps(body).encode(), method="POST")
    with urllib.request.urlopen(request) as answer:
        return json.load(answer)


def refused(code, call):
    try:
        call()
    except APIException as failure:
        assert failure.raw_api_error == code, (failure.http_status_code, failure.raw_api_error, code)
        return
    raise AssertionError(f"not refused with {code}")


def fields(decoded):
    """What the library read in a record, by Apple's names."""
    values = {one.name: getattr(decoded, one.name) for one in attrs.fields(type(decoded)) if one.name[:3] != "raw"}
    return {
        name: value.value if isinstance(value, enum.Enum) else value
        for name, value in values.items()
        if isinstance(value, (str, int, bool, enum.Enum))
    }


sandbox, production = Client(Environment.SANDBOX), Client(Environment.PRODUCTION)
verifier = SignedDataVerifier([root], False, Environment.SANDBOX, bundle, given["appAppleId"])
live = SignedDataVerifier([root], False, Environment.PRODUCTION, bundle, given["appAppleId"])
token = "7f1de78e-0d4e-4c5e-9d3c-000000000001"
plan = "com.example.storehook.premium.monthly"
bought = shop("purchases", {"productId": plan, "customer": "anna", "appAccountToken": token})
coins = shop("purchases", {"productId": "com.example.storehook.coins.100", "customer": "anna"})
sold = shop("purchases", {"productId": plan, "customer": "otto", "environment": "Production"})
original = bought["originalTransactionId"]
read = {"original": original, "coins": coins["transactionId"]}

# What a device holds is signed as Apple signs.
assert verifier.verify_and_decode_signed_transaction(bought["signedTransactionInfo"]).appAccountToken == token
assert verifier.verify_and_decode_renewal_info(bought["signedRenewalInfo"]).autoRenewProductId == plan
assert ReceiptUtility().extract_transaction_id_from_app_receipt(bought["receiptData"]) == bought["transactionId"]


# Receipts of every kind of container and customer: the id that Apple's library asks with.
read["receipts"] = []
for receipt in given["receipts"]:
    read["receipts"].append(ReceiptUtility().extract_transaction_id_from_app_receipt(receipt) or "")
read["transactionReceipts"] = [
    ReceiptUtility().extract_transaction_id_from_transaction_receipt(receipt) or ""
    for receipt in given["transactionReceipts"]
]

info = sandbox.get_transaction_info(original)
assert verifier.verify_and_decode_signed_transaction(info.signedTransactionInfo).transactionId == original
history = sandbox.get_transaction_history(
    original, None, TransactionHistoryRequest(), GetTransactionHistoryVersion.V2)
assert history.bundleId == bundle and history.hasMore is False
read["history"] = [verifier.verify_and_decode_signed_transaction(one).transactionId for one in history.signedTransactions]
statuses = sandbox.get_all_subscription_statuses(original)
line = statuses.data[0].lastTransactions[0]
expires = verifier.verify_and_decode_signed_transaction(line.signedTransactionInfo).expiresDate
download = sandbox.get_app_transaction_info(original)
assert verifier.verify_and_decode_app_transaction(download.signedAppTransactionInfo).bundleId == bundle
sandbox.finish_transaction(original)
sandbox.set_app_account_token(original, UpdateAppAccountTokenRequest(appAccountToken=token))
order = production.look_up_order_id(sold["orderId"])
assert order.status.value == 0
assert live.verify_and_decode_signed_transaction(order.signedTransactions[0]).transactionId == sold["transactionId"]
assert production.look_up_order_id("MNOSUCH").status.value == 1

# Consumption: taken, and judged by Apple's rules.
consented = dict(customerConsented=True, sampleContentProvided=False)
sandbox.send_consumption_information(
    coins["transactionId"],
    ConsumptionRequest(deliveryStatus=DeliveryStatus.DELIVERED, consumptionPercentage=50000,
                       refundPreference=RefundPreference.DECLINE, **consented))
refused(4000035, lambda: sandbox.send_consumption_information(
    coins["transactionId"],
    ConsumptionRequest(deliveryStatus=DeliveryStatus.DELIVERED, customerConsented=False, sampleContentProvided=False)))
refused(4000034, lambda: sandbox.send_consumption_information(
    coins["transactionId"],
    ConsumptionRequest(deliveryStatus=DeliveryStatus.UNDELIVERED_OTHER, consumptionPercentage=1, **consented)))
refused(4000034, lambda: sandbox.send_consumption_information(
    original,
    ConsumptionRequest(deliveryStatus=DeliveryStatus.DELIVERED, consumptionPercentage=1,
                       refundPreference=RefundPreference.GRANT_PRORATED, **consented)))

# Extensions: one, and all.
terms = ExtendRenewalDateRequest(extendByDays=3, extendReasonCode=ExtendReasonCode.OTHER, requestIdentifier="one")
extended = sandbox.extend_subscription_renewal_date(original, terms)
assert extended.success and extended.effectiveDate > expires
line = sandbox.get_all_subscription_statuses(original).data[0].lastTransactions[0]
assert verifier.verify_and_decode_signed_transaction(line.signedTransactionInfo).expiresDate == extended.effectiveDate
everybody = MassExtendRenewalDateRequest(
    extendByDays=2, extendReasonCode=ExtendReasonCode.SERVICE_ISSUE_OR_OUTAGE, productId=plan,
    requestIdentifier="7f1de78e-0d4e-4c5e-9d3c-000000000002")
sandbox.extend_renewal_date_for_all_active_subscribers(everybody)
for _ in range(600):
    status = sandbox.get_status_of_subscription_renewal_date_extensions(everybody.requestIdentifier, plan)
    if status.complete:
        break
    time.sleep(0.1)
assert status.complete and status.succeededCount == 1, status
refused(4030005, lambda: sandbox.extend_subscription_renewal_date(original, terms))

# Refunds.
shop("refunds", {"transactionId": coins["transactionId"], "percentage": 40})
refunds = sandbox.get_refund_history(original, None)
refund = verifier.verify_and_decode_signed_transaction(refunds.signedTransactions[0])
assert refund.transactionId == coins["transactionId"] and refund.revocationPercentage == 40000
read["refunds"] = [refund.transactionId]

# Notifications: a test, and the whole list once all of it has been signed.
test = sandbox.request_test_notification().testNotificationToken
for _ in range(600):
    check = sandbox.get_test_notification_status(test)
    if check.sendAttempts:
        break
    time.sleep(0.1)
assert check.sendAttempts[0].sendAttemptResult.value == "SUCCESS", check
assert verifier.verify_and_decode_notification(check.signedPayload).notificationType.value == "TEST"
now = int(time.time() * 1000)
question = NotificationHistoryRequest(startDate=now - 86400000, endDate=now + 86400000)
types = []
for _ in range(600):
    page = sandbox.get_notification_history(None, question)
    types = [verifier.verify_and_decode_notification(one.signedPayload) for one in page.notificationHistory]
    if len(types) >= 7:
        break
    time.sleep(0.1)
read["notifications"] = sorted(one.notificationUUID for one in types)
read["types"] = sorted(f"{one.notificationType.value}" for one in types)

# What is refused: other tokens than Apple would take, and what is not there.
for wrong in [{"key_id": "OTHER"}, {"issuer_id": "other"}, {"bundle_id": "com.example.other"}]:
    try:
        Client(Environment.SANDBOX, **wrong).get_transaction_info(original)
        raise AssertionError(wrong)
    except APIException as failure:
        assert failure.http_status_code == 401 and failure.raw_api_error is None
refused(4040010, lambda: production.get_transaction_info(original))
refused(4000006, lambda: sandbox.get_transaction_info("x"))
refused(4040005, lambda: sandbox.extend_subscription_renewal_date("1", terms))
refused(4040008, lambda: sandbox.get_test_notification_status("x"))
refused(4000187, lambda: sandbox.set_app_account_token(
    shop("purchases", {"productId": "com.example.storehook.premium.yearly", "customer": "anna"})["transactionId"],
    UpdateAppAccountTokenRequest(appAccountToken=token)))

# As everything stands now, to be held against what storehook's client reads in the same.
line = sandbox.get_all_subscription_statuses(original).data[0].lastTransactions[0]
read["status"] = line.status.value
read["period"] = fields(verifier.verify_and_decode_signed_transaction(line.signedTransactionInfo))
read["renewal"] = fields(verifier.verify_and_decode_renewal_info(line.signedRenewalInfo))
info = sandbox.get_transaction_info(coins["transactionId"])
read["purchase"] = fields(verifier.verify_and_decode_signed_transaction(info.signedTransactionInfo))
download = sandbox.get_app_transaction_info(original)
read["download"] = fields(verifier.verify_and_decode_app_transaction(download.signedAppTransactionInfo))
print(json.dumps(read))
