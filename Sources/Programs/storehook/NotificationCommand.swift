import AppStorePayloads
import ArgumentParser
import Foundation
import Ledger
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
        print(try Self.answer(found, body, timeline.map(SubscriptionAnswer.Entry.init), uuid.lowercased()))
    }

    private static func readable(_ body: OpenedBody, _ uuid: String) throws -> [UInt8] {
        do { return try body.get() } catch { throw CommandFailure("notification \(uuid): \(error)") }
    }

    /// The payloads go out as they were signed, byte for byte.
    private static func answer(
        _ found: RecordedNotification, _ body: OpenedBody?, _ timeline: [SubscriptionAnswer.Entry], _ uuid: String
    ) throws -> String {
        let payload = try body.map { try StoredPayloads(readable($0, uuid)) }
        let place = timeline.firstIndex { $0.notificationUuid == uuid }
        var members = [
            "\"outcome\":\"\(found.outcome.rawValue)\"", "\"signed_at\":\"\(found.signedAt)\"",
            "\"received_at\":\"\(found.receivedAt)\"", "\"applied_at\":\"\(found.appliedAt)\"",
            "\"payload\":\(payload?.outer ?? "null")",
        ]
        if payload == nil { members.append("\"bytes\":\"dropped by retention\"") }
        if let transaction = payload?.transaction { members.append("\"transaction\":\(transaction)") }
        if let renewal = payload?.renewal { members.append("\"renewal\":\(renewal)") }
        if let place {
            let around = timeline[max(place - 1, 0)...min(place + 1, timeline.count - 1)]
            members.append("\"place\":\(place + 1)")
            members.append("\"of\":\(timeline.count)")
            members.append("\"timeline\":\(try JSONText.encode(Array(around)))")
        }
        return "{\(members.joined(separator: ","))}"
    }
}

/// The JSON texts inside a stored JWS, which was verified before it was recorded.
private struct StoredPayloads {
    let outer: String
    let transaction: String?
    let renewal: String?

    init(_ body: [UInt8]) throws {
        guard let json = Self.payload(body) else { throw CommandFailure("the stored bytes are not a JWS any more") }
        outer = String(decoding: json, as: UTF8.self)
        let data = try JSONDocument(json).object?.object("data")
        transaction = data?.string("signedTransactionInfo").flatMap(Self.text)
        renewal = data?.string("signedRenewalInfo").flatMap(Self.text)
    }

    private static func text(_ jws: String) -> String? {
        payload(Array(jws.utf8)).map { String(decoding: $0, as: UTF8.self) }
    }

    private static func payload(_ jws: [UInt8]) -> [UInt8]? {
        let segments = jws.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        return segments.count == 3 ? Base64.url.decode(Array(segments[1])) : nil
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
