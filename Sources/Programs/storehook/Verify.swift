import AppStorePayloads
import AppStoreVerification
import ArgumentParser
import Base
import EvidenceStore
import Foundation
import Operations
import Subscriptions

struct Verify: ActingCommand {
    static let configuration = CommandConfiguration(
        abstract: "Verify one JWS, without a database, and print what it says as JSON.",
        discussion: """
            Exits with 1 if it is not valid, and prints why. Apps, environments and roots are those of the environment.
            --store puts what is valid into the outbox as well, for the workers to apply, and prints which row it is;
            what is not valid is not stored. Of an old receipt (--kind receipt) the signature is checked, which receipts of
            iOS 6 do not have in that form; see storehook refresh --receipt.

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
    @Option(help: "notification, transaction, renewal, app_transaction or receipt.")
    var kind = Kind.notification
    @Flag(help: "Store what is valid, for the workers to apply.") var store = false
    @Argument(help: "A file with the JWS, or with the receipt in base64 or as bytes; - for standard input.")
    var file = "-"

    func run() async throws {
        let settings = try await shared.settings()
        let bytes = try read()
        let members: [JSONValue.Member]
        let cache = try settings.checksRevocation() ? RevocationCache() : nil
        let verifier = Verifier(configuration: try settings.verifier(), revocation: cache, clock: WallClock.now)
        try await OCSPRequester.settle(cache, logger: try settings.logger("verify")) {
            _ = try? Self.verify(kind, bytes, verifier)
        }
        do throws(VerificationFailure) {
            members = try Self.verify(kind, bytes, verifier)
        } catch {
            StandardOutput.line(
                JSONValue.object([
                    .init("valid", false), .init("kind", .string(kind.rawValue)),
                    .init("code", .string(error.code.rawValue)), .init("message", .string(error.message)),
                ]).text)
            throw ExitStatus.failed
        }
        guard store else {
            StandardOutput.line(answer(members))
            return
        }
        let id = try await Database.with(settings) { pool in
            let outbox = Outbox(pool)
            try await outbox.learnHeaders()
            return try await outbox.store([Evidence(kind.evidence, from: .operator, bytes)]).first ?? 0
        }
        StandardOutput.line(answer(members + [.init("stored", ["outbox_id": id.json, "source": "operator"])]))
    }

    private func answer(_ members: [JSONValue.Member]) -> String {
        let parts = members.filter { $0.value != .null }
        return JSONValue.object([.init("valid", true), .init("kind", .string(kind.rawValue))] + parts).text
    }

    /// The payloads go out as they were signed, byte for byte.
    private static func verify(
        _ kind: Kind, _ jws: [UInt8], _ verifier: Verifier
    ) throws(VerificationFailure) -> [JSONValue.Member] {
        switch kind {
        case .notification:
            // Out of a file or a pipe: how old it is does not matter here. That it is not yet to come does.
            let verified = try verifier.verifyNotification(jws, ofAnyAge: true)
            return [
                .init("payload", .written(verified.payload.json)),
                .init("transaction", .written(verified.transaction?.json)),
                .init("renewal", .written(verified.renewal?.json)),
                .init("app_transaction", .written(verified.appTransaction?.json)),
            ] + refundReason(verified.transaction)
        case .transaction:
            let transaction = try verifier.verifyTransaction(jws)
            return [.init("payload", .written(transaction.json))] + refundReason(transaction)
        case .renewal: return [.init("payload", .written(try verifier.verifyRenewal(jws).json))]
        case .appTransaction: return [.init("payload", .written(try verifier.verifyAppTransaction(jws).json))]
        case .receipt:
            let receipt: Receipt
            do throws(ReceiptFault) {
                receipt = try Receipt(jws)
            } catch {
                throw VerificationFailure(.malformed, "The receipt cannot be read: \(error).")
            }
            return [.init("payload", ReceiptContents.shape.value(of: try verifier.verify(receipt).contents))]
        }
    }

    /// Why Apple refunded, in a word: the payload has a number. Nothing where nothing was refunded.
    private static func refundReason(_ transaction: TransactionPayload?) -> [JSONValue.Member] {
        guard let transaction, transaction.revocationDate != nil, let reason = transaction.revocationReason else {
            return []
        }
        return [.init("refund_reason", .string(reason.word))]
    }

    private func read() throws -> [UInt8] {
        let limit = store || kind == .receipt ? kind.evidence.maximumSize : 1 << 20
        return try EvidenceFile.read(file, upTo: limit, isReceipt: kind == .receipt)
    }
}
