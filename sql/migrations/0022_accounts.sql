-- compatible-from: 10
-- Accounts: what is sold and what it gives (catalogs), whose each purchase is, what staff did, the app's own trials, and the status
-- of each account as phases, derived from all of that and from purchases.
--
-- An account is its appAccountToken everywhere. Locks are taken in one order: purchases by their keys, then accounts by token.

-- The operator's files, each as it was applied. The current one is named in catalog_state.
create table storehook.catalogs (
    version    bigint      primary key generated always as identity,
    source     text        not null check (length(source) between 1 and 1048576),
    applied_at timestamptz not null default clock_timestamp(),
    applied_by text        not null check (length(applied_by) between 1 and 200)
);
comment on table storehook.catalogs is 'what is sold and what it gives: each file that was applied, never changed';

-- One row. Whoever derives accounts reads it in the transaction that changes what they depend on, and derives them under the
-- current catalog and under the one that is being prepared. See AccountStore+apply.swift for why none is left out.
create table storehook.catalog_state (
    only_row          boolean primary key default true check (only_row),
    current_version   bigint  references storehook.catalogs,
    preparing_version bigint  references storehook.catalogs,
    is_linked         boolean not null default false,
    check (current_version is null or is_linked)
);
comment on column storehook.catalog_state.preparing_version is 'the one that is to become current once every account is derived under it';
comment on column storehook.catalog_state.is_linked is
    'whether account_lines holds all purchases: nobody keeps it before the first catalog is applied';
insert into storehook.catalog_state default values;

create table storehook.accounts (
    token     uuid        primary key,
    account   text        check (length(account) between 1 and 1000),
    known_at  timestamptz not null default now(),
    erased_at timestamptz
) with (fillfactor = 80);
comment on table storehook.accounts is 'customers; whoever changes what a status depends on holds the row';
comment on column storehook.accounts.token is 'the appAccountToken';
comment on column storehook.accounts.account is
    'what the app''s own tokens call the customer; null where only a token is known, or where the customer was erased';
comment on column storehook.accounts.erased_at is 'what was recorded up to then counts no more';

-- Whose purchases are, beside what Apple signed. Instants are whole milliseconds, as Apple's are.
create table storehook.purchase_bindings (
    id                      bigint      primary key generated always as identity,
    original_transaction_id text        collate "C" not null,
    bundle_id               text        collate "C" not null,
    environment             text        collate "C" not null,
    kind                    text        not null check (kind in ('proof', 'transfer', 'staff', 'erasure')),
    token                   uuid        not null,
    at                      timestamptz not null default date_trunc('milliseconds', clock_timestamp()),
    recorded_by             text        check (length(recorded_by) between 1 and 200),
    why                     text        check (length(why) between 1 and 1000),
    check (kind <> 'staff' or (recorded_by is not null and why is not null))
);
comment on table storehook.purchase_bindings is 'append-only: purchases that accounts proved, that moved, and that were freed';
comment on column storehook.purchase_bindings.kind is
    'proof: the first; transfer: a later one, where the rule lets it move; staff: moved; erasure: what names this account counts no more';
create index purchase_bindings_by_purchase
    on storehook.purchase_bindings (original_transaction_id, bundle_id, environment);

create table storehook.staff_acts (
    id          bigint      primary key generated always as identity,
    token       uuid        not null,
    kind        text        not null check (kind in ('grant', 'extend', 'revoke', 'unrevoke', 'change_tier')),
    tier        text        check (length(tier) between 1 and 100),
    days        integer     check (days between 1 and 36500),
    at          timestamptz not null default date_trunc('milliseconds', clock_timestamp()),
    recorded_by text        not null check (length(recorded_by) between 1 and 200),
    why         text        not null check (length(why) between 1 and 1000),
    check ((tier is not null) = (kind in ('grant', 'change_tier'))),
    check ((days is not null) = (kind in ('grant', 'extend')))
);
comment on table storehook.staff_acts is 'append-only: what staff did for accounts, in Production';
create index staff_acts_by_account on storehook.staff_acts (token, at, id);

-- One for an account and one for a download of an app, for ever, also after the account was erased: then only hashes are left.
create table storehook.trials (
    account_hash         bytea       primary key check (octet_length(account_hash) = 32),
    app_transaction_hash bytea       unique check (octet_length(app_transaction_hash) = 32),
    token                uuid        unique,
    tier                 text        not null check (length(tier) between 1 and 100),
    product              text        check (length(product) <= 255),
    started_at           timestamptz not null,
    ends_at              timestamptz not null,
    check (started_at < ends_at)
);
comment on table storehook.trials is 'the app''s own trials';
comment on column storehook.trials.account_hash is 'SHA-256 of the token''s text';
comment on column storehook.trials.app_transaction_hash is 'SHA-256 of Apple''s appTransactionId, where the app proved one';
comment on column storehook.trials.token is 'null where the account was erased';

-- Derived: every account that a purchase may belong to, at any instant.
create table storehook.account_lines (
    token                   uuid not null,
    environment             text collate "C" not null,
    original_transaction_id text collate "C" not null,
    bundle_id               text collate "C" not null,
    primary key (token, environment, original_transaction_id, bundle_id)
);
comment on table storehook.account_lines is 'the accounts that Apple signed into a purchase, or that anything binds it to';
create index account_lines_by_purchase
    on storehook.account_lines (original_transaction_id, bundle_id, environment);

-- Derived: what an account is, as a function of time. One row for each environment and catalog: readers see the current catalog's.
create table storehook.account_status (
    token            uuid          not null,
    environment      text          collate "C" not null,
    catalog          bigint        not null references storehook.catalogs,
    version          bigint        not null check (version > 0),
    changed_at       timestamptz   not null default now(),
    known_from       timestamptz,
    phase_starts     timestamptz[] not null,
    phase_status     text[]        not null,
    phase_tier       text[]        not null,
    phase_source     text[]        not null,
    phase_product    text[]        not null,
    phase_bundle     text[]        not null,
    phase_purchase   text[]        not null,
    phase_act        bigint[]      not null,
    phase_expires    timestamptz[] not null,
    phase_will_renew boolean[]     not null,
    phase_trial      boolean[]     not null,
    primary key (token, environment, catalog),
    check (phase_status <@ array['active', 'trial', 'cancelled', 'grace_period', 'expired', 'trial_expired', 'revoked', 'free']),
    check (phase_source <@ array['apple', 'grant', 'trial', 'none']),
    check (cardinality(phase_starts) > 0
           and cardinality(phase_status) = cardinality(phase_starts)
           and cardinality(phase_tier) = cardinality(phase_starts)
           and cardinality(phase_source) = cardinality(phase_starts)
           and cardinality(phase_product) = cardinality(phase_starts)
           and cardinality(phase_bundle) = cardinality(phase_starts)
           and cardinality(phase_purchase) = cardinality(phase_starts)
           and cardinality(phase_act) = cardinality(phase_starts)
           and cardinality(phase_expires) = cardinality(phase_starts)
           and cardinality(phase_will_renew) = cardinality(phase_starts)
           and cardinality(phase_trial) = cardinality(phase_starts)),
    check (known_from is null or known_from = phase_starts[1])
) with (fillfactor = 80);
comment on column storehook.account_status.version is 'grows with every change of what readers see, catalogs included';
comment on column storehook.account_status.known_from is
    'phases before are not kept here, and storehook account --at works them out; null where the first phase reaches back for ever';
comment on column storehook.account_status.phase_act is 'the act of staff''s that shows in it';

-- Every account that is known at an instant, by the facts and the catalog of now. There is no row of an account for what it was
-- before known_from, and none of an account that nothing was ever heard of, which is free.
create function storehook.account_status_at(at timestamptz)
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
     where p.n > 0
$$;
comment on function storehook.account_status_at(timestamptz) is 'what every account is at an instant; expires_at is the end of what gives access';

create view storehook.account_status_now as
select * from storehook.account_status_at(now());
comment on view storehook.account_status_now is 'what every account is';
comment on column storehook.account_status_now.expires_at is
    'when what gives access ends, or what gave it last ended; null for what has no end';
comment on column storehook.account_status_now.until is 'when this changes by itself, as far as is known';

-- What apps saw of attempts to buy.
create table storehook.purchase_attempts (
    id         bigint      primary key generated always as identity,
    token      uuid        not null,
    product_id text        not null check (length(product_id) between 1 and 255),
    kind       text        not null check (kind in ('purchase', 'restore')),
    outcome    text        not null check (outcome in ('pending', 'cancelled', 'failed', 'completed')),
    reason     text        check (length(reason) <= 1000),
    at         timestamptz not null default now()
);
comment on table storehook.purchase_attempts is 'append-only: what apps told of attempts to buy; nothing is decided by it';
create index purchase_attempts_by_account on storehook.purchase_attempts (token, id);
