import ArgumentParser
import EvidenceStore
import Foundation
import Operations
import PurchaseStore

struct NotificationCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "notification",
        abstract: "Show one notification decoded, with its place in the story of its purchase.",
        discussion: """
            Prints for people on a terminal and JSON elsewhere, unless --format says otherwise. --raw prints the JWS exactly as Apple signed it. Once retention has dropped the bytes, what is recorded of the
            notification is shown without its payload, and --raw exits with 1.

            Example: storehook notification 002e14d5-51f5-4503-b5a8-c3a1af68eb20
            """)

    @OptionGroup var shared: SharedOptions
    @Argument(help: "The notificationUUID.") var uuid: String
    @OptionGroup var output: Output
    @Flag(help: "Print Apple's exact bytes and nothing else.") var raw = false

    func validate() throws {
        guard UUID(uuidString: uuid) != nil else { throw ValidationError("a notificationUUID has the form 8-4-4-4-12") }
    }

    func run() async throws {
        guard let id = UUID(uuidString: uuid) else { return }
        let settings = try await shared.settings()
        let policy = try settings.statusPolicy()
        let (found, body, stories) = try await Database.with(settings) { pool in
            let reader = LedgerReader(pool, policy: policy)
            guard let found = try await reader.notification(id) else {
                throw CommandFailure(
                    "notification \(uuid) is not recorded; see storehook queue and storehook dead-letters list")
            }
            let stories = try await found.originalTransactionID.asyncMap { try await reader.story(of: $0) }
            let body = try await Outbox(pool).body(
                of: found.evidence.outboxID, receivedAt: found.evidence.receivedAt)
            return (found, body, stories ?? [])
        }
        if raw {
            guard let body else {
                throw CommandFailure(
                    "the bytes of notification \(uuid) are gone: received \(found.receivedAt), dropped since by retention "
                        + "(STOREHOOK_RETENTION_DAYS)")
            }
            StandardOutput.write(try Self.readable(body, uuid))
            return
        }
        let readable = try body.map { try Self.readable($0, uuid) }
        output.print(try NotificationAnswer(found, readable, stories).answer)
    }

    private static func readable(_ body: OpenedBody, _ uuid: String) throws -> [UInt8] {
        do { return try body.get() } catch { throw CommandFailure("notification \(uuid): \(error)") }
    }
}

extension Optional {
    fileprivate func asyncMap<T>(_ transform: (Wrapped) async throws -> T) async rethrows -> T? {
        switch self {
        case .none: nil
        case .some(let value): try await transform(value)
        }
    }
}
