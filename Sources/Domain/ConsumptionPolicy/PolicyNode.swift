import Yams

/// The members of a mapping of which every name is known.
struct Members {
    private let node: Node
    private let values: [String: Node]
    private let what: String

    /// Reads the members of what is called so in faults.
    init(_ node: Node, _ what: String, _ names: [String]) throws(ConsumptionPolicyFault) {
        guard let mapping = node.mapping else {
            throw ConsumptionPolicyFault(node, "\(what) has members: \(names.joined(separator: ", "))")
        }
        var values: [String: Node] = [:]
        for (key, value) in mapping {
            guard let name = key.scalar?.string, names.contains(name) else {
                throw ConsumptionPolicyFault(
                    key,
                    "\(what) has no \(key.scalar.map { "\"\($0.string)\"" } ?? "such member"); it has "
                        + names.joined(separator: ", "))
            }
            values[name] = value
        }
        self.node = node
        self.values = values
        self.what = what
    }

    subscript(_ name: String) -> Node? { values[name] }

    /// A member that has to be there.
    func required(_ name: String, _ example: String) throws(ConsumptionPolicyFault) -> Node {
        guard let value = values[name] else {
            throw ConsumptionPolicyFault(node, "\(what) needs \(name); write \(example)")
        }
        return value
    }

    /// A list of values with these names; nil where it is not there.
    func set<Value: Hashable>(
        _ name: String, of names: [String: Value]
    ) throws(ConsumptionPolicyFault) -> Set<Value>? {
        guard let node = values[name] else { return nil }
        return Set(try node.list(name, names.keys.sorted().joined(separator: ", ")) { names[$0] })
    }
}

extension Node {
    /// What its text means.
    /// - Parameter expectation: what to write, where it means nothing.
    func text<Value>(
        _ expectation: String, _ meaning: (String) -> Value?
    ) throws(ConsumptionPolicyFault) -> Value {
        guard let text = scalar?.string, !text.isEmpty, let value = meaning(text) else {
            throw ConsumptionPolicyFault(self, expectation)
        }
        return value
    }

    /// The value of its name.
    func one<Value>(_ name: String, of names: [String: Value]) throws(ConsumptionPolicyFault) -> Value {
        try text("\(name) is one of \(names.keys.sorted().joined(separator: ", "))") { names[$0] }
    }

    /// What the texts of a list mean.
    /// - Parameter choices: what may stand in it.
    func list<Value>(
        _ name: String, _ choices: String, _ meaning: (String) -> Value?
    ) throws(ConsumptionPolicyFault) -> [Value] {
        let expectation = "\(name) is a list of one or more, like \(name): [a, b], of \(choices)"
        guard let items = sequence, !items.isEmpty else { throw ConsumptionPolicyFault(self, expectation) }
        var values: [Value] = []
        for item in items { values.append(try item.text(expectation, meaning)) }
        return values
    }
}

extension ConsumptionPolicyFault {
    init(_ node: Node, _ message: String) { self.init(line: node.mark?.line, message: message) }

    /// What the parser has found.
    init(_ error: YamlError) {
        switch error {
        case .scanner(_, let problem, let mark, _), .parser(_, let problem, let mark, _),
            .composer(_, let problem, let mark, _):
            self.init(line: mark.line, message: "this is not YAML: \(problem)")
        case .duplicatedKeysInMapping(let duplicates, let context):
            self.init(line: context.mark.line, message: "\(duplicates.joined(separator: ", ")) stands here twice")
        default: self.init(line: nil, message: "this is not YAML")
        }
    }
}
