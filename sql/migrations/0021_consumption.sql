-- compatible-from: 10
-- Apple's requests for consumption data: the customers' consents, and what became of each request.

-- What customers have agreed to, and what they took back: rows are added and never changed. The last one of a token counts.
create table storehook.consumption_consents (
    id                bigint      primary key generated always as identity,
    account           text        not null check (length(account) between 1 and 1000),
    app_account_token uuid        not null,
    granted           boolean     not null,
    text              text        check (length(text) between 1 and 10000),
    recorded_at       timestamptz not null default clock_timestamp(),
    recorded_by       text        not null check (length(recorded_by) <= 200),
    check (text is not null or not granted)
);
comment on table storehook.consumption_consents is
    'whether a customer agrees that Apple is told about use, for refund requests: append-only, the last row of a token counts';
comment on column storehook.consumption_consents.account is 'what the app''s own tokens call the customer';
comment on column storehook.consumption_consents.text is 'what the customer was shown';
create index consumption_consents_by_token on storehook.consumption_consents (app_account_token, id desc);

-- Whoever records a consent and whoever is about to tell Apple under one hold its token's row: one of both comes first. No advisory
-- lock, because any login may hold one, whatever its rights.
create table storehook.consumption_tokens (
    app_account_token uuid primary key
);
comment on table storehook.consumption_tokens is
    'rows that are locked, so that consents and answers of one token come one after the other';

-- One row for each CONSUMPTION_REQUEST, made by a worker's duty from notifications, beside the work on them.
create table storehook.consumption_answers (
    id                bigint      primary key generated always as identity,
    notification_uuid uuid        not null unique,
    environment       text        collate "C" not null,
    bundle_id         text        collate "C" not null,
    transaction_id    text        collate "C",
    reason            text,
    signed_at         timestamptz not null,
    deadline          timestamptz not null,
    noted_at          timestamptz not null default now(),
    -- Why it is not answered, so far or at all.
    why               text        check (why ~ '^[a-z0-9_]{1,100}$'),
    -- What is or was sent, recorded before Apple is asked. Taken back where Apple certainly has not taken it.
    began_at          timestamptz,
    answer            jsonb,
    rule              text        check (length(rule) <= 200),
    consent_id        bigint      references storehook.consumption_consents,
    sent_by           text        check (length(sent_by) <= 200),
    settled_at        timestamptz,
    outcome           text        check (outcome in ('answered', 'late', 'refused', 'not_answered', 'unknown')),
    check ((settled_at is null) = (outcome is null)),
    check ((began_at is null) = (answer is null)),
    -- Never without consent: the customer's own, or the word of who sends it by hand.
    check (began_at is null or consent_id is not null or sent_by is not null),
    check (outcome not in ('answered', 'refused', 'unknown') or began_at is not null),
    check (outcome is distinct from 'not_answered' or began_at is null)
) with (fillfactor = 80);
comment on table storehook.consumption_answers is 'Apple''s requests for consumption data, and what became of each';
comment on column storehook.consumption_answers.deadline is 'twelve hours after Apple signed it';
comment on column storehook.consumption_answers.why is
    'why it is not answered so far, or was not; of one that is refused, Apple''s code';
comment on column storehook.consumption_answers.began_at is 'right before Apple was told, after the consent was read once more';
comment on column storehook.consumption_answers.answer is
    'what Apple was told, the consent beside; before: what it was told first, where it was told again by hand';
comment on column storehook.consumption_answers.rule is 'the number and name of the policy''s rule';
comment on column storehook.consumption_answers.sent_by is 'who sent it by hand';
comment on column storehook.consumption_answers.outcome is
    'answered in time; late: it could have been, and was not; refused by Apple; not_answered, by choice or without consent; unknown: Apple may have it';
-- One answer a transaction, however often Apple asks.
create unique index consumption_answers_once on storehook.consumption_answers (transaction_id, bundle_id, environment)
    where began_at is not null and outcome is distinct from 'refused';
create index consumption_answers_open on storehook.consumption_answers (deadline) where outcome is null;
create index consumption_answers_troubled on storehook.consumption_answers (settled_at)
    where outcome in ('late', 'refused', 'unknown');

-- Which of them are to be looked at, when, and by whom: see the queue's own comments at outbox_queue. received_at is when Apple
-- signed the request, and of those that are due the first goes first.
create table storehook.consumption_queue (
    id           bigint      primary key references storehook.consumption_answers on delete cascade,
    received_at  timestamptz not null,
    due_at       timestamptz not null,
    attempts     smallint    not null default 0 check (attempts >= 0),
    lapses       smallint    not null default 0 check (lapses >= 0),
    lease_owner  text        check (length(lease_owner) <= 200),
    lease_token  uuid,
    last_reason  text        check (length(last_reason) <= 100),
    check ((lease_owner is null) = (lease_token is null))
) with (fillfactor = 70);
create index consumption_queue_due on storehook.consumption_queue (due_at, id);

create or replace view storehook.consumption_requests as
select n.environment, n.bundle_id, n.original_transaction_id, n.transaction_id, n.notification_uuid,
       n.consumption_request_reason as reason, n.signed_at, n.signed_at + interval '12 hours' as deadline,
       t.product_id, t.app_account_token,
       case when a.outcome is not null then a.outcome
            when a.began_at is not null then 'sending'
            else 'open' end as state,
       a.why, c.granted as consent, a.answer, a.rule, a.began_at as sent_at, a.settled_at, a.sent_by
  from storehook.notifications n
  left join storehook.transactions t
       on t.transaction_id = n.transaction_id and t.bundle_id = n.bundle_id and t.environment = n.environment
  left join storehook.consumption_answers a on a.notification_uuid = n.notification_uuid
  left join lateral (
        select c.granted from storehook.consumption_consents c
         where c.app_account_token = t.app_account_token
         order by c.id desc
         limit 1
       ) c on true
 where n.type = 'CONSUMPTION_REQUEST';
comment on column storehook.consumption_requests.state is
    'open, sending, or what it came to: answered, late, refused, not_answered, unknown';
comment on column storehook.consumption_requests.consent is
    'whether the customer consents now; null where nothing was ever recorded, or the purchase names no account';

-- Of each app and environment: what is open, of that what has a consent and a rule and so is to be answered, and what went
-- wrong within a day.
create view storehook.consumption_status as
select a.environment,
       a.bundle_id,
       count(*) filter (where a.outcome is null)                as open,
       count(*) filter (where w.is_wanted)                      as wanted,
       min(a.deadline) filter (where w.is_wanted)               as first_deadline,
       min(a.why) filter (where w.is_wanted and a.why is not null) as why,
       count(*) filter (where a.outcome = 'late')               as late,
       count(*) filter (where a.outcome = 'refused')            as refused,
       count(*) filter (where a.outcome = 'unknown')            as unknown
  from storehook.consumption_answers a
 cross join lateral (
        select a.outcome is null and coalesce(a.why, '') not in
                   ('no_policy', 'no_rule', 'no_transaction', 'left_to_apple', 'not_purchased')
               and coalesce((
                   select c.granted
                     from storehook.consumption_consents c
                    where c.app_account_token = (
                          select t.app_account_token
                            from storehook.transactions t
                           where t.transaction_id = a.transaction_id and t.bundle_id = a.bundle_id
                             and t.environment = a.environment)
                    order by c.id desc
                    limit 1), false) as is_wanted
       ) w
 where a.outcome is null
    or (a.outcome in ('late', 'refused', 'unknown') and a.settled_at > now() - interval '1 day')
 group by a.environment, a.bundle_id;
comment on view storehook.consumption_status is
    'of each app and environment: open requests for consumption data, those to be answered, and what went wrong within a day';
