package import AccountStore
import Accounts
import Base

extension CommandAnswer {
    /// What apps have reported of attempts to buy and to restore.
    package init(_ found: ReportedAttempts) {
        let table =
            found.attempts.isEmpty
            ? (found.next == nil ? "nothing was reported" : "nothing was found in the rows that were read")
            : Self.reported.table(of: found.attempts)
        var members = [JSONValue.Member("attempts", Self.reported.values(of: found.attempts))]
        if let next = found.next { members.append(.init("next", next.json)) }
        self.init(
            .object(members), text: table + (found.next.map { "\n\nthere are earlier ones: --before \($0)" } ?? ""))
    }

    private static let reported = CommandShape<ReportedAttempt>([
        .init("id", column: "ID", \.id), .init("at", column: "REPORTED", \.at), .init("account", \.accountID),
        .init("app_account_token", \.attempt.account),
        .column("ACCOUNT") { $0.accountID ?? AccountIdentity(token: $0.attempt.account).name },
        .init("kind", column: "KIND", \.attempt.kind.rawValue),
        .init("outcome", column: "OUTCOME", \.attempt.outcome.rawValue), .init("product_id", \.attempt.productID),
        .column("PRODUCT") { shown($0.attempt.productID) }, .init("transaction_id", \.attempt.transactionID),
        .column("TRANSACTION") { shown($0.attempt.transactionID) },
        .init("environment", column: "ENVIRONMENT", \.attempt.environment?.rawValue),
        .init("reason", \.attempt.reason), .column("REASON") { $0.attempt.reason.map { YAMLFault.quoting($0) } },
    ])

    /// A text of an app's that should be an id, on a terminal.
    private static func shown(_ id: String?) -> String? {
        id.map { PurchaseAttempt.isPlain($0) ? $0 : YAMLFault.quoting($0) }
    }
}
