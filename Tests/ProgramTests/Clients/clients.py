"""Holds /openapi.json against two public generators of clients: openapi-python-client and datamodel-code-generator.

Reads from standard input, as JSON:
  url, tokens (by account), key (a server's), transaction (signed, of alice), receipt (hers), posts (bodies as they were posted to an endpoint).
Works in the directory that it is started in, and says at the end what it has done. Leaves with an AssertionError where something is wrong.
"""

import datetime
import importlib
import inspect
import json
import pathlib
import pkgutil
import re
import subprocess
import sys
import urllib.request

given = json.load(sys.stdin)
programs = pathlib.Path(sys.executable).parent
place = pathlib.Path.cwd()


def read_description():
    with urllib.request.urlopen(given["url"] + "/openapi.json") as answer:
        (place / "openapi.json").write_bytes(answer.read())
    return json.loads((place / "openapi.json").read_text())


document = read_description()
schemas = document["components"]["schemas"]


def run(*words):
    done = subprocess.run(
        words, cwd=place, capture_output=True, text=True, env={"PATH": f"{programs}:/usr/bin:/bin", "LC_ALL": "C.UTF-8"}
    )
    said = done.stdout + done.stderr
    assert done.returncode == 0, said
    return said


def snake(name):
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", name).lower()


def generate():
    """Both clients, without a warning, and with no type whose name a generator had to make up."""
    said = run("openapi-python-client", "generate", "--path", "openapi.json", "--output-path", "shop_client", "--meta", "none")
    assert said.strip() == "Generating shop_client", said
    said = run(
        "datamodel-codegen", "--input", "openapi.json", "--input-file-type", "openapi", "--output", "shop_models.py",
        "--output-model-type", "pydantic_v2.BaseModel", "--openapi-scopes", "schemas", "paths", "webhooks",
        "--use-annotated", "--formatters", "builtin", "--target-python-version", "3.11", "--disable-timestamp",
    )
    assert said.strip() == "", said
    names = set(re.findall(r"^class (\w+)", (place / "shop_models.py").read_text(), re.MULTILINE))
    assert names == set(schemas), f"datamodel-code-generator: {names ^ set(schemas)}"
    # Of a plain type that has a name it makes none.
    types = {snake(name) for name, schema in schemas.items() if "enum" in schema or schema.get("type") == "object"}
    names = {module.name for module in pkgutil.iter_modules([place / "shop_client" / "models"])}
    assert names == types, f"openapi-python-client: {names ^ types}"


def check_types():
    # This file of openapi-python-client's is the same for every description, and hands what it takes as `object` to httpx.
    (place / "mypy.ini").write_text("[mypy]\nstrict = True\n[mypy-shop_client.client]\ndisable_error_code = arg-type\n")
    said = run("mypy", "--config-file", "mypy.ini", "shop_client", "shop_models.py")
    assert said.startswith("Success: no issues found"), said


def referred(schema):
    return schema["$ref"].rsplit("/", 1)[1]


def parse(name, text):
    """By the model of a schema; nothing of it may be unknown to the model."""
    value = getattr(models, name).model_validate_json(text, strict=True)
    known = json.loads(value.model_dump_json(exclude_unset=True, by_alias=True))
    assert shape(known) == shape(json.loads(text)), f"{name} has no place for all of {text}"
    return value


def shape(value):
    if isinstance(value, dict):
        return {name: shape(member) for name, member in value.items()}
    if isinstance(value, list):
        return [shape(element) for element in value]
    return value is None


generate()
check_types()
sys.path.insert(0, str(place))
models = importlib.import_module("shop_models")
client_models = importlib.import_module("shop_client.models")
shop_client = importlib.import_module("shop_client")


def client_of(account=None, token=None):
    # With a server key the account is named by a header.
    headers = {} if account is None else {"X-Account-ID": account}
    return shop_client.AuthenticatedClient(base_url=given["url"], token=token or given["key"], headers=headers, timeout=60.0)


def app(account):
    return client_of(token=given["tokens"][account])


made = client_models
NOW = datetime.datetime.now(datetime.timezone(datetime.timedelta(hours=1)))
# By operation: who asks, and with what. What is not here is asked by alice's app, with nothing.
requests = {
    "verify": ("alice", lambda: {"body": made.VerifyRequest(signed_transaction_info=given["transaction"])}),
    "verifyReadmigo": ("alice", lambda: {"body": made.VerifyRequest(receipt_data=given["receipt"])}),
    "verifyEmoFlow": ("alice", lambda: {"body": made.EmoFlowReceipt(receipt_data=given["receipt"])}),
    "restore": ("alice", lambda: {"body": made.RestoreRequest(signed_transactions=[given["transaction"]])}),
    "restoreReadmigo": ("alice", lambda: {"body": made.RestoreRequest(receipt_data=given["receipt"])}),
    "restoreEmoFlow": ("alice", lambda: {"body": made.EmoFlowReceipt(signed_transaction_info=given["transaction"])}),
    "refresh": ("alice", dict),
    # One account is refreshed twice at once.
    "refreshReadmigo": ("bob", dict),
    "refreshEmoFlow": ("zoe", dict),
    "startTrial": ("zoe", lambda: {"body": made.TrialRequest()}),
    "startTrialReadmigo": ("zack", lambda: {"body": made.TrialRequest()}),
    "getFeature": ("alice", lambda: {"feature": "ai"}),
    "countUsage": (
        "alice",
        lambda: {"feature": "ai", "body": made.UsageRequest(amount=2, idempotency_key="one", used_at=NOW)},
    ),
    "countUsageReadmigo": ("alice", lambda: {"feature": "words", "body": made.ReadmigoUsageRequest(set_=3)}),
    "recordPurchaseAttempt": (
        "alice",
        lambda: {
            "body": made.PurchaseAttemptRequest(
                outcome=made.PurchaseAttemptOutcome.COMPLETED, kind=made.PurchaseAttemptKind.RESTORE
            )
        },
    ),
    "putConsumptionConsent": ("alice", lambda: {"body": made.ConsentRequest(granted=True, text="I agree.")}),
    "putAccountProfile": (
        None,
        lambda: {"body": made.AccountProfileRequest(name="Alice Miller", mail="alice@example.com")},
    ),
    "guard": ("alice", lambda: {"feature": "ai", "usage": "required"}),
    "getEvents": (None, lambda: {"limit": 1000, "wait": 0}),
    "testNotifications": (None, lambda: {"body": made.TestNotificationRequest()}),
}

# What a server alone may ask, for an account that it names.
named_by_server = {"putAccountProfile": "alice"}


def operations():
    for path in document["paths"].values():
        yield from path.values()


def call_all():
    """Every operation, by the client; every answer, by the models as well."""
    modules = {module.name for module in pkgutil.iter_modules([place / "shop_client" / "api" / "default"])}
    assert modules == {snake(operation["operationId"]) for operation in operations()}, modules
    parsed = 0
    for operation in operations():
        name = operation["operationId"]
        account, arguments = requests.get(name, ("alice", dict))
        module = importlib.import_module(f"shop_client.api.default.{snake(name)}")
        client = app(account) if account else client_of(named_by_server.get(name))
        answer = module.sync_detailed(client=client, **arguments())
        described = operation["responses"][str(int(answer.status_code))]
        assert answer.status_code < 300, f"{name}: {answer.status_code} {answer.content!r}"
        if "content" in described:
            schema = referred(described["content"]["application/json"]["schema"])
            assert type(answer.parsed).__name__ == schema, f"{name}: {answer.parsed}"
            if schema != "OpenAPIDocument":
                parse(schema, answer.content)
            parsed += 1
        else:
            assert answer.content == b"", name
    return parsed


def call_as_server():
    """What an app asks, by a server key for an account that it names."""
    get = importlib.import_module("shop_client.api.default.get_account")
    answer = get.sync(client=client_of("alice"))
    assert type(answer).__name__ == "Account" and answer.id == "alice", answer
    # And what is refused has the problem that is described.
    refused = get.sync_detailed(client=client_of())
    assert refused.status_code == 400 and refused.parsed.code == "account_missing", refused
    refused = get.sync_detailed(client=client_of(token="nobody's"))
    assert refused.status_code == 401 and parse("Problem", refused.content).code == "token_invalid", refused
    count = importlib.import_module("shop_client.api.default.count_usage")
    refused = count.sync_detailed(client=app("alice"), feature="ai", body=made.UsageRequest(amount=1000))
    assert refused.status_code == 429 and parse("UsageProblem", refused.content).reason == "limitReached", refused


def read_events():
    """Every kind: as it was posted, or else another one's that carries the same; and those of the feed."""
    kinds = document["webhooks"]
    bodies = {kind: referred(hook["post"]["requestBody"]["content"]["application/json"]["schema"]) for kind, hook in kinds.items()}
    assert list(kinds) == schemas["EventKind"]["enum"], list(kinds)
    posted, samples = set(), {}
    for text in given["posts"]:
        kind = json.loads(text)["type"]
        posted.add(kind)
        samples[bodies[kind]] = text
        event = parse(bodies[kind], text)
        assert event.type == kind and type(event.data).__name__ == bodies[kind] + "Data", event
        event = getattr(client_models, bodies[kind]).from_dict(json.loads(text))
        assert event.type_ == kind and event.to_dict().keys() == json.loads(text).keys(), event
    assert set(samples) == set(bodies.values()), f"nothing was posted of {set(bodies.values()) - set(samples)}"
    for kind, body in bodies.items():
        event = parse(body, json.dumps({**json.loads(samples[body]), "type": kind}))
        assert event.type == kind
    get = importlib.import_module("shop_client.api.default.get_events")
    answer = get.sync_detailed(client=client_of(), limit=1000, wait=0)
    page = parse("EventPage", answer.content)
    assert page.events and len(page.events) == len(answer.parsed.events)
    for one, other in zip(page.events, answer.parsed.events):
        # Each reader finds out what an event carries.
        assert type(one.data).__name__ == type(other.data).__name__ == bodies[one.type] + "Data", one
        assert other.data.additional_properties == {}, other
    return len(posted), len(kinds), len(page.events)


answers = call_all()
call_as_server()
posted, kinds, listed = read_events()
print(f"{len(list(operations()))} operations, {answers} answers, {kinds} kinds ({posted} posted), {listed} events")
