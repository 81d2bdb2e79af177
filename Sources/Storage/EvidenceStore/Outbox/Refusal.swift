import Postgres

/// A refusal of PostgreSQL's to have one row settled, which was tried alone.
package struct Refusal: Sendable, Hashable {
    /// What two rows have in common that meet the same refusal.
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
    /// What it met.
    package var kind: Kind
    /// What happened, in one line without values.
    package var message: String

    /// A refusal by this error, or by one that is no answer of the database's.
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
    /// Since when it is refused.
    package var age: Duration
    /// Whether another row was applied since, or a few seconds before, by any worker.
    package var areOthersApplied = false
    /// Whether another row was settled since, by any worker: applied, or buried.
    package var areOthersSettled = false
    /// Whether another row met the same within ``Outbox/sameRefusal``, at any worker.
    package var hasSecond: Bool

    /// What is known about a row.
    package init(
        age: Duration, areOthersApplied: Bool = false, areOthersSettled: Bool = false, hasSecond: Bool
    ) {
        self.age = age
        self.areOthersApplied = areOthersApplied
        self.areOthersSettled = areOthersSettled
        self.hasSecond = hasSecond
    }
}
