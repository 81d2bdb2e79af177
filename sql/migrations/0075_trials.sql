-- compatible-from: 10
-- Figures of trials: when they started, and what came of them. What comes of a trial is decided later than on its day: by a payment, or by
-- time alone.

create index booked_trials_started on storehook.booked_transactions (starts_at) where is_trial;
create index booked_trials_ended on storehook.booked_transactions (ends_at) where is_trial;
create index booked_trials_of on storehook.booked_transactions (order_id, ends_at) where is_trial;

alter table storehook.figure_cells drop constraint figure_cells_measure_check;
-- The rows that are there fulfilled a narrower one, and are not read again.
alter table storehook.figure_cells add constraint figure_cells_measure_check check (measure in
    ('order', 'sale', 'refunded_sale', 'refund', 'reversal', 'late_sale', 'late_refund', 'late_reversal', 'enter', 'leave',
     'new', 'reactivation', 'expansion', 'contraction', 'churn_voluntary', 'churn_billing', 'churn_other', 'customer_new',
     'customer_back', 'customer_back_soon', 'customer_lost_voluntary', 'customer_lost_billing', 'customer_lost_other',
     'trial', 'trial_converted', 'trial_lapsed', 'trial_refunded')) not valid;
comment on column storehook.figure_cells.measure is
    'order: by the day in its number. sale: by purchaseDate; refunded_sale: those of it that are refunded, by the same day. refund and reversal: by their own date. late_…: by the day on which they were heard of, where their own had ended more than 24 hours before. enter and leave: periods that begin and end to count for recurring revenue, with the price a month. new to churn_…: those of them by which what a customer pays a month is another one at the end of the day than at the end of the day before. customer_…: customers who began, came back (soon: in the month in which they stopped) or stopped to pay. trial: by the day of its start; trial_converted, trial_lapsed, trial_refunded: what came of it, by the same day';

-- What is booked already is summed with these as soon as a worker of this release finds the number of another one.
alter table storehook.figure_state add column content smallint not null default 1;
comment on column storehook.figure_state.content is
    'what the figures are summed of, by the number that the release has for it; a release that sums more has a higher one, and sums all days anew';

-- Where a release that sums less, or does not say what it sums, deletes a day's cells, it writes fewer of them, and where it lets time pass, it
-- does not mark all that this decides: all days are to be summed anew. It has locked the state.
create function storehook.require_figure_content() returns trigger language plpgsql security definer
    set search_path = pg_catalog, pg_temp set timezone = 'UTC' set datestyle = 'ISO'
as $$
begin
    if coalesce(nullif(current_setting('storehook.figure_content', true), '')::smallint, 0::smallint) < (select content from storehook.figure_state)
       and exists (select from gone) then
        update storehook.figure_state set content = 0;
    end if;
    return null;
end
$$;
revoke all on function storehook.require_figure_content() from public;
create trigger figure_cells_content after delete on storehook.figure_cells
    referencing old table as gone for each statement execute function storehook.require_figure_content();

create function storehook.require_figure_turn() returns trigger language plpgsql
    set search_path = pg_catalog, pg_temp set timezone = 'UTC' set datestyle = 'ISO'
as $$
begin
    if coalesce(nullif(current_setting('storehook.figure_content', true), '')::smallint, 0::smallint) < new.content then new.content := 0; end if;
    return new;
end
$$;
create trigger figure_state_content before update on storehook.figure_state
    for each row when (new.turned_until is distinct from old.turned_until) execute function storehook.require_figure_turn();

-- A payment decides a trial of the same purchase, and so does what the trial itself becomes. What a trial's row itself marks, its day, is in
-- mark_figures_of_transactions.
create function storehook.mark_figures_of_trials() returns trigger language plpgsql security definer
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
revoke all on function storehook.mark_figures_of_trials() from public;
create trigger figures_of_new_trials after insert on storehook.booked_transactions
    referencing new table as rows for each statement execute function storehook.mark_figures_of_trials();
create trigger figures_of_changed_trials after update on storehook.booked_transactions
    referencing old table as old_rows new table as new_rows for each statement execute function storehook.mark_figures_of_trials();
create trigger figures_of_gone_trials after delete on storehook.booked_transactions
    referencing old table as rows for each statement execute function storehook.mark_figures_of_trials();

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
               ('trials_refunded', 'trial_refunded', 1))
       as f (figure, measure, sign) on f.measure = c.measure
 group by f.figure, c.environment, c.day, c.zone, c.bundle_id, c.product_id, c.storefront, c.currency;
