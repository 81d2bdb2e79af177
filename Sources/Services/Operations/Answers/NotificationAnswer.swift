import AppStorePayloads
package import Ledger
import Outbox

/// One notification decoded, with its place in the timeline, as scripts see it.
package enum NotificationAnswer {
    /// The answer as one JSON object. The payloads go out as they were signed, byte for byte.
    /// - Parameters:
    ///   - body: the JWS; nil where retention has dropped it.
    ///   - timeline: that of the purchase it is about.
    ///   - uuid: its notificationUUID, in lower case.
    /// - Throws: `UnreadableBody` where the stored bytes are no JWS any more.
    package static func json(
        _ found: RecordedNotification, _ body: [UInt8]?, _ timeline: [TimelineEntry], _ uuid: String
    ) throws -> String {
        let timeline = timeline.map(SubscriptionAnswer.Entry.init)
        let payload = try body.map { try StoredPayloads($0) }
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
