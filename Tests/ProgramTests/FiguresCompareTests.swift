import Foundation
import Postgres
import TestSupport
import Testing

@Suite("storehook figures compare")
struct FiguresCompareTests {
    /// Three units of 4.99 € in Germany and a unit of 1.99 €. One of the three comes back.
    private func write(_ site: Site) async throws {
        try await site.pool.withTransaction { session in
            try session.executeScript(
                """
                create temporary table filling on commit drop as
                select n, (1000 + n)::text as key, case when n = 4 then 1990 else 4990 end as price,
                       '2026-03-10T12:00Z'::timestamptz as at from generate_series(1, 4) n;
                insert into storehook.order_classes (environment, bundle_id, product_id, plan_type, status, currency, storefront)
                values ('Production', 'com.example.storehook', '=sum', 'consumable', 'completed', 'EUR', 'DEU');
                insert into storehook.booked_orders
                       (environment, bundle_id, order_key, original_transaction_id, originally_at, day, class_id, plan_type, item, updated_at)
                select 'Production', 'com.example.storehook', key, key, at, at::date, c.id, 'consumable', key, at
                  from filling cross join storehook.order_classes c;
                insert into storehook.booked_transactions
                       (order_id, item, transaction_id, product_id, relation, is_within, starts_at, price, currency, storefront, quantity,
                        is_trial, is_void, revoked_share, refunded, heard_at, changed_at)
                select o.id, f.key, f.key, '=sum', 'initial_purchase', false, f.at, f.price, 'EUR', 'DEU', 1, false, false,
                       case n when 1 then 100000 else 0 end, case n when 1 then 4990 else 0 end, f.at, f.at
                  from filling f join storehook.booked_orders o on o.order_key = f.key;
                insert into storehook.booked_refunds (order_id, item, place, type, at, amount, is_computed, heard_at)
                select t.order_id, t.item, 0, 'refund', '2026-03-12T12:00Z', 4990, false, '2026-03-12T12:00Z'
                  from storehook.booked_transactions t where t.refunded > 0;
                """)
        }
    }

    /// The columns that a Summary Sales Report needs; https://developer.apple.com/help/app-store-connect/reference/summary-sales-report
    static func report(_ rows: [(units: String, price: String)], sku: String = "=sum") -> String {
        let columns =
            "SKU\tProduct Type Identifier\tUnits\tBegin Date\tEnd Date\tCustomer Currency\tCountry Code\tCustomer Price\n"
        return columns
            + rows.map { "\(sku)\tIA1\t\($0.units)\t03/01/2026\t03/31/2026\tEUR\tDE\t\($0.price)\n" }.joined()
    }

    private func compare(_ site: Site, _ report: String, _ arguments: [String] = []) async throws -> Outcome {
        let file = FileManager.default.temporaryDirectory.appending(path: "report-\(UUID().uuidString).txt")
        try report.write(to: file, atomically: true, encoding: .utf8)
        defer { try? FileManager.default.removeItem(at: file) }
        let program = try site.start(["figures", "compare", file.path] + arguments)
        let ending = await program.end()
        let outcome = Outcome(
            ending: ending, output: program.output, errors: program.errors, outputBytes: program.outputBytes)
        await program.discard()
        return outcome
    }

    private func members(_ outcome: Outcome) throws -> [String: Any] {
        try #require(try JSONSerialization.jsonObject(with: Data(outcome.output.utf8)) as? [String: Any])
    }

    @Test("A report that is equal is accepted, and one that differs by more than the tolerance exits with 1")
    func outcomes() async throws {
        try await withSite { site in
            try await write(site)
            let equal = try await compare(site, Self.report([("3", "4.99"), ("1", "1.99"), ("-1", "-4.99")]))
            #expect(equal.ending == .exited(0), "\(equal)")
            #expect(try members(equal)["equal"] as? Int == 3)
            #expect(try members(equal)["accepted"] as? Bool == true)

            let other = Self.report([("4", "4.99"), ("-1", "-4.99"), ("2", "0.99")])
            let differing = try await compare(site, other)
            #expect(differing.ending == .exited(1), "\(differing)")
            let lines = try #require(try members(differing)["lines"] as? [[String: Any]])
            #expect(lines.map { $0["outcome"] as? String } == ["only_theirs", "only_ours", "other_units"])
            #expect(lines.map { $0["apple_units"] as? Int } == [2, nil, 4])
            #expect(lines.map { $0["units"] as? Int } == [nil, 1, 3])
            #expect(lines.map { $0["unit_price"] as? Int } == [990, 1990, 4990])
            let tolerant = try await compare(site, other, ["--tolerance", "60%", "--format", "table"])
            #expect(tolerant.ending == .exited(0), "\(tolerant)")
            #expect(tolerant.output.contains("1 other units"), "\(tolerant)")
            #expect(tolerant.output.contains("within 60%"), "\(tolerant)")
            let csv = try await compare(site, other, ["--format", "csv", "--all"])
            #expect(csv.output.contains("equal,refund,\"'=sum\",DEU,EUR,4990,1,1,4990,4990"), "\(csv)")
        }
    }

    @Test("A file that is none of Apple's reports is refused whole, with line and reason, before the database is asked")
    func refusals() async throws {
        try await withSite { site in
            let broken = try await compare(site, Self.report([("3", "4.99"), ("three", "4.99"), ("1", "4,99")]))
            #expect(broken.ending == .exited(2), "\(broken)")
            #expect(
                broken.output.isEmpty && broken.errors.contains("line 3") && broken.errors.contains("line 4"),
                "\(broken)")
            let columns = try await compare(site, "SKU\tUnits\n")
            #expect(columns.ending == .exited(2) && columns.errors.contains("Customer Price"), "\(columns)")
            let missing = try site.start(["figures", "compare", "/nonexistent/report"])
            #expect(await missing.end() == .exited(2))
            #expect(missing.errors.contains("/nonexistent/report"))
            await missing.discard()
            let tolerance = try await compare(site, Self.report([("3", "4.99")]), ["--tolerance", "1/2"])
            #expect(tolerance.ending == .exited(2), "\(tolerance)")
        }
    }
}
