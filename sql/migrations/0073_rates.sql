-- compatible-from: 10
-- Exchange rates, as files state them, and figures in one currency. Each amount is converted by itself, by the rates of the day of its
-- transaction, and then summed.

create table storehook.exchange_rates (
    currency     text collate "C" not null check (currency ~ '^[A-Z]{3}$' and currency <> 'EUR'),
    day          date not null,
    billionths   bigint not null check (billionths between 1 and 999999999999999999),
    imported_at  timestamptz not null,
    corrected_at timestamptz,
    primary key (currency, day)
);
comment on table storehook.exchange_rates is 'how much of a currency one euro was on a day; inputs of figures, never their results';
comment on column storehook.exchange_rates.billionths is 'billionths of the currency''s unit';
comment on column storehook.exchange_rates.imported_at is 'when this value was imported';
comment on column storehook.exchange_rates.corrected_at is 'when it replaced another value; null of the first one';

create table storehook.earlier_rates (
    currency    text collate "C" not null,
    day         date not null,
    billionths  bigint not null,
    imported_at timestamptz not null,
    replaced_at timestamptz not null,
    primary key (currency, day, replaced_at)
);
comment on table storehook.earlier_rates is 'values of exchange_rates that a later file corrected';

create table storehook.rate_imports (
    id          bigint generated always as identity primary key,
    at          timestamptz not null,
    imported_by text not null check (length(imported_by) between 1 and 200),
    digest      bytea not null check (length(digest) = 32),
    rates       bigint not null,
    added       bigint not null,
    corrected   bigint not null
);
comment on table storehook.rate_imports is 'files of exchange rates that were imported';
comment on column storehook.rate_imports.digest is 'SHA-256 of the file';
comment on column storehook.rate_imports.rates is 'how many the file has; those that are neither added nor corrected were known';

create function storehook.audit_rate_import() returns trigger
    language plpgsql security definer
    set search_path = pg_catalog, pg_temp set timezone = 'UTC' set datestyle = 'ISO'
as $$
declare
    draft storehook.audit_drafts;
begin
    draft.actor := storehook.audit_actor(new.imported_by);
    draft.role := 'admin';
    draft.act := 'import_rates';
    draft.subject_kind := 'rates';
    draft.subject := new.id::text;
    draft.after := jsonb_build_object(
        'rates', new.rates, 'added', new.added, 'corrected', new.corrected, 'digest', encode(new.digest, 'hex'))::text;
    draft.record := 'rate_imports:' || new.id;
    perform storehook.add_audit_draft(draft);
    return null;
end
$$;
revoke all on function storehook.audit_rate_import() from public;
create trigger rate_imports_audit after insert on storehook.rate_imports
    for each row execute function storehook.audit_rate_import();

-- In which currency sums are kept. One worker at a time sums, under the lock of this row, and an import of rates takes it, too.
alter table storehook.figure_state add column currency text collate "C";
alter table storehook.figure_state add column converted_from date;
alter table storehook.figure_state add constraint figure_state_currency_check
    check (converted_from is null or currency is not null);
comment on column storehook.figure_state.currency is 'the reporting currency, whose sums are kept in converted_sums; null where there is none';
comment on column storehook.figure_state.converted_from is
    'the first of the days that are converted, the latest first; null where all of them are';

create table storehook.conversion_marks (
    day date primary key
);
comment on table storehook.conversion_marks is 'days of the figures on which an amount is of a day whose rate is new or corrected';

-- Converted figures, kept as figure_sums are. A day has its rows twice: by currency, and by product and country. What cannot be converted,
-- since no rate is known, stands in rows of its own in its own currency.
create table storehook.converted_sums (
    target      text collate "C" not null,
    zone        text collate "C" not null,
    grain       text collate "C" not null check (grain in ('day', 'day_part', 'plain_month', 'month_product', 'month_country')),
    period      date not null,
    measure     text collate "C" not null,
    environment text collate "C" not null,
    bundle_id   text collate "C" not null,
    product_id  text collate "C" not null,
    storefront  text collate "C" not null,
    currency    text collate "C" not null,
    is_missing  boolean not null,
    count       bigint  not null,
    free        bigint  not null,
    unknown     bigint  not null,
    amount      numeric not null,
    primary key (target, zone, grain, period, measure, environment, bundle_id, product_id, storefront, currency, is_missing)
);
comment on table storehook.converted_sums is
    'sums of figure_cells in the reporting currency (target); what a grain does not have apart, product, country or currency, is empty in it';
comment on column storehook.converted_sums.currency is
    'that of the transactions; empty in the grains of products and countries, but for rows that are missing';
comment on column storehook.converted_sums.is_missing is
    'whether no rate was known: the amount is in thousandths of the row''s own currency, and otherwise of the target';
comment on column storehook.converted_sums.free is 'how many rows have the amount 0, which needs no rate';
comment on column storehook.converted_sums.unknown is 'how many rows have no amount';

-- What an answer says of rates that were corrected later.
create table storehook.corrected_conversions (
    target       text collate "C" not null,
    zone         text collate "C" not null,
    day          date not null,
    measure      text collate "C" not null,
    environment  text collate "C" not null,
    bundle_id    text collate "C" not null,
    corrected_at timestamptz not null
);
comment on table storehook.corrected_conversions is 'days of which amounts were converted by a corrected rate, and when the last of these was';
create index corrected_conversions_of_day on storehook.corrected_conversions (target, zone, day);
-- Whole days are replaced, and nothing updates a row.
alter table storehook.corrected_conversions replica identity full;

-- As in 0070: who sums figures also converts them.
do $$
declare
    summer name;
begin
    for summer in
        select r.rolname
          from pg_class c cross join lateral aclexplode(c.relacl) a join pg_roles r on r.oid = a.grantee
         where c.oid = 'storehook.figure_cells'::regclass and a.privilege_type = 'INSERT' and a.grantee <> c.relowner
    loop
        execute format('grant select on storehook.exchange_rates to %I', summer);
        execute format('grant select, delete on storehook.conversion_marks to %I', summer);
        execute format('grant select, insert, update, delete on storehook.converted_sums to %I', summer);
        execute format('grant select, insert, delete on storehook.corrected_conversions to %I', summer);
    end loop;
end
$$;
