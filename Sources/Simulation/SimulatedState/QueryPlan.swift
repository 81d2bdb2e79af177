import Foundation
public import Postgres

/// What PostgreSQL said of how it answered a statement: `explain (analyze, buffers, format json)`.
public struct QueryPlan: Sendable {
    /// Pages that answering it read, wherever they were. Planning's own are the catalog's, and are not among them.
    public let pages: Int
    /// Tables that it read from end to end, in the order of their names; none where such a step was planned and not done.
    public let scannedTables: [String]

    /// Reads the only row of an explanation.
    public init(_ rows: PostgresRows) throws {
        let text = try rows.one().decode(0, as: PostgresJSON.self).text
        let explained = try JSONDecoder().decode([Explained].self, from: Data(text.utf8))
        guard let root = explained.first?.plan else { throw Unreadable() }
        pages = root.hit + root.read
        scannedTables = Set(root.scanned).sorted()
    }

    /// An explanation without a plan.
    public struct Unreadable: Error {}

    private struct Explained: Decodable {
        let plan: Node
        enum CodingKeys: String, CodingKey { case plan = "Plan" }
    }

    private struct Node: Decodable {
        let type: String
        let relation: String?
        let loops: Double
        let hit: Int
        let read: Int
        let children: [Node]?

        enum CodingKeys: String, CodingKey {
            case type = "Node Type"
            case relation = "Relation Name"
            case loops = "Actual Loops"
            case hit = "Shared Hit Blocks"
            case read = "Shared Read Blocks"
            case children = "Plans"
        }

        var scanned: [String] {
            let own = type == "Seq Scan" && loops > 0 ? [relation].compactMap(\.self) : []
            return own + (children ?? []).flatMap(\.scanned)
        }
    }
}
