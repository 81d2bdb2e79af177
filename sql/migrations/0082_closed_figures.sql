-- compatible-from: 10
-- A closed month names the measures that it has on record: figures of a later release are no corrections of it. It also records the version of the
-- catalog that its figures were summed by: workers may not have taken the current one yet.

-- The default is for the earlier release, which does not name its measures.
alter table storehook.closed_months add column measures text[] collate "C" not null default
    '{order,sale,refunded_sale,refund,reversal,late_sale,late_refund,late_reversal,new,reactivation,expansion,contraction,churn_voluntary,churn_billing,churn_other,customer_new,customer_back,customer_back_soon,customer_lost_voluntary,customer_lost_billing,customer_lost_other,standing,standing_customer}';
comment on column storehook.closed_months.measures is 'the measures that it has on record, also those without rows';

-- No row states the release that closed a month. A release that recorded one measure of a figure recorded all of them.
alter table storehook.closed_months disable trigger closed_months_open_once;
alter table storehook.closed_months disable trigger closed_months_audit;
update storehook.closed_months m
   set measures = '{order,sale,refunded_sale,refund,reversal,late_sale,late_refund,late_reversal}'::text[] || array(
           select f.measure
             from (values ('{new,reactivation,expansion,contraction,churn_voluntary,churn_billing,churn_other,customer_new,customer_back,customer_back_soon,customer_lost_voluntary,customer_lost_billing,customer_lost_other,standing,standing_customer}'::text[]),
                          ('{trial,trial_converted,trial_lapsed,trial_refunded}'),
                          ('{attempt_completed,attempt_failed,attempt_cancelled,attempt_pending,restore_completed,restore_failed,restore_nothing,restore_cancelled}'),
                          ('{proceeds,proceeds_back,proceeds_again}')) g (measures)
            cross join unnest(g.measures) f (measure)
            where exists (select from storehook.closed_cells c where c.closed_id = m.id and c.measure = any (g.measures)));
alter table storehook.closed_months enable trigger closed_months_open_once;
alter table storehook.closed_months enable trigger closed_months_audit;

alter table storehook.figure_state add column catalog_version bigint;
comment on column storehook.figure_state.catalog_version is
    'the version of the catalog that recurring revenue is summed by; null before the first, and until a worker of this release has taken one';
comment on column storehook.closed_months.catalog_version is
    'the version of the catalog that workers summed its figures by; of months that an earlier release closed, the current one of that time; null before the first';
