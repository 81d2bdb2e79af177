/// How a purchase ended, as the app shows it.
public enum PurchaseResult: Sendable, Equatable {
    /// It is bought. Where the server did not answer, the store's word counts, and the server is asked again by itself.
    case purchased
    /// A parent (Ask to Buy) or the bank has to approve it first: it comes by itself, or never.
    case pending
    /// The customer does not want it: nothing is shown.
    case cancelled
    /// It gives nothing, for this reason.
    case failed(ClientError)

    /// What a log has of it.
    var word: String {
        switch self {
        case .purchased: "purchased"
        case .pending: "pending"
        case .cancelled: "cancelled"
        case .failed: "failed"
        }
    }

    /// Whether it is bought.
    public var succeeded: Bool { if case .purchased = self { true } else { false } }
}
