import Base
package import Pipeline

extension AccountRefresh.Report {
    /// Whether there was anything to ask, every record in Apple's answers verified, and open questions will be asked
    /// again.
    package var isComplete: Bool {
        purchases > 0 && unasked.isEmpty && !isCut && answers.allSatisfy(\.refresh.isComplete)
            && (trouble == nil || queued > 0)
    }
}

extension CommandAnswer {
    /// The result of refreshing an account's purchases: for people one line for each customer's history that was
    /// requested, and one about open questions.
    /// - Parameter account: as it was asked for.
    package init(_ report: AccountRefresh.Report, of account: String) {
        self.init((report, account), Self.refresh, text: Self.text(of: report))
    }

    /// `is_cut`: whether the account has more purchases than were looked at.
    private static let refresh = CommandShape<(report: AccountRefresh.Report, account: String)>([
        .init("account", \.account), .init("app_account_token", \.report.token),
        .init("purchases", \.report.purchases), .init("is_cut", \.report.isCut),
        .list("refreshes", customer, \.report.answers), .init("unknown", \.report.unknown),
        .init("unasked", \.report.unasked), .init("queued", \.report.queued), .init("trouble", \.report.trouble),
    ])

    /// What Apple gave about one customer's purchases.
    private static let customer = CommandShape<AccountRefresh.Report.Answer>([
        .init("app", column: "APP", \.bundleID),
        .init("environment", column: "ENVIRONMENT", \.refresh.environment.rawValue),
        .init("answered", column: "ANSWERED", \.refresh.answered), .init("stored", column: "STORED", \.refresh.stored),
        .init("refused", column: "REFUSED", \.refresh.refused),
    ])

    private static func text(of report: AccountRefresh.Report) -> String {
        let count = report.purchases
        guard count > 0 else { return "no purchase that is known carries \(report.token), the account's token" }
        var lines = [
            "\(count) purchase\(count == 1 ? "" : "s") of the account with the token \(report.token)"
                + (report.isCut ? ", and more that were not looked at: refresh those by their own ids" : "")
        ]
        if !report.answers.isEmpty { lines.append(customer.table(of: report.answers)) }
        if !report.unknown.isEmpty { lines.append("Apple does not know \(report.unknown.joined(separator: ", "))") }
        if !report.unasked.isEmpty {
            lines.append(
                "Apple cannot be asked about \(report.unasked.joined(separator: ", ")): no key is set for the app, or its environment is not served"
            )
        }
        if let trouble = report.trouble { lines.append("asking went wrong: \(trouble)") }
        if report.queued > 0 { lines.append("\(report.queued) purchases are asked for later, by a worker") }
        return lines.joined(separator: "\n")
    }
}
