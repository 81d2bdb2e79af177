-- compatible-from: 10
-- The keys that operators' own servers ask the account API with. Only their digests are here: a key is shown once, when it is
-- made, and is 256 random bits, so that a digest without salt and stretching says nothing about it.

create table storehook.server_keys (
    id           bigint      primary key generated always as identity,
    digest       bytea       not null unique check (length(digest) = 32),
    name         text        not null check (length(name) between 1 and 100),
    created_at   timestamptz not null default now(),
    created_by   text        not null check (length(created_by) <= 200),
    revoked_at   timestamptz,
    revoked_by   text        check (length(revoked_by) <= 200),
    last_used_at timestamptz,
    check ((revoked_at is null) = (revoked_by is null))
);
comment on table storehook.server_keys is
    'keys of the operator''s own servers for the account API; a revoked one stays, so that who had access when stays known';
comment on column storehook.server_keys.digest is 'SHA-256 of the key''s text';
comment on column storehook.server_keys.last_used_at is 'to the hour: written once an hour at most, whatever the key is used for';
-- What each account API reads every few seconds.
create index server_keys_valid on storehook.server_keys (id) where revoked_at is null;
