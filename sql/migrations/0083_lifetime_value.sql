-- compatible-from: 10
-- Lifetime value: what customers paid until so many months after their first payment. Money counts on its own day, with the day of its
-- customer's first payment and how many months later it was paid: so what is paid today changes today alone. And how many accounts there are
-- that could pay for the first time, and those that did.

create table storehook.value_cells (
    zone        text     collate "C" not null,
    day         date     not null,
    environment text     collate "C" not null,
    bundle_id   text     collate "C" not null,
    cohort      date     not null,
    months      smallint not null check (months between 0 and 36),
    currency    text     collate "C" not null,
    rate_day    date     not null,
    unit        bigint,
    count       bigint   not null,
    constraint value_cells_cohort_check check (day >= cohort)
);
comment on table storehook.value_cells is
    'sales, refunds and reversals of subscriptions by their own day, with the day of their customer''s first payment (customer_new in figure_cells)';
comment on column storehook.value_cells.cohort is 'the day of the customer''s first payment; what a customer paid before it is left out';
comment on column storehook.value_cells.months is
    'the least number of months by which the day is not behind the cohort''s: on the same day of the month, or the last one of a month that has none';
comment on column storehook.value_cells.rate_day is 'the day of the transaction, whose exchange rate counts';
comment on column storehook.value_cells.unit is
    'the amount of each row, in thousandths of the currency, negative of refunds; null where it is not known';
comment on column storehook.value_cells.count is 'how many rows of this amount there are';
create index value_cells_of_day on storehook.value_cells (zone, day);
create index value_cells_of_cohort on storehook.value_cells (zone, cohort);
-- As in 0070: whole days are deleted, and nothing updates a row.
alter table storehook.value_cells replica identity full;

create table storehook.value_sums (
    zone        text     collate "C" not null,
    environment text     collate "C" not null,
    cohort      date     not null,
    bundle_id   text     collate "C" not null,
    months      smallint not null,
    currency    text     collate "C" not null,
    count       bigint   not null,
    unknown     bigint   not null,
    amount      numeric  not null,
    primary key (zone, environment, cohort, bundle_id, months, currency)
);
comment on table storehook.value_sums is 'sums of value_cells by the month of the first payment';
comment on column storehook.value_sums.cohort is 'the first day of that month';
comment on column storehook.value_sums.unknown is 'how many rows have no amount';

-- As in 0081; and where a customer's first payment may be of another day, the days of all that the customer ever paid or got back.
create or replace function storehook.mark_recurring(ids bigint[], firsts timestamptz[], lasts timestamptz[]) returns void language sql
    security definer set search_path = pg_catalog, pg_temp set timezone = 'UTC' set datestyle = 'ISO'
as $$
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
        select r.id, r.first, r.last, t.starts_at, coalesce(t.counts_until, t.ends_at) as ends_at, t.product_id, t.currency, t.price,
               not t.is_void and not t.is_trial as counts
          from related r join storehook.booked_transactions t on t.order_id = r.id
        union all
        select r.id, r.first, r.last, s.starts_at, s.ends_at, t.product_id, t.currency, t.price, not t.is_void and not t.is_trial
          from related r join storehook.booked_stretches s on s.order_id = r.id
          left join storehook.booked_transactions t on (t.order_id, t.item) = (s.order_id, s.item)
    ), begun as (
        -- A price so small that nothing of it is paid a month may be the first one, or not.
        select distinct b.first, b.last, b.starts_at
          from (
            select h.*, min(starts_at) filter (where price >= 1000) over (partition by id, first, last, product_id) as counted_at
              from held h
             where h.counts and h.price > 0 and h.price <= 1000000000000000 and h.currency is not null and h.starts_at < h.ends_at) b
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
         cross join (select unnest(array[zone, next_zone, fiscal_zone]) as zone from storehook.figure_state) z
         where b.starts_at < b.last and exists (
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
        select t.starts_at as at from settled s join storehook.booked_transactions t on t.order_id = s.id
        union all
        select f.at from settled s join storehook.booked_refunds f on f.order_id = s.id
    )
    insert into storehook.figure_marks (hour)
    select distinct date_trunc('hour', m.at, 'UTC')
      from (
        select i.at from held h cross join lateral (values (h.starts_at), (h.ends_at)) i (at) where i.at between h.first and h.last
        union all
        select min(h.starts_at) filter (where h.starts_at > h.last) from held h group by h.id, h.first, h.last
        union all
        select starts_at from cohorts
        union all
        select at from paid) m
     where m.at < now() + interval '2 hours'
$$;

alter table storehook.figure_cells drop constraint figure_cells_measure_check;
-- As in 0075.
alter table storehook.figure_cells add constraint figure_cells_measure_check check (measure in
    ('order', 'sale', 'refunded_sale', 'refund', 'reversal', 'late_sale', 'late_refund', 'late_reversal', 'enter', 'leave',
     'new', 'reactivation', 'expansion', 'contraction', 'churn_voluntary', 'churn_billing', 'churn_other', 'customer_new',
     'customer_back', 'customer_back_soon', 'customer_lost_voluntary', 'customer_lost_billing', 'customer_lost_other',
     'trial', 'trial_converted', 'trial_lapsed', 'trial_refunded', 'attempt_completed', 'attempt_failed', 'attempt_cancelled',
     'attempt_pending', 'restore_completed', 'restore_failed', 'restore_nothing', 'restore_cancelled', 'proceeds', 'proceeds_back',
     'proceeds_again', 'account_known', 'account_paid')) not valid;
comment on column storehook.figure_cells.measure is
    'order: by the day in its number. sale: by purchaseDate; refunded_sale: those of it that are refunded, by the same day. refund and reversal: by their own date. late_…: by the day on which they were heard of, where their own had ended more than 24 hours before. enter and leave: periods that begin and end to count for recurring revenue, with the price a month. new to churn_…: those of them by which what a customer pays a month is another one at the end of the day than at the end of the day before. customer_…: customers who began, came back (soon: in the month in which they stopped) or stopped to pay. trial: by the day of its start; trial_converted, trial_lapsed, trial_refunded: what came of it, by the same day. attempt_…: attempts to buy, by how they ended and the day of their first report. restore_…: restores, by how they ended and the day of their report. proceeds: sales for money with what they are estimated to bring; proceeds_back and proceeds_again: the same of refunds and of reversals, by their own date. account_known: accounts, of no app, by the day from which they are known or, where that is earlier, of their first payment; account_paid: their first payments, by purchaseDate';

create index accounts_known on storehook.accounts (known_at);

-- Payments are what was bought for money, also without a signed price, and those of an account where no other one ever had the purchase.
create function storehook.purchase_payments(of_environment text, of_app text, of_purchase text) returns setof timestamptz
    language sql stable set search_path = pg_catalog, pg_temp set timezone = 'UTC' set datestyle = 'ISO'
as $$
    select t.starts_at
      from (
        select o.id from storehook.booked_orders o
         where (o.environment, o.bundle_id, o.order_key) = (of_environment, of_app, of_purchase) and o.class_id is not null
        union
        select o.id from storehook.booked_orders o
         where o.original_transaction_id = of_purchase and o.order_key <> o.original_transaction_id
           and (o.environment, o.bundle_id) = (of_environment, of_app) and o.class_id is not null) o
      join storehook.booked_transactions t on t.order_id = o.id
     where not t.is_void and not t.is_trial and t.price is distinct from 0
$$;
revoke all on function storehook.purchase_payments(text, text, text) from public;

create function storehook.account_payments(of_token uuid)
    returns table (environment text, bundle_id text, original_transaction_id text, starts_at timestamptz)
    language sql stable set search_path = pg_catalog, pg_temp set timezone = 'UTC' set datestyle = 'ISO'
as $$
    select l.environment, l.bundle_id, l.original_transaction_id, p.starts_at
      from storehook.account_lines l
     cross join lateral storehook.purchase_payments(l.environment, l.bundle_id, l.original_transaction_id) p (starts_at)
     where l.token = of_token
       and not exists (
           select from storehook.account_lines k
            where (k.original_transaction_id, k.bundle_id, k.environment) = (l.original_transaction_id, l.bundle_id, l.environment)
              and k.token not in (of_token, '00000000-0000-0000-0000-000000000000'))
$$;
revoke all on function storehook.account_payments(uuid) from public;

-- An account counts from when it is known, or else from its first payment.
create function storehook.mark_accounts(tokens uuid[]) returns void language sql security definer
    set search_path = pg_catalog, pg_temp set timezone = 'UTC' set datestyle = 'ISO'
as $$
    insert into storehook.figure_marks (hour)
    select distinct date_trunc('hour', m.at, 'UTC')
      from (
        select known_at as at from storehook.accounts where token = any (tokens)
        union all
        select min(p.starts_at) from unnest(tokens) t (token) cross join lateral storehook.account_payments(t.token) p
         group by t.token, p.environment) m
$$;
revoke all on function storehook.mark_accounts(uuid[]) from public;

create function storehook.mark_figures_of_known_accounts() returns trigger language plpgsql security definer
    set search_path = pg_catalog, pg_temp set timezone = 'UTC' set datestyle = 'ISO'
as $$
begin
    perform storehook.mark_accounts(array_agg(token)) from rows having count(*) > 0;
    return null;
end
$$;
revoke all on function storehook.mark_figures_of_known_accounts() from public;
create trigger figures_of_new after insert on storehook.accounts
    referencing new table as rows for each statement execute function storehook.mark_figures_of_known_accounts();

create function storehook.mark_figures_of_erased_account() returns trigger language plpgsql security definer
    set search_path = pg_catalog, pg_temp set timezone = 'UTC' set datestyle = 'ISO'
as $$
begin
    perform storehook.mark_accounts(array[new.token]);
    return null;
end
$$;
revoke all on function storehook.mark_figures_of_erased_account() from public;
create trigger figures_of_erased after update of erased_at on storehook.accounts
    for each row when ((old.erased_at is null) <> (new.erased_at is null)) execute function storehook.mark_figures_of_erased_account();

-- What is paid first was, before a change or behind it, what changed or the next payment of the account. Nearly always something was paid of
-- the order before, and none of that is.
create function storehook.mark_figures_of_payments() returns trigger language plpgsql security definer
    set search_path = pg_catalog, pg_temp set timezone = 'UTC' set datestyle = 'ISO'
as $$
declare
    ids    bigint[];
    firsts timestamptz[];
    lasts  timestamptz[];
begin
    if tg_op <> 'UPDATE' then
        -- What begins in this hour has nothing behind it.
        select array_agg(c.order_id), array_agg(c.first), array_agg(c.last) into ids, firsts, lasts
          from (
            select order_id, min(starts_at) as first, max(starts_at) as last from rows
             where starts_at < date_trunc('hour', now()) and not is_void and not is_trial and price is distinct from 0
             group by order_id) c;
    else
        select array_agg(c.order_id), array_agg(c.first), array_agg(c.last) into ids, firsts, lasts
          from (
            select order_id, min(least(o.starts_at, n.starts_at)) as first, max(greatest(o.starts_at, n.starts_at)) as last
              from old_rows o join new_rows n using (order_id, item)
             where (o.starts_at, o.is_void, o.is_trial, o.price is distinct from 0)
                   is distinct from (n.starts_at, n.is_void, n.is_trial, n.price is distinct from 0)
             group by order_id) c;
    end if;
    if ids is null then return null; end if;
    insert into storehook.figure_marks (hour)
    select distinct date_trunc('hour', m.at, 'UTC')
      from unnest(ids, firsts, lasts) c (id, first, last)
     cross join lateral (
        select o.environment, o.bundle_id, coalesce(o.original_transaction_id, o.order_key) as purchase
          from storehook.booked_orders o where o.id = c.id offset 0) o
     cross join lateral (
        select l.token from storehook.account_lines l
         where (l.original_transaction_id, l.bundle_id, l.environment) = (o.purchase, o.bundle_id, o.environment)
           and l.token <> '00000000-0000-0000-0000-000000000000' offset 0) l
     cross join lateral (
        select p.starts_at as at
          from (
            select p.starts_at, min(p.starts_at) filter (where p.starts_at > c.last) over () as next
              from storehook.account_payments(l.token) p where p.environment = o.environment and p.starts_at > c.first) p
         where p.starts_at <= coalesce(p.next, 'infinity')
        union all
        select a.known_at from storehook.accounts a where a.token = l.token and a.known_at >= c.first) m
     where not exists (
           select from storehook.booked_transactions t
            where t.order_id = c.id and t.starts_at < c.first and not t.is_void and not t.is_trial and t.price is distinct from 0);
    return null;
end
$$;
revoke all on function storehook.mark_figures_of_payments() from public;
create trigger figures_of_new_payments after insert on storehook.booked_transactions
    referencing new table as rows for each statement execute function storehook.mark_figures_of_payments();
create trigger figures_of_changed_payments after update on storehook.booked_transactions
    referencing old table as old_rows new table as new_rows for each statement execute function storehook.mark_figures_of_payments();
create trigger figures_of_gone_payments after delete on storehook.booked_transactions
    referencing old table as rows for each statement execute function storehook.mark_figures_of_payments();

-- A purchase that becomes an account's, or is one's no more, may have been its first payment, and that of any other account that had it.
create function storehook.mark_figures_of_payers() returns trigger language plpgsql security definer
    set search_path = pg_catalog, pg_temp set timezone = 'UTC' set datestyle = 'ISO'
as $$
begin
    insert into storehook.figure_marks (hour)
    select distinct date_trunc('hour', m.at, 'UTC')
      from (
        select c.token, c.environment, min(p.starts_at) as first
          from (
            select * from rows
            union
            select k.* from rows r
              join storehook.account_lines k
                on (k.original_transaction_id, k.bundle_id, k.environment) = (r.original_transaction_id, r.bundle_id, r.environment)) c
         cross join lateral storehook.purchase_payments(c.environment, c.bundle_id, c.original_transaction_id) p (starts_at)
         where c.token <> '00000000-0000-0000-0000-000000000000'
         group by c.token, c.environment) c
     cross join lateral (
        select min(p.starts_at) as first
          from storehook.account_payments(c.token) p
         where p.environment = c.environment
           and not exists (
               select from rows r
                where (r.original_transaction_id, r.bundle_id, r.environment) = (p.original_transaction_id, p.bundle_id, p.environment))) o
     cross join lateral (
        values (c.first), (o.first), ((select a.known_at from storehook.accounts a where a.token = c.token))) m (at)
     where c.first <= coalesce(o.first, 'infinity') and m.at is not null;
    return null;
end
$$;
revoke all on function storehook.mark_figures_of_payers() from public;
create trigger figures_of_new_payers after insert on storehook.account_lines
    referencing new table as rows for each statement execute function storehook.mark_figures_of_payers();
create trigger figures_of_gone_payers after delete on storehook.account_lines
    referencing old table as rows for each statement execute function storehook.mark_figures_of_payers();

-- As in 0079. Who sums figures reads accounts already, and who answers them reads which accounts paid.
do $$
declare
    someone name;
begin
    for someone in
        select r.rolname
          from pg_class c cross join lateral aclexplode(c.relacl) a join pg_roles r on r.oid = a.grantee
         where c.oid = 'storehook.figure_cells'::regclass and a.privilege_type = 'INSERT' and a.grantee <> c.relowner
    loop
        execute format('grant select, insert, delete on storehook.value_cells to %I', someone);
        execute format('grant select, insert, update, delete on storehook.value_sums to %I', someone);
    end loop;
    for someone in
        select r.rolname
          from pg_class c cross join lateral aclexplode(c.relacl) a join pg_roles r on r.oid = a.grantee
         where c.oid = 'storehook.figure_cells'::regclass and a.privilege_type = 'SELECT' and a.grantee <> c.relowner
    loop
        execute format('grant select on storehook.value_cells, storehook.value_sums to %I', someone);
    end loop;
end
$$;
