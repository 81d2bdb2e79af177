import AccountStore
import Accounts
import Base
import Postgres

extension AccountIDs {
    /// What the doctor reads, in the rights of users: the ids of accounts.
    static let monitored = "accounts"
}

extension DatabaseChecks {
    /// How many products or apps are named.
    private static let mostNamed = 4

    /// Whether the catalog has what customers hold, and the apps that it names are served.
    func catalog() async throws -> Finding.Answer {
        let found = try await UnsoldProducts(pool).first(Self.mostNamed)
        guard found.products.isEmpty else {
            let names = found.products.prefix(Self.mostNamed - 1).map {
                "\($0.productID) of \($0.bundleID) in \($0.environment)"
            }.joined(separator: ", ")
            return .failed(
                "customers hold \(names)\(found.products.count == Self.mostNamed ? " and more" : ""), which the catalog lacks, and get "
                    + "nothing for it: add it to the catalog's file, then storehook catalog apply")
        }
        guard found.isListed else {
            return .skipped(
                "what it sells is not written down yet, for an earlier release applied it: a worker of this release does so within the "
                    + "hour, and storehook catalog apply at once")
        }
        return try await catalogApps()
    }

    private func catalogApps() async throws -> Finding.Answer {
        let current: Catalog?
        do { current = try await AccountStore(pool).current()?.catalog } catch is UnreadableCatalog {
            return .failed("a newer release applied it, and this one cannot read it: upgrade this one")
        } catch let error as PostgresError where error.sqlState == "42501" {
            return .ok("it has every product that customers hold")
        }
        guard let current else { return .ok("none was applied; see storehook catalog apply") }
        let strangers = Set(current.products.map(\.bundleID)).subtracting(apps).sorted()
        guard apps.isEmpty || strangers.isEmpty else {
            return .failed(
                "it sells products of \(strangers.prefix(Self.mostNamed).joined(separator: ", ")), which STOREHOOK_APPS does not name, so "
                    + "that no purchase of them is applied: add the app to STOREHOOK_APPS, or take its products out")
        }
        return .ok("it has every product that customers hold, and its apps are served")
    }

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
        let shown = misnamed.prefix(most - 1).map { namesAccounts ? $0 : PersonalText.shortened($0) }
        let names = shown.joined(separator: ", ") + (misnamed.count == most ? " and more" : "")
        return .failed(
            "\(names): \(rule == .uuid ? "named by no UUID of their own" : "an id that looks like a token"), from before the rule "
                + "\(rule.rawValue), under which that login has another account: storehook account-ids set \(rule.rawValue)"
        )
    }
}
