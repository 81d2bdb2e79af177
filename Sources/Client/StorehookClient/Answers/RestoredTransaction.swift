/// What became of a transaction that was handed in for restoring.
public struct RestoredTransaction: Sendable, Hashable, Decodable {
    /// Why, where it was refused: a code of verification, or of a problem.
    public var code: String?
    /// Apple's environment.
    public var environment: String?
    /// The same for people, in the language asked for.
    public var message: String?
    /// Apple's id of the purchase.
    public var originalTransactionID: String?
    /// Apple's id of the product.
    public var productID: String?
    /// What became of it.
    public var result: RestoredResult

    private enum CodingKeys: String, CodingKey {
        case code
        case environment
        case message
        case originalTransactionID = "originalTransactionId"
        case productID = "productId"
        case result
    }
}
