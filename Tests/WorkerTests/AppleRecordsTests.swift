import AppStorePayloads
import AppStoreVerification
import Base
import EvidenceStore
import Foundation
import Operations
import Postgres
import PurchaseStore
import StandInSupport
import Subscriptions
import TestSupport
import Testing

/// Notifications that Apple really signed are not ours to publish; who has some sets `STOREHOOK_APPLE_SIGNED` to their directory.
@Suite(
    "Records that Apple signed, by themselves",
    .enabled(
        if: ProcessInfo.processInfo.environment["STOREHOOK_APPLE_SIGNED"] != nil,
        "STOREHOOK_APPLE_SIGNED names no directory of notifications signed by Apple"))
struct AppleRecordsTests {
    private let directory = URL(
        fileURLWithPath: ProcessInfo.processInfo.environment["STOREHOOK_APPLE_SIGNED"] ?? "/nowhere")

    /// The notifications, the records in them, and the apps they are about.
    private func samples() throws -> (
        notifications: [Evidence], records: [Evidence], apps: [String: Int64?]
    ) {
        let files = try FileManager.default.contentsOfDirectory(at: directory, includingPropertiesForKeys: nil)
            .filter { $0.pathExtension == "jws" }.sorted { $0.path < $1.path }
        var found: (notifications: [Evidence], records: [Evidence], apps: [String: Int64?]) = ([], [], [:])
        for file in files {
            let jws = [UInt8](try Data(contentsOf: file))
            found.notifications.append(Evidence(.notification, from: .history, jws))
            let payload = try #require(Base64.url.decode(Array(jws.split(separator: UInt8(ascii: "."))[1])))
            guard case .data(let data) = try NotificationPayload.decode(payload).part else { continue }
            if let app = data.bundleId, found.apps[app] == nil || data.appAppleId != nil {
                found.apps[app] = .some(data.appAppleId)
            }
            if let text = data.signedTransactionInfo {
                found.records.append(Evidence(.transaction, from: .api, Array(text.utf8)))
            }
            if let text = data.signedRenewalInfo {
                found.records.append(Evidence(.renewal, from: .api, Array(text.utf8)))
            }
        }
        return found
    }

    @Test("are applied like the notifications that bring them, before these or after, to the same rows")
    func anyOrder() async throws {
        let samples = try samples()
        #expect(samples.records.count > 5)
        let verifier = Verifier(configuration: VerifierConfiguration(apps: samples.apps), clock: { .distantFuture })
        var expected: [String]?
        for isFirst in [true, false] {
            try await withBench { bench in
                for part in isFirst
                    ? [samples.records, samples.notifications] : [samples.notifications, samples.records]
                {
                    try await bench.outbox.store(part)
                    try await bench.workOff(verifier)
                }
                let books = try await bench.outbox.conservation()
                #expect(books.applied == Int64(samples.notifications.count + samples.records.count) && books.dead == 0)
                let rows = try await bench.pool.query(
                    """
                    select row from (
                        select to_jsonb(t)::text as row from storehook.transactions t
                        union all select to_jsonb(r)::text from storehook.renewals r
                        union all select (to_jsonb(s) - array['first_stored_at', 'last_stored_at'])::text
                                    from storehook.subscriptions s
                        union all select (to_jsonb(f) - 'outbox_id')::text from storehook.purchase_facts f) all_rows
                     order by row
                    """
                ).map { try $0.decode(0, as: String.self) }
                #expect(expected ?? rows == rows)
                expected = expected ?? rows
                let report = try await Rebuild(pool: bench.pool, verifier: verifier, ledger: Ledger())
                    .run(repair: false) { _ in
                    } onDifference: { difference in
                        Issue.record("\(difference)")
                    }
                #expect(report.purchases > 0 && report.differences == 0)
            }
        }
    }

    @Test("are refused as what they are not, and where somebody else signed them")
    func refused() async throws {
        let samples = try samples()
        let verifier = Verifier(configuration: VerifierConfiguration(apps: samples.apps), clock: { .distantFuture })
        try await withBench { bench in
            let mixed = samples.records.map {
                Evidence($0.kind == .transaction ? .renewal : .transaction, from: .client, $0.bytes)
            }
            let homemade = directory.appending(path: "rejected/B12-transaction.jws")
            let xcode = Evidence(.transaction, from: .client, [UInt8](try Data(contentsOf: homemade)))
            try await bench.outbox.store(mixed + [xcode])
            try await bench.workOff(verifier)
            let letters = try await bench.letters()
            #expect(letters.filter { $0.reason == "malformed_payload" }.count == mixed.count)
            #expect(letters.filter { $0.reason == "wrong_chain_length" }.count == 1)
            #expect(try await bench.outbox.conservation().applied == 0)
        }
    }
}
