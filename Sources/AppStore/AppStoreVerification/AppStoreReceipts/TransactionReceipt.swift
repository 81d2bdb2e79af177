import AppStorePayloads

/// A receipt of iOS 6 and before: `{ "signature" = "…"; "purchase-info" = "…"; … }`, in which purchase-info is base64
/// of another such list with the transaction's ids. Read as Apple's libraries do: only by the names that are needed.
enum TransactionReceipt {
    /// The ids in a receipt, the original transaction's first; nil where it is no such receipt.
    static func transactionIds(in bytes: [UInt8]) -> [String]? {
        guard let packed = value(of: "purchase-info", in: bytes), let info = Base64.standard.decode(packed) else {
            return nil
        }
        var ids: [String] = []
        for name in ["original-transaction-id", "transaction-id"] {
            guard let value = value(of: name, in: info) else { continue }
            let id = String(decoding: value, as: UTF8.self)
            if Receipt.isTransactionId(id), !ids.contains(id) { ids.append(id) }
        }
        // One purchase, by its first id.
        return Array(ids.prefix(1))
    }

    /// The text between the quotes after `"name" =`; one pass over the text.
    private static func value(of name: String, in bytes: [UInt8]) -> [UInt8]? {
        let name = Array("\"\(name)\"".utf8)
        var place = 0
        while let start = bytes[place...].firstIndex(of: UInt8(ascii: "\"")) {
            guard bytes[start...].starts(with: name) else {
                place = start + 1
                continue
            }
            var next = start + name.count
            func skipSpaces() {
                while next < bytes.count, [0x20, 0x09, 0x0A, 0x0D].contains(bytes[next]) { next += 1 }
            }
            skipSpaces()
            guard next < bytes.count, bytes[next] == UInt8(ascii: "=") else {
                place = start + 1
                continue
            }
            next += 1
            skipSpaces()
            guard next < bytes.count, bytes[next] == UInt8(ascii: "\""),
                let end = bytes[(next + 1)...].firstIndex(of: UInt8(ascii: "\""))
            else { return nil }
            return Array(bytes[(next + 1)..<end])
        }
        return nil
    }
}
