import AccountAPI
import AccountStore
import Accounts
import AppStorePayloads
import Base
import EventStore
import Postgres
import Simulation
import TestSupport
import Testing

@testable import APIKit

@Suite("What apps hand in is told")
struct TellingTests {
    /// What was told of an account, in order: kind and cause.
    private func told(_ account: String, _ shop: Shop) async throws -> [String] {
        let token = AccountToken.of(account).description
        return try await shop.api.observer.query(
            """
            select kind || ' ' || (('{' || content || '}')::jsonb -> 'cause' ->> 'kind') from storehook.events
             where token = \(token)::text::uuid order by sequence
            """
        ).map { try $0.decode(0) }
    }

    @Test("all of it with one id, and the next request with another")
    func causes() async throws {
        try await Shop.open { shop in
            func ids(_ account: String) async throws -> Set<String> {
                Set(
                    try await shop.api.observer.query(
                        """
                        select ('{' || content || '}')::jsonb -> 'cause' ->> 'uuid' from storehook.events
                         where token = \(AccountToken.of(account).description)::text::uuid
                        """
                    ).map { try $0.decode(0) })
            }
            for (lane, account) in ["alice", "bob"].enumerated() {
                let bought = shop.buy(lane: lane + 1)
                let body =
                    #"{"signedTransactionInfo":"\#(bought.transaction)","signedRenewalInfo":"\#(bought.renewal ?? "")"}"#
                #expect(try await shop.post("/v1/subscriptions/verify", as: account, body).status == 200)
            }
            let (first, second) = (try await ids("alice"), try await ids("bob"))
            #expect(first.count == 1 && second.count == 1 && first.isDisjoint(with: second))
        }
    }

    @Test("once, in the transaction that takes it, and to both where a purchase moves")
    func proven() async throws {
        try await Shop.open(rule: .transfer) { shop in
            let bought = shop.buy(lane: 1)
            for _ in 0..<2 { #expect(try await shop.verify(bought.transaction, as: "alice").status == 200) }
            #expect(try await told("alice", shop) == ["subscription.started client", "account.access_changed client"])
            #expect(try await shop.verify(bought.transaction, as: "bob").status == 200)
            #expect(
                try await told("alice", shop).suffix(2)
                    == ["subscription.transferred client", "account.access_changed client"])
            #expect(
                try await told("bob", shop) == ["subscription.transferred client", "account.access_changed client"])
            // What is refused tells nothing.
            #expect(try await shop.verify("a.b.c", as: "bob").status == 400)
            #expect(try await told("bob", shop).count == 2)
            let ahead: Int64 = try await shop.api.observer.query(
                """
                select count(*) from storehook.events e join storehook.account_status_now s using (token, environment)
                 where e.version > s.version
                """
            ).one().decode(0)
            #expect(ahead == 0)
        }
    }
}
