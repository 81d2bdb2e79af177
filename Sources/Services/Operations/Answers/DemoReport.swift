package import EvidenceStore

/// What became of a demonstration's notifications, held against what was posted.
package struct DemoReport: Sendable {
    private let posted: Int
    private let accepted: Int
    private let lost: Int
    private let ownDead: Int
    private let besideShop: Bool
    private let before: Conservation
    private let after: Conservation

    /// A report.
    /// - Parameters:
    ///   - posted: how many were posted.
    ///   - accepted: how many were answered 200.
    ///   - lost: how many of those that were posted are in no place, repeats not counted.
    ///   - dead: how many of those are dead letters, repeats not counted.
    ///   - besideShop: whether a shop posts to the same receiver meanwhile.
    ///   - before: what was stored before them.
    ///   - after: what is stored once the workers are done, or were given up.
    package init(
        posted: Int, accepted: Int, lost: Int, dead: Int, besideShop: Bool = false, before: Conservation,
        after: Conservation
    ) {
        self.posted = posted
        self.accepted = accepted
        self.lost = lost
        ownDead = dead
        self.besideShop = besideShop
        self.before = before
        self.after = after
    }

    private var received: Int64 { after.received - before.received }
    private var dead: Int64 { after.dead - before.dead }

    /// Whether each notification is stored, done, and in exactly one place, and none is dead. The sums alone cannot
    /// show this: they include what a shop posts at the same time.
    package var isWhole: Bool {
        accepted == posted && received >= accepted && lost == 0 && ownDead == 0 && after.pending == 0 && after.isWhole
    }

    /// The sums, and whatever does not fit.
    package var lines: [String] {
        var lines = [
            "received \(received) = applied \(after.applied - before.applied) + duplicate "
                + "\(after.duplicate - before.duplicate) + parked \(after.parked - before.parked) + dead \(dead)",
            "pending \(after.pending), missing \(after.missing), doubled \(after.doubled)",
        ]
        if accepted < posted { lines.append("the receiver accepted only \(accepted) of \(posted)") }
        if received < accepted {
            lines.append("of \(accepted) that were accepted only \(received) are stored")
        } else if received > accepted, besideShop {
            lines.append("\(received - Int64(accepted)) of them the shop's")
        } else if received > accepted {
            lines.append(
                "\(received - Int64(accepted)) more than were accepted: posts repeated for want of an answer, or somebody else's"
            )
        }
        if lost > 0 { lines.append("\(lost) of those that were posted are in no place") }
        if ownDead > 0 { lines.append("\(ownDead) of those that were posted died") }
        if after.pending > 0 { lines.append("\(after.pending) are not done; the workers' logs may say why") }
        if dead > 0 { lines.append("what died and why: storehook dead-letters list") }
        return lines
    }

    /// The last line.
    package var verdict: String {
        isWhole ? "every notification is accounted for" : "not every notification is accounted for"
    }
}
