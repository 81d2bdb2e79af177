public import Foundation
public import Postgres

/// A query that sql/README.md and the views' comments recommend to readers, run for one purchase or account at a time.
public struct DocumentedRead: Sendable {
    /// What it asks.
    public let name: String
    /// Asked for every screen of every app: bounded more narrowly than the rest.
    public let isAccessCheck: Bool
    private let statement: @Sendable (Subject) -> PostgresQuery

    /// What a read is about.
    public struct Subject: Sendable {
        /// An account.
        public var account: UUID
        /// A product that may be one of its own.
        public var product: String
        /// A purchase.
        public var originalTransactionID: String
        /// An instant that is over.
        public var instant: PostgresTimestamp

        /// A subject.
        public init(account: UUID, product: String, originalTransactionID: String, instant: PostgresTimestamp) {
            self.account = account
            self.product = product
            self.originalTransactionID = originalTransactionID
            self.instant = instant
        }
    }

    private init(
        _ name: String, isAccessCheck: Bool = false, _ statement: @escaping @Sendable (Subject) -> PostgresQuery
    ) {
        self.name = name
        self.isAccessCheck = isAccessCheck
        self.statement = statement
    }

    /// The question.
    public func query(_ subject: Subject) -> PostgresQuery { statement(subject) }

    /// Asks PostgreSQL how it answers the question, by answering it: JSON of the plan with the pages read.
    public func explain(_ subject: Subject) -> PostgresQuery {
        "explain (analyze, buffers, timing off, format json) \(embedding: query(subject))"
    }

    /// Those that must cost the same at any size. What lists many purchases is asked for its first ten: more of them
    /// cost more wherever they come from.
    public static let all: [DocumentedRead] = [
        DocumentedRead("access to a product, by has_access", isAccessCheck: true) {
            "select storehook.has_access(\($0.account), \($0.product))"
        },
        DocumentedRead("access to a product, by entitlements", isAccessCheck: true) {
            """
            select access, access_until from storehook.entitlements
             where environment = 'Production' and app_account_token = \($0.account) and product_id = \($0.product)
            """
        },
        DocumentedRead("an account's entitlements") {
            """
            select * from storehook.entitlements
             where environment = 'Production' and app_account_token = \($0.account)
            """
        },
        DocumentedRead("a purchase's status") {
            """
            select * from storehook.subscription_status
             where environment = 'Production' and original_transaction_id = \($0.originalTransactionID)
            """
        },
        DocumentedRead("a purchase's status at a past instant") {
            """
            select * from storehook.status_at(\($0.instant))
             where environment = 'Production' and original_transaction_id = \($0.originalTransactionID)
            """
        },
        DocumentedRead("what was paid on a day, first ten") {
            """
            select * from storehook.paid_periods
             where environment = 'Production'
               and purchased_at >= \($0.instant) and purchased_at < \($0.instant)::timestamptz + interval '1 day'
             order by purchased_at limit 10
            """
        },
        DocumentedRead("what ends within seven days, first ten") { _ in
            """
            select * from storehook.subscription_status
             where environment = 'Production' and paid_until between now() and now() + interval '7 days'
             order by paid_until limit 10
            """
        },
        DocumentedRead("an account's balance of consumables") {
            """
            select * from storehook.consumable_balances
             where environment = 'Production' and app_account_token = \($0.account)
            """
        },
        DocumentedRead("contradictions") { _ in "select * from storehook.contradictions" },
        DocumentedRead("requests for consumption data that are due") { _ in
            "select * from storehook.consumption_requests where signed_at > now() - interval '12 hours' limit 10"
        },
        DocumentedRead("a purchase's notifications") {
            """
            select * from storehook.notifications
             where original_transaction_id = \($0.originalTransactionID) order by signed_at
            """
        },
        DocumentedRead("when they were learned") {
            """
            select * from storehook.learned
             where original_transaction_id = \($0.originalTransactionID) order by signed_at
            """
        },
        DocumentedRead("open dead letters") { _ in "select * from storehook.dead_letters_open" },
        DocumentedRead("the queue's depth") { _ in "select * from storehook.queue_depth" },
    ]

    /// Draws subjects among the first purchases and accounts of a database that ``SimulatedState`` filled.
    /// - Parameter random: numbers from 0 on, one for each subject.
    public static func subjects(_ random: [Int64], of state: SimulatedState) -> PostgresQuery {
        let ids = random.map {
            "\(SimulatedState.firstPurchase + $0 % Int64(state.subscriptions + state.oneTimePurchases))"
        }
        return """
            select coalesce(t.app_account_token, gen_random_uuid()), t.product_id, t.original_transaction_id,
                   now() - interval '1 day' * (1 + abs(hashint8(t.original_transaction_id::bigint)) % 50)
              from storehook.transactions t where t.transaction_id = any(\(ids))
            """
    }
}

extension DocumentedRead.Subject {
    /// Reads a row of ``DocumentedRead/subjects(_:of:)``.
    public init(_ row: PostgresRow) throws {
        self.init(
            account: try row.decode(0), product: try row.decode(1), originalTransactionID: try row.decode(2),
            instant: try row.decode(3))
    }
}
