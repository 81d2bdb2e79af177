-- compatible-from: 10
-- Tokens that are none, and posts of another version.

-- The nil UUID as an appAccountToken is none: client libraries write it where the app set none. What earlier releases have stored of it
-- stays as it is until it is derived anew, and counts as no account wherever it is read.

create or replace view storehook.consumption_requests as
select n.environment, n.bundle_id, n.original_transaction_id, n.transaction_id, n.notification_uuid,
       n.consumption_request_reason as reason, n.signed_at, n.signed_at + interval '12 hours' as deadline,
       t.product_id,
       nullif(t.app_account_token, '00000000-0000-0000-0000-000000000000') as app_account_token,
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
         where c.app_account_token = nullif(t.app_account_token, '00000000-0000-0000-0000-000000000000')
         order by c.id desc
         limit 1
       ) c on true
 where n.type = 'CONSUMPTION_REQUEST';

create or replace view storehook.consumption_status as
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
                          select nullif(t.app_account_token, '00000000-0000-0000-0000-000000000000')
                            from storehook.transactions t
                           where t.transaction_id = a.transaction_id and t.bundle_id = a.bundle_id
                             and t.environment = a.environment)
                    order by c.id desc
                    limit 1), false) as is_wanted
       ) w
 where a.outcome is null
    or (a.outcome in ('late', 'refused', 'unknown') and a.settled_at > now() - interval '1 day')
 group by a.environment, a.bundle_id;

-- An account of this name had the purchases of everybody whose app sets no token. Nobody may be called so any more.
delete from storehook.account_status where token = '00000000-0000-0000-0000-000000000000';
delete from storehook.accounts where token = '00000000-0000-0000-0000-000000000000';

-- Notifications of version 1 are refused and kept nowhere. When somebody last posted one is noted, for where App Store Connect is set to
-- version 1 nothing else tells of it.
create table storehook.old_posts (
    one     boolean     primary key default true check (one),
    seen_at timestamptz not null
);
comment on table storehook.old_posts is
    'when somebody last posted a notification of version 1, to the minute; of what was posted nothing is kept';

-- The receiver may do this and read nothing.
create function storehook.note_old_post() returns void
    language sql security definer
    set search_path = pg_catalog, pg_temp
    set timezone = 'UTC'
    set datestyle = 'ISO'
    as $$
    insert into storehook.old_posts as known (seen_at) values (clock_timestamp())
        on conflict (one) do update set seen_at = excluded.seen_at
     where known.seen_at < excluded.seen_at - interval '30 seconds'
$$;
