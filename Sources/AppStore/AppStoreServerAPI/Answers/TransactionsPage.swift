public import AppStorePayloads
public import Base

/// One page of transactions: of Get Transaction History, or of Get Refund History, which says less around them.
public struct TransactionsPage: AnswerPage {
    /// The transactions that are Apple's.
    public let transactions: [SignedRecord<TransactionPayload>]
    /// Why others are not here: what does not verify is left out.
    public let refused: [RefusedRecord]
    /// Asks for the page after this one (`revision`).
    public let nextPage: String?
    /// Whether there is one.
    public let hasMore: Bool
    /// The app.
    public let bundleId: String?
    /// The app's Apple ID.
    public let appAppleId: Int64?
    /// Where the purchases were made.
    public let environment: Environment?
    /// What this release does not know, by name, as JSON texts.
    public let unknownFields: [String: [UInt8]]

    init(_ reader: inout AnswerReader) throws(AnswerFault) {
        hasMore = try reader.hasMore(after: "signedTransactions")
        transactions = try reader.transactions("signedTransactions")
        refused = reader.refused
        let object = reader.object
        nextPage = try reader.text(.revision)
        bundleId = try reader.text(.bundleId)
        appAppleId = object.integer("appAppleId")
        environment = try reader.text(.environment).map(Environment.init(rawValue:))
        unknownFields = object.members(
            except: ["signedTransactions", "revision", "hasMore", "bundleId", "appAppleId", "environment"])
    }
}
