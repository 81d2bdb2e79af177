/// A text of a table, with names in braces where values stand: `Upgrade to {tier}`.
public enum TextForm: Sendable, Hashable, ExpressibleByStringLiteral {
    /// The same for every number.
    case plain(String)
    /// One form for exactly one, and another for every other number, 0 too.
    case counted(one: String, other: String)

    /// The same for every number.
    public init(stringLiteral value: String) { self = .plain(value) }

    /// Its forms, that for every other number last.
    var forms: [String] {
        switch self {
        case .plain(let text): [text]
        case .counted(let one, let other): [one, other]
        }
    }

    /// The form for a number; that for every other number where there is none.
    func form(for count: Int64?) -> String {
        switch self {
        case .plain(let text): text
        case .counted(let one, let other): count == 1 ? one : other
        }
    }

    /// A form with its names replaced.
    ///
    /// It is read once from front to back, so that a value with braces, such as a tier's name, stays as it is. A name without a value
    /// stays, too.
    static func fill(_ form: String, with values: [String: String]) -> String {
        var text = ""
        var rest = Substring(form)
        while let open = rest.firstIndex(of: "{") {
            text += rest[..<open]
            rest = rest[open...]
            guard let close = rest.firstIndex(of: "}") else { break }
            let name = String(rest[rest.index(after: open)..<close])
            text += values[name] ?? String(rest[...close])
            rest = rest[rest.index(after: close)...]
        }
        return text + rest
    }

    /// The names of values in a form.
    static func names(in form: String) -> Set<String> {
        Set(
            form.split(separator: "{", omittingEmptySubsequences: false).dropFirst()
                .compactMap { part in part.firstIndex(of: "}").map { String(part[..<$0]) } })
    }
}
