import AccountStore
import Accounts
import AppStorePayloads
import Base
import Foundation
import Postgres
import Simulation
import TestSupport
import Testing

@testable import AccountAPI

/// A purchase's trial ends, and then what was paid for, while everybody reads.
@Suite("A border that passes")
struct LiveBorderTests {
    private struct Sample: Sendable {
        var asked: Milliseconds
        var answered: Milliseconds
        var status: String
    }

    private static let readers = ["API", "guard", "SQL", "command"]
    /// By how much the answers may be early or late.
    private static let second: Milliseconds = 1000

    @Test("changes what the API, the guard, SQL and the command say within a second of it, in the wall clock's time")
    func borders() async throws {
        try await Shop.open { shop in
            let now = wallClock().millisecondsSince1970
            let (renewed, ended) = (now + 5_000, now + 9_000)
            var trial = try #require(shop.buy(lane: 401, for: "alice").notification.transaction)
            trial.offer = .freeWeek
            trial.expiresDate = renewed
            trial.signedDate = now - 1000
            var paid = trial
            paid.offer = nil
            paid.transactionId += "1"
            paid.webOrderLineItemId = paid.webOrderLineItemId.map { $0 + "1" }
            paid.transactionReason = "RENEWAL"
            (paid.purchaseDate, paid.expiresDate) = (renewed, ended)
            for record in [trial, paid] {
                let answer = try await shop.verify(shop.authority.sign(record.json), as: "alice")
                #expect(answer.status == 200, "\(answer.body)")
            }
            let samples = try await withThrowingTaskGroup(of: (String, [Sample]).self) { group in
                for reader in Self.readers {
                    group.addTask { (reader, try await Self.samples(of: reader, shop, until: ended + 1500)) }
                }
                return try await group.reduce(into: [String: [Sample]]()) { $0[$1.0] = $1.1 }
            }
            let spans: [(status: String, from: Milliseconds, to: Milliseconds)] = [
                ("trial", now, renewed), ("active", renewed, ended), ("expired", ended, .max),
            ]
            for (reader, samples) in samples {
                for (status, from, to) in spans {
                    let within = samples.filter {
                        $0.asked >= (status == "trial" ? from : from + Self.second)
                            && (to == .max || $0.answered < to - Self.second)
                    }
                    #expect(!within.isEmpty, "\(reader) was not asked while it is \(status)")
                    let others = within.filter { $0.status != status }
                    #expect(
                        others.isEmpty, "\(reader), \(renewed) and \(ended): \(others.prefix(3)) is to be \(status)")
                }
            }
        }
    }

    private static func samples(
        of reader: String, _ shop: Shop, until end: Milliseconds
    ) async throws -> [Sample] {
        var samples: [Sample] = []
        while samples.last.map({ $0.answered < end }) ?? true {
            let asked = wallClock().millisecondsSince1970
            let status = try await status(by: reader, shop)
            samples.append(Sample(asked: asked, answered: wallClock().millisecondsSince1970, status: status))
            try await Task.sleep(for: .milliseconds(50))
        }
        return samples
    }

    private static func status(by reader: String, _ shop: Shop) async throws -> String {
        switch reader {
        case "API": return try await shop.get("/v1/account", as: "alice").object?.string("status") ?? "-"
        case "guard":
            let answer = try await shop.get("/v1/guard", as: "alice")
            return answer.status == 204 ? answer.header("X-Storehook-Status") ?? "-" : "expired"
        case "SQL":
            let row = try await shop.api.observer.query(
                """
                select status, access, storehook.has_access_of('alice', \(SimulatedProduct.basicMonthly.id))
                  from storehook.account_status_now where account = 'alice' and environment = 'Production'
                """
            ).one()
            let (status, access): (String, Bool) = (try row.decode(0), try row.decode(1))
            let isHeld = try row.decode(2, as: Bool.self)
            // One statement has one instant.
            return access == (status != "expired") && isHeld == access ? status : "\(status) \(access) \(isHeld)"
        default:
            let token = Caller(AccountIdentity(named: "alice"), isServer: false).token
            return try await shop.accounts.history(of: token, in: "Production")?.current.status.rawValue ?? "-"
        }
    }
}
