-- compatible-from: 10
-- The audit: what staff did, one row an act, in one order. Rows are added and never changed. Each holds the hash of the one before.

-- All that a hash covers, none of it personal: account ids, reasons, names and mail stand in audit_texts, which an erasure empties. A row
-- has a salted digest of its text, so that the chain holds whether the text is there or not.
create table storehook.audit (
    place        bigint      primary key check (place > 0),
    at           timestamptz not null,
    actor        text        not null check (length(actor) between 1 and 210),
    role         text        not null check (role in ('viewer', 'support', 'admin')),
    act          text        not null check (act ~ '^[a-z_]{1,60}$'),
    environment  text        collate "C" check (length(environment) <= 50),
    app          text        collate "C" check (length(app) <= 255),
    subject_kind text        not null check (subject_kind ~ '^[a-z_]{1,60}$'),
    subject      text        collate "C" not null check (length(subject) between 1 and 255),
    before       text        check (length(before) <= 100000),
    after        text        check (length(after) <= 100000),
    record       text        collate "C" check (length(record) <= 100),
    login        text        not null check (length(login) <= 100),
    text_digest  bytea       check (octet_length(text_digest) = 32),
    previous     bytea       not null check (octet_length(previous) = 32),
    hash         bytea       not null check (octet_length(hash) = 32)
);
comment on table storehook.audit is 'what staff did, one row an act, in one order; each row holds the hash of the one before';
comment on column storehook.audit.place is 'from 1 on, without a gap';
comment on column storehook.audit.at is 'to the millisecond; never before the row above';
comment on column storehook.audit.actor is 'cli: and a name that nobody has proven, or staff: and a number';
comment on column storehook.audit.role is 'the actor''s at the time';
comment on column storehook.audit.subject is 'what it was done to: an account by its token, a purchase, a dead letter, …';
comment on column storehook.audit.before is 'JSON, as PostgreSQL writes jsonb';
comment on column storehook.audit.record is 'the row that holds the act itself';
comment on column storehook.audit.login is
    'the database user who wrote it, as PostgreSQL knows it; - for acts that are older than the audit';
comment on column storehook.audit.text_digest is
    'SHA-256 of the salt and the text of audit_texts; null where there was no text';
comment on column storehook.audit.previous is 'the hash of the row before; 32 zeros in the first';
comment on column storehook.audit.hash is 'SHA-256 of audit_bytes: of all the columns before it';
create index audit_by_subject on storehook.audit (subject_kind, subject, place);
create index audit_by_record on storehook.audit (record) where record is not null;
create index audit_by_time on storehook.audit (at);

create table storehook.audit_texts (
    place     bigint primary key check (place > 0),
    accounts  uuid[] not null default '{}',
    salt      bytea  check (octet_length(salt) = 32),
    body      text,
    erased_at timestamptz,
    check ((erased_at is null) = (salt is not null) and (erased_at is null) = (body is not null))
);
comment on table storehook.audit_texts is 'the personal part of the audit: account ids, reasons, names; erasing an account empties it';
comment on column storehook.audit_texts.accounts is 'the tokens of the accounts that the text is about';
comment on column storehook.audit_texts.body is 'a JSON object of texts';
create index audit_texts_by_account on storehook.audit_texts using gin (accounts);

-- Where the next row goes. Its lock puts those who append in order, and no program's role can take it.
create table storehook.audit_tail (
    only_row boolean     primary key default true check (only_row),
    place    bigint      not null check (place >= 0),
    at       timestamptz not null,
    hash     bytea       not null check (octet_length(hash) = 32)
);
comment on table storehook.audit_tail is 'the place, time and hash of the audit''s last row';
insert into storehook.audit_tail (place, at, hash) values (0, '-infinity', decode(repeat('00', 32), 'hex'));

-- What a transaction did, until it commits: always empty for others.
create table storehook.audit_drafts (
    id           bigint generated always as identity primary key,
    at           timestamptz,
    actor        text not null,
    role         text not null,
    act          text not null,
    environment  text collate "C",
    app          text collate "C",
    subject_kind text not null,
    subject      text not null,
    before       text,
    after        text,
    record       text,
    login        text not null default session_user,
    accounts     uuid[] not null default '{}',
    body         text
);
comment on table storehook.audit_drafts is 'acts of a transaction that has not committed yet; its commit moves them to the audit';

-- What a hash covers. Each field is the length of its UTF-8 bytes, a colon and the bytes; null is a hyphen. So no two rows have the same
-- bytes, and a reader of an export can compute it: instants are microseconds since 1970, digests and hashes hexadecimal.
create function storehook.audit_bytes(a storehook.audit) returns bytea
    language sql immutable parallel safe
    set search_path = pg_catalog, pg_temp set timezone = 'UTC' set datestyle = 'ISO'
as $$
    select convert_to('storehook-audit-1 ' || string_agg(
               case when f.value is null then '-'
                    else octet_length(convert_to(f.value, 'UTF8'))::text || ':' || f.value end, '' order by f.n), 'UTF8')
      from unnest(array[
               a.place::text, ((extract(epoch from a.at) * 1000000)::bigint)::text, a.actor, a.role, a.act, a.environment, a.app,
               a.subject_kind, a.subject, a.before, a.after, a.record, a.login, encode(a.text_digest, 'hex'),
               encode(a.previous, 'hex')]) with ordinality as f (value, n)
$$;
revoke all on function storehook.audit_bytes(storehook.audit) from public;
comment on function storehook.audit_bytes(storehook.audit) is 'the bytes whose SHA-256 is the hash of a row of the audit';

-- Appends one act behind the last row, and returns what is the last row then. The caller holds audit_tail, and writes it once at its end: of a
-- row that one transaction changes again and again, each version would be looked through every time.
create function storehook.append_audit(draft storehook.audit_drafts, tail storehook.audit_tail) returns storehook.audit_tail
    language plpgsql
    set search_path = pg_catalog, pg_temp set timezone = 'UTC' set datestyle = 'ISO'
as $$
declare
    new_row storehook.audit;
    new_salt bytea;
begin
    new_row.place := tail.place + 1;
    new_row.at := greatest(date_trunc('milliseconds', coalesce(draft.at, clock_timestamp())), tail.at);
    new_row.actor := draft.actor;
    new_row.role := draft.role;
    new_row.act := draft.act;
    new_row.environment := draft.environment;
    new_row.app := draft.app;
    new_row.subject_kind := draft.subject_kind;
    new_row.subject := draft.subject;
    new_row.before := draft.before;
    new_row.after := draft.after;
    new_row.record := draft.record;
    new_row.login := draft.login;
    if draft.body is not null then
        -- 244 random bits of the server's strong generator.
        new_salt := sha256(uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid()));
        new_row.text_digest := sha256(new_salt || convert_to(draft.body, 'UTF8'));
        insert into storehook.audit_texts (place, accounts, salt, body)
        values (new_row.place, draft.accounts, new_salt, draft.body);
    end if;
    new_row.previous := tail.hash;
    new_row.hash := sha256(storehook.audit_bytes(new_row));
    insert into storehook.audit values (new_row.*);
    tail.place := new_row.place;
    tail.at := new_row.at;
    tail.hash := new_row.hash;
    return tail;
end
$$;
revoke all on function storehook.append_audit(storehook.audit_drafts, storehook.audit_tail) from public;

-- Deferred: the lock of the tail is the last that a transaction takes, and it holds it for its commit alone. Whoever waits for it waits
-- for a transaction that waits for nobody, so that no two wait for each other.
-- SECURITY DEFINER, like all that follow: no program's role may write the audit, and each act that it may do is on record all the same.
create function storehook.chain_audit() returns trigger
    language plpgsql security definer
    set search_path = pg_catalog, pg_temp set timezone = 'UTC' set datestyle = 'ISO'
as $$
declare
    tail storehook.audit_tail;
    draft storehook.audit_drafts;
begin
    -- The first draft of a transaction takes the others along: those of other transactions nobody sees.
    if not exists (select from storehook.audit_drafts d where d.id = new.id) then return null; end if;
    select * into strict tail from storehook.audit_tail for update;
    for draft in select * from storehook.audit_drafts d where d.id >= new.id order by d.id loop
        tail := storehook.append_audit(draft, tail);
    end loop;
    delete from storehook.audit_drafts d where d.id >= new.id;
    update storehook.audit_tail set place = tail.place, at = tail.at, hash = tail.hash;
    return null;
end
$$;
revoke all on function storehook.chain_audit() from public;
create constraint trigger audit_drafts_chain after insert on storehook.audit_drafts
    deferrable initially deferred for each row execute function storehook.chain_audit();

-- Commands write cli: before the name. Earlier releases did not, and nobody can claim to be of the staff whose tokens are checked.
create function storehook.audit_actor(recorded_by text) returns text
    language sql immutable parallel safe
    set search_path = pg_catalog, pg_temp set timezone = 'UTC' set datestyle = 'ISO'
as $$
    select case when recorded_by like 'cli:%' then left(recorded_by, 210) else 'cli:' || left(coalesce(recorded_by, '-'), 206) end
$$;
revoke all on function storehook.audit_actor(text) from public;

-- The texts of an object that are there; null where none is.
create function storehook.audit_text(texts jsonb) returns text
    language sql immutable parallel safe
    set search_path = pg_catalog, pg_temp set timezone = 'UTC' set datestyle = 'ISO'
as $$
    select nullif(jsonb_strip_nulls(texts), '{}')::text
$$;
revoke all on function storehook.audit_text(jsonb) from public;

-- What an account was before an act and is after it, as the program worked it out; earlier releases leave both null.
alter table storehook.staff_acts add column before text check (length(before) <= 10000);
alter table storehook.staff_acts add column after text check (length(after) <= 10000);
comment on column storehook.staff_acts.before is 'what the account was, as JSON; null where an earlier release recorded the act';
-- Whose a purchase was before staff moved it.
alter table storehook.purchase_bindings add column former uuid;
comment on column storehook.purchase_bindings.former is 'of a purchase that staff moved: whose it was before, if anybody''s';
-- Who erased an account last.
alter table storehook.accounts add column erased_by text check (length(erased_by) between 1 and 200);

create function storehook.audit_draft(act storehook.staff_acts) returns storehook.audit_drafts
    language plpgsql stable
    set search_path = pg_catalog, pg_temp set timezone = 'UTC' set datestyle = 'ISO'
as $$
declare
    draft storehook.audit_drafts;
    written storehook.staff_texts;
begin
    select * into written from storehook.staff_texts t where t.what = 'act' and t.id = act.id;
    draft.actor := storehook.audit_actor(written.recorded_by);
    draft.role := 'admin';
    draft.act := act.kind;
    draft.environment := 'Production';
    draft.subject_kind := 'account';
    draft.subject := act.token::text;
    draft.before := act.before;
    draft.after := (jsonb_strip_nulls(jsonb_build_object('given_tier', act.tier, 'given_days', act.days))
                    || coalesce(act.after::jsonb, '{}'))::text;
    draft.record := 'staff_acts:' || act.id;
    draft.accounts := array[act.token];
    draft.body := storehook.audit_text(jsonb_build_object(
        'account', (select a.account from storehook.accounts a where a.token = act.token), 'why', written.why));
    return draft;
end
$$;
revoke all on function storehook.audit_draft(storehook.staff_acts) from public;

create function storehook.audit_draft(bound storehook.purchase_bindings) returns storehook.audit_drafts
    language plpgsql stable
    set search_path = pg_catalog, pg_temp set timezone = 'UTC' set datestyle = 'ISO'
as $$
declare
    draft storehook.audit_drafts;
    written storehook.staff_texts;
begin
    select * into written from storehook.staff_texts t where t.what = 'binding' and t.id = bound.id;
    draft.actor := storehook.audit_actor(written.recorded_by);
    draft.role := 'admin';
    draft.act := 'move';
    draft.environment := bound.environment;
    draft.app := bound.bundle_id;
    draft.subject_kind := 'purchase';
    draft.subject := bound.original_transaction_id;
    draft.before := jsonb_build_object('account_token', bound.former)::text;
    draft.after := jsonb_build_object('account_token', bound.token)::text;
    draft.record := 'purchase_bindings:' || bound.id;
    draft.accounts := array_remove(array[bound.token, bound.former], null);
    draft.body := storehook.audit_text(jsonb_build_object(
        'account', (select a.account from storehook.accounts a where a.token = bound.token), 'why', written.why));
    return draft;
end
$$;
revoke all on function storehook.audit_draft(storehook.purchase_bindings) from public;

-- A consent that staff recorded; those that apps and their servers report are no acts of staff.
create function storehook.is_by_staff(consent storehook.consumption_consents) returns boolean
    language sql immutable parallel safe
    set search_path = pg_catalog, pg_temp set timezone = 'UTC' set datestyle = 'ISO'
as $$
    select consent.app_account_token is not null and consent.recorded_by not in ('the app', '-')
           and consent.recorded_by !~ '^server key [0-9]+$'
$$;
revoke all on function storehook.is_by_staff(storehook.consumption_consents) from public;

create function storehook.audit_draft(consent storehook.consumption_consents) returns storehook.audit_drafts
    language plpgsql stable
    set search_path = pg_catalog, pg_temp set timezone = 'UTC' set datestyle = 'ISO'
as $$
declare
    draft storehook.audit_drafts;
begin
    draft.actor := storehook.audit_actor(consent.recorded_by);
    draft.role := 'admin';
    draft.act := case when consent.granted then 'record_consent' else 'withdraw_consent' end;
    draft.subject_kind := 'account';
    draft.subject := consent.app_account_token::text;
    draft.before := jsonb_build_object('granted', (
        select c.granted from storehook.consumption_consents c
         where c.app_account_token = consent.app_account_token and c.id < consent.id order by c.id desc limit 1))::text;
    draft.after := jsonb_build_object('granted', consent.granted)::text;
    draft.record := 'consumption_consents:' || consent.id;
    draft.accounts := array[consent.app_account_token];
    draft.body := storehook.audit_text(jsonb_build_object('account', consent.account));
    return draft;
end
$$;
revoke all on function storehook.audit_draft(storehook.consumption_consents) from public;

create function storehook.audit_draft(erased storehook.accounts) returns storehook.audit_drafts
    language plpgsql stable
    set search_path = pg_catalog, pg_temp set timezone = 'UTC' set datestyle = 'ISO'
as $$
declare
    draft storehook.audit_drafts;
begin
    -- Earlier releases name the person in the bindings alone.
    draft.actor := storehook.audit_actor(coalesce(erased.erased_by, (
        select b.recorded_by from storehook.account_lines l
          join storehook.purchase_bindings b using (original_transaction_id, bundle_id, environment)
         where l.token = erased.token and b.kind = 'erasure' and b.token = erased.token
         order by b.id desc limit 1)));
    draft.role := 'admin';
    draft.act := 'erase_account';
    draft.subject_kind := 'account';
    draft.subject := erased.token::text;
    draft.after := '{"erased": true}';
    return draft;
end
$$;
revoke all on function storehook.audit_draft(storehook.accounts) from public;
