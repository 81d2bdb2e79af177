package import Accounts
package import Postgres

extension AccountIdentity {
    /// Holds the rule of account ids until the end of the transaction, before an id is written. One transaction changes the rule, and
    /// holds it alone: it removes the ids that were written before; transactions that hold the rule later see the new one.
    ///
    /// The lock is on a row. Any login may take an advisory lock, whatever its rights.
    /// - Throws: ``ruleChanged(_:)`` where the rule is another one by now.
    package func holdRule(_ session: borrowing PostgresSession) throws {
        guard let rule else { return }
        let held = try session.query(
            PostgresQuery("accounts.rule", "select rule from storehook.account_ids for key share")
        ).one().decode(0, as: String?.self)
        if held != rule.rawValue { throw Self.ruleChanged("accounts.rule") }
    }

    /// The error where the rule changed after the account's token was derived. A caller may derive it anew, and retry.
    package static func ruleChanged(_ operation: String) -> PostgresError {
        PostgresError(
            .server(.serializationFailure), "the rule of account ids was changed meanwhile", operation: operation)
    }
}
