/// Compares the events that a receiver accepted with storehook's current answers.
///
/// Its rules are those of a reader: they use the bodies and the tables, and do not know how events are decided.
struct FaultsJudge {
    let truth: FaultsTruth
    let posts: [String: FaultsReceiver.Post]
    /// What was accepted, in the order in which each was accepted first.
    let told: [ToldEvent]
    private(set) var findings: FaultsFindings

    init(_ truth: FaultsTruth, _ log: FaultsReceiver.Log, _ findings: FaultsFindings) {
        self.truth = truth
        posts = log.posts
        self.findings = findings
        let accepted = log.posts.compactMap { id, post in post.place.map { (place: $0, id: id, body: post.body) } }
            .sorted { $0.place < $1.place }
        told = accepted.compactMap { ToldEvent(id: $0.id, body: $0.body) }
        let unread = Set(accepted.map(\.id)).subtracting(told.map(\.id))
        self.findings.check("unreadable", "bodies that are no events", unread.sorted())
        judgeDeliveries()
        judgeOrder()
        judgeFolding()
        judgeOnce()
    }

    mutating func check(_ name: String, _ text: String, _ offenders: [String]) {
        findings.check(name, text, offenders)
    }

    /// Corrections among the accepted events.
    var corrections: Int { told.count { $0.isCorrection } }

    private mutating func judgeDeliveries() {
        check(
            "missing", "events that were never accepted",
            truth.events.keys.filter { posts[$0]?.place == nil }.sorted())
        check("strange", "accepted, and no event", posts.keys.filter { truth.events[$0] == nil }.sorted())
        check(
            "differing", "events that came with another body in another call",
            posts.filter(\.value.differs).map(\.key).sorted())
        check(
            "altered", "bodies that do not say what was written",
            posts.filter { id, post in truth.events[id].map { !post.body.contains($0) } ?? false }.map(\.key).sorted())
    }

    /// The numbers of an order go up by one, and each event names the one before it.
    private mutating func judgeOrder() {
        var last: [String: Int64] = [:]
        var offenders: [String] = []
        for event in told {
            let before = last[event.subject]
            if event.sequence != (before ?? 0) + 1 || event.previousSequence != before {
                offenders.append("\(event.words) came after number \(before ?? 0)")
            }
            last[event.subject] = event.sequence
        }
        check("gaps", "events that did not come after the one before them in their order", offenders)
        check(
            "cut_short", "accounts whose last event did not come",
            truth.sequences.filter { (last[$0.key] ?? 0) != $0.value }.map(\.key).sorted())
    }
}
