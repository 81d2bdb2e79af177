import Base
import EventStore
import Events
import Postgres
import TestSupport
import Testing
import WebhookSupport

@testable import Webhooks

@Suite("Tests of endpoints that the staff asks for")
struct AskedTrialTests {
    @Test("are made by one of the workers, also where the endpoint is disabled, and count nowhere")
    func made() async throws {
        try await EndpointSite.with { site in
            let receiver = try await WebhookReceiver.start { _ in .status(202) }
            let id = try await site.add("http://127.0.0.1:\(receiver.port)/hook").id
            _ = try await site.store.disable(id, why: "for a while", by: "test")
            try await RunningWebhooks.with(site, workers: 3) {
                let asked = try await site.store.askTrial(of: id, sending: nil, by: "staff:1", why: "a new receiver")
                let trial = try #require(
                    try await site.store.trial(asked, endedBy: ContinuousClock.now + .seconds(60)))
                #expect(trial.outcome?.isDelivered == true && trial.outcome?.status == 202, "\(trial)")
                #expect(trial.outcome?.webhookID == receiver.posts.first?.id)
                let gone = try await site.store.askTrial(of: id, sending: 999, by: "staff:1", why: "a past event")
                let none = try #require(
                    try await site.store.trial(gone, endedBy: ContinuousClock.now + .seconds(60)))
                #expect(none.outcome?.code == "event_gone" && none.outcome?.isDelivered == false, "\(none)")
            }
            #expect(receiver.posts.count == 1)
            #expect(try await site.store.find(id)?.failures == 0)
            #expect(try await site.value("select count(*) from storehook.deliveries") == 0 as Int64)
        }
    }

    @Test("are forgotten after a day, and left alone where no worker took them within a minute")
    func kept() async throws {
        try await EndpointSite.with { site in
            let id = try await site.add().id
            let old = try await site.store.askTrial(of: id, sending: nil, by: "staff:1", why: "x")
            _ = try await site.store.askTrial(of: id, sending: nil, by: "staff:1", why: "x")
            try await site.pool.query(
                """
                update storehook.endpoint_trials
                   set asked_at = now() - case when id = \(old) then interval '25 hours' else interval '61 seconds' end
                """)
            #expect(try await site.store.takeTrials(atMost: 10).isEmpty)
            #expect(try await site.store.trial(old) == nil)
            let asked = try await site.store.askTrial(of: id, sending: nil, by: "staff:1", why: "x")
            #expect(try await site.store.takeTrials(atMost: 10).map(\.id) == [asked])
            #expect(try await site.store.takeTrials(atMost: 10).isEmpty)
        }
    }
}
