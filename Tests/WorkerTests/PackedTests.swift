import AppStorePayloads
import EvidenceStore
import Foundation
import Operations
import Postgres
import PurchaseStore
import Simulation
import StandInSupport
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
            // Genuine certificates before a payload without a signature.
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

    @Test("leaves what it cannot read for want of a header pending, and applies it once the header is back")
    func missing() async throws {
        try await withBench { bench in
            let purchase = bench.purchase().signed(by: bench.authority)
            try await bench.outbox.keepHeaders(of: [Array(purchase.utf8)])
            try await bench.store([purchase])
            try await bench.install(
                "create table kept as select header from storehook.signature_headers; delete from storehook.signature_headers"
            )
            try await bench.store(["no.jws.x"])
            try await bench.withWorker { _ in
                try await eventually("it waits") {
                    try await bench.value(
                        "select coalesce((select count from storehook.queue_waiting where reason = 'header_missing'), 0)",
                        as: Int64.self) == 1
                }
            }
            #expect(try await bench.letters().map(\.reason) == ["malformed"])
            for audit in [false, true] {
                let counted = try await bench.outbox.conservation(audit: audit)
                #expect(counted.pending == 1 && counted.waitingForHeader == 1 && counted.withoutBytes == 0)
                #expect(counted.acknowledged == 2 && counted.isWhole)
            }
            // Waiting is no attempt: however long it lasts, it is not given up.
            #expect(try await bench.value("select attempts from storehook.outbox_queue", as: Int16.self) == 0)
            try await bench.install(
                """
                insert into storehook.signature_headers (header) select header from kept;
                update storehook.outbox_queue set due_at = now();
                """)
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

    @Test("brings a header back that the database has lost, as soon as it has a new connection to it")
    func restored() async throws {
        try await withBench { bench in
            let texts = bench.tests(3).map(\.text)
            try await bench.store([texts[0]])
            try await bench.withWorker { _ in
                try await bench.untilDone()
                try await eventually("its header is kept") { try await headers(bench) == 1 }
                try await bench.outbox.learnHeaders()
                try await bench.store([texts[1]])
                try await bench.untilDone()
                #expect(
                    try await bench.value("select count(*) from storehook.outbox where packing = 1", as: Int64.self)
                        == 1)
                // What a backup from before the header brings: rows without it, and every connection made anew.
                try await bench.install("delete from storehook.signature_headers")
                try await bench.pool.query(
                    """
                    select pg_terminate_backend(pid) from pg_stat_activity
                     where datname = current_database() and pid <> pg_backend_pid()
                    """)
                try await bench.pool.query(
                    """
                    insert into storehook.outbox_queue (id, received_at, due_at)
                    select id, received_at, now() from storehook.outbox where packing = 1
                    """)
                try await eventually("the header is back") { try await headers(bench) == 1 }
                try await eventually("what named it is read") {
                    try await bench.pool.query(
                        "update storehook.outbox_queue set due_at = now() where lease_token is null")
                    return try await bench.value("select count(*) from storehook.outbox_queue", as: Int64.self) == 0
                }
            }
            #expect(try await bench.letters().isEmpty)
        }
    }
}
