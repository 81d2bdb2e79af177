-- compatible-from: 10
-- Figures: what was sold, refunded and ordered, summed by day in the zone of the catalog. They are derived from the books: a statement that
-- changes these marks the hours and days concerned, in the same transaction, and a worker sums the days of the marks anew.

-- Where the rows of a day are found.
create index booked_transactions_started on storehook.booked_transactions (starts_at, order_id);
create index booked_refunds_made on storehook.booked_refunds (at, order_id);
-- Nearly all rows are heard of at once. A day has ended more than 24 hours before only where more than these lie between.
create index booked_transactions_late on storehook.booked_transactions (heard_at) where heard_at - starts_at > interval '24 hours';
create index booked_refunds_late on storehook.booked_refunds (heard_at) where heard_at - at > interval '24 hours';

-- No zone is known where the books change, so that instants are marked by the hour.
create table storehook.figure_marks (
    id   bigint generated always as identity primary key,
    hour timestamptz,
    day  date,
    constraint figure_marks_check check ((hour is null) <> (day is null))
);
comment on table storehook.figure_marks is
    'what changed in the books and is not yet in the figures: an hour in which something was bought, refunded or heard of late, or the day of an order';
create index figure_marks_of on storehook.figure_marks (hour, day);

-- One row for each app, product, country, currency and amount that occurs on a day: figures are sums of these, converted ones too, since each
-- row is converted by itself. Written and deleted with the whole day; nothing is unique, since both happen in one statement.
create table storehook.figure_cells (
    zone        text collate "C" not null,
    day         date not null,
    measure     text collate "C" not null check (measure in
        ('order', 'sale', 'refunded_sale', 'refund', 'reversal', 'late_sale', 'late_refund', 'late_reversal')),
    environment text collate "C" not null,
    bundle_id   text collate "C" not null,
    product_id  text collate "C" not null,
    storefront  text collate "C" not null,
    currency    text collate "C" not null,
    rate_day    date,
    unit        bigint,
    count       bigint not null
);
comment on table storehook.figure_cells is 'rows of the books by day and amount; product, country and currency are empty where no record says them';
comment on column storehook.figure_cells.measure is
    'order: by the day in its number. sale: by purchaseDate; refunded_sale: those of it that are refunded, by the same day. refund and reversal: by their own date. late_…: by the day on which they were heard of, where their own had ended more than 24 hours before';
comment on column storehook.figure_cells.rate_day is 'the day of the transaction, whose exchange rate counts; null of orders';
comment on column storehook.figure_cells.unit is 'the amount of each row, in thousandths of the currency; null where it is not known, and of orders';
comment on column storehook.figure_cells.count is 'how many rows of this amount there are';
create index figure_cells_of_day on storehook.figure_cells (zone, day);
-- Whole days are deleted, and nothing updates a row: no key is worth its index.
alter table storehook.figure_cells replica identity full;

-- Sums of the cells, so that years answer at once: by month and product, by month and country, and by month and by day with neither, since
-- the cells of three years are a hundred times as many.
create table storehook.figure_sums (
    grain       text collate "C" not null check (grain in ('month_product', 'month_country', 'plain_month', 'day')),
    zone        text collate "C" not null,
    period      date not null,
    measure     text collate "C" not null,
    environment text collate "C" not null,
    bundle_id   text collate "C" not null,
    product_id  text collate "C" not null,
    storefront  text collate "C" not null,
    currency    text collate "C" not null,
    count       bigint  not null,
    free        bigint  not null,
    unknown     bigint  not null,
    amount      numeric not null,
    primary key (grain, zone, environment, period, measure, bundle_id, product_id, storefront, currency)
);
comment on table storehook.figure_sums is
    'sums of figure_cells; what a grain does not have apart, product or country, is empty in it';
comment on column storehook.figure_sums.period is 'the day, or the first day of the month';
comment on column storehook.figure_sums.free is 'how many rows have the amount 0';
comment on column storehook.figure_sums.unknown is 'how many rows have no amount';

-- One worker at a time sums: it locks this row.
create table storehook.figure_state (
    is_only     boolean primary key default true check (is_only),
    zone        text collate "C",
    next_zone   text collate "C",
    summed_from date,
    constraint figure_state_walk_check check ((next_zone is null) = (summed_from is null))
);
comment on table storehook.figure_state is 'in which zone the figures count their days';
comment on column storehook.figure_state.zone is 'the zone of the figures that stand; null before all days were summed for the first time';
comment on column storehook.figure_state.next_zone is 'the zone whose days are being summed, the latest first';
comment on column storehook.figure_state.summed_from is 'the first of the days that are summed in it';
insert into storehook.figure_state default values;

-- The marks. The functions write as their owner: whoever may change the books need not know of figures.
create function storehook.mark_figures_of_transactions() returns trigger language plpgsql security definer
    set search_path = pg_catalog, pg_temp set timezone = 'UTC' set datestyle = 'ISO'
as $$
begin
    if tg_op <> 'UPDATE' then
        insert into storehook.figure_marks (hour)
        select distinct date_trunc('hour', m.at, 'UTC') from rows r
         cross join lateral (
            values (r.starts_at), (case when r.heard_at - r.starts_at > interval '24 hours' then r.heard_at end)
            union all
            -- A rebuild may find refunds without their transaction.
            select s.at from storehook.booked_refunds b cross join lateral (values (b.at), (b.heard_at)) s (at)
             where (b.order_id, b.item) = (r.order_id, r.item)) m (at)
         where m.at is not null;
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
    end if;
    return null;
end
$$;
revoke all on function storehook.mark_figures_of_transactions() from public;
create trigger figures_of_new after insert on storehook.booked_transactions
    referencing new table as rows for each statement execute function storehook.mark_figures_of_transactions();
create trigger figures_of_changed after update on storehook.booked_transactions
    referencing old table as old_rows new table as new_rows for each statement
    execute function storehook.mark_figures_of_transactions();
create trigger figures_of_gone after delete on storehook.booked_transactions
    referencing old table as rows for each statement execute function storehook.mark_figures_of_transactions();

create function storehook.mark_figures_of_refunds() returns trigger language plpgsql security definer
    set search_path = pg_catalog, pg_temp set timezone = 'UTC' set datestyle = 'ISO'
as $$
begin
    if tg_op <> 'UPDATE' then
        insert into storehook.figure_marks (hour)
        select distinct date_trunc('hour', m.at, 'UTC') from rows r
         cross join lateral (values (r.at), (case when r.heard_at - r.at > interval '24 hours' then r.heard_at end)) m (at)
         where m.at is not null;
    else
        insert into storehook.figure_marks (hour)
        select distinct date_trunc('hour', m.at, 'UTC')
          from old_rows o join new_rows n using (order_id, item, place)
         cross join lateral (values (o.at), (n.at), (o.heard_at), (n.heard_at)) m (at)
         where (o.type, o.at, o.amount, o.heard_at) is distinct from (n.type, n.at, n.amount, n.heard_at);
    end if;
    return null;
end
$$;
revoke all on function storehook.mark_figures_of_refunds() from public;
create trigger figures_of_new after insert on storehook.booked_refunds
    referencing new table as rows for each statement execute function storehook.mark_figures_of_refunds();
create trigger figures_of_changed after update on storehook.booked_refunds
    referencing old table as old_rows new table as new_rows for each statement execute function storehook.mark_figures_of_refunds();
create trigger figures_of_gone after delete on storehook.booked_refunds
    referencing old table as rows for each statement execute function storehook.mark_figures_of_refunds();

-- A hidden order counts nowhere; its transactions are deleted with it, which marks theirs.
create function storehook.mark_figures_of_orders() returns trigger language plpgsql security definer
    set search_path = pg_catalog, pg_temp set timezone = 'UTC' set datestyle = 'ISO'
as $$
begin
    if tg_op <> 'UPDATE' then
        insert into storehook.figure_marks (day) select distinct day from rows where class_id is not null;
    else
        insert into storehook.figure_marks (day)
        select distinct m.day from old_rows o join new_rows n using (id) cross join lateral (values (o.day), (n.day)) m (day)
         where (o.day, o.class_id) is distinct from (n.day, n.class_id);
    end if;
    return null;
end
$$;
revoke all on function storehook.mark_figures_of_orders() from public;
create trigger figures_of_new after insert on storehook.booked_orders
    referencing new table as rows for each statement execute function storehook.mark_figures_of_orders();
create trigger figures_of_changed after update on storehook.booked_orders
    referencing old table as old_rows new table as new_rows for each statement execute function storehook.mark_figures_of_orders();
create trigger figures_of_gone after delete on storehook.booked_orders
    referencing old table as rows for each statement execute function storehook.mark_figures_of_orders();

create view storehook.figures_daily as
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
               ('heard_late', 'late_sale', 1), ('heard_late', 'late_refund', -1), ('heard_late', 'late_reversal', 1))
       as f (figure, measure, sign) on f.measure = c.measure
 group by f.figure, c.environment, c.day, c.zone, c.bundle_id, c.product_id, c.storefront, c.currency;
comment on view storehook.figures_daily is
    'figures by day, app, product, country and currency; amounts in thousandths of the currency, null where none is known';

-- As in 0065: who books also sums.
do $$
declare
    writer name;
begin
    for writer in
        select r.rolname
          from pg_class c cross join lateral aclexplode(c.relacl) a join pg_roles r on r.oid = a.grantee
         where c.oid = 'storehook.order_days'::regclass and a.privilege_type = 'INSERT' and a.grantee <> c.relowner
    loop
        execute format('grant select, insert, delete on storehook.figure_cells to %I', writer);
        execute format('grant select, delete on storehook.figure_marks to %I', writer);
        execute format('grant select, insert, update, delete on storehook.figure_sums to %I', writer);
        execute format('grant select, update on storehook.figure_state to %I', writer);
    end loop;
end
$$;
