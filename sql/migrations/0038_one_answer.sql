-- compatible-from: 10
-- One answer for all who ask whether an account has access; and what accounts were at any instant.
--
-- An existing database has the new functions at once. What they read is derived with the next change of each account, and for all
-- accounts by `storehook rebuild`. Until then has_access goes by the purchases and the account's status, and nothing is said of
-- instants before known_from.

-- When each catalog became current: an instant is answered by the catalog that was current then. Of the catalogs before this one
-- nobody noted it, so the present one counts for all that was before.
alter table storehook.catalogs add column current_from timestamptz;
comment on column storehook.catalogs.current_from is
    'since when it is or was current; -infinity for the first that counts; null where it never was, or long ago';
update storehook.catalogs set current_from = '-infinity'
 where version = (select current_version from storehook.catalog_state);

-- What an account has of its purchases, as a function of time: each purchase and product with the time in which it counts. Kept for
-- as long as the phases. Null in rows that were written by programs before this one.
alter table storehook.account_status
    add column holding_starts   timestamptz[],
    add column holding_ends     timestamptz[],
    add column holding_product  text[],
    add column holding_bundle   text[],
    add column holding_purchase text[];
comment on column storehook.account_status.holding_starts is
    'purchases that count for the account, with what staff ended taken off: from when on each counts';
comment on column storehook.account_status.holding_ends is 'until when; null for what has no end';

-- Phases before known_from, each once: what account_status_at reads of them.
create table storehook.account_history (
    token                   uuid        not null,
    environment             text        collate "C" not null,
    starts_at               timestamptz not null,
    ends_at                 timestamptz not null,
    status                  text        not null,
    tier                    text        not null,
    source                  text        not null,
    product_id              text,
    bundle_id               text        collate "C",
    original_transaction_id text        collate "C",
    act                     bigint,
    expires_at              timestamptz,
    will_renew              boolean     not null,
    in_trial                boolean     not null,
    primary key (token, environment, starts_at),
    check (starts_at < ends_at),
    check (status in ('active', 'trial', 'cancelled', 'grace_period', 'expired', 'trial_expired', 'revoked', 'free')),
    check (source in ('apple', 'grant', 'trial', 'none'))
);
comment on table storehook.account_history is 'derived: what accounts were before the phases that account_status keeps';
-- Rows are written months after they ended, and for the present none is wanted: a summary of each page is enough to see that.
create index account_history_by_end on storehook.account_history using brin (ends_at) with (autosummarize = true);

-- Every account that is known at an instant, by what is known now and by the catalog of that instant. There is no row of an account
-- that nothing was ever heard of, which is free, and none of an erased one that has had nothing since.
create or replace function storehook.account_status_at(at timestamptz)
    returns table (
        token                   uuid,
        account                 text,
        environment             text,
        tier                    text,
        status                  text,
        access                  boolean,
        source                  text,
        product_id              text,
        bundle_id               text,
        original_transaction_id text,
        act                     bigint,
        expires_at              timestamptz,
        will_renew              boolean,
        in_trial                boolean,
        since                   timestamptz,
        until                   timestamptz,
        version                 bigint,
        known_from              timestamptz
    )
    language sql stable parallel safe
as $$
    select s.token,
           a.account,
           s.environment,
           s.phase_tier[p.n],
           s.phase_status[p.n],
           s.phase_status[p.n] in ('active', 'trial', 'cancelled', 'grace_period'),
           s.phase_source[p.n],
           s.phase_product[p.n],
           s.phase_bundle[p.n],
           s.phase_purchase[p.n],
           s.phase_act[p.n],
           s.phase_expires[p.n],
           s.phase_will_renew[p.n],
           s.phase_trial[p.n],
           case when p.n > 1 or s.known_from is not null then s.phase_starts[p.n] end,
           s.phase_starts[p.n + 1],
           s.version,
           s.known_from
      from storehook.catalog_state c
      join storehook.account_status s on s.catalog = c.current_version
     cross join lateral (select width_bucket(at, s.phase_starts) as n) p
      left join storehook.accounts a on a.token = s.token
     where p.n > 0 and not (a.erased_at is not null and s.phase_status = array['free'])
    union all
    select s.token,
           a.account,
           s.environment,
           h.tier,
           h.status,
           h.status in ('active', 'trial', 'cancelled', 'grace_period'),
           h.source,
           h.product_id,
           h.bundle_id,
           h.original_transaction_id,
           h.act,
           h.expires_at,
           h.will_renew,
           h.in_trial,
           nullif(h.starts_at, '4714-11-24 00:00:00 UTC BC'),
           h.ends_at,
           s.version,
           s.known_from
      from storehook.catalog_state c
      join storehook.account_status s on s.catalog = c.current_version
      join storehook.account_history h on h.token = s.token and h.environment = s.environment
      left join storehook.accounts a on a.token = s.token
     where h.starts_at <= at and h.ends_at > at and s.known_from > at
$$;
comment on function storehook.account_status_at(timestamptz) is
    'what every account was at an instant, by the catalog of that instant; expires_at is the end of what gives access';

-- The appAccountToken of an account: what AccountToken.swift says, in SQL. PostgreSQL has no SHA-1 without an extension.
create function storehook.account_token(account text) returns uuid
    language plpgsql immutable strict parallel safe
    set search_path = pg_catalog, pg_temp
    set timezone = 'UTC'
    set datestyle = 'ISO'
as $$
declare
    word    constant bigint := 4294967295;
    message bytea := '\x45f55b13241a42e7949938fb335afb69'::bytea || convert_to(account, 'UTF8');
    size    bigint;
    h       bigint[] := array[1732584193, 4023233417, 2562383102, 271733878, 3285377520];
    w       bigint[];
    a bigint; b bigint; c bigint; d bigint; e bigint; f bigint; k bigint; x bigint;
    digest  text := '';
begin
    if account ~* '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$' then
        return account::uuid;
    end if;
    size := octet_length(message);
    message := message || '\x80'::bytea
               || decode(repeat('00', ((119 - size % 64) % 64)::integer), 'hex') || int8send(size * 8);
    for block in 0 .. octet_length(message) / 64 - 1 loop
        for t in 0 .. 15 loop
            w[t] := ('x' || encode(substring(message from block * 64 + t * 4 + 1 for 4), 'hex'))::bit(32)::bigint;
        end loop;
        for t in 16 .. 79 loop
            x := w[t - 3] # w[t - 8] # w[t - 14] # w[t - 16];
            w[t] := ((x << 1) & word) | (x >> 31);
        end loop;
        a := h[1]; b := h[2]; c := h[3]; d := h[4]; e := h[5];
        for t in 0 .. 79 loop
            if t < 20 then
                f := (b & c) | ((b # word) & d); k := 1518500249;
            elsif t < 40 then
                f := b # c # d; k := 1859775393;
            elsif t < 60 then
                f := (b & c) | (b & d) | (c & d); k := 2400959708;
            else
                f := b # c # d; k := 3395469782;
            end if;
            x := ((((a << 5) & word) | (a >> 27)) + f + e + k + w[t]) & word;
            e := d; d := c; c := ((b << 30) & word) | (b >> 2); b := a; a := x;
        end loop;
        h := array[(h[1] + a) & word, (h[2] + b) & word, (h[3] + c) & word, (h[4] + d) & word, (h[5] + e) & word];
    end loop;
    for t in 1 .. 4 loop
        digest := digest || lpad(to_hex(h[t]), 8, '0');
    end loop;
    -- Version 5, and the variant of RFC 9562.
    digest := overlay(digest placing '5' from 13 for 1);
    digest := overlay(digest placing to_hex(('x' || substr(digest, 17, 1))::bit(4)::integer & 3 | 8) from 17 for 1);
    return digest::uuid;
end
$$;
comment on function storehook.account_token(text) is 'the appAccountToken of an account, by what the app calls it';

-- Whose each purchase is by the records and bindings alone. Before a catalog says what purchases give, nothing is derived of accounts,
-- and has_access asks this.
insert into storehook.account_lines (token, environment, original_transaction_id, bundle_id)
select distinct token, environment, original_transaction_id, bundle_id from storehook.purchase_bindings
 where not (select is_linked from storehook.catalog_state)
    on conflict do nothing;

create view storehook.held_purchases as
select l.token, l.environment, l.bundle_id, l.original_transaction_id, p.product_id, p.access
  from (select token, environment, bundle_id, original_transaction_id from storehook.account_lines
        union all
        select app_account_token, environment, bundle_id, original_transaction_id from storehook.subscriptions
        union all
        select former_account_token, environment, bundle_id, original_transaction_id from storehook.subscriptions
        union all
        select app_account_token, environment, bundle_id, original_transaction_id from storehook.one_time_purchases) l
 cross join lateral (
        select s.phase_product[i.n] as product_id, s.phase_account[i.n] as signed,
               s.phase_status[i.n] in ('trial', 'active', 'cancelled', 'grace_period') as access
          from storehook.subscriptions s
         cross join lateral (select width_bucket(now(), s.phase_starts) as n) i
         where s.original_transaction_id = l.original_transaction_id and s.bundle_id = l.bundle_id
           and s.environment = l.environment and i.n > 0
        union all
        select o.product_id, o.app_account_token,
               o.revoked_at is null and (o.kind = 'non_consumable' or coalesce(o.expires_at > now(), false))
          from storehook.one_time_purchases o
         where o.original_transaction_id = l.original_transaction_id and o.bundle_id = l.bundle_id
           and o.environment = l.environment and o.kind <> 'consumable'
       ) p
 where l.token = coalesce(
        -- Staff's last move, unless the account was erased since.
        (select b.token from storehook.purchase_bindings b
          where b.original_transaction_id = l.original_transaction_id and b.bundle_id = l.bundle_id
            and b.environment = l.environment and b.kind = 'staff'
            and not exists (
                select from storehook.purchase_bindings e
                 where e.original_transaction_id = b.original_transaction_id and e.bundle_id = b.bundle_id
                   and e.environment = b.environment and e.kind = 'erasure' and (e.at, e.id) > (b.at, b.id))
          order by b.at desc, b.id desc limit 1),
        -- What Apple signed, unless that account was erased. The nil UUID is no account.
        (select p.signed
          where p.signed <> '00000000-0000-0000-0000-000000000000'
            and not exists (
                select from storehook.purchase_bindings e
                 where e.original_transaction_id = l.original_transaction_id and e.bundle_id = l.bundle_id
                   and e.environment = l.environment and e.kind = 'erasure' and e.token = p.signed)),
        -- The last proof, or the last transfer.
        (select b.token from storehook.purchase_bindings b
          where b.original_transaction_id = l.original_transaction_id and b.bundle_id = l.bundle_id
            and b.environment = l.environment and b.kind in ('proof', 'transfer')
            and not exists (
                select from storehook.purchase_bindings e
                 where e.original_transaction_id = b.original_transaction_id and e.bundle_id = b.bundle_id
                   and e.environment = b.environment and e.kind = 'erasure' and (e.at, e.id) > (b.at, b.id))
          order by b.at desc, b.id desc limit 1));
comment on view storehook.held_purchases is
    'purchases and the accounts that have them by records and bindings alone; a purchase may stand here more than once';

-- Whether a purchase of a product counts for an account now, in Production. What staff ended counts no more; grants, and changes of
-- tier but to the lowest, change nothing here.
create or replace function storehook.has_access(app_account_token uuid, product_id text) returns boolean
    language plpgsql stable parallel safe
    set search_path = pg_catalog, pg_temp
    set timezone = 'UTC'
    set datestyle = 'ISO'
as $$
declare
    stored record;
begin
    select s.holding_product, s.holding_starts, s.holding_ends,
           s.phase_status[width_bucket(now(), s.phase_starts)] as status, c.current_version is not null as has_catalog
      into stored
      from storehook.catalog_state c
      left join storehook.account_status s
           on s.token = has_access.app_account_token and s.environment = 'Production' and s.catalog = c.current_version;
    if stored.holding_starts is not null then
        return exists (
            select from unnest(stored.holding_product, stored.holding_starts, stored.holding_ends)
                        as h (product, starts_at, ends_at)
             where h.product = has_access.product_id and h.starts_at <= now()
               and (h.ends_at is null or h.ends_at > now()));
    end if;
    -- Of an account without a row nothing was ever heard; of one whose row is not derived yet the purchases speak, and staff.
    if stored.has_catalog and coalesce(stored.status in ('revoked', 'free'), true) then
        return false;
    end if;
    return exists (
        select from storehook.held_purchases p
         where p.token = has_access.app_account_token and p.environment = 'Production'
           and p.product_id = has_access.product_id and p.access);
end
$$;
comment on function storehook.has_access(uuid, text) is
    'whether a purchase of the product counts for the account now, in Production; never null';

create function storehook.has_access_of(account text, product text) returns boolean
    language plpgsql stable parallel safe
    set search_path = pg_catalog, pg_temp
    set timezone = 'UTC'
    set datestyle = 'ISO'
as $$
begin
    return storehook.has_access(storehook.account_token(account), product);
end
$$;
comment on function storehook.has_access_of(text, text) is
    'has_access of an account by what the app calls it, whether or not it was ever heard of';
