-- compatible-from: 10
-- Which figures a change of an account's purchase concerns depends on its other purchases. Two transactions that change two of them and do not see
-- each other would leave days as they are. Workers lock the account before they book something. What a purchase marks as it becomes an account's,
-- or is one's no more, was worked out before that lock was taken.

-- As workers do it (AccountStore.hold): the missing rows are inserted, and all are locked. What is read after it includes what others committed.
create function storehook.hold_accounts_of(environments text[], bundle_ids text[], purchases text[], tokens uuid[]) returns void language sql
    security definer set search_path = pg_catalog, pg_temp set timezone = 'UTC' set datestyle = 'ISO' set enable_seqscan = off set jit = off
as $$
    insert into storehook.accounts as known (token)
    select t.token
      from (
        select unnest(tokens) as token
        union
        select l.token
          from unnest(environments, bundle_ids, purchases) p (environment, bundle_id, purchase)
         cross join lateral (
            select l.token from storehook.account_lines l
             where (l.original_transaction_id, l.bundle_id, l.environment) = (p.purchase, p.bundle_id, p.environment) offset 0) l) t
     where t.token <> '00000000-0000-0000-0000-000000000000'
     order by t.token
        on conflict (token) do update set account = excluded.account where false
$$;
revoke all on function storehook.hold_accounts_of(text[], text[], text[], uuid[]) from public;

-- As in 0086, but for the lock.
create or replace function storehook.mark_figures_of_accounts() returns trigger language plpgsql security definer
    set search_path = pg_catalog, pg_temp set timezone = 'UTC' set datestyle = 'ISO' set enable_seqscan = off set jit = off
as $$
declare
    ids bigint[];
begin
    select array_agg(o.id) into ids
      from (select distinct environment, bundle_id, original_transaction_id from rows) r
     cross join lateral (
        select o.id from storehook.booked_orders o
         where (o.environment, o.bundle_id, o.order_key) = (r.environment, r.bundle_id, r.original_transaction_id)
           and o.plan_type = 'auto_renewable' offset 0) o;
    if ids is null then return null; end if;
    perform storehook.hold_accounts_of(
        array_agg(environment), array_agg(bundle_id), array_agg(original_transaction_id), array_agg(token)) from rows;
    -- Those of other accounts that have or had the purchases are found by these.
    select array_agg(distinct o.id) into ids
      from (
        select unnest(ids) as id
        union all
        select o.id
          from (
            select distinct token, environment, bundle_id from rows where token <> '00000000-0000-0000-0000-000000000000') r
         cross join lateral (
            select k.original_transaction_id from storehook.account_lines k
             where (k.token, k.environment, k.bundle_id) = (r.token, r.environment, r.bundle_id) offset 0) k
         cross join lateral (
            select o.id from storehook.booked_orders o
             where (o.environment, o.bundle_id, o.order_key) = (r.environment, r.bundle_id, k.original_transaction_id)
               and o.plan_type = 'auto_renewable' offset 0) o) o;
    perform storehook.mark_recurring(
        ids, array_fill('-infinity'::timestamptz, array[cardinality(ids)]), array_fill('infinity'::timestamptz, array[cardinality(ids)]));
    return null;
end
$$;

-- As in 0085, but for the lock. Without payments of the purchase nothing is marked.
create or replace function storehook.mark_figures_of_payers() returns trigger language plpgsql security definer
    set search_path = pg_catalog, pg_temp set timezone = 'UTC' set datestyle = 'ISO' set enable_seqscan = off set jit = off
as $$
begin
    if not exists (
        select from (select distinct environment, bundle_id, original_transaction_id from rows) r
         cross join lateral storehook.purchase_payments(r.environment, r.bundle_id, r.original_transaction_id) p) then
        return null;
    end if;
    perform storehook.hold_accounts_of(
        array_agg(environment), array_agg(bundle_id), array_agg(original_transaction_id), array_agg(token)) from rows;
    -- Grouped and not joined: a join that was planned for few rows would look through all of them for each of many.
    with found as (
        select p.environment, p.bundle_id, p.original_transaction_id, f.token, f.first
          from (select distinct environment, bundle_id, original_transaction_id from rows) p
         cross join lateral (
            select null::uuid as token, min(t.starts_at) as first
              from storehook.purchase_payments(p.environment, p.bundle_id, p.original_transaction_id) t
            union all
            select l.token, null from storehook.account_lines l
             where (l.original_transaction_id, l.bundle_id, l.environment) = (p.original_transaction_id, p.bundle_id, p.environment)
            offset 0) f
        union all
        select environment, bundle_id, original_transaction_id, token, null from rows
    ), paid as (
        -- Each purchase by itself: one that several accounts have may stand before the one that counts.
        select distinct f.token, f.environment, f.bundle_id, f.original_transaction_id, f.first
          from (
            select token, environment, bundle_id, original_transaction_id,
                   max(first) over (partition by environment, bundle_id, original_transaction_id) as first
              from found) f
         where f.first is not null and f.token <> '00000000-0000-0000-0000-000000000000'
    ), firsts as (
        select token, environment, min(first) as first, bool_or(is_changed) as is_changed
          from (
            select token, environment, bundle_id, original_transaction_id, first, true as is_changed from paid
            union all
            select k.token, k.environment, o.bundle_id, o.original_transaction_id, o.starts_at, false
              from (select distinct token, environment from paid) k
             cross join lateral storehook.account_payments(k.token, k.environment) o) p
         group by token, environment, bundle_id, original_transaction_id
    ), compared as (
        select token, environment, is_changed, first,
               min(first) filter (where not is_changed) over (partition by token, environment) as other
          from firsts
    )
    insert into storehook.figure_marks (hour)
    select distinct date_trunc('hour', m.at, 'UTC')
      from compared c
     cross join lateral (
        select i.at from (values (c.first), (c.other)) i (at)
        union all
        select a.known_at from storehook.accounts a where a.token = c.token
        union all
        select t.started_at from storehook.trials t
         where t.token = c.token and c.environment = 'Production' and t.ends_at >= c.first - interval '1440 hours') m
     where c.is_changed and c.first <= coalesce(c.other, 'infinity') and m.at is not null;
    return null;
end
$$;
