package import AccountStore
import Accounts
import Base

extension CommandAnswer {
    /// The rule of account ids.
    package init(_ standing: AccountIDs.Standing) {
        let named = standing.namedAt.map { "named by \(standing.namedBy ?? "nobody") at \($0)" }
        self.init(
            standing, Self.standing,
            text: standing.rule.map {
                "\($0.rawValue), \(named ?? "by default: the first program that names an account settles it")"
            }
                ?? "there is none")
    }

    private static let standing = CommandShape<AccountIDs.Standing>([
        .init("rule") { $0.rule?.rawValue }, .init("named_at", \.namedAt), .init("named_by", \.namedBy),
    ])

    /// Whose token changes, or has changed, with the rule of account ids.
    package init(_ change: AccountIDChange) {
        let (before, rule) = (change.before?.rawValue ?? "none", change.rule.rawValue)
        let count = "\(change.count) account\(change.count == 1 ? "" : "s")"
        var parts = [
            change.isNone
                ? "the rule is \(rule) already, and every id has its token by it"
                : change.isDone
                    ? "the rule is \(rule), and was \(before); the id of \(count) has another token now"
                    : "the rule is \(before); under \(rule) the id of \(count) would have another token"
        ]
        if !change.first.isEmpty { parts.append(Self.moved.table(of: change.first)) }
        if change.first.count < change.count, !change.first.isEmpty { parts.append("and more; see --limit") }
        self.init(change, Self.change, text: parts.joined(separator: "\n\n"))
    }

    private static let change = CommandShape<AccountIDChange>([
        .init("before") { $0.before?.rawValue }, .init("rule", \.rule.rawValue), .init("is_done", \.isDone),
        .init("count", \.count), .list("accounts", moved, \.first),
    ])

    private static let moved = CommandShape<AccountIDChange.Moved>([
        .init("account", column: "ACCOUNT", \.id), .init("token", column: "TOKEN", \.token),
        .init("new_token", \.newToken),
        .column("NEW TOKEN") { $0.newToken?.description ?? "none: no id under this rule" },
    ])
}
