/// A transaction under way. It lives for the duration of the transaction's body, cannot leave it, and is synchronous, so
/// that nothing waits for anything but the database while row locks are held.
public struct PostgresSession: ~Copyable {
    let driver: ConnectionDriver
    let cancellation: CancellationFlag
    let queryTimeout: Duration?
    /// Whether its statements keep their plans.
    let keepsPlans: Bool
    /// The whole transaction's deadline, which no statement may outlast.
    let end: ContinuousClock.Instant?

    /// Runs a statement within the transaction.
    ///
    /// After an error of the server's the transaction can only be rolled back; the body should let the error through.
    ///
    /// - Parameter deadline: How long it may take; without one, the configuration's `queryTimeout`.
    @discardableResult
    public func query(_ query: PostgresQuery, deadline: Duration? = nil) throws(PostgresError) -> PostgresRows {
        let query = keepsPlans ? query.keepingPlan() : query
        return PostgresRows(try driver.run(query, deadline: limit(deadline), cancellation: cancellation))
    }

    /// Runs a script of any number of statements without parameters, such as a migration.
    ///
    /// Trusted text only: it goes to the server as it is. It must leave the transaction open.
    ///
    /// - Parameter deadline: How long the whole script may take; without one, the configuration's `queryTimeout`.
    public func executeScript(
        _ sql: String, name: String? = nil, deadline: Duration? = nil
    ) throws(PostgresError) {
        _ = try driver.run(script: sql, name: name, deadline: limit(deadline), cancellation: cancellation)
        guard driver.transaction == .open else {
            driver.close()
            throw PostgresError(
                .unsupported, "the script ended the transaction it ran in; remove its COMMIT or ROLLBACK",
                operation: name)
        }
    }

    private func limit(_ deadline: Duration?) -> ContinuousClock.Instant? {
        let own = (deadline ?? queryTimeout).map { ContinuousClock.now + $0 }
        guard let own, let end else { return own ?? end }
        return min(own, end)
    }
}
