import Accounts
import EvidenceStore
import Foundation
import Postgres
import Simulation
import TestSupport
import Testing

/// A product that a customer has paid for and the catalog lacks, as operators see it.
@Suite("A product that the catalog lacks")
struct UnsoldProductCommandTests {
    private static let empty = """
        tiers: [{id: free}, {id: pro}]
        products:
          - {id: other, product_id: com.example.other, app: com.example.elsewhere, tier: pro, period: month, price: 4, currency: USD}
        features: [{id: words, limits: {free: 2 per day, pro: 5 per day}}]

        """
    private static let product = """
          - {id: basic, product_id: com.example.storehook.basic.monthly, app: com.example.storehook, tier: pro, period: month}
        """

    private func file(_ text: String, in directory: String) throws -> String {
        let path = "\(directory)/\(UUID().uuidString).yaml"
        try text.write(toFile: path, atomically: true, encoding: .utf8)
        return path
    }

    /// Maria buys by the month in Production, and a worker applies it.
    private func buy(_ site: Site) async throws {
        var customer = SimulatedSubscriber(
            app: Site.app.in(.production), appAccountToken: "\(AccountToken.of("maria"))", lane: 77, seed: 1)
        customer.buy(.basicMonthly, at: Milliseconds(Date().timeIntervalSince1970 * 1000) - 60_000)
        try await site.outbox.store(customer.takeNotifications().map { Array($0.signed(by: site.authority).utf8) })
        try await site.with(["work"]) { _ in try await site.untilDone() }
    }

    @Test("is named by doctor, account, diff and apply, each with what to do, until the catalog has it")
    func named() async throws {
        try await withSite { site in
            try await withTemporaryDirectory { directory in
                try await buy(site)
                let lacking = try file(Self.empty, in: directory)
                let applied = try await site.run("catalog", "apply", lacking)
                let answer = try #require(try applied.json() as? [String: Any])
                #expect(applied.ending == .exited(0) && answer["is_new"] as? Bool == true)
                let unsold = (answer["unsold_products"] as? [[String: Any]])?.map { $0["product_id"] as? String }
                #expect(unsold == ["com.example.storehook.basic.monthly"], "\(answer)")
                #expect(answer["unserved_apps"] as? [String] == ["com.example.elsewhere"], "\(answer)")

                try await site.with(["work", "--metrics-port", "0"]) { worker in
                    let page = "http://127.0.0.1:\(try await worker.metricsPort())/metrics"
                    try await eventually("the gauge counts it") {
                        try await fetch(page).body.contains(
                            #"storehook_unsold_products{app="com.example.storehook",environment="Production"} 1"#)
                    }
                }
                let doctor = try await site.run("doctor", "--format", "table", "--port", "1")
                let line = doctor.output.split(separator: "\n").first { $0.contains(" catalog ") } ?? ""
                #expect(
                    line.hasPrefix("TO DO") && line.contains("com.example.storehook.basic.monthly"), "\(doctor.output)")
                #expect(line.contains("storehook catalog apply"))

                let account = try await site.run("account", "maria", "--format", "table")
                #expect(account.output.contains("nothing is given for purchase"), "\(account.output)")
                #expect(account.output.contains("nothing: the catalog lacks it"), "\(account.output)")
                let shown = try #require(try await site.run("account", "maria").json() as? [String: Any])
                let purchase = (shown["purchases"] as? [[String: Any]])?.first
                #expect(purchase?["gives_nothing_because"] as? String == "not_in_catalog", "\(shown)")

                let whole = try file(
                    Self.empty.replacing("\nfeatures", with: "\n\(Self.product)\nfeatures"), in: directory)
                let diff = try await site.run("catalog", "diff", whole)
                let difference = try #require(try diff.json() as? [String: Any])
                #expect(diff.ending == .exited(1), "\(diff.errors)")
                let changes = (difference["changes"] as? [[String: Any]])?.map {
                    "\($0["part"] ?? "") \($0["id"] ?? "")"
                }
                #expect(changes == ["product basic"] && (difference["unsold_products"] as? [Any])?.isEmpty == true)
                #expect(difference["changed"] as? Int == 1, "\(difference)")
                #expect(try await site.run("catalog", "apply", whole).ending == .exited(0))
                let later = try await site.run("account", "maria", "--format", "table")
                #expect(
                    later.output.contains("tier pro") && !later.output.contains("nothing is given"), "\(later.output)")
            }
        }
    }

    @Test("diff tells of a price and a limit, which move no account; the same again is no difference and no version")
    func contents() async throws {
        try await withSite { site in
            try await withTemporaryDirectory { directory in
                let first = try file(Self.empty, in: directory)
                let everything = try await site.run("catalog", "diff", first)
                #expect(everything.ending == .exited(1))
                #expect(try await site.run("catalog", "apply", first).ending == .exited(0))
                let same = try await site.run("catalog", "diff", first, "--format", "table")
                #expect(same.ending == .exited(0) && same.output.contains("it says what the current catalog says"))
                let noted = try file("# a comment\n" + Self.empty, in: directory)
                let again = try await site.run("catalog", "apply", noted)
                let answer = try #require(try again.json() as? [String: Any])
                #expect(
                    again.ending == .exited(0) && answer["is_new"] as? Bool == false && answer["version"] as? Int == 1)
                #expect(try await site.value("select count(*) from storehook.catalogs", as: Int64.self) == 1)
                let dearer = try file(
                    Self.empty.replacing("price: 4", with: "price: 5").replacing("pro: 5", with: "pro: 6"),
                    in: directory)
                let diff = try await site.run("catalog", "diff", dearer, "--format", "table")
                #expect(diff.ending == .exited(1) && diff.errors.isEmpty, "\(diff)")
                for words in [
                    "no account is known yet", "price", "4.00", "5.00", "limits.pro", "5 per day", "6 per day",
                ] {
                    #expect(diff.output.contains(words), "\(words): \(diff.output)")
                }
            }
        }
    }
}
