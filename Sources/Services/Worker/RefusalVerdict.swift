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
    /// A row is to blame itself if it was tried alone, another row was settled since its first refusal, and no second row met the same
    /// lately. Where no other row comes, or several meet the same, the row may be as good as any: it is tried as often as the policy
    /// has it, and buried then.
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

    /// How long a row waits that is refused for a fault of the database while others are settled: as long again as it has been refused,
    /// so that it costs less and less. If the fault is mended within ten minutes, the row is applied within half a minute.
    static func pause(afterRefusedFor age: Duration) -> Duration {
        max(least, min(age, age < .seconds(600) ? .seconds(30) : .seconds(3600)))
    }

    private static let least = Duration.seconds(1)
}
