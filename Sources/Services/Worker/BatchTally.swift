/// How many rows had each outcome.
struct BatchTally: Sendable, Equatable {
    var applied = 0
    var duplicate = 0
    var parked = 0
    var dead = 0
    var reschedule = 0
    /// Rows that another worker holds by now.
    var lost = 0

    /// Rows that were recorded with their facts.
    var recorded: Int { applied + parked }
    /// Rows that were settled.
    var settled: Int { applied + duplicate + parked + dead }

    static func + (a: BatchTally, b: BatchTally) -> BatchTally {
        BatchTally(
            applied: a.applied + b.applied, duplicate: a.duplicate + b.duplicate, parked: a.parked + b.parked,
            dead: a.dead + b.dead, reschedule: a.reschedule + b.reschedule, lost: a.lost + b.lost)
    }

    static func += (a: inout BatchTally, b: BatchTally) { a = a + b }
}
