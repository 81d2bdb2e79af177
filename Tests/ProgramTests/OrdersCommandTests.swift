import Foundation
import Postgres
import TestSupport
import Testing

@Suite("storehook orders")
struct OrdersCommandTests {
    private static let token = "7f1de78e-0d4e-4c5e-9d3c-000000000001"

    /// Orders as the books have them: the first has a product that a spreadsheet would run, each fifth is refunded, the last has no number
    /// yet, and the one before it is hidden.
    private func write(_ site: Site, _ count: Int) async throws {
        try await site.pool.withTransaction { session in
            try session.executeScript(
                """
                create temporary table filling on commit drop as
                select n, (1000 + n)::text as key, case n when 1 then '=HYPERLINK("http://x")' else 'com.example.storehook.basic.monthly' end
                           as product_id, case when n % 5 = 0 then 'refunded' else 'completed' end as status
                  from generate_series(1, :count) n;
                insert into storehook.order_classes (environment, bundle_id, product_id, plan_type, status, currency, storefront)
                select distinct 'Production', 'com.example.storehook', product_id, 'consumable', status, 'EUR', 'DEU' from filling;
                insert into storehook.booked_orders
                       (environment, bundle_id, order_key, original_transaction_id, originally_at, day, number, created_at, class_id,
                        plan_type, status, item, refunded_at, updated_at)
                select 'Production', 'com.example.storehook', f.key, f.key, '2026-03-01Z', '2026-03-01', case when n < :count then n end,
                       '2026-03-01T00:00:01Z', case when n <> :count - 1 then c.id end, 'consumable', f.status, f.key,
                       case when f.status = 'refunded' then '2026-03-02Z'::timestamptz end, '2026-03-02Z'
                  from filling f join storehook.order_classes c using (product_id, status) order by n;
                insert into storehook.booked_transactions
                       (order_id, item, transaction_id, product_id, relation, is_within, starts_at, price, currency, storefront, quantity,
                        is_trial, is_void, revoked_share, refunded, heard_at, changed_at)
                select o.id, f.key, f.key, f.product_id, 'initial_purchase', false, '2026-03-01Z', 4990, 'EUR', 'DEU', 1, false, false,
                       case when f.status = 'refunded' then 100000 else 0 end, case when f.status = 'refunded' then 4990 else 0 end,
                       '2026-03-01Z', '2026-03-02Z'
                  from filling f join storehook.booked_orders o on o.order_key = f.key where o.class_id is not null;
                insert into storehook.booked_refunds (order_id, item, place, type, at, amount, is_computed, heard_at)
                select t.order_id, t.item, 0, 'refund', '2026-03-02Z', 4990, false, '2026-03-02Z'
                  from storehook.booked_transactions t where t.refunded > 0;
                insert into storehook.purchase_lines (environment, bundle_id, original_transaction_id)
                select 'Production', 'com.example.storehook', key from filling;
                insert into storehook.purchase_bindings
                       (environment, bundle_id, original_transaction_id, kind, token)
                select 'Production', 'com.example.storehook', key, 'proof', ':token' from filling where n <= 2;
                insert into storehook.accounts (token, account) values (':token', '-alice');
                """.replacing(":count", with: "\(count)").replacing(":token", with: Self.token))
        }
    }

    private func orders(_ text: String) throws -> [[String: Any]] {
        let value = try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any]
        return try #require(value?["orders"] as? [[String: Any]])
    }

    @Test("list has pages, filters, three formats and shortened accounts")
    func list() async throws {
        try await withSite { site in
            try await site.apply(catalog: shopCatalog)
            #expect(try await site.run("orders", "list", "--format", "table").output == "nothing is listed\n")
            try await write(site, 30)
            let first = try await site.run("orders", "list")
            #expect(first.ending == .exited(0), "\(first.errors)")
            let page = try orders(first.output)
            #expect(page.count == 25 && page[0]["number"] as? String == "…")
            #expect(page[1]["number"] as? String == "ORD-20260301-0028", "29 is hidden")
            #expect(page[3]["amount"] as? Int == 4990 && page[3]["product_name"] as? String == "basic")
            let next = try #require(
                first.output.firstMatch(of: /"next": ?"([^"]+)"/).map { String($0.output.1) })
            let second = try await site.run("orders", "list", "--after", next, "--limit", "100")
            #expect(try orders(second.output).compactMap { $0["number"] as? String }.last == "ORD-20260301-0001")
            #expect(try orders(second.output).count == 4)
            let refunded = try await site.run(
                "orders", "list", "--refunded", "yes", "--currency", "eur", "--format", "table")
            #expect(
                refunded.output.split(separator: "\n").count == 7 && refunded.output.contains("4.99 EUR"), "\(refunded)"
            )
            let searched = try await site.run("orders", "list", "--search", "ord-20260301-002", "--status", "completed")
            #expect(try orders(searched.output).count == 7)
            let shortened = try orders(try await site.run("orders", "list", "--search", "1002").output)
            #expect(shortened[0]["account"] as? String == "-a…" && shortened[0]["token"] == nil)
            for wrong in [
                ["--after", "x"], ["--after", "2026-03-01/x"], ["--from", "yesterday"], ["--limit", "0"], ["--all"],
                ["--updated-since", "now"], ["--status", "lost"], ["--why", "x"], ["--search", ""],
            ] {
                let program = try site.start(["orders", "list"] + wrong)
                #expect(await program.end() == .exited(2), "\(wrong)")
                await program.discard()
            }
            let tier = try await site.run("orders", "list", "--tier", "gold")
            #expect(tier.ending == .exited(1) && tier.errors.contains("gold"), "\(tier.errors)")
        }
    }

    @Test("list writes CSV that no spreadsheet runs, all of it page after page, and puts opened accounts on record")
    func csv() async throws {
        try await withSite { site in
            try await site.apply(catalog: shopCatalog)
            try await write(site, 2300)
            let all = try await site.run("orders", "list", "--all", "--format", "csv")
            #expect(all.ending == .exited(0), "\(all.errors)")
            let lines = all.output.split(separator: "\n")
            #expect(
                lines.count == 2300 && lines[0].hasPrefix("number,day,status,"),
                "29 is hidden, and a line has the names")
            #expect(Set(lines).count == lines.count && !all.errors.contains("--after"))
            #expect(
                lines[2299].contains(#""'=HYPERLINK(""http://x"")""#) && lines[2299].contains("'-a…"), "\(lines[2299])")
            #expect(lines[2297].contains(#""[{""currency"":""EUR"",""paid"":4990,""refunded"":0}]""#), "\(lines[2297])")
            let page = try await site.run("orders", "list", "--format", "csv")
            #expect(page.output.split(separator: "\n").count == 26 && page.errors.contains("--after 2026-03-01/"))
            let opened = try await site.run(
                "orders", "list", "--all", "--format", "csv", "--open", "--why", "books", "--as", "anna")
            #expect(opened.ending == .exited(0) && opened.output.contains("'-alice"), "\(opened.errors)")
            let noted = try await site.run("audit", "list", "--format", "json")
            #expect(noted.output.contains("anna") && noted.output.contains("open"), "\(noted.output)")
        }
    }

    @Test("show has an order with its lines; find names it; a shared one is named so, and an unknown one is none")
    func show() async throws {
        try await withSite { site in
            try await site.apply(catalog: shopCatalog)
            try await write(site, 12)
            let shown = try await site.run("orders", "show", "ord-20260301-0005")
            #expect(shown.ending == .exited(0), "\(shown.errors)")
            for part in [
                #""number":"ORD-20260301-0005""#, #""type":"initial_purchase""#, #""type":"refund""#,
                #""status":"refunded""#,
            ] {
                #expect(shown.output.replacing("\": ", with: "\":").contains(part), "\(part): \(shown.output)")
            }
            let table = try await site.run("orders", "show", "1005", "--format", "table")
            #expect(table.output.contains("ORD-20260301-0005") && table.output.contains("4.99 EUR"), "\(table.output)")
            let shared = try await site.run("orders", "show", "ORD-20260301-0011")
            #expect(shared.ending == .exited(0) && shared.output.contains("shared") && !shared.output.contains("4990"))
            for unknown in ["ORD-20260301-0012", "ORD-20260301-00", "9999", "x'; --"] {
                let none = try await site.run("orders", "show", unknown)
                #expect(none.ending == .exited(1) && none.errors.contains("orders list"), "\(unknown): \(none.errors)")
            }
            let found = try await site.run("find", "ord-20260301-0005")
            #expect(found.output.contains("storehook orders show ORD-20260301-0005"), "\(found)")
            #expect(try await site.run("find", "ORD-20260301-0011").output.contains("shared"))
            let nowhere = try await site.run("find", "ORD-20260301-00")
            #expect(nowhere.ending == .exited(1) && nowhere.errors.contains("orders list --search ORD-20260301-00"))
        }
    }
}
