import AccountStore
import Accounts
import AppStorePayloads
import Base
import Crypto
import Foundation
import Pipeline
import Postgres
import TestSupport
import Testing

/// Whatever names an account is found by its erasure: held against the schema's own columns, so that no later table is forgotten.
struct ErasureColumnTests {
    /// What becomes of a column's rows that name an account.
    private enum Fate {
        /// An account that has only such a row is known, and no such row names it afterwards. The row, as columns and values: TOKEN, NAME
        /// and HASH stand for the account's.
        case forgotten(String)
        /// An account that has only such a row is known, and the row stays: what was changed stays on record, without the person.
        case kept(String)
        /// Apple's evidence, what is derived of purchases, and the order of events, which stay under the token: kept, and reported as such.
        /// Once a catalog was applied, account_lines and accounts have each account that is named there.
        case evidence
        /// The audit, which names accounts by their tokens alone: the row stays, and each act has its own row in another table.
        case audited
        /// It names no account.
        case noAccount
    }

    private static let phases = """
        (token, environment, catalog, version, phase_starts, phase_status, phase_tier, phase_source, phase_product, phase_bundle,
         phase_purchase, phase_act, phase_expires, phase_will_renew, phase_trial)
        values ('TOKEN', 'Production', (select max(version) from storehook.catalogs), 1, array[now()], '{free}', '{free}', '{none}',
                '{null}', '{null}', '{null}', '{null}', '{null}', '{null}', '{f}')
        """

    private static let columns: [String: Fate] = [
        "accounts.token": .kept("(token, account) values ('TOKEN', 'NAME')"),
        "accounts.account": .forgotten("(token, account) values ('TOKEN', 'NAME')"),
        "account_names.token": .forgotten("(token, account) values ('TOKEN', 'NAME')"),
        "account_names.account": .forgotten("(token, account) values ('TOKEN', 'NAME')"),
        "account_status.token": .kept(phases),
        "account_lines.token": .forgotten(
            "(token, environment, original_transaction_id, bundle_id) values ('TOKEN', 'Production', '1', 'com.example.app')"
        ),
        "account_history.token": .forgotten(
            """
            (token, environment, starts_at, ends_at, status, tier, source, will_renew, in_trial)
            values ('TOKEN', 'Production', now() - interval '2 days', now() - interval '1 day', 'active', 'pro', 'apple', true, false)
            """),
        "access_tellings.token": .kept("(token, environment) values ('TOKEN', 'Production')"),
        "events.token": .kept(
            """
            (kind, environment, sequence, at, is_late, is_correction, content, token, version)
            values ('account.access_changed', 'Production', 1, now(), false, false, '{}', 'TOKEN', 1)
            """),
        "purchase_bindings.token": .kept(
            """
            (original_transaction_id, bundle_id, environment, kind, token)
            values ('1', 'com.example.app', 'Production', 'proof', 'TOKEN')
            """),
        "staff_acts.token": .kept("(token, kind, recorded_by, why) values ('TOKEN', 'revoke', 'sam', 'fraud')"),
        "staff_notes.token": .kept("(token, recorded_by, body) values ('TOKEN', 'cli:sam', 'called')"),
        "trials.token": .forgotten(
            """
            (account_hash, token, tier, started_at, ends_at)
            values (sha256('other'), 'TOKEN', 'premium', now(), now() + interval '7 days')
            """),
        "trials.account_hash": .kept(
            """
            (account_hash, tier, started_at, ends_at)
            values (decode('HASH', 'hex'), 'premium', now(), now() + interval '7 days')
            """),
        "usage_counters.token": .forgotten(
            "(token, feature, period, starts_on, used) values ('TOKEN', 'words', 'total', '-infinity', 2)"),
        "usage_keys.token": .forgotten(
            """
            (token, feature, key, act, amount, used, period, starts_on, kept_until)
            values ('TOKEN', 'words', gen_random_uuid(), 'add', 1, 1, 'total', '-infinity', now())
            """),
        "write_budgets.token": .forgotten("(token, day, bytes) values ('TOKEN', current_date, 7)"),
        "purchase_attempts.token": .forgotten(
            "(token, product_id, kind, outcome) values ('TOKEN', 'basic', 'purchase', 'failed')"),
        "account_profiles.token": .forgotten("(token, name) values ('TOKEN', 'NAME')"),
        "booked_attempts.token": .forgotten(
            """
            (id, order_id, token, bundle_id, product_id, environment, day, outcome, reports, first_at, last_at, last_report, written_at)
            values (1, 1, 'TOKEN', '', 'basic', 'Production', current_date, 'failed', 1, now(), now(), 1, now())
            """),
        "consumption_consents.app_account_token": .forgotten(
            """
            (account, app_account_token, granted, text, recorded_by) values ('other', 'TOKEN', true, 'a text of its own', 'app')
            """),
        "consumption_consents.account": .forgotten(
            "(account, app_account_token, granted, recorded_by) values ('NAME', 'TOKEN', false, 'app')"),
        "consumption_tokens.app_account_token": .forgotten("(app_account_token) values ('TOKEN')"),
        "delivery_lanes.subject": .evidence,
        "one_time_purchases.app_account_token": .evidence, "one_time_purchases.earlier_accounts": .evidence,
        "purchase_facts.app_account_token": .evidence,
        "purchase_facts.renewal_account_token": .evidence, "renewals.app_account_token": .evidence,
        "subscription_history.phase_account": .evidence, "subscriptions.app_account_token": .evidence,
        "subscriptions.carried_account_token": .evidence, "subscriptions.former_account_token": .evidence,
        "subscriptions.phase_account": .evidence, "transactions.app_account_token": .evidence,
        "audit.subject": .audited, "audit.subject_kind": .noAccount, "audit_texts.accounts": .audited,
        "audit_drafts.subject": .noAccount, "audit_drafts.subject_kind": .noAccount,
        "audit_drafts.accounts": .noAccount,
        "canaries.test_token": .noAccount, "history_windows.walk_token": .noAccount,
        "canary_queue.lease_token": .noAccount, "consumption_queue.lease_token": .noAccount,
        "delivery_queue.lease_token": .noAccount, "extension_queue.lease_token": .noAccount,
        "history_queue.lease_token": .noAccount, "job_queue.lease_token": .noAccount,
        "outbox_queue.lease_token": .noAccount,
        "refresh_queue.lease_token": .noAccount,
    ]

    @Test func `Each column that may name an account has its fate, and no other`() async throws {
        try await AccountDatabase.with { database in
            let found = try await database.pool.query(
                """
                select c.relname || '.' || a.attname
                  from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
                 where c.relnamespace = 'storehook'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
                   and a.attname ~ '(^|_)(token|tokens|account|accounts|customer|user|person|subject)(_|$)'
                   and format_type(a.atttypid, null) !~ '^(boolean|integer|bigint|timestamp)'
                 order by 1
                """
            ).map { try $0.decode(0, as: String.self) }
            #expect(Set(found).subtracting(Self.columns.keys) == [], "say what erasure does with it")
            #expect(Set(Self.columns.keys).subtracting(found) == [], "there is no such column any more")
        }
    }

    @Test(arguments: columns.keys.sorted())
    func `An account that nothing else names is found, and what names the person goes`(column: String) async throws {
        let row: String
        let isKept: Bool
        switch try #require(Self.columns[column]) {
        case .forgotten(let text): (row, isKept) = (text, false)
        case .kept(let text): (row, isKept) = (text, true)
        case .evidence, .audited, .noAccount: return
        }
        let parts = column.split(separator: ".")
        let (table, name) = (String(parts[0]), String(parts[1]))
        try await AccountDatabase.with { database in
            _ = try await database.store.apply(Shop.catalog(), by: "test")
            let person = "only \(column)"
            let token = AccountToken.of(person)
            let hash = AccountHash.hex(of: token)
            let values = row.replacing("TOKEN", with: "\(token)").replacing("NAME", with: person)
                .replacing("HASH", with: hash)
            try await database.pool.query("insert into storehook.\(unescaped: table) \(unescaped: values)")
            let erased = try await database.pipeline.erase(AccountIdentity(named: person), by: "staff")
            #expect(erased != nil, "there is nothing to erase")
            let named: Int64 = try await database.value(
                """
                select count(*) from storehook.\(unescaped: table)
                 where \(unescaped: name)::text in (\("\(token)"), \(person), \("\\x" + hash))
                """)
            #expect(named == (isKept ? 1 : 0))
            let texts: Int64 = try await database.value("select count(*) from storehook.consent_texts")
            #expect(texts == 0)
        }
    }

    @Test func `Nothing is made for who is not known, and a text goes with the last account that names it`()
        async throws
    {
        try await AccountDatabase.with { database in
            #expect(try await database.pipeline.erase("nobody", by: "staff") == nil)
            #expect(try await database.value("select count(*) from storehook.consumption_tokens", as: Int64.self) == 0)
            for person in ["ann", "bob"] {
                for text in ["ours", "of \(person)"] {
                    try await database.pool.query(
                        """
                        insert into storehook.consumption_consents (account, app_account_token, granted, text, recorded_by)
                        values (\(person), \(UUID(AccountToken.of(person))), true, \(text), 'app')
                        """)
                }
            }
            func texts() async throws -> [String] {
                try await database.pool.query("select text from storehook.consent_texts order by 1")
                    .map { try $0.decode(0) }
            }
            #expect(try await database.pipeline.erase("ann", by: "staff")?.consentsForgotten == 2)
            #expect(try await texts() == ["of bob", "ours"])
            #expect(try await database.pipeline.erase("bob", by: "staff")?.consentsForgotten == 2)
            #expect(try await texts() == [])
        }
    }

    @Test func `A text that is recorded anew while its last account is erased is there afterwards`() async throws {
        try await AccountDatabase.with { database in
            func record(_ person: String) -> PostgresQuery {
                """
                insert into storehook.consumption_consents (account, app_account_token, granted, text, recorded_by)
                values (\(person), \(UUID(AccountToken.of(person))), true, 'ours', 'app')
                """
            }
            try await database.pool.query(record("ann"))
            // Erased first, recorded meanwhile.
            let erasing = try await HeldTransaction(
                in: database.database, "select deleted from storehook.erase_consents(\(UUID(AccountToken.of("ann"))))")
            async let recorded = database.pool.query(record("bob"))
            try await eventually("it waits for the text") {
                try await database.value(
                    "select count(*) > 0 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock' and query like 'insert%'"
                )
            }
            try await erasing.release()
            _ = try await recorded
            // Recorded first, erased meanwhile.
            let recording = try await HeldTransaction(in: database.database, record("cid"))
            async let erased = database.pipeline.erase("bob", by: "staff")
            try await eventually("it waits for the text") {
                try await database.value(
                    "select count(*) > 0 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock' and query like '%erase_consents%'"
                )
            }
            try await recording.release()
            #expect(try await erased?.consentsForgotten == 1)
            let named: String = try await database.value(
                "select c.account || ' ' || t.text from storehook.consumption_consents c join storehook.consent_texts t on t.id = c.text_id"
            )
            #expect(named == "cid ours")
        }
    }
}

/// By which trials know an account.
private enum AccountHash {
    static func hex(of token: UniqueIdentifier) -> String {
        SHA256.hash(data: Array(token.description.utf8)).map { String(format: "%02x", $0) }.joined()
    }
}
