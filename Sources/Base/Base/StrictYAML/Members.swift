package import Yams

/// The members of a mapping of which every name is known.
package struct Members {
    private let node: Node
    private let values: [String: Node]
    private let what: String

    /// Reads the members of what is called so in faults.
    /// - Throws: the first fault, if there is one.
    package init(_ node: Node, _ what: String, _ names: [String]) throws(YAMLFault) {
        var faults: [YAMLFault] = []
        self.init(node, what, names, faults: &faults)
        if let fault = faults.first { throw fault }
    }

    /// Reads the members of what is called so in faults, whose names are known; what else stands there is added to the faults.
    package init(_ node: Node, _ what: String, _ names: [String], faults: inout [YAMLFault]) {
        var values: [String: Node] = [:]
        if let mapping = node.mapping {
            for (key, value) in mapping {
                if let name = key.scalar?.string, names.contains(name) {
                    values[name] = value
                } else if faults.count < YAMLText.mostFaults {
                    let stranger = key.scalar.map { YAMLFault.quoting($0.string) } ?? "such member"
                    faults.append(YAMLFault(key, "\(what) has no \(stranger); it has \(names.joined(separator: ", "))"))
                }
            }
        } else {
            faults.append(YAMLFault(node, "\(what) has members: \(names.joined(separator: ", "))"))
        }
        self.node = node
        self.what = what
        self.values = values
    }

    /// A member, where it is there.
    package subscript(_ name: String) -> Node? { values[name] }

    /// A member that has to be there.
    package func required(_ name: String, _ example: String) throws(YAMLFault) -> Node {
        guard let value = values[name] else {
            throw YAMLFault(node, "\(what) needs \(name); write \(example)")
        }
        return value
    }

    /// A list of values with these names; nil where it is not there.
    package func set<Value: Hashable>(
        _ name: String, of names: [String: Value]
    ) throws(YAMLFault) -> Set<Value>? {
        guard let node = values[name] else { return nil }
        return Set(try node.list(name, names.keys.sorted().joined(separator: ", ")) { names[$0] })
    }
}

extension Node {
    /// What its text means.
    /// - Parameter expectation: what to write, where it means nothing.
    package func text<Value>(
        _ expectation: String, _ meaning: (String) -> Value?
    ) throws(YAMLFault) -> Value {
        guard let text = scalar?.string, !text.isEmpty, let value = meaning(text) else {
            throw YAMLFault(self, expectation)
        }
        return value
    }

    /// The value of its name.
    package func one<Value>(_ name: String, of names: [String: Value]) throws(YAMLFault) -> Value {
        try text("\(name) is one of \(names.keys.sorted().joined(separator: ", "))") { names[$0] }
    }

    /// What the texts of a list mean.
    /// - Parameter choices: what may stand in it.
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
