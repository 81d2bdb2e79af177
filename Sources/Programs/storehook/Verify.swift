import AppStorePayloads
import AppStoreVerification
import ArgumentParser
import Foundation
import Operations

struct Verify: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Verify one JWS, without a database, and print what it says as JSON.",
        discussion: """
            Exits with 1 if it is not valid, and prints why. Apps, environments and roots are those of the environment.

            Example: STOREHOOK_APPS=com.example.app=1234567890 storehook verify notification.jws
            """)

    enum Kind: String, ExpressibleByArgument, CaseIterable {
        case notification, transaction, renewal
        case appTransaction = "app-transaction"
    }

    @OptionGroup var shared: SharedOptions
    @Option(help: "notification, transaction, renewal or app-transaction.") var kind = Kind.notification
    @Argument(help: "A file with the JWS; - for standard input.") var file = "-"

    func run() async throws {
        let settings = try await shared.settings()
        let cache = try settings.checksRevocation() ? RevocationCache() : nil
        let verifier = Verifier(configuration: try settings.verifier(), revocation: cache, clock: WallClock.now)
        let jws = try read()
        try await OCSPRequester.settle(cache, logger: try settings.logger("verify")) {
            _ = try? Self.answer(kind, jws, verifier)
        }
        do throws(VerificationFailure) {
            print(try Self.answer(kind, jws, verifier))
        } catch {
            print(
                try JSONText.encode(
                    Refusal(valid: false, kind: kind.rawValue, code: error.code.rawValue, message: error.message)))
            throw ExitStatus.failed
        }
    }

    private struct Refusal: Encodable {
        var valid: Bool
        var kind: String
        var code: String
        var message: String
    }

    /// The payloads go out as they were signed, byte for byte.
    private static func answer(_ kind: Kind, _ jws: [UInt8], _ verifier: Verifier) throws(VerificationFailure) -> String
    {
        func object(_ members: [(String, [UInt8]?)]) -> String {
            let parts = members.compactMap { name, json in
                json.map { "\"\(name)\":\(String(decoding: $0, as: UTF8.self))" }
            }
            return "{\"valid\":true,\"kind\":\"\(kind.rawValue)\",\(parts.joined(separator: ","))}"
        }
        switch kind {
        case .notification:
            // Out of a file or a pipe: how old it is does not matter here.
            let verified = try verifier.verifyNotification(jws, isBackfill: true)
            return object([
                ("payload", verified.payload.json),
                ("transaction", verified.transaction?.json),
                ("renewal", verified.renewal?.json),
                ("app_transaction", verified.appTransaction?.json),
            ])
        case .transaction: return object([("payload", try verifier.verifyTransaction(jws).json)])
        case .renewal: return object([("payload", try verifier.verifyRenewal(jws).json)])
        case .appTransaction: return object([("payload", try verifier.verifyAppTransaction(jws).json)])
        }
    }

    /// A line end after the JWS is the editor's, not Apple's.
    private func read() throws -> [UInt8] {
        let limit = 1 << 20
        let data: Data?
        if file == "-" {
            data = try FileHandle.standardInput.read(upToCount: limit + 1) ?? Data()
        } else {
            guard let handle = FileHandle(forReadingAtPath: file) else {
                throw CommandFailure("cannot read \(file)", status: .usage)
            }
            data = try handle.read(upToCount: limit + 1) ?? Data()
        }
        guard let data, data.count <= limit else {
            throw CommandFailure("more than \(limit) bytes; Apple's are under 20000", status: .usage)
        }
        var bytes = [UInt8](data)
        while let last = bytes.last, last == UInt8(ascii: "\n") || last == UInt8(ascii: "\r") { bytes.removeLast() }
        return bytes
    }
}
