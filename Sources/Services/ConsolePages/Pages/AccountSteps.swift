import AppStorePayloads
import Base

/// A way through the instants at which an account became something else: links to the one before and the one behind, and a choice of all, which
/// a script makes a slider.
struct AccountSteps: Sendable {
    private let speaker: Speaker
    private let token: String
    /// Where each phase begins, and what it is.
    private let phases: [(start: Timestamp, phase: JSONObject)]
    /// The phase that is shown; nil before the first one.
    private let current: Int?

    /// - Parameter customer: the answer about the account.
    init(_ customer: JSONObject, _ token: String, _ speaker: Speaker) {
        self.speaker = speaker
        self.token = token
        let phases = customer.objects("phases").compactMap { phase in
            phase.time("startsAt").map { (start: $0, phase: phase) }
        }
        let shown = customer.object("standing")?.time("at") ?? speaker.instant
        self.phases = phases
        current = shown.flatMap { shown in phases.lastIndex { $0.start <= shown } }
    }

    /// None where it never became anything else.
    var blocks: [Block] {
        guard !phases.isEmpty else { return [] }
        var links: [PageLink] = []
        if let current, current > 0 { links.append(link("step_before", current - 1)) }
        let next = current.map { $0 + 1 } ?? 0
        if next < phases.count { links.append(link("step_behind", next)) }
        let choices =
            [PageForm.Field.Choice("", speaker.word("step_now"))]
            + phases.map { PageForm.Field.Choice($0.start.description, label(of: $0)) }
        let selected = speaker.instant == nil ? "" : current.map { phases[$0].start.description } ?? ""
        var form = PageForm.filter(
            Place("customers", token), [PageForm.Field("at", speaker.word("steps"), .choice(choices), selected)],
            speaker.word("filter"))
        form.style = "filter steps"
        return (links.isEmpty ? [] : [.links(links)]) + [.form(form)]
    }

    private func link(_ word: String, _ place: Int) -> PageLink {
        let start = phases[place].start
        return PageLink(
            speaker.word(word, ["time": speaker.time(start)]),
            Place("customers", token, query: ["at": start.description]))
    }

    private func label(of step: (start: Timestamp, phase: JSONObject)) -> String {
        let status = speaker.word(of: "account_status", step.phase.string("status") ?? "")
        return "\(speaker.time(step.start)) · \(status) · \(step.phase.string("tier") ?? "–")"
    }
}
