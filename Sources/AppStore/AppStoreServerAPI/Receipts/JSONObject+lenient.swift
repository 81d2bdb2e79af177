import AppStorePayloads
import Base

// verifyReceipt writes numbers as texts in one place and as numbers in another, and so it does with yes and no.

extension JSONObject {
    /// The object's content without Apple's request dates: its members as Apple wrote them, by name. For comparison
    /// only. A zero byte separates them; no JSON text holds one, so different objects never give equal bytes.
    var timeless: [UInt8] {
        members(except: ["request_date", "request_date_ms", "request_date_pst"]).sorted { $0.key < $1.key }
            .flatMap { Array($0.key.utf8) + [0] + $0.value + [0] }
    }

    /// A whole number, or the text of one.
    func lenientInteger(_ name: StaticString) -> Int64? { integer(name) ?? string(name).flatMap { Int64($0) } }

    /// A text, or a whole number's.
    func lenientText(_ name: StaticString) -> String? { string(name) ?? integer(name).map { "\($0)" } }

    /// Yes or no, as a word, a number or a text of either.
    func lenientFlag(_ name: StaticString) -> Bool? {
        if let flag = bool(name) { return flag }
        switch lenientText(name) {
        case "1", "true": return true
        case "0", "false": return false
        default: return nil
        }
    }

    /// An instant in milliseconds.
    func lenientDate(_ name: StaticString) -> Timestamp? {
        lenientInteger(name).flatMap {
            Timestamp.payloadDates.contains($0) ? Timestamp(millisecondsSince1970: $0) : nil
        }
    }
}
