/// How much of an answer is taken. TLS alone proves that an answer is Apple's, and its sender can make what is not signed at no cost.
///
/// Apple's lists have at most 20 records a page. Every bound lies far beyond what Apple sends, and what exceeds one is an answer that
/// Apple does not document.
package enum AnswerBounds {
    /// Records in one answer.
    static let records = 1000
    /// Values in one answer of the Server API. A page of twenty notifications, each with six attempts, has some 500.
    static let values = 20_000
    /// Values in one answer of verifyReceipt. A receipt with nine thousand transactions, which takes 8 MiB, has some 250,000.
    static let receiptValues = 400_000

    /// Whether a JSON text may have more values than that, which each take memory once it is read. Counted before it is read, by what
    /// stands before a value: within a text these would be counted too, but what Apple signs has none.
    static func exceeds(_ values: Int, in body: [UInt8]) -> Bool {
        guard body.count > values else { return false }
        var count = 0
        for byte in body where byte == UInt8(ascii: ",") || byte == UInt8(ascii: "[") || byte == UInt8(ascii: "{") {
            count += 1
        }
        return count > values
    }
}

extension AppleEndpoint {
    /// The most pages of one list that are asked for: of a customer ten thousand transactions, and two million notifications of a span
    /// of time, a day at most.
    package var mostPages: Int { self == .notificationHistory ? 100_000 : 500 }

    /// The most bytes of all pages of one list together. A page of twenty notifications takes 0.4 MB, and one of transactions 0.15.
    var mostBytes: Int { self == .notificationHistory ? 100 << 30 : 128 << 20 }
}
