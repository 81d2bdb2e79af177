import Base
import EventStore
import Events
import Foundation
import Postgres

/// Workers that deliver to local endpoints, over TLS.
struct DeliveriesSite: Sendable {
    /// The endpoints, and the number of each.
    let endpoints: [(id: Int64, receiver: DeliveriesReceiver)]
    let database: BenchDatabase
    private let programs: ChaosPrograms
    private let settings: [String: String]

    /// The first endpoint.
    var receiver: DeliveriesReceiver { endpoints[0].receiver }

    /// Starts endpoints and adds them; no worker runs so far.
    /// - Parameter count: how many; at least one.
    static func start(
        _ programs: ChaosPrograms, _ database: BenchDatabase, workplace: URL, endpoints count: Int = 1
    ) async throws -> DeliveriesSite {
        let (certificate, key, secretKey) = (
            workplace.appending(path: "certificate.pem").path, workplace.appending(path: "key.pem").path,
            workplace.appending(path: "secret-key").path
        )
        try certify(certificate, key)
        guard let bytes = SecretKey(bytes: [UInt8](repeating: 7, count: SecretKey.size)),
            FileManager.default.createFile(
                atPath: secretKey, contents: Data([UInt8](repeating: 7, count: SecretKey.size)),
                attributes: [.posixPermissions: 0o600])
        else { throw NeverCameAbout(what: "a key file") }
        let store = EndpointStore(database.pool)
        var endpoints: [(id: Int64, receiver: DeliveriesReceiver)] = []
        for _ in 0..<max(count, 1) {
            let receiver = try await DeliveriesReceiver.start(certificate: certificate, key: key)
            let endpoint = try await store.add(
                try StrictURL("https://localhost:\(receiver.port)/hook"), secret: WebhookSecret(), bytes,
                by: "storehook-bench")
            endpoints.append((endpoint.id, receiver))
        }
        _ = try await EventStore(database.pool).ensurePartitions()
        return DeliveriesSite(
            endpoints: endpoints, database: database, programs: programs,
            settings: [
                "STOREHOOK_SECRET_KEY_FILE": secretKey, "STOREHOOK_ENDPOINT_NETWORKS": "127.0.0.0/8,::1",
                "STOREHOOK_ENDPOINT_CERTIFICATES": certificate,
            ])
    }

    /// A certificate for localhost that vouches for itself.
    private static func certify(_ certificate: String, _ key: String) throws {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = [
            "openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days",
            "2",
            "-subj", "/CN=storehook-bench", "-addext", "subjectAltName=DNS:localhost", "-keyout", key, "-out",
            certificate,
        ]
        process.standardError = FileHandle.nullDevice
        process.standardOutput = FileHandle.nullDevice
        try process.run()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else { throw NeverCameAbout(what: "a certificate by openssl") }
    }

    /// Starts a worker.
    func worker() throws -> SupervisedProgram {
        try programs.supervised(["work"], database.url, with: settings)
    }

    /// Writes events, one transaction for all of them, and returns the number of each.
    func write(_ count: Int, ofAccounts accounts: Int, on connection: PostgresPool) async throws -> [Int64] {
        try await connection.query(
            PostgresQuery(
                "bench.events",
                """
                with next as (
                    select n, lpad(to_hex(1 + (random() * \(Int64(accounts)))::bigint), 32, '0')::uuid as token
                      from generate_series(1, \(Int64(count))) n
                ), event as (
                    insert into storehook.events (kind, environment, bundle_id, token, version, sequence, at, is_late,
                                                  is_correction, content)
                    select 'account.access_changed', 'Production', 'com.example.storehook', token, 1,
                           (extract(epoch from clock_timestamp()) * 1000000)::bigint + n, now(), false, false, \(Self.content)
                      from next
                    returning id, told_at
                ), noted as (
                    insert into storehook.events_unplaced (id, told_at) select id, told_at from event
                )
                select id from event
                """), deadline: .seconds(600)
        ).map { try $0.decode(0) }
    }

    /// As long as the body of an account event.
    static let content = """
        "access":{"tier":"pro","status":"active","access":true,"source":"apple","productId":"com.example.pro.month",\
        "expiresAt":"2026-02-03T04:05:06Z","willRenew":true,"inTrial":false},"previous":{"tier":"free","status":"expired",\
        "access":false,"source":"none","willRenew":false,"inTrial":false},"cause":{"kind":"notification","type":"DID_RENEW",\
        "uuid":"00000000-0000-4000-8000-000000000000"},"late":false,"correction":false
        """
}
