import AppStorePayloads
import Base
package import Postgres
package import Subscriptions

// Arrays of arrays cannot be passed, so each row has these as one text.

extension OneTimePurchase.Gap {
    /// Marks a gap after which it was bought again, behind the two ends. Earlier releases read only the numbers.
    private static let boughtAgain = "bought"

    /// As `one_time_purchases.gaps` has them: `from/until`, in milliseconds, or `from/until/bought`, separated by spaces;
    /// nil for none.
    static func stored(_ gaps: [Self]) -> String? {
        guard !gaps.isEmpty else { return nil }
        return gaps.map { gap in
            let ends = "\(gap.from.millisecondsSince1970)/\(gap.until.millisecondsSince1970)"
            return gap.isBoughtAgain ? "\(ends)/\(boughtAgain)" : ends
        }.joined(separator: " ")
    }

    /// Reads the column.
    package static func all(of row: PostgresRow) throws -> [Self] {
        guard let text = try row.decode("gaps", as: String?.self) else { return [] }
        return try text.split(separator: " ").map { gap in
            let fields = gap.split(separator: "/")
            let ends = fields.compactMap { Int64($0) }
            guard ends.count == 2 else {
                throw PostgresError(.decoding, "gaps: a text that this release does not know", operation: "decode")
            }
            return Self(
                from: Timestamp(millisecondsSince1970: ends[0]), until: Timestamp(millisecondsSince1970: ends[1]),
                isBoughtAgain: fields.last == boughtAgain[...])
        }
    }
}

extension OneTimePurchase.EarlierAccount {
    /// As `one_time_purchases.earlier_accounts` has them: `until/account`, in milliseconds, separated by spaces; nil for none.
    static func stored(_ accounts: [Self]) -> String? {
        guard !accounts.isEmpty else { return nil }
        return accounts.map { "\($0.until.millisecondsSince1970)/\($0.account)" }.joined(separator: " ")
    }

    /// Reads the column.
    package static func all(of row: PostgresRow) throws -> [Self] {
        guard let text = try row.decode("earlier_accounts", as: String?.self) else { return [] }
        return try text.split(separator: " ").map { entry in
            let fields = entry.split(separator: "/")
            guard fields.count == 2, let until = Int64(fields[0]), let account = UniqueIdentifier(String(fields[1]))
            else {
                throw PostgresError(
                    .decoding, "earlier_accounts: a text that this release does not know", operation: "decode")
            }
            return Self(account, until: Timestamp(millisecondsSince1970: until))
        }
    }
}

extension OneTimePurchase.Sale {
    /// As `one_time_purchases.sales` has them: a JSON array, dates in milliseconds; nil for a single one, because the row says all there is of
    /// it.
    static func stored(_ sales: [Self]) -> String? {
        guard sales.count > 1 else { return nil }
        let list = sales.map { sale in
            JSONValue.object([
                .init("transaction_id", .string(sale.transactionID)), .init("quantity", .integer(sale.quantity)),
                .init("revoked_at", sale.revokedAt.map { JSONValue.integer($0.millisecondsSince1970) } ?? .null),
                .init("revoked_share", .integer(sale.revokedShare)),
            ])
        }
        return String(decoding: JSONValue.array(list).bytes, as: UTF8.self)
    }
}
