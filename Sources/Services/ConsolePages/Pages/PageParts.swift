import APIKit
import AppStorePayloads
import Base
import HTTPTypes
import Staff

/// The form that shows personal texts in full: a POST, so that no link and no reload does it, and each time on record.
enum Opening {
    /// - Parameters:
    ///   - place: the page, which takes the form.
    ///   - isOpened: whether they are shown already.
    ///   - things: what has personal texts; where there is none, there is nothing to open.
    static func form(_ call: PageCall, at place: Place, _ isOpened: Bool, if things: [JSONObject]) -> [Block] {
        let speaker = call.speaker
        if isOpened { return [.note(speaker.word("opened"), .calm)] }
        guard call.may(.openPersonalText), !things.isEmpty else { return [] }
        return [
            .form(.act(nil, place, [], speaker.word("open"), about: speaker.word("open_about")))
        ]
    }
}

/// Why something is done: one of the usual reasons, or words of one's own, or both.
enum Reason {
    private static let usual = ["test_account", "promotion", "compensation", "apology"]

    /// The fields of a form.
    static func fields(_ call: PageCall) -> [PageForm.Field] {
        let speaker = call.speaker
        return [
            .init(
                "reasonKind", speaker.word("reason"),
                .choice(
                    [.init("", speaker.word("reason_own"))]
                        + usual.map { .init($0, speaker.word(of: "reason", $0)) }), call.sent("reasonKind")),
            .init(
                "reason", speaker.word("reason_text"), .line(most: 900), call.sent("reason"),
                hint: speaker.word("reason_hint")),
        ]
    }

    /// What was given. Always in English where it is one of the usual ones: the record is read by all.
    /// - Throws: ``APIKit/APIProblem`` where there is none.
    static func sent(_ call: PageCall) throws(APIProblem) -> String {
        let kind = call.sent("reasonKind").flatMap { usual.contains($0) ? $0.replacing("_", with: " ") : nil }
        let reason = [kind, call.sent("reason")].compactMap { $0 }.joined(separator: ": ")
        guard !reason.isEmpty else {
            throw APIProblem(
                .invalidRequest, ProblemText("say why, for the record", "请填写理由，以便留存记录", "請填寫理由，以便留存記錄"))
        }
        return reason
    }

    /// The same fields, filled in already, for a form that confirms.
    static func hidden(_ call: PageCall) -> [String: String] {
        ["reasonKind": call.form["reasonKind"] ?? "", "reason": call.form["reason"] ?? ""]
    }
}

/// An amount of money that was typed.
enum Amount {
    /// In thousandths of the currency; nil where none was.
    static func sent(_ name: String, _ call: PageCall) throws(APIProblem) -> Int64? {
        guard let text = call.sent(name) else { return nil }
        guard let milliunits = MoneyText.milliunits(text) else {
            throw APIProblem(
                .invalidRequest,
                ProblemText("an amount is written like 9.99", "金额请按 9.99 的格式填写", "金額請按 9.99 的格式填寫"))
        }
        return milliunits
    }
}

/// A whole number that was typed.
enum Number {
    /// - Throws: ``APIKit/APIProblem`` where it is missing, or none.
    static func sent(_ name: String, _ call: PageCall) throws(APIProblem) -> Int64 {
        guard let number = call.sent(name).flatMap({ Int64($0) }) else {
            throw APIProblem(
                .invalidRequest, ProblemText("a number is missing", "缺少数字", "缺少數字"))
        }
        return number
    }
}

extension APIProblem {
    /// Whether it can be shown beside the form that was sent: the reader can mend it, or do something else.
    var isOfForm: Bool { (400..<500).contains(code.status.code) && code.status != .notFound }
}
