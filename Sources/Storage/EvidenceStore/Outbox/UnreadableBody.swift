/// Why the bytes of an outbox row cannot be returned as they were posted.
package enum UnreadableBody: Error, Sendable, Hashable {
    /// They are packed in a way that this release does not support.
    case unknownPacking(Int)
    /// They name a header that the database lacks; its SHA-256.
    case missingHeader([UInt8])
    /// They are not in the packed form.
    case damaged
}

extension UnreadableBody: CustomStringConvertible {
    /// One line: what is wrong and what to do.
    package var description: String {
        switch self {
        case .unknownPacking(let packing):
            "the stored bytes are packed in a way that this release does not know (\(packing)): use a newer one"
        case .missingHeader(let digest):
            "the stored bytes name a header that storehook.signature_headers does not hold: restore its row with digest "
                + digest.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
        case .damaged:
            "the stored bytes are damaged: they are not what packing makes; restore the outbox's row from a backup"
        }
    }
}
