import Accounts
import Base
import Crypto
import Foundation
import TestSupport

/// Tokens of accounts, for tests.
enum AccountDigest {
    /// MD5 as a UUID, as PostgreSQL casts it.
    static func uuid(of text: String) -> String {
        let hex = Insecure.MD5.hash(data: Data(text.utf8)).map { byte in
            (byte < 16 ? "0" : "") + String(byte, radix: 16)
        }.joined()
        let cuts = [0, 8, 12, 16, 20, 32]
        let digits = Array(hex)
        return zip(cuts, cuts.dropFirst()).map { String(digits[$0..<$1]) }.joined(separator: "-")
    }

    /// The token of an account by its id.
    static func token(of account: String) -> UniqueIdentifier { AccountToken.of(account) }
}
