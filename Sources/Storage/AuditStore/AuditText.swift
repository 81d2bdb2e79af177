package import Base
import Crypto
import Foundation

/// The personal part of a row of the audit: account ids, reasons, names.
package enum AuditText: Sendable, Hashable {
    /// The act had none.
    case none
    /// A JSON object of texts, with the salt of its digest.
    case kept(salt: [UInt8], body: String)
    /// An account was erased, and the text with it.
    case erased(at: Timestamp)
    /// The row has a digest and its text is nowhere: neither there nor erased.
    case lost

    /// The texts by their names; empty without texts.
    package var members: [String: String] {
        guard case .kept(_, let body) = self else { return [:] }
        return (try? JSONDecoder().decode([String: String].self, from: Data(body.utf8))) ?? [:]
    }

    /// SHA-256 of the salt and the text; nil where there is no text.
    package var digest: [UInt8]? {
        guard case .kept(let salt, let body) = self else { return nil }
        return Array(SHA256.hash(data: salt + Array(body.utf8)))
    }
}
