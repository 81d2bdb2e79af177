import Base

/// A payload's members, read by the rules that all of Apple's payloads share.
///
/// - A key that every such record needs (``key(_:)``, ``requiredDate(_:)``) must be there and be valid.
/// - Any other field of the wrong type is nil: its text is still in the payload that is kept.
/// - A text that is longer than its bound in ``TextMember`` is an error, whatever the field.
/// - A number that is no date that can be stored is an error, because a guess would end up in a customer's access.
struct PayloadFields {
    let object: JSONObject

    /// Reads a payload of this kind.
    init(_ json: [UInt8], of kind: PayloadKind) throws(PayloadError) {
        try self.init(json)
        try kind.require(object)
    }

    private init(_ json: [UInt8]) throws(PayloadError) {
        let document: JSONDocument
        do {
            document = try JSONDocument(json)
        } catch {
            throw PayloadError(message: "The payload is not JSON that can be relied upon: \(error).")
        }
        guard let object = document.object else { throw PayloadError(message: "The payload is not a JSON object.") }
        self.object = object
    }

    init(_ object: JSONObject) { self.object = object }

    func key(_ member: TextMember) throws(PayloadError) -> String {
        guard let text = try string(member), !text.isEmpty else {
            throw PayloadError(message: "\(member.name) is missing or not a text.")
        }
        return text
    }

    func requiredDate(_ name: StaticString, else other: Timestamp? = nil) throws(PayloadError) -> Timestamp {
        guard let date = try date(name) ?? other else {
            throw PayloadError(message: "\(name) is missing or not a number.")
        }
        return date
    }

    /// The date, fractions of a millisecond rounded down.
    func date(_ name: StaticString) throws(PayloadError) -> Timestamp? {
        let milliseconds: Int64
        switch object.number(name) {
        case .none: return nil
        case .integer(let value), .fraction(floor: let value): milliseconds = value
        case .tooLarge: throw PayloadError(message: "\(name) is not a date that can be stored.")
        }
        guard Timestamp.payloadDates.contains(milliseconds) else {
            throw PayloadError(message: "\(name) is not a date that can be stored.")
        }
        return Timestamp(millisecondsSince1970: milliseconds)
    }

    func string(_ member: TextMember) throws(PayloadError) -> String? {
        guard let text = object.string(member.name) else { return nil }
        try require(text, of: member)
        return text
    }

    func strings(_ member: TextMember) throws(PayloadError) -> [String]? {
        guard let count = object.elementCount(member.name) else { return nil }
        guard count <= TextMember.mostTexts else {
            throw PayloadError(message: "\(member.name) has more than \(TextMember.mostTexts) elements.")
        }
        guard let texts = object.strings(member.name) else { return nil }
        for text in texts { try require(text, of: member) }
        return texts
    }

    func accountToken(_ member: TextMember) throws(PayloadError) -> UniqueIdentifier? {
        try string(member).flatMap { UniqueIdentifier($0) }?.accountToken
    }

    func code<Code: AppleCode>(_ member: TextMember) throws(PayloadError) -> Code? where Code.RawValue == String {
        try string(member).map { Code(rawValue: $0) }
    }

    func integer(_ name: StaticString) -> Int64? { object.integer(name) }
    func bool(_ name: StaticString) -> Bool? { object.bool(name) }

    func code<Code: AppleCode>(_ name: StaticString) -> Code? where Code.RawValue == Int64 {
        object.integer(name).map { Code(rawValue: $0) }
    }

    func object(_ name: StaticString) -> PayloadFields? { object.object(name).map { PayloadFields($0) } }

    private func require(_ text: String, of member: TextMember) throws(PayloadError) {
        guard !member.isExceeded(by: text) else {
            throw PayloadError(message: "\(member.name) is longer than \(member.most) bytes.")
        }
    }
}
