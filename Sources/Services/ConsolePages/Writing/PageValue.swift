/// What a template is filled with.
enum PageValue: Sendable, Hashable {
    /// Written with its special characters escaped.
    case text(String)
    /// Whether a part is there.
    case flag(Bool)
    /// A part is repeated for each.
    case list([PageValue])
    /// Values by name.
    case members([String: PageValue])

    /// Values by name, without those that are nil.
    static func compact(_ values: [String: PageValue?]) -> PageValue { .members(values.compactMapValues { $0 }) }

    /// A text; nil for nil.
    static func optional(_ text: String?) -> PageValue? { text.map { .text($0) } }

    /// Texts.
    static func texts(_ texts: [String]) -> PageValue { .list(texts.map { .text($0) }) }

    /// As the templates' library takes it.
    var filling: Any {
        switch self {
        case .text(let text): return text
        case .flag(let flag): return flag
        case .list(let values): return values.map(\.filling)
        case .members(let members): return members.mapValues(\.filling)
        }
    }
}

extension PageValue: ExpressibleByStringLiteral, ExpressibleByBooleanLiteral {
    /// A text.
    init(stringLiteral value: String) { self = .text(value) }
    /// A flag.
    init(booleanLiteral value: Bool) { self = .flag(value) }
}
