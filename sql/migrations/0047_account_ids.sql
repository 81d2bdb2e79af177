-- compatible-from: 10
-- What an account's id is to its appAccountToken: a rule that is kept here, and that every program goes by.
--
-- An id is the name of a customer in the app's own tokens. It used to be the token wherever it was a UUID. Tokens of other ids can be
-- computed: a login with such a token for its id had somebody else's account.

-- One row. Programs that name an account hold it (FOR KEY SHARE) in the transaction that writes the name; the command that changes the rule
-- holds it alone.
create table storehook.account_ids (
    only_row boolean     primary key default true check (only_row),
    rule     text        check (rule in ('auto', 'uuid', 'text')),
    named_at timestamptz,
    named_by text        check (length(named_by) between 1 and 200),
    check (named_at is null or rule is not null)
);
comment on table storehook.account_ids is 'what an account''s id is to its appAccountToken';
comment on column storehook.account_ids.rule is
    'auto: a UUID of any version but 5 is its own token, every other id is hashed; uuid: ids are UUIDs and their own tokens; text: every id '
    'is hashed; null: of accounts that were there before it is not known, and the operator has to say';
comment on column storehook.account_ids.named_at is 'null while nobody has named an account: until then a program''s setting may name the rule';

-- An id that is a version 5 UUID and its own token is either that of a login whose ids are UUIDs, or that of somebody who computed the token
-- of another account. Only the operator knows.
insert into storehook.account_ids (rule, named_at, named_by)
select case when not f.is_open then 'auto' end,
       case when not f.is_open and f.is_used then now() end,
       case when not f.is_open and f.is_used then 'migration' end
  from (select exists (select from storehook.accounts a
                        where lower(a.account) = a.token::text and substr(a.account, 15, 1) = '5')
               or exists (select from storehook.consumption_consents c
                           where lower(c.account) = c.app_account_token::text and substr(c.account, 15, 1) = '5') as is_open,
               exists (select from storehook.accounts a where a.account is not null)
               or exists (select from storehook.consumption_consents c where c.account is not null) as is_used) f;

-- Names the rule by a program's setting, in a database in which it is not named yet. It changes no token: where an account has an id, only
-- the rule that stands already can be named. SECURITY DEFINER: programs may not change the rule otherwise.
create function storehook.name_account_ids(in_rule text) returns void
    language sql security definer
    set search_path = pg_catalog, pg_temp set timezone = 'UTC' set datestyle = 'ISO'
as $$
    update storehook.account_ids i
       set rule = coalesce(in_rule, i.rule), named_at = now(), named_by = left(session_user, 200)
     where i.rule is not null and i.named_at is null
       and (coalesce(in_rule, i.rule) = i.rule
            or (not exists (select from storehook.accounts a where a.account is not null)
                and not exists (select from storehook.consumption_consents c where c.account is not null)))
$$;
revoke all on function storehook.name_account_ids(text) from public;
comment on function storehook.name_account_ids(text) is
    'names the rule of account ids by a program''s setting, where nobody has named it and no account has an id';

-- The appAccountToken of an id under a rule; null for what is no id under it. The nil UUID never is an id, nor is token:UUID, which is how
-- commands write a token. The version is the first digit of the third group, whatever the variant.
create function storehook.account_token(account text, rule text) returns uuid
    language plpgsql immutable strict parallel safe
    set search_path = pg_catalog, pg_temp
    set timezone = 'UTC'
    set datestyle = 'ISO'
as $$
declare
    word    constant bigint := 4294967295;
    uuids   constant text := '[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$';
    is_uuid constant boolean := account ~* ('^' || uuids);
    message bytea;
    size    bigint;
    h       bigint[] := array[1732584193, 4023233417, 2562383102, 271733878, 3285377520];
    w       bigint[];
    a bigint; b bigint; c bigint; d bigint; e bigint; f bigint; k bigint; x bigint;
    digest  text := '';
begin
    if rule not in ('auto', 'uuid', 'text') then
        raise exception 'there is no rule of account ids called %', rule using errcode = 'invalid_parameter_value';
    end if;
    if account = '00000000-0000-0000-0000-000000000000' or (left(account, 6) = 'token:' and substr(account, 7) ~* ('^' || uuids)) then
        return null;
    end if;
    if is_uuid and rule <> 'text' then
        account := lower(account);
        if rule = 'uuid' or substr(account, 15, 1) <> '5' then
            return account::uuid;
        end if;
    end if;
    if rule = 'uuid' then
        return null;
    end if;
    message := '\x45f55b13241a42e7949938fb335afb69'::bytea || convert_to(account, 'UTF8');
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
comment on function storehook.account_token(text, text) is
    'the appAccountToken of an account''s id under a rule (auto, uuid, text); null for what is no id under it';

-- The same under the rule of this database. While it has none, ids have the token that they have under auto. Version 5 UUIDs are refused
-- then: the operator has to say whose account they name. SECURITY DEFINER: the caller needs no right to read the rule.
create or replace function storehook.account_token(account text) returns uuid
    language plpgsql stable strict parallel safe security definer
    set search_path = pg_catalog, pg_temp
    set timezone = 'UTC'
    set datestyle = 'ISO'
as $$
declare
    rule text := (select i.rule from storehook.account_ids i);
begin
    if rule is null and substr(account, 15, 1) = '5' and account ~* '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$' then
        raise exception 'this database has no rule of account ids: storehook account-ids'
            using errcode = 'object_not_in_prerequisite_state';
    end if;
    return storehook.account_token(account, coalesce(rule, 'auto'));
end
$$;
comment on function storehook.account_token(text) is
    'the appAccountToken of an account''s id, under the rule of account_ids; null for what is no id under it';

comment on column storehook.accounts.account is
    'the account''s id: what the app''s own tokens call the customer; null where only a token is known, or where the customer was erased';
comment on column storehook.consumption_consents.account is
    'the account''s id: what the app''s own tokens call the customer; null where only a token is known, or where the customer was erased';
