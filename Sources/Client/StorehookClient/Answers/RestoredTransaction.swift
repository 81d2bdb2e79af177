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

extension RestoredTransaction {
    /// Reads an answer. What is missing is nil, empty or none, but for `result`.
    public init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: CodingKeys.self)
        code = try members.decodeIfPresent(String.self, forKey: .code)
        environment = try members.decodeIfPresent(String.self, forKey: .environment)
        message = try members.decodeIfPresent(String.self, forKey: .message)
        originalTransactionID = try members.decodeIfPresent(String.self, forKey: .originalTransactionID)
        productID = try members.decodeIfPresent(String.self, forKey: .productID)
        result = try members.decode(RestoredResult.self, forKey: .result)
    }
}
