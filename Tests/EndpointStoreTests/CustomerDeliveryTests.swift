import Base
import EventStore
import EvidenceStore
import Foundation
import Postgres
import TestSupport
import Testing
import WebhookSupport

@Suite("Deliveries of one account")
struct CustomerDeliveryTests {
    @Test("are found by event and endpoint, what was delivered and what waits, and none of another account's")
    func ofAccount() async throws {
        try await EndpointSite.with { site in
            let first = try await site.add().id
            let second = try await site.add("https://b.example/").id
            for account in 1...2 { try await site.write(of: account) }
            try await site.write(of: 1, environment: "Sandbox")
            for id in [first, second] { try await site.deal(id) }
            try await DealingTests.deliver(site, first)
            try await site.write(of: 1)
            try await site.deal(first)
            let token = UniqueIdentifier(EndpointSite.token(1))
            let events = try await site.events.latest(9, of: token, in: "Production").events
            #expect(events.count == 2 && events.allSatisfy { $0.environment == "Production" && $0.token == token })
            #expect(try await site.events.latest(9, of: token).events.count == 3)
            let found = try await site.store.deliveries(of: events.map(\.id), about: token, in: "Production")
            let places = found.map { "\($0.eventID) \($0.endpointID) \($0.outcome.rawValue)" }
            #expect(
                places == [
                    "\(events[0].id) \(first) delivered", "\(events[0].id) \(second) waiting",
                    "\(events[1].id) \(first) waiting",
                ])
            #expect(found[0].status == 200 && found[0].endedAt != nil && found[1].endedAt == nil)
            let last = try await site.store.deliveries(of: [events[1].id], about: token, in: "Production")
            #expect(last.count == 1 && last[0].outcome == .waiting)
            #expect(try await site.store.deliveries(of: [], about: token, in: "Production").isEmpty)
        }
    }
}
