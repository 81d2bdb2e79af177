import EvidenceStore
import Postgres
import Receiver
import Simulation
import TestSupport
import Testing

@Suite("The receiver and the headers of signatures")
struct KnownHeaderTests {
    @Test("stores whole what it has not heard of, and without its header once it has; what is read is what was posted")
    func hears() async throws {
        let authority = try SimulatedAuthority.generate()
        let texts = (0..<3).map { authority.sign(#"{"number":\#($0)}"#) }
        try await withReceiver(adjusting: { $0.headerInterval = .milliseconds(20) }) { receiver in
            #expect(try await receiver.post(envelope(texts[0])).status == 200)
            try await receiver.outbox.keepHeaders(of: [Array(texts[0].utf8)])
            var posted = [texts[0]]
            try await eventually("a header is left out") {
                posted.append(texts[posted.count % 3])
                #expect(try await receiver.post(envelope(posted.last ?? "")).status == 200)
                return try await receiver.observer.query(
                    "select exists (select from storehook.outbox where packing = 1)"
                ).one().decode(0)
            }
            #expect(try await receiver.stored() == posted)
            let first = try await receiver.observer.query("select packing from storehook.outbox order by id limit 1")
            #expect(try first.one().decode(0, as: Int16.self) == 0)
        }
    }

    @Test("stores on, whole, where it may not read them")
    func refused() async throws {
        let authority = try SimulatedAuthority.generate()
        let text = authority.sign("{}")
        try await withReceiver(adjusting: { $0.headerInterval = .milliseconds(10) }) { receiver in
            try await receiver.observer.query("alter table storehook.signature_headers rename to elsewhere")
            for _ in 0..<20 { #expect(try await receiver.post(envelope(text)).status == 200) }
            #expect(try await receiver.stored() == Array(repeating: text, count: 20))
        }
    }
}
