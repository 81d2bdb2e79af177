package import Accounts
import AppStorePayloads
package import Base
import Foundation
import Postgres
import PurchaseStore
import Subscriptions

extension AccountStore {
    /// What a catalog would change.
    package struct CatalogDiff: Sendable, Hashable {
        /// An account that would have another tier.
        package struct Example: Sendable, Hashable {
            /// Its token.
            package var token: UniqueIdentifier
            /// What the app's own tokens call it; nil where none has named it.
            package var name: String?
            /// What would change.
            package var move: TierMove

            /// What the app's own tokens call it, else its token.
            package var account: String { name ?? AccountIdentity(token: token).name }
        }

        /// How many accounts were compared.
        package var accounts = 0
        /// Whether these are all; otherwise the time was over.
        package var isComplete = true
        /// How many accounts would have another tier, by move.
        package var moves: [TierMove: Int] = [:]
        /// Some of the accounts of each move.
        package var examples: [Example] = []

        /// Nothing was compared, and nothing would change.
        package init() {}
    }

    /// How many accounts are compared at once. Nothing waits for them.
    private static let lookedAt = 500

    /// How many accounts are named for each move.
    private static let named = 5

    /// Derives every account that a catalog may concern under it, compares it with its status now, and writes nothing.
    /// The counts are what ``apply(_:by:why:patience:onPage:)`` then does, as long as no period ends and nothing changes
    /// in between.
    /// - Parameters:
    ///   - end: after it no further accounts are compared; nil for all of them.
    ///   - onPage: called with the number of accounts done.
    package func diff(
        _ catalog: Catalog, until end: ContinuousClock.Instant? = nil, onPage: @Sendable (Int) -> Void = { _ in }
    ) async throws -> CatalogDiff {
        let isLinked: Bool = try await pool.query(
            PostgresQuery("catalog.is_linked", "select is_linked from storehook.catalog_state")
        ).one().decode(0)
        return isLinked
            ? try await diffLinked(catalog, until: end, onPage: onPage)
            : try await diffUnlinked(catalog, until: end, onPage: onPage)
    }

    private static func isOver(_ end: ContinuousClock.Instant?) -> Bool {
        end.map { ContinuousClock.now >= $0 } ?? false
    }

    private func diffLinked(
        _ catalog: Catalog, until time: ContinuousClock.Instant?, onPage: @Sendable (Int) -> Void
    ) async throws -> CatalogDiff {
        var (diff, last) = (CatalogDiff(), UniqueIdentifier?.none)
        while true {
            let after = last
            let page = try await looking { session in
                let accounts = try self.accounts(after: after, limit: Self.lookedAt, session)
                var concerned = accounts
                if let standing = try self.current(session)?.catalog {
                    let change = CatalogChange(from: standing, to: catalog)
                    concerned = try self.concerned(by: change, of: accounts, session)
                }
                return (accounts, try self.moves(of: concerned, to: catalog, lines: nil, session))
            }
            guard let end = page.0.last else { return diff }
            last = end
            diff.take(page.1, of: page.0.count, naming: Self.named)
            onPage(diff.accounts)
            if page.0.count == Self.lookedAt, Self.isOver(time) {
                diff.isComplete = false
                return diff
            }
        }
    }

    /// Before the first catalog `account_lines` is not kept, so the accounts of purchases are looked up first.
    private func diffUnlinked(
        _ catalog: Catalog, until time: ContinuousClock.Instant?, onPage: @Sendable (Int) -> Void
    ) async throws -> CatalogDiff {
        var diff = CatalogDiff()
        guard let held = try await allHeld(until: time) else {
            diff.isComplete = false
            return diff
        }
        let accounts = held.keys.sorted()
        for start in stride(from: 0, to: accounts.count, by: Self.page) {
            if start > 0, Self.isOver(time) {
                diff.isComplete = false
                return diff
            }
            let page = Array(accounts[start..<min(start + Self.page, accounts.count)])
            let pairs = page.flatMap { account in (held[account] ?? []).map { (account, $0) } }
            let moves = try await looking { session in
                try self.moves(
                    of: page, to: catalog, lines: .lines(of: pairs.map { UUID($0.0) }, pairs.map(\.1)), session)
            }
            diff.take(moves, of: page.count, naming: Self.named)
            onPage(diff.accounts)
        }
        return diff
    }

    /// Nil where the time was over before all were found: no account is whole before.
    private func allHeld(until time: ContinuousClock.Instant?) async throws -> [UniqueIdentifier: [PurchaseKey]]? {
        var held: [UniqueIdentifier: [PurchaseKey]] = [:]
        var last: PurchaseKey?
        while true {
            if last != nil, Self.isOver(time) { return nil }
            let after = last
            let (end, found) = try await looking { session in
                let keys = try Ledger().purchases(after: after, limit: 1000, session)
                return (keys.last, try self.holders(of: keys, session))
            }
            for (account, key) in found { held[account, default: []].append(key) }
            guard let end else { return held }
            last = end
        }
    }

    private func holders(
        of keys: [PurchaseKey], _ session: borrowing PostgresSession
    ) throws -> [(UniqueIdentifier, PurchaseKey)] {
        try session.query(
            PostgresQuery(
                "accounts.holders",
                """
                with \(embedding: .holders(of: keys))
                select token, environment, bundle_id, original_transaction_id from holder
                """)
        ).map { row in
            (
                UniqueIdentifier(try row.decode(0, as: UUID.self)),
                PurchaseKey(
                    environment: try row.decode(1), bundleID: try row.decode(2),
                    originalTransactionID: try row.decode(3))
            )
        }
    }

    private func looking<T: Sendable>(
        _ body: @Sendable (borrowing PostgresSession) throws -> T
    ) async throws -> T {
        try await pool.withTransaction(
            TransactionOptions(isolation: .repeatableRead, isReadOnly: true, name: "catalog.diff"), body)
    }

    private func moves(
        of accounts: [UniqueIdentifier], to catalog: Catalog, lines: PostgresQuery?,
        _ session: borrowing PostgresSession
    ) throws -> [CatalogDiff.Example] {
        guard !accounts.isEmpty else { return [] }
        let moment = try AccountMoment(session)
        let standing = try moment.current.map { try self.timeline($0, session) }
        let names = try names(of: accounts, session)
        let now = Timestamp(moment.clock)
        var next = standing ?? CatalogTimeline(catalog)
        next.append(catalog, from: now)
        return try load(accounts, for: next.catalogs, lines: lines, session).compactMap { account in
            let (facts, from) = (account.facts, account.keptFrom)
            func tier(_ timeline: CatalogTimeline) -> String {
                AccountState(facts, by: timeline, from: from).value(at: now).tier
            }
            let move = TierMove(environment: account.environment, before: standing.map(tier), after: tier(next))
            guard move.before != move.after else { return nil }
            return CatalogDiff.Example(token: account.token, name: names[account.token], move: move)
        }
    }

    private func names(
        of accounts: [UniqueIdentifier], _ session: borrowing PostgresSession
    ) throws -> [UniqueIdentifier: String] {
        try session.query(
            PostgresQuery(
                "accounts.names",
                """
                select token, account from storehook.accounts
                 where token = any(\(accounts.map { UUID($0) })) and account is not null
                """)
        ).reduce(into: [:]) { names, row in
            names[UniqueIdentifier(try row.decode(0, as: UUID.self))] = try row.decode(1, as: String.self)
        }
    }
}

extension AccountStore.CatalogDiff {
    fileprivate mutating func take(_ found: [Example], of count: Int, naming limit: Int) {
        accounts += count
        for example in found {
            if moves[example.move, default: 0] < limit { examples.append(example) }
            moves[example.move, default: 0] += 1
        }
    }
}
