import AppStorePayloads
import AppStoreVerification
import Base
import EvidenceStore
import Foundation
import Operations
import Postgres
import PurchaseStore
import Simulation
import StandInSupport
import Subscriptions
import TestSupport
import Testing

@Suite("Evidence of a renewal")
struct UnattributedRenewalTests {
    @Test("that names no known purchase waits for it, and is its own dead letter in the end")
    func unattributed() async throws {
        try await withBench { bench in
            let told = Bench.life()
            let (transaction, renewal) = (bench.records(told[0])[0], bench.records(told[0])[1])
            try await bench.outbox.store([renewal])
            let patient = ClaimPolicy(from: .seconds(3600), upTo: .seconds(3600))
            try await bench.withWorker(retries: patient) { _ in
                try await eventually("it waits") {
                    try await bench.value(
                        "select count(*) from storehook.outbox_queue where last_reason = 'purchase_unknown'",
                        as: Int64.self) == 1
                }
            }
            // Another one waits until its attempts are used up.
            let hasty = ClaimPolicy(
                maximumAttempts: 5, from: .milliseconds(10), upTo: .milliseconds(50))
            try await bench.outbox.store(Array(bench.records(Bench.life(lane: 2)[0]).suffix(1)))
            try await bench.withWorker(retries: hasty) { _ in
                try await eventually("it is given up") { try await bench.letters().count == 1 }
            }
            let letter = try #require(try await bench.letters().first)
            #expect(letter.reason == "purchase_unknown" && letter.kind == .renewal && letter.attempts == 5)
            #expect(letter.category == .unprocessable)

            // Its purchase is heard of, and it is due.
            try await bench.outbox.store([transaction])
            try await bench.workOffAll()
            #expect(
                try await bench.texts("select kind from storehook.records order by kind") == [
                    "renewal", "transaction",
                ])
            #expect(
                try await bench.value("select count(distinct bundle_id) from storehook.records", as: Int64.self) == 1)
            #expect(try await bench.rebuild(repair: false).differences == [])
        }
    }

    @Test("whose purchase cannot be looked up waits, and no attempt counts for that")
    func lookupRefused() async throws {
        try await withBench { bench in
            let told = Bench.life()
            let renewal = bench.records(told[0])[1]
            try await bench.install("alter table storehook.purchase_lines rename to mislaid;")
            try await bench.outbox.store([renewal])
            try await bench.withWorker { _ in
                try await eventually("it waits, uncounted") {
                    try await bench.value(
                        """
                        select count(*) from storehook.outbox_queue
                         where last_reason = 'sqlstate_42p01' and lease_token is null and attempts = 0
                        """, as: Int64.self) == 1
                }
            }
        }
    }

    @Test("whose purchase two apps claim is nobody's")
    func ambiguous() async throws {
        try await withBench { bench in
            let told = Bench.life()
            let json = try #require(told[0].transaction?.json)
            let other = String(decoding: json, as: UTF8.self).replacing(Bench.app.bundleId, with: "com.example.other")
            try await bench.outbox.store(
                [Evidence(.transaction, from: .api, Array(bench.authority.sign(Array(other.utf8)).utf8))]
                    + bench.records(told[0]))
            let both = bench.verifier { $0.apps["com.example.other"] = .some(nil) }
            try await bench.withWorker(both) { _ in
                try await eventually("it is given up") { try await bench.letters().count == 1 }
            }
            #expect(try await bench.letters().map(\.reason) == ["purchase_unknown"])
            #expect(try await bench.texts("select kind from storehook.records") == ["transaction", "transaction"])
        }
    }
}
