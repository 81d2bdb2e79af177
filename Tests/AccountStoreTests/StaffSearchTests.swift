import AccountStore
import Base
import Foundation
import Postgres
import Staff
import Subscriptions
import TestSupport
import Testing

/// What searches of the staff led to, and the filters that the staff shares.
struct StaffSearchTests {
    private static let found: KeptSearch = {
        var search = KeptSearch(in: "Production")
        let key = PurchaseKey(environment: "Sandbox", bundleID: "com.example.app", originalTransactionID: "7\"")
        search.hits = [
            .init(.account, token: UniqueIdentifier(high: 1, low: 2)),
            .init(
                .orderLine, purchase: key, transactionID: "8", productID: "pro",
                purchasedAt: Timestamp(millisecondsSince1970: 5), order: "ORD-20260131-0001"),
        ]
        (search.others, search.isElsewhere, search.isMore, search.knowsIDs) = (["Sandbox"], true, true, false)
        return search
    }()

    @Test func `A search is kept as it was, for its member alone, for an hour, and the latest twenty`() async throws {
        try await AccountDatabase.with { database in
            let (kim, sam) = ("staff:1", "proxy:sam")
            let searches = StaffSearches(database.pool)
            let id = try await searches.keep(Self.found, of: kim)
            #expect(try await searches.search(id, of: kim) == Self.found)
            #expect(try await searches.search(id, of: sam) == nil)
            #expect(try await searches.search(UUID(), of: kim) == nil)
            _ = try await searches.keep(KeptSearch(in: "Sandbox"), of: sam)
            for _ in 0..<25 { _ = try await searches.keep(KeptSearch(in: "Production"), of: kim) }
            #expect(try await searches.search(id, of: kim) == nil)
            #expect(
                try await database.value(
                    "select count(*) from storehook.searches where actor = \(kim)", as: Int64.self) == 20)
            #expect(try await searches.dropOld() == 0)
            let late = try await searches.keep(Self.found, of: kim)
            try await database.pool.query(
                "update storehook.searches set made_at = now() - interval '61 minutes' where id = \(late)")
            #expect(try await searches.search(late, of: kim) == nil)
            #expect(try await searches.dropOld() == 1)
        }
    }

    @Test func `What another release wrote in another way leads to nothing`() async throws {
        try await AccountDatabase.with { database in
            let kim = "staff:1"
            for text in ["[]", "{}", #"{"environment": "Production", "hits": [{"kind": "star"}, 7]}"#] {
                let id: UUID = try await database.pool.query(
                    """
                    insert into storehook.searches (actor, found) values (\(kim), \(PostgresJSON(text))) returning id
                    """
                ).one().decode(0)
                #expect(try await StaffSearches(database.pool).search(id, of: kim)?.hits.isEmpty ?? true)
            }
        }
    }

    @Test func `A filter is saved once under its name, also by two at once, and 200 are the most`() async throws {
        try await AccountDatabase.with { database in
            let filters = SavedFilters(database.pool)
            let given = [(name: "status", value: "refunded"), (name: "app", value: "com.example.app")]
            let outcomes = try await withThrowingTaskGroup(of: Bool.self) { group in
                for name in ["Refunds", "refunds", "REFUNDS"] {
                    group.addTask {
                        do {
                            _ = try await filters.add(name, of: "orders", given, by: "staff:1")
                            return true
                        } catch SavedFilterRefusal.taken { return false }
                    }
                }
                return try await group.reduce(into: [Bool]()) { $0.append($1) }
            }
            #expect(outcomes.count { $0 } == 1)
            _ = try await filters.add("Refunds", of: "audit", [(name: "act", value: "grant")], by: "staff:2")
            let saved = try await filters.list(of: "orders")
            #expect(saved.count == 1 && saved[0].madeBy == "staff:1" && saved[0].page == "orders")
            #expect(saved[0].qualifiers.map(\.name) == ["status", "app"])
            #expect(saved[0].qualifiers.map(\.value) == ["refunded", "com.example.app"])
            #expect(try await filters.filter(saved[0].id) == saved[0])
            for number in 0..<198 { _ = try await filters.add("n\(number)", of: "jobs", given, by: "staff:1") }
            await #expect(throws: SavedFilterRefusal.full(most: 200)) {
                _ = try await filters.add("more", of: "jobs", given, by: "staff:1")
            }
            #expect(try await filters.list().count == 200)
            #expect(try await filters.remove(saved[0].id))
            #expect(try await !filters.remove(saved[0].id))
            #expect(try await filters.filter(saved[0].id) == nil)
        }
    }
}
