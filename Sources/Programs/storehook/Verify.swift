import AppStorePayloads
import AppStoreVerification
import ArgumentParser
import Foundation
import Operations
import Outbox
import Subscriptions

struct Verify: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Verify one JWS, without a database, and print what it says as JSON.",
        discussion: """
            Exits with 1 if it is not valid, and prints why. Apps, environments and roots are those of the environment.
            --store puts what is valid into the outbox as well, for the workers to apply, and prints which row it is;
            what is not valid is not stored. With it, --kind receipt keeps an old receipt, which is not signed and is not
            verified.

            Example: STOREHOOK_APPS=com.example.app=1234567890 storehook verify notification.jws
            """)

    enum Kind: String, ExpressibleByArgument, CaseIterable {
        case notification, transaction, renewal
        case appTransaction = "app_transaction"
        case receipt

        /// As the tables have it; with a hyphen as well, like the options of this program.
        init?(argument: String) { self.init(rawValue: argument.replacing("-", with: "_")) }

        var evidence: EvidenceKind {
            switch self {
            case .notification: .notification
            case .transaction: .transaction
            case .renewal: .renewal
            case .appTransaction: .appTransaction
            case .receipt: .receipt
            }
        }
    }

    @OptionGroup var shared: SharedOptions
    @Option(help: "notification, transaction, renewal or app_transaction; with --store also receipt.")
    var kind = Kind.notification
    @Flag(help: "Store what is valid, for the workers to apply.") var store = false
    @Argument(help: "A file with the JWS; - for standard input.") var file = "-"

    func validate() throws {
        guard kind != .receipt || store else {
            throw ValidationError("a receipt is not signed: there is nothing to verify, --store keeps it")
        }
    }

    func run() async throws {
        let settings = try await shared.settings()
        let bytes = try read()
        let members: [Member]
        if kind == .receipt {
            guard !bytes.isEmpty else { throw CommandFailure("there is nothing in \(file)", status: .usage) }
            members = []
        } else {
            let cache = try settings.checksRevocation() ? RevocationCache() : nil
            let verifier = Verifier(configuration: try settings.verifier(), revocation: cache, clock: WallClock.now)
            try await OCSPRequester.settle(cache, logger: try settings.logger("verify")) {
                _ = try? Self.verify(kind, bytes, verifier)
            }
            do throws(VerificationFailure) {
                members = try Self.verify(kind, bytes, verifier)
            } catch {
                print(
                    try JSONText.encode(
                        Refusal(valid: false, kind: kind.rawValue, code: error.code.rawValue, message: error.message)))
                throw ExitStatus.failed
            }
        }
        guard store else {
            print(answer(members))
            return
        }
        let id = try await Database.with(settings) { pool in
            let outbox = Outbox(pool)
            try await outbox.learnHeaders()
            return try await outbox.store([Evidence(kind.evidence, from: .operator, bytes)]).first ?? 0
        }
        print(answer(members + [("stored", Array(#"{"outbox_id":\#(id),"source":"operator"}"#.utf8))]))
    }

    private struct Refusal: Encodable {
        var valid: Bool
        var kind: String
        var code: String
        var message: String
    }

    /// A member of the answer, as JSON.
    private typealias Member = (name: String, json: [UInt8]?)

    /// Of a receipt it is not said whether it is valid.
    private func answer(_ members: [Member]) -> String {
        let parts = members.compactMap { name, json in
            json.map { "\"\(name)\":\(String(decoding: $0, as: UTF8.self))" }
        }
        let head = (kind == .receipt ? [] : ["\"valid\":true"]) + ["\"kind\":\"\(kind.rawValue)\""]
        return "{\((head + parts).joined(separator: ","))}"
    }

    /// The payloads go out as they were signed, byte for byte.
    private static func verify(
        _ kind: Kind, _ jws: [UInt8], _ verifier: Verifier
    ) throws(VerificationFailure) -> [Member] {
        switch kind {
        case .notification:
            // Out of a file or a pipe: how old it is does not matter here. That it is not yet to come does.
            let verified = try verifier.verifyNotification(jws, ofAnyAge: true)
            return [
                ("payload", verified.payload.json),
                ("transaction", verified.transaction?.json),
                ("renewal", verified.renewal?.json),
                ("app_transaction", verified.appTransaction?.json),
            ]
        case .transaction: return [("payload", try verifier.verifyTransaction(jws).json)]
        case .renewal: return [("payload", try verifier.verifyRenewal(jws).json)]
        case .appTransaction: return [("payload", try verifier.verifyAppTransaction(jws).json)]
        case .receipt: return []
        }
    }

    /// A line end after the text is the editor's, not Apple's. What is not text, as a receipt in DER, is taken as it is.
    private func read() throws -> [UInt8] {
        let limit = store ? kind.evidence.maximumSize : 1 << 20
        // The line's end, in either spelling, is no part of it.
        let most = limit + 2
        let data: Data?
        if file == "-" {
            data = try FileHandle.standardInput.read(upToCount: most + 1) ?? Data()
        } else {
            guard let handle = FileHandle(forReadingAtPath: file) else {
                throw CommandFailure("cannot read \(file)", status: .usage)
            }
            data = try handle.read(upToCount: most + 1) ?? Data()
        }
        var bytes = [UInt8](data ?? Data())
        if bytes.allSatisfy({ $0 < 0x80 }) {
            while let last = bytes.last, last == UInt8(ascii: "\n") || last == UInt8(ascii: "\r") { bytes.removeLast() }
        }
        guard bytes.count <= limit else {
            throw CommandFailure(
                "more than \(limit) bytes" + (kind == .receipt ? "" : "; Apple's are under 20000"), status: .usage)
        }
        return bytes
    }
}
