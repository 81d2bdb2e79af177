/// A column of one of Apple's reports, by its names.
struct ReportColumn: Sendable, Hashable {
    /// As Apple's page of the report has it.
    let name: String
    /// Other names that files have for it.
    let aliases: [String]

    init(_ name: String, _ aliases: String...) {
        self.name = name
        self.aliases = aliases
    }

    /// All of its names, as ``ReportHeader`` compares them.
    var keys: [String] { ([name] + aliases).map { Self.key($0) } }

    /// A name without what files write differently: capitals, and blanks around a stroke.
    static func key(_ name: String) -> String {
        name.lowercased().split(separator: "/", omittingEmptySubsequences: false)
            .map { part in part.split(separator: " ").joined(separator: " ") }.joined(separator: "/")
    }
}
