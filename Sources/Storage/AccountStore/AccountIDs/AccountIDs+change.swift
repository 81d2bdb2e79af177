package import Accounts
import AppStorePayloads
package import Base
import Foundation
import Postgres

/// A change of the rule of account ids, made or only worked out.
package struct AccountIDChange: Sendable {
    /// An id that has another token under the new rule, or is no id under it.
    package struct Moved: Sendable, Hashable {
        /// The id.
        package var id: String
        /// The token that it had; all that was recorded for it stays there.
        package var token: UniqueIdentifier
        /// The token that it has; nil where it is no id any more.
        package var newToken: UniqueIdentifier?
    }

    /// The rule before; nil where there was none.
    package var before: AccountIDRule?
    /// The new rule.
    package var rule: AccountIDRule
    /// How many ids have another token.
    package var count = 0
    /// The first of them.
    package var first: [Moved] = []
    /// Whether it was done.
    package var isDone = false

    /// Whether there is anything to do.
    package var isNone: Bool { before == rule && count == 0 }
}

extension AccountIDs {
    /// How many rows are read at a time.
    private static let page = 5000

    /// Changes the rule, or only finds what would change.
    ///
    /// Nothing is moved: what is signed and recorded for a token stays with it. An id that no longer has this token is removed, so that
    /// only the token is known.
    ///
    /// It is one transaction. Programs that write an id meanwhile wait for it; readers and workers do not wait. An id that a program of
    /// an earlier release writes afterwards, by no rule, is removed by the next change.
    /// - Parameters:
    ///   - person: who does it; nil to change nothing.
    ///   - listing: how many ids are listed.
    package func change(to rule: AccountIDRule, by person: String?, listing most: Int) async throws -> AccountIDChange {
        let options =
            person == nil
            ? TransactionOptions(isolation: .repeatableRead, isReadOnly: true, name: "account_ids.change")
            : AccountStore.holding("account_ids.change")
        return try await pool.withTransaction(options) { session in
            var change = AccountIDChange(rule: rule)
            change.before = try self.hold(changing: person != nil, session)
            // Consents first, then what only answers named: what they name beside the accounts is found while those have their names.
            for source in [Source.consents, .names, .accounts] {
                try self.pages(of: source, session) { page in
                    let moved = page.filter { rule.account($0.id)?.token != $0.token }
                    if person != nil { try session.query(source.forget(moved)) }
                    for var one in moved where !one.isKnown {
                        one.moved.newToken = rule.account(one.id)?.token
                        change.count += 1
                        if change.first.count < most { change.first.append(one.moved) }
                    }
                }
            }
            if let person {
                try session.query(
                    PostgresQuery(
                        "account_ids.set",
                        """
                        update storehook.account_ids
                           set rule = \(rule.rawValue), named_at = now(), named_by = \(String(person.prefix(200)))
                        """))
                change.isDone = true
            }
            return change
        }
    }

    /// Reads the rule. Where it is to be changed, programs that write an id wait from here on.
    private func hold(changing isChange: Bool, _ session: borrowing PostgresSession) throws -> AccountIDRule? {
        let lock = isChange ? "for update" : ""
        return try session.query(
            PostgresQuery(
                "account_ids.hold", "select rule from storehook.account_ids \(unescaped: lock)")
        ).filter { try $0.decode(0, as: String?.self) != nil }.first?.decode("rule", among: AccountIDRule.self)
    }

    private func pages(
        of source: Source, _ session: borrowing PostgresSession, _ take: ([Named]) throws -> Void
    ) throws {
        var last: Named?
        while true {
            let page = try session.query(source.page(after: last, most: Self.page)).map { try Named($0) }
            try take(page)
            guard page.count == Self.page else { return }
            last = page.last
        }
    }

    /// An id with a token.
    private struct Named {
        var moved: AccountIDChange.Moved
        /// Whether the accounts have it, too.
        var isKnown: Bool
        var id: String { moved.id }
        var token: UniqueIdentifier { moved.token }

        init(_ row: PostgresRow) throws {
            moved = AccountIDChange.Moved(
                id: try row.decode(1), token: UniqueIdentifier(try row.decode(0, as: UUID.self)))
            isKnown = try row.decode(2)
        }
    }

    /// The tables that have ids.
    private enum Source {
        case accounts, names, consents

        func page(after last: Named?, most: Int) -> PostgresQuery {
            let (token, id) = (last.map { UUID($0.token) }, last?.id)
            switch self {
            case .accounts:
                return PostgresQuery(
                    "account_ids.accounts",
                    """
                    select token, account, false from storehook.accounts
                     where account is not null and token > coalesce(\(token), '00000000-0000-0000-0000-000000000000')
                     order by token limit \(Int64(most))
                    """)
            case .names:
                return PostgresQuery(
                    "account_ids.names",
                    """
                    select token, account,
                           exists (select from storehook.accounts a where (a.token, a.account) = (n.token, n.account))
                      from storehook.account_names n
                     where token > coalesce(\(token), '00000000-0000-0000-0000-000000000000')
                     order by token limit \(Int64(most))
                    """)
            case .consents:
                return PostgresQuery(
                    "account_ids.consents",
                    """
                    select c.app_account_token, c.account,
                           exists (select from storehook.accounts a
                                    where a.token = c.app_account_token and a.account = c.account)
                           or exists (select from storehook.account_names n
                                       where n.token = c.app_account_token and n.account = c.account)
                      from storehook.consumption_consents c
                     where c.account is not null
                       and (c.app_account_token, c.account)
                           > (coalesce(\(token), '00000000-0000-0000-0000-000000000000'), coalesce(\(id), ''))
                     group by c.app_account_token, c.account
                     order by c.app_account_token, c.account limit \(Int64(most))
                    """)
            }
        }

        /// Removes ids; in the order in which every transaction locks accounts.
        func forget(_ ids: [Named]) -> PostgresQuery {
            let (tokens, names) = (ids.map { UUID($0.token) }, ids.map(\.id))
            switch self {
            case .accounts:
                return PostgresQuery(
                    "account_ids.forget",
                    """
                    with held as (
                        select a.token from storehook.accounts a
                          join unnest(\(tokens), \(names)) as n (token, account) using (token, account)
                         order by a.token for update of a
                    )
                    update storehook.accounts a set account = null from held where a.token = held.token
                    """)
            case .names:
                return PostgresQuery(
                    "account_ids.forget_names",
                    """
                    delete from storehook.account_names n using unnest(\(tokens), \(names)) as moved (token, account)
                     where (n.token, n.account) = (moved.token, moved.account)
                    """)
            case .consents:
                return PostgresQuery(
                    "account_ids.forget_consents",
                    """
                    update storehook.consumption_consents c set account = null
                      from unnest(\(tokens), \(names)) as n (token, account)
                     where c.app_account_token = n.token and c.account = n.account
                    """)
            }
        }
    }
}

extension AccountIDs {
    /// The first accounts whose tokens cannot be those of their ids under a rule, by the form of the ids. Programs of earlier releases
    /// wrote them.
    package func misnamed(under rule: AccountIDRule, most: Int) async throws -> [String] {
        let uuid = "^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$"
        let misfit =
            switch rule {
            case .auto: "lower(account) = token::text and substr(account, 15, 1) = '5'"
            case .text: "lower(account) = token::text"
            case .uuid: "lower(account) <> token::text or account !~* '\(uuid)'"
            }
        return try await pool.query(
            PostgresQuery(
                "account_ids.misnamed",
                """
                (select account from storehook.accounts
                  where account is not null and (\(unescaped: misfit)) limit \(Int64(most)))
                 union all
                (select account from storehook.account_names where \(unescaped: misfit) limit \(Int64(most)))
                 limit \(Int64(most))
                """)
        ).map { try $0.decode(0) }
    }
}
