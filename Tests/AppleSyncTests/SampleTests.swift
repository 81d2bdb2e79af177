import AppleRecords
import Base
import Postgres
import Testing

@Suite("What monitoring reads of what Apple is asked")
struct SampleTests {
    @Test("is labelled by app and environment, with everything that an alert or the dashboard goes by")
    func samples() async throws {
        try await withSite { site in
            try await site.history.plan([Site.scope], behind: .zero, partial: true)
            let canaries = Canaries(site.pool)
            try await canaries.plan([(scope: Site.scope, interval: .seconds(60))])
            let extensions = RenewalExtensions(site.pool)
            _ = try await extensions.record(
                RenewalExtensions.Wish(
                    in: Site.scope, for: .one(originalTransactionID: "1"), requestIdentifier: "a", days: 1,
                    reasonCode: 0, by: "test", why: nil))
            let refund = site.refund(1)
            try await site.consent(refund.account)
            try await site.hear([refund])
            _ = try await site.requests.note(everything: true, hasPolicy: true, keysFor: [Site.scope])

            let place = "app=\(Site.scope.bundleID),environment=Production"
            #expect(try await canaries.samples().map(text) == ["canary_missing_seconds{\(place)} 0"])
            #expect(
                try await extensions.samples().map(text).first
                    == "extensions_open{\(place),kind=one,state=requested} 1")
            #expect(
                try await extensions.samples().map(\.name).last == "storehook_extensions_oldest_age_seconds")
            #expect(try await site.requests.samples().map(text).first == "consumption_open{environment=Production} 1")
            let deadline = try await site.requests.samples().last
            #expect(deadline?.name == "storehook_consumption_deadline_seconds")
            #expect((39_000...39_700).contains(deadline?.value ?? 0))
            let windows: Int64 = try await site.value("select count(*) from storehook.history_windows")
            let proofs = try await site.history.samples()
            #expect(proofs.first?.name == "storehook_history_proven_seconds" && (proofs.first?.value ?? 0) > 86_400)
            #expect(
                proofs.dropFirst().map(text) == [
                    "history_windows{\(place),state=proven} 0", "history_windows{\(place),state=unproven} \(windows)",
                    "history_windows{\(place),state=refused} 0",
                ])
        }
    }

    private func text(_ sample: MetricSample) -> String {
        let labels = sample.labels.map { "\($0.name)=\($0.value)" }.joined(separator: ",")
        return "\(sample.name.dropFirst("storehook_".count)){\(labels)} \(Int64(sample.value))"
    }
}
