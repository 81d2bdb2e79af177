import AppStorePayloads
import Base
import EvidenceStore
import Foundation
package import PurchaseStore
import Subscriptions

/// One notification decoded, with its place in the story of its purchase.
package struct NotificationAnswer {
    private let found: RecordedNotification
    private let payload: StoredPayloads?
    private let story: RecordedStory?
    private let place: Int?

    /// An answer.
    /// - Parameters:
    ///   - body: the JWS; nil where retention has dropped it.
    ///   - stories: those of the purchases it may be about.
    /// - Throws: `UnreadableBody` where the stored bytes are no JWS any more.
    package init(_ found: RecordedNotification, _ body: [UInt8]?, _ stories: [RecordedStory]) throws {
        self.found = found
        payload = try body.map { try StoredPayloads($0) }
        story = stories.first {
            $0.purchase.environment == found.environment && $0.purchase.bundleID == found.bundleID
        }
        place = story?.entries.firstIndex { $0.recorded.notificationUUID == UniqueIdentifier(found.uuid) }
    }

    /// The answer. The payloads go out as they were signed, byte for byte.
    package var answer: CommandAnswer {
        var members: [JSONValue.Member] = [
            .init("outcome", .string(found.outcome.rawValue)), .init("source", .string(found.source.rawValue)),
            .init("signed_at", .time(found.signedAt)), .init("received_at", .time(found.receivedAt)),
            .init("applied_at", .time(found.appliedAt)), .init("payload", .written(payload?.outer)),
        ]
        if payload == nil { members.append(.init("bytes", "dropped by retention")) }
        if let transaction = payload?.transaction { members.append(.init("transaction", .written(transaction))) }
        if let renewal = payload?.renewal { members.append(.init("renewal", .written(renewal))) }
        if let story, let place {
            let around = story.timeline[max(place - 1, 0)...min(place + 1, story.entries.count - 1)]
            members += [
                .init("place", .integer(Int64(place + 1))), .init("of", .integer(Int64(story.entries.count))),
                .init("timeline", .array(Array(around))),
            ]
        }
        return CommandAnswer(.object(members), text: text)
    }

    /// For people: what the notification is, what it reports, and the signed JSON without the signed texts inside it.
    private var text: String {
        let entry = place.flatMap { story?.entries[$0] }
        let purchase = found.originalTransactionID.map { "\($0) of \(found.bundleID), \(found.environment)" }
        let delay = Duration.milliseconds(found.receivedAt.milliseconds(since: found.signedAt)).age
        let rows: [(String, String?)] = [
            ("notification", found.uuid.uuidString.lowercased()),
            ("type", [found.type, found.subtype].compactMap(\.self).joined(separator: " ")),
            ("purchase", purchase ?? "none: \(found.bundleID), \(found.environment)"),
            ("signed", "\(found.signedAt)"), ("received", "\(found.receivedAt), \(delay) later"),
            ("applied", "\(found.appliedAt)"), ("source", "\(found.source.rawValue): \(found.source.words)"),
            ("outcome", found.outcome == .parked ? "parked: a type that this release does not know" : nil),
            ("what happened", entry?.recorded.words), ("status", entry?.status),
            ("place", place.map { "\($0 + 1) of \(story?.entries.count ?? 0) of its purchase" }),
            ("bytes", payload == nil ? "dropped by retention" : nil),
        ]
        let parts = [("payload", payload?.outer), ("transaction", payload?.transaction), ("renewal", payload?.renewal)]
        let bodies = parts.compactMap { name, json in json.map { "\n\(name)\n\(Self.indented($0))" } }
        return ([CommandAnswer.lines(rows, width: 15)] + bodies).joined(separator: "\n")
    }

    private static func indented(_ json: [UInt8]) -> String {
        guard let document = try? JSONDocument(json) else { return String(decoding: json, as: UTF8.self) }
        var value = JSONValue(document.root)
        // They are decoded below.
        if let data = value["data"] {
            value = value.removing(["data"]).adding(
                "data", data.removing(["signedTransactionInfo", "signedRenewalInfo"]))
        }
        return value.sorted.indented
    }
}

/// The JSON texts inside a stored JWS, which was verified before it was recorded.
private struct StoredPayloads {
    let outer: [UInt8]
    let transaction: [UInt8]?
    let renewal: [UInt8]?

    init(_ body: [UInt8]) throws {
        guard let json = Self.payload(body) else { throw UnreadableBody.damaged }
        outer = json
        let data = try JSONDocument(json).object?.object("data")
        transaction = data?.string("signedTransactionInfo").flatMap { Self.payload(Array($0.utf8)) }
        renewal = data?.string("signedRenewalInfo").flatMap { Self.payload(Array($0.utf8)) }
    }

    private static func payload(_ jws: [UInt8]) -> [UInt8]? {
        let segments = jws.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        return segments.count == 3 ? Base64.url.decode(Array(segments[1])) : nil
    }
}
