-- compatible-from: 10
-- What decides between the periods of a subscription: who began each of them, and what stands beside what.

-- Null in rows of before, and in what programs of the release before write: nobody knows there, but for renewals. What Apple signed is
-- read again by `storehook rebuild`.
alter table storehook.purchase_facts
    add column reason text,
    add column additional_reason text;
comment on column storehook.purchase_facts.reason is
    'PURCHASE or RENEWAL, as Apple says; null where Apple says neither, or the row was written before it was kept';
comment on column storehook.purchase_facts.additional_reason is
    'why the transaction stands beside others of its period, in Apple''s word; null for nearly all';
alter table storehook.transactions
    add column additional_reason text;
comment on column storehook.transactions.additional_reason is
    'why it stands beside other transactions of its period, in Apple''s word (additionalTransactionReason)';

-- Renewals that were charged ahead and never begin, because another plan was bought before they did: no money is made of them. Derived
-- from the facts as subscriptions are; a purchase that was known before has its own with its next record, or after `storehook rebuild`.
create table storehook.replaced_renewals (
    environment             text        collate "C" not null,
    bundle_id               text        collate "C" not null,
    original_transaction_id text        collate "C" not null,
    transaction_id          text        collate "C" not null,
    replaced_at             timestamptz not null,
    primary key (original_transaction_id, bundle_id, environment, transaction_id)
);
comment on table storehook.replaced_renewals is
    'renewals that were charged ahead and never begin: another plan was bought before they did, and Apple gives the money back';
comment on column storehook.replaced_renewals.replaced_at is 'when that plan was bought';

-- As before, without renewals that never begin; and what is added to a period under its line item (seats) is paid for by itself.
create or replace view storehook.paid_periods as
select environment, bundle_id, original_transaction_id, transaction_id, product_id, kind, purchased_at, expires_at, price,
       currency, quantity, revoked_at, revocation_type, revocation_reason, revocation_percentage, storefront, offer_type,
       offer_id, billing_plan_type, payload->'commitmentInfo' as commitment_info
  from storehook.transactions t
 where (ownership = 'PURCHASED' or ownership is null)
   and not exists (
        select from storehook.transactions later
         where later.web_order_line_item_id = t.web_order_line_item_id and later.bundle_id = t.bundle_id
           and later.environment = t.environment and later.transaction_id <> t.transaction_id
           and (later.ownership = 'PURCHASED' or later.ownership is null)
           and (later.purchased_at = t.purchased_at or later.additional_reason is null and t.additional_reason is null)
           and (later.is_unsigned is null, later.signed_at, later.digest, later.transaction_id)
               > (t.is_unsigned is null, t.signed_at, t.digest, t.transaction_id))
   and not exists (
        select from storehook.replaced_renewals r
         where r.original_transaction_id = t.original_transaction_id and r.bundle_id = t.bundle_id
           and r.environment = t.environment and r.transaction_id = t.transaction_id);
