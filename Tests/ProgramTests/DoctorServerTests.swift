import Foundation
import Postgres
import TestSupport
import Testing

@Suite("storehook doctor, of the server")
struct DoctorServerTests {
    private struct Line: Decodable {
        var check: String
        var status: String
        var message: String
    }

    private func lines(_ site: Site, _ more: [String: String], _ arguments: [String] = []) async throws -> [Line] {
        let settings = ["STOREHOOK_TRUSTED_ROOTS": "", "STOREHOOK_APPS": "com.example.app=1234567890"]
        let program = try site.start(
            ["doctor", "--format", "json", "--port", "\(try freePort())"] + arguments, settings.merging(more) { $1 })
        await program.end()
        let output = program.output
        await program.discard()
        return try JSONDecoder().decode([Line].self, from: Data(output.utf8))
    }

    /// What is to be done, by check. How full this machine's disk is, is not the tests' business.
    private func faults(
        _ site: Site, _ more: [String: String], _ arguments: [String] = []
    ) async throws -> [String: String] {
        let failed = try await lines(site, more, arguments).filter { $0.status == "failed" && $0.check != "disk" }
        return Dictionary(uniqueKeysWithValues: failed.map { ($0.check, $0.message) })
    }

    @Test(
        "names a server whose version is not served, and says so of a version that is served untested",
        arguments: [
            (140_011, "failed", "PostgreSQL 14.11: 15 to 18 are served"), (150_018, "ok", "PostgreSQL 15.18"),
            (160_014, "ok", "PostgreSQL 16.14"),
            (170_002, "ok", "PostgreSQL 17.2, which is served and not tested: 15, 16, 18 are"),
            (180_004, "ok", "PostgreSQL 18.4"), (190_000, "failed", "PostgreSQL 19.0: 15 to 18 are served"),
        ])
    func version(number: Int, status: String, message: String) async throws {
        try await withSite { site in
            // As with the clock: what the search path names first answers.
            try await site.pool.withTransaction { session in
                try session.executeScript(
                    """
                    create schema wrong;
                    create function wrong.current_setting(name text) returns text language sql as
                        'select case name when ''server_version_num'' then ''\(number)'' else pg_catalog.current_setting(name) end';
                    """)
            }
            let separator = site.database.url.contains("?") ? "&" : "?"
            let lines = try await lines(
                site, ["DATABASE_URL": site.database.url + separator + "options=-c%20search_path%3Dwrong,pg_catalog"])
            let server = try #require(lines.first { $0.check == "server" })
            #expect(server.status == status && server.message.hasPrefix(message), "\(server)")
            #expect(lines.filter { $0.status == "failed" && !["server", "disk"].contains($0.check) }.isEmpty)
        }
    }

    @Test(
        "names a prepared transaction left open and a replication slot without a reader, and so do the metrics")
    func abandoned() async throws {
        let settings = [
            "max_prepared_transactions = 2", "wal_init_zero = off", "wal_recycle = off", "max_wal_size = 8GB",
        ]
        try await PrivateServer.with(settings) { server in
            try await withSite { site in
                let own = ["DATABASE_URL": server.url]
                #expect(try await site.run("migrate", with: own).ending == .exited(0))
                let patient = try await faults(site, own)
                #expect(patient.isEmpty, "\(patient)")
                let connection = try await server.connect()
                try await connection.query("select pg_create_physical_replication_slot('unread', true)::text")
                try await connection.query("select pg_create_physical_replication_slot('never_read')::text")
                #expect(try await faults(site, own).isEmpty)
                // A gigabyte of WAL; most of it is never written.
                try await connection.withTransaction { session in
                    try session.executeScript(
                        """
                        do $$ begin
                            for n in 1 .. 66 loop
                                perform pg_logical_emit_message(false, 'test', 'text');
                                perform pg_switch_wal();
                            end loop;
                        end $$;
                        """)
                }
                let session = try await server.connect()
                try await session.prepare("forgotten")
                await session.close()
                try await eventually("it is more than a second old") {
                    try await server.run(
                        "select 'old' from pg_prepared_xacts where prepared < now() - interval '1 s'") == ["old"]
                }
                let found = try await faults(site, own, ["--transaction-age", "1"])
                #expect(Set(found.keys) == ["replication slots", "vacuum horizon"], "\(found)")
                #expect(
                    found["replication slots"]?.contains("replication slot unread, which no standby reads, keeps 1.0")
                        == true)
                #expect(found["vacuum horizon"]?.contains("prepared transaction forgotten") == true, "\(found)")
                try await site.with(["receive", "--port", "0", "--metrics-port", "0"], own) { receiver in
                    let page = "http://127.0.0.1:\(try await receiver.metricsPort())/metrics"
                    try await eventually("the metrics say so") {
                        let lines = try await fetch(page).body.split(separator: "\n")
                        func value(_ name: String) -> Double {
                            lines.first { $0.hasPrefix("storehook_database_\(name) ") }?.split(separator: " ").last
                                .flatMap { Double($0) } ?? -1
                        }
                        return value("slot_bytes") > 1e9 && value("prepared_seconds") > 1
                            && value("slot_transactions") >= 0
                    }
                }
                try await connection.query("rollback prepared 'forgotten'")
                try await connection.query("select pg_drop_replication_slot('unread')::text")
                #expect(try await faults(site, own, ["--transaction-age", "1"]).isEmpty)
                await connection.close()
            }
        }
    }
}

extension PostgresConnection {
    /// Leaves a prepared transaction behind.
    fileprivate func prepare(_ name: String) async throws {
        // PREPARE TRANSACTION ends the transaction itself, which a transaction of this client's must not: as one simple query it is whole.
        do {
            try await withTransaction { session in
                try session.executeScript("select pg_current_xact_id(); prepare transaction '\(name)'")
            }
        } catch let error as PostgresError where error.kind == .unsupported {
            // The client closes a connection whose transaction was ended so.
        }
    }
}
