-- compatible-from: 10
-- Figures of accounts' first payments: how many accounts there are that could pay for the first time, and those that did; and the app's own trials,
-- beside those of Apple: when they started, and what came of them. An account's first payment decides one, or time alone.

create index accounts_known on storehook.accounts (known_at);
create index trials_started on storehook.trials (started_at);
create index trials_ended on storehook.trials (ends_at);

-- Payments are what was bought for money, also without a signed price, and those of an account where no other one ever had the purchase.
-- Without settings of their own, so that the statements that call them have them inlined, and keep one plan. Each step goes by its index.
create function storehook.purchase_payments(of_environment text, of_app text, of_purchase text)
    returns table (starts_at timestamptz, order_id bigint, item text, is_refunded boolean)
    language sql stable
as $$
    select t.starts_at, t.order_id, t.item, t.is_refunded
      from (
        select o.id from storehook.booked_orders o
         where (o.environment, o.bundle_id, o.order_key) = (of_environment, of_app, of_purchase) and o.class_id is not null
        union
        -- Several things that were bought once may have one originalTransactionId.
        -- By its index also before anything was analyzed.
        select u.id
          from (
            select o.id, o.environment, o.bundle_id, o.class_id from storehook.booked_orders o
             where o.original_transaction_id = of_purchase and o.order_key <> o.original_transaction_id
            offset 0) u
         where (u.environment, u.bundle_id) = (of_environment, of_app) and u.class_id is not null) o
     cross join lateral (
        select t.starts_at, t.order_id, t.item, t.revoked_share is distinct from 0 as is_refunded
          from storehook.booked_transactions t
         where t.order_id = o.id and not t.is_void and not t.is_trial and t.price is distinct from 0
        offset 0) t
$$;
revoke all on function storehook.purchase_payments(text, text, text) from public;

create function storehook.account_payments(of_token uuid, of_environment text)
    returns table (bundle_id text, original_transaction_id text, starts_at timestamptz, order_id bigint, item text, is_refunded boolean)
    language sql stable
as $$
    select l.bundle_id, l.original_transaction_id, p.starts_at, p.order_id, p.item, p.is_refunded
      from storehook.account_lines l
     cross join lateral (
        select exists (
            select from storehook.account_lines k
             where (k.original_transaction_id, k.bundle_id, k.environment) = (l.original_transaction_id, l.bundle_id, l.environment)
               and k.token not in (l.token, '00000000-0000-0000-0000-000000000000')) as is_shared
        offset 0) s
     cross join lateral (
        select p.starts_at, p.order_id, p.item, p.is_refunded
          from storehook.purchase_payments(l.environment, l.bundle_id, l.original_transaction_id) p
         where not s.is_shared
        offset 0) p
     where l.token = of_token and l.environment = of_environment
$$;
revoke all on function storehook.account_payments(uuid, text) from public;

-- An account counts from when it is known, or else from its first payment. One plan for all.
create function storehook.mark_accounts(tokens uuid[]) returns void language plpgsql security definer
    set search_path = pg_catalog, pg_temp set timezone = 'UTC' set datestyle = 'ISO'
    set plan_cache_mode = force_generic_plan set enable_seqscan = off set jit = off
as $$
begin
    insert into storehook.figure_marks (hour)
    select distinct date_trunc('hour', m.at, 'UTC')
      from unnest(tokens) t (token)
     cross join lateral (
        select a.known_at as at from storehook.accounts a where a.token = t.token
        union all
        select p.first
          from (select distinct l.environment from storehook.account_lines l where l.token = t.token) e
         cross join lateral (
            select min(p.starts_at) as first from storehook.account_payments(t.token, e.environment) p) p) m
     where m.at is not null;
end
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

-- What is paid first was, before a change or behind it, what changed or the next payment of the account, and an own trial that it may have
-- converted is decided by it. Nearly always something was paid of the order before, or else by the account, and none of that is.
create function storehook.mark_figures_of_payments() returns trigger language plpgsql security definer
    set search_path = pg_catalog, pg_temp set timezone = 'UTC' set datestyle = 'ISO'
    set plan_cache_mode = force_generic_plan set enable_seqscan = off set jit = off
as $$
declare
    ids    bigint[];
    firsts timestamptz[];
    lasts  timestamptz[];
begin
    if tg_op <> 'UPDATE' then
        -- What begins in this hour has nothing behind it, and may convert a trial.
        select array_agg(c.order_id), array_agg(c.first), array_agg(c.last) into ids, firsts, lasts
          from (
            select order_id, min(starts_at) as first, max(starts_at) as last from rows
             where not is_void and not is_trial and price is distinct from 0
               and (starts_at < date_trunc('hour', now()) or exists (select from storehook.trials))
             group by order_id) c;
    else
        if not exists (select from new_rows) then return null; end if;
        -- Whether a payment is refunded is a number of the trial that it converted.
        select array_agg(c.order_id), array_agg(c.first), array_agg(c.last) into ids, firsts, lasts
          from (
            select order_id, min(least(o.starts_at, n.starts_at)) as first, max(greatest(o.starts_at, n.starts_at)) as last
              from old_rows o join new_rows n using (order_id, item)
             where (o.starts_at, o.is_void, o.is_trial, o.price is distinct from 0, o.revoked_share is distinct from 0)
                   is distinct from
                   (n.starts_at, n.is_void, n.is_trial, n.price is distinct from 0, n.revoked_share is distinct from 0)
             group by order_id) c;
    end if;
    if ids is null then return null; end if;
    insert into storehook.figure_marks (hour)
    select distinct date_trunc('hour', m.at, 'UTC')
      from (
        -- Together for an account: what changed in one of its orders may stand before what changed in another.
        select l.token, o.environment, min(c.first) as first, max(c.last) as last
          from unnest(ids, firsts, lasts) c (id, first, last)
         cross join lateral (
            select exists (
                select from storehook.booked_transactions t
                 where t.order_id = c.id and t.starts_at < c.first and not t.is_void and not t.is_trial
                   and t.price is distinct from 0) as is_later
            offset 0) e
         cross join lateral (
            select o.environment, o.bundle_id, coalesce(o.original_transaction_id, o.order_key) as purchase
              from storehook.booked_orders o where o.id = c.id and not e.is_later offset 0) o
         cross join lateral (
            select l.token from storehook.account_lines l
             where (l.original_transaction_id, l.bundle_id, l.environment) = (o.purchase, o.bundle_id, o.environment)
               and l.token <> '00000000-0000-0000-0000-000000000000' offset 0) l
         group by l.token, o.environment) c
     cross join lateral (
        select exists (
            select from storehook.account_payments(c.token, c.environment) p where p.starts_at < c.first) as is_later
        offset 0) e
     cross join lateral (
        select p.starts_at as at
          from (
            select p.starts_at, min(p.starts_at) filter (where p.starts_at > c.last) over () as next
              from storehook.account_payments(c.token, c.environment) p where p.starts_at > c.first and not e.is_later) p
         where p.starts_at <= coalesce(p.next, 'infinity')
        union all
        select a.known_at from storehook.accounts a where a.token = c.token and a.known_at >= c.first and not e.is_later
        union all
        select t.started_at from storehook.trials t
         where t.token = c.token and c.environment = 'Production' and t.ends_at >= c.first - interval '1440 hours'
           and not e.is_later) m;
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

-- A purchase that becomes an account's, or is one's no more, may have been its first payment, and that of any other account that had it. Most
-- become one's before anything of them is booked.
create function storehook.mark_figures_of_payers() returns trigger language plpgsql security definer
    set search_path = pg_catalog, pg_temp set timezone = 'UTC' set datestyle = 'ISO' set enable_seqscan = off set jit = off
as $$
begin
    if not exists (select from rows) then return null; end if;
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
revoke all on function storehook.mark_figures_of_payers() from public;
create trigger figures_of_new_payers after insert on storehook.account_lines
    referencing new table as rows for each statement execute function storehook.mark_figures_of_payers();
create trigger figures_of_gone_payers after delete on storehook.account_lines
    referencing old table as rows for each statement execute function storehook.mark_figures_of_payers();

-- Accounts that paid before they were known are cells of the day of the payment, and taken off the day from which they are known. That day may
-- have a million accounts, after an import: none of them is looked at for its payments.
alter table storehook.figure_cells drop constraint figure_cells_measure_check;
-- As in 0075.
alter table storehook.figure_cells add constraint figure_cells_measure_check check (measure in
    ('order', 'sale', 'refunded_sale', 'refund', 'reversal', 'late_sale', 'late_refund', 'late_reversal', 'enter', 'leave',
     'new', 'reactivation', 'expansion', 'contraction', 'churn_voluntary', 'churn_billing', 'churn_other', 'customer_new',
     'customer_back', 'customer_back_soon', 'customer_lost_voluntary', 'customer_lost_billing', 'customer_lost_other',
     'trial', 'trial_converted', 'trial_lapsed', 'trial_refunded', 'own_trial', 'own_trial_converted', 'own_trial_lapsed',
     'own_trial_refunded', 'attempt_completed', 'attempt_failed', 'attempt_cancelled', 'attempt_pending', 'restore_completed',
     'restore_failed', 'restore_nothing', 'restore_cancelled', 'proceeds', 'proceeds_back', 'proceeds_again', 'account_known',
     'account_paid', 'account_early')) not valid;
comment on column storehook.figure_cells.measure is
    'order: by the day in its number. sale: by purchaseDate; refunded_sale: those of it that are refunded, by the same day. refund and reversal: by their own date. late_…: by the day on which they arrived, more than 24 hours after their own day had ended. enter and leave: periods that begin and end to count for recurring revenue, with the price a month. new to churn_…: periods of customers with another amount at the end of the day than at the end of the day before. customer_…: customers that began to pay, came back (soon: in the month of their stop) or stopped. trial: of Apple''s, by the day of its start; trial_converted, trial_lapsed, trial_refunded: its outcome, by the same day. own_trial…: likewise of the app''s own trials. attempt_…: attempts to buy, by outcome and the day of their first report. restore_…: restores, by outcome and the day of their report. proceeds: sales for money with their estimated proceeds; proceeds_back and proceeds_again: the same of refunds and of reversals, by their own date. account_known: accounts, of no app, by the day from which they are known, and once more by the day of an earlier first payment; account_early: accounts with such a payment, by its day: they are taken off the day from which they are known, which is in rate_day; account_paid: first payments, by purchaseDate';
comment on column storehook.figure_cells.rate_day is
    'the day of the transaction, for its exchange rate; of account_early the day from which the account is known; null of orders';

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
               ('active_change', 'customer_lost_billing', -1), ('active_change', 'customer_lost_other', -1),
               ('trials', 'trial', 1), ('trials_converted', 'trial_converted', 1), ('trials_lapsed', 'trial_lapsed', 1),
               ('trials_refunded', 'trial_refunded', 1), ('own_trials', 'own_trial', 1),
               ('own_trials_converted', 'own_trial_converted', 1), ('own_trials_lapsed', 'own_trial_lapsed', 1),
               ('own_trials_refunded', 'own_trial_refunded', 1), ('attempts_completed', 'attempt_completed', 1),
               ('attempts_failed', 'attempt_failed', 1), ('attempts_cancelled', 'attempt_cancelled', 1),
               ('attempts_pending', 'attempt_pending', 1), ('restores_completed', 'restore_completed', 1),
               ('restores_failed', 'restore_failed', 1), ('restores_nothing', 'restore_nothing', 1),
               ('restores_cancelled', 'restore_cancelled', 1), ('proceeds', 'proceeds', 1), ('proceeds', 'proceeds_back', -1),
               ('proceeds', 'proceeds_again', 1))
       as f (figure, measure, sign) on f.measure = c.measure
 group by f.figure, c.environment, c.day, c.zone, c.bundle_id, c.product_id, c.storefront, c.currency;

-- As in 0079. Roles that sum figures read accounts already. Roles that answer them read first payments. Both read trials.
do $$
declare
    someone name;
begin
    for someone in
        select r.rolname
          from pg_class c cross join lateral aclexplode(c.relacl) a join pg_roles r on r.oid = a.grantee
         where c.oid = 'storehook.figure_cells'::regclass and a.privilege_type = 'SELECT' and a.grantee <> c.relowner
    loop
        execute format('grant select on storehook.trials to %I', someone);
    end loop;
end
$$;

-- At the end: apps and readers of accounts wait for these. Rows of releases before have null.
alter table storehook.trials
    add column bundle_id text collate "C",
    add column product_id text collate "C",
    add column outcome text collate "C",
    add constraint trials_outcome_check check (outcome is null or token is null and outcome in ('converted', 'refunded', 'lapsed')) not valid;
comment on column storehook.trials.bundle_id is
    'the app of the product that it was started with, or else the only one of the catalog; empty where that has several';
comment on column storehook.trials.product_id is 'Apple''s id of that product; null where none was named';
comment on column storehook.trials.outcome is
    'what had come of it when the account was erased: later nothing does. Null while the account is there, and of those that a release before erased, which count nowhere';

-- After the erasure no account has these payments. The outcome of the trial is kept without them.
create function storehook.keep_trial_outcome() returns trigger language plpgsql security definer
    set search_path = pg_catalog, pg_temp set timezone = 'UTC' set datestyle = 'ISO' set enable_seqscan = off set jit = off
as $$
begin
    new.outcome := coalesce((
        select case when p.starts_at < old.started_at or p.starts_at > old.ends_at + interval '1440 hours' then 'lapsed'
                    when p.is_refunded then 'refunded' else 'converted' end
          from storehook.account_payments(old.token, 'Production') p
         order by p.starts_at, p.order_id, p.item
         limit 1), 'lapsed');
    return new;
end
$$;
revoke all on function storehook.keep_trial_outcome() from public;
create trigger trials_keep_outcome before update of token on storehook.trials
    for each row when (old.token is not null and new.token is null) execute function storehook.keep_trial_outcome();

create function storehook.mark_figures_of_own_trials() returns trigger language plpgsql security definer
    set search_path = pg_catalog, pg_temp set timezone = 'UTC' set datestyle = 'ISO'
as $$
begin
    if tg_op <> 'UPDATE' then
        insert into storehook.figure_marks (hour) select distinct date_trunc('hour', started_at, 'UTC') from rows;
    else
        insert into storehook.figure_marks (hour)
        select distinct date_trunc('hour', m.at, 'UTC')
          from old_rows o join new_rows n using (account_hash)
         cross join lateral (values (o.started_at), (n.started_at)) m (at)
         where o is distinct from n;
    end if;
    return null;
end
$$;
revoke all on function storehook.mark_figures_of_own_trials() from public;
create trigger figures_of_new after insert on storehook.trials
    referencing new table as rows for each statement execute function storehook.mark_figures_of_own_trials();
create trigger figures_of_changed after update on storehook.trials
    referencing old table as old_rows new table as new_rows for each statement
    execute function storehook.mark_figures_of_own_trials();
create trigger figures_of_gone after delete on storehook.trials
    referencing old table as rows for each statement execute function storehook.mark_figures_of_own_trials();
