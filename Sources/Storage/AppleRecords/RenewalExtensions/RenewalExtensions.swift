package import Base
package import EvidenceStore
package import Postgres

/// Extensions of renewal dates, from the request to the end.
///
///     requested ◀─▶ unknown ──▶ accepted ─────────────────▶ extended
///          │         │   │         └──▶ completed (all) ──▶ extended
///          └─────────┴───┴──▶ refused │ not_extended
///
/// Each is recorded before Apple is asked, and becomes `unknown` by a commit right before that. A worker that finds one
/// `unknown`, because the asking worker was killed or Apple's answer was lost, finds out what Apple did. Only if Apple
/// did nothing it becomes `requested` again, twice at most. Apple extends a subscription twice a year, so that asking
/// twice by mistake would take something from a customer.
///
/// Any number of workers share them; a look at one is a claim of its row.
package struct RenewalExtensions: Sendable {
    let pool: PostgresPool
    /// Which of them are to be looked after.
    package let queue: ScopedQueue

    /// The extensions behind a pool of connections. One is enough.
    package init(_ pool: PostgresPool) {
        self.pool = pool
        queue = ScopedQueue(Self.table, pool, of: "storehook.extensions")
    }

    static let table = QueueTable(
        name: "storehook.extension_queue", statements: "extension", channel: "storehook_extension")

    /// A request for an extension.
    package struct Wish: Sendable, Hashable {
        /// The app and environment.
        package var scope: AppEnvironment
        /// The subscriptions to extend.
        package var subject: RenewalExtension.Subject
        /// Its name for Apple, unique in the app's environment: of one 1 to 128 characters, of all a UUID.
        package var requestIdentifier: String
        /// 1 to 90.
        package var days: Int64
        /// Apple's code for why, 0 to 3.
        package var reasonCode: Int64
        /// The person who requests it.
        package var requestedBy: String
        /// Why, for the record.
        package var why: String?

        /// A wish.
        package init(
            in scope: AppEnvironment, for subject: RenewalExtension.Subject, requestIdentifier: String, days: Int64,
            reasonCode: Int64, by person: String, why: String?
        ) {
            self.scope = scope
            self.subject = subject
            self.requestIdentifier = requestIdentifier
            self.days = days
            self.reasonCode = reasonCode
            requestedBy = person
            self.why = why
        }
    }

    /// Why a wish is not recorded.
    package enum Conflict: Error, Sendable, Hashable {
        /// One of this name is on record.
        case nameTaken(Int64)
        /// One for the same is not finished.
        case underWay(Int64)
        /// One that moves some of the same dates is not finished: of all subscribers of the product in some of the countries, or of
        /// one of them.
        case overlaps(Int64)
    }

    /// Records a wish, to be asked of Apple at once.
    /// - Returns: its number.
    /// - Throws: ``Conflict``, or `PostgresError`.
    package func record(_ wish: Wish) async throws -> Int64 {
        let (original, product, storefronts): (String?, String?, [String]) =
            switch wish.subject {
            case .one(let id): (id, nil, [])
            case .all(let id, let storefronts): (nil, id, Set(storefronts).sorted())
            }
        let recorded: Result<Int64, Conflict> = try await pool.withTransaction { session in
            // Two transactions that record at once would not see each other's rows.
            try session.query(
                PostgresQuery("extension.lock", "lock table storehook.extensions in share row exclusive mode"))
            if let rival = try session.query(Self.rivals(of: wish, original, product, storefronts)).first {
                return .failure(try Self.conflict(rival))
            }
            let id: Int64 = try session.query(
                PostgresQuery(
                    "extension.record",
                    """
                    with made as (
                        insert into storehook.extensions
                               (environment, bundle_id, request_identifier, original_transaction_id, product_id, storefronts,
                                days, reason_code, requested_by, why)
                        values (\(wish.scope.environment), \(wish.scope.bundleID), \(wish.requestIdentifier), \(original),
                                \(product), \(storefronts), \(wish.days), \(wish.reasonCode),
                                \(String(wish.requestedBy.prefix(200))), \(wish.why))
                        returning id
                    )
                    insert into storehook.extension_queue (id, received_at, due_at) select id, now(), now() from made
                    returning id
                    """)
            ).one().decode("id")
            return .success(id)
        }
        return try recorded.get()
    }

    /// What is in the way of a wish, the worst first. A mass extension moves the same dates, and posts the same, as one of a
    /// subscription to its product, and as another in the same country.
    private static func rivals(
        of wish: Wish, _ original: String?, _ product: String?, _ storefronts: [String]
    ) -> PostgresQuery {
        PostgresQuery(
            "extension.rivals",
            """
            with wanted as (
                select coalesce(\(product)::text,
                                (select t.product_id from storehook.transactions t
                                  where t.original_transaction_id = \(original) and t.bundle_id = \(wish.scope.bundleID)
                                    and t.environment = \(wish.scope.environment)
                                  order by t.purchased_at desc nulls last limit 1)) collate "C" as product_id
            )
            select e.id, e.request_identifier = \(wish.requestIdentifier) as is_name,
                   coalesce(e.original_transaction_id = \(original),
                            e.product_id = \(product) and e.storefronts = \(storefronts), false) as is_same
              from storehook.extensions e
             cross join wanted
             where e.bundle_id = \(wish.scope.bundleID) and e.environment = \(wish.scope.environment)
               and (e.request_identifier = \(wish.requestIdentifier)
                    or e.settled_at is null and e.original_transaction_id = \(original)
                    or e.settled_at is null and (e.product_id is not null or \(original)::text is null)
                       and (cardinality(e.storefronts) = 0 or cardinality(\(storefronts)::text[]) = 0
                            or e.storefronts && \(storefronts)::text[])
                       and wanted.product_id = coalesce(
                           e.product_id,
                           (select t.product_id from storehook.transactions t
                             where t.original_transaction_id = e.original_transaction_id and t.bundle_id = e.bundle_id
                               and t.environment = e.environment
                             order by t.purchased_at desc nulls last limit 1)) collate "C")
             order by is_name desc, is_same desc, e.id desc
             limit 1
            """)
    }

    private static func conflict(_ rival: PostgresRow) throws -> Conflict {
        let id: Int64 = try rival.decode("id")
        if try rival.decode("is_name", as: Bool.self) { return .nameTaken(id) }
        return try rival.decode("is_same", as: Bool.self) ? .underWay(id) : .overlaps(id)
    }

    /// Claims the extension of these apps and environments that has been due for longest; nil if none is.
    /// - Parameter id: this one alone.
    package func claim(
        for lease: Lease, among scopes: [AppEnvironment], id: Int64? = nil
    ) async throws -> HeldExtension? {
        try await queue.claim(for: lease, among: scopes, id: id, joining: Self.extensions) { row, claim in
            HeldExtension(
                claim: claim, record: try RenewalExtension(row), sinceAsked: try row.age("since_asked"),
                sinceAccepted: try row.age("since_accepted"), sinceCompleted: try row.age("since_completed"))
        }
    }

    private static let extensions = ClaimJoin(
        columns: RenewalExtension.columns, clause: "left join storehook.extensions r on r.id = c.id")
}
