public import AppStorePayloads
public import Base

/// The purchases behind an order number.
public struct OrderLookup: Sendable {
    /// Whether Apple knows the order (`status`).
    public struct Status: AppleCode {
        /// The value as Apple writes it.
        public let rawValue: Int64
        /// Keeps any raw value, known or not.
        public init(rawValue: Int64) { self.rawValue = rawValue }

        /// An order of this app's.
        public static let valid = Status(rawValue: 0)
        /// No such order, or another app's.
        public static let invalid = Status(rawValue: 1)

        /// The values this release knows.
        public static let known: Set<Status> = [.valid, .invalid]
    }

    /// Whether Apple knows the order.
    public let status: Status
    /// The transactions that are Apple's.
    public let transactions: [SignedRecord<TransactionPayload>]
    /// Why others are not here: what does not verify is left out.
    public let refused: [RefusedRecord]
    /// What this release does not know, by name, as JSON texts.
    public let unknownFields: [String: [UInt8]]

    init(_ reader: inout AnswerReader) throws(AnswerFault) {
        guard let status = reader.object.integer("status") else { throw .unreadable("status is missing") }
        self.status = Status(rawValue: status)
        transactions = try reader.transactions("signedTransactions")
        refused = reader.refused
        unknownFields = reader.object.members(except: ["status", "signedTransactions"])
    }
}
