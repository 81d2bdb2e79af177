-- compatible-from: 10
-- Sums that answers of figures read. Sums of all apps together, by country and by day: so an answer reads as many rows as it has values. Workers
-- add them up from the others. And sums in several currencies: the reporting currency, and the currencies of recent questions. Changes of cells are
-- converted and added; after a change of rates, whole months are converted anew. So no sums by day, product and country are kept, as in
-- converted_sums. That table and corrected_conversions belong to the earlier release; a later release drops them.

alter table storehook.figure_sums drop constraint figure_sums_grain_check;
-- As in 0075.
alter table storehook.figure_sums add constraint figure_sums_grain_check
    check (grain in ('month_product', 'month_country', 'all_country', 'plain_month', 'day', 'all_day')) not valid;
comment on table storehook.figure_sums is
    'sums of figure_cells; a column that a grain does not separate, product or country, is empty in it, and so is the app in all_country and all_day';

create table storehook.figure_currencies (
    currency       text collate "C" not null,
    zone           text collate "C" not null,
    is_reporting   boolean not null,
    converted_from date,
    primary key (currency, zone)
);
comment on table storehook.figure_currencies is 'the currencies with kept currency_sums and currency_values, by the days of a zone';
comment on column storehook.figure_currencies.is_reporting is 'whether it is the reporting currency of the catalog; false for a currency of questions';
comment on column storehook.figure_currencies.converted_from is
    'the first converted day: all later ones are converted, too; null where all days are';

create table storehook.asked_currencies (
    currency text collate "C" primary key check (currency ~ '^[A-Z]{3}$'),
    first_at timestamptz not null default now(),
    asked_at timestamptz not null default now()
);
comment on table storehook.asked_currencies is
    'the currencies of questions, beside the reporting one; workers keep sums in the first few with a recent question';
comment on column storehook.asked_currencies.first_at is 'when questions in it began';
comment on column storehook.asked_currencies.asked_at is 'when the last question was, to a day';

create table storehook.currency_sums (
    target       text collate "C" not null,
    zone         text collate "C" not null,
    grain        text collate "C" not null check (grain in ('app_day', 'plain_month', 'month_product', 'month_country', 'all_country')),
    period       date not null,
    measure      text collate "C" not null,
    environment  text collate "C" not null,
    bundle_id    text collate "C" not null,
    product_id   text collate "C" not null,
    storefront   text collate "C" not null,
    currency     text collate "C" not null,
    is_missing   boolean not null,
    count        bigint  not null,
    free         bigint  not null,
    unknown      bigint  not null,
    amount       numeric not null,
    corrected_at timestamptz,
    primary key (target, zone, grain, period, environment, measure, bundle_id, product_id, storefront, currency, is_missing)
);
comment on table storehook.currency_sums is
    'sums of the cells with money, each converted by itself, in a currency (target); a column that a grain does not separate is empty in it';
comment on column storehook.currency_sums.currency is 'the currency of the transactions, in the grain plain_month and in missing rows; else empty';
comment on column storehook.currency_sums.is_missing is
    'whether no rate was known: the amount is in thousandths of the row''s own currency, and otherwise of the target';
comment on column storehook.currency_sums.free is 'how many rows have the amount 0, which needs no rate';
comment on column storehook.currency_sums.unknown is 'how many rows have no amount';
comment on column storehook.currency_sums.corrected_at is
    'when the last corrected rate of its conversions was corrected, since its month was last converted as a whole; null without one';

create table storehook.currency_values (
    target       text collate "C" not null,
    zone         text collate "C" not null,
    grain        text collate "C" not null check (grain in ('day', 'cohort')),
    day          date not null,
    environment  text collate "C" not null,
    cohort       date not null,
    bundle_id    text collate "C" not null,
    months       smallint not null,
    currency     text collate "C" not null,
    is_missing   boolean not null,
    count        bigint  not null,
    unknown      bigint  not null,
    amount       numeric not null,
    corrected_at timestamptz,
    primary key (target, zone, grain, day, environment, cohort, bundle_id, months, currency, is_missing)
);
comment on table storehook.currency_values is
    'sums of value_cells, each cell converted by itself, by the month of the first payment: of each day, and of all days together';
comment on column storehook.currency_values.day is 'the day of the payments; of all days together, the cohort';
comment on column storehook.currency_values.cohort is 'the first day of the month of the first payment';
comment on column storehook.currency_values.currency is 'the currency of missing rows; else empty';

-- As in 0073. Programs that answer figures note the currencies of questions.
do $$
declare
    someone name;
begin
    for someone in
        select r.rolname
          from pg_class c cross join lateral aclexplode(c.relacl) a join pg_roles r on r.oid = a.grantee
         where c.oid = 'storehook.figure_cells'::regclass and a.privilege_type = 'INSERT' and a.grantee <> c.relowner
    loop
        execute format(
            'grant select, insert, update, delete on storehook.figure_currencies, storehook.currency_sums, storehook.currency_values to %I',
            someone);
    end loop;
    for someone in
        select r.rolname
          from pg_class c cross join lateral aclexplode(c.relacl) a join pg_roles r on r.oid = a.grantee
         where c.oid = 'storehook.figure_cells'::regclass and a.privilege_type = 'SELECT' and a.grantee <> c.relowner
    loop
        execute format('grant select on storehook.figure_currencies, storehook.currency_sums, storehook.currency_values to %I', someone);
        execute format('grant select, insert, update on storehook.asked_currencies to %I', someone);
    end loop;
end
$$;
