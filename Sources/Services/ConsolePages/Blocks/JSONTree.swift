import Base

/// A JSON value that folds without a script: each object and each list in it opens and closes by itself.
struct JSONTree: Sendable {
    /// What it is, in words.
    let title: String
    /// The value.
    let value: JSONValue

    /// The most values that are shown apart, and how deep: each costs a part of the page.
    private static let (most, deepest) = (5_000, 24)

    func members() -> [String: PageValue?] {
        var left = Self.most
        return ["title": .text(title), "nodes": .list(Self.nodes(of: value, depth: 0, &left))]
    }

    private static func nodes(of value: JSONValue, depth: Int, _ left: inout Int) -> [PageValue] {
        let lines: [(name: String?, value: JSONValue)] =
            switch value {
            case .object(let members): members.map { ($0.name, $0.value) }
            case .array(let values): values.map { (nil, $0) }
            default: [(nil, value)]
            }
        var nodes: [PageValue] = []
        for line in lines {
            guard left > 0 else {
                nodes.append(.members(["text": "…"]))
                break
            }
            left -= 1
            nodes.append(node(line.name, line.value, depth, &left))
        }
        return nodes
    }

    private static func node(_ name: String?, _ value: JSONValue, _ depth: Int, _ left: inout Int) -> PageValue {
        let name = name.map { JSONValue.string($0).text + ": " } ?? ""
        let count: String? =
            switch value {
            case .object(let members) where !members.isEmpty: "{\(members.count)}"
            case .array(let values) where !values.isEmpty: "[\(values.count)]"
            default: nil
            }
        guard let count, depth < deepest else { return .members(["text": .text(name + value.text)]) }
        return .members([
            "isFold": true, "isOpen": .flag(depth == 0), "text": .text(name + count),
            "nodes": .list(nodes(of: value, depth: depth + 1, &left)),
        ])
    }
}
