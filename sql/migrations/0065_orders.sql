-- compatible-from: 10
-- Orders: what was bought, paid and refunded, under numbers that people can read to each other. Derived from purchases in the transaction
-- that changes them; the number, its day, the tier's rank and the instants of first knowledge are evidence that nothing derives again.

-- What the books need of each signed record. Rows of releases before have null: the latest record of their transaction says the same.
-- Those releases read price and original_purchased_at of non-consumables alone, where they distinguish a purchase from a copy, and hold the
-- rows of other purchases against null: what other purchases say has columns of its own.
alter table storehook.purchase_facts
    add column paid bigint,
    add column first_bought_at timestamptz,
    add column currency text,
    add column storefront text,
    add column revocation_type text;
comment on column storehook.purchase_facts.paid is 'the price, in thousandths of the currency, but for a non-consumable, which has price';
comment on column storehook.purchase_facts.first_bought_at is
    'the originalPurchaseDate, but for a non-consumable, which has original_purchased_at';

-- What a list of orders is filtered by. There are as many rows as combinations occur, some thousand; each order names one, so that a list
-- looks for the combinations first, and for orders by one index after that.
create table storehook.order_classes (
    id          integer generated always as identity primary key,
    environment text collate "C" not null,
    bundle_id   text collate "C" not null,
    product_id  text collate "C" not null,
    plan_type   text collate "C" not null,
    status      text collate "C" not null,
    currency    text collate "C" not null,
    storefront  text collate "C" not null,
    unique (environment, bundle_id, product_id, plan_type, status, currency, storefront)
);
comment on table storehook.order_classes is
    'the combinations of what orders are filtered by; product, currency and storefront are empty where no record says them';

create table storehook.booked_orders (
    id                      bigint generated always as identity,
    environment             text collate "C" not null,
    bundle_id               text collate "C" not null,
    order_key               text collate "C" not null,
    original_transaction_id text collate "C",
    originally_at           timestamptz not null,
    day                     date        not null,
    number                  integer check (number > 0),
    created_at              timestamptz,
    class_id                integer,
    plan_type               text collate "C" not null check (plan_type in
        ('auto_renewable', 'non_consumable', 'consumable', 'non_renewing')),
    status                  text collate "C" not null default 'completed' check (status in
        ('pending', 'completed', 'failed', 'cancelled', 'partially_refunded', 'refunded')),
    item                    text collate "C",
    turns_at                timestamptz,
    refunded_at             timestamptz,
    updated_at              timestamptz not null,
    primary key (id) include (day, class_id),
    unique (environment, bundle_id, order_key)
) with (fillfactor = 85);
comment on table storehook.booked_orders is
    'one row an order. id, day, number, created_at and updated_at are evidence; the rest is derived from the purchase';
comment on column storehook.booked_orders.order_key is
    'the originalTransactionId of what renews itself and of a non-consumable, else the transactionId';
comment on column storehook.booked_orders.originally_at is 'the originalPurchaseDate of its first record';
comment on column storehook.booked_orders.day is 'the day of originally_at in the zone of the catalog; it stands once there is a number';
comment on column storehook.booked_orders.number is 'its place within the day, 1 to n without a gap; null until it is dealt';
comment on column storehook.booked_orders.created_at is 'when the number was dealt';
comment on column storehook.booked_orders.class_id is
    'what lists filter it by; null where it is hidden: late evidence shows that somebody else paid for it';
comment on column storehook.booked_orders.item is 'the transaction that it shows: the latest that had begun when it was written last';
comment on column storehook.booked_orders.turns_at is 'when a later transaction begins; null where none does';
comment on column storehook.booked_orders.refunded_at is 'the latest refund that stands';
comment on column storehook.booked_orders.updated_at is 'when the latest evidence that changed it was stored';
-- Lists walk these without reading the table; a renewal changes no column of them.
create index booked_orders_of_class on storehook.booked_orders (class_id, day desc, id desc) where class_id is not null;
create index booked_orders_of_day on storehook.booked_orders (day desc, id desc) include (class_id, number)
    where class_id is not null;
create unique index booked_orders_number on storehook.booked_orders (day, number) where number is not null;
create index booked_orders_to_number on storehook.booked_orders (day, id)
    where number is null and class_id is not null;
create index booked_orders_to_turn on storehook.booked_orders (turns_at) where turns_at is not null;
-- Several orders may share one originalTransactionId; where there is one, order_key has it.
create index booked_orders_of_purchase on storehook.booked_orders (original_transaction_id)
    where order_key <> original_transaction_id;

create table storehook.booked_transactions (
    order_id       bigint not null,
    item           text collate "C" not null,
    transaction_id text collate "C" not null,
    product_id     text collate "C",
    relation       text collate "C" not null check (relation in
        ('initial_purchase', 'resubscription', 'renewal', 'change')),
    follows        text collate "C",
    is_within      boolean not null,
    starts_at      timestamptz not null,
    ends_at        timestamptz,
    price          bigint,
    currency       text collate "C",
    storefront     text collate "C",
    quantity       bigint not null,
    is_trial       boolean not null,
    is_void        boolean not null,
    revoked_share  integer check (revoked_share between 0 and 100000),
    refunded       bigint,
    refunded_at    timestamptz,
    tier_rank      smallint,
    heard_at       timestamptz not null,
    changed_at     timestamptz not null,
    primary key (order_id, item)
);
comment on table storehook.booked_transactions is
    'one row a paid period, or a purchase of something bought once. tier_rank, heard_at and changed_at are evidence';
comment on column storehook.booked_transactions.item is 'what all records of it have in common: a line item of Apple''s or a transaction';
comment on column storehook.booked_transactions.relation is
    'what it is to the one before it; a change is an upgrade, a downgrade or a crossgrade by both tiers, see order_transactions';
comment on column storehook.booked_transactions.follows is 'the item before it';
comment on column storehook.booked_transactions.is_within is 'whether it began before the end of the one before it';
comment on column storehook.booked_transactions.price is 'in thousandths of the currency, as signed; null where no record says it';
comment on column storehook.booked_transactions.is_void is
    'whether it never begins: it was charged ahead, and another plan was bought before. No money is counted of it';
comment on column storehook.booked_transactions.revoked_share is
    'how much of it is refunded now, in thousandths of a percent; null where Apple refunded a part and does not say how much';
comment on column storehook.booked_transactions.refunded is 'the same in thousandths of the currency; null where it is not known';
comment on column storehook.booked_transactions.refunded_at is 'when the refund that stands was made; null where none stands';
comment on column storehook.booked_transactions.tier_rank is
    'the rank of its tier in the catalog that was current when it was first stored; null where that lacked the product';
comment on column storehook.booked_transactions.heard_at is 'when its first record was stored';
comment on column storehook.booked_transactions.changed_at is 'when the latest evidence that changed it was stored';
-- What changed since an instant, and of which orders. Rows are written in the order of time, so that entries come last.
create index booked_transactions_changed on storehook.booked_transactions (changed_at, order_id);

create table storehook.booked_refunds (
    order_id    bigint not null,
    item        text collate "C" not null,
    place       smallint not null,
    type        text collate "C" not null check (type in ('refund', 'refund_reversed', 'revoke')),
    at          timestamptz not null,
    amount      bigint,
    is_computed boolean not null,
    heard_at    timestamptz not null,
    primary key (order_id, item, place)
);
comment on table storehook.booked_refunds is 'what was given back, and what of that was taken back again. heard_at is evidence';
comment on column storehook.booked_refunds.place is 'its place among those of the transaction, from 0 on, by the signing of the records';
comment on column storehook.booked_refunds.at is 'the revocationDate; of a reversal, when Apple signed it';
comment on column storehook.booked_refunds.amount is 'in thousandths of the currency, never negative; null where it is not known';
comment on column storehook.booked_refunds.is_computed is 'whether it is a share of the price, which Apple rounds';
comment on column storehook.booked_refunds.heard_at is 'when it was first stored';

-- How many numbers each day has given. Only who deals numbers locks a row here.
create table storehook.order_days (
    day  date primary key,
    last integer not null check (last > 0)
);
comment on table storehook.order_days is 'the last order number of each day';

-- What is done by one worker at a time, which locks the row meanwhile: numbers are dealt, and purchases from before these tables are booked.
create table storehook.order_clock (
    task                    text primary key check (task in ('number', 'walk')),
    original_transaction_id text collate "C",
    bundle_id               text collate "C",
    environment             text collate "C",
    finished_at             timestamptz
);
comment on table storehook.order_clock is
    'what one worker at a time does with orders; of walk the last purchase from before orders that is booked, where the next goes on';
insert into storehook.order_clock (task, finished_at)
values ('number', null), ('walk', case when not exists (select from storehook.purchase_lines) then now() end);

create function storehook.order_number(day date, number integer) returns text
    language sql immutable parallel safe
    set search_path = pg_catalog, pg_temp set timezone = 'UTC' set datestyle = 'ISO'
as $$
    select 'ORD-' || to_char(day, 'YYYYMMDD') || '-' || case when number < 10000 then lpad(number::text, 4, '0') else number::text end
$$;
revoke all on function storehook.order_number(date, integer) from public;

create view storehook.orders as
select o.environment, o.bundle_id, storehook.order_number(o.day, o.number) as number, o.day, o.order_key,
       o.original_transaction_id, t.product_id, o.plan_type, o.status, t.price as amount, t.currency,
       t.starts_at as started_at, t.ends_at, o.refunded_at, o.created_at, o.updated_at
  from storehook.booked_orders o
  left join storehook.booked_transactions t on t.order_id = o.id and t.item = o.item
 where o.class_id is not null;
comment on view storehook.orders is
    'one row an order, with the product, amount and dates of its latest period that began; an order without a number is dealt one within seconds';

create view storehook.order_totals as
select o.environment, o.bundle_id, storehook.order_number(o.day, o.number) as number, o.order_key, t.currency,
       coalesce(sum(t.price), 0)::bigint as paid, coalesce(sum(t.refunded), 0)::bigint as refunded,
       count(*) filter (where t.price is null) as unpriced,
       count(*) filter (where t.revoked_share is null or t.refunded is null) as unknown_refunds
  from storehook.booked_orders o
  join storehook.booked_transactions t on t.order_id = o.id
 where o.class_id is not null and not t.is_void
 group by o.id, t.currency;
comment on view storehook.order_totals is
    'what was paid and refunded in all of an order, by currency. unpriced: transactions without a signed price; unknown_refunds: refunds without an amount';

create view storehook.order_transactions as
select o.environment, o.bundle_id, storehook.order_number(o.day, o.number) as number, o.order_key, t.item,
       t.transaction_id,
       case when t.relation <> 'change' then t.relation
            when t.tier_rank is null or before.tier_rank is null then
                case when t.is_within then 'upgrade' else 'crossgrade' end
            when t.tier_rank > before.tier_rank then 'upgrade'
            when t.tier_rank < before.tier_rank then 'downgrade'
            else 'crossgrade' end as type,
       t.starts_at as at, t.ends_at, t.product_id, t.price as amount, t.currency, t.storefront, t.quantity, t.is_trial,
       t.is_void, false as is_computed, t.heard_at
  from storehook.booked_orders o
  join storehook.booked_transactions t on t.order_id = o.id
  left join storehook.booked_transactions before on before.order_id = t.order_id and before.item = t.follows
 where o.class_id is not null
union all
select o.environment, o.bundle_id, storehook.order_number(o.day, o.number), o.order_key, t.item, t.transaction_id,
       r.type, r.at, null, t.product_id, r.amount, t.currency, t.storefront, t.quantity, t.is_trial, t.is_void,
       r.is_computed, r.heard_at
  from storehook.booked_orders o
  join storehook.booked_refunds r on r.order_id = o.id
  join storehook.booked_transactions t on t.order_id = r.order_id and t.item = r.item
 where o.class_id is not null;
comment on view storehook.order_transactions is
    'the paid periods and purchases of each order, and the rows of its refunds; amounts are positive, the type says which way';

-- Who applies evidence also books it. `sql/roles.sql` grants the same; here it is granted so that programs go on between the upgrade and
-- the next run of that file.
do $$
declare
    writer name;
begin
    for writer in
        select r.rolname
          from pg_class c cross join lateral aclexplode(c.relacl) a join pg_roles r on r.oid = a.grantee
         where c.oid = 'storehook.subscriptions'::regclass and a.privilege_type = 'INSERT' and a.grantee <> c.relowner
    loop
        execute format('grant select, insert on storehook.order_classes to %I', writer);
        execute format('grant select, insert, update on storehook.booked_orders, storehook.booked_transactions,
            storehook.booked_refunds, storehook.order_days to %I', writer);
        execute format('grant delete on storehook.booked_transactions, storehook.booked_refunds to %I', writer);
        execute format('grant select, update on storehook.order_clock to %I', writer);
    end loop;
end
$$;
