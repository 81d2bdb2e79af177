import AppStorePayloads
import AppStoreVerification
import Base
import Simulation

/// An app with receipts, and who trusts their signer.
enum Shop {
    static let app = SimulatedApp.example
    /// 2026-02-01T00:00:00Z
    static let now: Milliseconds = 1_769_904_000_000
    /// RSA keys take a moment to make: one set for all tests that bend nothing.
    static let signer = Task { try ReceiptSigner.rsa() }

    /// A signer with elliptic keys, which are made at once, and certificates bent from root to leaf.
    static func elliptic(
        _ bend: (inout CertificateShape, _ place: Int) -> Void = { _, _ in }
    ) throws -> ReceiptSigner {
        var shapes: [CertificateShape] = [.root, .intermediate, .leaf]
        for place in shapes.indices { bend(&shapes[place], place) }
        let root = try SimulatedCertificate(shapes[0])
        let intermediate = try SimulatedCertificate(shapes[1], issuer: root)
        return ReceiptSigner([try SimulatedCertificate(shapes[2], issuer: intermediate), intermediate, root])
    }

    /// What a customer bought: a subscription with a renewal, and coins.
    static func items(_ environment: SimulatedApp.Environment = .sandbox) -> [TransactionRecord] {
        var customer = SimulatedSubscriber(app: app.in(environment), lane: 1, seed: 1)
        let line = customer.buy(.premiumMonthly, at: now - 40 * 86_400_000)
        customer.renew(line)
        return customer.allItems.map { customer[$0] }
    }

    static func receipt(
        _ environment: SimulatedApp.Environment = .sandbox, at instant: Milliseconds = now
    ) -> SimulatedReceipt {
        SimulatedReceipt(of: items(environment), app: app.in(environment), at: instant)
    }

    static func verifier(
        trusting signer: ReceiptSigner, apps: [String: Int64?] = [app.bundleId: app.appAppleId],
        environments: Set<Base.Environment> = [.production, .sandbox]
    ) -> Verifier {
        Verifier(
            configuration: VerifierConfiguration(
                apps: apps, environments: environments,
                trustedRoots: Set([Fingerprint(signer.rootFingerprint)].compactMap(\.self))),
            clock: { Timestamp(millisecondsSince1970: now) })
    }

    /// Why a receipt is refused; nil where it is not.
    static func code(_ verifier: Verifier, _ bytes: [UInt8]) -> VerificationCode? {
        guard let receipt = try? Receipt(bytes) else { return .malformed }
        do throws(VerificationFailure) {
            _ = try verifier.verify(receipt)
            return nil
        } catch {
            return error.code
        }
    }
}
