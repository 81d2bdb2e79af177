import AppStorePayloads
import AppStoreVerification
import Base
import Foundation
import Testing

/// Notifications that Apple really signed are not ours to publish; who has some sets `STOREHOOK_APPLE_SIGNED` to their directory.
@Suite(
    "Apple's own signatures",
    .enabled(
        if: ProcessInfo.processInfo.environment["STOREHOOK_APPLE_SIGNED"] != nil,
        "STOREHOOK_APPLE_SIGNED names no directory of notifications signed by Apple"))
struct AppleSamplesTests {
    private let directory = URL(
        fileURLWithPath: ProcessInfo.processInfo.environment["STOREHOOK_APPLE_SIGNED"] ?? "/nowhere")

    private func files(_ directory: URL) throws -> [URL] {
        try FileManager.default.contentsOfDirectory(at: directory, includingPropertiesForKeys: nil)
            .filter { $0.pathExtension == "jws" }.sorted { $0.path < $1.path }
    }

    /// The app that an unverified notification says it is about: samples are of many apps.
    private func app(_ jws: [UInt8]) throws -> (bundleId: String, appAppleId: Int64?)? {
        let segments = jws.split(separator: UInt8(ascii: "."))
        guard segments.count == 3, let json = Base64.url.decode(Array(segments[1])),
            let data = try JSONDocument(json).object?.object("data"), let bundleId = data.string("bundleId")
        else { return nil }
        return (bundleId, data.integer("appAppleId"))
    }

    private func verifier(_ jws: [UInt8]) throws -> Verifier {
        let app = try app(jws)
        return Verifier(
            configuration: VerifierConfiguration(apps: [app?.bundleId ?? "none": app?.appAppleId]),
            clock: { .distantFuture })
    }

    @Test("every notification that Apple signed is accepted, with all its parts")
    func accepted() throws {
        let files = try files(directory)
        try #require(!files.isEmpty)
        for file in files {
            let jws = [UInt8](try Data(contentsOf: file))
            let verified = try verifier(jws).verifyNotification(jws)
            guard case .data(let data) = verified.payload.part else {
                Issue.record("\(file.lastPathComponent) has no data part")
                continue
            }
            #expect((verified.transaction == nil) == (data.signedTransactionInfo == nil))
            #expect((verified.renewal == nil) == (data.signedRenewalInfo == nil))
            print(
                file.lastPathComponent, verified.payload.notificationType, verified.payload.subtype ?? "-",
                verified.bundleId, verified.environment, verified.payload.signedDate, data.status ?? "-")
            // An app that is not served, and one edited byte of the payload.
            let elsewhere = Verifier(configuration: VerifierConfiguration(apps: [:]), clock: { .distantFuture })
            #expect(failure { () throws(VerificationFailure) in try elsewhere.verifyNotification(jws) } == .wrongBundle)
            var edited = jws
            edited[4420] = edited[4420] == UInt8(ascii: "A") ? UInt8(ascii: "B") : UInt8(ascii: "A")
            let verifier = try verifier(jws)
            #expect(
                failure { () throws(VerificationFailure) in try verifier.verifyNotification(edited) }
                    == .invalidSignature)
        }
    }

    @Test("every forgery is refused for its own reason")
    func refused() throws {
        let codes: [String: VerificationCode] = [
            "B01-notification.jws": .invalidSignature, "B05-notification.jws": .malformed,
            "B07-notification.jws": .untrustedRoot, "B12-transaction.jws": .wrongChainLength,
            "B13-notification.jws": .invalidChain, "B15-notification.jws": .untrustedRoot,
        ]
        for file in try files(directory.appendingPathComponent("rejected")) {
            let jws = [UInt8](try Data(contentsOf: file))
            let verifier = try verifier(jws)
            do throws(VerificationFailure) {
                if file.lastPathComponent.hasSuffix("transaction.jws") {
                    _ = try verifier.verifyTransaction(jws)
                } else {
                    _ = try verifier.verifyNotification(jws)
                }
                Issue.record("\(file.lastPathComponent) was accepted")
            } catch {
                print(file.lastPathComponent, error)
                if let code = codes[file.lastPathComponent] { #expect(error.code == code) }
            }
        }
    }
}
