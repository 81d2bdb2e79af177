-- Rights: six roles. None of them can log in by itself. Run this as the owner of schema storehook, with the
-- right to create roles while one is missing, after `storehook migrate`; again after every migration; and as often as you like:
--
--     psql "$DATABASE_URL" -f sql/roles.sql
--
-- It does all of it, or says in one line what is missing and what to do, and psql ends with a status that is not 0.
-- deploy/logins.sql then makes a user for each program; for other people:
--
--     create role monitor login password '...' in role storehook_monitor;
--
-- Only `storehook migrate` and this file need the owner. Roles are the server's, rights are a database's: where one
-- server holds several storehook databases, run this in each of them.

\set ON_ERROR_STOP on
\set VERBOSITY terse
\set QUIET on

begin;
set local client_min_messages = warning;

do $$
declare
    me constant text := quote_ident(current_user);
    roles constant text[] := array['storehook_receiver', 'storehook_worker', 'storehook_ops', 'storehook_monitor',
        'storehook_api', 'storehook_bi', 'storehook_console'];
    missing text[] := array(select name from unnest(roles) name where to_regrole(name) is null);
    wanted text;
    owner text;
    thing text;
begin
    if not exists (select from pg_class c join pg_namespace n on n.oid = c.relnamespace
                    where n.nspname = 'storehook' and c.relname = 'purchase_facts') then
        raise exception 'database % has no storehook schema: run storehook migrate on it first, then this again',
            quote_ident(current_database());
    end if;
    -- A user who may grant nothing is only warned by PostgreSQL.
    select quote_ident(pg_get_userbyid(held.owner)), held.thing into owner, thing
      from (select nspowner, 'schema storehook' from pg_namespace where nspname = 'storehook'
             union all
            select c.relowner, 'storehook.' || c.relname from pg_class c join pg_namespace n on n.oid = c.relnamespace
             where n.nspname = 'storehook' and c.relkind in ('r', 'p', 'v', 'S')
             union all
            select f.proowner, 'storehook.' || f.proname from pg_proc f join pg_namespace n on n.oid = f.pronamespace
             where n.nspname = 'storehook') as held (owner, thing)
     where not pg_has_role(held.owner, 'usage') limit 1;
    if found then
        raise exception '% may not give rights on %, which belongs to %: run this as %, who ran storehook migrate', me,
            thing, owner, owner;
    end if;
    -- Two who grant on one table at the same moment would fail.
    lock table storehook.schema_migrations in share row exclusive mode;
    if missing <> '{}' and not (select rolsuper or rolcreaterole from pg_roles where rolname = current_user) then
        raise exception '% may not create roles: let a superuser say "alter role % createrole", or "create role %", then run this again',
            me, me, array_to_string(missing, '; create role ');
    end if;
    foreach wanted in array missing loop
        begin
            execute format('create role %I nologin', wanted);
        exception
            -- unique_violation: another session makes the same role at the same moment.
            when duplicate_object or unique_violation then null;
        end;
    end loop;
    begin
        -- Operators decide about dead letters and look at everything. A dry run of a replay applies the letters in a
        -- transaction that it rolls back, and applying takes the rights of a worker. Since PostgreSQL 16 granting a role takes its
        -- ADMIN option, which its creator has; another database's owner may have created these.
        if not pg_has_role('storehook_ops', 'storehook_worker', 'member') then
            grant storehook_worker to storehook_ops;
        end if;
    exception
        when insufficient_privilege then
            raise exception '% may not grant storehook_worker, which somebody else made: let a superuser say "grant storehook_worker to % with admin option", then run this again',
                me, me;
        -- unique_violation: as above. Memberships are the server's too.
        when unique_violation then null;
    end;
end
$$;

do $rights$
begin
-- What follows is the whole of it: rights that an earlier edition gave and this one does not are taken back.
revoke all on all tables in schema storehook from public, storehook_receiver, storehook_worker, storehook_ops,
    storehook_monitor, storehook_api, storehook_bi, storehook_console;
revoke all on all sequences in schema storehook from public, storehook_receiver, storehook_worker, storehook_ops,
    storehook_monitor, storehook_api, storehook_bi, storehook_console;
revoke all on all functions in schema storehook from public, storehook_receiver, storehook_worker, storehook_ops,
    storehook_monitor, storehook_api, storehook_bi, storehook_console;
revoke all on schema storehook from public, storehook_receiver, storehook_worker, storehook_ops, storehook_monitor,
    storehook_api, storehook_bi, storehook_console;
grant usage on schema storehook to storehook_receiver, storehook_worker, storehook_ops, storehook_monitor,
    storehook_api, storehook_bi, storehook_console;

-- Every program begins by asking whether the schema fits it.
grant select on storehook.schema_migrations, storehook.schema_expansions
    to storehook_receiver, storehook_worker, storehook_ops, storehook_monitor, storehook_api, storehook_bi, storehook_console;

-- The receiver stands where the world can reach it. It puts in and can read nothing back, its own rows neither; but for
-- the certificates that Apple signs with, which are public and which it need not store again each time.
-- Partitions need no rights of their own: rows go in and come out through the parent.
grant usage on sequence storehook.outbox_id to storehook_receiver;
-- Of the outbox without the columns that say what it is and which way it came: what it stores is a notification that was posted,
-- and is verified. Unsigned evidence is believed because of who stored it.
grant insert (id, received_at, packing, body) on storehook.outbox to storehook_receiver;
grant insert on storehook.outbox_queue, storehook.outbox_stored to storehook_receiver;
grant select on storehook.signature_headers to storehook_receiver;
-- What it stores by, and which senders it refuses.
grant execute on function storehook.refused_senders(), storehook.store_posted(smallint[], bytea[], text[], bytea[])
    to storehook_receiver;
-- And that notifications are posted which are not taken.
grant execute on function storehook.note_old_post() to storehook_receiver;

-- The worker claims, applies and settles. Facts are added and superseded, never deleted; what is recorded of a
-- notification, of what it said or of a dead letter stays as it was written. State goes when the facts no longer carry it.
-- `storehook rebuild` mends facts too, and is the owner's.
grant select on storehook.outbox to storehook_worker;
grant select, update, delete on storehook.outbox_queue to storehook_worker;
-- What PostgreSQL refuses is noted where all workers see it.
grant select, insert, update, delete on storehook.refusals to storehook_worker;
-- What is needed to read packed bytes is added to, and never changed or deleted.
grant select, insert on storehook.signature_headers to storehook_worker;
grant insert on storehook.duplicates, storehook.dead_letters to storehook_worker;
grant select, insert on storehook.notifications, storehook.records, storehook.purchase_facts,
    storehook.shared_transactions
    to storehook_worker;
-- The walk through the books completes what releases before left out.
grant update (billing_plan, up_front_period) on storehook.purchase_facts to storehook_worker;
grant select, insert, update on storehook.purchase_lines, storehook.transactions, storehook.renewals,
    storehook.subscriptions, storehook.one_time_purchases to storehook_worker;
grant delete on storehook.subscriptions, storehook.one_time_purchases to storehook_worker;
grant select, insert, delete on storehook.subscription_history, storehook.replaced_renewals, storehook.anomalies
    to storehook_worker;
grant execute on function storehook.ensure_outbox_partitions(integer), storehook.drop_outbox_day(date, integer),
    storehook.outbox_bodies(bigint[], timestamptz[]) to storehook_worker;
grant select on storehook.outbox_days, storehook.outbox_days_to_settle to storehook_worker;
grant execute on function storehook.outbox_day_changes(date), storehook.settle_outbox_day(date),
    storehook.sum_outbox_stored() to storehook_worker;
grant select on storehook.old_posts to storehook_worker;
-- It counts what was posted from where, and gives up what did not verify.
grant select, insert, update on storehook.senders to storehook_worker;
grant execute on function storehook.expire_junk(integer) to storehook_worker;
-- It says which apps and roots it serves, and reads which ones others serve here.
grant select, insert on storehook.served_apps, storehook.served_roots to storehook_worker;
grant update on storehook.served_apps to storehook_worker;
-- Its metrics tell how long the queue is, and up to when nothing is missing.
grant select on storehook.queue_depth, storehook.queue_refused, storehook.proven_until, storehook.canary_status,
    storehook.extensions_open, storehook.consumption_status, storehook.unsold_products
    to storehook_worker;
-- What Apple lists and is in no place here it stores itself; what it stores takes the way of all evidence.
grant insert on storehook.outbox, storehook.outbox_queue, storehook.outbox_stored to storehook_worker;
grant usage on sequence storehook.outbox_id to storehook_worker;
grant select, insert, update, delete on storehook.history_windows, storehook.history_queue, storehook.history_letters,
    storehook.refresh_queue, storehook.canaries, storehook.canary_queue, storehook.extension_queue to storehook_worker;
-- What became of Apple's requests stays; what customers agreed to a worker reads.
grant select, insert, update on storehook.consumption_answers to storehook_worker;
grant select, insert, update, delete on storehook.consumption_queue to storehook_worker;
grant select on storehook.consumption_consents to storehook_worker;
grant select, insert, update on storehook.consumption_tokens to storehook_worker;
grant select, insert, update on storehook.refreshes to storehook_worker;
-- What Apple was asked to extend stays on record.
grant select, insert, update on storehook.extensions to storehook_worker;
grant select, insert on storehook.extension_failures to storehook_worker;
grant select on storehook.contradictions to storehook_worker;
-- Who takes in an old receipt notes that it is kept, and what verifyReceipt said last.
grant select, insert on storehook.kept_receipts to storehook_worker;
grant select, insert, update on storehook.unsigned_words to storehook_worker;
-- It carries out what staff asked for about many dead letters at once, and writes down what became of it. It cannot change what was asked for, or
-- who asked. It settles no other letters.
grant select on storehook.dead_letters, storehook.job_items to storehook_worker;
grant execute on function storehook.work_job(bigint, integer) to storehook_worker;
grant select, delete, update (state, error, report, begun_at, ended_at) on storehook.jobs to storehook_worker;
grant select, update, delete on storehook.job_queue to storehook_worker;
-- And why an attempt came to nothing.
grant select, insert, delete on storehook.outbox_attempts to storehook_worker;
-- They forget what the staff searched for.
grant select, delete on storehook.searches to storehook_worker;
grant execute on function storehook.plan_history(text[], text[], interval, boolean), storehook.history_reach(text)
    to storehook_worker;
-- It deletes usage that can no longer be reported, and rows of callers that are older than they are kept.
grant select, delete on storehook.usage_counters, storehook.usage_keys, storehook.purchase_attempts,
    storehook.write_budgets to storehook_worker;
grant execute on function storehook.drop_superseded_consents(integer, integer) to storehook_worker;
-- It works out whose purchases are, and what accounts are by them. What was recorded of both it reads.
grant select on storehook.catalogs, storehook.catalog_state, storehook.purchase_bindings, storehook.staff_acts,
    storehook.trials to storehook_worker;
-- It keeps the list of products that customers hold, and writes a catalog's own beside it where that is missing.
grant select, insert, update on storehook.purchased_products to storehook_worker;
-- A transaction that changes a purchase books its orders. Workers deal numbers, and book earlier purchases. No number is ever taken back.
grant select, insert on storehook.order_classes to storehook_worker;
grant select, insert, update on storehook.booked_orders, storehook.booked_transactions, storehook.booked_refunds,
    storehook.booked_stretches, storehook.order_days to storehook_worker;
grant delete on storehook.booked_transactions, storehook.booked_refunds, storehook.booked_stretches to storehook_worker;
grant select, update on storehook.order_clock to storehook_worker;
-- And sum figures. What changes the books marks their days by itself.
grant select, insert, delete on storehook.figure_cells, storehook.value_cells to storehook_worker;
grant select, insert, delete on storehook.figure_marks, storehook.figure_plans, storehook.figure_terms to storehook_worker;
grant select, insert, update, delete on storehook.figure_sums, storehook.cohort_cells, storehook.value_sums to storehook_worker;
grant select, update on storehook.figure_state to storehook_worker;
-- Proceeds by the commission table that operators apply, and fiscal months by their calendar.
grant select on storehook.commissions, storehook.fiscal_calendars to storehook_worker;
-- In the reporting currency, too, by rates that operators import.
grant select on storehook.exchange_rates to storehook_worker;
grant select, delete on storehook.conversion_marks to storehook_worker;
grant select, insert, update, delete on storehook.converted_sums to storehook_worker;
grant select, insert, delete on storehook.corrected_conversions to storehook_worker;
grant select, insert, update, delete on storehook.figure_currencies, storehook.currency_sums, storehook.currency_values,
    storehook.currency_value_days to storehook_worker;
grant select, insert, update on storehook.asked_currencies to storehook_worker;
-- And count accounts.
grant select, insert, delete on storehook.account_counts to storehook_worker;
grant select, update on storehook.account_count_state to storehook_worker;
-- At the end of each day, too, with what they used by then.
grant select, insert, update on storehook.account_days to storehook_worker;
grant select, insert on storehook.account_day_counts to storehook_worker;
grant select, insert, delete on storehook.usage_days to storehook_worker;
grant execute on function storehook.account_status_at(timestamptz) to storehook_worker;
-- And the renewals and ends that were due without a word from Apple.
grant select, insert, delete on storehook.due_counts, storehook.due_days to storehook_worker;
grant select, insert, update, delete on storehook.due_unheard to storehook_worker;
grant select, update on storehook.due_count_state to storehook_worker;
-- And write the overview: what they did, and how the pipeline stands, which a view reads for them.
grant select on storehook.overview_now to storehook_worker;
grant select, update on storehook.overview_state to storehook_worker;
grant select, insert, update on storehook.overview_ring to storehook_worker;
-- What Apple refunds ends requests of the staff for it. What people decided it cannot change.
grant select, update (state, decider, decided_at, share_before, refunded_before, refunded_before_at, apple_share,
    apple_amount, apple_at, reversed_at, processed_at) on storehook.staff_refund_requests to storehook_worker;
-- Attempts that apps report are orders, too. How restores ended is recorded for figures, and stays.
grant select, insert, update on storehook.booked_attempts to storehook_worker;
grant select, insert on storehook.reported_restores to storehook_worker;
grant update (is_booked, is_surplus) on storehook.purchase_attempts to storehook_worker;
grant update (product_keys) on storehook.catalogs to storehook_worker;
grant select, insert, update on storehook.accounts to storehook_worker;
-- What the account API named them stands in events.
grant select on storehook.account_names to storehook_worker;
-- It goes by the rule of account ids, and names it where it is not named yet: see name_account_ids.
grant select on storehook.account_ids to storehook_worker;
grant execute on function storehook.name_account_ids(text) to storehook_worker;
grant select, insert, delete on storehook.account_lines to storehook_worker;
grant select, insert, update, delete on storehook.account_status, storehook.account_history to storehook_worker;
-- What they change they tell of; so does the clock. None of it is ever changed or taken back.
grant select, insert on storehook.events to storehook_worker;
grant usage on sequence storehook.event_id to storehook_worker;
grant insert on storehook.events_unplaced to storehook_worker;
grant select on storehook.event_places, storehook.event_positions to storehook_worker;
grant select, insert, update on storehook.purchase_tellings, storehook.access_tellings to storehook_worker;
grant execute on function storehook.place_events(integer), storehook.ensure_event_partitions(integer),
    storehook.is_filling(text, text), storehook.history_fills(), storehook.event_days(integer),
    storehook.delete_event_positions(date, integer, integer), storehook.drop_event_day(date, integer),
    storehook.history_filled_at(text, text), storehook.owed_at(text, text), storehook.filled_apps(),
    storehook.telling_differences(integer) to storehook_worker;
-- How far it has come with what is to be told of everybody, and how far telling is behind.
grant select, update on storehook.telling_walks to storehook_worker;
grant select on storehook.telling_status to storehook_worker;
-- They deal events out to endpoints and deliver them. Endpoints they disable, and throw away once they were removed.
grant select, update, delete on storehook.endpoints, storehook.endpoint_cursors, storehook.endpoint_health
    to storehook_worker;
grant select, insert, update, delete on storehook.delivery_lanes, storehook.delivery_queue,
    storehook.deliveries_pending to storehook_worker;
grant select, insert, delete on storehook.deliveries, storehook.delivery_attempts to storehook_worker;
-- They make the tests of endpoints that the staff asks for.
grant select, update, delete on storehook.endpoint_trials to storehook_worker;
grant select on storehook.delivery_status, storehook.delivery_glance to storehook_worker;

-- Operators are workers (see above) who may also look at everything, put back and decide.
grant select on all tables in schema storehook to storehook_ops;
-- They record what customers agreed to or took back, and a record is never changed.
grant insert on storehook.consumption_consents to storehook_ops;
-- They apply catalogs and act for accounts, on record: a record is never changed. To erase an account takes its names out.
grant insert on storehook.catalogs, storehook.purchase_bindings, storehook.staff_acts to storehook_ops;
grant update on storehook.catalog_state to storehook_ops;
grant update (current_from) on storehook.catalogs to storehook_ops;
grant update (token) on storehook.trials to storehook_ops;
-- They change the rule of account ids; an account whose id has another token then loses its id. A transaction that writes an id holds the
-- rule, which needs the right to update a column that cannot change.
grant update (only_row, rule, named_at, named_by) on storehook.account_ids to storehook_ops;
grant update (account) on storehook.consumption_consents to storehook_ops;
grant delete on storehook.account_names, storehook.account_profiles to storehook_ops;
grant update (recorded_by, why, erased_at) on storehook.staff_texts to storehook_ops;
grant execute on function storehook.erase_consents(uuid) to storehook_ops;
-- What they do the database itself adds to the audit, which they read. By themselves they add to it that they opened personal texts.
grant execute on function storehook.note_opened_texts(text, text, bigint, boolean, text, text)
    to storehook_ops;
grant execute on function storehook.account_status_at(timestamptz) to storehook_ops;
grant update (resolution, resolved_at, resolved_by, resolved_why) on storehook.dead_letters to storehook_ops;
grant execute on function storehook.dead_letter_body(bigint) to storehook_ops;
-- They stop jobs.
grant update (stopped_at, stopped_by, stopped_why) on storehook.jobs to storehook_ops;
-- They add endpoints, and have sent again what was given up.
grant insert on storehook.endpoints, storehook.endpoint_cursors, storehook.endpoint_health to storehook_ops;
grant usage on sequence storehook.endpoint_id to storehook_ops;
grant update (resent_at) on storehook.deliveries to storehook_ops;
grant execute on function storehook.rotate_endpoint(bigint, bytea, double precision, text),
    storehook.note_resent(text, bigint, bigint[], bigint[], timestamptz[]) to storehook_ops;
-- They make keys for the operator's own servers and revoke them; none is deleted.
grant insert on storehook.server_keys to storehook_ops;
grant update (revoked_at, revoked_by) on storehook.server_keys to storehook_ops;
-- They add and remove members of the staff, and make and revoke their tokens.
grant insert on storehook.staff_members, storehook.staff_tokens to storehook_ops;
grant update (role, apps, changed_at, changed_by, removed_at, removed_by) on storehook.staff_members to storehook_ops;
grant update (revoked_at, revoked_by) on storehook.staff_tokens to storehook_ops;
grant insert, update (hash, set_at, set_by) on storehook.staff_passwords to storehook_ops;
-- They close months, and open them again; what was recorded stays.
grant insert on storehook.closed_months, storehook.closed_rows, storehook.closed_cells to storehook_ops;
grant update (reopened_at, reopened_by, reopened_why) on storehook.closed_months to storehook_ops;
-- They import exchange rates, on record. The days that these concern are converted anew.
grant insert, update on storehook.exchange_rates to storehook_ops;
grant insert on storehook.earlier_rates, storehook.rate_imports, storehook.conversion_marks to storehook_ops;
-- They apply commission tables and fiscal calendars, and what was applied stays.
grant insert on storehook.commissions, storehook.fiscal_calendars to storehook_ops;
-- They ask for refunds and decide about them. To erase an account takes out what was written.
grant insert on storehook.staff_refund_requests, storehook.refund_request_texts to storehook_ops;
grant update (state, decider, decided_at, approved, is_whole, reference, elsewhere_amount, elsewhere_at, processed_at,
    acted_by, acted_role, acted_at) on storehook.staff_refund_requests to storehook_ops;
grant update (reason, note, erased_at) on storehook.refund_request_texts to storehook_ops;
-- They write notes about customers, which stay until an erasure empties them.
grant insert on storehook.staff_notes to storehook_ops;
grant execute on function storehook.status_at(timestamptz), storehook.has_access(uuid, text),
    storehook.has_access_of(text, text), storehook.account_token(text), storehook.account_token(text, text),
    storehook.count_outbox_day(date, boolean), storehook.refused_senders(),
    storehook.list_purchased_products(), storehook.order_number(date, integer) to storehook_ops;
grant execute on function storehook.expiring_soon(interval, timestamptz) to storehook_ops;

-- The account API stands where the world can reach it. It knows server keys by their digests and can make none.
grant select on storehook.server_keys to storehook_api;
grant update (last_used_at) on storehook.server_keys to storehook_api;
-- It says up to when its answers hold all that Apple has posted.
grant select on storehook.answer_proof to storehook_api;
-- It records what customers agree to, and holds answers that are about to be sent to Apple. Write budgets pay for it.
grant select on storehook.consent_texts to storehook_api;
grant select, insert, update on storehook.write_budgets to storehook_api;
grant execute on function storehook.spend_write_budget(uuid, bigint) to storehook_api;
grant select, insert on storehook.consumption_consents to storehook_api;
grant select, insert, update on storehook.consumption_tokens to storehook_api;
grant select on storehook.consumption_answers to storehook_api;
grant select, update on storehook.consumption_queue to storehook_api;
-- How far a test notification has come, and why no further. Of several letters the last one counts.
grant select (id, notification_uuid, received_at, reason) on storehook.dead_letters to storehook_api;
-- What an app hands in it verifies as a worker does, stores, and applies at once, in one transaction, because the app waits for the answer. So
-- it has a worker's rights on facts and state, and none on the queue but to put in: it claims, settles and buries nothing, reads no payload
-- back, and plans nothing with Apple.
grant insert on storehook.outbox, storehook.outbox_queue, storehook.outbox_stored to storehook_api;
grant usage on sequence storehook.outbox_id to storehook_api;
grant select, insert on storehook.signature_headers to storehook_api;
grant insert on storehook.duplicates to storehook_api;
grant select, insert on storehook.notifications, storehook.records, storehook.purchase_facts,
    storehook.shared_transactions
    to storehook_api;
grant select, insert, update on storehook.purchase_lines, storehook.transactions, storehook.renewals,
    storehook.subscriptions, storehook.one_time_purchases to storehook_api;
grant delete on storehook.subscriptions, storehook.one_time_purchases to storehook_api;
grant select, insert, delete on storehook.subscription_history, storehook.replaced_renewals, storehook.anomalies
    to storehook_api;
grant select, insert, update on storehook.purchased_products to storehook_api;
grant select, insert on storehook.order_classes to storehook_api;
grant select, insert, update on storehook.booked_orders, storehook.booked_transactions, storehook.booked_refunds,
    storehook.booked_stretches to storehook_api;
grant delete on storehook.booked_transactions, storehook.booked_refunds, storehook.booked_stretches to storehook_api;
grant select, update (state, decider, decided_at, share_before, refunded_before, refunded_before_at, apple_share,
    apple_amount, apple_at, reversed_at, processed_at) on storehook.staff_refund_requests to storehook_api;
-- Whose it is, and what the account is by it, commits with it. Apps begin trials and tell what they saw of attempts to buy; what
-- staff does, and what is sold, it reads.
grant select on storehook.catalogs, storehook.catalog_state, storehook.staff_acts to storehook_api;
grant select, insert on storehook.purchase_bindings, storehook.trials to storehook_api;
grant select, insert, update on storehook.accounts to storehook_api;
-- It keeps what an app calls an account that it gives a token.
grant select, insert on storehook.account_names to storehook_api;
-- It goes by the rule of account ids, and holds it where it writes an id: that needs the right to update a column that cannot change.
grant select, update (only_row) on storehook.account_ids to storehook_api;
grant execute on function storehook.name_account_ids(text) to storehook_api;
grant select, insert, delete on storehook.account_lines to storehook_api;
grant select, insert, update, delete on storehook.account_status, storehook.account_history to storehook_api;
grant insert on storehook.purchase_attempts to storehook_api;
-- What it applies may complete attempts: workers look at them again. What they are about it does not read.
grant select (token, product_id, environment, first_at, last_at, matched_order_id), update (check_at)
    on storehook.booked_attempts to storehook_api;
-- It keeps the names and mail addresses that the operator's servers give accounts.
grant select, insert, update, delete on storehook.account_profiles to storehook_api;
-- What it changes it tells of, in the same transaction.
grant select, insert on storehook.events to storehook_api;
grant usage on sequence storehook.event_id to storehook_api;
grant insert on storehook.events_unplaced to storehook_api;
grant select, insert, update on storehook.purchase_tellings, storehook.access_tellings to storehook_api;
grant execute on function storehook.is_filling(text, text), storehook.history_filled_at(text, text),
    storehook.owed_at(text, text) to storehook_api;
-- It counts what is used.
grant select, insert, update on storehook.usage_counters to storehook_api;
grant select, insert, update, delete on storehook.usage_keys to storehook_api;
grant execute on function storehook.count_usage(
    uuid, text, text, bigint, bigint, text, date, timestamptz, timestamptz, timestamptz, uuid) to storehook_api;
-- It asks Apple about an account's purchases, and leaves to workers what Apple does not answer now.
grant select, insert, update on storehook.refreshes, storehook.refresh_queue to storehook_api;
grant select on storehook.contradictions to storehook_api;
-- Who takes in an old receipt notes that it is kept, and what verifyReceipt said last.
grant select, insert on storehook.kept_receipts to storehook_api;
grant select, insert, update on storehook.unsigned_words to storehook_api;
-- It lists events to the operator's servers.
grant select on storehook.events, storehook.event_places, storehook.event_positions, storehook.event_feed to storehook_api;

-- The console acts for members of the staff after it has checked their tokens: it alone may name a member in the audit. Its own rules decide what
-- each member may do; these grants bound them all. Of Apple's payloads it reads those of dead letters. It reads no secret.
grant select on storehook.staff_members, storehook.staff_tokens to storehook_console;
grant insert on storehook.staff_members, storehook.staff_tokens to storehook_console;
grant update (role, apps, changed_at, changed_by, removed_at, removed_by) on storehook.staff_members to storehook_console;
grant update (revoked_at, revoked_by) on storehook.staff_tokens to storehook_console;
-- Its pages let in members with a password, which commands set, and people that a proxy in front has logged in. A session is its own from
-- beginning to end.
grant select on storehook.staff_passwords, storehook.staff_logins to storehook_console;
grant select, insert, delete on storehook.console_sessions to storehook_console;
grant update (seen_at) on storehook.console_sessions to storehook_console;
grant execute on function storehook.note_proxied_staff(text, text, text[]), storehook.note_proxied_try(text, text)
    to storehook_console;
-- It reads the audit. The database adds its acts; the console itself adds openings of texts, and forbidden tries.
grant select on storehook.audit, storehook.audit_texts to storehook_console;
grant execute on function storehook.note_opened_texts(text, text, bigint, boolean, text, text),
    storehook.note_forbidden_try(bigint, text), storehook.record_forbidden_tries() to storehook_console;
-- It shows accounts and purchases, and why they are so.
grant select on storehook.catalogs, storehook.catalog_state, storehook.trials, storehook.staff_texts,
    storehook.account_names, storehook.subscriptions, storehook.subscription_history, storehook.one_time_purchases,
    storehook.transactions, storehook.renewals to storehook_console;
-- And lists those that lose their access soon.
grant execute on function storehook.expiring_soon(interval, timestamptz) to storehook_console;
-- It records acts and moves, and derives what accounts are by them, in the same transaction, with the events of that.
grant select, insert on storehook.staff_acts, storehook.purchase_bindings to storehook_console;
grant select, insert, update on storehook.purchase_lines to storehook_console;
grant select, insert, update on storehook.accounts, storehook.usage_counters to storehook_console;
grant select, insert, delete on storehook.account_lines to storehook_console;
grant select, insert, update, delete on storehook.account_status, storehook.account_history to storehook_console;
grant select, update (only_row) on storehook.account_ids to storehook_console;
grant execute on function storehook.name_account_ids(text) to storehook_console;
grant select, insert on storehook.events to storehook_console;
grant usage on sequence storehook.event_id to storehook_console;
grant insert on storehook.events_unplaced to storehook_console;
grant select, insert, update on storehook.purchase_tellings, storehook.access_tellings to storehook_console;
grant execute on function storehook.is_filling(text, text), storehook.history_filled_at(text, text),
    storehook.owed_at(text, text) to storehook_console;
-- And notes about customers.
grant select, insert on storehook.staff_notes to storehook_console;
-- It asks for extensions of renewal dates, and gives them up. Workers ask Apple.
grant select, insert, update on storehook.extensions to storehook_console;
grant select, insert, delete on storehook.extension_queue to storehook_console;
grant select on storehook.extension_failures to storehook_console;
-- A purchase that moves may complete an attempt to buy.
grant select (token, product_id, environment, first_at, last_at, matched_order_id), update (check_at)
    on storehook.booked_attempts to storehook_console;
-- It lists orders, and shows what belongs to one.
grant select on storehook.booked_orders, storehook.booked_transactions, storehook.booked_refunds, storehook.order_classes,
    storehook.order_days, storehook.order_transactions, storehook.shared_transactions to storehook_console;
grant select (order_id, matched_order_id) on storehook.booked_attempts to storehook_console;
grant execute on function storehook.order_number(date, integer) to storehook_console;
-- It answers figures, and says how far they are proven.
grant select on storehook.figure_cells, storehook.figure_marks, storehook.figure_sums, storehook.figure_state,
    storehook.figure_plans, storehook.figure_terms, storehook.cohort_cells, storehook.value_cells, storehook.value_sums,
    storehook.booked_stretches, storehook.fiscal_calendars, storehook.reported_restores, storehook.proven_until,
    storehook.closed_months, storehook.closed_cells to storehook_console;
grant select (id, order_id, bundle_id, product_id, first_at, matched_order_id, matched_item)
    on storehook.booked_attempts to storehook_console;
grant select on storehook.exchange_rates, storehook.conversion_marks, storehook.converted_sums,
    storehook.corrected_conversions, storehook.figure_currencies, storehook.currency_sums, storehook.currency_values
    to storehook_console;
-- It notes the currencies of questions.
grant select, insert, update on storehook.asked_currencies to storehook_console;
-- And how many accounts there are.
grant select on storehook.account_counts, storehook.account_count_state, storehook.account_days,
    storehook.account_day_counts, storehook.usage_days to storehook_console;
-- And the renewals and ends that were due without a word from Apple.
grant select on storehook.due_counts, storehook.due_days, storehook.due_unheard, storehook.due_count_state
    to storehook_console;
-- And what Apple asks about refunds.
grant select on storehook.consumption_requests to storehook_console;
-- It applies catalogs, and what was applied stays.
grant insert on storehook.catalogs to storehook_console;
grant update (current_from, product_keys) on storehook.catalogs to storehook_console;
grant update on storehook.catalog_state to storehook_console;
grant select on storehook.purchased_products to storehook_console;
-- It says how the service stands: counts and states, never what Apple sent.
grant select on storehook.queue_depth, storehook.queue_refused, storehook.outbox_days, storehook.old_posts,
    storehook.dead_letters_open, storehook.anomalies, storehook.canary_status, storehook.consumption_status,
    storehook.extensions_open, storehook.telling_status, storehook.unsold_products, storehook.audit_tail
    to storehook_console;
grant execute on function storehook.telling_differences(integer) to storehook_console;
-- It lists endpoints without their secrets, and deliveries.
grant select (id, url, bundle_id, environment, kinds, rate, in_flight, state, reason, created_at, created_by,
    former_ends_at, earlier_ends_at) on storehook.endpoints to storehook_console;
grant select on storehook.endpoint_health, storehook.delivery_glance, storehook.deliveries,
    storehook.deliveries_pending, storehook.delivery_attempts to storehook_console;
grant select (id, attempts, last_reason, due_at) on storehook.delivery_queue to storehook_console;
-- It sends deliveries again, on record, asks workers to test an endpoint, and gives one a new secret without a right to read any.
grant execute on function storehook.note_resent(text, bigint, bigint[], bigint[], timestamptz[]),
    storehook.rotate_endpoint(bigint, bytea, double precision, text) to storehook_console;
grant select, insert on storehook.endpoint_trials to storehook_console;
grant select (endpoint_id, position), update (has_resends) on storehook.endpoint_cursors to storehook_console;
grant insert, update (last_sequence) on storehook.delivery_lanes to storehook_console;
grant insert on storehook.deliveries_pending to storehook_console;
grant update (resent_at) on storehook.deliveries to storehook_console;
-- It shows dead letters, what they say and how each attempt ended, puts them back on the queue or gives them up. Workers carry out what it is asked
-- to do about many, and rehearse what a replay would do.
grant select, update (resolution, resolved_at, resolved_by, resolved_why) on storehook.dead_letters
    to storehook_console;
grant select on storehook.outbox_attempts, storehook.signature_headers to storehook_console;
grant select (id, due_at, attempts, lapses, lease_owner, last_reason), insert on storehook.outbox_queue
    to storehook_console;
grant execute on function storehook.dead_letter_body(bigint) to storehook_console;
grant select, insert on storehook.jobs, storehook.job_items to storehook_console;
grant update (stopped_at, stopped_by, stopped_why) on storehook.jobs to storehook_console;
grant insert on storehook.job_queue to storehook_console;
-- And how the pipeline stands, as workers wrote it down.
grant select on storehook.overview_state, storehook.overview_ring to storehook_console;
-- It looks customers up, also by name and mail address, and keeps what that led to, and the filters that the staff shares.
grant select on storehook.account_profiles to storehook_console;
grant select, insert, delete on storehook.searches, storehook.saved_filters to storehook_console;
-- It shows the story of a purchase, and what a notification in it says.
grant select on storehook.notifications, storehook.records, storehook.purchase_facts to storehook_console;
grant execute on function storehook.notification_body(uuid) to storehook_console;
-- And what a customer agreed to.
grant select on storehook.consumption_consents, storehook.consent_texts to storehook_console;
-- It shows the events about a customer.
grant select on storehook.event_feed, storehook.event_places, storehook.event_positions, storehook.delivery_lanes
    to storehook_console;
-- It asks for refunds and decides about them. For this it locks the transaction in the books, which takes the right to update a column:
-- storehook rebuild derives this one anew.
grant select, insert on storehook.staff_refund_requests, storehook.refund_request_texts to storehook_console;
grant update (state, decider, decided_at, approved, is_whole, reference, elsewhere_amount, elsewhere_at, processed_at,
    acted_by, acted_role, acted_at) on storehook.staff_refund_requests to storehook_console;
grant update (reason, note, erased_at) on storehook.refund_request_texts to storehook_console;
grant update (follows) on storehook.booked_transactions to storehook_console;
-- A decision has what Apple asks about the transaction answered now, and says whether Apple was answered before.
grant select (id, transaction_id, bundle_id, environment, outcome, began_at) on storehook.consumption_answers
    to storehook_console;
grant select (id, lease_token), update (due_at) on storehook.consumption_queue to storehook_console;

-- Monitors count and see states, never what Apple sent. They read views, and of tables what is needed beside them:
-- - when rows came and went, for the rates that `storehook queue` shows;
-- - subscriptions and what belongs to them, because status_at and the views on it compute with the caller's rights.
grant select on storehook.queue_depth, storehook.queue_waiting, storehook.queue_refused, storehook.conservation,
    storehook.dead_letters_open,
    storehook.subscription_status, storehook.entitlements, storehook.contradictions,
    storehook.consumption_requests, storehook.consumption_status, storehook.proven_until, storehook.canary_status,
    storehook.extensions_open, storehook.telling_status, storehook.delivery_status, storehook.delivery_glance, storehook.old_posts,
    storehook.due_counts, storehook.due_days, storehook.due_count_state
    to storehook_monitor;
grant select (received_at) on storehook.outbox to storehook_monitor;
grant select (applied_at) on storehook.notifications, storehook.records to storehook_monitor;
grant select on storehook.subscriptions, storehook.subscription_history to storehook_monitor;
grant select (transaction_id, bundle_id, environment, ownership, offer_type, offer_id, price, currency, storefront,
              app_transaction_id) on storehook.transactions to storehook_monitor;
grant select (original_transaction_id, bundle_id, environment, renewal_price, currency, app_transaction_id)
    on storehook.renewals to storehook_monitor;
grant execute on function storehook.status_at(timestamptz), storehook.has_access(uuid, text),
    storehook.has_access_of(text, text), storehook.account_token(text), storehook.account_token(text, text)
    to storehook_monitor;
-- - accounts, because account_status_at computes with the caller's rights.
grant select on storehook.account_status_now, storehook.account_status, storehook.account_history,
    storehook.catalog_state, storehook.accounts, storehook.account_names, storehook.account_ids,
    storehook.held_purchases, storehook.unsold_products
    to storehook_monitor;
grant execute on function storehook.account_status_at(timestamptz), storehook.expiring_soon(interval, timestamptz)
    to storehook_monitor;
grant execute on function storehook.telling_differences(integer) to storehook_monitor;
-- - what the view conservation counts with, because functions in a view are called with the reader's rights.
grant execute on function storehook.outbox_day_changes(date), storehook.count_outbox_day(date, boolean)
    to storehook_monitor;

-- Tools for reports read orders, payments and refunds, and no accounts. The number of an order is written by a function, and
-- functions in a view are called with the rights of the reader.
grant select on storehook.orders, storehook.order_totals, storehook.order_transactions, storehook.refund_requests,
    storehook.figures_daily, storehook.account_days, storehook.account_day_counts, storehook.usage_days
    to storehook_bi;
grant execute on function storehook.order_number(date, integer) to storehook_bi;

exception
    when undefined_table or undefined_column or undefined_function or undefined_object then
        raise exception 'schema storehook is of another release than this file (%): run storehook migrate of this file''s release, then this again',
            sqlerrm;
end
$rights$;

commit;
