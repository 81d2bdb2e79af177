-- compatible-from: 10
-- Estimated proceeds: what sales bring after Apple's commission and tax, by a table with dates. Which commission counts for a subscription
-- depends on what was paid of it before.

create table storehook.commissions (
    version    bigint primary key,
    source     text not null,
    digest     bytea not null check (length(digest) = 32),
    applied_at timestamptz not null default now(),
    applied_by text not null check (length(applied_by) between 1 and 200)
);
comment on table storehook.commissions is
    'commission tables that operators applied: the last one counts, and without any the one that the release has; inputs of figures, never their results';
comment on column storehook.commissions.version is '1 to n without a gap';
comment on column storehook.commissions.source is 'the file, word for word (YAML)';
comment on column storehook.commissions.digest is 'SHA-256 of the file';

create function storehook.audit_commission() returns trigger
    language plpgsql security definer
    set search_path = pg_catalog, pg_temp set timezone = 'UTC' set datestyle = 'ISO'
as $$
declare
    draft storehook.audit_drafts;
begin
    draft.actor := storehook.audit_actor(new.applied_by);
    draft.role := 'admin';
    draft.act := 'apply_commission';
    draft.subject_kind := 'commission';
    draft.subject := new.version::text;
    draft.after := jsonb_build_object('digest', encode(new.digest, 'hex'))::text;
    draft.record := 'commissions:' || new.version;
    perform storehook.add_audit_draft(draft);
    return null;
end
$$;
revoke all on function storehook.audit_commission() from public;
create trigger commissions_audit after insert on storehook.commissions
    for each row execute function storehook.audit_commission();

create table storehook.figure_terms (
    kind        text collate "C" not null check (kind in ('program', 'rate', 'tax')),
    place       smallint not null,
    first_day   date not null,
    bundle_ids  text[] collate "C",
    storefronts text[] collate "C",
    program     text collate "C" check (program in ('standard', 'small_business')),
    first_year  integer check (first_year between 0 and 99999),
    later_years integer check (later_years between 0 and 99999),
    one_time    integer check (one_time between 0 and 99999),
    included    integer check (included between 0 and 99999),
    primary key (kind, place),
    constraint figure_terms_values_check check (
        (kind = 'rate') = (first_year is not null and later_years is not null and one_time is not null)
        and (kind = 'tax') = (included is not null) and (kind <> 'program' or program is not null))
);
comment on table storehook.figure_terms is 'the commission table that figures are summed by; shares are in thousandths of a percent';
comment on column storehook.figure_terms.place is 'in the order of days: of those that fit, the last one up to the day of a purchase counts';
comment on column storehook.figure_terms.bundle_ids is 'the apps; null for all';
comment on column storehook.figure_terms.storefronts is 'null for all';
comment on column storehook.figure_terms.program is 'by which of Apple''s terms the apps are sold; of a rate, to which it belongs, null for all';
comment on column storehook.figure_terms.first_year is 'what Apple keeps of subscriptions until a year of paid service';
comment on column storehook.figure_terms.included is 'the share of the customer''s price that is tax';

alter table storehook.closed_months add column commission_version bigint;
comment on column storehook.closed_months.commission_version is
    'the commission table that counted; null while that was the release''s own, and of months that were closed before there was one';

alter table storehook.figure_cells drop constraint figure_cells_measure_check;
-- As in 0075.
alter table storehook.figure_cells add constraint figure_cells_measure_check check (measure in
    ('order', 'sale', 'refunded_sale', 'refund', 'reversal', 'late_sale', 'late_refund', 'late_reversal', 'enter', 'leave',
     'new', 'reactivation', 'expansion', 'contraction', 'churn_voluntary', 'churn_billing', 'churn_other', 'customer_new',
     'customer_back', 'customer_back_soon', 'customer_lost_voluntary', 'customer_lost_billing', 'customer_lost_other',
     'trial', 'trial_converted', 'trial_lapsed', 'trial_refunded', 'attempt_completed', 'attempt_failed', 'attempt_cancelled',
     'attempt_pending', 'restore_completed', 'restore_failed', 'restore_nothing', 'restore_cancelled', 'proceeds', 'proceeds_back',
     'proceeds_again')) not valid;
comment on column storehook.figure_cells.measure is
    'order: by the day in its number. sale: by purchaseDate; refunded_sale: those of it that are refunded, by the same day. refund and reversal: by their own date. late_…: by the day on which they were heard of, where their own had ended more than 24 hours before. enter and leave: periods that begin and end to count for recurring revenue, with the price a month. new to churn_…: those of them by which what a customer pays a month is another one at the end of the day than at the end of the day before. customer_…: customers who began, came back (soon: in the month in which they stopped) or stopped to pay. trial: by the day of its start; trial_converted, trial_lapsed, trial_refunded: what came of it, by the same day. attempt_…: attempts to buy, by how they ended and the day of their first report. restore_…: restores, by how they ended and the day of their report. proceeds: sales for money with what they are estimated to bring; proceeds_back and proceeds_again: the same of refunds and of reversals, by their own date';

-- What a subscription was paid for, and whether it lapsed, decides the commission of all that is paid of it later, and of refunds of that.
-- Nearly always nothing was yet. The day of a row itself is in mark_figures_of_transactions.
create function storehook.mark_figures_of_service() returns trigger language plpgsql security definer
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
revoke all on function storehook.mark_figures_of_service() from public;
create trigger figures_of_new_service after insert on storehook.booked_transactions
    referencing new table as rows for each statement execute function storehook.mark_figures_of_service();
create trigger figures_of_changed_service after update on storehook.booked_transactions
    referencing old table as old_rows new table as new_rows for each statement execute function storehook.mark_figures_of_service();
create trigger figures_of_gone_service after delete on storehook.booked_transactions
    referencing old table as rows for each statement execute function storehook.mark_figures_of_service();

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
               ('trials_refunded', 'trial_refunded', 1), ('attempts_completed', 'attempt_completed', 1),
               ('attempts_failed', 'attempt_failed', 1), ('attempts_cancelled', 'attempt_cancelled', 1),
               ('attempts_pending', 'attempt_pending', 1), ('restores_completed', 'restore_completed', 1),
               ('restores_failed', 'restore_failed', 1), ('restores_nothing', 'restore_nothing', 1),
               ('restores_cancelled', 'restore_cancelled', 1), ('proceeds', 'proceeds', 1), ('proceeds', 'proceeds_back', -1),
               ('proceeds', 'proceeds_again', 1))
       as f (figure, measure, sign) on f.measure = c.measure
 group by f.figure, c.environment, c.day, c.zone, c.bundle_id, c.product_id, c.storefront, c.currency;

-- As in 0070, 0073 and 0074: who sums figures sums these, who answers them reads by which terms, and who closes months applies tables.
do $$
declare
    someone name;
begin
    for someone in
        select r.rolname
          from pg_class c cross join lateral aclexplode(c.relacl) a join pg_roles r on r.oid = a.grantee
         where c.oid = 'storehook.figure_cells'::regclass and a.privilege_type = 'INSERT' and a.grantee <> c.relowner
    loop
        execute format('grant select on storehook.commissions to %I', someone);
        execute format('grant select, insert, delete on storehook.figure_terms to %I', someone);
    end loop;
    for someone in
        select r.rolname
          from pg_class c cross join lateral aclexplode(c.relacl) a join pg_roles r on r.oid = a.grantee
         where c.oid = 'storehook.figure_cells'::regclass and a.privilege_type = 'SELECT' and a.grantee <> c.relowner
    loop
        execute format('grant select on storehook.figure_terms to %I', someone);
    end loop;
    for someone in
        select r.rolname
          from pg_class c cross join lateral aclexplode(c.relacl) a join pg_roles r on r.oid = a.grantee
         where c.oid = 'storehook.closed_months'::regclass and a.privilege_type = 'INSERT' and a.grantee <> c.relowner
    loop
        execute format('grant select, insert on storehook.commissions to %I', someone);
    end loop;
end
$$;
