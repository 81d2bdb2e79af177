import AppStorePayloads
public import Base

/// How far Apple is with the extension of all of a product's subscriptions.
public struct MassExtensionStatus: Sendable, Hashable {
    /// Whether it is done.
    public let complete: Bool
    /// When it was.
    public let completeDate: Timestamp?
    /// The request.
    public let requestIdentifier: String?
    /// How many were extended.
    public let succeededCount: Int64?
    /// How many were not.
    public let failedCount: Int64?
    /// What this release does not know, by name, as JSON texts.
    public let unknownFields: [String: [UInt8]]

    init(_ reader: inout AnswerReader) throws(AnswerFault) {
        let object = reader.object
        guard let complete = object.bool("complete") else { throw .unreadable("complete is missing") }
        self.complete = complete
        completeDate = object.integer("completeDate").map(Timestamp.init(millisecondsSince1970:))
        requestIdentifier = try reader.text(.requestIdentifier)
        succeededCount = object.integer("succeededCount")
        failedCount = object.integer("failedCount")
        unknownFields = object.members(
            except: ["complete", "completeDate", "requestIdentifier", "succeededCount", "failedCount"])
    }
}
