-- compatible-from: 10
-- Figures of attempts to buy and of restores, as apps reported them. Attempts to buy are booked as orders already. A restore is no order:
-- how it ended is kept without the account, so that neither retention nor an erasure takes it from a figure.

create table storehook.reported_restores (
    id          bigint generated always as identity primary key,
    at          timestamptz not null,
    environment text collate "C" not null,
    bundle_id   text collate "C" not null,
    product_id  text collate "C" not null default '',
    outcome     text collate "C" not null check (outcome in ('completed', 'failed', 'nothing', 'cancelled')),
    constraint reported_restores_product_check check (bundle_id <> '' or product_id = '')
);
comment on table storehook.reported_restores is
    'how restores ended that apps reported, for figures, without the account. Evidence: no rebuild derives it. Pending ones have not ended';
comment on column storehook.reported_restores.at is 'when it was reported';
comment on column storehook.reported_restores.environment is 'in Apple''s word; Production where the app named none';
comment on column storehook.reported_restores.bundle_id is
    'the app that had the product in the catalog that was current; empty where no product was named, none had it, or several';
comment on column storehook.reported_restores.product_id is 'of the report; empty where no app is known by it: apps may write anything there';
create index reported_restores_reported on storehook.reported_restores (at);

-- Restores that were reported before are booked by the clock, as later ones are.
create index purchase_attempts_restores_to_book on storehook.purchase_attempts (at, id) where kind = 'restore' and not is_booked;
comment on column storehook.purchase_attempts.is_booked is 'whether orders, or of a restore reported_restores, took note of it';

create index booked_attempts_reported on storehook.booked_attempts (first_at);

alter table storehook.figure_cells drop constraint figure_cells_measure_check;
-- As in 0075.
alter table storehook.figure_cells add constraint figure_cells_measure_check check (measure in
    ('order', 'sale', 'refunded_sale', 'refund', 'reversal', 'late_sale', 'late_refund', 'late_reversal', 'enter', 'leave',
     'new', 'reactivation', 'expansion', 'contraction', 'churn_voluntary', 'churn_billing', 'churn_other', 'customer_new',
     'customer_back', 'customer_back_soon', 'customer_lost_voluntary', 'customer_lost_billing', 'customer_lost_other',
     'trial', 'trial_converted', 'trial_lapsed', 'trial_refunded', 'attempt_completed', 'attempt_failed', 'attempt_cancelled',
     'attempt_pending', 'restore_completed', 'restore_failed', 'restore_nothing', 'restore_cancelled')) not valid;
comment on column storehook.figure_cells.measure is
    'order: by the day in its number. sale: by purchaseDate; refunded_sale: those of it that are refunded, by the same day. refund and reversal: by their own date. late_…: by the day on which they were heard of, where their own had ended more than 24 hours before. enter and leave: periods that begin and end to count for recurring revenue, with the price a month. new to churn_…: those of them by which what a customer pays a month is another one at the end of the day than at the end of the day before. customer_…: customers who began, came back (soon: in the month in which they stopped) or stopped to pay. trial: by the day of its start; trial_converted, trial_lapsed, trial_refunded: what came of it, by the same day. attempt_…: attempts to buy, by how they ended and the day of their first report. restore_…: restores, by how they ended and the day of their report';

create function storehook.mark_figures_of_attempts() returns trigger language plpgsql security definer
    set search_path = pg_catalog, pg_temp set timezone = 'UTC' set datestyle = 'ISO'
as $$
begin
    if tg_op <> 'UPDATE' then
        insert into storehook.figure_marks (hour) select distinct date_trunc('hour', first_at, 'UTC') from rows;
    else
        insert into storehook.figure_marks (hour)
        select distinct date_trunc('hour', m.at, 'UTC')
          from old_rows o join new_rows n using (id)
         cross join lateral (values (o.first_at), (n.first_at)) m (at)
         where (o.first_at, o.order_id, o.bundle_id, o.product_id, o.matched_order_id)
               is distinct from (n.first_at, n.order_id, n.bundle_id, n.product_id, n.matched_order_id);
    end if;
    return null;
end
$$;
revoke all on function storehook.mark_figures_of_attempts() from public;
create trigger figures_of_new after insert on storehook.booked_attempts
    referencing new table as rows for each statement execute function storehook.mark_figures_of_attempts();
create trigger figures_of_changed after update on storehook.booked_attempts
    referencing old table as old_rows new table as new_rows for each statement execute function storehook.mark_figures_of_attempts();
create trigger figures_of_gone after delete on storehook.booked_attempts
    referencing old table as rows for each statement execute function storehook.mark_figures_of_attempts();

-- How an attempt ended that no transaction completes is the status of its own order. One whose order is hidden counts nowhere, be that its
-- own or that of its transaction.
create function storehook.mark_figures_of_attempted_orders() returns trigger language plpgsql security definer
    set search_path = pg_catalog, pg_temp set timezone = 'UTC' set datestyle = 'ISO'
as $$
begin
    insert into storehook.figure_marks (hour)
    select distinct date_trunc('hour', a.first_at, 'UTC')
      from old_rows o join new_rows n using (id)
     cross join lateral (
        select k.first_at from storehook.booked_attempts k where k.order_id = n.id and n.plan_type = 'unknown'
        union all
        select k.first_at from storehook.booked_attempts k where k.matched_order_id = n.id offset 0) a
     where (o.class_id is null) <> (n.class_id is null) or (n.plan_type = 'unknown' and o.status is distinct from n.status);
    return null;
end
$$;
revoke all on function storehook.mark_figures_of_attempted_orders() from public;
create trigger figures_of_changed_attempts after update on storehook.booked_orders
    referencing old table as old_rows new table as new_rows for each statement
    execute function storehook.mark_figures_of_attempted_orders();

create function storehook.mark_figures_of_restores() returns trigger language plpgsql security definer
    set search_path = pg_catalog, pg_temp set timezone = 'UTC' set datestyle = 'ISO'
as $$
begin
    if tg_op <> 'UPDATE' then
        insert into storehook.figure_marks (hour) select distinct date_trunc('hour', at, 'UTC') from rows;
    else
        insert into storehook.figure_marks (hour)
        select distinct date_trunc('hour', m.at, 'UTC')
          from old_rows o join new_rows n using (id)
         cross join lateral (values (o.at), (n.at)) m (at)
         where o is distinct from n;
    end if;
    return null;
end
$$;
revoke all on function storehook.mark_figures_of_restores() from public;
create trigger figures_of_new after insert on storehook.reported_restores
    referencing new table as rows for each statement execute function storehook.mark_figures_of_restores();
create trigger figures_of_changed after update on storehook.reported_restores
    referencing old table as old_rows new table as new_rows for each statement execute function storehook.mark_figures_of_restores();
create trigger figures_of_gone after delete on storehook.reported_restores
    referencing old table as rows for each statement execute function storehook.mark_figures_of_restores();

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
               ('restores_cancelled', 'restore_cancelled', 1))
       as f (figure, measure, sign) on f.measure = c.measure
 group by f.figure, c.environment, c.day, c.zone, c.bundle_id, c.product_id, c.storefront, c.currency;

-- As in 0068 and 0070: who books attempts also books restores, and who answers figures reads both.
do $$
declare
    someone name;
begin
    for someone in
        select r.rolname
          from pg_class c cross join lateral aclexplode(c.relacl) a join pg_roles r on r.oid = a.grantee
         where c.oid = 'storehook.booked_attempts'::regclass and a.privilege_type = 'INSERT' and a.grantee <> c.relowner
    loop
        execute format('grant select, insert on storehook.reported_restores to %I', someone);
    end loop;
    for someone in
        select r.rolname
          from pg_class c cross join lateral aclexplode(c.relacl) a join pg_roles r on r.oid = a.grantee
         where c.oid = 'storehook.figure_cells'::regclass and a.privilege_type = 'SELECT' and a.grantee <> c.relowner
    loop
        execute format('grant select on storehook.reported_restores to %I', someone);
        execute format(
            'grant select (id, order_id, bundle_id, product_id, first_at, matched_order_id, matched_item)
                 on storehook.booked_attempts to %I', someone);
    end loop;
end
$$;
