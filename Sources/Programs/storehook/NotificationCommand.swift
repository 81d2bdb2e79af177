import ArgumentParser
import Foundation
import Ledger
import Operations
import Outbox

struct NotificationCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "notification",
        abstract: "Show one notification decoded, with its place in the timeline.",
        discussion: """
            --raw prints the JWS exactly as Apple signed it. Once retention has dropped the bytes, what is recorded of the
            notification is shown without its payload, and --raw exits with 1.

            Example: storehook notification 002e14d5-51f5-4503-b5a8-c3a1af68eb20
            """)

    @OptionGroup var shared: SharedOptions
    @Argument(help: "The notificationUUID.") var uuid: String
    @Flag(help: "Print Apple's exact bytes and nothing else.") var raw = false

    func validate() throws {
        guard UUID(uuidString: uuid) != nil else { throw ValidationError("a notificationUUID has the form 8-4-4-4-12") }
    }

    func run() async throws {
        guard let id = UUID(uuidString: uuid) else { return }
        let (found, body, timeline) = try await Database.with(try await shared.settings()) { pool in
            let reader = LedgerReader(pool)
            guard let found = try await reader.notification(id) else {
                throw CommandFailure(
                    "notification \(uuid) is not recorded; see storehook queue and storehook dead-letters list")
            }
            let line = try await found.originalTransactionID.asyncMap { try await reader.timeline(of: $0) }
            let body = try await Outbox(pool).body(
                of: found.evidence.outboxID, receivedAt: found.evidence.receivedAt)
            return (found, body, line ?? [])
        }
        if raw {
            guard let body else {
                throw CommandFailure(
                    "the bytes of notification \(uuid) are gone: received \(found.receivedAt), dropped since by retention "
                        + "(STOREHOOK_RETENTION_DAYS)")
            }
            FileHandle.standardOutput.write(Data(try Self.readable(body, uuid)))
            return
        }
        let readable = try body.map { try Self.readable($0, uuid) }
        print(try NotificationAnswer.json(found, readable, timeline, uuid.lowercased()))
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
