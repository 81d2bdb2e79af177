import EvidenceStore

/// What becomes of a row that PostgreSQL refused.
enum RefusalVerdict: Sendable, Hashable {
    /// It becomes a dead letter.
    case bury
    /// It is tried again, and the attempt counts.
    case count
    /// It is tried again after a pause of at most so long, and no attempt counts.
    case wait(atMost: Duration)

    /// Decides about a row.
    ///
    /// Its own is what the schema refuses of one row while it takes others: it was tried alone, another row was settled since it was
    /// refused first, and none met the same lately. Where nothing else comes, or several meet the same, the notification may be as good
    /// as any: it is tried as often as the policy has it, and buried then.
    ///
    /// - Parameters:
    ///   - isSpent: whether it has had all its attempts.
    ///   - note: what is known about it and others; nil where the database could not be asked.
    ///   - obstacle: how long to wait where nothing is applied.
    init(about refused: RefusedRow, isSpent: Bool, note: RefusalNote?, obstacle: Duration) {
        if refused.isItsOwn {
            let isItsOwn = note.map { $0.areOthersSettled && !$0.hasSecond } ?? false
            self = isItsOwn || isSpent ? .bury : .count
        } else if refused.blame == .database, let note, note.areOthersApplied {
            self = .wait(atMost: Self.pause(afterRefusedFor: note.age))
        } else {
            self = .wait(atMost: max(obstacle, Self.least))
        }
    }

    /// How long a row waits that is refused for a fault of the database while others are settled: as long again as it is refused, so
    /// that it costs less and less. Whoever mends the fault within ten minutes sees it applied within half a minute.
    static func pause(afterRefusedFor age: Duration) -> Duration {
        max(least, min(age, age < .seconds(600) ? .seconds(30) : .seconds(3600)))
    }

    private static let least = Duration.seconds(1)
}
