package import AccountStore
import Accounts
import Base
package import Postgres
package import Staff
package import Subscriptions

/// Requests of the staff for refunds. Each act commits with its row of the audit, and with its change of the answer to Apple.
///
/// An act and the booking of a refund lock the same rows in the same order: the transaction's row of the books, then the request. So one comes after
/// the other, and sees its changes.
package struct RefundRequests: Sendable {
    /// A request that was decided.
    package struct Decided: Sendable, Hashable {
        /// The request as it is now.
        package var recorded: RecordedRefundRequest
        /// When consumption data about the transaction was sent to Apple, before the decision: the decision does not change it. Nil where none was
        /// sent.
        package var answeredAt: PostgresTimestamp?
    }

    let pool: PostgresPool
    private let accounts: AccountStore
    let rules: StaffRules

    /// The requests of a database.
    package init(_ pool: PostgresPool, _ accounts: AccountStore? = nil, rules: StaffRules = StaffRules()) {
        self.pool = pool
        self.accounts = accounts ?? AccountStore(pool)
        self.rules = rules
    }

    /// Acts of staff are on record once they are acknowledged.
    private static func options(_ name: String) -> TransactionOptions {
        TransactionOptions(isDurable: true, name: name)
    }

    /// Asks for a refund.
    /// - Parameters:
    ///   - amount: the amount of a partial refund, in thousandths of the currency.
    ///   - order: the number of the order.
    ///   - transaction: Apple's id; the latest paid one by default.
    /// - Throws: `RefundRefusal`, `StaffRefusal`, and then nothing is recorded; `PostgresError`.
    package func create(
        _ kind: RefundRequest.Kind, amount: Int64? = nil, order: String, transaction: String? = nil, why: String,
        by actor: StaffActor
    ) async throws -> RecordedRefundRequest {
        if let refusal = rules.refusal(of: .createRefundRequest, by: actor.role) { throw refusal }
        return try await pool.withTransaction(Self.options("refunds.create")) { session in
            let found = try find(order, transaction, actor, session)
            // Locked before it is read: this sees a refund that is being booked. A later one waits, and then sees the request.
            guard let row = try session.query(.refundable(found)).first, let read = try RefundableTransaction.read(row)
            else { throw RefundRefusal.noTransaction }
            let booked = try withTerm(read, row, found.bundleID, session)
            if let open = try session.query(.openRequest(found)).first {
                throw RefundRefusal.openRequest(RefundNumber(try open.decode(0)))
            }
            let now = try self.now(session)
            let request = try RefundRequest(kind, amount: amount, of: booked, at: now)
            do {
                let id: Int64 = try session.query(.add(request, found, row, why, actor)).one().decode(0)
                return try recorded(RefundNumber(id), at: now, session)
            } catch let error as PostgresError where error.sqlState == .uniqueViolation {
                throw RefundRefusal.openRequest(nil)
            }
        }
    }

    /// Approves a request. Of several calls, one succeeds.
    /// - Parameter amount: the approved amount, if it is not the requested one, in thousandths of the currency.
    package func approve(
        _ number: RefundNumber, amount: Int64? = nil, note: String? = nil, by actor: StaffActor
    ) async throws -> Decided {
        try await act("refunds.approve", number, note, actor) {
            .approveRefundRequest(isOwn: $0 == actor.name)
        } deciding: { request, transaction, now in
            guard let transaction else { throw RefundRefusal.shared }
            try request.approve(amount: amount, of: transaction, by: actor.name, at: now)
        }
    }

    /// Rejects a request.
    package func reject(_ number: RefundNumber, note: String, by actor: StaffActor) async throws -> Decided {
        try await act("refunds.reject", number, note, actor) { _ in
            .rejectRefundRequest
        } deciding: { request, _, now in
            try request.reject(by: actor.name, at: now)
        }
    }

    /// Takes a request back.
    package func cancel(_ number: RefundNumber, note: String, by actor: StaffActor) async throws -> Decided {
        try await act("refunds.cancel", number, note, actor) { _ in
            .cancelRefundRequest
        } deciding: { request, _, now in
            try request.cancel(by: actor.name, at: now)
        }
    }

    /// Records that an approved request was refunded elsewhere.
    package func record(
        _ number: RefundNumber, _ refund: RefundRequest.ElsewhereRefund, by actor: StaffActor
    ) async throws -> Decided {
        try await act("refunds.record", number, nil, actor) { _ in
            .recordRefund
        } deciding: { request, transaction, now in
            guard let transaction else { throw RefundRefusal.shared }
            try request.record(refund, of: transaction, at: now)
        }
    }

    private func act(
        _ name: String, _ number: RefundNumber, _ note: String?, _ actor: StaffActor,
        _ task: @Sendable (_ requester: String) -> StaffTask,
        deciding decide: @Sendable (inout RefundRequest, RefundableTransaction?, Timestamp) throws -> Void
    ) async throws -> Decided {
        try await pool.withTransaction(Self.options(name)) { session in
            guard let place = try session.query(.place(of: number)).first,
                actor.scope.sees(app: try place.decode("bundle_id", as: String.self))
            else { throw RefundRefusal.noRequest }
            if let refusal = rules.refusal(of: task(try place.decode("requester")), by: actor.role) { throw refusal }
            let found = try RefundPlace(place)
            let row = try session.query(.refundable(found)).first
            let transaction = try row.flatMap { row in
                try RefundableTransaction.read(row).map { try withTerm($0, row, found.bundleID, session) }
            }
            var request = try RefundRequest(session.query(.holding(number)).one())
            let now = try self.now(session)
            try decide(&request, transaction, now)
            if let note { try session.query(.note(note, number)) }
            try session.query(.decided(request, number, actor, at: now))
            return Decided(
                recorded: try recorded(number, at: now, session), answeredAt: try followUp(number, session))
        }
    }

    /// The term of a non-renewing subscription is in the catalog alone.
    private func withTerm(
        _ transaction: RefundableTransaction, _ row: PostgresRow, _ app: String, _ session: borrowing PostgresSession
    ) throws -> RefundableTransaction {
        guard transaction.plan == .nonRenewing, transaction.endsAt == nil,
            let productID = try row.decode("product_id", as: String?.self),
            let version = try session.query(.currentCatalog).first?.decode(0, as: Int64?.self),
            let product = try accounts.catalog(version, session).product(productID, of: app),
            product.period != .lifetime, let days = product.days
        else { return transaction }
        var transaction = transaction
        transaction.endsAt = transaction.startsAt.adding(days: Int64(days))
        return transaction
    }

    /// The transaction of a new request.
    private func find(
        _ order: String, _ transaction: String?, _ actor: StaffActor, _ session: borrowing PostgresSession
    ) throws -> RefundPlace {
        guard let number = OrderNumberPrefix(order)?.whole, let row = try session.query(.order(number)).first,
            actor.scope.sees(app: try row.decode("bundle_id", as: String.self))
        else { throw RefundRefusal.noOrder }
        guard try !row.decode("is_hidden", as: Bool.self) else { throw RefundRefusal.shared }
        let id: Int64 = try row.decode("id")
        if let transaction {
            guard let named = try session.query(.transaction(transaction, of: id)).first else {
                throw RefundRefusal.noTransaction
            }
            return try RefundPlace(named)
        }
        guard let latest = try session.query(.latestTransaction(of: id)).first else {
            throw RefundRefusal.noTransaction
        }
        return try RefundPlace(latest)
    }

    private func now(_ session: borrowing PostgresSession) throws -> Timestamp {
        Timestamp(
            try session.query(PostgresQuery("refunds.now", "select clock_timestamp()"))
                .one().decode(0, as: PostgresTimestamp.self))
    }

    private func recorded(
        _ number: RefundNumber, at now: Timestamp, _ session: borrowing PostgresSession
    ) throws -> RecordedRefundRequest {
        try RecordedRefundRequest(session.query(.recorded(number)).one(), at: now)
    }

    /// Makes Apple's open requests about the transaction due now.
    /// - Returns: the instant of an earlier answer to Apple.
    private func followUp(
        _ number: RefundNumber, _ session: borrowing PostgresSession
    ) throws -> PostgresTimestamp? {
        try session.query(.hasten(number))
        return try session.query(.answered(number)).first?.decode(0)
    }
}
