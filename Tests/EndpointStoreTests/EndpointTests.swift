import Events
import EvidenceStore
import Foundation
import Postgres
import TestSupport
import Testing
import WebhookSupport

@testable import EventStore

@Suite("Endpoints as they are kept")
struct EndpointTests {
    @Test("a secret is kept encrypted, for its endpoint alone, and cannot be read with another key")
    func encrypted() async throws {
        try await EndpointSite.with { site in
            let (secret, other) = (WebhookSecret(), WebhookSecret())
            let endpoint = try await site.add(secret: secret)
            let second = try await site.add("https://other.example/", secret: other)
            #expect(try await site.store.callable(endpoint.id, site.key)?.secrets == [secret])
            let stored: [UInt8] = try await site.value(
                "select secret from storehook.endpoints where id = \(endpoint.id)")
            #expect(stored.firstRange(of: secret.bytes) == nil && stored.count == 12 + 32 + 16)
            let stranger = try #require(SecretKey(bytes: [UInt8](repeating: 7, count: 32)))
            await #expect(throws: UnreadableSecret(endpointID: endpoint.id)) {
                _ = try await site.store.callable(endpoint.id, stranger)
            }
            #expect(try await site.store.callable(stranger).map(\.secrets) == [[], []])
            // Put into another's row, it is nothing.
            try await site.pool.query(
                """
                update storehook.endpoints set secret = (select secret from storehook.endpoints where id = \(endpoint.id))
                 where id = \(second.id)
                """)
            await #expect(throws: UnreadableSecret(endpointID: second.id)) {
                _ = try await site.store.callable(second.id, site.key)
            }
            var dumped = ""
            dump(site.key, to: &dumped)
            #expect("\(site.key)" == "a key" && !dumped.contains("UInt8"))
        }
    }

    @Test("a key file holds 32 bytes, their hexadecimal digits or their base64, and nothing else")
    func keyFile() {
        let bytes = [UInt8](0..<32)
        let hex = bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
        for text in [bytes, Array(hex.utf8), Array("\(hex)\n".utf8), Array(Data(bytes).base64EncodedString().utf8)] {
            #expect(SecretKey(file: text) != nil)
        }
        for text in [
            [], Array(bytes.dropLast()), bytes + [1], Array(hex.dropLast().utf8), Array("z\(hex.dropLast())".utf8),
        ] {
            #expect(SecretKey(file: text) == nil)
        }
    }

    @Test("while a secret is replaced both sign, the new one first; at once, the old one is gone")
    func rotation() async throws {
        try await EndpointSite.with { site in
            let (old, new, newest) = (WebhookSecret(), WebhookSecret(), WebhookSecret())
            let id = try await site.add(secret: old).id
            let rotated = try await site.store.rotate(id, to: new, overlap: .seconds(3600), site.key, by: "test")
            #expect(rotated?.formerSecretEndsAt != nil)
            #expect(try await site.store.callable(id, site.key)?.secrets == [new, old])
            try await site.pool.query("update storehook.endpoints set former_ends_at = now() - interval '1 second'")
            #expect(try await site.store.callable(id, site.key)?.secrets == [new])
            #expect(try await site.store.find(id)?.formerSecretEndsAt == nil)
            _ = try await site.store.rotate(id, to: newest, overlap: .zero, site.key, by: "test")
            #expect(try await site.store.callable(id, site.key)?.secrets == [newest])
            #expect(try await site.store.rotate(99, to: newest, overlap: .zero, site.key, by: "test") == nil)
        }
    }

    @Test("however often a secret is replaced, each former one signs until its own end; a sixth former one is refused")
    func rotatedOften() async throws {
        try await EndpointSite.with { site in
            var secrets = [WebhookSecret()]
            let id = try await site.add(secret: secrets[0]).id
            func rotate(hours: Int) async throws -> Endpoint? {
                let secret = WebhookSecret()
                let endpoint = try await site.store.rotate(
                    id, to: secret, overlap: .seconds(hours * 3600), site.key, by: "test")
                secrets.insert(secret, at: 0)
                return endpoint
            }
            func signing() async throws -> [WebhookSecret] {
                let all = try await site.store.callable(site.key).map(\.secrets)
                #expect(try await site.store.callable(id, site.key).map { [$0.secrets] } == all)
                return all.first ?? []
            }
            // The second ends before the first, and the third before both.
            for (place, hours) in [30, 20, 10, 40, 50].enumerated() {
                let endpoint = try #require(try await rotate(hours: hours))
                #expect(endpoint.formerSecretEnds.count == place + 1)
                #expect(endpoint.formerSecretEnds.max() == endpoint.formerSecretEndsAt)
                #expect(try await signing() == secrets)
            }
            let before = try #require(try await site.store.find(id))
            let first = try #require(before.formerSecretEnds.min())
            let error = await #expect(throws: TooManyFormerSecrets(endpointID: id, firstEndsAt: first)) {
                _ = try await site.store.rotate(
                    id, to: WebhookSecret(), overlap: .seconds(3600), site.key, by: "test")
            }
            #expect("\(try #require(error))".hasPrefix("endpoint \(id) has 5 former secrets that sign as well"))
            #expect(try await signing() == secrets)
            #expect(try await site.store.find(id) == before)
            // As time passes.
            func pass(hours: Int) async throws {
                try await site.pool.query(
                    """
                    update storehook.endpoints
                       set former_ends_at = former_ends_at - make_interval(hours => \(Int32(hours))),
                           earlier_ends_at = array(select e - make_interval(hours => \(Int32(hours))) from unnest(earlier_ends_at) e)
                    """)
            }
            try await pass(hours: 11)
            #expect(try await signing() == [0, 1, 2, 4, 5].map { secrets[$0] })
            try await pass(hours: 10)
            #expect(try await signing() == [0, 1, 2, 5].map { secrets[$0] })
            // There is room again, also for one that ends sooner than all.
            _ = try await rotate(hours: 1)
            #expect(try await signing() == [0, 1, 2, 3, 6].map { secrets[$0] })
            try await pass(hours: 2)
            #expect(try await signing() == [0, 2, 3, 6].map { secrets[$0] })
            try await pass(hours: 100)
            #expect(try await signing() == [secrets[0]])
            #expect(try await site.store.find(id)?.formerSecretEndsAt == nil)
            for _ in 0..<5 { _ = try await rotate(hours: 1) }
            #expect(try await rotate(hours: 0)?.formerSecretEnds.isEmpty == true)
            #expect(try await signing() == [secrets[0]])
            let left: Int64 = try await site.value(
                "select count(*) from storehook.endpoints where former_secret is not null or earlier_secrets is not null"
            )
            #expect(left == 0)
        }
    }

    @Test("programs that know one former secret alone go on working, and where they end it at once no other signs")
    func rotatedByOlder() async throws {
        try await EndpointSite.with { site in
            let secrets = (0..<4).map { _ in WebhookSecret() }
            let id = try await site.add(secret: secrets[0]).id
            for secret in secrets[1...2] {
                _ = try await site.store.rotate(id, to: secret, overlap: .seconds(3600), site.key, by: "test")
            }
            // As the release before this one does.
            func rotate(keepsFormer: Bool) async throws {
                let sealed = try site.key.seal(secrets[3], of: id)
                try await site.pool.query(
                    """
                    update storehook.endpoints
                       set former_secret = case when \(keepsFormer) then secret end,
                           former_ends_at = case when \(keepsFormer) then now() + make_interval(secs => 3600.0) end,
                           secret = \(sealed), changed_at = now(), changed_by = 'test'
                     where id = \(id) and state <> 'removed'
                    """)
            }
            try await rotate(keepsFormer: true)
            #expect(try await site.store.callable(id, site.key)?.secrets == [3, 2, 0].map { secrets[$0] })
            try await rotate(keepsFormer: false)
            #expect(try await site.store.callable(id, site.key)?.secrets == [secrets[3]])
            _ = try await site.store.rotate(id, to: secrets[1], overlap: .seconds(3600), site.key, by: "test")
            #expect(try await site.store.callable(id, site.key)?.secrets == [secrets[1], secrets[3]])
        }
    }

    @Test("two people who replace a secret at the same time keep both of the former ones, and no more than five")
    func rotatedAtOnce() async throws {
        try await EndpointSite.with { site in
            let id = try await site.add().id
            let outcomes = await withTaskGroup(of: Bool.self) { group in
                for _ in 0..<8 {
                    group.addTask {
                        let rotated = try? await site.store.rotate(
                            id, to: WebhookSecret(), overlap: .seconds(3600), site.key, by: "test")
                        return rotated != nil
                    }
                }
                return await group.reduce(into: [Bool]()) { $0.append($1) }
            }
            #expect(outcomes.count { $0 } == 5)
            let signing = try #require(try await site.store.callable(id, site.key)?.secrets)
            #expect(signing.count == 6 && Set(signing.map(\.text)).count == 6)
        }
    }

    @Test("a disabled endpoint gets nothing until it is enabled, and then all of it, or nothing that it missed")
    func disabled() async throws {
        try await EndpointSite.with { site in
            let id = try await site.add().id
            try await site.write(of: 1)
            try await site.deal(id)
            #expect(try await site.store.disable(id, why: "for a while", by: "test")?.state == .disabled)
            try await site.write(of: 1)
            #expect(try await site.store.needs().isEmpty)
            _ = try await site.store.deal(id)
            try await DealingTests.deliver(site, id)
            #expect(try await site.value("select count(*) from storehook.deliveries") == 0 as Int64)
            #expect(try await site.store.enable(id, skipsMissed: false, by: "test")?.state == .enabled)
            try await site.deal(id)
            try await DealingTests.deliver(site, id)
            #expect(try await site.value("select count(*) from storehook.deliveries") == 2 as Int64)
            _ = try await site.store.disable(id, why: "again", by: "test")
            try await site.write(3, of: 1)
            _ = try await site.store.enable(id, skipsMissed: true, by: "test")
            try await site.write(of: 1)
            try await site.deal(id)
            try await DealingTests.deliver(site, id)
            let told = try await site.pool.query("select sequence from storehook.deliveries order by id")
                .map { try $0.decode(0, as: Int64.self) }
            #expect(told == [1, 2, 6])
        }
    }

    @Test("what comes after what was skipped follows upon what was sent last")
    func skipped() async throws {
        try await EndpointSite.with { site in
            let id = try await site.add().id
            try await site.write(of: 1)
            try await site.deal(id)
            try await DealingTests.deliver(site, id)
            try await site.write(2, of: 1)
            try await site.write(2, of: 2)
            try await site.deal(id)
            _ = try await site.store.disable(id, why: "for a while", by: "test")
            _ = try await site.store.enable(id, skipsMissed: true, by: "test")
            for account in 1...2 { try await site.write(of: account) }
            try await site.deal(id)
            let waiting = try await site.pool.query(
                "select sequence, previous_sequence from storehook.deliveries_pending order by id"
            ).map { try [$0.decode(0, as: Int64.self), $0.decode(1, as: Int64?.self)] }
            #expect(waiting == [[4, 1], [3, nil]])
        }
    }

    @Test("a removed endpoint is gone with its secrets, and maintenance takes what waited for it; old deliveries too")
    func removal() async throws {
        try await EndpointSite.with { site in
            let (gone, kept) = (try await site.add().id, try await site.add("https://kept.example/").id)
            for account in 1...3 { try await site.write(of: account) }
            for id in [gone, kept] { try await site.deal(id) }
            try await DealingTests.deliver(site, kept)
            #expect(try await site.store.remove(gone, by: "test"))
            #expect(try await site.store.remove(gone, by: "test") == false)
            #expect(try await site.store.list().map(\.id) == [kept])
            let traces: Int64 = try await site.value(
                "select count(*) from storehook.endpoints where id = \(gone) and (secret is not null or url like 'http%')"
            )
            #expect(traces == 0)
            try await site.pool.query(
                "update storehook.deliveries set ended_at = now() - interval '31 days' where sequence = 1 and endpoint_id = \(kept)"
            )
            // As a worker leaves it that had a lane in hand.
            try await site.pool.query(
                "insert into storehook.delivery_queue (id, endpoint_id, received_at, due_at) values (999, 999, now(), now())"
            )
            let upkeep = try await site.store.dropOld(keeping: 30)
            #expect(try await site.value("select count(*) from storehook.delivery_queue") == 0 as Int64)
            #expect(upkeep.endpoints == 1 && upkeep.deliveries == 3)
            for table in ["endpoints", "endpoint_cursors", "endpoint_health", "delivery_lanes", "deliveries_pending"] {
                let left: Int64 = try await site.value(
                    """
                    select count(*) from storehook.\(unescaped: table)
                     where \(unescaped: table == "endpoints" ? "id" : "endpoint_id") = \(gone)
                    """)
                #expect(left == 0, "\(table)")
            }
        }
    }

    @Test("an endpoint's rate lets so many through in a second, whoever takes them")
    func rate() async throws {
        try await EndpointSite.with { site in
            let id = try await site.add(rate: .most(10)).id
            // A transaction's clock stands still: what is asked in one second is asked at one instant.
            let first = try await site.store.takeAllowance(7, of: id, rate: 10)
            #expect(first == 7)
            try await site.pool.query(
                "update storehook.endpoint_health set spent_until = now() + interval '1 hour'")
            #expect(try await site.store.takeAllowance(5, of: id, rate: 10) == 0)
            try await site.pool.query("update storehook.endpoint_health set spent_until = '-infinity'")
            #expect(try await site.store.takeAllowance(500, of: id, rate: 10) == 10)
        }
    }
}
