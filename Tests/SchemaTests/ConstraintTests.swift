import Postgres
import TestSupport
import Testing

@Suite("The schema refuses")
struct ConstraintTests {
    @Test("rows that make no sense, each by its own constraint")
    func constraints() async throws {
        let queue = "insert into storehook.outbox_queue (id, received_at, due_at"
        let letter =
            "insert into storehook.dead_letters (outbox_id, received_at, category, reason, message, attempts"
        let uuid = "'6f1c1c0a-0000-4000-8000-000000000001'"
        let line = "'Sandbox', 'com.example.app', '1'"
        let subscription =
            "insert into storehook.subscriptions (environment, bundle_id, original_transaction_id, paid_until, "
            + "phase_basis, phase_transaction, phase_period_ends, phase_grace_ends, phase_will_renew, "
            + "phase_renewal_product, phase_price_pending, phase_intent, phase_account, "
            + "phase_starts, phase_status, phase_product, phase_expires, phase_trial) values (\(line), now(), "
            + "'{records}', '{t}', array[now()], '{null}', '{t}', '{p}', '{f}', '{1}', '{null}', "
        let facts =
            "insert into storehook.purchase_facts (environment, bundle_id, original_transaction_id, outbox_id, signed_at, "
        let cases: [(sql: String, constraint: String)] = [
            (
                "insert into storehook.outbox (body) values (convert_to(repeat('x', 262145), 'UTF8'))",
                "outbox_body_check"
            ),
            ("insert into storehook.outbox (body, packing) values ('x', 2)", "outbox_packing_check"),
            ("insert into storehook.signature_headers (header) values ('')", "signature_headers_header_check"),
            (
                "insert into storehook.signature_headers (header) values (convert_to(repeat('x', 16385), 'UTF8'))",
                "signature_headers_header_check"
            ),
            ("\(queue), attempts) values (1, now(), now(), -1)", "outbox_queue_attempts_check"),
            ("\(queue), lease_owner) values (1, now(), now(), 'somebody')", "outbox_queue_check"),
            ("\(queue), lease_token) values (1, now(), now(), \(uuid))", "outbox_queue_check"),
            ("\(queue), last_reason) values (1, now(), now(), repeat('x', 101))", "outbox_queue_last_reason_check"),
            ("\(letter)) values (1, now(), 'strange', 'x', 'x', 1)", "dead_letters_category_check"),
            ("\(letter)) values (1, now(), 'unverified', 'Not A Code', 'x', 1)", "dead_letters_reason_check"),
            ("\(letter)) values (1, now(), 'unverified', 'x', repeat('x', 1001), 1)", "dead_letters_message_check"),
            (
                "\(letter), resolution, resolved_at, resolved_by) "
                    + "values (1, now(), 'unverified', 'x', 'x', 1, 'lost', now(), 'me')",
                "dead_letters_resolution_check"
            ),
            ("\(letter), resolution) values (1, now(), 'unverified', 'x', 'x', 1, 'replayed')", "dead_letters_check"),
            (
                "\(letter), resolution, resolved_at) values (1, now(), 'unverified', 'x', 'x', 1, 'replayed', now())",
                "dead_letters_check1"
            ),
            (
                "\(letter), resolution, resolved_at, resolved_by) "
                    + "values (1, now(), 'unverified', 'x', 'x', 1, 'discarded', now(), 'me')",
                "dead_letters_check2"
            ),
            (
                "insert into storehook.notifications (notification_uuid, outbox_id, type, environment, bundle_id, signed_at, "
                    + "received_at, outcome) values (\(uuid), 1, 'TEST', 'Sandbox', 'a', now(), now(), 'lost')",
                "notifications_outcome_check"
            ),
            (
                "insert into storehook.purchase_lines (environment, bundle_id, original_transaction_id, anomalies) "
                    + "values (\(line), -1)",
                "purchase_lines_anomalies_check"
            ),
            ("\(facts) transaction_id) values (\(line), 1, now(), '2')", "purchase_facts_check"),
            ("\(facts) renewal_signed_at) values (\(line), 1, now(), now())", "purchase_facts_check2"),
            (
                "insert into storehook.anomalies (environment, bundle_id, original_transaction_id, kind, signed_at) "
                    + "values (\(line), 'odd', now())",
                "anomalies_kind_check"
            ),
            ("\(subscription) array[]::timestamptz[], '{}', '{}', '{}', '{}')", "subscriptions_check"),
            (
                "\(subscription) array[now(), now()], '{active, expired}', '{p, p}', array[now(), now()], '{f, f}')",
                "subscriptions_check1"
            ),
            (
                "\(subscription) array[now()], '{sleeping}', '{p}', array[now()], '{f}')",
                "subscriptions_phase_status_check"
            ),
            ("\(subscription) array[now()], '{active}', '{p,q}', array[now()], '{f}')", "subscriptions_check"),
        ]
        try await withSchema { connection, _ in
            for (sql, constraint) in cases {
                #expect(await connection.refusal(of: sql) == constraint, "\(sql)")
            }
        }
    }

    @Test("a second open letter for one notification, and accepts it once the first is replayed")
    func oneOpenLetter() async throws {
        let bury =
            "insert into storehook.dead_letters (outbox_id, received_at, category, reason, message, attempts) "
            + "values (7, now(), 'unverified', 'x', 'x', 1)"
        try await withSchema { connection, _ in
            #expect(await connection.refusal(of: bury) == nil)
            #expect(await connection.refusal(of: bury) == "dead_letters_one_open")
            try await connection.query(
                "update storehook.dead_letters set resolution = 'replayed', resolved_at = now(), resolved_by = 'me'")
            #expect(await connection.refusal(of: bury) == nil)
        }
    }
}
