import Foundation
import Simulation
import StandInSupport
import StorehookClient
import StorehookClientTesting
import TestSupport
import Testing

@Suite("A purchase source at the stand-in")
struct StandInSourceTests {
    private static let prefix = "com.example.storehook."
    private static let token = UUID()

    private static func source(
        _ shop: RunningStandIn, _ customer: String = "anna", interval: TimeInterval? = nil
    ) throws -> StandInSource {
        StandInSource(url: try #require(URL(string: shop.url)), customer: customer, interval: interval)
    }

    private static func transactions(_ results: [StoreResult]) -> [StoreTransaction] {
        results.compactMap { if case .verified(let transaction) = $0 { transaction } else { nil } }
    }

    private static func bought(_ outcome: PurchaseOutcome) throws -> StoreTransaction {
        guard case .success(.verified(let transaction)) = outcome else { throw NeverHappened("bought: \(outcome)") }
        return transaction
    }

    @Test("lists what is sold of what it is asked for, and nothing for a customer who has bought nothing")
    func products() async throws {
        try await RunningStandIn.with { shop in
            let source = try Self.source(shop)
            let ids = ["lifetime.unlock", "basic.weekly"].map { Self.prefix + $0 }
            let products = try await source.products([ids[0], "nothing", ids[1]])
            #expect(products.map(\.id) == ids && products.map(\.displayName) == ["lifetime unlock", "basic weekly"])
            #expect(products.map(\.displayPrice) == ["$149.99", "$1.99"])
            #expect(try await source.currentEntitlements().isEmpty)
            #expect(try await source.unfinished().isEmpty)
            try await source.sync()
        }
    }

    @Test("buys with the account's token; a new source, as a new start, has it until it is finished")
    func purchases() async throws {
        try await RunningStandIn.with { shop in
            let source = try Self.source(shop, "an/na ä")
            let outcome = try await source.purchase(Self.prefix + "basic.weekly", appAccountToken: Self.token)
            let bought = try Self.bought(outcome)
            #expect(bought.productID == Self.prefix + "basic.weekly" && bought.appAccountToken == Self.token)
            #expect(bought.id == bought.originalID && bought.signedRenewalInfo != nil && bought.revokedAt == nil)
            let end = try #require(bought.expiresAt)
            #expect(abs(end.timeIntervalSince(bought.purchasedAt) - 7 * 86_400) < 0.01)
            let again = try Self.source(shop, "an/na ä")
            #expect(Self.transactions(try await again.unfinished()).map(\.id) == [bought.id])
            #expect(Self.transactions(try await again.currentEntitlements()).map(\.id) == [bought.id])
            for _ in 0..<2 { try await again.finish(bought) }
            #expect(try await source.unfinished().isEmpty)
            #expect(try await source.currentEntitlements().count == 1)
        }
    }

    @Test("hands each reader what comes by itself, once as it stands: renewals, refunds, what was approved")
    func updates() async throws {
        try await RunningStandIn.with(StandInConfiguration(daysBehind: 30)) { shop in
            let source = try Self.source(shop)
            var readers = [source.updates.makeAsyncIterator(), source.updates.makeAsyncIterator()]
            func next() async throws -> [StoreTransaction] {
                var found: [StoreTransaction] = []
                for index in readers.indices {
                    var reader = readers[index]
                    guard case .verified(let transaction)? = await reader.next() else {
                        throw NeverHappened("a transaction")
                    }
                    readers[index] = reader
                    found.append(transaction)
                }
                return found
            }
            let weekly = try Self.bought(
                try await source.purchase(Self.prefix + "basic.weekly", appAccountToken: Self.token))
            await source.look()
            source.faults.next(.pending)
            let pending = try await source.purchase(Self.prefix + "lifetime.unlock", appAccountToken: Self.token)
            guard case .pending = pending else {
                Issue.record("\(pending)")
                return
            }
            #expect(try await source.unfinished().count == 1)
            try await source.approve()
            for transaction in try await next() { #expect(transaction.productID == Self.prefix + "lifetime.unlock") }
            try await shop.shop("clock", #"{"advanceSeconds":\#(8 * 86_400)}"#)
            for _ in 0..<2 { await source.look() }
            for transaction in try await next() {
                #expect(transaction.originalID == weekly.id && transaction.id != weekly.id)
            }
            for isRevoked in [true, false] {
                try await shop.shop(isRevoked ? "refunds" : "refund-reversals", "{\"transactionId\":\"\(weekly.id)\"}")
                await source.look()
                for transaction in try await next() {
                    #expect(transaction.id == weekly.id && (transaction.revokedAt != nil) == isRevoked)
                }
            }
        }
    }

    @Test("looks by itself while somebody reads, and no longer")
    func reading() async throws {
        try await RunningStandIn.with { shop in
            let source = try Self.source(shop, interval: 0.02)
            let updates = source.updates
            let other = try Self.source(shop)
            let bought = try Self.bought(
                try await other.purchase(Self.prefix + "coins.100", appAccountToken: Self.token))
            let reading = Task {
                var ids: [String] = []
                for await case .verified(let transaction) in updates {
                    ids.append(transaction.id)
                    withUnsafeCurrentTask { $0?.cancel() }
                }
                return ids
            }
            #expect(await reading.value == [bought.id])
        }
    }

    @Test("breaks off where it is asked to, before or after the stand-in has done it")
    func cuts() async throws {
        try await RunningStandIn.with { shop in
            let source = try Self.source(shop)
            let product = Self.prefix + "coins.100"
            source.faults.cut(.purchase)
            await #expect(throws: StandInError.cut(.purchase)) {
                _ = try await source.purchase(product, appAccountToken: Self.token)
            }
            #expect(try await source.unfinished().isEmpty)
            source.faults.cut(.purchase, .after)
            await #expect(throws: StandInError.cut(.purchase)) {
                _ = try await source.purchase(product, appAccountToken: Self.token)
            }
            let held = Self.transactions(try await source.unfinished())
            #expect(held.count == 1)
            let transaction = try #require(held.first)
            source.faults.cut(.finish, .after)
            await #expect(throws: StandInError.cut(.finish)) { try await source.finish(transaction) }
            #expect(try await source.unfinished().isEmpty)
            source.faults.next(.cancelled)
            let outcome = try await source.purchase(product, appAccountToken: Self.token)
            guard case .cancelled = outcome else {
                Issue.record("\(outcome)")
                return
            }
            source.faults.isOffline = true
            await #expect(throws: StandInError.cut(.products)) { _ = try await source.products([product]) }
            source.faults.isOffline = false
            await #expect(throws: StandInError.self) {
                _ = try await source.purchase("nothing", appAccountToken: Self.token)
            }
            let again = try Self.bought(try await source.purchase(product, appAccountToken: Self.token))
            source.faults.distrust(again.id)
            guard case .unverified(let distrusted?, _)? = try await source.unfinished().first else {
                Issue.record("it is trusted")
                return
            }
            #expect(distrusted.id == again.id)
        }
    }
}
