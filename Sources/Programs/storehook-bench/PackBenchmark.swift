import AppStorePayloads
import ArgumentParser
import EvidenceStore
import Simulation

/// What it costs to store a notification without the headers that are known, and to put it together again.
struct PackBenchmark: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "pack",
        abstract: "Packing and unpacking of subscription notifications, on one core.",
        discussion: "Example: storehook-bench pack --seconds 5 --json"
    )

    @Option(help: "How long to measure, in seconds.") var seconds = 3
    @Option(help: "Headers known besides the one that is used.") var others = 7
    @Flag(help: "Print one JSON object instead of lines for people.") var json = false

    func validate() throws {
        guard (1...3600).contains(seconds), (0...63).contains(others) else {
            throw ValidationError("--seconds lies between 1 and 3600, --others between 0 and 63")
        }
    }

    func run() throws {
        let sample = try SubscriptionSample()
        let bodies = (0..<64).map { sample.notification(number: $0) }
        // Which digest a header has does not matter here, only that each has its own. The one in use comes last.
        let headers = try (0...others).reversed().map { number in
            let jws = number == 0 ? bodies[0] : Array(try SimulatedAuthority.generate().sign("{}").utf8)
            let text = Array(jws.prefix { $0 != UInt8(ascii: ".") })
            return SignatureHeader(digest: [UInt8](repeating: UInt8(number), count: 32), text: text)
        }
        let used = headers[others].text
        let packed = bodies.compactMap { PackedBody.pack($0, knowing: headers) }
        guard packed.count == bodies.count else { throw ValidationError("a notification was not packed") }
        var (packing, unpacking) = (Duration.zero, Duration.zero)
        var count = 0
        let clock = ContinuousClock()
        let end = clock.now + .seconds(seconds)
        repeat {
            packing += clock.measure { for body in bodies { _ = PackedBody.pack(body, knowing: headers) } }
            try unpacking += clock.measure { for bytes in packed { _ = try PackedBody.unpack(bytes) { _ in used } } }
            count += bodies.count
        } while clock.now < end
        var figures = Figures("pack")
        figures.add("notification_bytes", Double(bodies[0].count), "bytes a notification, as posted")
        figures.add("packed_bytes", Double(packed[0].count), "bytes a notification, packed")
        figures.add(
            "pack_us", packing / .microseconds(1) / Double(count), "packing and the check of it, microseconds each")
        figures.add("unpack_us", unpacking / .microseconds(1) / Double(count), "unpacking, microseconds each")
        figures.print(json: json)
    }
}
