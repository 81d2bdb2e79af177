package import AccountStore
import Base

extension CommandAnswer {
    /// What erasing an account took out, and what is kept.
    package init(_ erased: ErasedAccount) {
        let forgotten: [(name: String, text: String, count: Int)] = [
            ("names", "what the app's own tokens call it", erased.nameForgotten ? 1 : 0),
            ("usage", "counters and reports of use", erased.usageForgotten),
            ("consents", "consents to send Apple data about use", erased.consentsForgotten),
            ("attempts", "attempts to buy", erased.attemptsForgotten),
            ("texts", "texts of staff: notes, who did something for it, and why", erased.textsForgotten),
        ]
        let kept: [(name: String, text: String, count: Int)] = [
            ("trials", "hashed: its trial, so that it has no second one", erased.trialsKept),
            ("purchases", "Apple's evidence, which names its token: purchases", erased.purchasesKept),
            ("acts", "without who and why: acts of staff, and what they changed", erased.actsKept),
            ("consents", "without a name: consents under which Apple was sent data about use", erased.consentsKept),
            ("events", "under its token, until their day is dropped: events", Int(erased.eventsKept)),
        ]
        func lines(_ title: String, _ parts: [(name: String, text: String, count: Int)]) -> [String] {
            let parts = parts.filter { $0.count > 0 }
            return parts.isEmpty ? [] : [title] + parts.map { "  \($0.count)  \($0.text)" }
        }
        func counts(_ parts: [(name: String, text: String, count: Int)]) -> JSONValue {
            .object(parts.map { JSONValue.Member($0.name, $0.count.json) })
        }
        var text = ["erased; \(erased.purchasesFreed) purchases are free for who proves them next"]
        text += lines("forgotten:", forgotten) + lines("kept:", kept)
        if !erased.answersUnderWay.isEmpty {
            text.append(
                "an answer was on its way to Apple already and cannot be called back, about transaction "
                    + erased.answersUnderWay.joined(separator: ", "))
        }
        self.init(
            [
                "purchases_freed": erased.purchasesFreed.json, "forgotten": counts(forgotten), "kept": counts(kept),
                "under_way": erased.answersUnderWay.json,
            ], text: text.joined(separator: "\n"))
    }
}
