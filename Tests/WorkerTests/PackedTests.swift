import AppStorePayloads
import Foundation
import Ledger
import Operations
import Outbox
import Postgres
import Simulator
import TestSupport
import Testing

@Suite("A worker and the headers of signatures")
struct PackedTests {
    private func headers(_ bench: Bench) async throws -> Int64 {
        try await bench.value("select count(*) from storehook.signature_headers")
    }

    @Test("keeps the header of what it has verified, once, and of nothing else")
    func keeps() async throws {
        try await withBench { bench in
            let stranger = try SimulatedAuthority.generate()
            let genuine = bench.purchase().signed(by: bench.authority)
            // Genuine certificates before a payload that nobody signed.
            let forged = genuine.split(separator: ".").prefix(1) + ["e30", "AAAA"]
            try await bench.store(["a.b.c", forged.joined(separator: "."), bench.purchase().signed(by: stranger)])
            try await bench.workOff()
            #expect(try await headers(bench) == 0)
            try await bench.store([genuine] + bench.tests(3, lane: 2).map(\.text))
            try await bench.workOff()
            try await bench.store(bench.tests(3, lane: 3).map(\.text))
            try await bench.workOff()
            #expect(try await headers(bench) == 1)
            #expect(try await bench.outbox.conservation().applied == 7)
        }
    }

    @Test("applies packed and posted bytes alike, and everything that shows them shows what was posted")
    func alike() async throws {
        for isPacked in [false, true] {
            try await withBench { bench in
                let simulation = Simulation(seed: 11, subscribers: 6, notifications: 60, endingAt: Bench.now)
                let texts = Array(simulation.signedDeliveries(by: bench.authority))
                if isPacked { try await bench.outbox.keepHeaders(of: [Array(texts[0].utf8)]) }
                try await bench.store(texts)
                let packed: Int64 = try await bench.value("select count(*) from storehook.outbox where packing = 1")
                #expect(packed == (isPacked ? 60 : 0))
                try await bench.workOff()
                #expect(try await bench.outbox.conservation().applied == 60)
                let rebuild = Rebuild(pool: bench.pool, verifier: bench.verifier(), ledger: Ledger())
                let report = try await rebuild.run(repair: false) { _ in
                } onDifference: { _ in
                }
                #expect(report.purchases > 0 && report.differences == 0 && report.withoutBytes == 0)
                for row in try await bench.pool.query(
                    "select notification_uuid, outbox_id from storehook.notifications")
                {
                    let found = try #require(try await LedgerReader(bench.pool).notification(row.decode(0))).evidence
                    let first: Int64 = try await bench.value("select min(id) from storehook.outbox")
                    let posted = texts[Int(try row.decode(1, as: Int64.self) - first)]
                    let body = try await bench.outbox.body(of: found.outboxID, receivedAt: found.receivedAt)
                    #expect(body == .success(Array(posted.utf8)))
                }
            }
        }
    }

    @Test("buries by itself what it cannot read for want of a header, and applies it once the header is back")
    func missing() async throws {
        try await withBench { bench in
            let purchase = bench.purchase().signed(by: bench.authority)
            try await bench.outbox.keepHeaders(of: [Array(purchase.utf8)])
            try await bench.store([purchase])
            try await bench.install(
                "create table kept as select header from storehook.signature_headers; delete from storehook.signature_headers"
            )
            try await bench.store(["no.jws.x"])
            try await bench.workOff()
            let letters = try await bench.letters()
            #expect(letters.map(\.reason) == ["body_unreadable", "malformed"])
            #expect(letters.first?.category == .unprocessable)
            #expect(letters.first?.message.contains("restore its row") == true)
            let dryRun = ReplayDryRun(pool: bench.pool, verifier: bench.verifier(), ledger: Ledger())
            let filter = DeadLetterFilter(reason: "body_unreadable")
            let before = try await dryRun.run(filter, at: Timestamp(millisecondsSince1970: Bench.now))
            #expect(before.stillDead.map(\.reason.rawValue) == ["body_unreadable"])
            try await bench.install("insert into storehook.signature_headers (header) select header from kept")
            _ = try await bench.outbox.replay(filter, perSecond: nil, by: "test", why: nil)
            try await bench.workOff()
            #expect(try await bench.outbox.conservation().applied == 1)

            // A rebuild derives nothing from less than everything.
            try await bench.install("delete from storehook.signature_headers")
            let rebuild = Rebuild(pool: bench.pool, verifier: bench.verifier(), ledger: Ledger())
            for repair in [false, true] {
                await #expect(throws: UnreadableEvidence.self) {
                    _ = try await rebuild.run(repair: repair) { _ in
                    } onDifference: { _ in
                    }
                }
            }
        }
    }
}
