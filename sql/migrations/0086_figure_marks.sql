-- compatible-from: 10
-- What marks figures costs less on the way of evidence into the books: it is planned once a session. What is marked stays the same, but for
-- purchases of which nothing is booked yet: these mark nothing any more.

-- As in 0079, in PL/pgSQL: as a function in SQL it was planned anew by each statement that called it, and its joins could read all transactions and
-- refunds for those of a few orders. It marks more than before: days in the zone of fiscal months; the days of all payments of a customer whose first
-- payment may be another one; and the next payment behind a late change. It marked the next period before: a free one hid the payment behind it.
create or replace function storehook.mark_recurring(ids bigint[], firsts timestamptz[], lasts timestamptz[]) returns void language plpgsql
    security definer set search_path = pg_catalog, pg_temp set timezone = 'UTC' set datestyle = 'ISO'
    set plan_cache_mode = force_generic_plan set enable_seqscan = off set jit = off
as $$
begin
    with changed as (
        select c.id, c.first, least(c.last, now() + interval '2 hours') as last
          from unnest(ids, firsts, lasts) c (id, first, last)
    ), related as (
        -- Step by step, each by its index: what was planned while the tables were small holds for the session.
        select c.id, c.first, c.last from changed c
        union
        select s.id, k.first, k.last
          from (
            select distinct l.token, l.environment, l.bundle_id, c.first, c.last
              from changed c
             cross join lateral (
                select o.environment, o.bundle_id, o.order_key
                  from storehook.booked_orders o where o.id = c.id and o.plan_type = 'auto_renewable' offset 0) o
             cross join lateral (
                select l.token, l.environment, l.bundle_id
                  from storehook.account_lines l
                 where (l.original_transaction_id, l.bundle_id, l.environment) = (o.order_key, o.bundle_id, o.environment)
                   and l.token <> '00000000-0000-0000-0000-000000000000' offset 0) l) k
         cross join lateral (
            select a.original_transaction_id
              from storehook.account_lines a
             where (a.token, a.environment, a.bundle_id) = (k.token, k.environment, k.bundle_id) offset 0) a
         cross join lateral (
            select s.id
              from storehook.booked_orders s
             where (s.environment, s.bundle_id, s.order_key) = (k.environment, k.bundle_id, a.original_transaction_id) offset 0) s
    ), held as (
        select r.id, r.first, r.last, h.starts_at, h.ends_at, h.product_id, h.currency, h.price, h.counts
          from related r
         cross join lateral (
            select t.starts_at, coalesce(t.counts_until, t.ends_at) as ends_at, t.product_id, t.currency, t.price,
                   not t.is_void and not t.is_trial as counts
              from storehook.booked_transactions t where t.order_id = r.id
            union all
            select s.starts_at, s.ends_at, t.product_id, t.currency, t.price, not t.is_void and not t.is_trial
              from storehook.booked_stretches s
              left join storehook.booked_transactions t on (t.order_id, t.item) = (s.order_id, s.item)
             where s.order_id = r.id
            offset 0) h
    ), paying as (
        select h.* from held h
         where h.counts and h.price > 0 and h.price <= 1000000000000000 and h.currency is not null and h.starts_at < h.ends_at
    ), begun as (
        -- A price so small that nothing of it is paid a month may be the first one, or not.
        select distinct b.first, b.last, b.starts_at
          from (
            select p.*, min(starts_at) filter (where price >= 1000) over (partition by id, first, last, product_id) as counted_at
              from paying p) b
         where b.starts_at <= coalesce(b.counted_at, 'infinity')
    ), behind as (
        -- The next payment behind the change, for each currency and product. Each currency has a level of its own, and each product may be of another
        -- group.
        select distinct b.starts_at
          from (
            select p.*, min(starts_at) filter (where price >= 1000) over (partition by id, first, last, product_id, currency) as counted_at
              from paying p where p.starts_at > p.last) b
         where b.starts_at <= coalesce(b.counted_at, 'infinity')
    ), cohorts as (
        select b.starts_at
          from begun b
         cross join lateral (
            select (extract(year from i.at) * 12 + extract(month from i.at))::integer as months
              from (values (b.starts_at)) i (at)) began
         cross join lateral (
            select (extract(year from i.at) * 12 + extract(month from i.at))::integer - began.months as months
              from (values (greatest(b.first, b.starts_at))) i (at)) since
         cross join lateral (
            select (extract(year from i.at) * 12 + extract(month from i.at))::integer - began.months as months
              from (values (b.last)) i (at)) until
         cross join (
            select unnest(array[s.zone, s.next_zone, s.fiscal_zone]) as zone from storehook.figure_state s where s.is_only) z
         where z.zone is not null and b.starts_at < b.last and exists (
            select from generate_series(greatest(since.months - 1, 0), least(until.months + 1, 36)) n
             cross join lateral (
                select ((b.starts_at at time zone z.zone)::date + make_interval(months => n))::date + 1 as day) d
             cross join lateral (select d.day::timestamp at time zone z.zone as at) i
             -- Midnight may come twice, and the first one counts.
             where i.at - greatest((i.at - interval '1 microsecond') at time zone z.zone + interval '1 microsecond' - d.day::timestamp,
                                   interval '0') between b.first and b.last)
    ), settled as materialized (
        -- What changes behind the day of the first payment of each order and product leaves these days as they are. No zone's day is longer.
        -- Sorted once: a join could look through all of the one for each of the other.
        select distinct w.id
          from (
            select u.id, u.first, max(u.starts_at) over (partition by u.first, u.last) as begun_at
              from (
                select r.id, r.first, r.last, null::timestamptz as starts_at from related r
                union all
                select null, b.first, b.last, b.starts_at from begun b) u) w
         where w.id is not null and w.first <= coalesce(w.begun_at, 'infinity') + interval '26 hours'
    ), paid as (
        select p.at
          from settled s
         cross join lateral (
            select t.starts_at as at from storehook.booked_transactions t where t.order_id = s.id
            union all
            select f.at from storehook.booked_refunds f where f.order_id = s.id
            offset 0) p
    )
    insert into storehook.figure_marks (hour)
    select distinct date_trunc('hour', m.at, 'UTC')
      from (
        select i.at from held h cross join lateral (values (h.starts_at), (h.ends_at)) i (at) where i.at between h.first and h.last
        union all
        select starts_at from behind
        union all
        select starts_at from cohorts
        union all
        select at from paid) m
     where m.at < now() + interval '2 hours';
end
$$;

-- A purchase that becomes an account's, or is one's no more: all its days are another customer's, and so are those of the account's others.
-- Most become one's before anything of them is booked, and change nothing then.
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

-- As in 0074, 0075 and 0078. An insertion that meets no conflict is an update of nothing: then nothing is planned, and no more is read.
create or replace function storehook.mark_figures_of_transactions() returns trigger language plpgsql security definer
    set search_path = pg_catalog, pg_temp set timezone = 'UTC' set datestyle = 'ISO'
as $$
declare
    ids    bigint[];
    firsts timestamptz[];
    lasts  timestamptz[];
begin
    if tg_op <> 'UPDATE' then
        insert into storehook.figure_marks (hour)
        select distinct date_trunc('hour', m.at, 'UTC') from rows r
         cross join lateral (
            values (r.starts_at), (case when r.heard_at - r.starts_at > interval '24 hours' then r.heard_at end),
                   (case when coalesce(r.counts_until, r.ends_at) < now() + interval '2 hours' then coalesce(r.counts_until, r.ends_at) end)
            union all
            -- A rebuild may find refunds without their transaction.
            select s.at from storehook.booked_refunds b cross join lateral (values (b.at), (b.heard_at)) s (at)
             where (b.order_id, b.item) = (r.order_id, r.item)) m (at)
         where m.at is not null;
        -- What begins in this hour has nothing behind it.
        -- A rebuild may find further times of a period without the period.
        select array_agg(r.order_id), array_agg(least(r.starts_at, s.first)),
               array_agg(greatest(coalesce(r.counts_until, r.ends_at), s.last)) into ids, firsts, lasts
          from rows r
         cross join lateral (
            select min(b.starts_at) as first, max(b.ends_at) as last
              from storehook.booked_stretches b where (b.order_id, b.item) = (r.order_id, r.item) offset 0) s
         where r.ends_at is not null and r.starts_at < date_trunc('hour', now());
    else
        if not exists (select from new_rows) then return null; end if;
        insert into storehook.figure_marks (hour)
        select distinct date_trunc('hour', m.at, 'UTC')
          from old_rows o join new_rows n using (order_id, item)
         cross join lateral (
            select s.at from (values (o.starts_at), (n.starts_at)) s (at)
            union all
            select s.heard_at from (values (o.heard_at, o.starts_at), (n.heard_at, n.starts_at)) s (heard_at, starts_at)
             where s.heard_at - s.starts_at > interval '24 hours'
            union all
            -- A refund counts with the price and the product of its transaction.
            select s.at from storehook.booked_refunds r cross join lateral (values (r.at), (r.heard_at)) s (at)
             where (r.order_id, r.item) = (n.order_id, n.item)) m
         where (o.starts_at, o.heard_at, o.price, o.currency, o.storefront, o.product_id, o.is_void, o.refunded, o.revoked_share)
               is distinct from
               (n.starts_at, n.heard_at, n.price, n.currency, n.storefront, n.product_id, n.is_void, n.refunded, n.revoked_share);
        -- Further times of a period count with its price.
        select array_agg(n.order_id), array_agg(least(o.starts_at, n.starts_at, s.first)),
               array_agg(greatest(o.counts_until, n.counts_until, o.ends_at, n.ends_at, s.last)) into ids, firsts, lasts
          from old_rows o join new_rows n using (order_id, item)
         cross join lateral (
            select min(b.starts_at) as first, max(b.ends_at) as last
              from storehook.booked_stretches b where (b.order_id, b.item) = (n.order_id, n.item) offset 0) s
         where coalesce(o.ends_at, n.ends_at) is not null
           and (o.starts_at, o.ends_at, o.counts_until, o.end_reason, o.billed_quarters, o.first_ends_at, o.is_trial, o.is_void, o.price,
                o.currency, o.storefront, o.product_id)
               is distinct from
               (n.starts_at, n.ends_at, n.counts_until, n.end_reason, n.billed_quarters, n.first_ends_at, n.is_trial, n.is_void, n.price,
                n.currency, n.storefront, n.product_id);
        if ids is not null then
            -- The ends of before are in the books no more.
            insert into storehook.figure_marks (hour)
            select distinct date_trunc('hour', m.at, 'UTC')
              from (
                select e.at from old_rows o join new_rows n using (order_id, item)
                 cross join lateral (values (coalesce(o.counts_until, o.ends_at)), (coalesce(n.counts_until, n.ends_at))) e (at)
                 where (o.ends_at, o.counts_until, o.end_reason, o.billed_quarters, o.first_ends_at, o.is_trial, o.is_void, o.price,
                        o.currency, o.storefront, o.product_id)
                       is distinct from
                       (n.ends_at, n.counts_until, n.end_reason, n.billed_quarters, n.first_ends_at, n.is_trial, n.is_void, n.price,
                        n.currency, n.storefront, n.product_id)) m
             where m.at < now() + interval '2 hours';
        end if;
    end if;
    if ids is not null then perform storehook.mark_recurring(ids, firsts, lasts); end if;
    return null;
end
$$;

create or replace function storehook.mark_figures_of_trials() returns trigger language plpgsql security definer
    set search_path = pg_catalog, pg_temp set timezone = 'UTC' set datestyle = 'ISO'
as $$
begin
    if tg_op <> 'UPDATE' then
        insert into storehook.figure_marks (hour)
        select distinct date_trunc('hour', t.starts_at, 'UTC')
          from rows r
         cross join lateral (
            -- Renewals of later are read of no trial.
            select t.starts_at from storehook.booked_transactions t
             where t.order_id = r.order_id and t.is_trial and t.ends_at >= r.starts_at - interval '1440 hours'
            offset 0) t
         where not r.is_trial and not r.is_void and r.price is distinct from 0;
    else
        if not exists (select from new_rows) then return null; end if;
        insert into storehook.figure_marks (hour)
        select distinct date_trunc('hour', m.at, 'UTC')
          from old_rows o join new_rows n using (order_id, item)
         cross join lateral (
            select s.at from (values (o.starts_at), (n.starts_at)) s (at)
             where (o.is_trial or n.is_trial)
               and (o.is_trial, o.ends_at, o.is_renewal_off, o.part_of) is distinct from (n.is_trial, n.ends_at, n.is_renewal_off, n.part_of)
            union all
            select t.starts_at from storehook.booked_transactions t
             where t.order_id = n.order_id and t.is_trial
               and t.ends_at >= least(o.starts_at, n.starts_at) - interval '1440 hours'
               and (o.starts_at, o.is_trial, o.is_void, o.price is distinct from 0, o.revoked_share is distinct from 0)
                   is distinct from
                   (n.starts_at, n.is_trial, n.is_void, n.price is distinct from 0, n.revoked_share is distinct from 0)
            offset 0) m;
    end if;
    return null;
end
$$;

create or replace function storehook.mark_figures_of_service() returns trigger language plpgsql security definer
    set search_path = pg_catalog, pg_temp set timezone = 'UTC' set datestyle = 'ISO'
as $$
declare
    ids    bigint[];
    firsts timestamptz[];
begin
    if tg_op <> 'UPDATE' then
        -- What begins in this hour has nothing behind it.
        select array_agg(r.order_id), array_agg(r.starts_at) into ids, firsts
          from (
            select order_id, min(starts_at) as starts_at from rows
             where ends_at is not null and starts_at < date_trunc('hour', now()) and not is_void
               and revoked_share is distinct from 100000
             group by order_id) r;
    else
        if not exists (select from new_rows) then return null; end if;
        -- A part that is added to a period counts from when that began, and is looked at itself.
        select array_agg(c.order_id), array_agg(c.starts_at) into ids, firsts
          from (
            select n.order_id,
                   min(least(o.starts_at, n.starts_at) - case when o.part_of is distinct from n.part_of then interval '1 microsecond'
                                                              else interval '0' end) as starts_at
              from old_rows o join new_rows n using (order_id, item)
             where coalesce(o.ends_at, n.ends_at) is not null and least(o.starts_at, n.starts_at) < date_trunc('hour', now())
               and (o.starts_at, o.ends_at, o.first_ends_at, o.billed_quarters, o.product_id, o.part_of,
                    o.is_trial or o.price is not distinct from 0, o.is_void or o.revoked_share is not distinct from 100000)
                   is distinct from
                   (n.starts_at, n.ends_at, n.first_ends_at, n.billed_quarters, n.product_id, n.part_of,
                    n.is_trial or n.price is not distinct from 0, n.is_void or n.revoked_share is not distinct from 100000)
             group by n.order_id) c;
    end if;
    if ids is null then return null; end if;
    insert into storehook.figure_marks (hour)
    select distinct date_trunc('hour', m.at, 'UTC')
      from unnest(ids, firsts) c (id, starts_at)
     cross join lateral (
        select t.item, t.starts_at from storehook.booked_transactions t
         where t.order_id = c.id and t.starts_at > c.starts_at and not t.is_void and t.price is distinct from 0 offset 0) t
     cross join lateral (
        select t.starts_at as at
        union all
        select b.at from storehook.booked_refunds b where (b.order_id, b.item) = (c.id, t.item) and b.type <> 'revoke') m;
    return null;
end
$$;

-- The planner takes a function for a thousand rows. This one gives an app or a few, in two environments; by the higher estimate PostgreSQL
-- compiled statements to machine code that read a few rows.
alter function storehook.filled_apps() rows 4;
