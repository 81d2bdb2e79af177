import AppStorePayloads

/// Apple has taken on the extension of all of a product's subscriptions, and does it over hours.
public struct RequestedMassExtension: Sendable, Hashable {
    /// The request's name, by which its status is asked.
    public let requestIdentifier: String
    /// What this release does not know, by name, as JSON texts.
    public let unknownFields: [String: [UInt8]]

    init(_ reader: inout AnswerReader) throws(AnswerFault) {
        requestIdentifier = try reader.required(.requestIdentifier)
        unknownFields = reader.object.members(except: ["requestIdentifier"])
    }
}
