"""Checks deploy/kubernetes and deploy/compose.yaml: against the schemas of Kubernetes and of Compose, and against each other.

A schema knows that a name is a string; it does not know whether anybody answers to it.
"""

import json
import pathlib
import re
import sys

import compose_spec
import kubernetes_validate
import yaml

KUBERNETES = pathlib.Path("deploy/kubernetes")
# The oldest that the manifests claim to suit, and the newest whose schema is here.
VERSIONS = ["1.27", kubernetes_validate.latest_version()]

VARIABLE = re.compile(r"\$\{(?P<name>\w+)(?::-(?P<default>[^}]*)|:\?[^}]*)?\}")

problems = []


def require(condition, problem):
    if not condition:
        problems.append(problem)


def selects(selector, labels):
    wanted = selector.get("matchLabels", selector if "matchExpressions" not in selector else {})
    rules = selector.get("matchExpressions", [])
    require(all(rule["operator"] == "In" for rule in rules), f"{rules}: this check knows the operator In alone")
    return all(labels.get(name) == value for name, value in wanted.items()) and all(
        labels.get(rule["key"]) in rule["values"] for rule in rules
    )


def check_kubernetes():
    kustomization = yaml.safe_load((KUBERNETES / "kustomization.yaml").read_text())
    listed = set(kustomization["resources"])
    files = {path.name for path in KUBERNETES.glob("*.yaml")} - {"kustomization.yaml"}
    require(listed == files - {"secret.example.yaml"}, f"kustomization.yaml lists {listed ^ files} or does not")

    objects = []
    for name in sorted(files):
        for item in yaml.safe_load_all((KUBERNETES / name).read_text()):
            objects.append((name, item))
            for version in VERSIONS:
                try:
                    kubernetes_validate.validate(item, version, strict=True)
                except (kubernetes_validate.ValidationError, kubernetes_validate.SchemaNotFoundError) as error:
                    problems.append(f"{name}, {item['kind']}, Kubernetes {version}: {error}".splitlines()[0])
            labels = item["metadata"].get("labels", {})
            require(
                name == "secret.example.yaml" or "app.kubernetes.io/component" in labels,
                f"{name}: {item['kind']} has no component, by which it would be applied in its turn",
            )

    names = {(item["kind"], item["metadata"]["name"]) for _, item in objects}
    pods = {
        (item["kind"], item["metadata"]["name"]): item["spec"]["template"]
        for _, item in objects
        if item["kind"] in ("Deployment", "Job")
    }
    check_references(objects, names, pods)
    policies = [item for _, item in objects if item["kind"] == "NetworkPolicy"]
    check_revocation(pods, policies)
    for (kind, name), pod in pods.items():
        check_pod(f"{kind} {name}", pod["spec"], names)
        check_operations(f"{kind} {name}", pod, policies)


def check_references(objects, names, pods):
    every_label = [pod["metadata"]["labels"] for pod in pods.values()]
    for file, item in objects:
        kind, spec = item["kind"], item.get("spec", {})
        if kind in ("Service", "PodDisruptionBudget", "NetworkPolicy", "Deployment"):
            selector = spec.get("selector", spec.get("podSelector"))
            require(any(selects(selector, labels) for labels in every_label), f"{file}: {kind} selects no pod")
        if kind == "Deployment":
            require(selects(spec["selector"], spec["template"]["metadata"]["labels"]), f"{file}: selects others' pods")
        if kind == "HorizontalPodAutoscaler":
            target = spec["scaleTargetRef"]
            require((target["kind"], target["name"]) in names, f"{file}: scales {target['name']}, which is not there")
        if kind == "Service":
            for port in spec["ports"]:
                require(port["targetPort"] != "metrics", f"{file}: Service {item['metadata']['name']} leads to metrics")
        if kind == "Ingress":
            for rule in spec["rules"]:
                for path in rule["http"]["paths"]:
                    service = path["backend"]["service"]["name"]
                    require(("Service", service) in names, f"{file}: leads to {service}, which is not there")
                    # Of the receiver what Apple posts to, of the account API what has a caller or is public. The guard is for proxies.
                    own = ["/webhooks/apple/test", "/openapi.json", "/health", "/subscriptions", "/subscription", "/usage"]
                    opened = (
                        path["path"] in ("/webhooks/apple", "/v1/subscriptions/webhook", "/subscription/webhook")
                        and path["pathType"] == "Exact"
                        if service == "storehook-receiver"
                        else service == "storehook-api"
                        and (path["path"].startswith("/v1/") and not path["path"].startswith("/v1/guard") or path["path"] in own)
                    )
                    require(opened, f"{file}: opens {path['path']} of {service} to the world")


def check_operations(name, pod, policies):
    """That probes and Prometheus ask the operations port, and that Prometheus' namespace and no other may come there."""
    container = pod["spec"]["containers"][0]
    ports = {port["name"]: port["containerPort"] for port in container.get("ports", [])}
    if not ports:
        return
    own = ports.get("metrics")
    require(option(container["args"], "--metrics-port") == str(own), f"{name}: --metrics-port is not {own}")
    require(pod["metadata"]["annotations"]["prometheus.io/port"] == str(own), f"{name}: Prometheus is led past {own}")
    for probe in ("readinessProbe", "livenessProbe"):
        require(container[probe]["httpGet"]["port"] == "metrics", f"{name}: {probe} asks another port than metrics")
    open_to = {}
    for policy in (item["spec"] for item in policies if item["spec"]["podSelector"]):
        if selects(policy["podSelector"], pod["metadata"]["labels"]):
            for rule in policy.get("ingress", []):
                sources = {place["namespaceSelector"]["matchLabels"]["kubernetes.io/metadata.name"] for place in rule["from"]}
                for port in rule["ports"]:
                    open_to.setdefault(port["port"], set()).update(sources)
    require(set(open_to) == set(ports.values()), f"{name} listens on {ports}, and network.yaml opens {set(open_to)}")
    require(open_to.get(own) == {"monitoring"}, f"{name}: others than Prometheus reach its metrics")


def check_revocation(pods, policies):
    """That workers, and who verifies on request, reach responders in the internet on port 80, and nobody inside that way."""
    for name in ("storehook-worker", "storehook-ops", "storehook-api"):
        labels = pods[("Deployment", name)]["metadata"]["labels"]
        rules = [
            rule
            for policy in (item["spec"] for item in policies)
            if selects(policy["podSelector"], labels)
            for rule in policy.get("egress", [])
            if {"protocol": "TCP", "port": 80} in rule["ports"]
        ]
        require(rules, f"{name} reaches no OCSP responder, which STOREHOOK_REVOCATION=ocsp asks on port 80")
        for rule in rules:
            for place in rule["to"]:
                excepted = place["ipBlock"].get("except", [])
                inside = "10.0.0.0/8" if "." in place["ipBlock"]["cidr"] else "fc00::/7"
                require(inside in excepted, f"{name} reaches {inside} on port 80, where no responder is")


def option(arguments, name):
    return arguments[arguments.index(name) + 1] if name in arguments else None


def check_pod(name, spec, names):
    """What the profile "restricted" asks, and that each name in it is somebody's."""
    security = spec.get("securityContext", {})
    require(security.get("runAsNonRoot") is True, f"{name} may run as root")
    require(security.get("seccompProfile", {}).get("type") == "RuntimeDefault", f"{name} has no seccomp profile")
    require(spec.get("automountServiceAccountToken") is False, f"{name} gets a token that it does not need")
    for container in spec["containers"]:
        own = container["securityContext"]
        require(own["allowPrivilegeEscalation"] is False, f"{name} may gain privileges")
        require(own["readOnlyRootFilesystem"] is True, f"{name} may write into its image")
        require(own["capabilities"] == {"drop": ["ALL"]}, f"{name} keeps capabilities")
        require("memory" in container["resources"]["limits"], f"{name} has no memory limit")
        for source in container["envFrom"]:
            for kind, key in (("ConfigMap", "configMapRef"), ("Secret", "secretRef")):
                if key in source:
                    require((kind, source[key]["name"]) in names, f"{name}: no {kind} {source[key]['name']}")
        ports = {port["name"]: port["containerPort"] for port in container.get("ports", [])}
        for probe in ("readinessProbe", "livenessProbe"):
            if probe in container:
                require(container[probe]["httpGet"]["port"] in ports, f"{name}: {probe} asks a port without a name")
        for port in ports.values():
            require(str(port) in container["args"], f"{name} does not listen on {port}")


def check_compose():
    # With variables, anchors and merges resolved, as Compose reads it; what has no default is set in compose.env.example.
    example = pathlib.Path("deploy/compose.env.example").read_text()

    def value(match):
        name, default = match["name"], match["default"]
        require(f"{name}=" in example, f"deploy/compose.env.example does not speak of {name}")
        return default if default is not None else "example"

    text = pathlib.Path("deploy/compose.yaml").read_text()
    compose = yaml.safe_load(VARIABLE.sub(value, text))
    try:
        compose_spec.PyCompose.from_json(json.dumps(compose))
    except Exception as error:  # The package has no narrower one.
        problems.append(f"deploy/compose.yaml: {error}".splitlines()[0])
        return
    for name, service in compose["services"].items():
        for other, how in service.get("depends_on", {}).items():
            require(other in compose["services"], f"deploy/compose.yaml: {name} waits for {other}, which is not there")
            if how["condition"] == "service_healthy":
                require("healthcheck" in compose["services"][other], f"deploy/compose.yaml: {other} tells no health")
        command = service.get("command", [])
        if command and command[0] in ("receive", "work", "serve", "console"):
            own = option(command, "--metrics-port")
            asked = service["healthcheck"]["test"]
            require(own is not None and own in asked, f"deploy/compose.yaml: the health of {name} is not asked on its own port")
            for published in service.get("ports", []):
                require(not published.endswith(f":{own}"), f"deploy/compose.yaml: {name} opens its metrics to the world")
        for volume in service.get("volumes", []):
            if isinstance(volume, dict):
                source = pathlib.Path("deploy") / volume["source"]
                require(source.exists(), f"deploy/compose.yaml: {name} mounts {volume['source']}, which is not there")


check_kubernetes()
check_compose()
for problem in problems:
    print(f"    {problem}", file=sys.stderr)
sys.exit(1 if problems else 0)
