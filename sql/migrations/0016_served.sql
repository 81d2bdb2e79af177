-- compatible-from: 10
-- Whom a database serves, so that a program which serves somebody else can tell before it buries what it finds.

create table storehook.served_apps (
    environment  text        collate "C" not null,
    bundle_id    text        collate "C" not null,
    first_served timestamptz not null default now(),
    last_served  timestamptz not null default now(),
    primary key (bundle_id, environment)
);
comment on table storehook.served_apps is
    'apps and environments that workers on this database have been set to serve; written when a worker starts, and each hour while it runs';

create table storehook.served_roots (
    environment  text        collate "C" not null,
    fingerprint  text        collate "C" not null check (fingerprint ~ '^[0-9a-f]{64}$'),
    first_served timestamptz not null default now(),
    primary key (environment, fingerprint)
);
comment on table storehook.served_roots is
    'roots (SHA-256 of the DER) that workers on this database have trusted for an environment; written when a worker starts';

insert into storehook.served_apps (environment, bundle_id)
select distinct environment, bundle_id from storehook.purchase_lines;
