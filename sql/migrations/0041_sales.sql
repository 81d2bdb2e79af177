-- compatible-from: 10
-- What was bought once, and what was paid for it.

-- By these a purchase that was made after a refund is told from a copy of what was refunded. Kept of non-consumables alone; null in
-- the rows of older programs.
alter table storehook.purchase_facts
    add column original_purchased_at timestamptz,
    add column price bigint;

-- Null in the rows of older programs, which take a purchase for held throughout and for one sale.
alter table storehook.one_time_purchases
    add column gaps text,
    add column sales text;
comment on column storehook.one_time_purchases.gaps is
    'when it was not held in between, refunded until that was reversed or it was bought again: from/until in milliseconds since 1970';
comment on column storehook.one_time_purchases.sales is
    'where it was paid for more than once: of each sale, as JSON, its transaction, how many, and its refund; else null';
comment on column storehook.one_time_purchases.revoked_share is
    'how much of it was taken back, in thousandths of a percent, rounded down: 0 while it stands, 100000 for all of it';

alter table storehook.anomalies
    drop constraint anomalies_kind_check,
    add constraint anomalies_kind_check check (kind in (
        'status_contradicted', 'period_missing', 'upgrade_missing', 'purchase_unclear', 'transaction_unusable',
        'transaction_shared'));
create index anomalies_unclear on storehook.anomalies (bundle_id, environment) where kind = 'purchase_unclear';

-- Apple is asked about these, too.
create or replace view storehook.contradictions as
select * from storehook.anomalies
 where kind in ('status_contradicted', 'period_missing', 'upgrade_missing')
union all
select * from storehook.anomalies where kind = 'purchase_unclear';

-- As before; and restored copies of something bought for good are one sale, and the refund of one is the refund of it.
create or replace view storehook.paid_periods as
select t.environment, t.bundle_id, t.original_transaction_id, t.transaction_id, t.product_id, t.kind, t.purchased_at,
       t.expires_at, t.price, t.currency, t.quantity, r.revoked_at, t.revocation_type, t.revocation_reason,
       r.revocation_percentage, t.storefront, t.offer_type, t.offer_id, t.billing_plan_type,
       t.payload -> 'commitmentInfo' as commitment_info,
       case when r.revoked_at is null then 0
            else trunc(t.price::numeric * coalesce(r.revocation_percentage, 100000) / 100000)::bigint end as refunded
  from storehook.transactions t
  left join storehook.one_time_purchases o
       on t.kind = 'Non-Consumable' and o.original_transaction_id = t.original_transaction_id
      and o.bundle_id = t.bundle_id and o.environment = t.environment
  left join lateral (
        select s.revoked_at, s.revoked_share
          from json_to_recordset(o.sales::json) as s (transaction_id text, revoked_at bigint, revoked_share bigint)
         where s.transaction_id = t.transaction_id
       ) s on true
 cross join lateral (
        select case when o.original_transaction_id is null then t.revoked_at
                    when o.sales is null then o.revoked_at
                    else 'epoch'::timestamptz + s.revoked_at * interval '1 millisecond' end as revoked_at,
               case when o.original_transaction_id is null or t.revoked_at is not null then t.revocation_percentage
                    when o.sales is null then nullif(o.revoked_share, 0)
                    else nullif(s.revoked_share, 0) end as revocation_percentage
       ) r
 where (t.ownership = 'PURCHASED' or t.ownership is null)
   and not exists (
       select from storehook.transactions later
        where later.web_order_line_item_id = t.web_order_line_item_id
          and later.bundle_id = t.bundle_id and later.environment = t.environment
          and later.transaction_id <> t.transaction_id
          and (later.ownership = 'PURCHASED' or later.ownership is null)
          and (later.purchased_at = t.purchased_at or later.additional_reason is null and t.additional_reason is null)
          and (later.is_unsigned is null, later.signed_at, later.digest, later.transaction_id)
              > (t.is_unsigned is null, t.signed_at, t.digest, t.transaction_id))
   and not exists (
       select from storehook.replaced_renewals r
        where r.original_transaction_id = t.original_transaction_id and r.bundle_id = t.bundle_id
          and r.environment = t.environment and r.transaction_id = t.transaction_id)
   and case when t.kind is distinct from 'Non-Consumable' then true
            when o.sales is not null then s.revoked_share is not null
            else not exists (
                 select from storehook.transactions first
                  where first.original_transaction_id = t.original_transaction_id
                    and first.bundle_id = t.bundle_id and first.environment = t.environment
                    and first.kind = 'Non-Consumable'
                    and (first.ownership = 'PURCHASED' or first.ownership is null)
                    and (first.price is null, first.purchased_at, first.transaction_id)
                        < (t.price is null, t.purchased_at, t.transaction_id))
       end;
comment on column storehook.paid_periods.refunded is
    'how much of the price was paid back, in milliunits, rounded down: all of it where Apple names no share';
