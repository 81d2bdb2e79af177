package import Yams

/// The members of a mapping that has only declared names.
package struct StrictMapping {
    private let node: Node
    private let object: StrictObject
    private let values: [String: Node]

    /// Reads the members of an object.
    /// - Throws: the first fault, if there is one.
    package init(_ node: Node, _ object: StrictObject) throws(YAMLFault) {
        var faults: [YAMLFault] = []
        self.init(node, object, faults: &faults)
        if let fault = faults.first { throw fault }
    }

    /// Reads the members of an object. Members with unknown names are added to the faults.
    package init(_ node: Node, _ object: StrictObject, faults: inout [YAMLFault]) {
        var values: [String: Node] = [:]
        let names = object.names
        if let mapping = node.mapping {
            for (key, value) in mapping {
                if let name = key.scalar?.string, names.contains(name) {
                    values[name] = value
                } else if faults.count < YAMLText.mostFaults {
                    let stranger = key.scalar.map { YAMLFault.quoting($0.string) } ?? "such member"
                    faults.append(
                        YAMLFault(key, "\(object.what) has no \(stranger); it has \(names.joined(separator: ", "))"))
                }
            }
        } else {
            let example = object.example.map { "; write \($0)" } ?? ""
            faults.append(YAMLFault(node, "\(object.what) has members: \(names.joined(separator: ", "))\(example)"))
        }
        self.node = node
        self.object = object
        self.values = values
    }

    /// A member, if present.
    package subscript(_ name: String) -> Node? { values[name] }

    /// A member that must be present.
    /// - Parameter example: what to write, where that is not what the declaration says.
    package func required(_ name: String, _ example: String? = nil) throws(YAMLFault) -> Node {
        guard let value = values[name] else {
            let example = example ?? object.members.first { $0.name == name }?.example ?? name + ":"
            throw YAMLFault(node, "\(object.what) needs \(name); write \(example)")
        }
        return value
    }

    /// A list of values with these names; nil where it is missing.
    package func set<Value: Hashable>(
        _ name: String, of names: [String: Value]
    ) throws(YAMLFault) -> Set<Value>? {
        guard let node = values[name] else { return nil }
        return Set(try node.list(name, names.keys.sorted().joined(separator: ", ")) { names[$0] })
    }
}

extension Node {
    /// The meaning of its text.
    /// - Parameter expectation: what to write, where it has none.
    package func text<Value>(
        _ expectation: String, _ meaning: (String) -> Value?
    ) throws(YAMLFault) -> Value {
        guard let text = scalar?.string, !text.isEmpty, let value = meaning(text) else {
            throw YAMLFault(self, expectation)
        }
        return value
    }

    /// The value with its name.
    package func one<Value>(_ name: String, of names: [String: Value]) throws(YAMLFault) -> Value {
        try text("\(name) is one of \(names.keys.sorted().joined(separator: ", "))") { names[$0] }
    }

    /// The meanings of the texts of a list.
    /// - Parameter choices: the permitted texts.
    package func list<Value>(
        _ name: String, _ choices: String, _ meaning: (String) -> Value?
    ) throws(YAMLFault) -> [Value] {
        let expectation = "\(name) is a list of one or more, like \(name): [a, b], of \(choices)"
        guard let items = sequence, !items.isEmpty else { throw YAMLFault(self, expectation) }
        var values: [Value] = []
        for item in items { values.append(try item.text(expectation, meaning)) }
        return values
    }
}
