package import Yams

// In YAML a single value is a text: what it is to be decides what it may say.

extension ValueSchema {
    /// Adds all faults of a node.
    /// - Parameters:
    ///   - name: the node's name in faults.
    ///   - example: what to write, with the name; nil where the schema says it.
    package func check(_ node: Node, _ name: String, example: String? = nil, _ faults: inout [YAMLFault]) {
        guard faults.count < YAMLText.mostFaults else { return }
        switch self {
        case .array(let element, let least, let most):
            let range = (least ?? 0)...(most ?? .max)
            guard let items = node.sequence, range.contains(items.count) else {
                faults.append(
                    YAMLFault(
                        node,
                        "\(name) is a list of \(Self.words(range)); \(element.listExample(name, isEmpty: least == 0))"))
                return
            }
            for item in items { element.check(item, "each of \(name)", &faults) }
        case .map(let schema, let keys, let range):
            let range = range ?? 0...Int.max
            guard let mapping = node.mapping, range.contains(mapping.count) else {
                faults.append(
                    YAMLFault(node, "\(name) is a mapping of \(Self.words(range)), like \(example ?? "{name: value}")"))
                return
            }
            for (key, value) in mapping {
                if let keys { ValueSchema.word(keys).check(key, "what stands before the colon in \(name)", &faults) }
                schema.check(value, name, &faults)
            }
        case .localized(let longest, let tags): Self.check(node, textsOf: longest, by: tags, name, &faults)
        case .either(let word, let object):
            guard node.scalar != nil else { return ValueSchema.strict(object).check(node, name, &faults) }
            guard node.scalar?.string == word else {
                faults.append(YAMLFault(node, "\(name) is \(word), or has \(object.names.joined(separator: ", "))"))
                return
            }
        case .strict(let object):
            let members = StrictMapping(node, object, faults: &faults)
            guard node.mapping != nil else { return }
            for member in object.members {
                if let value = members[member.name] {
                    member.schema.check(value, member.name, example: member.example, &faults)
                } else if let example = member.example {
                    faults.append(YAMLFault(node, "\(object.what) needs \(member.name); write \(example)"))
                }
            }
        default:
            guard let text = node.scalar?.string, accepts(text) else {
                faults.append(YAMLFault(node, "\(name) \(expectation)"))
                return
            }
        }
    }

    private static func check(
        _ node: Node, textsOf longest: Int, by tags: SchemaWord, _ name: String, _ faults: inout [YAMLFault]
    ) {
        let text = ValueSchema.string(.init(1, longest))
        guard let mapping = node.mapping else {
            if !text.accepts(node.scalar?.string ?? "") {
                faults.append(
                    YAMLFault(
                        node,
                        "\(name) is a text of \(words(1...longest)) characters, or one for each language; write \(name): Monthly, or "
                            + "\(name): {en: Monthly, zh-Hans: 包月}"))
            }
            return
        }
        if mapping.isEmpty {
            faults.append(
                YAMLFault(node, "\(name) is a text, or one for each language, like {en: Monthly, zh-Hans: 包月}"))
        }
        for (key, value) in mapping {
            if !tags.accepts(key.scalar?.string ?? "") { faults.append(YAMLFault(key, "\(name) \(tags.expectation)")) }
            text.check(value, name, &faults)
        }
    }

    /// What to write for a list of these.
    private func listExample(_ name: String, isEmpty mayBeEmpty: Bool) -> String {
        let none = mayBeEmpty ? ", or \(name): []" : ""
        if case .strict(let object) = self {
            return "write below it a line for each, like - \(object.example ?? "{…}")\(none)"
        }
        return "write \(name): [a, b]\(none)"
    }

    private static func words(_ range: ClosedRange<Int>) -> String { "\(range.lowerBound) to \(range.upperBound)" }

    /// Whether a single value may say this; false of what is no single value.
    package func accepts(_ text: String) -> Bool {
        switch self {
        case .string(let lengths, _):
            (lengths.least...(lengths.most ?? .max)).contains(text.unicodeScalars.count)
        case .word(let word): word.accepts(text)
        case .choice(let choices): choices.contains(text)
        case .boolean: text == "true" || text == "false"
        case .integer(let range):
            text.utf8.allSatisfy { $0 != UInt8(ascii: "+") } && Int64(text).map { range?.contains($0) ?? true } ?? false
        default: false
        }
    }

    /// What to write where a single value is meant, to follow the member's name: `is …`.
    private var expectation: String {
        switch self {
        case .string(let lengths, _): "is a text of \(Self.words(lengths.least...(lengths.most ?? .max))) characters"
        case .word(let word): word.expectation
        case .choice(let choices): "is one of \(choices.joined(separator: ", "))"
        case .boolean: "is true or false"
        case .integer(let range?): "is a whole number from \(range.lowerBound) to \(range.upperBound)"
        case .integer: "is a whole number"
        default: "cannot stand in YAML"
        }
    }
}
