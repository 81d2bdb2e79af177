import AccountStore
import Accounts
import AppStorePayloads
import AuditStore
import Base
import Foundation
import OrderStore
import OrderSupport
import Pipeline
import Postgres
import Subscriptions
import TestSupport
import Testing

/// What staff wrote about a refund goes with the account, and the request stays.
struct RefundErasureTests {
    private static let words = "Heidi Roth asked by phone"

    @Test(arguments: [true, false])
    func `Erasing an account takes out its texts, here and in the audit, and breaks no chain`(hasCatalog: Bool)
        async throws
    {
        try await OrderDatabase.with(catalog: hasCatalog ? Shop.catalog() : nil) { site in
            let account = AccountIdentity(named: "heidi")
            let pipeline = EvidencePipeline(site.pool, ledger: site.ledger)
            let hers = try await site.month { $0.appAccountToken = account.token }
            let later = try await site.month("200")
            let others = try await site.month("300")
            var numbers: [RefundNumber] = []
            for order in [hers, later, others] {
                let made = try await site.refunds.create(.full, order: order, why: Self.words, by: anna)
                _ = try await site.refunds.reject(made.number, note: Self.words, by: anna)
                numbers.append(made.number)
            }
            // The purchase becomes hers after the request.
            if hasCatalog {
                let purchase = PurchaseKey(
                    environment: "Production", bundleID: Shop.app, originalTransactionID: "200")
                #expect(try await pipeline.move(purchase, to: account, by: "cli:anna", why: "hers"))
            }
            let erased = try #require(try await pipeline.erase(account, by: "cli:ben"))
            #expect(erased.textsForgotten == (hasCatalog ? 3 : 1))
            let gone = try #require(try await site.request(numbers[0]))
            #expect(gone.reason == nil && gone.note == nil && gone.textErasedAt != nil)
            #expect(gone.request.state == .rejected && gone.requester == "cli:anna")
            let moved = try #require(try await site.request(numbers[1]))
            #expect((moved.reason == nil) == hasCatalog)
            #expect(try await site.request(numbers[2])?.reason == Self.words)
            let rows = try await AuditLog(site.pool).rows(after: 0, through: .max)
                .filter { $0.subjectKind == "refund_request" }
            let kept = rows.filter { !$0.text.members.isEmpty }.map(\.subject)
            #expect(Set(kept) == (hasCatalog ? ["RF-003"] : ["RF-002", "RF-003"]) && rows.count == 6)
            #expect(try await AuditLog(site.pool).verify().fault == nil)
            // Nothing is written behind an erasure.
            let pending = try await site.refunds.create(.full, order: hers, why: "again", by: anna)
            try await site.pool.query(
                "update storehook.refund_request_texts set reason = null, note = null, erased_at = now()")
            let decided = try await site.refunds.approve(pending.number, note: Self.words, by: anna)
            #expect(decided.recorded.note == nil)
        }
    }
}
