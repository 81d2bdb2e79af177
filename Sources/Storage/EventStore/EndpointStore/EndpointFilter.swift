import Events

/// Which events an endpoint gets.
package struct EndpointFilter: Sendable, Hashable {
    /// Only this app's events, events without an app, such as grants, and all about accounts, which apps share; nil:
    /// every app's.
    package var bundleID: String?
    /// Only this environment's events; nil: all.
    package var environment: String?
    /// Only these kinds, where `*` stands for any part: `subscription.*`; nil: all kinds.
    package var kinds: [String]?

    /// A filter; by default everything passes.
    package init(bundleID: String? = nil, environment: String? = nil, kinds: [String]? = nil) {
        self.bundleID = bundleID
        self.environment = environment
        self.kinds = kinds
    }

    /// The first of its patterns that matches no kind of event; nil where each matches one.
    package var strangePattern: String? {
        kinds?.first { pattern in !EventKind.allCases.contains { Self.matches(pattern, $0.rawValue) } }
    }

    /// Whether a kind matches a pattern.
    static func matches(_ pattern: String, _ kind: String) -> Bool {
        let parts = pattern.split(separator: "*", omittingEmptySubsequences: false)
        guard let first = parts.first, let last = parts.last, parts.count > 1 else { return pattern == kind }
        guard kind.hasPrefix(first) else { return false }
        var rest = kind.dropFirst(first.count)
        for part in parts.dropFirst().dropLast() where !part.isEmpty {
            guard let range = rest.firstRange(of: part) else { return false }
            rest = rest[range.upperBound...]
        }
        return rest.hasSuffix(last)
    }

    /// Its patterns as SQL's LIKE takes them.
    var likePatterns: [String]? {
        kinds?.map {
            $0.replacing("\\", with: "\\\\").replacing("_", with: "\\_").replacing("%", with: "\\%").replacing(
                "*", with: "%")
        }
    }
}
