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
    private let timeline: [StoryEntryAnswer]
    private let place: Int?

    /// An answer.
    /// - Parameters:
    ///   - body: the JWS; nil where retention has dropped it.
    ///   - stories: those of the purchases it may be about.
    /// - Throws: `UnreadableBody` where the stored bytes are no JWS any more.
    package init(_ found: RecordedNotification, _ body: [UInt8]?, _ stories: [RecordedStory]) throws {
        self.found = found
        payload = try body.map { try StoredPayloads($0) }
        let story = stories.first {
            $0.purchase.environment == found.environment && $0.purchase.bundleID == found.bundleID
        }
        timeline = story.map { story in story.entries.map { StoryEntryAnswer($0, of: story.purchase) } } ?? []
        let uuid = found.uuid.uuidString.lowercased()
        place = timeline.firstIndex { $0.notificationUuid == uuid }
    }

    /// For scripts, one JSON object. The payloads go out as they were signed, byte for byte.
    package func json() throws -> String {
        var members = [
            "\"outcome\":\"\(found.outcome.rawValue)\"", "\"source\":\"\(found.source.rawValue)\"",
            "\"signed_at\":\"\(found.signedAt)\"",
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

    /// For people: what it is, what it tells, and what was signed, without the signed texts within it.
    package var text: String {
        let entry = place.map { timeline[$0] }
        let purchase = found.originalTransactionID.map { "\($0) of \(found.bundleID), \(found.environment)" }
        let delay = Duration.milliseconds(found.receivedAt.milliseconds(since: found.signedAt)).age
        let rows: [(String, String?)] = [
            ("notification", found.uuid.uuidString.lowercased()),
            ("type", [found.type, found.subtype].compactMap(\.self).joined(separator: " ")),
            ("purchase", purchase ?? "none: \(found.bundleID), \(found.environment)"),
            ("signed", "\(found.signedAt)"), ("received", "\(found.receivedAt), \(delay) later"),
            ("applied", "\(found.appliedAt)"), ("source", "\(found.source.rawValue): \(found.source.words)"),
            ("outcome", found.outcome == .parked ? "parked: a type that this release does not know" : nil),
            ("what happened", entry?.words), ("status", entry?.status),
            ("place", place.map { "\($0 + 1) of \(timeline.count) of its purchase" }),
            ("bytes", payload == nil ? "dropped by retention" : nil),
        ]
        let head = rows.compactMap { name, value in
            value.map { name + String(repeating: " ", count: 15 - name.count) + $0 }
        }
        let parts = [("payload", payload?.outer), ("transaction", payload?.transaction), ("renewal", payload?.renewal)]
        let bodies = parts.compactMap { name, json in json.map { "\n\(name)\n\(Self.indented($0))" } }
        return (head + bodies).joined(separator: "\n")
    }

    private static func indented(_ json: String) -> String {
        guard let document = try? JSONDocument(Array(json.utf8)) else { return json }
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
    let outer: String
    let transaction: String?
    let renewal: String?

    init(_ body: [UInt8]) throws {
        guard let json = Self.payload(body) else { throw UnreadableBody.damaged }
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
