import Postgres

/// PostgreSQL's refusal to have a row settled that was tried alone.
package struct Refusal: Sendable, Hashable {
    /// What refusals of several rows have in common where their cause is one.
    package struct Kind: Sendable, Hashable, Comparable {
        /// The code.
        package var reason: ReasonCode
        /// The table that PostgreSQL named, with its schema; empty where it named none.
        package var table: String
        /// The constraint or index that it named; empty where it named none.
        package var constraint: String

        package static func < (a: Kind, b: Kind) -> Bool {
            (a.reason.rawValue, a.table, a.constraint) < (b.reason.rawValue, b.table, b.constraint)
        }
    }

    /// The row.
    package var id: Int64
    /// What refused it.
    package var kind: Kind
    /// What happened, in one line without values.
    package var message: String

    /// The refusal of a row by an error, which may be one that did not come from the database.
    package init(of id: Int64, _ error: any Error) {
        self.id = id
        let answer = error as? PostgresError
        kind = Kind(
            reason: answer.map { ReasonCode($0) } ?? .applyFailed,
            table: DeadLetterDraft.shortened(answer?.table ?? "", to: 200),
            constraint: DeadLetterDraft.shortened(answer?.constraint ?? "", to: 100))
        message = DeadLetterDraft.shortened(answer?.message ?? "\(error)", to: 1000)
    }
}

/// What the database knows about a refused row.
package struct RefusalNote: Sendable, Hashable {
    /// How long ago it was refused first.
    package var age: Duration
    /// Whether another row was applied since, or a few seconds before, by any worker.
    package var areOthersApplied = false
    /// Whether another row was settled since, by any worker: applied, or buried.
    package var areOthersSettled = false
    /// Whether another row met the same refusal within ``Outbox/sameRefusal``, at any worker.
    package var hasSecond: Bool

    /// Memberwise.
    package init(
        age: Duration, areOthersApplied: Bool = false, areOthersSettled: Bool = false, hasSecond: Bool
    ) {
        self.age = age
        self.areOthersApplied = areOthersApplied
        self.areOthersSettled = areOthersSettled
        self.hasSecond = hasSecond
    }
}
