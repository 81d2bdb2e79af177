import Base
import Yams

/// An object of a catalog's file. Only members that fit their schema are seen: the check of the file has reported the
/// others.
struct CatalogEntry {
    let node: Node
    private let object: StrictObject
    private let members: StrictMapping

    init(_ node: Node, _ object: StrictObject) {
        var told: [YAMLFault] = []
        self.node = node
        self.object = object
        members = StrictMapping(node, object, faults: &told)
    }

    /// The node of a member, whatever its content.
    subscript(_ name: String) -> Node? { members[name] }

    /// The text of a member with one value.
    func text(_ name: String) -> String? {
        guard let text = members[name]?.scalar?.string, object[name]?.accepts(text) == true else { return nil }
        return text
    }

    /// A whole number.
    func number(_ name: String) -> Int? { text(name).flatMap { Int($0) } }

    /// Whether a flag is set.
    func isSet(_ name: String) -> Bool { text(name) == "true" }

    /// The objects of a list.
    func entries(_ name: String) -> [CatalogEntry] {
        guard case .array(.strict(let object), _, let most)? = object[name], let items = members[name]?.sequence else {
            return []
        }
        return items.prefix(most ?? .max).filter { $0.mapping != nil }.map { CatalogEntry($0, object) }
    }

    /// The object of a member.
    func entry(_ name: String) -> CatalogEntry? {
        guard case .strict(let object)? = object[name], let node = members[name], node.mapping != nil else {
            return nil
        }
        return CatalogEntry(node, object)
    }

    /// The values of a list, with their nodes.
    func texts(_ name: String) -> [(node: Node, text: String)] {
        guard case .array(let schema, _, let most)? = object[name], let items = members[name]?.sequence else {
            return []
        }
        return items.prefix(most ?? .max).compactMap { node in
            node.scalar.flatMap { schema.accepts($0.string) ? (node, $0.string) : nil }
        }
    }

    /// The values of a mapping by their names, with the names' nodes.
    func values(_ name: String) -> [(node: Node, name: String, text: String)] {
        guard case .map(let schema, let keys?, let range?)? = object[name], let mapping = members[name]?.mapping else {
            return []
        }
        return mapping.prefix(range.upperBound).compactMap { key, value in
            guard let own = key.scalar?.string, keys.accepts(own), let text = value.scalar?.string,
                schema.accepts(text)
            else { return nil }
            return (key, own, text)
        }
    }
}
