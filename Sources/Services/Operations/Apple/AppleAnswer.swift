import AppStorePayloads
package import AppStoreServerAPI
import AppStoreVerification
import Base

/// Apple's answer to a command, for people and for scripts. Signed parts are shown only if they verify.
package struct AppleAnswer: Sendable {
    /// One object; payloads go out as they were signed, byte for byte.
    package let answer: CommandAnswer
    /// What was kept back.
    package let refused: [RefusedRecord]
    /// Where the rest of it is; nil where this is all.
    package let missing: MissingPages?
    /// Whether it states a fault that an operator has to mend.
    package let isFault: Bool

    /// An answer of these members from this environment.
    init(
        _ environment: Environment, _ members: [JSONValue.Member], unknown: [String: [UInt8]] = [:],
        refused: [RefusedRecord] = [], missing: MissingPages? = nil, isFault: Bool = false, text: String
    ) {
        var members = [.init("environment", .string(environment.rawValue))] + members
        if !unknown.isEmpty {
            members.append(.init("unknown_fields", .object(unknown.map { .init($0, .written($1)) })))
        }
        if let missing { members.append(.init("missing", MissingPages.shape.value(of: missing))) }
        if !refused.isEmpty { members.append(.init("refused", Self.refusal.values(of: refused))) }
        answer = CommandAnswer(.object(members), text: text)
        self.refused = refused
        self.missing = missing
        self.isFault = isFault
    }

    private static let refusal = CommandShape<RefusedRecord>([
        .init("index", \.index), .init("code", \.failure.code.rawValue), .init("message", \.failure.message),
    ])
}
