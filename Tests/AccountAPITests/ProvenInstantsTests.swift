import AccountAPI
import AppStorePayloads
import AppleRecords
import Base
import Postgres
import Synchronization
import TestSupport
import Testing

/// `provenUntil`
@Suite("Up to when answers hold all that Apple has posted")
struct ProvenInstantsTests {
    private static let app = AppEnvironment(bundleID: "app", environment: "Production")
    private static let other = AppEnvironment(bundleID: "other", environment: "Production")
    private static let sandbox = AppEnvironment(bundleID: "app", environment: "Sandbox")

    private static func at(_ minutes: Int64) -> PostgresTimestamp {
        PostgresTimestamp(millisecondsSince1970: minutes * 60_000)
    }

    /// A reading; of each scope up to when it is proven, and whether it was never released.
    private static func reading(
        _ scopes: [(AppEnvironment, Int64?, Bool)], waiting: Int64? = nil, at minutes: Int64
    ) -> AnswerProof {
        AnswerProof(
            scopes: scopes.map { .init($0, provenUntil: $1.map { at($0) }, isUnreleased: $2) },
            waitingSince: waiting.map { at($0) }, readAt: at(minutes))
    }

    /// What is said after readings, in minutes.
    private static func said(
        _ readings: [AnswerProof?], served: Set<AppEnvironment> = [app], of environment: String = "Production"
    ) -> [Int64?] {
        var instants = ProvenInstants(served: served)
        return readings.map { reading in
            instants.note(reading)
            return instants.instants[environment].map { $0.millisecondsSince1970 / 60_000 }
        }
    }

    @Test("it is what Apple's history proves, where nothing waits to be applied")
    func proven() {
        #expect(
            Self.said([
                nil, Self.reading([(Self.app, nil, false)], at: 100), Self.reading([(Self.app, 60, false)], at: 101),
                Self.reading([(Self.app, 120, false)], at: 161), nil,
            ]) == [nil, nil, 60, 120, nil])
    }

    @Test("what is held and not applied yet is not claimed: only once all that was stored by then is applied")
    func waiting() {
        let app = Self.app
        #expect(
            Self.said([
                Self.reading([(app, 60, false)], at: 65),
                // Something fetched waits; then something else does, stored before and after the first reading that had the proof.
                Self.reading([(app, 120, false)], waiting: 124, at: 125),
                Self.reading([(app, 120, false)], waiting: 125, at: 126),
                Self.reading([(app, 120, false)], waiting: 126, at: 127),
                // Never empty; and a later proof meanwhile counts only by a reading of its own.
                Self.reading([(app, 180, false)], waiting: 183, at: 184),
                Self.reading([(app, 180, false)], waiting: 186, at: 187),
            ]) == [60, 60, 60, 120, 120, 180])
        // After a start there is nothing to go by.
        #expect(Self.said([Self.reading([(app, 60, false)], waiting: 1, at: 65)]) == [nil])
    }

    @Test("of an environment the least of its apps counts, and nothing where one of those that are served has no proof")
    func apps() {
        let (app, other) = (Self.app, Self.other)
        #expect(
            Self.said(
                [
                    Self.reading([(app, 60, false)], at: 65),
                    Self.reading([(app, 60, false), (other, nil, false)], at: 66),
                    Self.reading([(app, 60, false), (other, 40, false)], at: 67),
                    // What was never released has nothing to miss; and by itself proves nothing.
                    Self.reading([(app, 60, false), (other, nil, true)], at: 68),
                    Self.reading([(app, nil, true), (other, nil, true)], at: 69),
                ], served: [app, other]) == [nil, nil, 40, 60, nil])
        // One that workers serve, and this process does not, counts as well.
        #expect(Self.said([Self.reading([(app, 60, false), (other, 40, false)], at: 67)]) == [40])
    }

    @Test("environments have nothing to do with each other")
    func environments() {
        let readings = [Self.reading([(Self.app, 60, false), (Self.sandbox, nil, false)], at: 65)]
        #expect(Self.said(readings, served: [Self.app, Self.sandbox]) == [60])
        #expect(Self.said(readings, served: [Self.app, Self.sandbox], of: "Sandbox") == [nil])
    }

    @Test(
        "a proof that was taken back, or that reaches less far, is not claimed any longer, be it that something waits")
    func back() {
        let app = Self.app
        #expect(
            Self.said([
                Self.reading([(app, 120, false)], at: 121), Self.reading([(app, 60, false)], waiting: 1, at: 122),
                Self.reading([(app, nil, false)], waiting: 1, at: 123),
                Self.reading([(app, 180, false)], waiting: 1, at: 182), Self.reading([(app, 60, false)], at: 183),
            ]) == [120, 60, nil, nil, 60])
    }

    @Test(
        "it stands in the account, in the status and in the guard's headers; where nothing is proven it is null, and no header"
    )
    func answered() async throws {
        let proof = Mutex<AnswerProof?>(nil)
        let proven = ProvenAnswers(served: [Self.app], logger: quiet) { proof.withLock(\.self) }
        try await Shop.open(proven: proven) { shop in
            func instant(_ path: String) async throws -> String? {
                try await shop.get(path, as: "alice").object?.string("provenUntil")
            }
            let paths = ["/v1/account", "/v1/subscriptions/status", "/subscriptions/status"]
            try await proven.refresh()
            for path in paths {
                let answer = try await shop.get(path, as: "alice")
                #expect(answer.status == 200 && answer.body.contains(#""provenUntil":null"#), "\(path)")
            }
            #expect(try await shop.get("/v1/guard", as: "alice").header("X-Storehook-Proven-Until") == nil)
            proof.withLock { $0 = Self.reading([(Self.app, 60, false)], at: 65) }
            try await proven.refresh()
            for path in paths { #expect(try await instant(path) == "1970-01-01T01:00:00Z", "\(path)") }
            #expect(try await instant("/v1/account?environment=Production") == "1970-01-01T01:00:00Z")
            // Refused, and allowed; of an account that the guard does not remember from before the proof.
            let refused = try await shop.get("/v1/guard", as: "bob")
            #expect(refused.status == 403 && refused.header("X-Storehook-Proven-Until") == "1970-01-01T01:00:00Z")
            let passed = try await shop.get("/v1/guard?tier=free", as: "bob")
            #expect(passed.header("X-Storehook-Proven-Until") == "1970-01-01T01:00:00Z")
        }
    }

    @Test("the database says it of each app with the oldest of what waits")
    func read() async throws {
        try await withAPI { api in
            let history = History(api.observer)
            #expect(try await history.answerProof() == nil)
            try await api.observer.query(
                """
                insert into storehook.history_windows (environment, bundle_id, starts_at, ends_at, proven_at)
                values ('Production', 'app', '2026-01-01', '2026-01-02', now()), ('Production', 'app', '2026-01-02', '2026-01-03', null)
                """)
            var proof = try #require(try await history.answerProof())
            let day = Timestamp(iso8601: "2026-01-02").map { PostgresTimestamp($0) }
            #expect(proof.scopes == [.init(Self.app, provenUntil: day)] && proof.waitingSince == nil)
            try await api.observer.query(
                """
                insert into storehook.outbox_queue (id, received_at, due_at)
                values (1, '2026-01-05', now()), (2, '2026-01-04', now())
                """)
            proof = try #require(try await history.answerProof())
            #expect(proof.waitingSince.map { Timestamp($0) } == Timestamp(iso8601: "2026-01-05"))
        }
    }
}
