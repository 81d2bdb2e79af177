package import Accounts
package import Postgres

extension AccountIdentity {
    /// Holds the rule by which the account's id has its token until the end of the transaction, before an id is written. The rule is
    /// changed by one transaction, which holds it alone: it takes out the ids that were written before, and those who come after see it.
    ///
    /// A row, and no advisory lock, because any login may hold one of those, whatever its rights.
    /// - Throws: ``ruleChanged(_:)`` where the rule is another one by now.
    package func holdRule(_ session: borrowing PostgresSession) throws {
        guard let rule else { return }
        let held = try session.query(
            PostgresQuery("accounts.rule", "select rule from storehook.account_ids for key share")
        ).one().decode(0, as: String?.self)
        if held != rule.rawValue { throw Self.ruleChanged("accounts.rule") }
    }

    /// The rule is another one than the account was named by. The same again may go well, by the rule as it is then.
    package static func ruleChanged(_ operation: String) -> PostgresError {
        PostgresError(
            .server(.serializationFailure), "the rule of account ids was changed meanwhile", operation: operation)
    }
}
