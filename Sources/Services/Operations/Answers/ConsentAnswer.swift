package import Accounts
package import AppleRecords
import Base
import Postgres

extension CommandAnswer {
    /// Whether a customer consents to sending usage data to Apple: the current state, and the recorded consents.
    /// - Parameters:
    ///   - history: all that was recorded, the latest first.
    ///   - recorded: what was recorded now, if anything was.
    package init(_ account: AccountIdentity, _ history: [RecordedConsent], recorded: RecordedConsent? = nil) {
        let token = account.token
        let state =
            switch history.first?.granted {
            case true?: "agrees that Apple is sent figures of use"
            case false?: "has taken the consent back: Apple is sent nothing"
            case nil: "was never asked, or has not agreed: Apple is sent nothing"
            }
        var parts = ["account \(account.name) \(state)\nit buys with appAccountToken \(token)"]
        // Transactions about which an answer was on its way when this was recorded.
        let underWay = recorded?.granted == false ? recorded?.underWay ?? [] : []
        if !underWay.isEmpty {
            parts.append(
                "an answer was on its way to Apple already and cannot be called back, about transaction "
                    + underWay.joined(separator: ", "))
        }
        if !history.isEmpty { parts.append(Self.consent.table(of: history)) }
        self.init(
            [
                "account": .text(account.id ?? history.lazy.compactMap(\.account).first),
                "app_account_token": token.json,
                "granted": .bool(history.first?.granted ?? false), "history": Self.consent.values(of: history),
                "under_way": underWay.json,
            ], text: parts.joined(separator: "\n\n"))
    }

    private static let consent = CommandShape<RecordedConsent>([
        .init("at", column: "AT", \.recordedAt), .init("granted", \.granted),
        .column("CONSENT") { $0.granted ? "granted" : "withdrawn" }, .init("by", column: "BY", \.recordedBy),
        .init("text", column: "TEXT", \.text),
    ])
}
