import Base
import Yams

/// An object in a catalog's file. It returns only members that match their form: ``CatalogForm/check(_:_:_:)`` has
/// reported the others, and they are ignored here.
struct CatalogEntry {
    let node: Node
    private let object: CatalogObject
    private let members: Members

    init(_ node: Node, _ object: CatalogObject) {
        var told: [YAMLFault] = []
        self.node = node
        self.object = object
        members = Members(node, object.what, object.names, faults: &told)
    }

    /// The node of a member, whatever its content.
    subscript(_ name: String) -> Node? { members[name] }

    /// The text of a member with one value.
    func text(_ name: String) -> String? {
        guard case .scalar(let scalar)? = form(name), let text = members[name]?.scalar?.string, scalar.accepts(text)
        else { return nil }
        return text
    }

    /// A whole number.
    func number(_ name: String) -> Int? { text(name).flatMap { Int($0) } }

    /// Whether a flag is set.
    func isSet(_ name: String) -> Bool { text(name) == "true" }

    /// The objects of a list.
    func entries(_ name: String) -> [CatalogEntry] {
        guard case .list(.object(let object), let range)? = form(name), let items = members[name]?.sequence else {
            return []
        }
        return items.prefix(range.upperBound).filter { $0.mapping != nil }.map { CatalogEntry($0, object) }
    }

    /// The object of a member.
    func entry(_ name: String) -> CatalogEntry? {
        guard case .object(let object)? = form(name), let node = members[name], node.mapping != nil else { return nil }
        return CatalogEntry(node, object)
    }

    /// The values of a list, with their nodes.
    func texts(_ name: String) -> [(node: Node, text: String)] {
        guard case .list(.scalar(let scalar), let range)? = form(name), let items = members[name]?.sequence else {
            return []
        }
        return items.prefix(range.upperBound).compactMap { node in
            node.scalar.flatMap { scalar.accepts($0.string) ? (node, $0.string) : nil }
        }
    }

    /// The values of a mapping by their names, with the names' nodes.
    func values(_ name: String) -> [(node: Node, name: String, text: String)] {
        guard case .map(let scalar, let range)? = form(name), let mapping = members[name]?.mapping else { return [] }
        return mapping.prefix(range.upperBound).compactMap { key, value in
            guard let own = key.scalar?.string, CatalogWord.id.accepts(own), let text = value.scalar?.string,
                scalar.accepts(text)
            else { return nil }
            return (key, own, text)
        }
    }

    private func form(_ name: String) -> CatalogForm? { object.members.first { $0.name == name }?.form }
}
