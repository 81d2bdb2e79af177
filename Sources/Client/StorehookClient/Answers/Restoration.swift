/// What the server answers to what a device holds: what became of each transaction, and what the account has now.
public struct Restoration: Sendable, Hashable, Decodable {
    /// The account, as it is now.
    public var account: Account
    /// What the account has now.
    public var status: SubscriptionStatus
    /// How many transactions are this account's.
    public var restored: Int64
    /// What became of each, in the order in which they were handed in.
    public var transactions: [RestoredTransaction]

    private enum CodingKeys: String, CodingKey { case account, restored, transactions }

    /// Reads an answer, in which the status stands beside the other members.
    public init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: CodingKeys.self)
        account = try members.decode(Account.self, forKey: .account)
        restored = try members.value(.restored)
        transactions = try members.value(.transactions)
        status = try SubscriptionStatus(from: decoder)
    }
}
