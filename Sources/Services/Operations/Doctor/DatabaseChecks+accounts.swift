import AccountStore
import Accounts
import Postgres

extension AccountIDs {
    /// What the doctor reads, in the rights of users: the ids of accounts.
    static let monitored = "accounts"
}

extension DatabaseChecks {
    /// Checks that there is a rule of account ids, that the settings name no other one, and that every stored id has its token by it.
    /// Programs of before the rule took every UUID for its own token.
    func checkAccountIDs() async throws -> Finding.Answer {
        let ids = AccountIDs(pool)
        let standing = try await ids.standing()
        guard let rule = standing.rule else { return .failed("\(AccountIDRefusal.unnamed)") }
        if let setting = accountIDs, setting != rule, standing.namedAt != nil {
            return .failed("\(AccountIDRefusal.differs(setting: setting, rule: rule))")
        }
        let most = 4
        let misnamed = try await ids.misnamed(under: rule, most: most)
        guard !misnamed.isEmpty else {
            return .ok(
                "\(rule.rawValue)" + (standing.namedAt == nil ? ", until the first program names an account" : ""))
        }
        let names = misnamed.prefix(most - 1).joined(separator: ", ") + (misnamed.count == most ? " and more" : "")
        return .failed(
            "\(names): \(rule == .uuid ? "named by no UUID of their own" : "an id that looks like a token"), from before the rule "
                + "\(rule.rawValue), under which that login has another account: storehook account-ids set \(rule.rawValue)"
        )
    }
}
