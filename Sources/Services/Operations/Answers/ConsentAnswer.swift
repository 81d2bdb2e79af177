import Accounts
import AppStorePayloads
package import AppleRecords
import Base
import Postgres
import PurchaseStore

/// Whether a customer agrees that Apple is told about use, as people and scripts see it.
package struct ConsentAnswer: Encodable, Sendable {
    private struct Entry: Encodable, Sendable {
        var granted: Bool
        var text: String?
        var at: String
        var by: String

        init(_ consent: RecordedConsent) {
            granted = consent.granted
            text = consent.text
            at = "\(Timestamp(consent.recordedAt))"
            by = consent.recordedBy
        }
    }

    private let account: String
    private let appAccountToken: String
    private let granted: Bool
    private let history: [Entry]
    /// Transactions about which an answer was on its way when this was recorded.
    private let underWay: [String]

    /// An answer about an account.
    /// - Parameters:
    ///   - history: all that was recorded, the latest first.
    ///   - recorded: what was recorded now, if anything was.
    package init(_ account: String, _ history: [RecordedConsent], recorded: RecordedConsent? = nil) {
        self.account = account
        appAccountToken = "\(AccountToken.of(account))"
        granted = history.first?.granted ?? false
        self.history = history.map(Entry.init)
        underWay = recorded?.granted == false ? recorded?.underWay ?? [] : []
    }

    /// For people: how it stands, and what was recorded.
    package var text: String {
        let state =
            switch history.first?.granted {
            case true?: "agrees that Apple is told about use"
            case false?: "has taken the consent back: Apple is told nothing"
            case nil: "was never asked, or has not agreed: Apple is told nothing"
            }
        var parts = ["account \(account) \(state)\nit buys with appAccountToken \(appAccountToken)"]
        if !underWay.isEmpty {
            parts.append(
                "an answer was on its way to Apple already and cannot be called back, about transaction "
                    + underWay.joined(separator: ", "))
        }
        if !history.isEmpty {
            var table = Table(["AT", "CONSENT", "BY", "TEXT"])
            for entry in history {
                table.add([entry.at, entry.granted ? "granted" : "withdrawn", entry.by, entry.text ?? "-"])
            }
            parts.append(table.text)
        }
        return parts.joined(separator: "\n\n")
    }
}
