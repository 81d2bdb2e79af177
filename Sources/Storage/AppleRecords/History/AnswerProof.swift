package import Base
package import Postgres

/// What is known at one instant of how complete answers are: `storehook.answer_proof`.
package struct AnswerProof: Sendable, Hashable {
    /// An app in an environment that Apple is asked about.
    package struct Scope: Sendable, Hashable {
        /// The app and environment.
        package var scope: AppEnvironment
        /// Up to here everything that Apple lists is held; nil while nothing is proven.
        package var provenUntil: PostgresTimestamp?
        /// See ``HistoryProof/isUnreleased``.
        package var isUnreleased: Bool

        /// An app in an environment.
        package init(_ scope: AppEnvironment, provenUntil: PostgresTimestamp?, isUnreleased: Bool = false) {
            self.scope = scope
            self.provenUntil = provenUntil
            self.isUnreleased = isUnreleased
        }
    }

    /// Each app in each environment.
    package var scopes: [Scope]
    /// When the oldest of what waits to be applied was stored; nil where nothing waits.
    package var waitingSince: PostgresTimestamp?
    /// The database's clock then.
    package var readAt: PostgresTimestamp

    /// Memberwise.
    package init(scopes: [Scope], waitingSince: PostgresTimestamp?, readAt: PostgresTimestamp) {
        self.scopes = scopes
        self.waitingSince = waitingSince
        self.readAt = readAt
    }
}

extension History {
    /// How complete answers are now; nil where Apple was never asked.
    package func answerProof() async throws -> AnswerProof? {
        let rows = try await pool.query(PostgresQuery("history.answer_proof", "select * from storehook.answer_proof"))
        guard let first = rows.first else { return nil }
        return AnswerProof(
            scopes: try rows.map {
                AnswerProof.Scope(
                    try AppEnvironment($0), provenUntil: try $0.decode("proven_until"),
                    isUnreleased: try $0.decode("is_unreleased"))
            }, waitingSince: try first.decode("waiting_since"), readAt: try first.decode("read_at"))
    }
}
