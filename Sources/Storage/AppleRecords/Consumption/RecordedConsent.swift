package import Foundation
package import Postgres

/// That a customer has agreed, or no longer does.
package struct RecordedConsent: Sendable, Hashable {
    /// Its number: the last of a token counts.
    package var id: Int64
    /// The account's id; nil where only its token is known.
    package var account: String?
    /// What the account buys with.
    package var token: UUID
    /// Whether the customer agrees.
    package var granted: Bool
    /// What the customer was shown.
    package var text: String?
    /// When it was recorded.
    package var recordedAt: PostgresTimestamp
    /// The person who recorded it.
    package var recordedBy: String
    /// Transactions about which an answer was on its way to Apple when this was recorded; it cannot be called back.
    package var underWay: [String] = []

    init(_ row: PostgresRow) throws {
        id = try row.decode("id")
        account = try row.decode("account")
        token = try row.decode("app_account_token")
        granted = try row.decode("granted")
        text = try row.decode("text")
        recordedAt = try row.decode("recorded_at")
        recordedBy = try row.decode("recorded_by")
    }

    /// Whether it states the same, word for word.
    func says(_ granted: Bool, _ text: String?) -> Bool { self.granted == granted && self.text == text }

    /// The same with the transactions about which an answer is on its way now.
    func withUnderWay(_ rows: PostgresRows) throws -> RecordedConsent {
        var consent = self
        consent.underWay = try rows.map { try $0.decode(0, as: String.self) }
        return consent
    }
}
