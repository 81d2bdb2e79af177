import AppStorePayloads
import AppStoreVerification
import ArgumentParser
import Base
import Crypto
import Simulation

/// Full verifications a second on one core, beside what the signatures alone would allow.
///
/// A subscription notification has three signatures, so no verification can be faster than a third of the rate of bare P-256
/// verifications. The two are measured in turns of a few milliseconds, so that whatever else the machine does disturbs both alike.
struct VerifyBenchmark: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "verify",
        abstract: "Verifications of subscription notifications a second, on one core.",
        discussion: "Example: storehook-bench verify --seconds 5 --json"
    )

    @Option(help: "How long to measure, in seconds.")
    var seconds = 3

    @Flag(help: "Print one JSON object instead of lines for people.")
    var json = false

    func validate() throws {
        guard (1...3600).contains(seconds) else { throw ValidationError("--seconds must lie between 1 and 3600.") }
    }

    func run() throws {
        let sample = try SubscriptionSample()
        let fingerprint = Fingerprint(sample.authority.rootFingerprint)
        let verifier = Verifier(
            configuration: VerifierConfiguration(
                apps: [SubscriptionSample.bundleId: SubscriptionSample.appAppleId],
                trustedRoots: Set([fingerprint].compactMap { $0 })),
            clock: { Timestamp(secondsSince1970: 4_000_000_000) })
        let notifications = (0..<64).map { sample.notification(number: $0) }
        let privateKey = P256.Signing.PrivateKey()
        let key = privateKey.publicKey
        let digest = SHA256.hash(data: Array("storehook".utf8))
        let signature = try privateKey.signature(for: digest)

        // Once unmeasured, so that the chain is known and the code is warm.
        for notification in notifications { _ = try verifier.verifyNotification(notification) }
        var full = Turn()
        var bare = Turn()
        let clock = ContinuousClock()
        let end = clock.now + .seconds(seconds)
        repeat {
            try full.measure(times: notifications.count) { _ = try verifier.verifyNotification(notifications[$0]) }
            bare.measure(times: notifications.count * 3) { _ in
                precondition(key.isValidSignature(signature, for: digest))
            }
        } while clock.now < end
        report(full: full.rate, bare: bare.rate, size: notifications[0].count)
    }

    private func report(full: Double, bare: Double, size: Int) {
        let ratio = full / (bare / 3)
        if json {
            print(
                "{\"measurement\":\"verify\",\"notification_bytes\":\(size),"
                    + "\"verifications_per_second\":\(rounded(full, 1)),\"p256_per_second\":\(rounded(bare, 1)),"
                    + "\"ratio\":\(rounded(ratio, 1000))}")
        } else {
            print("one core, subscription notifications of \(size) bytes, three signatures each")
            print("full verifications   \(rounded(full, 1)) a second")
            print("bare P-256           \(rounded(bare, 1)) a second")
            print("ratio                \(rounded(ratio, 1000)) of a third of the bare rate")
        }
    }

    private func rounded(_ value: Double, _ scale: Double) -> Double { (value * scale).rounded() / scale }
}

/// Measures one thing in turns and adds them up.
private struct Turn {
    private var count = 0
    private var time = Duration.zero

    /// How often a second.
    var rate: Double { Double(count) / (time / .seconds(1)) }

    mutating func measure(times: Int, _ work: (Int) throws -> Void) rethrows {
        let clock = ContinuousClock()
        let start = clock.now
        for index in 0..<times { try work(index) }
        time += clock.now - start
        count += times
    }
}
