public import AppStorePayloads
public import Base

/// A JWS's own claims, without any check: **anyone may have written it**.
///
/// For people who look at failed notifications, never for a decision. Reading never fails: a part that cannot be read,
/// or is not of Apple's form, is nil. So nothing here can disturb a terminal or a log.
public struct UnverifiedSummary: Sendable, Hashable {
    /// `notificationUUID`, if it is one.
    public var notificationUUID: UniqueIdentifier?
    /// `notificationType`, if it looks like one.
    public var notificationType: NotificationType?
    /// `subtype`, if it looks like one.
    public var subtype: NotificationSubtype?
    /// `signedDate`, if it is one.
    public var signedDate: Timestamp?
    /// `bundleId`, of the payload or of the part of a notification that is there, if it looks like one.
    public var bundleId: String?

    /// Creates a summary in which nothing could be read.
    public init() {}

    /// Reads the readable parts of a compact JWS.
    public static func read(_ jws: [UInt8]) -> UnverifiedSummary {
        var summary = UnverifiedSummary()
        guard let json = try? CompactJWS(jws).payload(), let object = try? JSONDocument(json).object else {
            return summary
        }
        summary.notificationUUID = object.string("notificationUUID").flatMap { UniqueIdentifier($0) }
        summary.notificationType = word(object, "notificationType").map { NotificationType(rawValue: $0) }
        summary.subtype = word(object, "subtype").map { NotificationSubtype(rawValue: $0) }
        if let milliseconds = object.integer("signedDate"), Timestamp.payloadDates.contains(milliseconds) {
            summary.signedDate = Timestamp(millisecondsSince1970: milliseconds)
        }
        let places: [StaticString] = ["data", "summary", "appData", "externalPurchaseToken"]
        let named = [object.string("bundleId")] + places.map { object.object($0)?.string("bundleId") }
        summary.bundleId = named.compactMap(\.self).first.flatMap { Self.isApp($0) ? $0 : nil }
        return summary
    }

    /// Letters, digits, hyphens and periods, at most 255 (CFBundleIdentifier).
    private static func isApp(_ text: String) -> Bool {
        (1...255).contains(text.utf8.count)
            && text.utf8.allSatisfy { byte in
                (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
                    || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
                    || byte == UInt8(ascii: "-") || byte == UInt8(ascii: ".")
            }
    }

    /// Capital letters, digits and underscores, at most 64.
    private static func word(_ object: JSONObject, _ name: StaticString) -> String? {
        guard let text = object.string(name), (1...64).contains(text.utf8.count),
            text.utf8.allSatisfy({
                (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0)
                    || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0)
                    || $0 == UInt8(ascii: "_")
            })
        else { return nil }
        return text
    }
}
