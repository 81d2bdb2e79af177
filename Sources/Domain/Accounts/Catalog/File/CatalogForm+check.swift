import Base
import Yams

extension CatalogForm {
    /// Adds all faults of a node.
    /// - Parameter name: the node's name in faults.
    func check(_ node: Node, _ name: String, _ faults: inout [YAMLFault]) {
        guard faults.count < YAMLText.mostFaults else { return }
        switch self {
        case .scalar(let scalar): Self.check(node, scalar, name, &faults)
        case .localized(let longest): Self.check(node, textsOf: longest, name, &faults)
        case .list(let form, let range):
            guard let items = node.sequence, range.contains(items.count) else {
                faults.append(YAMLFault(node, "\(name) is a list of \(Self.words(range))"))
                return
            }
            for item in items { form.check(item, "each of \(name)", &faults) }
        case .map(let scalar, let range):
            guard let mapping = node.mapping, range.contains(mapping.count) else {
                faults.append(YAMLFault(node, "\(name) is a mapping of \(Self.words(range)), like {name: value}"))
                return
            }
            for (key, value) in mapping {
                Self.check(key, .word(.id), "what stands before the colon in \(name)", &faults)
                Self.check(value, scalar, name, &faults)
            }
        case .word(let word, let object):
            guard node.scalar != nil else { return CatalogForm.object(object).check(node, name, &faults) }
            guard node.scalar?.string == word else {
                faults.append(YAMLFault(node, "\(name) is \(word), or has \(object.names.joined(separator: ", "))"))
                return
            }
        case .object(let object):
            let members = Members(node, object.what, object.names, faults: &faults)
            guard node.mapping != nil else { return }
            for member in object.members {
                if let value = members[member.name] {
                    member.form.check(value, member.name, &faults)
                } else if let example = member.needed {
                    faults.append(YAMLFault(node, "\(object.what) needs \(member.name); write \(example)"))
                }
            }
        }
    }

    private static func check(_ node: Node, _ scalar: CatalogScalar, _ name: String, _ faults: inout [YAMLFault]) {
        guard let text = node.scalar?.string, scalar.accepts(text) else {
            faults.append(YAMLFault(node, "\(name) \(scalar.expectation)"))
            return
        }
    }

    private static func check(_ node: Node, textsOf longest: Int, _ name: String, _ faults: inout [YAMLFault]) {
        let text = CatalogScalar.text(longest: longest)
        guard let mapping = node.mapping else { return check(node, text, name, &faults) }
        if mapping.isEmpty {
            faults.append(
                YAMLFault(node, "\(name) is a text, or one for each language, like {en: Monthly, zh-Hans: 包月}"))
        }
        for (key, value) in mapping {
            if LanguageTag(key.scalar?.string ?? "").parts.isEmpty {
                faults.append(YAMLFault(key, "\(name) is by language tags, like {en: Monthly, zh-Hans: 包月}"))
            }
            check(value, text, name, &faults)
        }
    }

    private static func words(_ range: ClosedRange<Int>) -> String { "\(range.lowerBound) to \(range.upperBound)" }
}
