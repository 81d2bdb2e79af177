-- compatible-from: 10
-- Attempts to buy that apps report are orders as well. Reports of one account, product and environment within 24 hours of the first are
-- one attempt. An attempt has a row of booked_orders of its own, and a number like any other. The transaction that completes it is found by
-- dates alone. Then the attempt's row is hidden: its number goes to the order of that transaction, where that has none yet, else it stays
-- with the hidden row, as an alias.

-- Where a report stands. Constant defaults: no row is written.
alter table storehook.purchase_attempts
    add column is_booked boolean not null default false,
    add column is_surplus boolean not null default false;
comment on column storehook.purchase_attempts.is_booked is
    'whether orders took note of it; restores are in no order, and stay as they are';
comment on column storehook.purchase_attempts.is_surplus is
    'whether it is in no order because its account had the most attempts that a day may have';
create index purchase_attempts_to_book on storehook.purchase_attempts (at, id) where kind = 'purchase' and not is_booked;

-- Nobody knows the plan of what was not bought.
alter table storehook.booked_orders drop constraint booked_orders_plan_type_check;
alter table storehook.booked_orders add constraint booked_orders_plan_type_check check (plan_type in
    ('auto_renewable', 'non_consumable', 'consumable', 'non_renewing', 'unknown')) not valid;
comment on column storehook.booked_orders.order_key is
    'the originalTransactionId of what renews itself and of a non-consumable, else the transactionId; of an attempt attempt- and its id';
comment on column storehook.booked_orders.original_transaction_id is 'the purchase; null only of attempts';

alter table storehook.order_clock drop constraint order_clock_task_check;
alter table storehook.order_clock add constraint order_clock_task_check check (task in ('number', 'walk', 'attempts'));
insert into storehook.order_clock (task) values ('attempts');

create table storehook.booked_attempts (
    id               bigint primary key,
    order_id         bigint not null unique,
    token            uuid,
    bundle_id        text collate "C" not null,
    product_id       text collate "C" not null,
    environment      text collate "C" not null,
    day              date not null,
    outcome          text collate "C" not null check (outcome in ('pending', 'failed', 'cancelled')),
    reason           text,
    reports          integer not null check (reports > 0),
    first_at         timestamptz not null,
    last_at          timestamptz not null check (last_at >= first_at),
    last_report      bigint not null,
    written_at       timestamptz not null,
    check_at         timestamptz,
    matched_order_id bigint,
    matched_item     text collate "C",
    constraint booked_attempts_match_check check ((matched_order_id is null) = (matched_item is null))
);
comment on table storehook.booked_attempts is
    'attempts to buy that apps reported, each a row of booked_orders. Evidence, but for the match, which dates decide';
comment on column storehook.booked_attempts.id is 'the number of its first report';
comment on column storehook.booked_attempts.order_id is 'its own row of booked_orders: hidden once a transaction completes it';
comment on column storehook.booked_attempts.token is 'the account''s appAccountToken; null once it was erased';
comment on column storehook.booked_attempts.bundle_id is
    'the app that has the product in the catalog that was current; empty where none has it, or several';
comment on column storehook.booked_attempts.product_id is 'as the app wrote it';
comment on column storehook.booked_attempts.day is 'of its first report, in the zone of the catalog that was current';
comment on column storehook.booked_attempts.outcome is 'of its latest report; completed is pending until a transaction completes it';
comment on column storehook.booked_attempts.reason is 'the app''s, of its latest report; null once the account was erased';
comment on column storehook.booked_attempts.last_report is 'the number of its latest report';
comment on column storehook.booked_attempts.written_at is 'when a report was booked last';
comment on column storehook.booked_attempts.check_at is 'when to look for its transaction next; null where only another one may change it';
comment on column storehook.booked_attempts.matched_order_id is 'the row of booked_orders with the transaction that completes it';
comment on column storehook.booked_attempts.matched_item is 'which transaction of that';
create index booked_attempts_of_account on storehook.booked_attempts (token, product_id, environment, first_at);
create unique index booked_attempts_matched on storehook.booked_attempts (matched_order_id, matched_item)
    where matched_order_id is not null;
create index booked_attempts_to_check on storehook.booked_attempts (check_at) where check_at is not null;

create or replace view storehook.orders as
select o.environment, o.bundle_id, storehook.order_number(o.day, o.number) as number, o.day, o.order_key,
       o.original_transaction_id, coalesce(t.product_id, nullif(c.product_id, '')) as product_id, o.plan_type, o.status,
       t.price as amount, t.currency, t.starts_at as started_at, t.ends_at, o.refunded_at, o.created_at, o.updated_at
  from storehook.booked_orders o
  join storehook.order_classes c on c.id = o.class_id
  left join storehook.booked_transactions t on t.order_id = o.id and t.item = o.item;

create view storehook.order_attempts as
select o.environment, o.bundle_id, storehook.order_number(o.day, o.number) as number, o.order_key, a.matched_item as item,
       case when a.matched_order_id is not null then storehook.order_number(own.day, own.number) end as alias,
       a.outcome, a.reports, a.first_at, a.last_at
  from storehook.booked_attempts a
  join storehook.booked_orders o on o.id = coalesce(a.matched_order_id, a.order_id)
  join storehook.booked_orders own on own.id = a.order_id
 where o.class_id is not null;
comment on view storehook.order_attempts is
    'attempts to buy, each in the order that it is or that it came to. alias: a number of its own that finds that order, too';

-- Who books orders books attempts, and who applies evidence says which to look at again. As in 0065.
do $$
declare
    writer name;
begin
    for writer in
        select r.rolname
          from pg_class c cross join lateral aclexplode(c.relacl) a join pg_roles r on r.oid = a.grantee
         where c.oid = 'storehook.subscriptions'::regclass and a.privilege_type = 'INSERT' and a.grantee <> c.relowner
    loop
        execute format('grant select, insert, update on storehook.booked_attempts to %I', writer);
        execute format('grant update (is_booked, is_surplus) on storehook.purchase_attempts to %I', writer);
    end loop;
end
$$;
