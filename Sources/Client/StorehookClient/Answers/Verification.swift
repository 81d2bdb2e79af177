/// What the server answers to a purchase that it accepts.
public struct Verification: Sendable, Hashable, Decodable {
    /// The account, in which the purchase counts already.
    public var account: Account
    /// The same for people, in the language asked for; nil likewise.
    public var noAccessDetail: String?
    /// Why the purchase opens nothing; nil where it opens something, or is not shown, as a consumable is not. sandbox_not_counted:
    /// it was bought in Sandbox, Xcode or LocalTesting, and purchases there do not count for this account.
    public var noAccessReason: NoAccessReason?
    /// The purchase that was proven.
    public var subscription: AccountSubscription?
    /// Whether what was proven is in the answer.
    public var success: Bool

    private enum CodingKeys: String, CodingKey {
        case account
        case noAccessDetail
        case noAccessReason
        case subscription
        case success
    }
}

extension Verification {
    /// Reads an answer. What is missing is nil, empty or none, but for `account`.
    public init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: CodingKeys.self)
        account = try members.decode(Account.self, forKey: .account)
        noAccessDetail = try members.decodeIfPresent(String.self, forKey: .noAccessDetail)
        noAccessReason = try members.decodeIfPresent(NoAccessReason.self, forKey: .noAccessReason)
        subscription = try members.decodeIfPresent(AccountSubscription.self, forKey: .subscription)
        success = try members.value(.success)
    }
}
