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
# The oldest that the manifests claim to suit, and the newest of which the schema is here.
VERSIONS = ["1.27", kubernetes_validate.latest_version()]

VARIABLE = re.compile(r"\$\{(?P<name>\w+)(?::-(?P<default>[^}]*)|:\?[^}]*)?\}")

problems = []


def require(condition, problem):
    if not condition:
        problems.append(problem)


def selects(selector, labels):
    wanted = selector.get("matchLabels", selector if "matchExpressions" not in selector else {})
    return all(labels.get(name) == value for name, value in wanted.items())


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
    for (kind, name), pod in pods.items():
        check_pod(f"{kind} {name}", pod["spec"], names)


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
        if kind == "Ingress":
            for rule in spec["rules"]:
                for path in rule["http"]["paths"]:
                    service = path["backend"]["service"]["name"]
                    require(("Service", service) in names, f"{file}: leads to {service}, which is not there")
                    require(path["path"] == "/webhooks/apple", f"{file}: opens {path['path']} to the world")


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
        for volume in service.get("volumes", []):
            if isinstance(volume, dict):
                source = pathlib.Path("deploy") / volume["source"]
                require(source.exists(), f"deploy/compose.yaml: {name} mounts {volume['source']}, which is not there")


check_kubernetes()
check_compose()
for problem in problems:
    print(f"    {problem}", file=sys.stderr)
sys.exit(1 if problems else 0)
