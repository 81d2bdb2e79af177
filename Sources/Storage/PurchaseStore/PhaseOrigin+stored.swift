import AppStorePayloads
import Base
import Foundation
import Postgres
package import Subscriptions

extension PhaseOrigin {
    /// An element of `phase_origin`: bought|charged|upcoming account|named product, instants in milliseconds since 1970;
    /// nil where there is nothing to say. The third field is a list, separated by commas:
    /// - `1` for an upcoming account;
    /// - `w` and the instant until which a renewal is waited for;
    /// - `r`, the end of a replaced renewal, a space, and its product in Base64.
    ///
    /// An earlier release reads any list but `1` as nothing.
    var stored: String? {
        if isOrdinary { return nil }
        let fields = [
            boughtAt.map { String($0.millisecondsSince1970) }, chargedAt.map { String($0.millisecondsSince1970) },
            flags, namedProductID,
        ]
        return fields.map { $0 ?? "" }.joined(separator: "|")
    }

    private var flags: String {
        let flags = [
            isUpcomingAccount ? "1" : nil, waitsUntil.map { "w\($0.millisecondsSince1970)" },
            replacedRenewal.map { renewal in
                "r\(renewal.until.millisecondsSince1970) \(Data(renewal.productID.utf8).base64EncodedString())"
            },
        ]
        return flags.compactMap(\.self).joined(separator: ",")
    }

    /// Reads an element of `phase_origin`.
    package init(stored text: String) throws {
        // The last field is Apple's text, and may have any character.
        let fields = text.split(separator: "|", maxSplits: 3, omittingEmptySubsequences: false)
        guard fields.count == 4 else { throw PostgresError.unreadableOrigin }
        self.init(
            boughtAt: try Timestamp(stored: fields[0]), chargedAt: try Timestamp(stored: fields[1]),
            namedProductID: fields[3].isEmpty ? nil : String(fields[3]), isUpcomingAccount: false)
        for flag in fields[2].split(separator: ",") {
            switch flag.first {
            case "1": isUpcomingAccount = true
            case "w": waitsUntil = try Timestamp(stored: flag.dropFirst())
            case "r": replacedRenewal = try Renewal(stored: flag.dropFirst())
            default: throw PostgresError.unreadableOrigin
            }
        }
    }
}

extension PhaseOrigin.Renewal {
    fileprivate init(stored text: Substring) throws {
        let fields = text.split(separator: " ")
        guard fields.count == 2, let until = try Timestamp(stored: fields[0]),
            let product = Data(base64Encoded: String(fields[1])).flatMap({ String(data: $0, encoding: .utf8) })
        else { throw PostgresError.unreadableOrigin }
        self.init(productID: product, until: until)
    }
}

extension StretchEnd {
    /// The column `stretches`: for each end its instant, and the account where there is one; nil for none.
    static func stored(_ ends: [StretchEnd]) -> String? {
        if ends.isEmpty { return nil }
        return ends.map { end in
            "\(end.at.millisecondsSince1970)" + (end.account.map { " \($0)" } ?? "")
        }.joined(separator: ",")
    }

    /// Reads the column `stretches`.
    package static func all(stored text: String?) throws -> [StretchEnd] {
        guard let text else { return [] }
        return try text.split(separator: ",").map { end in
            let fields = end.split(separator: " ", maxSplits: 1)
            guard let instant = fields.first, let at = try Timestamp(stored: instant) else {
                throw PostgresError.unreadableOrigin
            }
            guard fields.count == 2 else { return StretchEnd(at: at) }
            guard let account = UniqueIdentifier(String(fields[1])) else { throw PostgresError.unreadableOrigin }
            return StretchEnd(at: at, account: account)
        }
    }
}

extension Timestamp {
    /// Nil for an empty text.
    fileprivate init?(stored text: Substring) throws {
        if text.isEmpty { return nil }
        guard let milliseconds = Int64(text) else { throw PostgresError.unreadableOrigin }
        self.init(millisecondsSince1970: milliseconds)
    }
}

extension PostgresError {
    fileprivate static var unreadableOrigin: PostgresError {
        PostgresError(.decoding, "subscriptions: an origin that this release cannot read", operation: "decode")
    }
}
