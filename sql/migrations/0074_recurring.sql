-- compatible-from: 10
-- Recurring revenue: how long each period counts for it, and why nothing follows; and the figures that are made of it. Releases before leave
-- the columns as they are; the walk through the books fills them.

-- Rows of releases before have null: the latest record of their transaction says the same.
alter table storehook.purchase_facts
    add column up_front_period text,
    add column billing_plan text;
comment on column storehook.purchase_facts.up_front_period is
    'the length of an offer that is paid up front, an ISO 8601 duration (offerPeriod)';
comment on column storehook.purchase_facts.billing_plan is 'how it is billed, in Apple''s word (billingPlanType)';

alter table storehook.booked_transactions
    add column counts_until    timestamptz,
    add column end_reason      text collate "C"
        constraint booked_transactions_end_reason_check check (end_reason in ('voluntary', 'billing', 'other')),
    add column billed_quarters smallint
        constraint booked_transactions_billed_quarters_check check (billed_quarters > 0),
    add column first_ends_at   timestamptz,
    add column is_renewal_off  boolean
        constraint booked_transactions_is_renewal_off_check check (is_renewal_off),
    add column part_of         text collate "C";
comment on column storehook.booked_transactions.counts_until is
    'from when on it counts no more for recurring revenue: an upgrade, a full refund, the end of grace; null where that is ends_at';
comment on column storehook.booked_transactions.end_reason is
    'why nothing follows it, by what Apple said first of its end; null where it said nothing, or something follows';
comment on column storehook.booked_transactions.billed_quarters is
    'for how many quarters of a month its payment lasts, where Apple signs that: an offer paid up front, a plan billed by the month; null where the period of the product counts';
comment on column storehook.booked_transactions.first_ends_at is 'the end that Apple signed first, where it moved it since';
comment on column storehook.booked_transactions.is_renewal_off is 'whether auto-renew was off when the trial ended; null where it was not';
comment on column storehook.booked_transactions.part_of is
    'the item of the first of the parts of one period, as added seats; null where it is whole';

create table storehook.booked_stretches (
    order_id   bigint not null,
    item       text collate "C" not null,
    place      smallint not null,
    starts_at  timestamptz not null,
    ends_at    timestamptz not null,
    end_reason text collate "C" check (end_reason in ('voluntary', 'billing', 'other')),
    primary key (order_id, item, place)
);
comment on table storehook.booked_stretches is
    'further times in which a transaction counts: grace that follows billing retry, or from where a full refund was taken back';
comment on column storehook.booked_stretches.place is 'its place among those of the transaction, from 0 on';
comment on column storehook.booked_stretches.end_reason is 'as in booked_transactions';

-- The walk has a name of its own: releases before would finish it without these columns.
alter table storehook.order_clock drop constraint order_clock_task_check;
delete from storehook.order_clock where task = 'walk';
alter table storehook.order_clock add constraint order_clock_task_check check (task in ('number', 'rebook', 'attempts'));
insert into storehook.order_clock (task, finished_at)
values ('rebook', case when not exists (select from storehook.purchase_lines) then now() end);
comment on table storehook.order_clock is
    'what one worker at a time does with orders; of rebook the last purchase that is booked with all that is kept of it now, where the next goes on';

-- As in 0065: who books also books these.
do $$
declare
    writer name;
begin
    for writer in
        select r.rolname
          from pg_class c cross join lateral aclexplode(c.relacl) a join pg_roles r on r.oid = a.grantee
         where c.oid = 'storehook.booked_refunds'::regclass and a.privilege_type = 'INSERT' and a.grantee <> c.relowner
    loop
        execute format('grant select, insert, update, delete on storehook.booked_stretches to %I', writer);
    end loop;
    for writer in
        select r.rolname
          from pg_class c cross join lateral aclexplode(c.relacl) a join pg_roles r on r.oid = a.grantee
         where c.oid = 'storehook.order_clock'::regclass and a.privilege_type = 'UPDATE' and a.grantee <> c.relowner
    loop
        execute format('grant update (billing_plan, up_front_period) on storehook.purchase_facts to %I', writer);
    end loop;
end
$$;

-- Figures of recurring revenue. A period enters the revenue at its beginning and leaves it at its end; what a customer pays changes on the
-- days on which periods do.
create index booked_transactions_until on storehook.booked_transactions (coalesce(counts_until, ends_at))
    where coalesce(counts_until, ends_at) is not null;
create index booked_stretches_started on storehook.booked_stretches (starts_at);
create index booked_stretches_ended on storehook.booked_stretches (ends_at);

create table storehook.figure_plans (
    bundle_id  text collate "C" not null,
    product_id text collate "C" not null,
    quarters   smallint not null check (quarters > 0),
    group_id   text collate "C" not null,
    primary key (bundle_id, product_id)
);
comment on table storehook.figure_plans is 'what the catalog that figures are summed by says of subscriptions';
comment on column storehook.figure_plans.quarters is 'how long a payment lasts, in quarters of a month: 1 of a week, 4 of a month, 48 of a year';
comment on column storehook.figure_plans.group_id is 'the subscription group; empty of those that name none, which are one group';

alter table storehook.figure_state add column turned_until timestamptz;
comment on column storehook.figure_state.turned_until is
    'periods that begin or end after this do not count yet for recurring revenue; null before the first were summed';

alter table storehook.figure_cells drop constraint figure_cells_measure_check;
alter table storehook.figure_cells add constraint figure_cells_measure_check check (measure in
    ('order', 'sale', 'refunded_sale', 'refund', 'reversal', 'late_sale', 'late_refund', 'late_reversal', 'enter', 'leave',
     'new', 'reactivation', 'expansion', 'contraction', 'churn_voluntary', 'churn_billing', 'churn_other', 'customer_new',
     'customer_back', 'customer_back_soon', 'customer_lost_voluntary', 'customer_lost_billing', 'customer_lost_other'));
comment on column storehook.figure_cells.measure is
    'order: by the day in its number. sale: by purchaseDate; refunded_sale: those of it that are refunded, by the same day. refund and reversal: by their own date. late_…: by the day on which they were heard of, where their own had ended more than 24 hours before. enter and leave: periods that begin and end to count for recurring revenue, with the price a month. new to churn_…: those of them by which what a customer pays a month is another one at the end of the day than at the end of the day before. customer_…: customers who began, came back (soon: in the month in which they stopped) or stopped to pay';

-- What changes on a day depends on what the customer paid the day before: where periods change after the fact, the days are marked on which
-- others of the same customer begin or end meanwhile, and the next one on which one begins. The customer is the account where a purchase has
-- a single one, and otherwise the purchase.
create function storehook.mark_recurring(ids bigint[], firsts timestamptz[], lasts timestamptz[]) returns void language sql security definer
    set search_path = pg_catalog, pg_temp set timezone = 'UTC' set datestyle = 'ISO'
as $$
    with changed as (
        select c.id, c.first, least(c.last, now() + interval '2 hours') as last
          from unnest(ids, firsts, lasts) c (id, first, last)
    ), related as (
        select c.id, c.first, c.last from changed c
        union
        select s.id, c.first, c.last
          from changed c
          join storehook.booked_orders o on o.id = c.id and o.plan_type = 'auto_renewable'
          join storehook.account_lines l
            on (l.original_transaction_id, l.bundle_id, l.environment) = (o.order_key, o.bundle_id, o.environment)
          join storehook.account_lines k on (k.token, k.environment, k.bundle_id) = (l.token, l.environment, l.bundle_id)
          join storehook.booked_orders s
            on (s.environment, s.bundle_id, s.order_key) = (k.environment, k.bundle_id, k.original_transaction_id)
         where l.token <> '00000000-0000-0000-0000-000000000000'
    ), held as (
        select r.id, r.first, r.last, t.starts_at, coalesce(t.counts_until, t.ends_at) as ends_at
          from related r join storehook.booked_transactions t on t.order_id = r.id
        union all
        select r.id, r.first, r.last, s.starts_at, s.ends_at
          from related r join storehook.booked_stretches s on s.order_id = r.id
    )
    insert into storehook.figure_marks (hour)
    select distinct date_trunc('hour', m.at, 'UTC')
      from (
        select i.at from held h cross join lateral (values (h.starts_at), (h.ends_at)) i (at) where i.at between h.first and h.last
        union all
        select min(h.starts_at) filter (where h.starts_at > h.last) from held h group by h.id, h.first, h.last) m
     where m.at < now() + interval '2 hours'
$$;
revoke all on function storehook.mark_recurring(bigint[], timestamptz[], timestamptz[]) from public;

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
        select array_agg(r.order_id), array_agg(r.starts_at), array_agg(coalesce(r.counts_until, r.ends_at)) into ids, firsts, lasts
          from rows r where r.ends_at is not null and r.starts_at < date_trunc('hour', now());
    else
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
        select array_agg(n.order_id), array_agg(least(o.starts_at, n.starts_at)),
               array_agg(greatest(o.counts_until, n.counts_until, o.ends_at, n.ends_at)) into ids, firsts, lasts
          from old_rows o join new_rows n using (order_id, item)
         where coalesce(o.ends_at, n.ends_at) is not null
           and (o.starts_at, o.ends_at, o.counts_until, o.end_reason, o.billed_quarters, o.first_ends_at, o.is_trial, o.is_void, o.price,
                o.currency, o.storefront, o.product_id)
               is distinct from
               (n.starts_at, n.ends_at, n.counts_until, n.end_reason, n.billed_quarters, n.first_ends_at, n.is_trial, n.is_void, n.price,
                n.currency, n.storefront, n.product_id);
        if ids is not null then
            -- The ends of before are in the books no more, and further times of it count with its price.
            insert into storehook.figure_marks (hour)
            select distinct date_trunc('hour', m.at, 'UTC')
              from (
                select e.at from old_rows o join new_rows n using (order_id, item)
                 cross join lateral (values (coalesce(o.counts_until, o.ends_at)), (coalesce(n.counts_until, n.ends_at))) e (at)
                 where (o.ends_at, o.counts_until, o.end_reason, o.billed_quarters, o.first_ends_at, o.is_trial, o.is_void, o.price,
                        o.currency, o.storefront, o.product_id)
                       is distinct from
                       (n.ends_at, n.counts_until, n.end_reason, n.billed_quarters, n.first_ends_at, n.is_trial, n.is_void, n.price,
                        n.currency, n.storefront, n.product_id)
                union all
                select e.at from new_rows n join storehook.booked_stretches s using (order_id, item)
                 cross join lateral (values (s.starts_at), (s.ends_at)) e (at)) m
             where m.at < now() + interval '2 hours';
        end if;
    end if;
    if ids is not null then perform storehook.mark_recurring(ids, firsts, lasts); end if;
    return null;
end
$$;

create function storehook.mark_figures_of_stretches() returns trigger language plpgsql security definer
    set search_path = pg_catalog, pg_temp set timezone = 'UTC' set datestyle = 'ISO'
as $$
declare
    ids    bigint[];
    firsts timestamptz[];
    lasts  timestamptz[];
begin
    if tg_op <> 'UPDATE' then
        select array_agg(r.order_id), array_agg(r.starts_at), array_agg(r.ends_at) into ids, firsts, lasts from rows r;
    else
        select array_agg(n.order_id), array_agg(least(o.starts_at, n.starts_at)), array_agg(greatest(o.ends_at, n.ends_at))
          into ids, firsts, lasts
          from old_rows o join new_rows n using (order_id, item, place)
         where (o.starts_at, o.ends_at, o.end_reason) is distinct from (n.starts_at, n.ends_at, n.end_reason);
    end if;
    if ids is null then return null; end if;
    insert into storehook.figure_marks (hour)
    select distinct date_trunc('hour', m.at, 'UTC') from (select unnest(firsts) union all select unnest(lasts)) m (at)
     where m.at < now() + interval '2 hours';
    if tg_op = 'UPDATE' then
        insert into storehook.figure_marks (hour)
        select distinct date_trunc('hour', m.at, 'UTC') from old_rows o cross join lateral (values (o.starts_at), (o.ends_at)) m (at)
         where m.at < now() + interval '2 hours';
    end if;
    perform storehook.mark_recurring(ids, firsts, lasts);
    return null;
end
$$;
revoke all on function storehook.mark_figures_of_stretches() from public;
create trigger figures_of_new after insert on storehook.booked_stretches
    referencing new table as rows for each statement execute function storehook.mark_figures_of_stretches();
create trigger figures_of_changed after update on storehook.booked_stretches
    referencing old table as old_rows new table as new_rows for each statement
    execute function storehook.mark_figures_of_stretches();
create trigger figures_of_gone after delete on storehook.booked_stretches
    referencing old table as rows for each statement execute function storehook.mark_figures_of_stretches();

-- A purchase that becomes an account's, or is one's no more: all its days are another customer's.
create function storehook.mark_figures_of_accounts() returns trigger language plpgsql security definer
    set search_path = pg_catalog, pg_temp set timezone = 'UTC' set datestyle = 'ISO'
as $$
declare
    ids bigint[];
begin
    select array_agg(distinct o.id) into ids
      from (
        select k.* from rows r
          join storehook.account_lines k on (k.token, k.environment, k.bundle_id) = (r.token, r.environment, r.bundle_id)
        union
        select r.* from rows r
        union
        select k.* from rows r
          join storehook.account_lines k
            on (k.original_transaction_id, k.bundle_id, k.environment) = (r.original_transaction_id, r.bundle_id, r.environment)) k
      join storehook.booked_orders o on (o.environment, o.bundle_id, o.order_key) = (k.environment, k.bundle_id, k.original_transaction_id)
     where o.plan_type = 'auto_renewable';
    if ids is null then return null; end if;
    perform storehook.mark_recurring(
        ids, array_fill('-infinity'::timestamptz, array[cardinality(ids)]), array_fill('infinity'::timestamptz, array[cardinality(ids)]));
    return null;
end
$$;
revoke all on function storehook.mark_figures_of_accounts() from public;
create trigger figures_of_new after insert on storehook.account_lines
    referencing new table as rows for each statement execute function storehook.mark_figures_of_accounts();
create trigger figures_of_gone after delete on storehook.account_lines
    referencing old table as rows for each statement execute function storehook.mark_figures_of_accounts();

create or replace view storehook.figures_daily as
select f.figure, c.environment, c.day, c.zone, c.bundle_id, nullif(c.product_id, '') as product_id,
       nullif(c.storefront, '') as storefront, nullif(c.currency, '') as currency, sum(c.count * f.sign)::bigint as count,
       sum(c.unit::numeric * c.count * f.sign) as amount,
       not exists (
           select from storehook.figure_marks m
            where m.day = c.day
               or (m.hour at time zone c.zone)::date = c.day
               or ((m.hour + interval '59 minutes 59.999999 seconds') at time zone c.zone)::date = c.day) as up_to_date
  from storehook.figure_state s
  join storehook.figure_cells c on c.zone = coalesce(s.zone, s.next_zone)
  join (values ('orders', 'order', 1), ('transactions', 'sale', 1), ('gross', 'sale', 1), ('refunded', 'refund', 1),
               ('refunded', 'reversal', -1), ('net', 'sale', 1), ('net', 'refund', -1), ('net', 'reversal', 1),
               ('heard_late', 'late_sale', 1), ('heard_late', 'late_refund', -1), ('heard_late', 'late_reversal', 1),
               ('mrr_change', 'enter', 1), ('mrr_change', 'leave', -1), ('active_change', 'customer_new', 1),
               ('active_change', 'customer_back', 1), ('active_change', 'customer_lost_voluntary', -1),
               ('active_change', 'customer_lost_billing', -1), ('active_change', 'customer_lost_other', -1))
       as f (figure, measure, sign) on f.measure = c.measure
 group by f.figure, c.environment, c.day, c.zone, c.bundle_id, c.product_id, c.storefront, c.currency;

-- What is booked already is summed with these, as in a new zone: workers of this release begin anew where nothing was turned.
do $$
declare
    summer name;
begin
    for summer in
        select r.rolname
          from pg_class c cross join lateral aclexplode(c.relacl) a join pg_roles r on r.oid = a.grantee
         where c.oid = 'storehook.figure_cells'::regclass and a.privilege_type = 'INSERT' and a.grantee <> c.relowner
    loop
        execute format('grant select, insert, delete on storehook.figure_plans to %I', summer);
        execute format('grant insert on storehook.figure_marks to %I', summer);
    end loop;
    for summer in
        select r.rolname
          from pg_class c cross join lateral aclexplode(c.relacl) a join pg_roles r on r.oid = a.grantee
         where c.oid = 'storehook.figure_cells'::regclass and a.privilege_type = 'SELECT' and a.grantee <> c.relowner
    loop
        execute format('grant select on storehook.figure_plans, storehook.booked_stretches to %I', summer);
    end loop;
end
$$;
