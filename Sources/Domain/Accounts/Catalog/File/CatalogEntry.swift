import Base
import Yams

/// A thing that stands in a catalog's file. Of its members only those are seen that are as their form wants them: of the others
/// ``CatalogForm/check(_:_:_:)`` has told, and nothing more is said of them.
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

    /// Where a member stands, whatever it says.
    subscript(_ name: String) -> Node? { members[name] }

    /// What a member of one value says.
    func text(_ name: String) -> String? {
        guard case .scalar(let scalar)? = form(name), let text = members[name]?.scalar?.string, scalar.accepts(text)
        else { return nil }
        return text
    }

    /// A whole number.
    func number(_ name: String) -> Int? { text(name).flatMap { Int($0) } }

    /// Whether a flag is set.
    func isSet(_ name: String) -> Bool { text(name) == "true" }

    /// The things of a list.
    func entries(_ name: String) -> [CatalogEntry] {
        guard case .list(.object(let object), let range)? = form(name), let items = members[name]?.sequence else {
            return []
        }
        return items.prefix(range.upperBound).filter { $0.mapping != nil }.map { CatalogEntry($0, object) }
    }

    /// The thing that a member is.
    func entry(_ name: String) -> CatalogEntry? {
        guard case .object(let object)? = form(name), let node = members[name], node.mapping != nil else { return nil }
        return CatalogEntry(node, object)
    }

    /// The values of a list, with where each stands.
    func texts(_ name: String) -> [(node: Node, text: String)] {
        guard case .list(.scalar(let scalar), let range)? = form(name), let items = members[name]?.sequence else {
            return []
        }
        return items.prefix(range.upperBound).compactMap { node in
            node.scalar.flatMap { scalar.accepts($0.string) ? (node, $0.string) : nil }
        }
    }

    /// The values of a mapping by their names, with where each name stands.
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
