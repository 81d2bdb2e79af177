-- compatible-from: 10
-- Which products customers hold, so that a product that the catalog lacks is seen without reading purchases.

-- A row for each product of an app that any purchase ever named: as many as App Store Connect has products. Workers add to it in the
-- transaction that changes the purchase, and only where a product is new or is held for a day longer than was known: of millions of
-- renewals some hundred rows are written.
create table storehook.purchased_products (
    environment   text        collate "C" not null,
    bundle_id     text        collate "C" not null,
    product_id    text        collate "C" not null,
    held_until    timestamptz not null,
    first_seen_at timestamptz not null default now(),
    primary key (bundle_id, environment, product_id)
);
comment on table storehook.purchased_products is
    'each product that a purchase ever named, but for consumables; what customers hold is not counted';
comment on column storehook.purchased_products.held_until is
    'at least until the last purchase of it gives access, to the day; infinity for what has no end. It only grows: a refund does not count';

-- Lists what every purchase that is stored holds, by the rule of the workers: a phase with access holds its product until its access ends,
-- what was bought for good holds it for ever. Reads both tables once, without a lock that any program waits for. A rebuild calls it, too:
-- workers of an earlier release list nothing.
create function storehook.list_purchased_products() returns void
    language sql
    set search_path = pg_catalog, pg_temp set timezone = 'UTC' set datestyle = 'ISO'
as $$
    insert into storehook.purchased_products as p (environment, bundle_id, product_id, held_until)
    select environment, bundle_id, product_id, to_timestamp(ceil(extract(epoch from max(held_until)) / 86400) * 86400)
      from (select s.environment, s.bundle_id, h.product_id, coalesce(h.grace_ends, h.expires_at) as held_until
              from storehook.subscriptions s
             cross join lateral unnest(s.phase_product, s.phase_status, s.phase_expires, s.phase_grace_ends)
                                as h (product_id, status, expires_at, grace_ends)
             where h.status in ('trial', 'active', 'cancelled', 'grace_period')
            union all
            select o.environment, o.bundle_id, o.product_id,
                   coalesce(o.expires_at, o.revoked_at, 'infinity')
              from storehook.one_time_purchases o
             where o.kind <> 'consumable') held
     where product_id is not null
     group by environment, bundle_id, product_id
     order by bundle_id, environment, product_id
        on conflict (bundle_id, environment, product_id)
        do update set held_until = excluded.held_until where p.held_until < excluded.held_until
$$;
revoke all on function storehook.list_purchased_products() from public;
select storehook.list_purchased_products();

-- The products of a catalog, which is a text that SQL does not read: of each its app and Apple's id, with a space between. A column
-- without a default changes the catalog alone. Workers fill it where an earlier release applied the catalog.
alter table storehook.catalogs add column product_keys text[];
comment on column storehook.catalogs.product_keys is
    'bundle id and product id of each product, with a space between; null where an earlier release applied it, until a worker has read it';

-- Reads purchased_products and one catalog: no purchase.
create view storehook.unsold_products as
select p.environment, p.bundle_id, p.product_id, p.held_until, p.first_seen_at
  from storehook.purchased_products p
  join storehook.catalog_state s on s.current_version is not null
  join storehook.catalogs c on c.version = s.current_version and c.product_keys is not null
 where p.held_until > now()
   and p.bundle_id || ' ' || p.product_id <> all (c.product_keys);
comment on view storehook.unsold_products is
    'products that customers hold and that the current catalog lacks, so that they give nothing; none before the first catalog';
