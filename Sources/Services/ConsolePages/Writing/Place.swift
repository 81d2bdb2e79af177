import Base

/// A place among the pages, as a link names it. No personal data: places are written into histories and logs.
struct Place: Sendable, Hashable {
    /// The parts of its path, as they are.
    var parts: [String]
    /// The values of its query.
    var query: [String: String]

    /// A place; values that are nil are left out.
    init(_ parts: String..., query: [String: String?] = [:]) {
        self.init(parts: parts, query: query)
    }

    /// The same.
    init(parts: [String], query: [String: String?] = [:]) {
        self.parts = parts
        self.query = query.compactMapValues { $0 }
    }

    /// The same place with another value in its query.
    func with(_ name: String, _ value: String?) -> Place {
        var place = self
        place.query[name] = value
        return place
    }

    /// The path, without what stands before it behind a proxy: `/orders/ORD-20260131-0001`.
    var path: String { "/" + parts.map { $0.percentEncoded() }.joined(separator: "/") }

    /// The path and the query. Values stand in the order of their names, so that equal places are equal texts.
    var text: String {
        let values = query.sorted { $0.key < $1.key }.map { "\($0.key.percentEncoded())=\($0.value.percentEncoded())" }
        return values.isEmpty ? path : "\(path)?\(values.joined(separator: "&"))"
    }
}
