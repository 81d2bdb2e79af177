-- compatible-from: 10
-- An endpoint keeps every former secret until its end, and not only the one before the present one. Programs of earlier releases read and
-- write only `former_secret`, and sign with none of the earlier ones. Where such a program ends the former secret at once, it sets
-- `former_secret` to null, and then the earlier ones do not sign either.
alter table storehook.endpoints
    add column earlier_secrets bytea[],
    add column earlier_ends_at timestamptz[],
    add constraint endpoints_earlier_secrets_check check (
        (earlier_secrets is null) = (earlier_ends_at is null)
        and cardinality(earlier_secrets) between 1 and 4
        and cardinality(earlier_ends_at) = cardinality(earlier_secrets));
comment on column storehook.endpoints.earlier_secrets is
    'the secrets before former_secret, the oldest first, as it is encrypted; while former_secret is null they do not sign';
comment on column storehook.endpoints.earlier_ends_at is 'until when each of earlier_secrets signs as well';
