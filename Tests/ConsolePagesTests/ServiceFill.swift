import Base
import EvidenceStore
import Foundation
import Operations
import Postgres
import TestSupport
import Testing

/// What the pages of the service show, as workers store it.
extension RunningPages {
    /// A dead letter of these bytes.
    /// - Returns: its number.
    @discardableResult
    func bury(_ text: String = "not a JWS", message: String = "a message") async throws -> Int64 {
        let outbox = Outbox(observer)
        try await outbox.store([Array(text.utf8)])
        let lease = Lease(owner: "test", duration: .seconds(60))
        let claimed = try await outbox.claim(1, for: lease)
        let code = try #require(ReasonCode(rawValue: "wrong_bundle"))
        try await observer.withTransaction { session in
            _ = try Outbox.table.acknowledge(claimed.rows.map(\.id), token: lease.token, session)
            try Outbox.bury(
                claimed.rows.map {
                    DeadLetterDraft($0, reason: code, message: message, type: "SUBSCRIBED", bundleID: Shop.app)
                }, session)
            try Outbox.note(
                claimed.rows.map { EvidenceAttempt($0, by: "here:1", from: claimed.claimedAt, reason: code) }, session)
        }
        return try await observer.query("select max(id) from storehook.dead_letters").one().decode(0)
    }

    /// Carries jobs out as a worker does.
    var jobService: JobService {
        JobService(JobStore(observer), name: "test", logger: quiet) { filter in
            var report = ReplayDryRun.Report()
            report.letters = filter.ids?.count ?? 0
            return report
        }
    }

    /// One of everything that has a page.
    func fillService(by admin: Browser) async throws {
        let letter = try await bury()
        try await bury()
        let made = try await admin.call(
            "/admin/jobs",
            #"{"act": "rehearse", "filter": {}, "upTo": \#(letter + 1), "confirmed": 2, "reason": "a look"}"#)
        #expect(made.status == 201, "\(made.body)")
        #expect(try await jobService.work())
        try await extend()
        try await deliver()
        try await ask()
        try await owe()
        let note = try await admin.call(
            "/admin/notes", #"{"account": "token:\#(Shop.token(1))", "note": "called about the invoice"}"#)
        #expect(note.status == 201, "\(note.body)")
    }

    /// Has all that is there have been made so many days earlier, but for the audit, which says when something was done.
    func age(days: Int) async throws {
        let columns = [
            "staff_notes": ["at"], "staff_refund_requests": ["created_at"], "catalogs": ["applied_at"],
            "notifications": ["signed_at", "received_at"], "extensions": ["requested_at", "asked_at"],
            "deliveries": ["told_at", "ended_at"], "dead_letters": ["received_at", "dead_at"],
            "outbox_attempts": ["began_at", "ended_at"], "jobs": ["created_at", "begun_at", "ended_at"],
            "job_items": ["ended_at"],
        ]
        let statements = columns.map { table, columns in
            let moved = columns.map { "\($0) = \($0) - interval '\(days) days'" }.joined(separator: ", ")
            return "update storehook.\(table) set \(moved);"
        }
        try await observer.withTransaction {
            // What was done is on record.
            try $0.executeScript("set local session_replication_role = replica;" + statements.joined())
        }
    }

    /// An extension at which Apple works, of the first app.
    func extend() async throws {
        try await observer.query(
            """
            insert into storehook.extensions
                   (environment, bundle_id, request_identifier, original_transaction_id, days, reason_code, requested_by, why, state, asked_at)
            values ('Production', \(Shop.app), 'request-1', '10001', 3, 1, 'cli:kim', 'a complaint of person-1', 'accepted', now())
            """)
    }

    /// An endpoint, and a delivery to it that was given up.
    func deliver() async throws {
        try await observer.query(
            """
            insert into storehook.endpoints (id, url, state, reason, created_by, changed_by, secret)
            values (1, 'https://example.com/1', 'disabled', 'moving to another host', 'cli:kim', 'cli:kim', decode(repeat('5ec2', 20), 'hex'))
            """)
        try await observer.query(
            "insert into storehook.endpoint_cursors (endpoint_id, position, queued_position) values (1, 0, 0)")
        try await observer.query("insert into storehook.endpoint_health (endpoint_id) values (1)")
        try await observer.query(
            """
            insert into storehook.deliveries (id, endpoint_id, event_id, told_at, sequence, outcome, attempts, status, reason)
            values (1, 1, 77, now(), 1, 'dead', 9, 500, 'http_500')
            """)
    }

    /// What Apple asks about the first purchase.
    func ask() async throws {
        try await observer.query(
            """
            insert into storehook.notifications
                   (notification_uuid, outbox_id, type, environment, bundle_id, original_transaction_id, transaction_id, signed_at, received_at,
                    outcome, consumption_request_reason)
            values (gen_random_uuid(), 1001, 'CONSUMPTION_REQUEST', 'Production', \(Shop.app), '10001', '10001.0', now(), now(), 'applied',
                    'UNINTENDED_PURCHASE')
            """)
    }

    /// Something that was due and was not heard of, as a worker has counted it.
    func owe() async throws {
        try await observer.query(
            """
            insert into storehook.due_unheard (ends_at, bundle_id, original_transaction_id, kind, age, product_id, is_imported)
            values (now() - interval '7 hours', \(Shop.app), '50001', 'renewal', '6h', 'basic', false)
            """)
        try await observer.query(
            "insert into storehook.due_counts (bundle_id, age, unheard, imported) values (\(Shop.app), '6h', 1, 0)")
        try await observer.query("update storehook.due_count_state set counted_at = now()")
    }
}
