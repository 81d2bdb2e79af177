-- What the migrations make, as pg_dump shows it. Written by GoldenSchemaTests; never edited by hand.

CREATE SCHEMA storehook;

CREATE TYPE storehook.converted_share AS (
	environment text COLLATE pg_catalog."C",
	cohort date,
	bundle_id text COLLATE pg_catalog."C",
	months smallint,
	currency text COLLATE pg_catalog."C",
	is_missing boolean,
	count bigint,
	unknown bigint,
	amount numeric,
	corrected_at timestamp with time zone
);

COMMENT ON TYPE storehook.converted_share IS 'what customers of one day (cohort) paid on another day, in a currency; columns as those of currency_values';

CREATE FUNCTION storehook.account_payments(of_token uuid, of_environment text) RETURNS TABLE(bundle_id text, original_transaction_id text, starts_at timestamp with time zone, order_id bigint, item text, is_refunded boolean)
    LANGUAGE sql STABLE
    AS $$
    select l.bundle_id, l.original_transaction_id, p.starts_at, p.order_id, p.item, p.is_refunded
      from storehook.account_lines l
     cross join lateral (
        select exists (
            select from storehook.account_lines k
             where (k.original_transaction_id, k.bundle_id, k.environment) = (l.original_transaction_id, l.bundle_id, l.environment)
               and k.token not in (l.token, '00000000-0000-0000-0000-000000000000')) as is_shared
        offset 0) s
     cross join lateral (
        select p.starts_at, p.order_id, p.item, p.is_refunded
          from storehook.purchase_payments(l.environment, l.bundle_id, l.original_transaction_id) p
         where not s.is_shared
        offset 0) p
     where l.token = of_token and l.environment = of_environment
$$;

CREATE FUNCTION storehook.account_status_at(at timestamp with time zone) RETURNS TABLE(token uuid, account text, environment text, tier text, status text, access boolean, source text, product_id text, bundle_id text, original_transaction_id text, act bigint, expires_at timestamp with time zone, will_renew boolean, in_trial boolean, since timestamp with time zone, until timestamp with time zone, version bigint, known_from timestamp with time zone)
    LANGUAGE sql STABLE PARALLEL SAFE
    AS $$
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

COMMENT ON FUNCTION storehook.account_status_at(at timestamp with time zone) IS 'what every account was at an instant, by the catalog of that instant; expires_at is the end of what gives access';

CREATE FUNCTION storehook.account_token(account text) RETURNS uuid
    LANGUAGE plpgsql STABLE STRICT SECURITY DEFINER PARALLEL SAFE
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET "TimeZone" TO 'UTC'
    SET "DateStyle" TO 'ISO'
    AS $_$
declare
    rule text := (select i.rule from storehook.account_ids i);
begin
    if rule is null and substr(account, 15, 1) = '5' and account ~* '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$' then
        raise exception 'this database has no rule of account ids: storehook account-ids'
            using errcode = 'object_not_in_prerequisite_state';
    end if;
    return storehook.account_token(account, coalesce(rule, 'auto'));
end
$_$;

COMMENT ON FUNCTION storehook.account_token(account text) IS 'the appAccountToken of an account''s id, under the rule of account_ids; null for what is no id under it';

CREATE FUNCTION storehook.account_token(account text, rule text) RETURNS uuid
    LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET "TimeZone" TO 'UTC'
    SET "DateStyle" TO 'ISO'
    SET standard_conforming_strings TO 'on'
    AS $_$
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
$_$;

COMMENT ON FUNCTION storehook.account_token(account text, rule text) IS 'the appAccountToken of an account''s id under a rule (auto, uuid, text); null for what is no id under it';

CREATE TABLE storehook.audit_drafts (
    id bigint NOT NULL,
    at timestamp with time zone,
    actor text NOT NULL,
    role text NOT NULL,
    act text NOT NULL,
    environment text COLLATE pg_catalog."C",
    app text COLLATE pg_catalog."C",
    subject_kind text NOT NULL,
    subject text NOT NULL,
    before text,
    after text,
    record text,
    login text DEFAULT SESSION_USER NOT NULL,
    accounts uuid[] DEFAULT '{}'::uuid[] NOT NULL,
    body text
);

COMMENT ON TABLE storehook.audit_drafts IS 'acts of a transaction that has not committed yet; its commit moves them to the audit';

CREATE FUNCTION storehook.add_audit_draft(draft storehook.audit_drafts) RETURNS void
    LANGUAGE sql
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET "TimeZone" TO 'UTC'
    SET "DateStyle" TO 'ISO'
    AS $_$
    insert into storehook.audit_drafts (
           actor, role, act, environment, app, subject_kind, subject, before, after, record, accounts, body)
    values (draft.actor,
            coalesce((select m.role from storehook.staff_members m
                       where m.id = case when draft.actor ~ '^staff:[1-9][0-9]{0,17}$' then substr(draft.actor, 7)::bigint end),
                     (select p.role from storehook.proxied_staff p
                       where draft.actor like 'proxy:%' and p.name = substr(draft.actor, 7)),
                     draft.role),
            draft.act, draft.environment, draft.app, draft.subject_kind, draft.subject, draft.before, draft.after, draft.record,
            coalesce(draft.accounts, '{}'),
            storehook.audit_text(
                jsonb_build_object('why', nullif(left(current_setting('storehook.why', true), 1000), ''))
                || coalesce(draft.body::jsonb, '{}')))
$_$;

CREATE TABLE storehook.audit_tail (
    only_row boolean DEFAULT true NOT NULL,
    place bigint NOT NULL,
    at timestamp with time zone NOT NULL,
    hash bytea NOT NULL,
    CONSTRAINT audit_tail_hash_check CHECK ((octet_length(hash) = 32)),
    CONSTRAINT audit_tail_only_row_check CHECK (only_row),
    CONSTRAINT audit_tail_place_check CHECK ((place >= 0))
);

COMMENT ON TABLE storehook.audit_tail IS 'the place, time and hash of the audit''s last row';

CREATE FUNCTION storehook.append_audit(draft storehook.audit_drafts, tail storehook.audit_tail) RETURNS storehook.audit_tail
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET "TimeZone" TO 'UTC'
    SET "DateStyle" TO 'ISO'
    AS $$
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

CREATE FUNCTION storehook.audit_account_ids() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET "TimeZone" TO 'UTC'
    SET "DateStyle" TO 'ISO'
    AS $$
declare
    draft storehook.audit_drafts;
begin
    draft.actor := storehook.audit_actor(new.named_by);
    draft.role := 'admin';
    draft.act := 'change_account_ids';
    draft.subject_kind := 'account_ids';
    draft.subject := 'rule';
    draft.before := jsonb_build_object('rule', old.rule)::text;
    draft.after := jsonb_build_object('rule', new.rule)::text;
    perform storehook.add_audit_draft(draft);
    return null;
end
$$;

CREATE FUNCTION storehook.audit_actor(recorded_by text) RETURNS text
    LANGUAGE sql STABLE PARALLEL SAFE
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET "TimeZone" TO 'UTC'
    SET "DateStyle" TO 'ISO'
    AS $_$
    select case
        when recorded_by like 'cli:%' then left(recorded_by, 210)
        when recorded_by ~ '^staff:[1-9][0-9]{0,17}$' and storehook.may_name_staff()
             and exists (select from storehook.staff_members m where m.id = substr(recorded_by, 7)::bigint) then recorded_by
        when recorded_by like 'proxy:%' and storehook.may_name_staff()
             and exists (select from storehook.proxied_staff p where p.name = substr(recorded_by, 7)) then recorded_by
        else 'cli:' || left(coalesce(recorded_by, '-'), 206) end
$_$;

CREATE FUNCTION storehook.audit_applied_file() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET "TimeZone" TO 'UTC'
    SET "DateStyle" TO 'ISO'
    AS $$
declare
    draft storehook.audit_drafts;
begin
    draft.actor := storehook.audit_actor(new.applied_by);
    draft.role := 'admin';
    draft.act := tg_argv[0];
    draft.subject_kind := tg_argv[1];
    draft.subject := new.version::text;
    draft.after := jsonb_build_object('digest', encode(new.digest, 'hex'))::text;
    draft.record := tg_table_name || ':' || new.version;
    perform storehook.add_audit_draft(draft);
    return null;
end
$$;

CREATE TABLE storehook.audit (
    place bigint NOT NULL,
    at timestamp with time zone NOT NULL,
    actor text NOT NULL,
    role text NOT NULL,
    act text NOT NULL,
    environment text COLLATE pg_catalog."C",
    app text COLLATE pg_catalog."C",
    subject_kind text NOT NULL,
    subject text NOT NULL COLLATE pg_catalog."C",
    before text,
    after text,
    record text COLLATE pg_catalog."C",
    login text NOT NULL,
    text_digest bytea,
    previous bytea NOT NULL,
    hash bytea NOT NULL,
    CONSTRAINT audit_act_check CHECK ((act ~ '^[a-z_]{1,60}$'::text)),
    CONSTRAINT audit_actor_check CHECK (((length(actor) >= 1) AND (length(actor) <= 210))),
    CONSTRAINT audit_after_check CHECK ((length(after) <= 100000)),
    CONSTRAINT audit_app_check CHECK ((length(app) <= 255)),
    CONSTRAINT audit_before_check CHECK ((length(before) <= 100000)),
    CONSTRAINT audit_environment_check CHECK ((length(environment) <= 50)),
    CONSTRAINT audit_hash_check CHECK ((octet_length(hash) = 32)),
    CONSTRAINT audit_login_check CHECK ((length(login) <= 100)),
    CONSTRAINT audit_place_check CHECK ((place > 0)),
    CONSTRAINT audit_previous_check CHECK ((octet_length(previous) = 32)),
    CONSTRAINT audit_record_check CHECK ((length(record) <= 100)),
    CONSTRAINT audit_role_check CHECK ((role = ANY (ARRAY['viewer'::text, 'support'::text, 'admin'::text]))),
    CONSTRAINT audit_subject_check CHECK (((length(subject) >= 1) AND (length(subject) <= 255))),
    CONSTRAINT audit_subject_kind_check CHECK ((subject_kind ~ '^[a-z_]{1,60}$'::text)),
    CONSTRAINT audit_text_digest_check CHECK ((octet_length(text_digest) = 32))
);

COMMENT ON TABLE storehook.audit IS 'what staff did, one row an act, in one order; each row holds the hash of the one before';

COMMENT ON COLUMN storehook.audit.place IS 'from 1 on, without a gap';

COMMENT ON COLUMN storehook.audit.at IS 'to the millisecond; never before the row above';

COMMENT ON COLUMN storehook.audit.actor IS 'cli: and a name that nobody has proven, or staff: and a number';

COMMENT ON COLUMN storehook.audit.role IS 'the actor''s at the time';

COMMENT ON COLUMN storehook.audit.subject IS 'what it was done to: an account by its token, a purchase, a dead letter, …';

COMMENT ON COLUMN storehook.audit.before IS 'JSON, as PostgreSQL writes jsonb';

COMMENT ON COLUMN storehook.audit.record IS 'the row that holds the act itself';

COMMENT ON COLUMN storehook.audit.login IS 'the database user who wrote it, as PostgreSQL knows it; - for acts that are older than the audit';

COMMENT ON COLUMN storehook.audit.text_digest IS 'SHA-256 of the salt and the text of audit_texts; null where there was no text';

COMMENT ON COLUMN storehook.audit.previous IS 'the hash of the row before; 32 zeros in the first';

COMMENT ON COLUMN storehook.audit.hash IS 'SHA-256 of audit_bytes: of all the columns before it';

CREATE FUNCTION storehook.audit_bytes(a storehook.audit) RETURNS bytea
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET "TimeZone" TO 'UTC'
    SET "DateStyle" TO 'ISO'
    AS $$
    select convert_to('storehook-audit-1 ' || string_agg(
               case when f.value is null then '-'
                    else octet_length(convert_to(f.value, 'UTF8'))::text || ':' || f.value end, '' order by f.n), 'UTF8')
      from unnest(array[
               a.place::text, ((extract(epoch from a.at) * 1000000)::bigint)::text, a.actor, a.role, a.act, a.environment, a.app,
               a.subject_kind, a.subject, a.before, a.after, a.record, a.login, encode(a.text_digest, 'hex'),
               encode(a.previous, 'hex')]) with ordinality as f (value, n)
$$;

COMMENT ON FUNCTION storehook.audit_bytes(a storehook.audit) IS 'the bytes whose SHA-256 is the hash of a row of the audit';

CREATE FUNCTION storehook.audit_catalog() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET "TimeZone" TO 'UTC'
    SET "DateStyle" TO 'ISO'
    AS $$
declare
    draft storehook.audit_drafts;
begin
    draft.actor := storehook.audit_actor(new.applied_by);
    draft.role := 'admin';
    draft.act := 'apply_catalog';
    draft.subject_kind := 'catalog';
    draft.subject := new.version::text;
    draft.before := jsonb_build_object('version', (
        select max(c.version) from storehook.catalogs c where c.current_from is not null and c.version < new.version))::text;
    draft.after := jsonb_build_object(
        'version', new.version, 'digest', encode(sha256(convert_to(new.source, 'UTF8')), 'hex'))::text;
    draft.record := 'catalogs:' || new.version;
    perform storehook.add_audit_draft(draft);
    return null;
end
$$;

CREATE FUNCTION storehook.audit_closed_month() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET "TimeZone" TO 'UTC'
    SET "DateStyle" TO 'ISO'
    AS $$
declare
    draft storehook.audit_drafts;
begin
    draft.actor := storehook.audit_actor(case when tg_op = 'INSERT' then new.closed_by else new.reopened_by end);
    draft.role := 'admin';
    draft.act := case when tg_op = 'INSERT' then 'close_month' else 'reopen_month' end;
    draft.subject_kind := 'month';
    draft.subject := new.month;
    draft.after := jsonb_build_object(
        'zone', new.zone, 'catalog_version', new.catalog_version, 'proven', new.is_proven, 'rows', new.row_count)::text;
    draft.record := 'closed_months:' || new.id;
    draft.body := storehook.audit_text(
        jsonb_build_object('why', case when tg_op = 'INSERT' then new.closed_why else new.reopened_why end));
    perform storehook.add_audit_draft(draft);
    return null;
end
$$;

CREATE FUNCTION storehook.audit_consent() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET "TimeZone" TO 'UTC'
    SET "DateStyle" TO 'ISO'
    AS $$
begin
    if storehook.is_by_staff(new) then perform storehook.add_audit_draft(storehook.audit_draft(new)); end if;
    return null;
end
$$;

CREATE FUNCTION storehook.audit_consumption() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET "TimeZone" TO 'UTC'
    SET "DateStyle" TO 'ISO'
    AS $$
declare
    draft storehook.audit_drafts;
begin
    draft.actor := storehook.audit_actor(new.sent_by);
    draft.role := 'admin';
    draft.act := 'answer_consumption';
    draft.environment := new.environment;
    draft.app := new.bundle_id;
    draft.subject_kind := 'transaction';
    draft.subject := coalesce(new.transaction_id, new.notification_uuid::text);
    draft.after := new.answer::text;
    draft.record := 'consumption_answers:' || new.id;
    perform storehook.add_audit_draft(draft);
    return null;
end
$$;

CREATE FUNCTION storehook.audit_dead_letters() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET "TimeZone" TO 'UTC'
    SET "DateStyle" TO 'ISO'
    AS $$
declare
    done record;
    draft storehook.audit_drafts;
begin
    for done in
        select n.resolution, n.resolved_by, n.resolved_why, count(*) as letters, (array_agg(n.id order by n.id))[1:1000] as ids,
               case when count(n.bundle_id) = count(*) and min(n.bundle_id) = max(n.bundle_id) then min(n.bundle_id) end as app
          from settled_before o join settled_after n using (id)
         where o.resolution = 'open' and n.resolution <> 'open'
           and not exists (
               select from storehook.job_items i join storehook.jobs j on j.id = i.job_id
                where i.job_id = n.job_id and i.letter_id = n.id
                  and j.act = case n.resolution when 'replayed' then 'replay' else 'discard' end)
         group by 1, 2, 3
    loop
        draft.actor := storehook.audit_actor(done.resolved_by);
        draft.role := 'admin';
        draft.app := done.app;
        draft.act := case done.resolution when 'replayed' then 'replay_dead_letters' else 'discard_dead_letters' end;
        draft.subject_kind := 'dead_letter';
        draft.subject := done.ids[1] || case when done.letters > 1 then ' and ' || done.letters - 1 || ' more' else '' end;
        draft.before := '{"resolution": "open"}';
        draft.after := jsonb_build_object(
            'resolution', done.resolution, 'letters', done.letters, 'first_ids', to_jsonb(done.ids))::text;
        draft.body := storehook.audit_text(jsonb_build_object('why', done.resolved_why));
        perform storehook.add_audit_draft(draft);
    end loop;
    return null;
end
$$;

CREATE TABLE storehook.accounts (
    token uuid NOT NULL,
    account text,
    known_at timestamp with time zone DEFAULT now() NOT NULL,
    erased_at timestamp with time zone,
    erased_by text,
    CONSTRAINT accounts_account_check CHECK (((length(account) >= 1) AND (length(account) <= 1000))),
    CONSTRAINT accounts_erased_by_check CHECK (((length(erased_by) >= 1) AND (length(erased_by) <= 200)))
)
WITH (fillfactor='80');

COMMENT ON TABLE storehook.accounts IS 'customers; whoever changes what a status depends on holds the row';

COMMENT ON COLUMN storehook.accounts.token IS 'the appAccountToken';

COMMENT ON COLUMN storehook.accounts.account IS 'the account''s id: what the app''s own tokens call the customer; null where only a token is known, or where the customer was erased';

COMMENT ON COLUMN storehook.accounts.erased_at IS 'what was recorded up to then counts no more';

CREATE FUNCTION storehook.audit_draft(erased storehook.accounts) RETURNS storehook.audit_drafts
    LANGUAGE plpgsql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET "TimeZone" TO 'UTC'
    SET "DateStyle" TO 'ISO'
    AS $$
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

CREATE TABLE storehook.consumption_consents (
    id bigint NOT NULL,
    account text,
    app_account_token uuid,
    granted boolean NOT NULL,
    text text,
    recorded_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    recorded_by text NOT NULL,
    text_id bigint,
    CONSTRAINT consumption_consents_account_check CHECK (((length(account) >= 1) AND (length(account) <= 1000))),
    CONSTRAINT consumption_consents_check CHECK (((text IS NOT NULL) OR (NOT granted))),
    CONSTRAINT consumption_consents_recorded_by_check CHECK ((length(recorded_by) <= 200)),
    CONSTRAINT consumption_consents_text_check CHECK (((length(text) >= 1) AND (length(text) <= 10000)))
);

COMMENT ON TABLE storehook.consumption_consents IS 'whether a customer agrees that Apple is told about use, for refund requests: append-only, the last row of a token counts';

COMMENT ON COLUMN storehook.consumption_consents.account IS 'the account''s id: what the app''s own tokens call the customer; null where only a token is known, or where the customer was erased';

COMMENT ON COLUMN storehook.consumption_consents.app_account_token IS 'null where the customer was erased: then it is nobody''s consent any more';

COMMENT ON COLUMN storehook.consumption_consents.text IS 'what the customer was shown, of consents that were recorded before texts were kept once; since then it stands in consent_texts';

COMMENT ON COLUMN storehook.consumption_consents.text_id IS 'what the customer was shown';

CREATE FUNCTION storehook.audit_draft(consent storehook.consumption_consents) RETURNS storehook.audit_drafts
    LANGUAGE plpgsql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET "TimeZone" TO 'UTC'
    SET "DateStyle" TO 'ISO'
    AS $$
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

CREATE TABLE storehook.purchase_bindings (
    id bigint NOT NULL,
    original_transaction_id text NOT NULL COLLATE pg_catalog."C",
    bundle_id text NOT NULL COLLATE pg_catalog."C",
    environment text NOT NULL COLLATE pg_catalog."C",
    kind text NOT NULL,
    token uuid NOT NULL,
    at timestamp with time zone DEFAULT date_trunc('milliseconds'::text, clock_timestamp()) NOT NULL,
    recorded_by text,
    why text,
    former uuid,
    CONSTRAINT purchase_bindings_check CHECK (((kind <> 'staff'::text) OR ((recorded_by IS NOT NULL) AND (why IS NOT NULL)))),
    CONSTRAINT purchase_bindings_kind_check CHECK ((kind = ANY (ARRAY['proof'::text, 'transfer'::text, 'staff'::text, 'erasure'::text]))),
    CONSTRAINT purchase_bindings_recorded_by_check CHECK (((length(recorded_by) >= 1) AND (length(recorded_by) <= 200))),
    CONSTRAINT purchase_bindings_why_check CHECK (((length(why) >= 1) AND (length(why) <= 1000)))
);

COMMENT ON TABLE storehook.purchase_bindings IS 'append-only: purchases that accounts proved, that moved, and that were freed';

COMMENT ON COLUMN storehook.purchase_bindings.kind IS 'proof: the first; transfer: a later one, where the rule lets it move; staff: moved; erasure: what names this account counts no more';

COMMENT ON COLUMN storehook.purchase_bindings.recorded_by IS 'who erased the account; of a purchase that staff moved it stands in staff_texts';

COMMENT ON COLUMN storehook.purchase_bindings.why IS 'stands in staff_texts';

COMMENT ON COLUMN storehook.purchase_bindings.former IS 'of a purchase that staff moved: whose it was before, if anybody''s';

CREATE FUNCTION storehook.audit_draft(bound storehook.purchase_bindings) RETURNS storehook.audit_drafts
    LANGUAGE plpgsql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET "TimeZone" TO 'UTC'
    SET "DateStyle" TO 'ISO'
    AS $$
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

CREATE TABLE storehook.staff_acts (
    id bigint NOT NULL,
    token uuid NOT NULL,
    kind text NOT NULL,
    tier text,
    days integer,
    at timestamp with time zone DEFAULT date_trunc('milliseconds'::text, clock_timestamp()) NOT NULL,
    recorded_by text NOT NULL,
    why text NOT NULL,
    before text,
    after text,
    CONSTRAINT staff_acts_after_check CHECK ((length(after) <= 10000)),
    CONSTRAINT staff_acts_before_check CHECK ((length(before) <= 10000)),
    CONSTRAINT staff_acts_check CHECK (((tier IS NOT NULL) = (kind = ANY (ARRAY['grant'::text, 'change_tier'::text])))),
    CONSTRAINT staff_acts_check1 CHECK (((days IS NOT NULL) = (kind = ANY (ARRAY['grant'::text, 'extend'::text])))),
    CONSTRAINT staff_acts_days_check CHECK (((days >= 1) AND (days <= 36500))),
    CONSTRAINT staff_acts_kind_check CHECK ((kind = ANY (ARRAY['grant'::text, 'extend'::text, 'revoke'::text, 'unrevoke'::text, 'change_tier'::text]))),
    CONSTRAINT staff_acts_recorded_by_check CHECK (((length(recorded_by) >= 1) AND (length(recorded_by) <= 200))),
    CONSTRAINT staff_acts_tier_check CHECK (((length(tier) >= 1) AND (length(tier) <= 100))),
    CONSTRAINT staff_acts_why_check CHECK (((length(why) >= 1) AND (length(why) <= 1000)))
);

COMMENT ON TABLE storehook.staff_acts IS 'append-only: what staff did for accounts, in Production';

COMMENT ON COLUMN storehook.staff_acts.recorded_by IS 'stands in staff_texts';

COMMENT ON COLUMN storehook.staff_acts.why IS 'stands in staff_texts';

COMMENT ON COLUMN storehook.staff_acts.before IS 'what the account was, as JSON; null where an earlier release recorded the act';

CREATE FUNCTION storehook.audit_draft(act storehook.staff_acts) RETURNS storehook.audit_drafts
    LANGUAGE plpgsql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET "TimeZone" TO 'UTC'
    SET "DateStyle" TO 'ISO'
    AS $$
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

CREATE FUNCTION storehook.audit_endpoint() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET "TimeZone" TO 'UTC'
    SET "DateStyle" TO 'ISO'
    AS $$
declare
    draft storehook.audit_drafts;
begin
    draft.actor := storehook.audit_actor(new.changed_by);
    draft.role := 'admin';
    draft.environment := new.environment;
    draft.app := new.bundle_id;
    draft.subject_kind := 'endpoint';
    draft.subject := new.id::text;
    draft.after := jsonb_build_object('state', new.state, 'rate', new.rate)::text;
    if tg_op = 'INSERT' then
        draft.act := 'add_endpoint';
    else
        draft.before := jsonb_build_object('state', old.state, 'rate', old.rate)::text;
        draft.act := case
            when new.state = 'removed' then 'remove_endpoint'
            when new.secret is distinct from old.secret then 'rotate_endpoint'
            when new.state = 'disabled' then 'disable_endpoint'
            else 'enable_endpoint' end;
    end if;
    draft.body := storehook.audit_text(jsonb_build_object('why', case when new.state = 'disabled' then new.reason end));
    perform storehook.add_audit_draft(draft);
    return null;
end
$$;

CREATE FUNCTION storehook.audit_endpoint_trial() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET "TimeZone" TO 'UTC'
    SET "DateStyle" TO 'ISO'
    AS $$
declare
    draft storehook.audit_drafts;
begin
    draft.actor := storehook.audit_actor(new.asked_by);
    draft.role := 'admin';
    draft.act := 'test_endpoint';
    select e.environment, e.bundle_id into draft.environment, draft.app from storehook.endpoints e where e.id = new.endpoint_id;
    draft.subject_kind := 'endpoint';
    draft.subject := new.endpoint_id::text;
    draft.after := jsonb_strip_nulls(jsonb_build_object('event', 'evt_' || new.event_id))::text;
    draft.record := 'endpoint_trials:' || new.id;
    perform storehook.add_audit_draft(draft);
    return null;
end
$$;

CREATE FUNCTION storehook.audit_erasure() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET "TimeZone" TO 'UTC'
    SET "DateStyle" TO 'ISO'
    AS $$
declare
    concerned bigint[];
begin
    concerned := array(
        select k.place from storehook.audit_texts k where k.accounts && array[new.token]
         union
        select a.place from storehook.account_lines l
          join storehook.audit a
               on a.subject_kind = 'purchase' and a.subject = l.original_transaction_id and a.app = l.bundle_id
              and a.environment = l.environment
         where l.token = new.token
         union
        select a.place from storehook.account_lines l
          join storehook.staff_refund_requests r using (original_transaction_id, bundle_id, environment)
          join storehook.audit a on a.record = 'staff_refund_requests:' || r.id
         where l.token = new.token);
    perform from storehook.audit_texts t
      where t.erased_at is null and t.place = any(concerned) order by t.place for update;
    update storehook.audit_texts t set salt = null, body = null, erased_at = clock_timestamp()
     where t.erased_at is null and t.place = any(concerned);
    perform storehook.add_audit_draft(storehook.audit_draft(new));
    return null;
end
$$;

CREATE FUNCTION storehook.audit_extension() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET "TimeZone" TO 'UTC'
    SET "DateStyle" TO 'ISO'
    AS $$
declare
    draft storehook.audit_drafts;
begin
    draft.actor := storehook.audit_actor(case when tg_op = 'INSERT' then new.requested_by else new.closed_by end);
    draft.role := 'admin';
    draft.act := case when tg_op = 'INSERT' then 'request_extension' else 'close_extension' end;
    draft.environment := new.environment;
    draft.app := new.bundle_id;
    draft.subject_kind := case when new.original_transaction_id is null then 'product' else 'purchase' end;
    draft.subject := coalesce(new.original_transaction_id, new.product_id);
    draft.before := case when tg_op = 'UPDATE' then jsonb_build_object('state', old.state)::text end;
    draft.after := jsonb_build_object('state', new.state, 'days', new.days, 'reason_code', new.reason_code)::text;
    draft.record := 'extensions:' || new.id;
    draft.body := storehook.audit_text(jsonb_build_object(
        'why', case when tg_op = 'INSERT' then new.why else new.closed_why end));
    perform storehook.add_audit_draft(draft);
    return null;
end
$$;

CREATE FUNCTION storehook.audit_job() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET "TimeZone" TO 'UTC'
    SET "DateStyle" TO 'ISO'
    AS $$
declare
    draft storehook.audit_drafts;
begin
    draft.role := 'admin';
    draft.app := case when cardinality(new.apps) = 1 then new.apps[1] end;
    draft.subject_kind := 'job';
    draft.subject := new.id::text;
    draft.record := 'jobs:' || new.id;
    if tg_op = 'INSERT' then
        draft.actor := new.actor;
        draft.act := case new.act when 'replay' then 'replay_dead_letters' else 'discard_dead_letters' end;
        draft.after := jsonb_strip_nulls(jsonb_build_object(
            'letters', new.total, 'up_to', new.up_to, 'filter', new.filter::jsonb - 'text'))::text;
        draft.body := storehook.audit_text(jsonb_build_object('why', new.why, 'text', new.filter ->> 'text'));
    else
        draft.actor := storehook.audit_actor(new.stopped_by);
        draft.act := 'stop_job';
        draft.before := jsonb_build_object('state', old.state)::text;
        draft.after := jsonb_build_object('letters', new.total, 'done', new.done, 'skipped', new.skipped)::text;
        draft.body := storehook.audit_text(jsonb_build_object('why', new.stopped_why));
    end if;
    perform storehook.add_audit_draft(draft);
    return null;
end
$$;

CREATE FUNCTION storehook.audit_move() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET "TimeZone" TO 'UTC'
    SET "DateStyle" TO 'ISO'
    AS $$
begin
    perform storehook.add_audit_draft(storehook.audit_draft(new));
    return null;
end
$$;

CREATE FUNCTION storehook.audit_rate_import() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET "TimeZone" TO 'UTC'
    SET "DateStyle" TO 'ISO'
    AS $$
declare
    draft storehook.audit_drafts;
begin
    draft.actor := storehook.audit_actor(new.imported_by);
    draft.role := 'admin';
    draft.act := 'import_rates';
    draft.subject_kind := 'rates';
    draft.subject := new.id::text;
    draft.after := jsonb_build_object(
        'rates', new.rates, 'added', new.added, 'corrected', new.corrected, 'digest', encode(new.digest, 'hex'))::text;
    draft.record := 'rate_imports:' || new.id;
    perform storehook.add_audit_draft(draft);
    return null;
end
$$;

CREATE FUNCTION storehook.audit_refund_request() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET "TimeZone" TO 'UTC'
    SET "DateStyle" TO 'ISO'
    AS $$
declare
    draft storehook.audit_drafts;
    written storehook.refund_request_texts;
begin
    select * into written from storehook.refund_request_texts t where t.id = new.id;
    draft.actor := storehook.audit_actor(new.acted_by);
    draft.role := new.acted_role;
    draft.act := case
        when tg_op = 'INSERT' then 'create_refund_request'
        else case new.state
            when 'approved' then 'approve_refund_request'
            when 'rejected' then 'reject_refund_request'
            when 'cancelled' then 'cancel_refund_request'
            else 'record_refund' end
        end;
    draft.environment := new.environment;
    draft.app := new.bundle_id;
    draft.subject_kind := 'refund_request';
    draft.subject := 'RF-' || case when new.id < 1000 then lpad(new.id::text, 3, '0') else new.id::text end;
    if tg_op = 'UPDATE' then draft.before := storehook.audit_refund_state(old); end if;
    draft.after := storehook.audit_refund_state(new);
    draft.record := 'staff_refund_requests:' || new.id;
    draft.accounts := array(
        select l.token from storehook.account_lines l
         where (l.original_transaction_id, l.bundle_id, l.environment)
               = (new.original_transaction_id, new.bundle_id, new.environment)
         union
        select t.app_account_token from storehook.transactions t
         where (t.transaction_id, t.bundle_id, t.environment) = (new.transaction_id, new.bundle_id, new.environment)
           and t.app_account_token <> '00000000-0000-0000-0000-000000000000');
    draft.body := storehook.audit_text(
        case when tg_op = 'INSERT' then jsonb_build_object('why', written.reason)
             else jsonb_build_object('note', written.note) end);
    perform storehook.add_audit_draft(draft);
    return null;
end
$$;

CREATE TABLE storehook.staff_refund_requests (
    id bigint NOT NULL,
    environment text NOT NULL COLLATE pg_catalog."C",
    bundle_id text NOT NULL COLLATE pg_catalog."C",
    original_transaction_id text NOT NULL COLLATE pg_catalog."C",
    order_id bigint NOT NULL,
    item text NOT NULL COLLATE pg_catalog."C",
    transaction_id text NOT NULL COLLATE pg_catalog."C",
    kind text NOT NULL,
    state text DEFAULT 'pending'::text NOT NULL,
    currency text COLLATE pg_catalog."C",
    price bigint NOT NULL,
    requested bigint NOT NULL,
    approved bigint,
    is_whole boolean DEFAULT false NOT NULL,
    share_before integer NOT NULL,
    refunded_before bigint NOT NULL,
    refunded_before_at timestamp with time zone,
    requester text NOT NULL,
    created_at timestamp with time zone NOT NULL,
    decider text,
    decided_at timestamp with time zone,
    apple_share integer,
    apple_amount bigint,
    apple_at timestamp with time zone,
    reversed_at timestamp with time zone,
    reference text,
    elsewhere_amount bigint,
    elsewhere_at timestamp with time zone,
    processed_at timestamp with time zone,
    acted_by text NOT NULL,
    acted_role text NOT NULL,
    acted_at timestamp with time zone NOT NULL,
    CONSTRAINT staff_refund_requests_acted_by_check CHECK (((length(acted_by) >= 1) AND (length(acted_by) <= 200))),
    CONSTRAINT staff_refund_requests_acted_role_check CHECK ((acted_role = ANY (ARRAY['viewer'::text, 'support'::text, 'admin'::text]))),
    CONSTRAINT staff_refund_requests_apple_amount_check CHECK ((apple_amount >= 0)),
    CONSTRAINT staff_refund_requests_apple_share_check CHECK (((apple_share >= 0) AND (apple_share <= 100000))),
    CONSTRAINT staff_refund_requests_approved_check CHECK ((approved > 0)),
    CONSTRAINT staff_refund_requests_check CHECK (((decider IS NULL) = (decided_at IS NULL))),
    CONSTRAINT staff_refund_requests_check1 CHECK (((state = 'pending'::text) = (decider IS NULL))),
    CONSTRAINT staff_refund_requests_check2 CHECK (((approved IS NOT NULL) = (state = ANY (ARRAY['approved'::text, 'processed'::text])))),
    CONSTRAINT staff_refund_requests_check3 CHECK (((state = 'processed'::text) = (processed_at IS NOT NULL))),
    CONSTRAINT staff_refund_requests_check4 CHECK ((((reference IS NULL) = (elsewhere_amount IS NULL)) AND ((reference IS NULL) = (elsewhere_at IS NULL)))),
    CONSTRAINT staff_refund_requests_check5 CHECK (((reversed_at IS NULL) OR (apple_at IS NOT NULL))),
    CONSTRAINT staff_refund_requests_decider_check CHECK (((length(decider) >= 1) AND (length(decider) <= 200))),
    CONSTRAINT staff_refund_requests_elsewhere_amount_check CHECK ((elsewhere_amount > 0)),
    CONSTRAINT staff_refund_requests_kind_check CHECK ((kind = ANY (ARRAY['full'::text, 'partial'::text, 'prorated'::text]))),
    CONSTRAINT staff_refund_requests_price_check CHECK ((price > 0)),
    CONSTRAINT staff_refund_requests_reference_check CHECK (((length(reference) >= 1) AND (length(reference) <= 100))),
    CONSTRAINT staff_refund_requests_refunded_before_check CHECK ((refunded_before >= 0)),
    CONSTRAINT staff_refund_requests_requested_check CHECK ((requested > 0)),
    CONSTRAINT staff_refund_requests_requester_check CHECK (((length(requester) >= 1) AND (length(requester) <= 200))),
    CONSTRAINT staff_refund_requests_share_before_check CHECK (((share_before >= 0) AND (share_before <= 100000))),
    CONSTRAINT staff_refund_requests_state_check CHECK ((state = ANY (ARRAY['pending'::text, 'approved'::text, 'rejected'::text, 'cancelled'::text, 'processed'::text])))
)
WITH (fillfactor='80');

COMMENT ON TABLE storehook.staff_refund_requests IS 'what staff asked for and decided about refunds, each of one transaction; amounts are in thousandths of its currency';

COMMENT ON COLUMN storehook.staff_refund_requests.id IS 'shown as RF-001, four digits from RF-1000 on';

COMMENT ON COLUMN storehook.staff_refund_requests.item IS 'which transaction of the order: see booked_transactions';

COMMENT ON COLUMN storehook.staff_refund_requests.requested IS 'of a prorated one: what was left of the time when it was made';

COMMENT ON COLUMN storehook.staff_refund_requests.is_whole IS 'whether what was approved was all that was left';

COMMENT ON COLUMN storehook.staff_refund_requests.share_before IS 'how much of the transaction was refunded when it was made, in thousandths of a percent; less where Apple has reversed that since';

COMMENT ON COLUMN storehook.staff_refund_requests.decider IS 'the actor that approved, rejected or cancelled it; apple where Apple refunded first';

COMMENT ON COLUMN storehook.staff_refund_requests.apple_amount IS 'what Apple refunded after it was made; null where Apple did not, or does not say how much (see apple_at)';

COMMENT ON COLUMN storehook.staff_refund_requests.reversed_at IS 'when Apple took that back';

COMMENT ON COLUMN storehook.staff_refund_requests.reference IS 'of a refund made elsewhere: what it is called there';

COMMENT ON COLUMN storehook.staff_refund_requests.acted_by IS 'the actor of the latest act of the staff';

COMMENT ON COLUMN storehook.staff_refund_requests.acted_role IS 'the role of that actor at the time';

CREATE FUNCTION storehook.audit_refund_state(request storehook.staff_refund_requests) RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET "TimeZone" TO 'UTC'
    SET "DateStyle" TO 'ISO'
    AS $$
    select jsonb_strip_nulls(jsonb_build_object(
        'state', request.state, 'type', request.kind, 'transaction', request.transaction_id, 'currency', request.currency,
        'requested', request.requested, 'approved', request.approved, 'reference', request.reference,
        'refunded_elsewhere', request.elsewhere_amount, 'refunded_elsewhere_at', request.elsewhere_at))::text
$$;

CREATE FUNCTION storehook.audit_server_key() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET "TimeZone" TO 'UTC'
    SET "DateStyle" TO 'ISO'
    AS $$
declare
    draft storehook.audit_drafts;
begin
    draft.actor := storehook.audit_actor(case when tg_op = 'INSERT' then new.created_by else new.revoked_by end);
    draft.role := 'admin';
    draft.act := case when tg_op = 'INSERT' then 'add_server_key' else 'revoke_server_key' end;
    draft.subject_kind := 'server_key';
    draft.subject := new.id::text;
    draft.before := case when tg_op = 'UPDATE' then '{"valid": true}' end;
    draft.after := jsonb_build_object('valid', new.revoked_at is null)::text;
    -- What a key is for may name a colleague.
    draft.body := storehook.audit_text(jsonb_build_object('name', new.name));
    perform storehook.add_audit_draft(draft);
    return null;
end
$$;

CREATE FUNCTION storehook.audit_staff_act() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET "TimeZone" TO 'UTC'
    SET "DateStyle" TO 'ISO'
    AS $$
begin
    perform storehook.add_audit_draft(storehook.audit_draft(new));
    return null;
end
$$;

CREATE FUNCTION storehook.audit_staff_member() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET "TimeZone" TO 'UTC'
    SET "DateStyle" TO 'ISO'
    AS $$
declare
    draft storehook.audit_drafts;
begin
    draft.actor := storehook.audit_actor(case
        when tg_op = 'INSERT' then new.added_by when new.removed_at is null then new.changed_by else new.removed_by end);
    draft.role := 'admin';
    draft.act := case
        when tg_op = 'INSERT' then 'add_staff' when new.removed_at is null then 'change_staff' else 'remove_staff' end;
    draft.subject_kind := 'staff';
    draft.subject := new.id::text;
    if tg_op = 'UPDATE' then draft.before := jsonb_build_object('role', old.role, 'apps', old.apps)::text; end if;
    draft.after := case
        when new.removed_at is null then jsonb_build_object('role', new.role, 'apps', new.apps)
        else '{"removed": true}' end::text;
    draft.body := storehook.audit_text(jsonb_build_object('mail', new.mail));
    perform storehook.add_audit_draft(draft);
    return null;
end
$$;

CREATE FUNCTION storehook.audit_staff_note() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET "TimeZone" TO 'UTC'
    SET "DateStyle" TO 'ISO'
    AS $$
declare
    draft storehook.audit_drafts;
begin
    perform from storehook.accounts a where a.token = new.token for share;
    perform from storehook.account_names n where n.token = new.token for share;
    draft.actor := storehook.audit_actor(new.recorded_by);
    draft.role := 'admin';
    draft.act := 'add_note';
    draft.subject_kind := 'account';
    draft.subject := new.token::text;
    draft.after := jsonb_build_object('note', new.id)::text;
    draft.record := 'staff_notes:' || new.id;
    draft.accounts := array[new.token];
    draft.body := storehook.audit_text(jsonb_build_object(
        'account', coalesce(
            (select a.account from storehook.accounts a where a.token = new.token),
            (select n.account from storehook.account_names n where n.token = new.token)),
        'note', new.body));
    perform storehook.add_audit_draft(draft);
    return null;
end
$$;

CREATE FUNCTION storehook.audit_staff_password() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET "TimeZone" TO 'UTC'
    SET "DateStyle" TO 'ISO'
    AS $$
declare
    draft storehook.audit_drafts;
begin
    draft.actor := storehook.audit_actor(new.set_by);
    draft.role := 'admin';
    draft.act := 'set_staff_password';
    draft.subject_kind := 'staff';
    draft.subject := new.member_id::text;
    if tg_op = 'UPDATE' then draft.before := jsonb_build_object('set_at', old.set_at)::text; end if;
    draft.after := jsonb_build_object('set_at', new.set_at)::text;
    perform storehook.add_audit_draft(draft);
    return null;
end
$$;

CREATE FUNCTION storehook.audit_staff_token() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET "TimeZone" TO 'UTC'
    SET "DateStyle" TO 'ISO'
    AS $$
declare
    draft storehook.audit_drafts;
begin
    -- That a removal ends the tokens is in the row of the removal.
    if tg_op = 'UPDATE' and exists (
        select from storehook.staff_members m where m.id = new.member_id and m.removed_at is not null) then
        return null;
    end if;
    draft.actor := storehook.audit_actor(case when tg_op = 'INSERT' then new.created_by else new.revoked_by end);
    draft.role := 'admin';
    draft.act := case when tg_op = 'INSERT' then 'add_staff_token' else 'revoke_staff_token' end;
    draft.subject_kind := 'staff';
    draft.subject := new.member_id::text;
    if tg_op = 'UPDATE' then draft.before := jsonb_build_object('token', new.id, 'expires_at', old.expires_at)::text; end if;
    draft.after := jsonb_build_object(
        'token', new.id, 'expires_at', case when new.revoked_at is null then new.expires_at end)::text;
    perform storehook.add_audit_draft(draft);
    return null;
end
$$;

CREATE FUNCTION storehook.audit_text(texts jsonb) RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET "TimeZone" TO 'UTC'
    SET "DateStyle" TO 'ISO'
    AS $$
    select nullif(jsonb_strip_nulls(texts), '{}')::text
$$;

CREATE FUNCTION storehook.chain_audit() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET "TimeZone" TO 'UTC'
    SET "DateStyle" TO 'ISO'
    AS $$
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

CREATE FUNCTION storehook.count_outbox_day(day date, with_open boolean, OUT received bigint, OUT pending bigint, OUT applied bigint, OUT duplicate bigint, OUT parked bigint, OUT dead bigint, OUT discarded bigint, OUT missing bigint, OUT doubled bigint, OUT open_ids bigint[]) RETURNS record
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET "TimeZone" TO 'UTC'
    SET "DateStyle" TO 'ISO'
    AS $_$
declare
    opens    constant timestamptz := count_outbox_day.day::timestamp at time zone 'UTC';
    closes   constant timestamptz := (count_outbox_day.day + 1)::timestamp at time zone 'UTC';
    first_id bigint;
    last_id  bigint;
begin
    execute 'select min(id), max(id) from storehook.outbox where received_at >= $1 and received_at < $2'
       into first_id, last_id using opens, closes;
    execute
        $q$
        with located as (
            select o.id, count(p.place) as places, min(p.place) as place
              from storehook.outbox o
              left join (select * from storehook.outbox_places where outbox_id between $3 and $4) p on p.outbox_id = o.id
             where o.received_at >= $1 and o.received_at < $2
             group by o.id
        )
        select count(*),
               count(*) filter (where place = 'pending'),
               count(*) filter (where place = 'applied' and (places = 1 or not $5)),
               count(*) filter (where place = 'duplicate' and (places = 1 or not $5)),
               count(*) filter (where place = 'parked' and (places = 1 or not $5)),
               count(*) filter (where place = 'dead'),
               count(*) filter (where place = 'discarded' and (places = 1 or not $5)),
               count(*) filter (where places = 0), count(*) filter (where places > 1),
               coalesce(array_agg(id) filter (where $5 and (places <> 1 or place in ('pending', 'dead'))), '{}')
          from located
        $q$
       into received, pending, applied, duplicate, parked, dead, discarded, missing, doubled, open_ids
      using opens, closes, first_id, last_id, with_open;
end
$_$;

CREATE FUNCTION storehook.count_usage(in_token uuid, in_feature text, in_act text, in_amount bigint, in_allowed bigint, in_period text, in_starts_on date, in_opens_at timestamp with time zone, in_resets_at timestamp with time zone, in_used_at timestamp with time zone, in_key uuid, OUT outcome text, OUT clock timestamp with time zone, OUT out_used bigint, OUT out_allowed bigint, OUT out_period text, OUT out_starts_on date, OUT out_resets_at timestamp with time zone) RETURNS record
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
    -- What the row of a key takes with its indexes: measured, 255 bytes with a short feature and 430 with the longest.
    weight constant bigint := 310 + 2 * octet_length(in_feature);
    held    storehook.usage_keys%rowtype;
    is_paid boolean := false;
    -- What is used before and would be after.
    stood   bigint;
    wanted  bigint;
begin
    clock := now();
    out_allowed := in_allowed;
    out_period := in_period;
    out_starts_on := in_starts_on;
    out_resets_at := in_resets_at;
    loop
        if in_key is not null then
            select * into held from storehook.usage_keys k
             where k.token = in_token and k.feature = in_feature and k.key = in_key;
            if found then
                outcome := case when held.act = in_act and held.amount = in_amount then 'repeated' else 'key_reused' end;
                out_used := held.used;
                out_allowed := held.allowed;
                out_period := held.period;
                out_starts_on := held.starts_on;
                out_resets_at := held.resets_at;
                exit;
            end if;
        end if;
        exit when is_paid;
        outcome := case when in_used_at < clock - interval '840 hours' then 'too_old'
                        when in_used_at > clock + interval '5 minutes' then 'in_the_future'
                        when in_used_at is null and (clock < in_opens_at or clock >= in_resets_at) then 'elsewhere' end;
        if outcome is not null then
            return;
        end if;
        -- What there certainly is no room for writes nothing.
        stood := coalesce((select c.used from storehook.usage_counters c
                            where c.token = in_token and c.feature = in_feature and c.period = in_period
                              and c.starts_on = in_starts_on), 0);
        wanted := case in_act when 'add' then stood + in_amount
                              when 'set' then in_amount
                              else greatest(stood - in_amount, 0) end;
        if wanted > in_allowed and wanted > stood then
            outcome := 'limit_reached';
            out_used := stood;
            return;
        end if;
        exit when in_key is null;
        if not storehook.spend_write_budget(in_token, weight) then
            outcome := 'write_budget';
            return;
        end if;
        -- Once more: another report with this key may have been under way.
        is_paid := true;
    end loop;

    if outcome is null then
        -- The row is locked before it is looked at: what was read above may be outdated.
        insert into storehook.usage_counters as c (token, feature, period, starts_on, resets_at, used)
        values (in_token, in_feature, in_period, in_starts_on, in_resets_at, wanted)
            on conflict (token, feature, period, starts_on) do update
           set used = case in_act when 'add' then c.used + in_amount
                                  when 'set' then in_amount
                                  else greatest(c.used - in_amount, 0) end
         where in_allowed is null
            -- Less than before is never too much, also for who has more than a lower tier allows.
            or case in_act when 'add' then c.used + in_amount <= in_allowed
                           when 'set' then in_amount <= greatest(in_allowed, c.used)
                           else true end
        returning c.used into out_used;
        if found then
            outcome := 'counted';
            if in_key is not null then
                insert into storehook.usage_keys
                       (token, feature, key, act, amount, allowed, used, period, starts_on, resets_at, kept_until)
                values (in_token, in_feature, in_key, in_act, in_amount, in_allowed, out_used, in_period, in_starts_on,
                        in_resets_at, coalesce(in_resets_at, clock) + interval '840 hours');
            end if;
            return;
        end if;
        outcome := 'limit_reached';
        select c.used into out_used from storehook.usage_counters c
         where c.token = in_token and c.feature = in_feature and c.period = in_period and c.starts_on = in_starts_on;
    end if;
    -- No row was written for what was paid.
    if is_paid then
        update storehook.write_budgets b set bytes = greatest(b.bytes - weight, 0) where b.token = in_token;
    end if;
end
$$;

CREATE FUNCTION storehook.dead_letter_body(letter bigint) RETURNS bytea
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET "TimeZone" TO 'UTC'
    SET "DateStyle" TO 'ISO'
    AS $$
    select b.stored
      from storehook.dead_letters d
     cross join lateral storehook.outbox_bodies(array[d.outbox_id], array[d.received_at]) b
     where d.id = dead_letter_body.letter
$$;

CREATE FUNCTION storehook.delete_event_positions(day date, kept_days integer, most integer) RETURNS integer
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET "TimeZone" TO 'UTC'
    SET "DateStyle" TO 'ISO'
    AS $$
declare
    opens   constant timestamptz := day::timestamp at time zone 'UTC';
    closes  constant timestamptz := (day + 1)::timestamp at time zone 'UTC';
    deleted integer;
begin
    if kept_days not between 7 and 36500 then
        raise exception 'kept_days must be between 7 and 36500' using errcode = 'invalid_parameter_value';
    end if;
    if most not between 1 and 1000000 then
        raise exception 'most must be between 1 and 1000000' using errcode = 'invalid_parameter_value';
    end if;
    if day >= (now() at time zone 'UTC')::date - kept_days
       or exists (select from storehook.events_unplaced u where u.told_at >= opens and u.told_at < closes)
    then
        return 0;
    end if;
    delete from storehook.event_places p
     using (select position from storehook.event_places
             where told_at >= opens and told_at < closes order by position limit most) old
     where p.position = old.position;
    get diagnostics deleted = row_count;
    return deleted;
end
$$;

CREATE FUNCTION storehook.drop_consent_texts(in_ids bigint[]) RETURNS bigint
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET "TimeZone" TO 'UTC'
    SET "DateStyle" TO 'ISO'
    AS $$
declare
    unnamed bigint[];
    dropped bigint;
begin
    unnamed := array(select t.id from unnest(in_ids) as t (id)
                      where not exists (select from storehook.consumption_consents c where c.text_id = t.id));
    if cardinality(unnamed) = 0 then
        return 0;
    end if;
    perform from storehook.consent_texts t where t.id = any(unnamed) order by t.id for update;
    -- A statement of its own: it sees the consents that named one before the lock.
    delete from storehook.consent_texts t
     where t.id = any(unnamed) and not exists (select from storehook.consumption_consents c where c.text_id = t.id);
    get diagnostics dropped = row_count;
    return dropped;
end
$$;

CREATE FUNCTION storehook.drop_event_day(day date, kept_days integer) RETURNS boolean
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET "TimeZone" TO 'UTC'
    SET "DateStyle" TO 'ISO'
    SET lock_timeout TO '250ms'
    AS $$
declare
    opens  constant timestamptz := day::timestamp at time zone 'UTC';
    closes constant timestamptz := (day + 1)::timestamp at time zone 'UTC';
    name   constant text := 'events_' || to_char(day, 'YYYYMMDD');
begin
    if kept_days not between 7 and 36500 then
        raise exception 'kept_days must be between 7 and 36500' using errcode = 'invalid_parameter_value';
    end if;
    if day >= (now() at time zone 'UTC')::date - kept_days or to_regclass('storehook.' || name) is null then
        return false;
    end if;
    if exists (select from storehook.events_unplaced u where u.told_at >= opens and u.told_at < closes) then
        return false;
    end if;
    delete from storehook.event_places p where p.told_at >= opens and p.told_at < closes;
    -- No cascade: it takes nothing along but its own day.
    execute format('drop table storehook.%I', name);
    return true;
end
$$;

CREATE FUNCTION storehook.drop_outbox_day(day date, keep_days integer, OUT outcome text, OUT gone bigint, OUT kept bigint) RETURNS record
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET "TimeZone" TO 'UTC'
    SET "DateStyle" TO 'ISO'
    SET lock_timeout TO '10s'
    AS $_$
declare
    opens       timestamptz := drop_outbox_day.day::timestamp at time zone 'UTC';
    closes      timestamptz := (drop_outbox_day.day + 1)::timestamp at time zone 'UTC';
    name        constant text := 'outbox_' || to_char(drop_outbox_day.day, 'YYYYMMDD');
    is_whole    boolean;
    source      text;
    most        bigint;
    first_id    bigint;
    last_id     bigint;
    kept_ids    bigint[];
    kept_bytes  bigint;
    gone_ids    bigint[];
    sums        storehook.outbox_dropped%rowtype;
    bounds      record;
    rows_there  bigint;
    rows_moved  bigint;
begin
    gone := 0;
    kept := 0;
    if keep_days < 7 then
        raise exception 'keep_days must be 7 or more' using errcode = 'invalid_parameter_value';
    end if;
    if drop_outbox_day.day >= (now() at time zone 'UTC')::date - keep_days then
        raise exception 'the day is not older than keep_days' using errcode = 'invalid_parameter_value';
    end if;
    perform 1 from storehook.upkeep_locks where task = 'partitions' for update skip locked;
    if not found then
        outcome := 'busy';
        return;
    end if;

    is_whole := exists (select from storehook.outbox_days d where d.day = drop_outbox_day.day and d.has_partition);
    source := case when is_whole then name else 'outbox_default' end;
    -- Single rows are deleted one by one, so not too many of them at once.
    most := case when not is_whole then 20000 end;
    -- Nobody adds to the day while it is counted, and no VACUUM stands in the way later. Receivers write to today's
    -- partition, and neither they nor readers meet any of these locks or the wait for them.
    if is_whole then
        lock table only storehook.outbox in share update exclusive mode;
        lock table storehook.outbox_default in share update exclusive mode;
        execute format('lock table storehook.%I in share row exclusive mode', name);
        select * into bounds from storehook.outbox_partition_bounds(drop_outbox_day.day);
        if bounds.opens is null or bounds.closes is null then
            raise exception 'the bounds of partition % cannot be read', name using errcode = 'data_exception';
        end if;
        -- A day of its own keeps, or one that was bounded otherwise and holds younger rows, too.
        if bounds.closes > ((now() at time zone 'UTC')::date - keep_days)::timestamp at time zone 'UTC' then
            outcome := 'stays';
            return;
        end if;
        opens := bounds.opens;
        closes := bounds.closes;
    end if;
    execute format('select min(id), max(id) from storehook.%I where received_at >= $1 and received_at < $2', source)
       into first_id, last_id using opens, closes;
    execute format(
        $q$
        with mine as materialized (
            select id, octet_length(body) as size
              from storehook.%I
             where received_at >= $1 and received_at < $2
             order by received_at, id
             limit $5
        ), located as (
            select m.id, m.size, count(p.place) as places, min(p.place) as place
              from mine m
              left join (select * from storehook.outbox_places where outbox_id between $3 and $4) p
                   on p.outbox_id = m.id
             group by m.id, m.size
        ), judged as (
            select *, places = 1 and place in ('applied', 'duplicate', 'parked', 'discarded') as is_settled from located
        )
        select count(*) filter (where is_settled), count(*) filter (where not is_settled),
               coalesce(array_agg(id) filter (where not is_settled), '{}'),
               coalesce(sum(size) filter (where not is_settled), 0),
               case when $5 is not null then coalesce(array_agg(id) filter (where is_settled), '{}') end,
               count(*) filter (where is_settled and place = 'applied'),
               count(*) filter (where is_settled and place = 'duplicate'),
               count(*) filter (where is_settled and place = 'parked'),
               count(*) filter (where is_settled and place = 'discarded')
          from judged
        $q$, source)
       into gone, kept, kept_ids, kept_bytes, gone_ids,
            sums.applied, sums.duplicate, sums.parked, sums.discarded
      using opens, closes, first_id, last_id, most;

    -- As much as moves within some hundred milliseconds; see above.
    if is_whole and (kept > 10000 or kept_bytes > 4194304) then
        outcome := 'stays';
        gone := 0;
        return;
    end if;
    if is_whole then
        execute format('select count(*) from storehook.%I', name) into rows_there;
        if rows_there <> gone + kept then
            raise exception 'partition % holds % rows, and % were accounted for', name, rows_there, gone + kept
                using errcode = 'data_exception';
        end if;
    end if;

    -- What is settled stays settled, so whatever is not to be kept was counted above.
    if gone > 0 then
        execute format(
            'delete from storehook.duplicates d using storehook.%I o
              where d.outbox_id = o.id and d.outbox_id between $3 and $4
                and o.received_at >= $1 and o.received_at < $2 and ($6 is null or o.id = any($6)) and o.id <> all($5)',
            source) using opens, closes, first_id, last_id, kept_ids, gone_ids;
        execute format(
            'delete from storehook.dead_letters d using storehook.%I o
              where d.outbox_id = o.id and d.outbox_id between $3 and $4 and d.resolution <> ''open''
                and o.received_at >= $1 and o.received_at < $2 and ($6 is null or o.id = any($6)) and o.id <> all($5)',
            source) using opens, closes, first_id, last_id, kept_ids, gone_ids;
    end if;
    if is_whole or gone > 0 then
        insert into storehook.outbox_dropped as total (day, received, applied, duplicate, parked, discarded)
        values (drop_outbox_day.day, gone, sums.applied, sums.duplicate, sums.parked, sums.discarded)
            on conflict on constraint outbox_dropped_pkey do update
           set received = total.received + excluded.received, applied = total.applied + excluded.applied,
               duplicate = total.duplicate + excluded.duplicate, parked = total.parked + excluded.parked,
               discarded = total.discarded + excluded.discarded, dropped_at = excluded.dropped_at;
        -- Where the bounds were not its day's, its neighbours were counted with some of its rows.
        delete from storehook.outbox_settled s
         where s.day <> drop_outbox_day.day
           and s.day between (opens at time zone 'UTC')::date and ((closes - interval '1 microsecond') at time zone 'UTC')::date;
    end if;

    if is_whole then
        perform set_config('lock_timeout', '250ms', true);
        execute format('alter table storehook.outbox detach partition storehook.%I', name);
        execute format(
            'insert into storehook.outbox_default select * from storehook.%I where id = any($1)', name) using kept_ids;
        get diagnostics rows_moved = row_count;
        if rows_moved <> kept then
            raise exception '% rows of partition % were to be kept, and % were', kept, name, rows_moved
                using errcode = 'data_exception';
        end if;
        if exists (select from storehook.outbox_queue q
                    where q.received_at >= opens and q.received_at < closes and q.id between first_id and last_id
                      and not exists (select from storehook.outbox_default o
                                       where o.received_at = q.received_at and o.id = q.id)
                      and q.id <> all(kept_ids)) then
            raise exception 'something of partition % is still queued', name using errcode = 'data_exception';
        end if;
        execute format('drop table storehook.%I', name);
    elsif gone > 0 then
        delete from storehook.outbox_default o
         where o.received_at >= opens and o.received_at < closes and o.id = any(gone_ids);
    end if;
    outcome := case when is_whole or gone > 0 then 'dropped' else 'stays' end;
end
$_$;

CREATE FUNCTION storehook.drop_superseded_consents(keep_days integer, most integer, OUT looked bigint, OUT dropped bigint) RETURNS record
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET "TimeZone" TO 'UTC'
    SET "DateStyle" TO 'ISO'
    AS $$
declare
    ids   bigint[];
    texts bigint[];
begin
    if keep_days < 1 or most < 1 then
        raise exception 'keep_days and most must be 1 or more' using errcode = 'invalid_parameter_value';
    end if;
    -- The consent is locked before its row here. An erasure locks them in the same order.
    ids := array(select c.id
                   from storehook.consents_superseded s
                   join storehook.consumption_consents c using (id)
                  where s.at < now() - make_interval(days => keep_days)
                  order by s.at
                  limit most
                    for update of c skip locked);
    looked := cardinality(ids);
    texts := array(select distinct c.text_id from storehook.consumption_consents c
                    where c.id = any(ids) and c.text_id is not null);
    delete from storehook.consumption_consents c
     where c.id = any(ids) and not exists (select from storehook.consumption_answers a where a.consent_id = c.id);
    get diagnostics dropped = row_count;
    delete from storehook.consents_superseded s where s.id = any(ids);
    perform storehook.drop_consent_texts(texts);
end
$$;

CREATE FUNCTION storehook.end_console_sessions() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET "TimeZone" TO 'UTC'
    SET "DateStyle" TO 'ISO'
    AS $$
begin
    delete from storehook.console_sessions s where s.member_id = new.member_id;
    return null;
end
$$;

CREATE FUNCTION storehook.ensure_event_partitions(days_ahead integer DEFAULT 7) RETURNS integer
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET "TimeZone" TO 'UTC'
    SET "DateStyle" TO 'ISO'
    SET lock_timeout TO '10s'
    AS $$
declare
    today  date := (now() at time zone 'UTC')::date;
    days   date[];
    day    date;
    name   text;
    move   constant text := 'with moved as (delete from storehook.events_default
                                            where told_at >= %L and told_at < %L returning *)
                             insert into storehook.%I select * from moved';
begin
    if days_ahead not between 0 and 366 then
        raise exception 'days_ahead must be between 0 and 366' using errcode = 'invalid_parameter_value';
    end if;
    perform pg_advisory_xact_lock(x'73746f72655f7032'::bit(64)::bigint);
    select array_agg(today + n order by n) into days
      from generate_series(-1, days_ahead) n
     where to_regclass('storehook.events_' || to_char(today + n, 'YYYYMMDD')) is null;
    if days is null then
        return 0;
    end if;
    lock table storehook.events_default in share update exclusive mode;
    foreach day in array days loop
        name := 'events_' || to_char(day, 'YYYYMMDD');
        execute format('create table storehook.%I (like storehook.events including all)', name);
        execute format(move, day::timestamp at time zone 'UTC', (day + 1)::timestamp at time zone 'UTC', name);
    end loop;
    perform set_config('lock_timeout', '250ms', true);
    lock table storehook.events_default in access exclusive mode;
    foreach day in array days loop
        name := 'events_' || to_char(day, 'YYYYMMDD');
        -- What came in the meantime.
        execute format(move, day::timestamp at time zone 'UTC', (day + 1)::timestamp at time zone 'UTC', name);
        execute format('alter table storehook.events attach partition storehook.%I for values from (%L) to (%L)',
                       name, day::timestamp at time zone 'UTC', (day + 1)::timestamp at time zone 'UTC');
    end loop;
    return cardinality(days);
end
$$;

CREATE FUNCTION storehook.ensure_outbox_partitions(days_ahead integer DEFAULT 7) RETURNS integer
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET "TimeZone" TO 'UTC'
    SET "DateStyle" TO 'ISO'
    SET lock_timeout TO '10s'
    AS $$
declare
    today  date := (now() at time zone 'UTC')::date;
    days   date[];
    day    date;
    name   text;
    bounds record;
    move   constant text := 'with moved as (delete from storehook.outbox_default
                                            where received_at >= %L and received_at < %L returning *)
                             insert into storehook.%I select * from moved';
begin
    if days_ahead not between 0 and 366 then
        raise exception 'days_ahead must be between 0 and 366' using errcode = 'invalid_parameter_value';
    end if;
    perform 1 from storehook.upkeep_locks where task = 'partitions' for update;
    select array_agg(wanted.day order by wanted.day) into days
      from (select today + n as day from generate_series(-1, days_ahead) n
            union
            select d.day from storehook.outbox_days d
             where d.has_strays and d.day between today - 31 and today
               and not exists (select from storehook.outbox_dropped gone where gone.day = d.day)) wanted
     where to_regclass('storehook.outbox_' || to_char(wanted.day, 'YYYYMMDD')) is null;
    if days is null then
        return 0;
    end if;
    -- Keeps VACUUM away from here on, and waits for one that is at it (an automatic one gives way after deadlock_timeout);
    -- nobody else waits for that.
    lock table storehook.outbox_default in share update exclusive mode;
    foreach day in array days loop
        name := 'outbox_' || to_char(day, 'YYYYMMDD');
        execute format('create table storehook.%I (like storehook.outbox including all)', name);
        execute format(move, day::timestamp at time zone 'UTC', (day + 1)::timestamp at time zone 'UTC', name);
    end loop;
    perform set_config('lock_timeout', '250ms', true);
    lock table storehook.outbox_default in access exclusive mode;
    foreach day in array days loop
        name := 'outbox_' || to_char(day, 'YYYYMMDD');
        -- What came in the meantime.
        execute format(move, day::timestamp at time zone 'UTC', (day + 1)::timestamp at time zone 'UTC', name);
        execute format('alter table storehook.outbox attach partition storehook.%I for values from (%L) to (%L)',
                       name, day::timestamp at time zone 'UTC', (day + 1)::timestamp at time zone 'UTC');
        select * into bounds from storehook.outbox_partition_bounds(day);
        if bounds.opens is distinct from day::timestamp at time zone 'UTC'
           or bounds.closes is distinct from (day + 1)::timestamp at time zone 'UTC' then
            raise exception 'partition % holds % to %, which is not its day', name, bounds.opens, bounds.closes
                using errcode = 'data_exception';
        end if;
    end loop;
    return cardinality(days);
end
$$;

CREATE FUNCTION storehook.erase_consents(in_token uuid, OUT deleted bigint, OUT kept bigint) RETURNS record
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET "TimeZone" TO 'UTC'
    SET "DateStyle" TO 'ISO'
    AS $$
declare
    texts bigint[];
begin
    texts := array(select distinct c.text_id from storehook.consumption_consents c
                    where c.app_account_token = in_token and c.text_id is not null);
    update storehook.consumption_answers a
       set sent_by = '-'
      from storehook.transactions t
     where a.sent_by <> '-'
       and t.transaction_id = a.transaction_id and t.bundle_id = a.bundle_id and t.environment = a.environment
       and (t.app_account_token = in_token
            or exists (
                select from storehook.purchase_bindings b
                 where b.original_transaction_id = t.original_transaction_id and b.bundle_id = t.bundle_id
                   and b.environment = t.environment and b.token = in_token));
    update storehook.consumption_consents c
       set account = null, app_account_token = null, text = case when c.granted then '-' end, text_id = null, recorded_by = '-'
     where c.app_account_token = in_token
       and exists (select from storehook.consumption_answers a where a.consent_id = c.id);
    get diagnostics kept = row_count;
    delete from storehook.consumption_consents c where c.app_account_token = in_token;
    get diagnostics deleted = row_count;
    perform storehook.drop_consent_texts(texts);
    delete from storehook.consumption_tokens t where t.app_account_token = in_token;
end
$$;

COMMENT ON FUNCTION storehook.erase_consents(in_token uuid, OUT deleted bigint, OUT kept bigint) IS 'forgets what an account agreed to, and who answered Apple about it by hand; consents that an answer to Apple rests on are kept without a name';

CREATE FUNCTION storehook.erase_staff_notes() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET "TimeZone" TO 'UTC'
    SET "DateStyle" TO 'ISO'
    AS $$
begin
    perform from storehook.account_names n where n.token = new.token for update;
    update storehook.staff_notes t set body = null, erased_at = clock_timestamp()
     where t.token = new.token and t.erased_at is null;
    return new;
end
$$;

CREATE FUNCTION storehook.event_days(kept_days integer) RETURNS SETOF date
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET "TimeZone" TO 'UTC'
    SET "DateStyle" TO 'ISO'
    AS $_$
    select p.day
      from (select case when c.relname ~ '^events_[0-9]{8}$' then to_date(right(c.relname, 8), 'YYYYMMDD') end as day
              from pg_inherits i join pg_class c on c.oid = i.inhrelid
             where i.inhparent = 'storehook.events'::regclass) p
     where p.day < (now() at time zone 'UTC')::date - kept_days
     order by 1
$_$;

CREATE FUNCTION storehook.expire_junk(keep_days integer) RETURNS bigint
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET "TimeZone" TO 'UTC'
    SET "DateStyle" TO 'ISO'
    AS $$
declare
    code     text;
    given_up bigint;
    expired  bigint := 0;
begin
    if keep_days < 1 then
        raise exception 'keep_days must be 1 or more' using errcode = 'invalid_parameter_value';
    end if;
    foreach code in array storehook.unverifiable() loop
        -- Letters are numbered as they are written, so the oldest are the first; whoever else is at it has them.
        with oldest as materialized (
            select id, received_at from storehook.dead_letters
             where resolution = 'open' and reason = code
             order by id limit 5000 for update skip locked
        ), gone as (
            update storehook.dead_letters d
               set resolution = 'discarded', resolved_at = now(), resolved_by = 'storehook',
                   resolved_why = 'did not verify, and nobody asked for it for ' || keep_days || ' days'
              from oldest o
             where d.id = o.id and o.received_at < now() - make_interval(days => keep_days)
            returning 1
        )
        select count(*) into given_up from gone;
        expired := expired + given_up;
    end loop;
    delete from storehook.senders s
     where greatest(s.verified_at, s.junk_day::timestamp at time zone 'UTC', s.refused_until) < now() - interval '60 days';
    return expired;
end
$$;

CREATE FUNCTION storehook.expiring_soon(within interval, at timestamp with time zone DEFAULT now()) RETURNS TABLE(token uuid, account text, environment text, tier text, status text, source text, product_id text, bundle_id text, original_transaction_id text, access_until timestamp with time zone, days_left integer)
    LANGUAGE sql STABLE PARALLEL SAFE
    AS $$
    select s.token, a.account, s.environment, s.phase_tier[p.n], s.phase_status[p.n], s.phase_source[p.n],
           s.phase_product[p.n], s.phase_bundle[p.n], s.phase_purchase[p.n], e.access_until,
           ceil(extract(epoch from e.access_until - at) / 86400)::integer
      from storehook.catalog_state c
      join storehook.account_status s on s.catalog = c.current_version
     cross join lateral (select width_bucket(at, s.phase_starts) as n) p
     cross join lateral (
            select case when s.phase_status[cardinality(s.phase_starts)] in ('expired', 'trial_expired', 'revoked', 'free')
                             and (s.phase_status[cardinality(s.phase_starts) - 1] = 'grace_period'
                                  or (s.phase_status[cardinality(s.phase_starts) - 1] in ('active', 'trial', 'cancelled')
                                      and not s.phase_will_renew[cardinality(s.phase_starts) - 1]))
                        then s.phase_starts[cardinality(s.phase_starts)] end as access_until) e
      left join storehook.accounts a on a.token = s.token
     where e.access_until > at and e.access_until <= at + within
       and s.phase_status[p.n] in ('active', 'trial', 'cancelled', 'grace_period')
       and not coalesce(s.phase_goes_on[p.n], s.phase_will_renew[p.n] and s.phase_status[p.n] <> 'grace_period')
     order by e.access_until, s.token, s.environment
$$;

COMMENT ON FUNCTION storehook.expiring_soon(within interval, at timestamp with time zone) IS 'accounts that have access at an instant and lose it within so long, with nothing to renew it; the next to end first';

CREATE FUNCTION storehook.filled_apps() RETURNS TABLE(bundle_id text, environment text, owed_at timestamp with time zone, filled_at timestamp with time zone)
    LANGUAGE sql STABLE SECURITY DEFINER ROWS 4
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET "TimeZone" TO 'UTC'
    SET "DateStyle" TO 'ISO'
    AS $$
    select s.bundle_id, s.environment, storehook.owed_at(s.bundle_id, s.environment),
           storehook.history_filled_at(s.bundle_id, s.environment)
      from (select distinct w.bundle_id, w.environment from storehook.history_windows w) s
     where not storehook.is_filling(s.bundle_id, s.environment)
$$;

CREATE FUNCTION storehook.forget_account_name() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET "TimeZone" TO 'UTC'
    SET "DateStyle" TO 'ISO'
    AS $$
begin
    delete from storehook.account_names where token = new.token;
    return null;
end
$$;

CREATE FUNCTION storehook.forget_delivery_answers() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET "TimeZone" TO 'UTC'
    SET "DateStyle" TO 'ISO'
    AS $$
begin
    update storehook.delivery_attempts a set answer = null
      from storehook.events e
     where e.token = new.token and a.event_id = e.id and a.answer is not null;
    return null;
end
$$;

CREATE FUNCTION storehook.forget_staff_login() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET "TimeZone" TO 'UTC'
    SET "DateStyle" TO 'ISO'
    AS $$
begin
    delete from storehook.staff_passwords p where p.member_id = new.id;
    delete from storehook.console_sessions s where s.member_id = new.id;
    return null;
end
$$;

CREATE FUNCTION storehook.has_access(app_account_token uuid, product_id text) RETURNS boolean
    LANGUAGE plpgsql STABLE PARALLEL SAFE
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET "TimeZone" TO 'UTC'
    SET "DateStyle" TO 'ISO'
    AS $$
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

COMMENT ON FUNCTION storehook.has_access(app_account_token uuid, product_id text) IS 'whether a purchase of the product counts for the account now, in Production; never null';

CREATE FUNCTION storehook.has_access_of(account text, product text) RETURNS boolean
    LANGUAGE plpgsql STABLE PARALLEL SAFE
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET "TimeZone" TO 'UTC'
    SET "DateStyle" TO 'ISO'
    AS $$
begin
    return storehook.has_access(storehook.account_token(account), product);
end
$$;

COMMENT ON FUNCTION storehook.has_access_of(account text, product text) IS 'has_access of an account by what the app calls it, whether or not it was ever heard of';

CREATE FUNCTION storehook.history_filled_at(bundle_id text, environment text) RETURNS timestamp with time zone
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET "TimeZone" TO 'UTC'
    SET "DateStyle" TO 'ISO'
    AS $$
    select case when bool_and(w.first_asked_at is not null) then max(w.first_asked_at)
                when count(*) > 0 then timestamptz '9999-12-31 00:00:00+00' end
      from storehook.history_windows w
     where w.bundle_id = history_filled_at.bundle_id and w.environment = history_filled_at.environment
       and w.planned_at = (select min(f.planned_at) from storehook.history_windows f
                            where f.bundle_id = history_filled_at.bundle_id
                              and f.environment = history_filled_at.environment)
$$;

CREATE FUNCTION storehook.history_fills() RETURNS TABLE(filled bigint, filling bigint)
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET "TimeZone" TO 'UTC'
    SET "DateStyle" TO 'ISO'
    AS $$
    select count(*) filter (where not f.is_filling), count(*) filter (where f.is_filling)
      from (select storehook.is_filling(s.bundle_id, s.environment) as is_filling
              from (select distinct bundle_id, environment from storehook.history_windows) s) f
$$;

CREATE FUNCTION storehook.history_reach(environment text) RETURNS interval
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET "TimeZone" TO 'UTC'
    SET "DateStyle" TO 'ISO'
    AS $$
    select make_interval(days => case history_reach.environment when 'Production' then 180 else 30 end)
$$;

CREATE FUNCTION storehook.hold_accounts_of(environments text[], bundle_ids text[], purchases text[], tokens uuid[]) RETURNS void
    LANGUAGE sql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET "TimeZone" TO 'UTC'
    SET "DateStyle" TO 'ISO'
    SET enable_seqscan TO 'off'
    SET jit TO 'off'
    AS $$
    insert into storehook.accounts as known (token)
    select t.token
      from (
        select unnest(tokens) as token
        union
        select l.token
          from unnest(environments, bundle_ids, purchases) p (environment, bundle_id, purchase)
         cross join lateral (
            select l.token from storehook.account_lines l
             where (l.original_transaction_id, l.bundle_id, l.environment) = (p.purchase, p.bundle_id, p.environment) offset 0) l) t
     where t.token <> '00000000-0000-0000-0000-000000000000'
     order by t.token
        on conflict (token) do update set account = excluded.account where false
$$;

CREATE FUNCTION storehook.is_by_staff(consent storehook.consumption_consents) RETURNS boolean
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET "TimeZone" TO 'UTC'
    SET "DateStyle" TO 'ISO'
    AS $_$
    select consent.app_account_token is not null and consent.recorded_by not in ('the app', '-')
           and consent.recorded_by !~ '^server key [0-9]+$'
$_$;

CREATE FUNCTION storehook.is_filling(bundle_id text, environment text) RETURNS boolean
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET "TimeZone" TO 'UTC'
    SET "DateStyle" TO 'ISO'
    AS $$
    select coalesce(
               f.at >= timestamptz '9999-12-31 00:00:00+00'
               or (select q.received_at from storehook.outbox_queue q where q.attempts <= 1 order by q.id limit 1) <= f.at,
               false)
      from (select storehook.history_filled_at(is_filling.bundle_id, is_filling.environment) as at) f
$$;

CREATE FUNCTION storehook.keep_consent() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET "TimeZone" TO 'UTC'
    SET "DateStyle" TO 'ISO'
    AS $$
declare
    wanted bytea;
begin
    if new.text is not null then
        wanted := sha256(convert_to(new.text, 'UTF8'));
        loop
            -- Locked, so that nobody deletes it meanwhile. Any number may hold it so.
            select t.id into new.text_id from storehook.consent_texts t where t.digest = wanted for key share;
            exit when found;
            insert into storehook.consent_texts (digest, text) values (wanted, new.text) on conflict (digest) do nothing;
        end loop;
        -- What the row's own column requires.
        new.text := case when new.granted then '-' end;
    end if;
    insert into storehook.consents_superseded (id, at)
    select last.id, new.recorded_at
      from (select c.id from storehook.consumption_consents c
             where c.app_account_token = new.app_account_token order by c.id desc limit 1) last
        on conflict (id) do nothing;
    return new;
end
$$;

CREATE FUNCTION storehook.keep_staff_text() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET "TimeZone" TO 'UTC'
    SET "DateStyle" TO 'ISO'
    AS $$
begin
    if new.recorded_by is null or new.why is null then
        raise exception 'an act of staff says who did it and why' using errcode = 'not_null_violation';
    end if;
    insert into storehook.staff_texts (what, id, recorded_by, why) values (tg_argv[0], new.id, new.recorded_by, new.why);
    new.recorded_by := '-';
    new.why := '-';
    return new;
end
$$;

CREATE FUNCTION storehook.keep_trial_outcome() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET "TimeZone" TO 'UTC'
    SET "DateStyle" TO 'ISO'
    SET enable_seqscan TO 'off'
    SET jit TO 'off'
    AS $$
begin
    new.outcome := coalesce((
        select case when p.starts_at < old.started_at or p.starts_at > old.ends_at + interval '1440 hours' then 'lapsed'
                    when p.is_refunded then 'refunded' else 'converted' end
          from storehook.account_payments(old.token, 'Production') p
         order by p.starts_at, p.order_id, p.item
         limit 1), 'lapsed');
    return new;
end
$$;

CREATE FUNCTION storehook.list_purchased_products() RETURNS void
    LANGUAGE sql
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET "TimeZone" TO 'UTC'
    SET "DateStyle" TO 'ISO'
    AS $$
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

CREATE FUNCTION storehook.mark_accounts(tokens uuid[]) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET "TimeZone" TO 'UTC'
    SET "DateStyle" TO 'ISO'
    SET plan_cache_mode TO 'force_generic_plan'
    SET enable_seqscan TO 'off'
    SET jit TO 'off'
    AS $$
begin
    insert into storehook.figure_marks (hour)
    select distinct date_trunc('hour', m.at, 'UTC')
      from unnest(tokens) t (token)
     cross join lateral (
        select a.known_at as at from storehook.accounts a where a.token = t.token
        union all
        select p.first
          from (select distinct l.environment from storehook.account_lines l where l.token = t.token) e
         cross join lateral (
            select min(p.starts_at) as first from storehook.account_payments(t.token, e.environment) p) p) m
     where m.at is not null;
end
$$;

CREATE FUNCTION storehook.mark_figures_of_accounts() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET "TimeZone" TO 'UTC'
    SET "DateStyle" TO 'ISO'
    SET enable_seqscan TO 'off'
    SET jit TO 'off'
    AS $$
declare
    ids bigint[];
begin
    select array_agg(o.id) into ids
      from (select distinct environment, bundle_id, original_transaction_id from rows) r
     cross join lateral (
        select o.id from storehook.booked_orders o
         where (o.environment, o.bundle_id, o.order_key) = (r.environment, r.bundle_id, r.original_transaction_id)
           and o.plan_type = 'auto_renewable' offset 0) o;
    if ids is null then return null; end if;
    perform storehook.hold_accounts_of(
        array_agg(environment), array_agg(bundle_id), array_agg(original_transaction_id), array_agg(token)) from rows;
    -- Those of other accounts that have or had the purchases are found by these.
    select array_agg(distinct o.id) into ids
      from (
        select unnest(ids) as id
        union all
        select o.id
          from (
            select distinct token, environment, bundle_id from rows where token <> '00000000-0000-0000-0000-000000000000') r
         cross join lateral (
            select k.original_transaction_id from storehook.account_lines k
             where (k.token, k.environment, k.bundle_id) = (r.token, r.environment, r.bundle_id) offset 0) k
         cross join lateral (
            select o.id from storehook.booked_orders o
             where (o.environment, o.bundle_id, o.order_key) = (r.environment, r.bundle_id, k.original_transaction_id)
               and o.plan_type = 'auto_renewable' offset 0) o) o;
    perform storehook.mark_recurring(
        ids, array_fill('-infinity'::timestamptz, array[cardinality(ids)]), array_fill('infinity'::timestamptz, array[cardinality(ids)]));
    return null;
end
$$;

CREATE FUNCTION storehook.mark_figures_of_attempted_orders() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET "TimeZone" TO 'UTC'
    SET "DateStyle" TO 'ISO'
    AS $$
begin
    insert into storehook.figure_marks (hour)
    select distinct date_trunc('hour', a.first_at, 'UTC')
      from old_rows o join new_rows n using (id)
     cross join lateral (
        select k.first_at from storehook.booked_attempts k where k.order_id = n.id and n.plan_type = 'unknown'
        union all
        select k.first_at from storehook.booked_attempts k where k.matched_order_id = n.id offset 0) a
     where (o.class_id is null) <> (n.class_id is null) or (n.plan_type = 'unknown' and o.status is distinct from n.status);
    return null;
end
$$;

CREATE FUNCTION storehook.mark_figures_of_attempts() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET "TimeZone" TO 'UTC'
    SET "DateStyle" TO 'ISO'
    AS $$
begin
    if tg_op <> 'UPDATE' then
        insert into storehook.figure_marks (hour) select distinct date_trunc('hour', first_at, 'UTC') from rows;
    else
        insert into storehook.figure_marks (hour)
        select distinct date_trunc('hour', m.at, 'UTC')
          from old_rows o join new_rows n using (id)
         cross join lateral (values (o.first_at), (n.first_at)) m (at)
         where (o.first_at, o.order_id, o.bundle_id, o.product_id, o.matched_order_id)
               is distinct from (n.first_at, n.order_id, n.bundle_id, n.product_id, n.matched_order_id);
    end if;
    return null;
end
$$;

CREATE FUNCTION storehook.mark_figures_of_cohorts() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET "TimeZone" TO 'UTC'
    SET "DateStyle" TO 'ISO'
    AS $$
declare
    ids    bigint[];
    firsts timestamptz[];
    lasts  timestamptz[];
begin
    select array_agg(r.order_id), array_agg(r.starts_at), array_agg(coalesce(r.counts_until, r.ends_at)) into ids, firsts, lasts
      from rows r
     where r.ends_at is not null and r.starts_at >= date_trunc('hour', now())
       and exists (
           select from storehook.figure_state s cross join lateral (values (s.zone), (s.next_zone), (s.fiscal_zone)) z (zone)
            where (r.starts_at at time zone z.zone)::date < ((now() + interval '2 hours') at time zone z.zone)::date);
    if ids is not null then perform storehook.mark_recurring(ids, firsts, lasts); end if;
    return null;
end
$$;

CREATE FUNCTION storehook.mark_figures_of_erased_account() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET "TimeZone" TO 'UTC'
    SET "DateStyle" TO 'ISO'
    AS $$
begin
    perform storehook.mark_accounts(array[new.token]);
    return null;
end
$$;

CREATE FUNCTION storehook.mark_figures_of_known_accounts() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET "TimeZone" TO 'UTC'
    SET "DateStyle" TO 'ISO'
    AS $$
begin
    perform storehook.mark_accounts(array_agg(token)) from rows having count(*) > 0;
    return null;
end
$$;

CREATE FUNCTION storehook.mark_figures_of_orders() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET "TimeZone" TO 'UTC'
    SET "DateStyle" TO 'ISO'
    AS $$
begin
    if tg_op <> 'UPDATE' then
        insert into storehook.figure_marks (day) select distinct day from rows where class_id is not null;
    else
        insert into storehook.figure_marks (day)
        select distinct m.day from old_rows o join new_rows n using (id) cross join lateral (values (o.day), (n.day)) m (day)
         where (o.day, o.class_id) is distinct from (n.day, n.class_id);
    end if;
    return null;
end
$$;

CREATE FUNCTION storehook.mark_figures_of_own_trials() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET "TimeZone" TO 'UTC'
    SET "DateStyle" TO 'ISO'
    AS $$
begin
    if tg_op <> 'UPDATE' then
        insert into storehook.figure_marks (hour) select distinct date_trunc('hour', started_at, 'UTC') from rows;
    else
        insert into storehook.figure_marks (hour)
        select distinct date_trunc('hour', m.at, 'UTC')
          from old_rows o join new_rows n using (account_hash)
         cross join lateral (values (o.started_at), (n.started_at)) m (at)
         where o is distinct from n;
    end if;
    return null;
end
$$;

CREATE FUNCTION storehook.mark_figures_of_payers() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET "TimeZone" TO 'UTC'
    SET "DateStyle" TO 'ISO'
    SET enable_seqscan TO 'off'
    SET jit TO 'off'
    AS $$
begin
    if not exists (
        select from (select distinct environment, bundle_id, original_transaction_id from rows) r
         cross join lateral storehook.purchase_payments(r.environment, r.bundle_id, r.original_transaction_id) p) then
        return null;
    end if;
    perform storehook.hold_accounts_of(
        array_agg(environment), array_agg(bundle_id), array_agg(original_transaction_id), array_agg(token)) from rows;
    -- Grouped and not joined: a join that was planned for few rows would look through all of them for each of many.
    with found as (
        select p.environment, p.bundle_id, p.original_transaction_id, f.token, f.first
          from (select distinct environment, bundle_id, original_transaction_id from rows) p
         cross join lateral (
            select null::uuid as token, min(t.starts_at) as first
              from storehook.purchase_payments(p.environment, p.bundle_id, p.original_transaction_id) t
            union all
            select l.token, null from storehook.account_lines l
             where (l.original_transaction_id, l.bundle_id, l.environment) = (p.original_transaction_id, p.bundle_id, p.environment)
            offset 0) f
        union all
        select environment, bundle_id, original_transaction_id, token, null from rows
    ), paid as (
        -- Each purchase by itself: one that several accounts have may stand before the one that counts.
        select distinct f.token, f.environment, f.bundle_id, f.original_transaction_id, f.first
          from (
            select token, environment, bundle_id, original_transaction_id,
                   max(first) over (partition by environment, bundle_id, original_transaction_id) as first
              from found) f
         where f.first is not null and f.token <> '00000000-0000-0000-0000-000000000000'
    ), firsts as (
        select token, environment, min(first) as first, bool_or(is_changed) as is_changed
          from (
            select token, environment, bundle_id, original_transaction_id, first, true as is_changed from paid
            union all
            select k.token, k.environment, o.bundle_id, o.original_transaction_id, o.starts_at, false
              from (select distinct token, environment from paid) k
             cross join lateral storehook.account_payments(k.token, k.environment) o) p
         group by token, environment, bundle_id, original_transaction_id
    ), compared as (
        select token, environment, is_changed, first,
               min(first) filter (where not is_changed) over (partition by token, environment) as other
          from firsts
    )
    insert into storehook.figure_marks (hour)
    select distinct date_trunc('hour', m.at, 'UTC')
      from compared c
     cross join lateral (
        select i.at from (values (c.first), (c.other)) i (at)
        union all
        select a.known_at from storehook.accounts a where a.token = c.token
        union all
        select t.started_at from storehook.trials t
         where t.token = c.token and c.environment = 'Production' and t.ends_at >= c.first - interval '1440 hours') m
     where c.is_changed and c.first <= coalesce(c.other, 'infinity') and m.at is not null;
    return null;
end
$$;

CREATE FUNCTION storehook.mark_figures_of_payments() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET "TimeZone" TO 'UTC'
    SET "DateStyle" TO 'ISO'
    SET plan_cache_mode TO 'force_generic_plan'
    SET enable_seqscan TO 'off'
    SET jit TO 'off'
    AS $$
declare
    ids    bigint[];
    firsts timestamptz[];
    lasts  timestamptz[];
begin
    if tg_op <> 'UPDATE' then
        -- What begins in this hour has nothing behind it, and may convert a trial.
        select array_agg(c.order_id), array_agg(c.first), array_agg(c.last) into ids, firsts, lasts
          from (
            select order_id, min(starts_at) as first, max(starts_at) as last from rows
             where not is_void and not is_trial and price is distinct from 0
               and (starts_at < date_trunc('hour', now()) or exists (select from storehook.trials))
             group by order_id) c;
    else
        if not exists (select from new_rows) then return null; end if;
        -- Whether a payment is refunded is a number of the trial that it converted.
        select array_agg(c.order_id), array_agg(c.first), array_agg(c.last) into ids, firsts, lasts
          from (
            select order_id, min(least(o.starts_at, n.starts_at)) as first, max(greatest(o.starts_at, n.starts_at)) as last
              from old_rows o join new_rows n using (order_id, item)
             where (o.starts_at, o.is_void, o.is_trial, o.price is distinct from 0, o.revoked_share is distinct from 0)
                   is distinct from
                   (n.starts_at, n.is_void, n.is_trial, n.price is distinct from 0, n.revoked_share is distinct from 0)
             group by order_id) c;
    end if;
    if ids is null then return null; end if;
    insert into storehook.figure_marks (hour)
    select distinct date_trunc('hour', m.at, 'UTC')
      from (
        -- Together for an account: what changed in one of its orders may stand before what changed in another.
        select l.token, o.environment, min(c.first) as first, max(c.last) as last
          from unnest(ids, firsts, lasts) c (id, first, last)
         cross join lateral (
            select exists (
                select from storehook.booked_transactions t
                 where t.order_id = c.id and t.starts_at < c.first and not t.is_void and not t.is_trial
                   and t.price is distinct from 0) as is_later
            offset 0) e
         cross join lateral (
            select o.environment, o.bundle_id, coalesce(o.original_transaction_id, o.order_key) as purchase
              from storehook.booked_orders o where o.id = c.id and not e.is_later offset 0) o
         cross join lateral (
            select l.token from storehook.account_lines l
             where (l.original_transaction_id, l.bundle_id, l.environment) = (o.purchase, o.bundle_id, o.environment)
               and l.token <> '00000000-0000-0000-0000-000000000000' offset 0) l
         group by l.token, o.environment) c
     cross join lateral (
        select exists (
            select from storehook.account_payments(c.token, c.environment) p where p.starts_at < c.first) as is_later
        offset 0) e
     cross join lateral (
        select p.starts_at as at
          from (
            select p.starts_at, min(p.starts_at) filter (where p.starts_at > c.last) over () as next
              from storehook.account_payments(c.token, c.environment) p where p.starts_at > c.first and not e.is_later) p
         where p.starts_at <= coalesce(p.next, 'infinity')
        union all
        select a.known_at from storehook.accounts a where a.token = c.token and a.known_at >= c.first and not e.is_later
        union all
        select t.started_at from storehook.trials t
         where t.token = c.token and c.environment = 'Production' and t.ends_at >= c.first - interval '1440 hours'
           and not e.is_later) m;
    return null;
end
$$;

CREATE FUNCTION storehook.mark_figures_of_refunds() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET "TimeZone" TO 'UTC'
    SET "DateStyle" TO 'ISO'
    AS $$
begin
    if tg_op <> 'UPDATE' then
        insert into storehook.figure_marks (hour)
        select distinct date_trunc('hour', m.at, 'UTC') from rows r
         cross join lateral (values (r.at), (case when r.heard_at - r.at > interval '24 hours' then r.heard_at end)) m (at)
         where m.at is not null;
    else
        insert into storehook.figure_marks (hour)
        select distinct date_trunc('hour', m.at, 'UTC')
          from old_rows o join new_rows n using (order_id, item, place)
         cross join lateral (values (o.at), (n.at), (o.heard_at), (n.heard_at)) m (at)
         where (o.type, o.at, o.amount, o.heard_at) is distinct from (n.type, n.at, n.amount, n.heard_at);
    end if;
    return null;
end
$$;

CREATE FUNCTION storehook.mark_figures_of_restores() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET "TimeZone" TO 'UTC'
    SET "DateStyle" TO 'ISO'
    AS $$
begin
    if tg_op <> 'UPDATE' then
        insert into storehook.figure_marks (hour) select distinct date_trunc('hour', at, 'UTC') from rows;
    else
        insert into storehook.figure_marks (hour)
        select distinct date_trunc('hour', m.at, 'UTC')
          from old_rows o join new_rows n using (id)
         cross join lateral (values (o.at), (n.at)) m (at)
         where o is distinct from n;
    end if;
    return null;
end
$$;

CREATE FUNCTION storehook.mark_figures_of_service() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET "TimeZone" TO 'UTC'
    SET "DateStyle" TO 'ISO'
    AS $$
declare
    ids    bigint[];
    firsts timestamptz[];
begin
    if tg_op <> 'UPDATE' then
        -- What begins in this hour has nothing behind it.
        select array_agg(r.order_id), array_agg(r.starts_at) into ids, firsts
          from (
            select order_id, min(starts_at) as starts_at from rows
             where ends_at is not null and starts_at < date_trunc('hour', now()) and not is_void
               and revoked_share is distinct from 100000
             group by order_id) r;
    else
        if not exists (select from new_rows) then return null; end if;
        -- A part that is added to a period counts from when that began, and is looked at itself.
        select array_agg(c.order_id), array_agg(c.starts_at) into ids, firsts
          from (
            select n.order_id,
                   min(least(o.starts_at, n.starts_at) - case when o.part_of is distinct from n.part_of then interval '1 microsecond'
                                                              else interval '0' end) as starts_at
              from old_rows o join new_rows n using (order_id, item)
             where coalesce(o.ends_at, n.ends_at) is not null and least(o.starts_at, n.starts_at) < date_trunc('hour', now())
               and (o.starts_at, o.ends_at, o.first_ends_at, o.billed_quarters, o.product_id, o.part_of,
                    o.is_trial or o.price is not distinct from 0, o.is_void or o.revoked_share is not distinct from 100000)
                   is distinct from
                   (n.starts_at, n.ends_at, n.first_ends_at, n.billed_quarters, n.product_id, n.part_of,
                    n.is_trial or n.price is not distinct from 0, n.is_void or n.revoked_share is not distinct from 100000)
             group by n.order_id) c;
    end if;
    if ids is null then return null; end if;
    insert into storehook.figure_marks (hour)
    select distinct date_trunc('hour', m.at, 'UTC')
      from unnest(ids, firsts) c (id, starts_at)
     cross join lateral (
        select t.item, t.starts_at from storehook.booked_transactions t
         where t.order_id = c.id and t.starts_at > c.starts_at and not t.is_void and t.price is distinct from 0 offset 0) t
     cross join lateral (
        select t.starts_at as at
        union all
        select b.at from storehook.booked_refunds b where (b.order_id, b.item) = (c.id, t.item) and b.type <> 'revoke') m;
    return null;
end
$$;

CREATE FUNCTION storehook.mark_figures_of_stretches() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET "TimeZone" TO 'UTC'
    SET "DateStyle" TO 'ISO'
    AS $$
declare
    ids    bigint[];
    firsts timestamptz[];
    lasts  timestamptz[];
begin
    if tg_op <> 'UPDATE' then
        select array_agg(r.order_id), array_agg(r.starts_at), array_agg(r.ends_at) into ids, firsts, lasts from rows r;
    else
        select array_agg(n.order_id), array_agg(least(o.starts_at, n.starts_at)), array_agg(greatest(o.ends_at, n.ends_at))
          into ids, firsts, lasts
          from old_rows o join new_rows n using (order_id, item, place)
         where (o.starts_at, o.ends_at, o.end_reason) is distinct from (n.starts_at, n.ends_at, n.end_reason);
    end if;
    if ids is null then return null; end if;
    insert into storehook.figure_marks (hour)
    select distinct date_trunc('hour', m.at, 'UTC') from (select unnest(firsts) union all select unnest(lasts)) m (at)
     where m.at < now() + interval '2 hours';
    if tg_op = 'UPDATE' then
        insert into storehook.figure_marks (hour)
        select distinct date_trunc('hour', m.at, 'UTC') from old_rows o cross join lateral (values (o.starts_at), (o.ends_at)) m (at)
         where m.at < now() + interval '2 hours';
    end if;
    perform storehook.mark_recurring(ids, firsts, lasts);
    return null;
end
$$;

CREATE FUNCTION storehook.mark_figures_of_transactions() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET "TimeZone" TO 'UTC'
    SET "DateStyle" TO 'ISO'
    AS $$
declare
    ids    bigint[];
    firsts timestamptz[];
    lasts  timestamptz[];
begin
    if tg_op <> 'UPDATE' then
        insert into storehook.figure_marks (hour)
        select distinct date_trunc('hour', m.at, 'UTC') from rows r
         cross join lateral (
            values (r.starts_at), (case when r.heard_at - r.starts_at > interval '24 hours' then r.heard_at end),
                   (case when coalesce(r.counts_until, r.ends_at) < now() + interval '2 hours' then coalesce(r.counts_until, r.ends_at) end)
            union all
            -- A rebuild may find refunds without their transaction.
            select s.at from storehook.booked_refunds b cross join lateral (values (b.at), (b.heard_at)) s (at)
             where (b.order_id, b.item) = (r.order_id, r.item)) m (at)
         where m.at is not null;
        -- What begins in this hour has nothing behind it.
        -- A rebuild may find further times of a period without the period.
        select array_agg(r.order_id), array_agg(least(r.starts_at, s.first)),
               array_agg(greatest(coalesce(r.counts_until, r.ends_at), s.last)) into ids, firsts, lasts
          from rows r
         cross join lateral (
            select min(b.starts_at) as first, max(b.ends_at) as last
              from storehook.booked_stretches b where (b.order_id, b.item) = (r.order_id, r.item) offset 0) s
         where r.ends_at is not null and r.starts_at < date_trunc('hour', now());
    else
        if not exists (select from new_rows) then return null; end if;
        insert into storehook.figure_marks (hour)
        select distinct date_trunc('hour', m.at, 'UTC')
          from old_rows o join new_rows n using (order_id, item)
         cross join lateral (
            select s.at from (values (o.starts_at), (n.starts_at)) s (at)
            union all
            select s.heard_at from (values (o.heard_at, o.starts_at), (n.heard_at, n.starts_at)) s (heard_at, starts_at)
             where s.heard_at - s.starts_at > interval '24 hours'
            union all
            -- A refund counts with the price and the product of its transaction.
            select s.at from storehook.booked_refunds r cross join lateral (values (r.at), (r.heard_at)) s (at)
             where (r.order_id, r.item) = (n.order_id, n.item)) m
         where (o.starts_at, o.heard_at, o.price, o.currency, o.storefront, o.product_id, o.is_void, o.refunded, o.revoked_share)
               is distinct from
               (n.starts_at, n.heard_at, n.price, n.currency, n.storefront, n.product_id, n.is_void, n.refunded, n.revoked_share);
        -- Further times of a period count with its price.
        select array_agg(n.order_id), array_agg(least(o.starts_at, n.starts_at, s.first)),
               array_agg(greatest(o.counts_until, n.counts_until, o.ends_at, n.ends_at, s.last)) into ids, firsts, lasts
          from old_rows o join new_rows n using (order_id, item)
         cross join lateral (
            select min(b.starts_at) as first, max(b.ends_at) as last
              from storehook.booked_stretches b where (b.order_id, b.item) = (n.order_id, n.item) offset 0) s
         where coalesce(o.ends_at, n.ends_at) is not null
           and (o.starts_at, o.ends_at, o.counts_until, o.end_reason, o.billed_quarters, o.first_ends_at, o.is_trial, o.is_void, o.price,
                o.currency, o.storefront, o.product_id)
               is distinct from
               (n.starts_at, n.ends_at, n.counts_until, n.end_reason, n.billed_quarters, n.first_ends_at, n.is_trial, n.is_void, n.price,
                n.currency, n.storefront, n.product_id);
        if ids is not null then
            -- The ends of before are in the books no more.
            insert into storehook.figure_marks (hour)
            select distinct date_trunc('hour', m.at, 'UTC')
              from (
                select e.at from old_rows o join new_rows n using (order_id, item)
                 cross join lateral (values (coalesce(o.counts_until, o.ends_at)), (coalesce(n.counts_until, n.ends_at))) e (at)
                 where (o.ends_at, o.counts_until, o.end_reason, o.billed_quarters, o.first_ends_at, o.is_trial, o.is_void, o.price,
                        o.currency, o.storefront, o.product_id)
                       is distinct from
                       (n.ends_at, n.counts_until, n.end_reason, n.billed_quarters, n.first_ends_at, n.is_trial, n.is_void, n.price,
                        n.currency, n.storefront, n.product_id)) m
             where m.at < now() + interval '2 hours';
        end if;
    end if;
    if ids is not null then perform storehook.mark_recurring(ids, firsts, lasts); end if;
    return null;
end
$$;

CREATE FUNCTION storehook.mark_figures_of_trials() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET "TimeZone" TO 'UTC'
    SET "DateStyle" TO 'ISO'
    AS $$
begin
    if tg_op <> 'UPDATE' then
        insert into storehook.figure_marks (hour)
        select distinct date_trunc('hour', t.starts_at, 'UTC')
          from rows r
         cross join lateral (
            -- Renewals of later are read of no trial.
            select t.starts_at from storehook.booked_transactions t
             where t.order_id = r.order_id and t.is_trial and t.ends_at >= r.starts_at - interval '1440 hours'
            offset 0) t
         where not r.is_trial and not r.is_void and r.price is distinct from 0;
    else
        if not exists (select from new_rows) then return null; end if;
        insert into storehook.figure_marks (hour)
        select distinct date_trunc('hour', m.at, 'UTC')
          from old_rows o join new_rows n using (order_id, item)
         cross join lateral (
            select s.at from (values (o.starts_at), (n.starts_at)) s (at)
             where (o.is_trial or n.is_trial)
               and (o.is_trial, o.ends_at, o.is_renewal_off, o.part_of) is distinct from (n.is_trial, n.ends_at, n.is_renewal_off, n.part_of)
            union all
            select t.starts_at from storehook.booked_transactions t
             where t.order_id = n.order_id and t.is_trial
               and t.ends_at >= least(o.starts_at, n.starts_at) - interval '1440 hours'
               and (o.starts_at, o.is_trial, o.is_void, o.price is distinct from 0, o.revoked_share is distinct from 0)
                   is distinct from
                   (n.starts_at, n.is_trial, n.is_void, n.price is distinct from 0, n.revoked_share is distinct from 0)
            offset 0) m;
    end if;
    return null;
end
$$;

CREATE FUNCTION storehook.mark_recurring(ids bigint[], firsts timestamp with time zone[], lasts timestamp with time zone[]) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET "TimeZone" TO 'UTC'
    SET "DateStyle" TO 'ISO'
    SET plan_cache_mode TO 'force_generic_plan'
    SET enable_seqscan TO 'off'
    SET jit TO 'off'
    AS $$
begin
    with changed as (
        select c.id, c.first, least(c.last, now() + interval '2 hours') as last
          from unnest(ids, firsts, lasts) c (id, first, last)
    ), related as (
        -- Step by step, each by its index: what was planned while the tables were small holds for the session.
        select c.id, c.first, c.last from changed c
        union
        select s.id, k.first, k.last
          from (
            select distinct l.token, l.environment, l.bundle_id, c.first, c.last
              from changed c
             cross join lateral (
                select o.environment, o.bundle_id, o.order_key
                  from storehook.booked_orders o where o.id = c.id and o.plan_type = 'auto_renewable' offset 0) o
             cross join lateral (
                select l.token, l.environment, l.bundle_id
                  from storehook.account_lines l
                 where (l.original_transaction_id, l.bundle_id, l.environment) = (o.order_key, o.bundle_id, o.environment)
                   and l.token <> '00000000-0000-0000-0000-000000000000' offset 0) l) k
         cross join lateral (
            select a.original_transaction_id
              from storehook.account_lines a
             where (a.token, a.environment, a.bundle_id) = (k.token, k.environment, k.bundle_id) offset 0) a
         cross join lateral (
            select s.id
              from storehook.booked_orders s
             where (s.environment, s.bundle_id, s.order_key) = (k.environment, k.bundle_id, a.original_transaction_id) offset 0) s
    ), held as (
        select r.id, r.first, r.last, h.starts_at, h.ends_at, h.product_id, h.currency, h.price, h.counts
          from related r
         cross join lateral (
            select t.starts_at, coalesce(t.counts_until, t.ends_at) as ends_at, t.product_id, t.currency, t.price,
                   not t.is_void and not t.is_trial as counts
              from storehook.booked_transactions t where t.order_id = r.id
            union all
            select s.starts_at, s.ends_at, t.product_id, t.currency, t.price, not t.is_void and not t.is_trial
              from storehook.booked_stretches s
              left join storehook.booked_transactions t on (t.order_id, t.item) = (s.order_id, s.item)
             where s.order_id = r.id
            offset 0) h
    ), paying as (
        select h.* from held h
         where h.counts and h.price > 0 and h.price <= 1000000000000000 and h.currency is not null and h.starts_at < h.ends_at
    ), begun as (
        -- A price so small that nothing of it is paid a month may be the first one, or not.
        select distinct b.first, b.last, b.starts_at
          from (
            select p.*, min(starts_at) filter (where price >= 1000) over (partition by id, first, last, product_id) as counted_at
              from paying p) b
         where b.starts_at <= coalesce(b.counted_at, 'infinity')
    ), behind as (
        -- The next payment behind the change, for each currency and product. Each currency has a level of its own, and each product may be of another
        -- group.
        select distinct b.starts_at
          from (
            select p.*, min(starts_at) filter (where price >= 1000) over (partition by id, first, last, product_id, currency) as counted_at
              from paying p where p.starts_at > p.last) b
         where b.starts_at <= coalesce(b.counted_at, 'infinity')
    ), cohorts as (
        select b.starts_at
          from begun b
         cross join lateral (
            select (extract(year from i.at) * 12 + extract(month from i.at))::integer as months
              from (values (b.starts_at)) i (at)) began
         cross join lateral (
            select (extract(year from i.at) * 12 + extract(month from i.at))::integer - began.months as months
              from (values (greatest(b.first, b.starts_at))) i (at)) since
         cross join lateral (
            select (extract(year from i.at) * 12 + extract(month from i.at))::integer - began.months as months
              from (values (b.last)) i (at)) until
         cross join (
            select unnest(array[s.zone, s.next_zone, s.fiscal_zone]) as zone from storehook.figure_state s where s.is_only) z
         where z.zone is not null and b.starts_at < b.last and exists (
            select from generate_series(greatest(since.months - 1, 0), least(until.months + 1, 36)) n
             cross join lateral (
                select ((b.starts_at at time zone z.zone)::date + make_interval(months => n))::date + 1 as day) d
             cross join lateral (select d.day::timestamp at time zone z.zone as at) i
             -- Midnight may come twice, and the first one counts.
             where i.at - greatest((i.at - interval '1 microsecond') at time zone z.zone + interval '1 microsecond' - d.day::timestamp,
                                   interval '0') between b.first and b.last)
    ), settled as materialized (
        -- What changes behind the day of the first payment of each order and product leaves these days as they are. No zone's day is longer.
        -- Sorted once: a join could look through all of the one for each of the other.
        select distinct w.id
          from (
            select u.id, u.first, max(u.starts_at) over (partition by u.first, u.last) as begun_at
              from (
                select r.id, r.first, r.last, null::timestamptz as starts_at from related r
                union all
                select null, b.first, b.last, b.starts_at from begun b) u) w
         where w.id is not null and w.first <= coalesce(w.begun_at, 'infinity') + interval '26 hours'
    ), paid as (
        select p.at
          from settled s
         cross join lateral (
            select t.starts_at as at from storehook.booked_transactions t where t.order_id = s.id
            union all
            select f.at from storehook.booked_refunds f where f.order_id = s.id
            offset 0) p
    )
    insert into storehook.figure_marks (hour)
    select distinct date_trunc('hour', m.at, 'UTC')
      from (
        select i.at from held h cross join lateral (values (h.starts_at), (h.ends_at)) i (at) where i.at between h.first and h.last
        union all
        select starts_at from behind
        union all
        select starts_at from cohorts
        union all
        select at from paid) m
     where m.at < now() + interval '2 hours';
end
$$;

CREATE FUNCTION storehook.may_name_staff() RETURNS boolean
    LANGUAGE sql STABLE PARALLEL SAFE
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET "TimeZone" TO 'UTC'
    SET "DateStyle" TO 'ISO'
    AS $$
    select pg_has_role(session_user, (select c.relowner from pg_class c where c.oid = 'storehook.audit'::regclass), 'usage')
        or exists (select from pg_roles r where r.rolname = 'storehook_console' and pg_has_role(session_user, r.oid, 'usage'))
$$;

CREATE FUNCTION storehook.name_account_ids(in_rule text) RETURNS void
    LANGUAGE sql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET "TimeZone" TO 'UTC'
    SET "DateStyle" TO 'ISO'
    AS $$
    update storehook.account_ids i
       set rule = coalesce(in_rule, i.rule), named_at = now(), named_by = left(session_user, 200)
     where i.rule is not null and i.named_at is null
       and (coalesce(in_rule, i.rule) = i.rule
            or (not exists (select from storehook.accounts a where a.account is not null)
                and not exists (select from storehook.consumption_consents c where c.account is not null)))
$$;

COMMENT ON FUNCTION storehook.name_account_ids(in_rule text) IS 'names the rule of account ids by a program''s setting, where nobody has named it and no account has an id';

CREATE FUNCTION storehook.name_job_actor() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET "TimeZone" TO 'UTC'
    SET "DateStyle" TO 'ISO'
    AS $$
begin
    new.actor := storehook.audit_actor(new.actor);
    return new;
end
$$;

CREATE FUNCTION storehook.note_forbidden_try(member bigint, tried text) RETURNS void
    LANGUAGE sql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET "TimeZone" TO 'UTC'
    SET "DateStyle" TO 'ISO'
    AS $$
    insert into storehook.forbidden_tries as known (member_id, route, minute)
    values (member, tried, date_trunc('minute', clock_timestamp()))
        on conflict (member_id, route, minute) do update set tries = known.tries + 1
$$;

CREATE FUNCTION storehook.note_old_post() RETURNS void
    LANGUAGE sql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET "TimeZone" TO 'UTC'
    SET "DateStyle" TO 'ISO'
    AS $$
    insert into storehook.old_posts as known (seen_at) values (clock_timestamp())
        on conflict (one) do update set seen_at = excluded.seen_at
     where known.seen_at < excluded.seen_at - interval '30 seconds'
$$;

CREATE FUNCTION storehook.note_opened_texts(opened_by text, why text, opened bigint, is_export boolean, opened_kind text, opened_of text) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET "TimeZone" TO 'UTC'
    SET "DateStyle" TO 'ISO'
    AS $$
declare
    draft storehook.audit_drafts;
begin
    draft.actor := storehook.audit_actor(opened_by);
    draft.role := 'admin';
    draft.act := case when is_export then 'export_personal_text' else 'open_personal_text' end;
    draft.subject_kind := opened_kind;
    draft.subject := opened_of;
    draft.after := jsonb_build_object('opened', opened)::text;
    -- The reason goes with the account.
    if opened_kind = 'account' then draft.accounts := array[opened_of::uuid]; end if;
    draft.body := storehook.audit_text(jsonb_build_object('why', left(why, 1000)));
    perform storehook.add_audit_draft(draft);
end
$$;

CREATE FUNCTION storehook.note_proxied_staff(proxied text, with_role text, of_apps text[]) RETURNS void
    LANGUAGE sql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET "TimeZone" TO 'UTC'
    SET "DateStyle" TO 'ISO'
    AS $$
    insert into storehook.proxied_staff as known (name, role, apps) values (proxied, with_role, of_apps)
        on conflict (name) do update set role = excluded.role, apps = excluded.apps, changed_at = clock_timestamp()
            where (known.role, known.apps) is distinct from (excluded.role, excluded.apps)
$$;

CREATE FUNCTION storehook.note_proxied_try(proxied text, tried text) RETURNS void
    LANGUAGE sql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET "TimeZone" TO 'UTC'
    SET "DateStyle" TO 'ISO'
    AS $$
    insert into storehook.proxied_tries as known (name, route, minute)
    values (proxied, tried, date_trunc('minute', clock_timestamp()))
        on conflict (name, route, minute) do update set tries = known.tries + 1
$$;

CREATE FUNCTION storehook.note_resent(resent_by text, delivery bigint, endpoints bigint[], events bigint[], written timestamp with time zone[]) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET "TimeZone" TO 'UTC'
    SET "DateStyle" TO 'ISO'
    AS $$
declare
    done record;
    draft storehook.audit_drafts;
begin
    for done in
        select r.endpoint, count(*) as deliveries, (array_agg('evt_' || r.event order by r.event))[1:1000] as first_events,
               case when count(e.environment) = count(*) and min(e.environment) = max(e.environment)
                    then min(e.environment) end as environment,
               case when count(a.app) = count(*) and min(a.app) = max(a.app) then min(a.app) end as app
          from unnest(endpoints, events, written) r (endpoint, event, told_at)
          join storehook.endpoints n on n.id = r.endpoint
          left join storehook.events e on e.told_at = r.told_at and e.id = r.event
         cross join lateral (select coalesce(e.bundle_id, n.bundle_id) as app) a
         group by r.endpoint order by r.endpoint
    loop
        draft.actor := storehook.audit_actor(resent_by);
        draft.role := 'admin';
        draft.environment := done.environment;
        draft.app := done.app;
        draft.act := 'resend_delivery';
        draft.subject_kind := case when delivery is null then 'endpoint' else 'delivery' end;
        draft.subject := coalesce(delivery, done.endpoint)::text;
        draft.after := jsonb_build_object(
            'endpoint', done.endpoint, 'deliveries', done.deliveries, 'first_events', to_jsonb(done.first_events))::text;
        perform storehook.add_audit_draft(draft);
    end loop;
end
$$;

CREATE FUNCTION storehook.note_staff_login() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET "TimeZone" TO 'UTC'
    SET "DateStyle" TO 'ISO'
    AS $$
begin
    insert into storehook.staff_logins as known (member_id, at) values (new.member_id, new.begun_at)
        on conflict (member_id) do update set at = greatest(known.at, excluded.at);
    return null;
end
$$;

CREATE FUNCTION storehook.notification_body(notification uuid) RETURNS bytea
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET "TimeZone" TO 'UTC'
    SET "DateStyle" TO 'ISO'
    AS $$
    select b.stored
      from storehook.notifications n
     cross join lateral storehook.outbox_bodies(array[n.outbox_id], array[n.received_at]) b
     where n.notification_uuid = notification_body.notification
$$;

CREATE FUNCTION storehook.order_number(day date, number integer) RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET "TimeZone" TO 'UTC'
    SET "DateStyle" TO 'ISO'
    AS $$
    select 'ORD-' || to_char(day, 'YYYYMMDD') || '-' || case when number < 10000 then lpad(number::text, 4, '0') else number::text end
$$;

CREATE FUNCTION storehook.outbox_bodies(ids bigint[], received_at timestamp with time zone[]) RETURNS TABLE(id bigint, stored bytea)
    LANGUAGE plpgsql STABLE STRICT
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET "TimeZone" TO 'UTC'
    SET "DateStyle" TO 'ISO'
    AS $_$
declare
    opens  timestamptz;
    closes timestamptz;
begin
    for opens, closes in
        select min(at), max(at) from unnest(outbox_bodies.received_at) as at
         group by date_trunc('day', at at time zone 'UTC')
    loop
        -- A scalar subquery can only be an index lookup, whatever is thought of the partition's size.
        return query execute
            'select k.id, (select int2send(o.packing | (o.kind << 8) | (o.source << 12))
                                  || case when o.kind = 4 then sha256(o.body) else o.body end
                             from storehook.outbox o
                            where o.received_at = k.received_at and o.id = k.id and o.received_at between $3 and $4)
               from unnest($1, $2) as k (id, received_at)
              where k.received_at between $3 and $4'
            using ids, outbox_bodies.received_at, opens, closes;
    end loop;
end
$_$;

CREATE FUNCTION storehook.outbox_day_changes(day date) RETURNS bigint
    LANGUAGE sql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET "TimeZone" TO 'UTC'
    SET "DateStyle" TO 'ISO'
    AS $$
    select pg_stat_get_tuples_inserted(partition) + pg_stat_get_tuples_updated(partition)
           + pg_stat_get_tuples_deleted(partition)
      from to_regclass('storehook.outbox_' || to_char(outbox_day_changes.day, 'YYYYMMDD')) as partition
     where partition is not null
$$;

CREATE FUNCTION storehook.outbox_partition_bounds(day date, OUT opens timestamp with time zone, OUT closes timestamp with time zone) RETURNS record
    LANGUAGE sql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET "TimeZone" TO 'UTC'
    SET "DateStyle" TO 'ISO'
    SET standard_conforming_strings TO 'on'
    AS $$
    -- FOR VALUES FROM ('2026-01-31 00:00:00+00') TO ('2026-02-01 00:00:00+00'), in the settings above.
    select bound[1]::timestamptz, bound[2]::timestamptz
      from pg_class c
      join pg_inherits i on i.inhrelid = c.oid and i.inhparent = 'storehook.outbox'::regclass
     cross join lateral regexp_match(pg_get_expr(c.relpartbound, c.oid), 'FROM \(''([^'']+)''\) TO \(''([^'']+)''\)') as bound
     where c.relname = 'outbox_' || to_char(outbox_partition_bounds.day, 'YYYYMMDD')
$$;

CREATE FUNCTION storehook.owed_at(bundle_id text, environment text) RETURNS timestamp with time zone
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET "TimeZone" TO 'UTC'
    SET "DateStyle" TO 'ISO'
    AS $$
    select timestamptz '9000-01-01 00:00:00+00'
           + make_interval(secs => ('x' || substr(pg_catalog.md5(owed_at.bundle_id || ' ' || owed_at.environment), 1, 6))::bit(24)::integer)
$$;

CREATE FUNCTION storehook.place_events(most integer DEFAULT 10000) RETURNS integer
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET "TimeZone" TO 'UTC'
    SET "DateStyle" TO 'ISO'
    AS $$
declare
    base bigint;
    last bigint;
begin
    if most not between 1 and 100000 then
        raise exception 'most must be between 1 and 100000' using errcode = 'invalid_parameter_value';
    end if;
    -- Mostly there is nothing, and then nobody is to wait.
    if not exists (select from storehook.events_unplaced) then
        return 0;
    end if;
    select last_position into base from storehook.event_feed for update;
    -- Whole transactions: the last one may go beyond.
    with next as (
        select first.id, first.up_to
          from (select u.id, 1 + coalesce(cardinality(u.more), 0) as events,
                       sum(1 + coalesce(cardinality(u.more), 0)) over (order by u.id) as up_to
                  from (select id, more from storehook.events_unplaced order by id limit most) u) first
         where first.up_to - first.events < most
    ), taken as (
        delete from storehook.events_unplaced u using next where u.id = next.id
        returning next.up_to, u.id, u.more, u.told_at
    ), placed as (
        insert into storehook.event_places (position, id, more, told_at)
        select base + up_to, id, more, told_at from taken
        returning position
    )
    select max(position) into last from placed;
    if last is null then
        return 0;
    end if;
    update storehook.event_feed set last_position = last;
    return last - base;
end
$$;

CREATE FUNCTION storehook.plan_history(bundle_ids text[], environments text[], behind interval, partial boolean) RETURNS integer
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET "TimeZone" TO 'UTC'
    SET "DateStyle" TO 'ISO'
    AS $$
declare
    upto   constant timestamptz := date_trunc('milliseconds', now() - plan_history.behind);
    app    record;
    opens  timestamptz;
    closes timestamptz;
    made   integer := 0;
begin
    -- One at a time; a lock that only those can take who may write here.
    lock table storehook.history_windows in share row exclusive mode;
    for app in
        select a.bundle_id, a.environment, now() - storehook.history_reach(a.environment) as oldest
          from unnest(plan_history.bundle_ids, plan_history.environments) as a (bundle_id, environment)
         order by a.bundle_id, a.environment
    loop
        delete from storehook.history_windows w
         where w.bundle_id = app.bundle_id and w.environment = app.environment and w.ends_at < app.oldest;
        select max(w.ends_at) into opens from storehook.history_windows w
         where w.bundle_id = app.bundle_id and w.environment = app.environment;
        opens := greatest(opens, date_trunc('hour', app.oldest) + interval '1 hour');
        loop
            closes := opens + interval '1 day';
            if date_trunc('day', opens) < opens or closes > upto then
                closes := date_trunc('hour', opens) + interval '1 hour';
            end if;
            if closes > upto and plan_history.partial then
                closes := upto;
            end if;
            exit when closes > upto or closes <= opens;
            with made as (
                insert into storehook.history_windows (environment, bundle_id, starts_at, ends_at)
                values (app.environment, app.bundle_id, opens, closes)
                returning id
            )
            insert into storehook.history_queue (id, received_at, due_at) select made.id, now(), now() from made;
            made := made + 1;
            opens := closes;
        end loop;
    end loop;
    -- By then Apple's list names them no more.
    if made > 0 then
        delete from storehook.history_letters l where l.noted_at < now() - storehook.history_reach('Production');
    end if;
    return made;
end
$$;

CREATE FUNCTION storehook.purchase_payments(of_environment text, of_app text, of_purchase text) RETURNS TABLE(starts_at timestamp with time zone, order_id bigint, item text, is_refunded boolean)
    LANGUAGE sql STABLE
    AS $$
    select t.starts_at, t.order_id, t.item, t.is_refunded
      from (
        select o.id from storehook.booked_orders o
         where (o.environment, o.bundle_id, o.order_key) = (of_environment, of_app, of_purchase) and o.class_id is not null
        union
        -- Several things that were bought once may have one originalTransactionId.
        -- By its index also before anything was analyzed.
        select u.id
          from (
            select o.id, o.environment, o.bundle_id, o.class_id from storehook.booked_orders o
             where o.original_transaction_id = of_purchase and o.order_key <> o.original_transaction_id
            offset 0) u
         where (u.environment, u.bundle_id) = (of_environment, of_app) and u.class_id is not null) o
     cross join lateral (
        select t.starts_at, t.order_id, t.item, t.revoked_share is distinct from 0 as is_refunded
          from storehook.booked_transactions t
         where t.order_id = o.id and not t.is_void and not t.is_trial and t.price is distinct from 0
        offset 0) t
$$;

CREATE FUNCTION storehook.record_forbidden_tries() RETURNS bigint
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET "TimeZone" TO 'UTC'
    SET "DateStyle" TO 'ISO'
    AS $$
declare
    done record;
    draft storehook.audit_drafts;
    recorded bigint := 0;
begin
    for done in
        with taken as (
            delete from storehook.forbidden_tries
             where minute < date_trunc('minute', clock_timestamp() - interval '5 seconds')
            returning 'staff:' || member_id as actor, route, minute, tries
        ), proxied as (
            delete from storehook.proxied_tries
             where minute < date_trunc('minute', clock_timestamp() - interval '5 seconds')
            returning 'proxy:' || name as actor, route, minute, tries
        )
        select actor, route, minute, tries from taken
         union all
        select actor, route, minute, tries from proxied
         order by minute, actor, route
    loop
        draft.actor := storehook.audit_actor(done.actor);
        draft.role := 'viewer';
        draft.act := 'forbidden';
        draft.subject_kind := 'route';
        draft.subject := done.route;
        draft.after := jsonb_build_object('minute', done.minute, 'tries', done.tries)::text;
        perform storehook.add_audit_draft(draft);
        recorded := recorded + 1;
    end loop;
    return recorded;
end
$$;

CREATE FUNCTION storehook.refuse_late_closing() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET "TimeZone" TO 'UTC'
    SET "DateStyle" TO 'ISO'
    AS $$
begin
    if exists (
        select from (select distinct closed_id from added) a left join storehook.closed_months c on c.id = a.closed_id
         where c.closed_at is distinct from now()) then
        raise exception 'nothing is added to a month that is closed' using errcode = 'insufficient_privilege';
    end if;
    return null;
end
$$;

CREATE FUNCTION storehook.refuse_second_opening() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET "TimeZone" TO 'UTC'
    SET "DateStyle" TO 'ISO'
    AS $$
begin
    raise exception 'a month that was opened again stays so; close it anew' using errcode = 'insufficient_privilege';
end
$$;

CREATE FUNCTION storehook.refused_senders() RETURNS TABLE(address text, seconds integer)
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET "TimeZone" TO 'UTC'
    SET "DateStyle" TO 'ISO'
    AS $$
    select host(s.address), ceil(extract(epoch from s.refused_until - now()))::integer
      from storehook.senders s
     where s.refused_until > now()
       and (s.verified_at is null or s.verified_at < now() - interval '30 days')
     order by s.refused_until desc
     limit 10000
$$;

CREATE FUNCTION storehook.remember_dead_letters() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET "TimeZone" TO 'UTC'
    SET "DateStyle" TO 'ISO'
    AS $$
begin
    insert into storehook.history_letters (notification_uuid)
    select distinct notification_uuid from gone
     where notification_uuid is not null and reason <> all (storehook.unverifiable())
        on conflict do nothing;
    return null;
end
$$;

CREATE FUNCTION storehook.require_accounts() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
begin
    if current_setting('storehook.knows_accounts', true) is distinct from 'yes'
       and exists (select from storehook.catalog_state where preparing_version is not null or is_linked) then
        -- What nobody who may not write here gets: workers of every release wait then, and bury nothing.
        raise exception 'this program knows nothing of accounts, and a catalog was applied: upgrade it'
            using errcode = 'insufficient_privilege';
    end if;
    return null;
end
$$;

CREATE FUNCTION storehook.require_figure_content() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET "TimeZone" TO 'UTC'
    SET "DateStyle" TO 'ISO'
    AS $$
begin
    if coalesce(nullif(current_setting('storehook.figure_content', true), '')::smallint, 0::smallint) < (select content from storehook.figure_state)
       and exists (select from gone) then
        update storehook.figure_state set content = 0;
    end if;
    return null;
end
$$;

CREATE FUNCTION storehook.require_figure_turn() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET "TimeZone" TO 'UTC'
    SET "DateStyle" TO 'ISO'
    AS $$
begin
    if coalesce(nullif(current_setting('storehook.figure_content', true), '')::smallint, 0::smallint) < new.content then new.content := 0; end if;
    return new;
end
$$;

CREATE FUNCTION storehook.rotate_endpoint(endpoint bigint, sealed bytea, overlap_seconds double precision, rotated_by text) RETURNS boolean
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET "TimeZone" TO 'UTC'
    SET "DateStyle" TO 'ISO'
    AS $$
declare
    keeps boolean := overlap_seconds > 0;
begin
    update storehook.endpoints e
       set earlier_secrets = case when keeps then nullif(array(
               select f.secret
                 from unnest(array_append(e.earlier_secrets, e.former_secret), array_append(e.earlier_ends_at, e.former_ends_at))
                      with ordinality f (secret, ends_at, place)
                where e.former_secret is not null and f.ends_at > now() order by f.place), '{}') end,
           earlier_ends_at = case when keeps then nullif(array(
               select f.ends_at
                 from unnest(array_append(e.earlier_ends_at, e.former_ends_at)) with ordinality f (ends_at, place)
                where e.former_secret is not null and f.ends_at > now() order by f.place), '{}') end,
           former_secret = case when keeps then e.secret end,
           former_ends_at = case when keeps then now() + make_interval(secs => overlap_seconds) end,
           secret = sealed, changed_at = now(), changed_by = left(rotated_by, 200)
     where e.id = endpoint and e.state <> 'removed'
       and (not keeps or (
               select count(*)
                 from unnest(array_append(e.earlier_ends_at, e.former_ends_at)) f (ends_at)
                where e.former_secret is not null and f.ends_at > now()) < 5);
    return found;
end
$$;

CREATE FUNCTION storehook.settle_outbox_day(day date) RETURNS boolean
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET "TimeZone" TO 'UTC'
    SET "DateStyle" TO 'ISO'
    AS $$
declare
    -- Looked up one by one whenever somebody asks.
    most_open   constant integer := 10000;
    now_changes bigint;
    settled     storehook.outbox_settled%rowtype;
    counted     record;
begin
    -- What began yesterday may commit a little later.
    if settle_outbox_day.day >= ((now() - interval '1 hour') at time zone 'UTC')::date then
        raise exception 'the day is not over' using errcode = 'invalid_parameter_value';
    end if;
    perform 1 from storehook.upkeep_locks where task = 'books' for update skip locked;
    if not found then
        return false;
    end if;
    -- Before the rows are counted: what is written meanwhile must not seem counted.
    now_changes := coalesce(storehook.outbox_day_changes(settle_outbox_day.day), 0);
    select * into settled from storehook.outbox_settled s where s.day = settle_outbox_day.day;

    if found and now_changes <= settled.changes then
        with ended as (
            select o.id, p.place
              from unnest(settled.open_ids) as o (id)
             cross join lateral (select count(*) as places, min(place) as place
                                   from storehook.outbox_places where outbox_id = o.id) p
             where p.places = 1 and p.place in ('applied', 'duplicate', 'parked', 'discarded')
        )
        update storehook.outbox_settled s
           set applied   = s.applied + (select count(*) from ended where place = 'applied'),
               duplicate = s.duplicate + (select count(*) from ended where place = 'duplicate'),
               parked    = s.parked + (select count(*) from ended where place = 'parked'),
               discarded = s.discarded + (select count(*) from ended where place = 'discarded'),
               open_ids  = array(select o.id from unnest(s.open_ids) as o (id) where o.id not in (select id from ended)),
               -- Fewer than before: the statistics began anew.
               changes   = now_changes,
               counted_at = now()
         where s.day = settle_outbox_day.day;
        return true;
    end if;

    select * into counted from storehook.count_outbox_day(settle_outbox_day.day, true);
    if cardinality(counted.open_ids) > most_open then
        delete from storehook.outbox_settled s where s.day = settle_outbox_day.day;
        return false;
    end if;
    insert into storehook.outbox_settled (day, received, applied, duplicate, parked, discarded, open_ids, changes)
    select settle_outbox_day.day, counted.received, counted.applied, counted.duplicate, counted.parked,
           counted.discarded, counted.open_ids, now_changes
        on conflict on constraint outbox_settled_pkey do update
       set received = excluded.received, applied = excluded.applied, duplicate = excluded.duplicate,
           parked = excluded.parked, discarded = excluded.discarded, open_ids = excluded.open_ids,
           changes = excluded.changes, counted_at = excluded.counted_at;
    return true;
end
$$;

CREATE FUNCTION storehook.spend_write_budget(in_token uuid, in_bytes bigint) RETURNS boolean
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
    most constant bigint := 10000000;
begin
    insert into storehook.write_budgets as b (token, day, bytes)
    select in_token, (now() at time zone 'UTC')::date, in_bytes where in_bytes <= most
        on conflict (token) do update
       set day = greatest(b.day, excluded.day),
           bytes = excluded.bytes + case when b.day < excluded.day then 0 else b.bytes end
     where b.day < excluded.day or b.bytes + excluded.bytes <= most;
    return found;
end
$$;

COMMENT ON FUNCTION storehook.spend_write_budget(in_token uuid, in_bytes bigint) IS 'takes bytes from what an account may add in a day of UTC; false, and nothing is taken, where that is used up';

CREATE FUNCTION storehook.status_at(at timestamp with time zone) RETURNS TABLE(environment text, bundle_id text, original_transaction_id text, product_id text, subscription_group_id text, app_account_token uuid, status text, access boolean, expires_at timestamp with time zone, will_renew boolean, renewal_product_id text, in_trial boolean, price_increase_pending boolean, apple_status smallint, access_until timestamp with time zone, period_ends_at timestamp with time zone, grace_ends_at timestamp with time zone, expiration_intent smallint, basis text, since timestamp with time zone, transaction_id text, ownership text, offer_type smallint, offer_id text, price bigint, currency text, storefront text, app_transaction_id text, renewal_price bigint, renewal_currency text, paid_until timestamp with time zone, latest_account_token uuid, former_account_token uuid)
    LANGUAGE sql STABLE PARALLEL SAFE
    AS $$
    select s.environment,
           s.bundle_id,
           s.original_transaction_id,
           p.phase_product[p.n],
           s.subscription_group_id,
           nullif(p.phase_account[p.n], '00000000-0000-0000-0000-000000000000'),
           p.phase_status[p.n],
           p.phase_status[p.n] in ('trial', 'active', 'cancelled', 'grace_period'),
           p.phase_expires[p.n],
           p.phase_will_renew[p.n],
           p.phase_renewal_product[p.n],
           p.phase_trial[p.n],
           p.phase_price_pending[p.n],
           (case p.phase_status[p.n]
                when 'expired' then 2
                when 'billing_retry' then 3
                when 'grace_period' then 4
                when 'revoked' then 5
                else 1
            end)::smallint,
           coalesce(p.phase_grace_ends[p.n], p.phase_expires[p.n]),
           p.phase_period_ends[p.n],
           p.phase_grace_ends[p.n],
           p.phase_intent[p.n],
           p.phase_basis[p.n],
           p.phase_starts[p.n],
           p.phase_transaction[p.n],
           t.ownership,
           t.offer_type,
           t.offer_id,
           t.price,
           t.currency,
           t.storefront,
           coalesce(t.app_transaction_id, r.app_transaction_id),
           r.renewal_price,
           r.currency,
           s.paid_until,
           s.app_account_token,
           s.former_account_token
      from storehook.subscriptions s
     cross join lateral (
            select width_bucket(at, s.phase_starts) as n, s.phase_starts, s.phase_status, s.phase_basis, s.phase_product,
                   s.phase_transaction, s.phase_expires, s.phase_period_ends, s.phase_grace_ends, s.phase_trial,
                   s.phase_will_renew, s.phase_renewal_product, s.phase_price_pending, s.phase_intent, s.phase_account
             where at >= s.phase_starts[1]
            union all
            (select width_bucket(at, h.phase_starts), h.phase_starts, h.phase_status, h.phase_basis, h.phase_product,
                    h.phase_transaction, h.phase_expires, h.phase_period_ends, h.phase_grace_ends, h.phase_trial,
                    h.phase_will_renew, h.phase_renewal_product, h.phase_price_pending, h.phase_intent, h.phase_account
               from storehook.subscription_history h
              where at < s.phase_starts[1] and s.earlier_phases > 0
                and h.original_transaction_id = s.original_transaction_id and h.bundle_id = s.bundle_id
                and h.environment = s.environment and h.starts_at <= at
              order by h.starts_at desc
              limit 1)
           ) p
      left join storehook.transactions t
           on t.transaction_id = p.phase_transaction[p.n] collate "C" and t.bundle_id = s.bundle_id
          and t.environment = s.environment
      left join storehook.renewals r
           on r.original_transaction_id = s.original_transaction_id and r.bundle_id = s.bundle_id
          and r.environment = s.environment
$$;

CREATE FUNCTION storehook.store_posted(packings smallint[], bodies bytea[], senders text[], digests bytea[]) RETURNS boolean
    LANGUAGE plpgsql
    AS $$
begin
    if pg_catalog.current_setting('synchronous_commit') operator(pg_catalog.=) any ('{off,local}'::pg_catalog.text[]) then
        perform pg_catalog.set_config('synchronous_commit', 'on', true);
    end if;
    if pg_catalog.current_setting('client_min_messages') operator(pg_catalog.=) 'error' then
        perform pg_catalog.set_config('client_min_messages', 'warning', true);
    end if;
    -- Who names none needs no right to look for any.
    if pg_catalog.cardinality(digests) operator(pg_catalog.>) 0 then
        if exists (select from pg_catalog.unnest(digests) as named (digest)
                    where not exists (select from storehook.signature_headers h
                                       where h.digest operator(pg_catalog.=) named.digest)) then
            return false;
        end if;
    end if;
    -- The ids are drawn first, so that nothing has to be read back: a receiver may insert and nothing else.
    with drawn as materialized (
        select pg_catalog.nextval('storehook.outbox_id') as id, pg_catalog.now() as received_at, packing, body,
               sender::pg_catalog.inet as sender
          from unnest(packings, bodies, senders) as posted (packing, body, sender)
    ), stored as (
        insert into storehook.outbox (id, received_at, packing, body)
        select id, received_at, packing, body from drawn
    )
    insert into storehook.outbox_queue (id, received_at, due_at, sender)
    select id, received_at, received_at, sender from drawn;
    if found then
        insert into storehook.outbox_stored (rows) values (pg_catalog.cardinality(bodies));
    end if;
    return true;
end
$$;

CREATE FUNCTION storehook.sum_outbox_stored() RETURNS bigint
    LANGUAGE sql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET "TimeZone" TO 'UTC'
    SET "DateStyle" TO 'ISO'
    AS $$
    with summed as (
        delete from storehook.outbox_stored where stored_at < now() - interval '1 hour' returning stored_at, rows
    ), days as (
        insert into storehook.outbox_acknowledged as total (day, rows)
        select (stored_at at time zone 'UTC')::date, sum(rows) from summed group by 1 order by 1
            on conflict (day) do update set rows = total.rows + excluded.rows
    )
    select count(*) from summed
$$;

CREATE FUNCTION storehook.telling_differences(most integer DEFAULT 20000, OUT looked bigint, OUT differing bigint, OUT overdue bigint) RETURNS record
    LANGUAGE sql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET "TimeZone" TO 'UTC'
    SET "DateStyle" TO 'ISO'
    AS $$
    with start as materialized (
        select gen_random_uuid() as token
    ), page as materialized (
        select * from (
            (select s.token, s.environment, s.catalog, s.phase_starts, s.phase_status, s.phase_tier
               from storehook.account_status s
              where s.token >= (select token from start)
                and s.catalog = (select current_version from storehook.catalog_state)
              order by s.token, s.environment limit telling_differences.most)
            union all
            (select s.token, s.environment, s.catalog, s.phase_starts, s.phase_status, s.phase_tier
               from storehook.account_status s
              where s.token < (select token from start)
                and s.catalog = (select current_version from storehook.catalog_state)
              order by s.token, s.environment limit telling_differences.most)) both_sides
         limit telling_differences.most
    ), held as (
        select p.*, t.told, t.due_at, t.catalog as told_catalog,
               greatest(width_bucket(
                   greatest(clock_timestamp(), to_timestamp(substring(t.told from '^[^|]*[|](-?[0-9]{1,15})[|]')::bigint / 1000.0)),
                   p.phase_starts), 1) as n
          from page p left join storehook.access_tellings t using (token, environment)
    )
    select count(*),
           count(*) filter (
               where (case when h.told is null then h.phase_status[h.n] <> 'free'
                           else (split_part(h.told, '|', 3), split_part(h.told, '|', 4))
                                <> (h.phase_status[h.n], h.phase_tier[h.n]) end)
                 and coalesce(h.due_at > clock_timestamp() and h.due_at < timestamptz '9000-01-01 00:00:00+00', true)
                 and (h.told is null or h.told_catalog = h.catalog)
                 and not exists (select from storehook.telling_walks w
                                  where w.is_under_way or (w.what = 'accounts' and w.catalog is distinct from h.catalog))),
           (select coalesce(sum((select count(*) from storehook.purchase_tellings o where o.due_at = f.owed_at)
                              + (select count(*) from storehook.access_tellings o where o.due_at = f.owed_at)), 0)::bigint
              from storehook.filled_apps() f where f.filled_at < now() - interval '5 minutes')
      from held h
$$;

CREATE FUNCTION storehook.unverifiable() RETURNS text[]
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET "TimeZone" TO 'UTC'
    SET "DateStyle" TO 'ISO'
    AS $$
    select array[
        'malformed', 'unsupported_algorithm', 'wrong_chain_length', 'malformed_certificate', 'untrusted_root',
        'invalid_chain', 'certificate_not_valid_at', 'missing_marker_oid', 'invalid_signature']
$$;

CREATE FUNCTION storehook.work_job(worked bigint, portion integer, OUT settled integer, OUT passed integer) RETURNS record
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET "TimeZone" TO 'UTC'
    SET "DateStyle" TO 'ISO'
    AS $$
declare
    asked storehook.jobs;
begin
    if portion not between 1 and 10000 then
        raise exception 'portion must be between 1 and 10000' using errcode = 'invalid_parameter_value';
    end if;
    select * into strict asked from storehook.jobs j where j.id = worked for update;
    settled := 0;
    passed := 0;
    if asked.state not in ('waiting', 'running') or asked.stopped_at is not null or asked.act = 'rehearse' then
        return;
    end if;
    with next as materialized (
        select i.letter_id from storehook.job_items i
         where i.job_id = worked and i.outcome is null order by i.letter_id limit portion for update
    ), held as materialized (
        -- In one order, so that two jobs with the same letters wait for each other and not both.
        select d.id from storehook.dead_letters d
         where d.id in (select n.letter_id from next n) and d.resolution = 'open' order by d.id for update
    ), closed as (
        update storehook.dead_letters d
           set resolution = case asked.act when 'replay' then 'replayed' else 'discarded' end, resolved_at = now(),
               resolved_by = left(asked.actor, 200), resolved_why = asked.why, job_id = worked
          from held h
         where d.id = h.id and d.resolution = 'open'
        returning d.id, d.outbox_id, d.received_at, d.reason
    ), queued as (
        insert into storehook.outbox_queue (id, received_at, due_at, last_reason)
        select c.outbox_id, c.received_at, now(), c.reason from closed c where asked.act = 'replay'
    ), marked as (
        update storehook.job_items i
           set outcome = case when c.id is null then 'skipped' else 'done' end, ended_at = now()
          from next n left join closed c on c.id = n.letter_id
         where i.job_id = worked and i.letter_id = n.letter_id
        returning i.outcome
    )
    select count(*) filter (where m.outcome = 'done'), count(*) filter (where m.outcome = 'skipped')
      into settled, passed from marked m;
    update storehook.jobs j
       set done = j.done + settled, skipped = j.skipped + passed, state = 'running', begun_at = coalesce(j.begun_at, now())
     where j.id = worked;
end
$$;

CREATE TABLE storehook.access_tellings (
    token uuid NOT NULL,
    environment text NOT NULL COLLATE pg_catalog."C",
    sequence bigint DEFAULT 0 NOT NULL,
    due_at timestamp with time zone,
    catalog bigint,
    told text,
    CONSTRAINT access_tellings_check CHECK (((told IS NULL) OR (catalog IS NOT NULL))),
    CONSTRAINT access_tellings_sequence_check CHECK ((sequence >= 0)),
    CONSTRAINT access_tellings_told_check CHECK ((octet_length(told) <= 65536))
)
WITH (fillfactor='70');

COMMENT ON TABLE storehook.access_tellings IS 'what was told last of each account, and when something is to be told next';

COMMENT ON COLUMN storehook.access_tellings.sequence IS 'the number of its last event';

COMMENT ON COLUMN storehook.access_tellings.due_at IS 'when it changes by itself: the clock''s queue; from the year 9000 on: owed, see owed_at';

COMMENT ON COLUMN storehook.access_tellings.catalog IS 'under which it was told: another one that became current since is still to be told';

COMMENT ON COLUMN storehook.access_tellings.told IS 'what it was; null where nothing was told';

CREATE TABLE storehook.account_count_state (
    is_only boolean DEFAULT true NOT NULL,
    counted_at timestamp with time zone,
    due_at timestamp with time zone DEFAULT '-infinity'::timestamp with time zone NOT NULL,
    CONSTRAINT account_count_state_is_only_check CHECK (is_only)
);

COMMENT ON TABLE storehook.account_count_state IS 'when accounts were counted, and when they are next';

COMMENT ON COLUMN storehook.account_count_state.counted_at IS 'the instant that account_counts is of; null before the first count';

COMMENT ON COLUMN storehook.account_count_state.due_at IS 'no worker counts before this';

CREATE TABLE storehook.account_counts (
    environment text NOT NULL COLLATE pg_catalog."C",
    standing text NOT NULL COLLATE pg_catalog."C",
    tier text NOT NULL COLLATE pg_catalog."C",
    status text NOT NULL COLLATE pg_catalog."C",
    count bigint NOT NULL,
    CONSTRAINT account_counts_check CHECK (((standing = 'anonymous'::text) = (status = ''::text))),
    CONSTRAINT account_counts_count_check CHECK ((count > 0)),
    CONSTRAINT account_counts_standing_check CHECK ((standing = ANY (ARRAY['subscriber'::text, 'access'::text, 'expired'::text, 'free'::text, 'anonymous'::text])))
);

COMMENT ON TABLE storehook.account_counts IS 'how many accounts are known and not erased, by what they were at account_count_state.counted_at; a row for each combination that occurs';

COMMENT ON COLUMN storehook.account_counts.environment IS 'an account counts in each environment in which it has a status; one without any status counts as free in Production';

COMMENT ON COLUMN storehook.account_counts.standing IS 'subscriber: has access, and an Apple subscription runs that is no trial. access: has access otherwise. expired: has no access, and had a purchase or a trial. free: has no access, and had neither. anonymous: no account, but a subscription or one-time purchase, consumables left out, that no account counted here ever had';

COMMENT ON COLUMN storehook.account_counts.tier IS 'empty of anonymous purchases';

COMMENT ON COLUMN storehook.account_counts.status IS 'as in account_status; empty of anonymous purchases';

CREATE TABLE storehook.account_day_counts (
    day date NOT NULL,
    environment text NOT NULL COLLATE pg_catalog."C",
    standing text NOT NULL COLLATE pg_catalog."C",
    tier text NOT NULL COLLATE pg_catalog."C",
    status text NOT NULL COLLATE pg_catalog."C",
    count bigint NOT NULL,
    CONSTRAINT account_day_counts_check CHECK (((standing = 'anonymous'::text) = (status = ''::text))),
    CONSTRAINT account_day_counts_count_check CHECK ((count > 0)),
    CONSTRAINT account_day_counts_standing_check CHECK ((standing = ANY (ARRAY['subscriber'::text, 'access'::text, 'expired'::text, 'free'::text, 'anonymous'::text])))
);

COMMENT ON TABLE storehook.account_day_counts IS 'as account_counts, at account_days.ends_at; an account counts from when it was known, or from its first purchase or trial';

CREATE TABLE storehook.account_days (
    day date NOT NULL,
    zone text NOT NULL COLLATE pg_catalog."C",
    ends_at timestamp with time zone NOT NULL,
    counted_at timestamp with time zone DEFAULT now() NOT NULL,
    usage_counted_at timestamp with time zone
);

COMMENT ON TABLE storehook.account_days IS 'the days of which account_day_counts says how many accounts there were at their end; of other days that is not known';

COMMENT ON COLUMN storehook.account_days.zone IS 'the time zone of the catalog by which the day was counted; a later one changes nothing';

COMMENT ON COLUMN storehook.account_days.ends_at IS 'the first instant behind it; account_day_counts are of this instant';

COMMENT ON COLUMN storehook.account_days.counted_at IS 'when that was worked out; accounts that had been erased by then are not in it';

COMMENT ON COLUMN storehook.account_days.usage_counted_at IS 'when usage_days was counted; again 35 days after the day''s end, when nothing more is reported of it. Null of a day whose usage was not kept any more';

CREATE TABLE storehook.account_history (
    token uuid NOT NULL,
    environment text NOT NULL COLLATE pg_catalog."C",
    starts_at timestamp with time zone NOT NULL,
    ends_at timestamp with time zone NOT NULL,
    status text NOT NULL,
    tier text NOT NULL,
    source text NOT NULL,
    product_id text,
    bundle_id text COLLATE pg_catalog."C",
    original_transaction_id text COLLATE pg_catalog."C",
    act bigint,
    expires_at timestamp with time zone,
    will_renew boolean NOT NULL,
    in_trial boolean NOT NULL,
    CONSTRAINT account_history_check CHECK ((starts_at < ends_at)),
    CONSTRAINT account_history_source_check CHECK ((source = ANY (ARRAY['apple'::text, 'grant'::text, 'trial'::text, 'none'::text]))),
    CONSTRAINT account_history_status_check CHECK ((status = ANY (ARRAY['active'::text, 'trial'::text, 'cancelled'::text, 'grace_period'::text, 'expired'::text, 'trial_expired'::text, 'revoked'::text, 'free'::text])))
);

COMMENT ON TABLE storehook.account_history IS 'derived: what accounts were before the phases that account_status keeps';

CREATE TABLE storehook.account_ids (
    only_row boolean DEFAULT true NOT NULL,
    rule text,
    named_at timestamp with time zone,
    named_by text,
    CONSTRAINT account_ids_check CHECK (((named_at IS NULL) OR (rule IS NOT NULL))),
    CONSTRAINT account_ids_named_by_check CHECK (((length(named_by) >= 1) AND (length(named_by) <= 200))),
    CONSTRAINT account_ids_only_row_check CHECK (only_row),
    CONSTRAINT account_ids_rule_check CHECK ((rule = ANY (ARRAY['auto'::text, 'uuid'::text, 'text'::text])))
);

COMMENT ON TABLE storehook.account_ids IS 'what an account''s id is to its appAccountToken';

COMMENT ON COLUMN storehook.account_ids.rule IS 'auto: a UUID of any version but 5 is its own token, every other id is hashed; uuid: ids are UUIDs and their own tokens; text: every id is hashed; null: of accounts that were there before it is not known, and the operator has to say';

COMMENT ON COLUMN storehook.account_ids.named_at IS 'null while nobody has named an account: until then a program''s setting may name the rule';

CREATE TABLE storehook.account_lines (
    token uuid NOT NULL,
    environment text NOT NULL COLLATE pg_catalog."C",
    original_transaction_id text NOT NULL COLLATE pg_catalog."C",
    bundle_id text NOT NULL COLLATE pg_catalog."C"
);

COMMENT ON TABLE storehook.account_lines IS 'the accounts that Apple signed into a purchase, or that anything binds it to';

CREATE TABLE storehook.account_names (
    token uuid NOT NULL,
    account text NOT NULL,
    named_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT account_names_account_check CHECK (((length(account) >= 1) AND (length(account) <= 1000)))
);

COMMENT ON TABLE storehook.account_names IS 'what the app''s own tokens call an account, for accounts without an id in accounts; written once, with the first answer that has the token';

COMMENT ON COLUMN storehook.account_names.token IS 'the appAccountToken';

COMMENT ON COLUMN storehook.account_names.account IS 'the account''s id';

CREATE TABLE storehook.account_profiles (
    token uuid NOT NULL,
    name text,
    mail text,
    changed_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT account_profiles_mail_check CHECK (((length(mail) >= 1) AND (length(mail) <= 254))),
    CONSTRAINT account_profiles_name_check CHECK (((length(name) >= 1) AND (length(name) <= 200))),
    CONSTRAINT account_profiles_something_check CHECK (((name IS NOT NULL) OR (mail IS NOT NULL)))
);

COMMENT ON TABLE storehook.account_profiles IS 'name and mail address of accounts, as the operator''s servers gave them; deleted when the account is erased';

COMMENT ON COLUMN storehook.account_profiles.token IS 'the account''s appAccountToken';

CREATE TABLE storehook.account_status (
    token uuid NOT NULL,
    environment text NOT NULL COLLATE pg_catalog."C",
    catalog bigint NOT NULL,
    version bigint NOT NULL,
    changed_at timestamp with time zone DEFAULT now() NOT NULL,
    known_from timestamp with time zone,
    phase_starts timestamp with time zone[] NOT NULL,
    phase_status text[] NOT NULL,
    phase_tier text[] NOT NULL,
    phase_source text[] NOT NULL,
    phase_product text[] NOT NULL,
    phase_bundle text[] NOT NULL,
    phase_purchase text[] NOT NULL,
    phase_act bigint[] NOT NULL,
    phase_expires timestamp with time zone[] NOT NULL,
    phase_will_renew boolean[] NOT NULL,
    phase_trial boolean[] NOT NULL,
    phase_source_ends timestamp with time zone[],
    phase_tier_until timestamp with time zone[],
    phase_period_ends timestamp with time zone[],
    phase_goes_on boolean[],
    holding_starts timestamp with time zone[],
    holding_ends timestamp with time zone[],
    holding_product text[],
    holding_bundle text[],
    holding_purchase text[],
    CONSTRAINT account_status_check CHECK (((cardinality(phase_starts) > 0) AND (cardinality(phase_status) = cardinality(phase_starts)) AND (cardinality(phase_tier) = cardinality(phase_starts)) AND (cardinality(phase_source) = cardinality(phase_starts)) AND (cardinality(phase_product) = cardinality(phase_starts)) AND (cardinality(phase_bundle) = cardinality(phase_starts)) AND (cardinality(phase_purchase) = cardinality(phase_starts)) AND (cardinality(phase_act) = cardinality(phase_starts)) AND (cardinality(phase_expires) = cardinality(phase_starts)) AND (cardinality(phase_will_renew) = cardinality(phase_starts)) AND (cardinality(phase_trial) = cardinality(phase_starts)))),
    CONSTRAINT account_status_check1 CHECK (((known_from IS NULL) OR (known_from = phase_starts[1]))),
    CONSTRAINT account_status_phase_source_check CHECK ((phase_source <@ ARRAY['apple'::text, 'grant'::text, 'trial'::text, 'none'::text])),
    CONSTRAINT account_status_phase_status_check CHECK ((phase_status <@ ARRAY['active'::text, 'trial'::text, 'cancelled'::text, 'grace_period'::text, 'expired'::text, 'trial_expired'::text, 'revoked'::text, 'free'::text])),
    CONSTRAINT account_status_version_check CHECK ((version > 0))
)
WITH (fillfactor='80');

COMMENT ON COLUMN storehook.account_status.version IS 'grows with every change of what readers see, catalogs included';

COMMENT ON COLUMN storehook.account_status.known_from IS 'phases before are not kept here, and storehook account --at works them out; null where the first phase reaches back for ever';

COMMENT ON COLUMN storehook.account_status.phase_act IS 'the act of staff''s that shows in it';

COMMENT ON COLUMN storehook.account_status.phase_expires IS 'with access the end of all of it without a gap, as known then; without access when it ended';

COMMENT ON COLUMN storehook.account_status.phase_source_ends IS 'when the deciding source itself ends; null, or an element that is null: as phase_expires';

COMMENT ON COLUMN storehook.account_status.phase_tier_until IS 'until when the tier is the present one; null, or an element that is null: as phase_expires';

COMMENT ON COLUMN storehook.account_status.phase_period_ends IS 'when the running period of the deciding source ends; null, or an element that is null: as phase_source_ends';

COMMENT ON COLUMN storehook.account_status.phase_goes_on IS 'whether access goes on by itself; null, or an element that is null: where it will renew and is not in grace';

COMMENT ON COLUMN storehook.account_status.holding_starts IS 'purchases that count for the account, with what staff ended taken off: from when on each counts';

COMMENT ON COLUMN storehook.account_status.holding_ends IS 'until when; null for what has no end';

CREATE VIEW storehook.account_status_now AS
 SELECT account_status_at.token,
    account_status_at.account,
    account_status_at.environment,
    account_status_at.tier,
    account_status_at.status,
    account_status_at.access,
    account_status_at.source,
    account_status_at.product_id,
    account_status_at.bundle_id,
    account_status_at.original_transaction_id,
    account_status_at.act,
    account_status_at.expires_at,
    account_status_at.will_renew,
    account_status_at.in_trial,
    account_status_at.since,
    account_status_at.until,
    account_status_at.version,
    account_status_at.known_from
   FROM storehook.account_status_at(now()) account_status_at(token, account, environment, tier, status, access, source, product_id, bundle_id, original_transaction_id, act, expires_at, will_renew, in_trial, since, until, version, known_from);

COMMENT ON VIEW storehook.account_status_now IS 'what every account is';

COMMENT ON COLUMN storehook.account_status_now.expires_at IS 'when what gives access ends, or what gave it last ended; null for what has no end';

COMMENT ON COLUMN storehook.account_status_now.until IS 'when this changes by itself, as far as is known';

CREATE TABLE storehook.anomalies (
    environment text NOT NULL COLLATE pg_catalog."C",
    bundle_id text NOT NULL COLLATE pg_catalog."C",
    original_transaction_id text NOT NULL COLLATE pg_catalog."C",
    kind text NOT NULL,
    signed_at timestamp with time zone NOT NULL,
    transaction_id text,
    reported_status smallint,
    derived_status smallint,
    CONSTRAINT anomalies_kind_check CHECK ((kind = ANY (ARRAY['status_contradicted'::text, 'period_missing'::text, 'upgrade_missing'::text, 'purchase_unclear'::text, 'transaction_unusable'::text, 'transaction_shared'::text])))
);

ALTER TABLE ONLY storehook.anomalies REPLICA IDENTITY FULL;

CREATE TABLE storehook.history_queue (
    id bigint NOT NULL,
    received_at timestamp with time zone NOT NULL,
    due_at timestamp with time zone NOT NULL,
    attempts smallint DEFAULT 0 NOT NULL,
    lapses smallint DEFAULT 0 NOT NULL,
    lease_owner text,
    lease_token uuid,
    last_reason text,
    CONSTRAINT history_queue_attempts_check CHECK ((attempts >= 0)),
    CONSTRAINT history_queue_check CHECK (((lease_owner IS NULL) = (lease_token IS NULL))),
    CONSTRAINT history_queue_lapses_check CHECK ((lapses >= 0)),
    CONSTRAINT history_queue_last_reason_check CHECK ((length(last_reason) <= 100)),
    CONSTRAINT history_queue_lease_owner_check CHECK ((length(lease_owner) <= 200))
)
WITH (fillfactor='70');

CREATE TABLE storehook.history_windows (
    id bigint NOT NULL,
    environment text NOT NULL COLLATE pg_catalog."C",
    bundle_id text NOT NULL COLLATE pg_catalog."C",
    starts_at timestamp with time zone NOT NULL,
    ends_at timestamp with time zone NOT NULL,
    askings smallint DEFAULT 0 NOT NULL,
    first_asked_at timestamp with time zone,
    asked_at timestamp with time zone,
    listed bigint DEFAULT 0 NOT NULL,
    refused bigint DEFAULT 0 NOT NULL,
    refused_reason text,
    proven_at timestamp with time zone,
    recovered bigint DEFAULT 0 NOT NULL,
    planned_at timestamp with time zone DEFAULT now() NOT NULL,
    walk_token text,
    walk_pages bigint DEFAULT 0 NOT NULL,
    walk_listed bigint DEFAULT 0 NOT NULL,
    walk_refused bigint DEFAULT 0 NOT NULL,
    walk_reason text,
    CONSTRAINT history_windows_bundle_id_check CHECK ((length(bundle_id) <= 255)),
    CONSTRAINT history_windows_check CHECK ((starts_at < ends_at)),
    CONSTRAINT history_windows_check1 CHECK (((askings = 0) = (asked_at IS NULL))),
    CONSTRAINT history_windows_check2 CHECK (((first_asked_at IS NULL) = (asked_at IS NULL))),
    CONSTRAINT history_windows_check3 CHECK (((proven_at IS NULL) OR (refused = 0))),
    CONSTRAINT history_windows_check4 CHECK (((refused > 0) = (refused_reason IS NOT NULL))),
    CONSTRAINT history_windows_environment_check CHECK ((length(environment) <= 50)),
    CONSTRAINT history_windows_refused_reason_check CHECK ((refused_reason ~ '^[a-z0-9_]{1,60}$'::text)),
    CONSTRAINT history_windows_walk_reason_check CHECK ((walk_reason ~ '^[a-z0-9_]{1,60}$'::text)),
    CONSTRAINT history_windows_walk_token_check CHECK ((length(walk_token) <= 10000))
);

COMMENT ON TABLE storehook.history_windows IS 'spans of Apple''s notification history, what it listed and what of that was missing here';

COMMENT ON COLUMN storehook.history_windows.ends_at IS 'where the next one begins: an instant belongs to the later one';

COMMENT ON COLUMN storehook.history_windows.listed IS 'Apple''s count when it was last asked';

COMMENT ON COLUMN storehook.history_windows.refused IS 'listed when it was last asked, and not Apple''s: nobody has seen them, and the window is not proven';

COMMENT ON COLUMN storehook.history_windows.proven_at IS 'since when everything that it lists is held';

COMMENT ON COLUMN storehook.history_windows.recovered IS 'listed and in no place here: fetched';

COMMENT ON COLUMN storehook.history_windows.walk_token IS 'Apple''s token for the next page; null: the first';

CREATE TABLE storehook.outbox_queue (
    id bigint NOT NULL,
    received_at timestamp with time zone NOT NULL,
    due_at timestamp with time zone NOT NULL,
    attempts smallint DEFAULT 0 NOT NULL,
    lease_owner text,
    lease_token uuid,
    last_reason text,
    lapses smallint DEFAULT 0 NOT NULL,
    sender inet,
    refused_at timestamp with time zone,
    CONSTRAINT outbox_queue_attempts_check CHECK ((attempts >= 0)),
    CONSTRAINT outbox_queue_check CHECK (((lease_owner IS NULL) = (lease_token IS NULL))),
    CONSTRAINT outbox_queue_lapses_check CHECK ((lapses >= 0)),
    CONSTRAINT outbox_queue_last_reason_check CHECK ((length(last_reason) <= 100)),
    CONSTRAINT outbox_queue_lease_owner_check CHECK ((length(lease_owner) <= 200))
)
WITH (fillfactor='70', autovacuum_vacuum_scale_factor='0', autovacuum_vacuum_threshold='5000', autovacuum_vacuum_insert_scale_factor='0', autovacuum_vacuum_insert_threshold='100000', autovacuum_analyze_scale_factor='0', autovacuum_analyze_threshold='50000', autovacuum_vacuum_cost_delay='0');

COMMENT ON COLUMN storehook.outbox_queue.due_at IS 'when the row may be claimed; while it is leased, when the lease ends';

COMMENT ON COLUMN storehook.outbox_queue.attempts IS 'claims so far, counted and committed before the work begins';

COMMENT ON COLUMN storehook.outbox_queue.last_reason IS 'why it was put off the last time, or why its dead letter was replayed';

COMMENT ON COLUMN storehook.outbox_queue.lapses IS 'claims whose lease ran out: the worker died, hung, or was ended by the row';

COMMENT ON COLUMN storehook.outbox_queue.sender IS 'the address that posted it, of IPv6 its network of 64 bits; null where that is not known, or does not count';

COMMENT ON COLUMN storehook.outbox_queue.refused_at IS 'when PostgreSQL first refused to have it settled, tried alone; null where it never did';

CREATE TABLE storehook.served_apps (
    environment text NOT NULL COLLATE pg_catalog."C",
    bundle_id text NOT NULL COLLATE pg_catalog."C",
    first_served timestamp with time zone DEFAULT now() NOT NULL,
    last_served timestamp with time zone DEFAULT now() NOT NULL
);

COMMENT ON TABLE storehook.served_apps IS 'apps and environments that workers on this database have been set to serve; written when a worker starts, and each hour while it runs';

CREATE VIEW storehook.proven_until AS
 WITH served AS (
         SELECT served_apps.bundle_id,
            served_apps.environment,
            (served_apps.last_served >= (max(served_apps.last_served) OVER () - '1 day'::interval)) AS is_served
           FROM storehook.served_apps
        ), followed AS (
         SELECT w.id,
            w.environment,
            w.bundle_id,
            w.starts_at,
            w.ends_at,
            w.askings,
            w.first_asked_at,
            w.asked_at,
            w.listed,
            w.refused,
            w.refused_reason,
            w.proven_at,
            w.recovered,
            w.planned_at,
            w.walk_token,
            w.walk_pages,
            w.walk_listed,
            w.walk_refused,
            w.walk_reason,
            lag(w.ends_at) OVER (PARTITION BY w.bundle_id, w.environment ORDER BY w.starts_at) AS ended_before
           FROM (storehook.history_windows w
             LEFT JOIN served s USING (bundle_id, environment))
          WHERE COALESCE(s.is_served, true)
        ), chained AS (
         SELECT f.id,
            f.environment,
            f.bundle_id,
            f.starts_at,
            f.ends_at,
            f.askings,
            f.first_asked_at,
            f.asked_at,
            f.listed,
            f.refused,
            f.refused_reason,
            f.proven_at,
            f.recovered,
            f.planned_at,
            f.walk_token,
            f.walk_pages,
            f.walk_listed,
            f.walk_refused,
            f.walk_reason,
            f.ended_before,
            ((f.askings > 0) OR (f.walk_pages > 0)) AS is_answered,
            bool_and(((f.proven_at IS NOT NULL) AND COALESCE((f.ended_before = f.starts_at), true))) OVER (PARTITION BY f.bundle_id, f.environment ORDER BY f.starts_at) AS is_proven
           FROM followed f
        )
 SELECT chained.environment,
    chained.bundle_id,
    min(chained.starts_at) FILTER (WHERE chained.is_proven) AS proven_from,
    max(chained.ends_at) FILTER (WHERE chained.is_proven) AS proven_until,
    min(chained.starts_at) AS asked_from,
    max(chained.ends_at) AS asked_until,
    min(chained.planned_at) AS planned_at,
    count(*) AS windows,
    count(*) FILTER (WHERE (chained.proven_at IS NULL)) AS unproven_windows,
    count(*) FILTER (WHERE (chained.refused > 0)) AS refused_windows,
    (sum(chained.listed))::bigint AS listed,
    (sum(GREATEST(((chained.listed - chained.recovered) - chained.refused), (0)::bigint)))::bigint AS held_before,
    (sum(chained.recovered))::bigint AS recovered,
    (sum(chained.refused))::bigint AS refused,
    q.last_reason,
    ((chained.environment = 'Production'::text) AND (NOT bool_or(chained.is_answered)) AND COALESCE(q.is_unauthorized, false) AND (EXISTS ( SELECT
           FROM chained sandbox
          WHERE ((sandbox.bundle_id = chained.bundle_id) AND (sandbox.environment = 'Sandbox'::text) AND sandbox.is_answered)))) AS is_unreleased
   FROM (chained
     LEFT JOIN ( SELECT w.bundle_id,
            w.environment,
            max(q_1.last_reason) AS last_reason,
            bool_and((q_1.last_reason = 'unauthorized'::text)) AS is_unauthorized
           FROM (storehook.history_queue q_1
             JOIN storehook.history_windows w USING (id))
          WHERE (w.proven_at IS NULL)
          GROUP BY w.bundle_id, w.environment) q USING (bundle_id, environment))
  GROUP BY chained.environment, chained.bundle_id, q.last_reason, q.is_unauthorized;

COMMENT ON COLUMN storehook.proven_until.planned_at IS 'since when Apple is asked about it';

COMMENT ON COLUMN storehook.proven_until.is_unreleased IS 'Production takes the key of no app that was never released, and Sandbox takes it: there is nothing to prove yet';

CREATE VIEW storehook.answer_proof AS
 SELECT p.environment,
    p.bundle_id,
    p.proven_until,
    p.is_unreleased,
    ( SELECT q.received_at
           FROM storehook.outbox_queue q
          ORDER BY q.id
         LIMIT 1) AS waiting_since,
    now() AS read_at
   FROM storehook.proven_until p;

COMMENT ON VIEW storehook.answer_proof IS 'what the account API says of its answers: up to when all that Apple posted is proven to be held, and since when something waits to be applied';

CREATE TABLE storehook.asked_currencies (
    currency text NOT NULL COLLATE pg_catalog."C",
    first_at timestamp with time zone DEFAULT now() NOT NULL,
    asked_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT asked_currencies_currency_check CHECK ((currency ~ '^[A-Z]{3}$'::text))
);

COMMENT ON TABLE storehook.asked_currencies IS 'the currencies of questions, beside the reporting one; workers keep sums in the first few with a recent question';

COMMENT ON COLUMN storehook.asked_currencies.first_at IS 'when questions in it began';

COMMENT ON COLUMN storehook.asked_currencies.asked_at IS 'when the last question was, to a day';

ALTER TABLE storehook.audit_drafts ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME storehook.audit_drafts_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE storehook.audit_texts (
    place bigint NOT NULL,
    accounts uuid[] DEFAULT '{}'::uuid[] NOT NULL,
    salt bytea,
    body text,
    erased_at timestamp with time zone,
    CONSTRAINT audit_texts_check CHECK ((((erased_at IS NULL) = (salt IS NOT NULL)) AND ((erased_at IS NULL) = (body IS NOT NULL)))),
    CONSTRAINT audit_texts_place_check CHECK ((place > 0)),
    CONSTRAINT audit_texts_salt_check CHECK ((octet_length(salt) = 32))
);

COMMENT ON TABLE storehook.audit_texts IS 'the personal part of the audit: account ids, reasons, names; erasing an account empties it';

COMMENT ON COLUMN storehook.audit_texts.accounts IS 'the tokens of the accounts that the text is about';

COMMENT ON COLUMN storehook.audit_texts.body IS 'a JSON object of texts';

CREATE TABLE storehook.booked_attempts (
    id bigint NOT NULL,
    order_id bigint NOT NULL,
    token uuid,
    bundle_id text NOT NULL COLLATE pg_catalog."C",
    product_id text NOT NULL COLLATE pg_catalog."C",
    environment text NOT NULL COLLATE pg_catalog."C",
    day date NOT NULL,
    outcome text NOT NULL COLLATE pg_catalog."C",
    reason text,
    reports integer NOT NULL,
    first_at timestamp with time zone NOT NULL,
    last_at timestamp with time zone NOT NULL,
    last_report bigint NOT NULL,
    written_at timestamp with time zone NOT NULL,
    check_at timestamp with time zone,
    matched_order_id bigint,
    matched_item text COLLATE pg_catalog."C",
    CONSTRAINT booked_attempts_check CHECK ((last_at >= first_at)),
    CONSTRAINT booked_attempts_match_check CHECK (((matched_order_id IS NULL) = (matched_item IS NULL))),
    CONSTRAINT booked_attempts_outcome_check CHECK ((outcome = ANY (ARRAY['pending'::text, 'failed'::text, 'cancelled'::text]))),
    CONSTRAINT booked_attempts_reports_check CHECK ((reports > 0))
);

COMMENT ON TABLE storehook.booked_attempts IS 'attempts to buy that apps reported, each a row of booked_orders. Evidence, but for the match, which dates decide';

COMMENT ON COLUMN storehook.booked_attempts.id IS 'the number of its first report';

COMMENT ON COLUMN storehook.booked_attempts.order_id IS 'its own row of booked_orders: hidden once a transaction completes it';

COMMENT ON COLUMN storehook.booked_attempts.token IS 'the account''s appAccountToken; null once it was erased';

COMMENT ON COLUMN storehook.booked_attempts.bundle_id IS 'the app that has the product in the catalog that was current; empty where none has it, or several';

COMMENT ON COLUMN storehook.booked_attempts.product_id IS 'as the app wrote it';

COMMENT ON COLUMN storehook.booked_attempts.day IS 'of its first report, in the zone of the catalog that was current';

COMMENT ON COLUMN storehook.booked_attempts.outcome IS 'of its latest report; completed is pending until a transaction completes it';

COMMENT ON COLUMN storehook.booked_attempts.reason IS 'the app''s, of its latest report; null once the account was erased';

COMMENT ON COLUMN storehook.booked_attempts.last_report IS 'the number of its latest report';

COMMENT ON COLUMN storehook.booked_attempts.written_at IS 'when a report was booked last';

COMMENT ON COLUMN storehook.booked_attempts.check_at IS 'when to look for its transaction next; null where only another one may change it';

COMMENT ON COLUMN storehook.booked_attempts.matched_order_id IS 'the row of booked_orders with the transaction that completes it';

COMMENT ON COLUMN storehook.booked_attempts.matched_item IS 'which transaction of that';

CREATE TABLE storehook.booked_orders (
    id bigint NOT NULL,
    environment text NOT NULL COLLATE pg_catalog."C",
    bundle_id text NOT NULL COLLATE pg_catalog."C",
    order_key text NOT NULL COLLATE pg_catalog."C",
    original_transaction_id text COLLATE pg_catalog."C",
    originally_at timestamp with time zone NOT NULL,
    day date NOT NULL,
    number integer,
    created_at timestamp with time zone,
    class_id integer,
    plan_type text NOT NULL COLLATE pg_catalog."C",
    status text DEFAULT 'completed'::text NOT NULL COLLATE pg_catalog."C",
    item text COLLATE pg_catalog."C",
    turns_at timestamp with time zone,
    refunded_at timestamp with time zone,
    updated_at timestamp with time zone NOT NULL,
    CONSTRAINT booked_orders_number_check CHECK ((number > 0)),
    CONSTRAINT booked_orders_status_check CHECK ((status = ANY (ARRAY['pending'::text, 'completed'::text, 'failed'::text, 'cancelled'::text, 'partially_refunded'::text, 'refunded'::text])))
)
WITH (fillfactor='85');

COMMENT ON TABLE storehook.booked_orders IS 'one row an order. id, day, number, created_at and updated_at are evidence; the rest is derived from the purchase';

COMMENT ON COLUMN storehook.booked_orders.order_key IS 'the originalTransactionId of what renews itself and of a non-consumable, else the transactionId; of an attempt attempt- and its id';

COMMENT ON COLUMN storehook.booked_orders.original_transaction_id IS 'the purchase; null only of attempts';

COMMENT ON COLUMN storehook.booked_orders.originally_at IS 'the originalPurchaseDate of its first record';

COMMENT ON COLUMN storehook.booked_orders.day IS 'the day of originally_at in the zone of the catalog; it stands once there is a number';

COMMENT ON COLUMN storehook.booked_orders.number IS 'its place within the day, 1 to n without a gap; null until it is dealt';

COMMENT ON COLUMN storehook.booked_orders.created_at IS 'when the number was dealt';

COMMENT ON COLUMN storehook.booked_orders.class_id IS 'what lists filter it by; null where it is hidden: late evidence shows that somebody else paid for it';

COMMENT ON COLUMN storehook.booked_orders.item IS 'the transaction that it shows: the latest that had begun when it was written last';

COMMENT ON COLUMN storehook.booked_orders.turns_at IS 'when a later transaction begins; null where none does';

COMMENT ON COLUMN storehook.booked_orders.refunded_at IS 'the latest refund that stands';

COMMENT ON COLUMN storehook.booked_orders.updated_at IS 'when the latest evidence that changed it was stored';

ALTER TABLE storehook.booked_orders ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME storehook.booked_orders_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE storehook.booked_refunds (
    order_id bigint NOT NULL,
    item text NOT NULL COLLATE pg_catalog."C",
    place smallint NOT NULL,
    type text NOT NULL COLLATE pg_catalog."C",
    at timestamp with time zone NOT NULL,
    amount bigint,
    is_computed boolean NOT NULL,
    heard_at timestamp with time zone NOT NULL,
    CONSTRAINT booked_refunds_type_check CHECK ((type = ANY (ARRAY['refund'::text, 'refund_reversed'::text, 'revoke'::text])))
);

COMMENT ON TABLE storehook.booked_refunds IS 'what was given back, and what of that was taken back again. heard_at is evidence';

COMMENT ON COLUMN storehook.booked_refunds.place IS 'its place among those of the transaction, from 0 on, by the signing of the records';

COMMENT ON COLUMN storehook.booked_refunds.at IS 'the revocationDate; of a reversal, when Apple signed it';

COMMENT ON COLUMN storehook.booked_refunds.amount IS 'in thousandths of the currency, never negative; null where it is not known';

COMMENT ON COLUMN storehook.booked_refunds.is_computed IS 'whether it is a share of the price, which Apple rounds';

COMMENT ON COLUMN storehook.booked_refunds.heard_at IS 'when it was first stored';

CREATE TABLE storehook.booked_stretches (
    order_id bigint NOT NULL,
    item text NOT NULL COLLATE pg_catalog."C",
    place smallint NOT NULL,
    starts_at timestamp with time zone NOT NULL,
    ends_at timestamp with time zone NOT NULL,
    end_reason text COLLATE pg_catalog."C",
    CONSTRAINT booked_stretches_end_reason_check CHECK ((end_reason = ANY (ARRAY['voluntary'::text, 'billing'::text, 'other'::text])))
);

COMMENT ON TABLE storehook.booked_stretches IS 'further times in which a transaction counts: grace that follows billing retry, or from where a full refund was taken back';

COMMENT ON COLUMN storehook.booked_stretches.place IS 'its place among those of the transaction, from 0 on';

COMMENT ON COLUMN storehook.booked_stretches.end_reason IS 'as in booked_transactions';

CREATE TABLE storehook.booked_transactions (
    order_id bigint NOT NULL,
    item text NOT NULL COLLATE pg_catalog."C",
    transaction_id text NOT NULL COLLATE pg_catalog."C",
    product_id text COLLATE pg_catalog."C",
    relation text NOT NULL COLLATE pg_catalog."C",
    follows text COLLATE pg_catalog."C",
    is_within boolean NOT NULL,
    starts_at timestamp with time zone NOT NULL,
    ends_at timestamp with time zone,
    price bigint,
    currency text COLLATE pg_catalog."C",
    storefront text COLLATE pg_catalog."C",
    quantity bigint NOT NULL,
    is_trial boolean NOT NULL,
    is_void boolean NOT NULL,
    revoked_share integer,
    refunded bigint,
    refunded_at timestamp with time zone,
    tier_rank smallint,
    heard_at timestamp with time zone NOT NULL,
    changed_at timestamp with time zone NOT NULL,
    counts_until timestamp with time zone,
    end_reason text COLLATE pg_catalog."C",
    billed_quarters smallint,
    first_ends_at timestamp with time zone,
    is_renewal_off boolean,
    part_of text COLLATE pg_catalog."C",
    CONSTRAINT booked_transactions_billed_quarters_check CHECK ((billed_quarters > 0)),
    CONSTRAINT booked_transactions_end_reason_check CHECK ((end_reason = ANY (ARRAY['voluntary'::text, 'billing'::text, 'other'::text]))),
    CONSTRAINT booked_transactions_is_renewal_off_check CHECK (is_renewal_off),
    CONSTRAINT booked_transactions_relation_check CHECK ((relation = ANY (ARRAY['initial_purchase'::text, 'resubscription'::text, 'renewal'::text, 'change'::text]))),
    CONSTRAINT booked_transactions_revoked_share_check CHECK (((revoked_share >= 0) AND (revoked_share <= 100000)))
);

COMMENT ON TABLE storehook.booked_transactions IS 'one row a paid period, or a purchase of something bought once. tier_rank, heard_at and changed_at are evidence';

COMMENT ON COLUMN storehook.booked_transactions.item IS 'what all records of it have in common: a line item of Apple''s or a transaction';

COMMENT ON COLUMN storehook.booked_transactions.relation IS 'what it is to the one before it; a change is an upgrade, a downgrade or a crossgrade by both tiers, see order_transactions';

COMMENT ON COLUMN storehook.booked_transactions.follows IS 'the item before it';

COMMENT ON COLUMN storehook.booked_transactions.is_within IS 'whether it began before the end of the one before it';

COMMENT ON COLUMN storehook.booked_transactions.price IS 'in thousandths of the currency, as signed; null where no record says it';

COMMENT ON COLUMN storehook.booked_transactions.is_void IS 'whether it never begins: it was charged ahead, and another plan was bought before. No money is counted of it';

COMMENT ON COLUMN storehook.booked_transactions.revoked_share IS 'how much of it is refunded now, in thousandths of a percent; null where Apple refunded a part and does not say how much';

COMMENT ON COLUMN storehook.booked_transactions.refunded IS 'the same in thousandths of the currency; null where it is not known';

COMMENT ON COLUMN storehook.booked_transactions.refunded_at IS 'when the refund that stands was made; null where none stands';

COMMENT ON COLUMN storehook.booked_transactions.tier_rank IS 'the rank of its tier in the catalog that was current when it was first stored; null where that lacked the product';

COMMENT ON COLUMN storehook.booked_transactions.heard_at IS 'when its first record was stored';

COMMENT ON COLUMN storehook.booked_transactions.changed_at IS 'when the latest evidence that changed it was stored';

COMMENT ON COLUMN storehook.booked_transactions.counts_until IS 'from when on it counts no more for recurring revenue: an upgrade, a full refund, the end of grace; null where that is ends_at';

COMMENT ON COLUMN storehook.booked_transactions.end_reason IS 'why nothing follows it, by what Apple said first of its end; null where it said nothing, or something follows';

COMMENT ON COLUMN storehook.booked_transactions.billed_quarters IS 'for how many quarters of a month its payment lasts, where Apple signs that: an offer paid up front, a plan billed by the month; null where the period of the product counts';

COMMENT ON COLUMN storehook.booked_transactions.first_ends_at IS 'the end that Apple signed first, where it moved it since';

COMMENT ON COLUMN storehook.booked_transactions.is_renewal_off IS 'whether auto-renew was off when the trial ended; null where it was not';

COMMENT ON COLUMN storehook.booked_transactions.part_of IS 'the item of the first of the parts of one period, as added seats; null where it is whole';

CREATE TABLE storehook.canaries (
    id bigint NOT NULL,
    environment text NOT NULL COLLATE pg_catalog."C",
    bundle_id text NOT NULL COLLATE pg_catalog."C",
    planned_at timestamp with time zone DEFAULT now() NOT NULL,
    asked_at timestamp with time zone,
    test_token text,
    notification_uuid uuid,
    posted_at timestamp with time zone,
    post_result text,
    stored_at timestamp with time zone,
    applied_at timestamp with time zone,
    settled_at timestamp with time zone,
    outcome text,
    CONSTRAINT canaries_bundle_id_check CHECK ((length(bundle_id) <= 255)),
    CONSTRAINT canaries_check CHECK (((settled_at IS NULL) = (outcome IS NULL))),
    CONSTRAINT canaries_check1 CHECK (((test_token IS NULL) OR (asked_at IS NOT NULL))),
    CONSTRAINT canaries_environment_check CHECK ((length(environment) <= 50)),
    CONSTRAINT canaries_outcome_check CHECK ((outcome ~ '^[a-z0-9_]{1,100}$'::text)),
    CONSTRAINT canaries_post_result_check CHECK ((length(post_result) <= 100)),
    CONSTRAINT canaries_test_token_check CHECK ((length(test_token) <= 10000))
);

COMMENT ON TABLE storehook.canaries IS 'test notifications that Apple was asked for, and how each came through';

COMMENT ON COLUMN storehook.canaries.asked_at IS 'right before Apple was asked';

COMMENT ON COLUMN storehook.canaries.posted_at IS 'Apple''s first attempt to post it, by Apple''s clock';

COMMENT ON COLUMN storehook.canaries.post_result IS 'what Apple says of its last attempt: SUCCESS, or why not';

COMMENT ON COLUMN storehook.canaries.outcome IS 'applied; or dead_letter, recovered (lost, and fetched from Apple''s history), overdue, or the code of why Apple posted none';

ALTER TABLE storehook.canaries ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME storehook.canaries_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE storehook.canary_queue (
    id bigint NOT NULL,
    received_at timestamp with time zone NOT NULL,
    due_at timestamp with time zone NOT NULL,
    attempts smallint DEFAULT 0 NOT NULL,
    lapses smallint DEFAULT 0 NOT NULL,
    lease_owner text,
    lease_token uuid,
    last_reason text,
    CONSTRAINT canary_queue_attempts_check CHECK ((attempts >= 0)),
    CONSTRAINT canary_queue_check CHECK (((lease_owner IS NULL) = (lease_token IS NULL))),
    CONSTRAINT canary_queue_lapses_check CHECK ((lapses >= 0)),
    CONSTRAINT canary_queue_last_reason_check CHECK ((length(last_reason) <= 100)),
    CONSTRAINT canary_queue_lease_owner_check CHECK ((length(lease_owner) <= 200))
)
WITH (fillfactor='70');

CREATE VIEW storehook.canary_status AS
 WITH last AS (
         SELECT DISTINCT ON (canaries.bundle_id, canaries.environment) canaries.bundle_id,
            canaries.environment,
            canaries.asked_at,
            canaries.posted_at,
            canaries.stored_at,
            canaries.applied_at
           FROM storehook.canaries
          WHERE (canaries.outcome = 'applied'::text)
          ORDER BY canaries.bundle_id, canaries.environment, canaries.planned_at DESC
        )
 SELECT scope.environment,
    scope.bundle_id,
    last.asked_at,
    last.posted_at,
    last.stored_at,
    last.applied_at,
    missing.since AS missing_since,
    latest.outcome AS latest_outcome,
    latest.post_result AS latest_post_result
   FROM (((( SELECT DISTINCT canaries.bundle_id,
            canaries.environment
           FROM storehook.canaries) scope
     LEFT JOIN last USING (bundle_id, environment))
     CROSS JOIN LATERAL ( SELECT min(c.asked_at) AS since
           FROM storehook.canaries c
          WHERE ((c.bundle_id = scope.bundle_id) AND (c.environment = scope.environment) AND (c.test_token IS NOT NULL) AND ((c.outcome IS NULL) OR (c.outcome = ANY (ARRAY['dead_letter'::text, 'recovered'::text, 'overdue'::text]))) AND (c.asked_at > COALESCE(last.asked_at, '-infinity'::timestamp with time zone)))) missing)
     LEFT JOIN LATERAL ( SELECT c.outcome,
            c.post_result
           FROM storehook.canaries c
          WHERE ((c.bundle_id = scope.bundle_id) AND (c.environment = scope.environment) AND (c.outcome IS NOT NULL))
          ORDER BY c.planned_at DESC
         LIMIT 1) latest ON (true));

COMMENT ON VIEW storehook.canary_status IS 'of each app and environment: the test notification that came through last, and since when one is missing';

CREATE TABLE storehook.catalog_state (
    only_row boolean DEFAULT true NOT NULL,
    current_version bigint,
    preparing_version bigint,
    is_linked boolean DEFAULT false NOT NULL,
    CONSTRAINT catalog_state_check CHECK (((current_version IS NULL) OR is_linked)),
    CONSTRAINT catalog_state_only_row_check CHECK (only_row)
);

COMMENT ON COLUMN storehook.catalog_state.preparing_version IS 'the one that is to become current once every account is derived under it';

COMMENT ON COLUMN storehook.catalog_state.is_linked IS 'whether account_lines holds all purchases: nobody keeps it before the first catalog is applied';

CREATE TABLE storehook.catalogs (
    version bigint NOT NULL,
    source text NOT NULL,
    applied_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    applied_by text NOT NULL,
    current_from timestamp with time zone,
    product_keys text[],
    CONSTRAINT catalogs_applied_by_check CHECK (((length(applied_by) >= 1) AND (length(applied_by) <= 200))),
    CONSTRAINT catalogs_source_check CHECK (((length(source) >= 1) AND (length(source) <= 1048576)))
);

COMMENT ON TABLE storehook.catalogs IS 'what is sold and what it gives: each file that was applied, never changed';

COMMENT ON COLUMN storehook.catalogs.current_from IS 'since when it is or was current; -infinity for the first that counts; null where it never was, or long ago';

COMMENT ON COLUMN storehook.catalogs.product_keys IS 'bundle id and product id of each product, with a space between; null where an earlier release applied it, until a worker has read it';

ALTER TABLE storehook.catalogs ALTER COLUMN version ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME storehook.catalogs_version_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE storehook.closed_cells (
    closed_id bigint NOT NULL,
    measure text NOT NULL COLLATE pg_catalog."C",
    day date NOT NULL,
    bundle_id text NOT NULL COLLATE pg_catalog."C",
    product_id text NOT NULL COLLATE pg_catalog."C",
    storefront text NOT NULL COLLATE pg_catalog."C",
    currency text NOT NULL COLLATE pg_catalog."C",
    count bigint NOT NULL,
    free bigint NOT NULL,
    unknown bigint NOT NULL,
    amount numeric NOT NULL
);

COMMENT ON TABLE storehook.closed_cells IS 'the values of a closed month: sums of its rows by day; product, country and currency are empty where no record says them';

CREATE TABLE storehook.closed_months (
    id bigint NOT NULL,
    month text NOT NULL COLLATE pg_catalog."C",
    first_day date NOT NULL,
    last_day date NOT NULL,
    zone text NOT NULL COLLATE pg_catalog."C",
    catalog_version bigint,
    is_proven boolean NOT NULL,
    row_count bigint NOT NULL,
    closed_at timestamp with time zone DEFAULT now() NOT NULL,
    closed_by text NOT NULL,
    closed_why text,
    reopened_at timestamp with time zone,
    reopened_by text,
    reopened_why text,
    commission_version bigint,
    measures text[] DEFAULT '{order,sale,refunded_sale,refund,reversal,late_sale,late_refund,late_reversal,new,reactivation,expansion,contraction,churn_voluntary,churn_billing,churn_other,customer_new,customer_back,customer_back_soon,customer_lost_voluntary,customer_lost_billing,customer_lost_other,standing,standing_customer}'::text[] NOT NULL COLLATE pg_catalog."C",
    CONSTRAINT closed_months_closed_by_check CHECK (((length(closed_by) >= 1) AND (length(closed_by) <= 200))),
    CONSTRAINT closed_months_closed_why_check CHECK (((length(closed_why) >= 1) AND (length(closed_why) <= 1000))),
    CONSTRAINT closed_months_days_check CHECK ((first_day <= last_day)),
    CONSTRAINT closed_months_month_check CHECK ((month ~ '^[0-9]{4}-(FM)?(0[1-9]|1[0-2])$'::text)),
    CONSTRAINT closed_months_proof_check CHECK ((is_proven OR (closed_why IS NOT NULL))),
    CONSTRAINT closed_months_reopened_by_check CHECK (((length(reopened_by) >= 1) AND (length(reopened_by) <= 200))),
    CONSTRAINT closed_months_reopened_check CHECK ((((reopened_at IS NULL) = (reopened_by IS NULL)) AND ((reopened_at IS NULL) = (reopened_why IS NULL)))),
    CONSTRAINT closed_months_reopened_why_check CHECK (((length(reopened_why) >= 1) AND (length(reopened_why) <= 1000))),
    CONSTRAINT closed_months_row_count_check CHECK ((row_count >= 0))
);

COMMENT ON TABLE storehook.closed_months IS 'months of figures that were closed, in Production; those that were opened again, too';

COMMENT ON COLUMN storehook.closed_months.month IS 'of the calendar, as 2026-10, or of Apple''s fiscal year, as 2026-FM10';

COMMENT ON COLUMN storehook.closed_months.zone IS 'whose days its days are';

COMMENT ON COLUMN storehook.closed_months.catalog_version IS 'the version of the catalog that workers summed its figures by; of months that an earlier release closed, the current one of that time; null before the first';

COMMENT ON COLUMN storehook.closed_months.is_proven IS 'whether it was proven that all of Apple''s notifications until its end were here, of every app with a key';

COMMENT ON COLUMN storehook.closed_months.row_count IS 'how many rows closed_rows has of it';

COMMENT ON COLUMN storehook.closed_months.closed_why IS 'why it was closed although it was not proven';

COMMENT ON COLUMN storehook.closed_months.commission_version IS 'the commission table that counted; null while that was the release''s own, and of months that were closed before there was one';

COMMENT ON COLUMN storehook.closed_months.measures IS 'the measures that it has on record, also those without rows';

ALTER TABLE storehook.closed_months ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME storehook.closed_months_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE storehook.closed_rows (
    closed_id bigint NOT NULL,
    measure text NOT NULL COLLATE pg_catalog."C",
    order_id bigint NOT NULL,
    item text NOT NULL COLLATE pg_catalog."C",
    place integer NOT NULL,
    at timestamp with time zone NOT NULL,
    bundle_id text NOT NULL COLLATE pg_catalog."C",
    product_id text COLLATE pg_catalog."C",
    storefront text COLLATE pg_catalog."C",
    currency text COLLATE pg_catalog."C",
    amount bigint,
    transaction_id text COLLATE pg_catalog."C"
);

COMMENT ON TABLE storehook.closed_rows IS 'the rows that the figures of a closed month counted';

CREATE TABLE storehook.cohort_cells (
    zone text NOT NULL COLLATE pg_catalog."C",
    day date NOT NULL,
    environment text NOT NULL COLLATE pg_catalog."C",
    bundle_id text NOT NULL COLLATE pg_catalog."C",
    months smallint NOT NULL,
    due bigint NOT NULL,
    retained bigint NOT NULL,
    CONSTRAINT cohort_cells_due_check CHECK ((due > 0)),
    CONSTRAINT cohort_cells_months_check CHECK (((months >= 0) AND (months <= 36))),
    CONSTRAINT cohort_cells_retained_check CHECK (((retained >= 0) AND (retained <= due)))
);

COMMENT ON TABLE storehook.cohort_cells IS 'what became of the customers of a day (customer_new in figure_cells), as soon as the day so many months later has ended';

COMMENT ON COLUMN storehook.cohort_cells.months IS 'how many months later: on the same day of the month, or the last one of a month that has none';

COMMENT ON COLUMN storehook.cohort_cells.due IS 'how many customers there are of the day';

COMMENT ON COLUMN storehook.cohort_cells.retained IS 'how many of them had monthly recurring revenue at the end of that later day';

CREATE TABLE storehook.commissions (
    version bigint NOT NULL,
    source text NOT NULL,
    digest bytea NOT NULL,
    applied_at timestamp with time zone DEFAULT now() NOT NULL,
    applied_by text NOT NULL,
    CONSTRAINT commissions_applied_by_check CHECK (((length(applied_by) >= 1) AND (length(applied_by) <= 200))),
    CONSTRAINT commissions_digest_check CHECK ((length(digest) = 32))
);

COMMENT ON TABLE storehook.commissions IS 'commission tables that operators applied: the last one counts, and without any the one that the release has; inputs of figures, never their results';

COMMENT ON COLUMN storehook.commissions.version IS '1 to n without a gap';

COMMENT ON COLUMN storehook.commissions.source IS 'the file, word for word (YAML)';

COMMENT ON COLUMN storehook.commissions.digest IS 'SHA-256 of the file';

CREATE TABLE storehook.consent_texts (
    id bigint NOT NULL,
    digest bytea NOT NULL,
    text text NOT NULL,
    CONSTRAINT consent_texts_digest_check CHECK ((octet_length(digest) = 32)),
    CONSTRAINT consent_texts_text_check CHECK (((length(text) >= 1) AND (length(text) <= 10000)))
);

COMMENT ON TABLE storehook.consent_texts IS 'what customers were shown when they agreed that Apple is sent data about use, or withdrew that';

COMMENT ON COLUMN storehook.consent_texts.digest IS 'SHA-256 of the text in UTF-8';

ALTER TABLE storehook.consent_texts ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME storehook.consent_texts_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE storehook.consents_superseded (
    id bigint NOT NULL,
    at timestamp with time zone NOT NULL
);

COMMENT ON TABLE storehook.consents_superseded IS 'consents that count no more, until they are deleted or found to be what an answer to Apple rests on';

CREATE TABLE storehook.dead_letters (
    id bigint NOT NULL,
    outbox_id bigint NOT NULL,
    received_at timestamp with time zone NOT NULL,
    notification_uuid uuid,
    type text,
    subtype text,
    category text NOT NULL,
    reason text NOT NULL,
    message text NOT NULL,
    attempts smallint NOT NULL,
    dead_at timestamp with time zone DEFAULT now() NOT NULL,
    resolution text DEFAULT 'open'::text NOT NULL,
    resolved_at timestamp with time zone,
    resolved_by text,
    resolved_why text,
    kind text DEFAULT 'notification'::text NOT NULL,
    source text DEFAULT 'webhook'::text NOT NULL,
    bundle_id text COLLATE pg_catalog."C",
    job_id bigint,
    CONSTRAINT dead_letters_attempts_check CHECK ((attempts >= 0)),
    CONSTRAINT dead_letters_category_check CHECK ((category = ANY (ARRAY['unverified'::text, 'unprocessable'::text]))),
    CONSTRAINT dead_letters_check CHECK (((resolution = 'open'::text) = (resolved_at IS NULL))),
    CONSTRAINT dead_letters_check1 CHECK (((resolved_at IS NULL) = (resolved_by IS NULL))),
    CONSTRAINT dead_letters_check2 CHECK (((resolution <> 'discarded'::text) OR (resolved_why IS NOT NULL))),
    CONSTRAINT dead_letters_message_check CHECK ((length(message) <= 1000)),
    CONSTRAINT dead_letters_reason_check CHECK ((reason ~ '^[a-z0-9_]{1,60}$'::text)),
    CONSTRAINT dead_letters_resolution_check CHECK ((resolution = ANY (ARRAY['open'::text, 'replayed'::text, 'discarded'::text]))),
    CONSTRAINT dead_letters_resolved_by_check CHECK ((length(resolved_by) <= 200)),
    CONSTRAINT dead_letters_resolved_why_check CHECK ((length(resolved_why) <= 1000)),
    CONSTRAINT dead_letters_subtype_check CHECK ((length(subtype) <= 100)),
    CONSTRAINT dead_letters_type_check CHECK ((length(type) <= 100))
);

COMMENT ON COLUMN storehook.dead_letters.notification_uuid IS 'as the letter itself says: for an unverified one nobody vouches for it, nor for type and subtype';

COMMENT ON COLUMN storehook.dead_letters.category IS 'unverified: we could not trust it; unprocessable: we trust it and could not apply it';

COMMENT ON COLUMN storehook.dead_letters.bundle_id IS 'the app, as the letter itself says: for an unverified one nobody vouches for it; null also where an earlier release wrote the letter';

COMMENT ON COLUMN storehook.dead_letters.job_id IS 'the job that replayed or discarded it; null where a person did so letter by letter';

CREATE TABLE storehook.duplicates (
    outbox_id bigint NOT NULL,
    notification_uuid uuid,
    settled_at timestamp with time zone DEFAULT now() NOT NULL,
    digest bytea
);

COMMENT ON COLUMN storehook.duplicates.digest IS 'of a record that came by itself: its key in records';

CREATE TABLE storehook.notifications (
    notification_uuid uuid NOT NULL,
    outbox_id bigint NOT NULL,
    type text NOT NULL,
    subtype text,
    environment text NOT NULL COLLATE pg_catalog."C",
    bundle_id text NOT NULL COLLATE pg_catalog."C",
    app_apple_id bigint,
    original_transaction_id text COLLATE pg_catalog."C",
    transaction_id text COLLATE pg_catalog."C",
    apple_status smallint,
    signed_at timestamp with time zone NOT NULL,
    received_at timestamp with time zone NOT NULL,
    applied_at timestamp with time zone DEFAULT now() NOT NULL,
    outcome text NOT NULL,
    consumption_request_reason text,
    details json,
    source text DEFAULT 'webhook'::text NOT NULL,
    CONSTRAINT notifications_outcome_check CHECK ((outcome = ANY (ARRAY['applied'::text, 'parked'::text])))
);

COMMENT ON TABLE storehook.notifications IS 'every verified notification, once: the idempotency key and the audit. parked: of a type this release does not know';

COMMENT ON COLUMN storehook.notifications.details IS 'the summary, the external purchase token, or the app data part without its signed text; null for the rest';

COMMENT ON COLUMN storehook.notifications.source IS 'which way it came the first time';

CREATE SEQUENCE storehook.outbox_id
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;

CREATE TABLE storehook.outbox (
    id bigint DEFAULT nextval('storehook.outbox_id'::regclass) NOT NULL,
    received_at timestamp with time zone DEFAULT now() NOT NULL,
    body bytea NOT NULL,
    packing smallint DEFAULT 0 NOT NULL,
    kind smallint DEFAULT 0 NOT NULL,
    source smallint DEFAULT 0 NOT NULL,
    CONSTRAINT outbox_packing_check CHECK ((packing = ANY (ARRAY[0, 1])))
)
PARTITION BY RANGE (received_at);
ALTER TABLE ONLY storehook.outbox ALTER COLUMN body SET STORAGE EXTERNAL;

COMMENT ON TABLE storehook.outbox IS 'evidence as it came, byte for byte once it is unpacked: mostly the compact JWS of POSTs that were answered 200; append-only, one partition a day (UTC)';

COMMENT ON COLUMN storehook.outbox.packing IS '0: body is as it was posted; 1: it names headers in signature_headers';

COMMENT ON COLUMN storehook.outbox.kind IS '0: notification; 1: transaction; 2: renewal info; 3: app transaction (each a compact JWS); 4: old receipt, or verifyReceipt''s answer to one; 5: what such an answer says of a transaction; 6: of a subscription''s future; 4 to 6 unsigned';

COMMENT ON COLUMN storehook.outbox.source IS '0: webhook, Apple posted it; 1: history, Apple''s notification history; 2: api, an answer of Apple''s servers; 3: client, an app or a backend handed it in; 4: operator, storehook''s own command';

CREATE TABLE storehook.outbox_acknowledged (
    day date NOT NULL,
    rows bigint NOT NULL,
    CONSTRAINT outbox_acknowledged_rows_check CHECK ((rows >= 0))
);

COMMENT ON TABLE storehook.outbox_acknowledged IS 'how many rows were stored in each day (UTC), by the counter that stands in the storing statement itself; -infinity: all that was there when counting began';

CREATE TABLE storehook.outbox_default (
    id bigint DEFAULT nextval('storehook.outbox_id'::regclass) NOT NULL,
    received_at timestamp with time zone DEFAULT now() NOT NULL,
    body bytea NOT NULL,
    packing smallint DEFAULT 0 NOT NULL,
    kind smallint DEFAULT 0 NOT NULL,
    source smallint DEFAULT 0 NOT NULL,
    CONSTRAINT outbox_packing_check CHECK ((packing = ANY (ARRAY[0, 1])))
);
ALTER TABLE ONLY storehook.outbox_default ALTER COLUMN body SET STORAGE EXTERNAL;

CREATE VIEW storehook.outbox_days AS
 WITH partitions AS (
         SELECT p.day
           FROM ( SELECT
                        CASE
                            WHEN (c.relname ~ '^outbox_[0-9]{8}$'::text) THEN to_date("right"((c.relname)::text, 8), 'YYYYMMDD'::text)
                            ELSE NULL::date
                        END AS day
                   FROM (pg_inherits i
                     JOIN pg_class c ON ((c.oid = i.inhrelid)))
                  WHERE (i.inhparent = ('storehook.outbox'::regclass)::oid)) p
          WHERE (p.day IS NOT NULL)
        ), strays AS (
         SELECT DISTINCT ((outbox_default.received_at AT TIME ZONE 'UTC'::text))::date AS day
           FROM storehook.outbox_default
        )
 SELECT day,
    (partitions.day IS NOT NULL) AS has_partition,
    (strays.day IS NOT NULL) AS has_strays
   FROM (partitions
     FULL JOIN strays USING (day));

COMMENT ON COLUMN storehook.outbox_days.has_strays IS 'rows of it stand in the default partition: the day had none of its own, or it was dropped and they were still to do';

CREATE TABLE storehook.outbox_dropped (
    day date NOT NULL,
    received bigint NOT NULL,
    applied bigint NOT NULL,
    duplicate bigint NOT NULL,
    parked bigint NOT NULL,
    discarded bigint NOT NULL,
    dropped_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT outbox_dropped_check CHECK ((LEAST(applied, duplicate, parked, discarded) >= 0)),
    CONSTRAINT outbox_dropped_check1 CHECK ((received = (((applied + duplicate) + parked) + discarded)))
);

COMMENT ON TABLE storehook.outbox_dropped IS 'days (UTC) whose bytes retention has dropped, and where their notifications were; written with the drop itself';

CREATE TABLE storehook.records (
    digest bytea NOT NULL,
    outbox_id bigint NOT NULL,
    kind text NOT NULL,
    source text NOT NULL,
    environment text COLLATE pg_catalog."C",
    bundle_id text COLLATE pg_catalog."C",
    original_transaction_id text COLLATE pg_catalog."C",
    transaction_id text COLLATE pg_catalog."C",
    signed_at timestamp with time zone,
    received_at timestamp with time zone NOT NULL,
    applied_at timestamp with time zone DEFAULT now() NOT NULL,
    outcome text NOT NULL,
    CONSTRAINT records_check CHECK (((kind = 'receipt'::text) = (environment IS NULL))),
    CONSTRAINT records_check1 CHECK (((kind = 'receipt'::text) = (bundle_id IS NULL))),
    CONSTRAINT records_check2 CHECK (((kind = 'receipt'::text) = (signed_at IS NULL))),
    CONSTRAINT records_digest_check CHECK ((octet_length(digest) = 32)),
    CONSTRAINT records_outcome_check CHECK ((outcome = ANY (ARRAY['applied'::text, 'parked'::text]))),
    CONSTRAINT records_source_check CHECK ((source = ANY (ARRAY['webhook'::text, 'history'::text, 'api'::text, 'client'::text, 'operator'::text])))
);

COMMENT ON TABLE storehook.records IS 'every verified record that came by itself, every receipt, and what verifyReceipt''s unsigned answers say of each purchase, once; its own digest is the idempotency key';

COMMENT ON COLUMN storehook.records.digest IS 'SHA-256 of the JSON that was signed, as in transactions.digest; of what is unsigned, of its bytes';

COMMENT ON COLUMN storehook.records.source IS 'which way it came the first time';

COMMENT ON COLUMN storehook.records.bundle_id IS 'as the record says; renewal info names no app: that of the purchase it is about';

COMMENT ON COLUMN storehook.records.signed_at IS 'of what verifyReceipt says, which nobody signs: when it was answered';

COMMENT ON COLUMN storehook.records.outcome IS 'parked: this release does nothing with it';

CREATE VIEW storehook.outbox_places AS
 SELECT outbox_queue.id AS outbox_id,
    'pending'::text AS place
   FROM storehook.outbox_queue
UNION ALL
 SELECT notifications.outbox_id,
    notifications.outcome AS place
   FROM storehook.notifications
UNION ALL
 SELECT records.outbox_id,
    records.outcome AS place
   FROM storehook.records
UNION ALL
 SELECT duplicates.outbox_id,
    'duplicate'::text AS place
   FROM storehook.duplicates
UNION ALL
 SELECT dead_letters.outbox_id,
        CASE dead_letters.resolution
            WHEN 'open'::text THEN 'dead'::text
            ELSE 'discarded'::text
        END AS place
   FROM storehook.dead_letters
  WHERE (dead_letters.resolution <> 'replayed'::text);

CREATE TABLE storehook.outbox_settled (
    day date NOT NULL,
    received bigint NOT NULL,
    applied bigint NOT NULL,
    duplicate bigint NOT NULL,
    parked bigint NOT NULL,
    discarded bigint NOT NULL,
    open_ids bigint[] NOT NULL,
    changes bigint NOT NULL,
    counted_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT outbox_settled_check CHECK ((LEAST(applied, duplicate, parked, discarded, changes) >= 0)),
    CONSTRAINT outbox_settled_check1 CHECK ((received = ((((applied + duplicate) + parked) + discarded) + cardinality(open_ids))))
);

COMMENT ON TABLE storehook.outbox_settled IS 'days (UTC) that are over, as they were counted; written by settle_outbox_day, read by the view conservation';

COMMENT ON COLUMN storehook.outbox_settled.open_ids IS 'notifications whose way had not ended by then (pending, dead) or that were not where they should be; counted live';

COMMENT ON COLUMN storehook.outbox_settled.changes IS 'rows ever written to the day''s partition by then: one that was written to since is counted anew';

CREATE TABLE storehook.outbox_stored (
    stored_at timestamp with time zone DEFAULT now() NOT NULL,
    rows integer NOT NULL,
    CONSTRAINT outbox_stored_rows_check CHECK ((rows > 0))
)
WITH (autovacuum_vacuum_scale_factor='0', autovacuum_vacuum_threshold='50000', autovacuum_vacuum_insert_scale_factor='0', autovacuum_vacuum_insert_threshold='1000000');

ALTER TABLE ONLY storehook.outbox_stored REPLICA IDENTITY FULL;

COMMENT ON TABLE storehook.outbox_stored IS 'how many rows each commit stored, of the last hour or two; sum_outbox_stored adds them to outbox_acknowledged';

CREATE VIEW storehook.conservation AS
 WITH settled AS (
         SELECT s.day,
            s.received,
            s.applied,
            s.duplicate,
            s.parked,
            s.discarded,
            s.open_ids,
            s.changes,
            s.counted_at
           FROM storehook.outbox_settled s
          WHERE ((NOT (EXISTS ( SELECT
                   FROM storehook.outbox_dropped gone
                  WHERE (gone.day = s.day)))) AND (storehook.outbox_day_changes(s.day) <= s.changes))
        ), unsettled AS MATERIALIZED (
         SELECT outbox_days.day
           FROM storehook.outbox_days
        EXCEPT
         SELECT settled.day
           FROM settled
        ), live AS (
         SELECT c.received,
            c.pending,
            c.applied,
            c.duplicate,
            c.parked,
            c.dead,
            c.discarded,
            c.missing,
            c.doubled,
            c.open_ids
           FROM (unsettled u
             CROSS JOIN LATERAL storehook.count_outbox_day(u.day, false) c(received, pending, applied, duplicate, parked, dead, discarded, missing, doubled, open_ids))
        ), open AS (
         SELECT p.places,
            p.place
           FROM ((settled s
             CROSS JOIN LATERAL unnest(s.open_ids) o(id))
             CROSS JOIN LATERAL ( SELECT count(*) AS places,
                    min(outbox_places.place) AS place
                   FROM storehook.outbox_places
                  WHERE (outbox_places.outbox_id = o.id)) p)
        ), parts AS (
         SELECT live.received,
            live.pending,
            live.applied,
            live.duplicate,
            live.parked,
            live.dead,
            live.discarded,
            live.missing,
            live.doubled
           FROM live
        UNION ALL
         SELECT settled.received,
            0,
            settled.applied,
            settled.duplicate,
            settled.parked,
            0,
            settled.discarded,
            0,
            0
           FROM settled
        UNION ALL
         SELECT outbox_dropped.received,
            0,
            outbox_dropped.applied,
            outbox_dropped.duplicate,
            outbox_dropped.parked,
            0,
            outbox_dropped.discarded,
            0,
            0
           FROM storehook.outbox_dropped
        UNION ALL
         SELECT 0,
            count(*) FILTER (WHERE (open.place = 'pending'::text)) AS count,
            count(*) FILTER (WHERE (open.place = 'applied'::text)) AS count,
            count(*) FILTER (WHERE (open.place = 'duplicate'::text)) AS count,
            count(*) FILTER (WHERE (open.place = 'parked'::text)) AS count,
            count(*) FILTER (WHERE (open.place = 'dead'::text)) AS count,
            count(*) FILTER (WHERE (open.place = 'discarded'::text)) AS count,
            count(*) FILTER (WHERE (open.places = 0)) AS count,
            count(*) FILTER (WHERE (open.places > 1)) AS count
           FROM open
        ), sums AS (
         SELECT (COALESCE(sum(parts.received), (0)::numeric))::bigint AS received,
            (COALESCE(sum(parts.pending), (0)::numeric))::bigint AS pending,
            (COALESCE(sum(parts.applied), (0)::numeric))::bigint AS applied,
            (COALESCE(sum(parts.duplicate), (0)::numeric))::bigint AS duplicate,
            (COALESCE(sum(parts.parked), (0)::numeric))::bigint AS parked,
            (COALESCE(sum(parts.dead), (0)::numeric))::bigint AS dead,
            (COALESCE(sum(parts.discarded), (0)::numeric))::bigint AS discarded,
            (COALESCE(sum(parts.missing), (0)::numeric))::bigint AS missing,
            (COALESCE(sum(parts.doubled), (0)::numeric))::bigint AS doubled
           FROM parts
        ), counted AS (
         SELECT ((( SELECT COALESCE(sum(outbox_acknowledged.rows), (0)::numeric) AS "coalesce"
                   FROM storehook.outbox_acknowledged) + (( SELECT COALESCE(sum(outbox_stored.rows), (0)::bigint) AS "coalesce"
                   FROM storehook.outbox_stored))::numeric))::bigint AS acknowledged
        ), queued AS (
         SELECT count(*) AS rows,
            count(*) FILTER (WHERE (outbox_queue.last_reason = 'header_missing'::text)) AS waiting_for_header
           FROM storehook.outbox_queue
        )
 SELECT sums.received,
    sums.pending,
    sums.applied,
    sums.duplicate,
    sums.parked,
    sums.dead,
    sums.discarded,
    (sums.missing + GREATEST((counted.acknowledged - sums.received), (0)::bigint)) AS missing,
    sums.doubled,
    counted.acknowledged,
    GREATEST(((queued.rows - sums.pending) - sums.doubled), (0)::bigint) AS without_bytes,
    queued.waiting_for_header
   FROM sums,
    counted,
    queued;

CREATE VIEW storehook.conservation_audit AS
 WITH located AS (
         SELECT o.id,
            count(p.place) AS places,
            min(p.place) AS place
           FROM (storehook.outbox o
             LEFT JOIN storehook.outbox_places p ON ((p.outbox_id = o.id)))
          GROUP BY o.id
        ), here AS (
         SELECT count(*) AS received,
            count(*) FILTER (WHERE (located.place = 'pending'::text)) AS pending,
            count(*) FILTER (WHERE (located.place = 'applied'::text)) AS applied,
            count(*) FILTER (WHERE (located.place = 'duplicate'::text)) AS duplicate,
            count(*) FILTER (WHERE (located.place = 'parked'::text)) AS parked,
            count(*) FILTER (WHERE (located.place = 'dead'::text)) AS dead,
            count(*) FILTER (WHERE (located.place = 'discarded'::text)) AS discarded,
            count(*) FILTER (WHERE (located.places = 0)) AS missing,
            count(*) FILTER (WHERE (located.places > 1)) AS doubled
           FROM located
        ), gone AS (
         SELECT (COALESCE(sum(outbox_dropped.received), (0)::numeric))::bigint AS received,
            (COALESCE(sum(outbox_dropped.applied), (0)::numeric))::bigint AS applied,
            (COALESCE(sum(outbox_dropped.duplicate), (0)::numeric))::bigint AS duplicate,
            (COALESCE(sum(outbox_dropped.parked), (0)::numeric))::bigint AS parked,
            (COALESCE(sum(outbox_dropped.discarded), (0)::numeric))::bigint AS discarded
           FROM storehook.outbox_dropped
        ), counted AS (
         SELECT ((( SELECT COALESCE(sum(outbox_acknowledged.rows), (0)::numeric) AS "coalesce"
                   FROM storehook.outbox_acknowledged) + (( SELECT COALESCE(sum(outbox_stored.rows), (0)::bigint) AS "coalesce"
                   FROM storehook.outbox_stored))::numeric))::bigint AS acknowledged
        ), queued AS (
         SELECT count(*) FILTER (WHERE (NOT (EXISTS ( SELECT
                   FROM storehook.outbox o
                  WHERE (o.id = q.id))))) AS without_bytes,
            count(*) FILTER (WHERE (q.last_reason = 'header_missing'::text)) AS waiting_for_header
           FROM storehook.outbox_queue q
        )
 SELECT (here.received + gone.received) AS received,
    here.pending,
    (here.applied + gone.applied) AS applied,
    (here.duplicate + gone.duplicate) AS duplicate,
    (here.parked + gone.parked) AS parked,
    here.dead,
    (here.discarded + gone.discarded) AS discarded,
    (here.missing + GREATEST(((counted.acknowledged - here.received) - gone.received), (0)::bigint)) AS missing,
    here.doubled,
    counted.acknowledged,
    queued.without_bytes,
    queued.waiting_for_header
   FROM here,
    gone,
    counted,
    queued;

COMMENT ON VIEW storehook.conservation_audit IS 'conservation, counted from every row there is; for audits: takes seconds for each million notifications';

CREATE TABLE storehook.console_sessions (
    digest bytea NOT NULL,
    member_id bigint NOT NULL,
    begun_at timestamp with time zone DEFAULT now() NOT NULL,
    seen_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT console_sessions_check CHECK ((seen_at >= begun_at)),
    CONSTRAINT console_sessions_digest_check CHECK ((octet_length(digest) = 32))
);

COMMENT ON TABLE storehook.console_sessions IS 'who is logged in to the pages of the console: sessions by the digests of their secrets';

CREATE TABLE storehook.one_time_purchases (
    environment text NOT NULL COLLATE pg_catalog."C",
    bundle_id text NOT NULL COLLATE pg_catalog."C",
    original_transaction_id text NOT NULL COLLATE pg_catalog."C",
    kind text NOT NULL,
    product_id text,
    ownership text,
    app_account_token uuid,
    transaction_id text NOT NULL,
    purchased_at timestamp with time zone NOT NULL,
    expires_at timestamp with time zone,
    revoked_at timestamp with time zone,
    quantity bigint NOT NULL,
    revoked_share bigint NOT NULL,
    gaps text,
    sales text,
    earlier_accounts text,
    revocation_reason smallint,
    first_stored_at timestamp with time zone,
    last_stored_at timestamp with time zone,
    CONSTRAINT one_time_purchases_kind_check CHECK ((kind = ANY (ARRAY['non_consumable'::text, 'non_renewing'::text, 'consumable'::text])))
)
WITH (fillfactor='90');

COMMENT ON COLUMN storehook.one_time_purchases.revoked_share IS 'how much of it was taken back, in thousandths of a percent, rounded down: 0 while it stands, 100000 for all of it';

COMMENT ON COLUMN storehook.one_time_purchases.gaps IS 'when it was not held in between, refunded until that was reversed or it was bought again: from/until in milliseconds since 1970';

COMMENT ON COLUMN storehook.one_time_purchases.sales IS 'where it was paid for more than once: of each sale, as JSON, its transaction, how many, and its refund; else null';

COMMENT ON COLUMN storehook.one_time_purchases.earlier_accounts IS 'the accounts that were signed into it before app_account_token: until/account, in milliseconds since 1970, separated by spaces; null for none';

COMMENT ON COLUMN storehook.one_time_purchases.revocation_reason IS 'why Apple refunded: 0 another reason, 1 an issue with the app; null while it stands, or where Apple does not say';

COMMENT ON COLUMN storehook.one_time_purchases.first_stored_at IS 'as in subscriptions';

COMMENT ON COLUMN storehook.one_time_purchases.last_stored_at IS 'as in subscriptions';

CREATE VIEW storehook.consumable_balances AS
 SELECT p.environment,
    p.bundle_id,
    p.app_account_token,
    p.product_id,
    (sum(p.quantity))::bigint AS bought,
    (div(sum(p.revoked_parts), (100000)::numeric))::bigint AS revoked,
    (div(sum((((p.quantity * 100000))::numeric - p.revoked_parts)), (100000)::numeric))::bigint AS balance,
    (sum(p.revoked_parts))::bigint AS revoked_parts,
    (sum((((p.quantity * 100000))::numeric - p.revoked_parts)))::bigint AS balance_parts
   FROM ( SELECT l.token AS app_account_token,
            o.environment,
            o.bundle_id,
            o.product_id,
            o.quantity,
            COALESCE(( SELECT sum((s.quantity * s.revoked_share)) AS sum
                   FROM json_to_recordset((o.sales)::json) s(quantity bigint, revoked_share bigint)), ((o.quantity * o.revoked_share))::numeric) AS revoked_parts
           FROM (( SELECT account_lines.token,
                    account_lines.environment,
                    account_lines.bundle_id,
                    account_lines.original_transaction_id
                   FROM storehook.account_lines
                UNION
                 SELECT one_time_purchases.app_account_token,
                    one_time_purchases.environment,
                    one_time_purchases.bundle_id,
                    one_time_purchases.original_transaction_id
                   FROM storehook.one_time_purchases
                  WHERE ((one_time_purchases.kind = 'consumable'::text) AND (one_time_purchases.app_account_token IS NOT NULL))
                UNION
                 SELECT NULL::uuid AS uuid,
                    one_time_purchases.environment,
                    one_time_purchases.bundle_id,
                    one_time_purchases.original_transaction_id
                   FROM storehook.one_time_purchases
                  WHERE (one_time_purchases.kind = 'consumable'::text)) l
             JOIN storehook.one_time_purchases o ON (((o.original_transaction_id = l.original_transaction_id) AND (o.bundle_id = l.bundle_id) AND (o.environment = l.environment) AND (o.kind = 'consumable'::text))))
          WHERE (NOT (l.token IS DISTINCT FROM COALESCE(( SELECT b.token
                   FROM storehook.purchase_bindings b
                  WHERE ((b.original_transaction_id = o.original_transaction_id) AND (b.bundle_id = o.bundle_id) AND (b.environment = o.environment) AND (b.kind = 'staff'::text) AND (NOT (EXISTS ( SELECT
                           FROM storehook.purchase_bindings e
                          WHERE ((e.original_transaction_id = b.original_transaction_id) AND (e.bundle_id = b.bundle_id) AND (e.environment = b.environment) AND (e.kind = 'erasure'::text) AND (ROW(e.at, e.id) > ROW(b.at, b.id)))))))
                  ORDER BY b.at DESC, b.id DESC
                 LIMIT 1), ( SELECT o.app_account_token
                  WHERE ((o.app_account_token <> '00000000-0000-0000-0000-000000000000'::uuid) AND (NOT (EXISTS ( SELECT
                           FROM storehook.purchase_bindings e
                          WHERE ((e.original_transaction_id = o.original_transaction_id) AND (e.bundle_id = o.bundle_id) AND (e.environment = o.environment) AND (e.kind = 'erasure'::text) AND (e.token = o.app_account_token))))))), ( SELECT b.token
                   FROM storehook.purchase_bindings b
                  WHERE ((b.original_transaction_id = o.original_transaction_id) AND (b.bundle_id = o.bundle_id) AND (b.environment = o.environment) AND (b.kind = ANY (ARRAY['proof'::text, 'transfer'::text])) AND (NOT (EXISTS ( SELECT
                           FROM storehook.purchase_bindings e
                          WHERE ((e.original_transaction_id = b.original_transaction_id) AND (e.bundle_id = b.bundle_id) AND (e.environment = b.environment) AND (e.kind = 'erasure'::text) AND (ROW(e.at, e.id) > ROW(b.at, b.id)))))))
                  ORDER BY b.at DESC, b.id DESC
                 LIMIT 1))))) p
  GROUP BY p.environment, p.bundle_id, p.app_account_token, p.product_id;

COMMENT ON COLUMN storehook.consumable_balances.app_account_token IS 'the account that has them: that staff moved them to, that Apple signed, or that proved them; null where they are nobody''s';

COMMENT ON COLUMN storehook.consumable_balances.balance IS 'whole units, rounded down';

COMMENT ON COLUMN storehook.consumable_balances.balance_parts IS 'exactly, in 1/100,000 of a unit';

CREATE TABLE storehook.consumption_answers (
    id bigint NOT NULL,
    notification_uuid uuid NOT NULL,
    environment text NOT NULL COLLATE pg_catalog."C",
    bundle_id text NOT NULL COLLATE pg_catalog."C",
    transaction_id text COLLATE pg_catalog."C",
    reason text,
    signed_at timestamp with time zone NOT NULL,
    deadline timestamp with time zone NOT NULL,
    noted_at timestamp with time zone DEFAULT now() NOT NULL,
    why text,
    began_at timestamp with time zone,
    answer jsonb,
    rule text,
    consent_id bigint,
    sent_by text,
    settled_at timestamp with time zone,
    outcome text,
    CONSTRAINT consumption_answers_check CHECK (((settled_at IS NULL) = (outcome IS NULL))),
    CONSTRAINT consumption_answers_check1 CHECK (((began_at IS NULL) = (answer IS NULL))),
    CONSTRAINT consumption_answers_check2 CHECK (((began_at IS NULL) OR (consent_id IS NOT NULL) OR (sent_by IS NOT NULL))),
    CONSTRAINT consumption_answers_check3 CHECK (((outcome <> ALL (ARRAY['answered'::text, 'refused'::text, 'unknown'::text])) OR (began_at IS NOT NULL))),
    CONSTRAINT consumption_answers_check4 CHECK (((outcome IS DISTINCT FROM 'not_answered'::text) OR (began_at IS NULL))),
    CONSTRAINT consumption_answers_outcome_check CHECK ((outcome = ANY (ARRAY['answered'::text, 'late'::text, 'refused'::text, 'not_answered'::text, 'unknown'::text]))),
    CONSTRAINT consumption_answers_rule_check CHECK ((length(rule) <= 200)),
    CONSTRAINT consumption_answers_sent_by_check CHECK ((length(sent_by) <= 200)),
    CONSTRAINT consumption_answers_why_check CHECK ((why ~ '^[a-z0-9_]{1,100}$'::text))
)
WITH (fillfactor='80');

COMMENT ON TABLE storehook.consumption_answers IS 'Apple''s requests for consumption data, and what became of each';

COMMENT ON COLUMN storehook.consumption_answers.deadline IS 'twelve hours after Apple signed it';

COMMENT ON COLUMN storehook.consumption_answers.why IS 'why it is not answered so far, or was not; of one that is refused, Apple''s code';

COMMENT ON COLUMN storehook.consumption_answers.began_at IS 'right before Apple was told, after the consent was read once more';

COMMENT ON COLUMN storehook.consumption_answers.answer IS 'what Apple was told, the consent beside; before: what it was told first, where it was told again by hand';

COMMENT ON COLUMN storehook.consumption_answers.rule IS 'the number and name of the policy''s rule, or the refund request that decided';

COMMENT ON COLUMN storehook.consumption_answers.sent_by IS 'who sent it by hand';

COMMENT ON COLUMN storehook.consumption_answers.outcome IS 'answered in time; late: it could have been, and was not; refused by Apple; not_answered, by choice or without consent; unknown: Apple may have it';

ALTER TABLE storehook.consumption_answers ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME storehook.consumption_answers_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

ALTER TABLE storehook.consumption_consents ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME storehook.consumption_consents_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE storehook.consumption_queue (
    id bigint NOT NULL,
    received_at timestamp with time zone NOT NULL,
    due_at timestamp with time zone NOT NULL,
    attempts smallint DEFAULT 0 NOT NULL,
    lapses smallint DEFAULT 0 NOT NULL,
    lease_owner text,
    lease_token uuid,
    last_reason text,
    CONSTRAINT consumption_queue_attempts_check CHECK ((attempts >= 0)),
    CONSTRAINT consumption_queue_check CHECK (((lease_owner IS NULL) = (lease_token IS NULL))),
    CONSTRAINT consumption_queue_lapses_check CHECK ((lapses >= 0)),
    CONSTRAINT consumption_queue_last_reason_check CHECK ((length(last_reason) <= 100)),
    CONSTRAINT consumption_queue_lease_owner_check CHECK ((length(lease_owner) <= 200))
)
WITH (fillfactor='70');

CREATE TABLE storehook.transactions (
    environment text NOT NULL COLLATE pg_catalog."C",
    bundle_id text NOT NULL COLLATE pg_catalog."C",
    transaction_id text NOT NULL COLLATE pg_catalog."C",
    original_transaction_id text NOT NULL COLLATE pg_catalog."C",
    web_order_line_item_id text,
    product_id text,
    subscription_group_id text,
    kind text,
    ownership text,
    purchased_at timestamp with time zone,
    expires_at timestamp with time zone,
    revoked_at timestamp with time zone,
    is_upgraded boolean NOT NULL,
    reason text,
    offer_discount_type text,
    app_account_token uuid,
    price bigint,
    currency text,
    quantity integer,
    signed_at timestamp with time zone NOT NULL,
    digest bytea NOT NULL,
    notification_uuid uuid,
    payload json NOT NULL,
    revocation_type text,
    revocation_reason smallint,
    revocation_percentage bigint,
    offer_type smallint,
    offer_id text,
    storefront text,
    app_transaction_id text,
    billing_plan_type text,
    is_unsigned boolean,
    additional_reason text,
    CONSTRAINT transactions_digest_check CHECK ((octet_length(digest) = 32))
)
WITH (fillfactor='90');

COMMENT ON COLUMN storehook.transactions.price IS 'milliunits of currency, quantity and offer included, as Apple sent it: 9990 is 9.99, and 230000 is 230 yen';

COMMENT ON COLUMN storehook.transactions.notification_uuid IS 'the notification whose record stands here; null where it came by itself';

COMMENT ON COLUMN storehook.transactions.revocation_reason IS 'why Apple refunded: 0 another reason, 1 an issue with the app';

COMMENT ON COLUMN storehook.transactions.revocation_percentage IS 'thousandths of a percent: 100000 is all of the price';

COMMENT ON COLUMN storehook.transactions.is_unsigned IS 'true where this is what verifyReceipt said, and Apple''s signed word is not known; signed_at is then when it was answered';

COMMENT ON COLUMN storehook.transactions.additional_reason IS 'why it stands beside other transactions of its period, in Apple''s word (additionalTransactionReason)';

CREATE VIEW storehook.consumption_requests AS
 SELECT n.environment,
    n.bundle_id,
    n.original_transaction_id,
    n.transaction_id,
    n.notification_uuid,
    n.consumption_request_reason AS reason,
    n.signed_at,
    (n.signed_at + '12:00:00'::interval) AS deadline,
    t.product_id,
    NULLIF(t.app_account_token, '00000000-0000-0000-0000-000000000000'::uuid) AS app_account_token,
        CASE
            WHEN (a.outcome IS NOT NULL) THEN a.outcome
            WHEN (a.began_at IS NOT NULL) THEN 'sending'::text
            ELSE 'open'::text
        END AS state,
    a.why,
    c.granted AS consent,
    a.answer,
    a.rule,
    a.began_at AS sent_at,
    a.settled_at,
    a.sent_by
   FROM (((storehook.notifications n
     LEFT JOIN storehook.transactions t ON (((t.transaction_id = n.transaction_id) AND (t.bundle_id = n.bundle_id) AND (t.environment = n.environment))))
     LEFT JOIN storehook.consumption_answers a ON ((a.notification_uuid = n.notification_uuid)))
     LEFT JOIN LATERAL ( SELECT c_1.granted
           FROM storehook.consumption_consents c_1
          WHERE (c_1.app_account_token = NULLIF(t.app_account_token, '00000000-0000-0000-0000-000000000000'::uuid))
          ORDER BY c_1.id DESC
         LIMIT 1) c ON (true))
  WHERE (n.type = 'CONSUMPTION_REQUEST'::text);

COMMENT ON COLUMN storehook.consumption_requests.state IS 'open, sending, or what it came to: answered, late, refused, not_answered, unknown';

COMMENT ON COLUMN storehook.consumption_requests.consent IS 'whether the customer consents now; null where nothing was ever recorded, or the purchase names no account';

CREATE VIEW storehook.consumption_status AS
 SELECT a.environment,
    a.bundle_id,
    count(*) FILTER (WHERE (a.outcome IS NULL)) AS open,
    count(*) FILTER (WHERE w.is_wanted) AS wanted,
    min(a.deadline) FILTER (WHERE w.is_wanted) AS first_deadline,
    min(a.why) FILTER (WHERE (w.is_wanted AND (a.why IS NOT NULL))) AS why,
    count(*) FILTER (WHERE (a.outcome = 'late'::text)) AS late,
    count(*) FILTER (WHERE (a.outcome = 'refused'::text)) AS refused,
    count(*) FILTER (WHERE (a.outcome = 'unknown'::text)) AS unknown
   FROM (storehook.consumption_answers a
     CROSS JOIN LATERAL ( SELECT ((a.outcome IS NULL) AND (COALESCE(a.why, ''::text) <> ALL (ARRAY['no_policy'::text, 'no_rule'::text, 'no_transaction'::text, 'left_to_apple'::text, 'not_purchased'::text])) AND COALESCE(( SELECT c.granted
                   FROM storehook.consumption_consents c
                  WHERE (c.app_account_token = ( SELECT NULLIF(t.app_account_token, '00000000-0000-0000-0000-000000000000'::uuid) AS "nullif"
                           FROM storehook.transactions t
                          WHERE ((t.transaction_id = a.transaction_id) AND (t.bundle_id = a.bundle_id) AND (t.environment = a.environment))))
                  ORDER BY c.id DESC
                 LIMIT 1), false)) AS is_wanted) w)
  WHERE ((a.outcome IS NULL) OR ((a.outcome = ANY (ARRAY['late'::text, 'refused'::text, 'unknown'::text])) AND (a.settled_at > (now() - '1 day'::interval))))
  GROUP BY a.environment, a.bundle_id;

COMMENT ON VIEW storehook.consumption_status IS 'of each app and environment: open requests for consumption data, those to be answered, and what went wrong within a day';

CREATE TABLE storehook.consumption_tokens (
    app_account_token uuid NOT NULL
);

COMMENT ON TABLE storehook.consumption_tokens IS 'rows that are locked, so that consents and answers of one token come one after the other';

CREATE VIEW storehook.contradictions AS
 SELECT anomalies.environment,
    anomalies.bundle_id,
    anomalies.original_transaction_id,
    anomalies.kind,
    anomalies.signed_at,
    anomalies.transaction_id,
    anomalies.reported_status,
    anomalies.derived_status
   FROM storehook.anomalies
  WHERE (anomalies.kind = ANY (ARRAY['status_contradicted'::text, 'period_missing'::text, 'upgrade_missing'::text]))
UNION ALL
 SELECT anomalies.environment,
    anomalies.bundle_id,
    anomalies.original_transaction_id,
    anomalies.kind,
    anomalies.signed_at,
    anomalies.transaction_id,
    anomalies.reported_status,
    anomalies.derived_status
   FROM storehook.anomalies
  WHERE (anomalies.kind = 'purchase_unclear'::text);

CREATE TABLE storehook.conversion_marks (
    day date NOT NULL
);

COMMENT ON TABLE storehook.conversion_marks IS 'days of the figures on which an amount is of a day whose rate is new or corrected';

CREATE TABLE storehook.converted_sums (
    target text NOT NULL COLLATE pg_catalog."C",
    zone text NOT NULL COLLATE pg_catalog."C",
    grain text NOT NULL COLLATE pg_catalog."C",
    period date NOT NULL,
    measure text NOT NULL COLLATE pg_catalog."C",
    environment text NOT NULL COLLATE pg_catalog."C",
    bundle_id text NOT NULL COLLATE pg_catalog."C",
    product_id text NOT NULL COLLATE pg_catalog."C",
    storefront text NOT NULL COLLATE pg_catalog."C",
    currency text NOT NULL COLLATE pg_catalog."C",
    is_missing boolean NOT NULL,
    count bigint NOT NULL,
    free bigint NOT NULL,
    unknown bigint NOT NULL,
    amount numeric NOT NULL,
    CONSTRAINT converted_sums_grain_check CHECK ((grain = ANY (ARRAY['day'::text, 'day_part'::text, 'plain_month'::text, 'month_product'::text, 'month_country'::text])))
);

COMMENT ON TABLE storehook.converted_sums IS 'sums of figure_cells in the reporting currency (target); what a grain does not have apart, product, country or currency, is empty in it';

COMMENT ON COLUMN storehook.converted_sums.currency IS 'that of the transactions; empty in the grains of products and countries, but for rows that are missing';

COMMENT ON COLUMN storehook.converted_sums.is_missing IS 'whether no rate was known: the amount is in thousandths of the row''s own currency, and otherwise of the target';

COMMENT ON COLUMN storehook.converted_sums.free IS 'how many rows have the amount 0, which needs no rate';

COMMENT ON COLUMN storehook.converted_sums.unknown IS 'how many rows have no amount';

CREATE TABLE storehook.corrected_conversions (
    target text NOT NULL COLLATE pg_catalog."C",
    zone text NOT NULL COLLATE pg_catalog."C",
    day date NOT NULL,
    measure text NOT NULL COLLATE pg_catalog."C",
    environment text NOT NULL COLLATE pg_catalog."C",
    bundle_id text NOT NULL COLLATE pg_catalog."C",
    corrected_at timestamp with time zone NOT NULL
);

ALTER TABLE ONLY storehook.corrected_conversions REPLICA IDENTITY FULL;

COMMENT ON TABLE storehook.corrected_conversions IS 'days of which amounts were converted by a corrected rate, and when the last of these was';

CREATE TABLE storehook.currency_sums (
    target text NOT NULL COLLATE pg_catalog."C",
    zone text NOT NULL COLLATE pg_catalog."C",
    grain text NOT NULL COLLATE pg_catalog."C",
    period date NOT NULL,
    measure text NOT NULL COLLATE pg_catalog."C",
    environment text NOT NULL COLLATE pg_catalog."C",
    bundle_id text NOT NULL COLLATE pg_catalog."C",
    product_id text NOT NULL COLLATE pg_catalog."C",
    storefront text NOT NULL COLLATE pg_catalog."C",
    currency text NOT NULL COLLATE pg_catalog."C",
    is_missing boolean NOT NULL,
    count bigint NOT NULL,
    free bigint NOT NULL,
    unknown bigint NOT NULL,
    amount numeric NOT NULL,
    corrected_at timestamp with time zone,
    CONSTRAINT currency_sums_grain_check CHECK ((grain = ANY (ARRAY['app_day'::text, 'plain_month'::text, 'month_product'::text, 'month_country'::text, 'all_country'::text])))
);

COMMENT ON TABLE storehook.currency_sums IS 'sums of the cells with money, each converted by itself, in a currency (target); a column that a grain does not separate is empty in it';

COMMENT ON COLUMN storehook.currency_sums.currency IS 'the currency of the transactions, in the grain plain_month and in missing rows; else empty';

COMMENT ON COLUMN storehook.currency_sums.is_missing IS 'whether no rate was known: the amount is in thousandths of the row''s own currency, and otherwise of the target';

COMMENT ON COLUMN storehook.currency_sums.free IS 'how many rows have the amount 0, which needs no rate';

COMMENT ON COLUMN storehook.currency_sums.unknown IS 'how many rows have no amount';

COMMENT ON COLUMN storehook.currency_sums.corrected_at IS 'when the last corrected rate of its conversions was corrected, since its month was last converted as a whole; null without one';

CREATE TABLE storehook.currency_value_days (
    target text NOT NULL COLLATE pg_catalog."C",
    zone text NOT NULL COLLATE pg_catalog."C",
    day date NOT NULL,
    shares storehook.converted_share[] NOT NULL
);

COMMENT ON TABLE storehook.currency_value_days IS 'the converted value_cells of one day of payments: what currency_values are sums of';

COMMENT ON COLUMN storehook.currency_value_days.shares IS 'what each cohort paid on the day';

CREATE TABLE storehook.currency_values (
    target text NOT NULL COLLATE pg_catalog."C",
    zone text NOT NULL COLLATE pg_catalog."C",
    grain text NOT NULL COLLATE pg_catalog."C",
    day date NOT NULL,
    environment text NOT NULL COLLATE pg_catalog."C",
    cohort date NOT NULL,
    bundle_id text NOT NULL COLLATE pg_catalog."C",
    months smallint NOT NULL,
    currency text NOT NULL COLLATE pg_catalog."C",
    is_missing boolean NOT NULL,
    count bigint NOT NULL,
    unknown bigint NOT NULL,
    amount numeric NOT NULL,
    corrected_at timestamp with time zone
);

COMMENT ON TABLE storehook.currency_values IS 'sums of value_cells, each cell converted by itself: by the month of the first payment (cohort), by its day (cohort_day), and by its day for all apps together (all_cohort_day), where bundle_id is empty. An earlier release also keeps the sums of each day of payments here (day)';

COMMENT ON COLUMN storehook.currency_values.day IS 'the cohort; of the grain day, the day of the payments';

COMMENT ON COLUMN storehook.currency_values.cohort IS 'the first day of the month of the first payment, or its day';

COMMENT ON COLUMN storehook.currency_values.currency IS 'the currency of missing rows; else empty';

ALTER TABLE storehook.dead_letters ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME storehook.dead_letters_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE VIEW storehook.dead_letters_open AS
 SELECT dead_letters.id,
    dead_letters.notification_uuid,
    dead_letters.type,
    dead_letters.category,
    dead_letters.reason,
    dead_letters.message,
    dead_letters.attempts,
    dead_letters.received_at,
    dead_letters.dead_at,
    dead_letters.kind,
    dead_letters.source,
    dead_letters.bundle_id,
    dead_letters.subtype
   FROM storehook.dead_letters
  WHERE (dead_letters.resolution = 'open'::text);

CREATE TABLE storehook.deliveries (
    id bigint NOT NULL,
    endpoint_id bigint NOT NULL,
    event_id bigint NOT NULL,
    told_at timestamp with time zone NOT NULL,
    sequence bigint NOT NULL,
    previous_sequence bigint,
    outcome text NOT NULL,
    attempts integer NOT NULL,
    status smallint,
    reason text,
    ended_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    resent_at timestamp with time zone,
    CONSTRAINT deliveries_attempts_check CHECK ((attempts >= 0)),
    CONSTRAINT deliveries_check CHECK (((outcome = 'dead'::text) OR ((reason IS NULL) AND (status IS NOT NULL)))),
    CONSTRAINT deliveries_outcome_check CHECK ((outcome = ANY (ARRAY['delivered'::text, 'dead'::text]))),
    CONSTRAINT deliveries_reason_check CHECK ((length(reason) <= 200))
);

COMMENT ON TABLE storehook.deliveries IS 'what was delivered, and what was given up';

COMMENT ON COLUMN storehook.deliveries.status IS 'the last answer''s, where there was one';

COMMENT ON COLUMN storehook.deliveries.resent_at IS 'of a dead one: when it was put back to be sent again';

CREATE TABLE storehook.deliveries_pending (
    id bigint NOT NULL,
    endpoint_id bigint NOT NULL,
    lane_id bigint NOT NULL,
    "position" bigint,
    event_id bigint NOT NULL,
    told_at timestamp with time zone NOT NULL,
    sequence bigint NOT NULL,
    previous_sequence bigint
)
WITH (autovacuum_vacuum_scale_factor='0', autovacuum_vacuum_threshold='20000', autovacuum_vacuum_insert_scale_factor='0', autovacuum_vacuum_insert_threshold='100000', autovacuum_vacuum_cost_delay='0');

COMMENT ON TABLE storehook.deliveries_pending IS 'what is still to be delivered; of a lane in the order of its numbers';

COMMENT ON COLUMN storehook.deliveries_pending."position" IS 'of the event; null of what is sent again';

COMMENT ON COLUMN storehook.deliveries_pending.previous_sequence IS 'of the event that was dealt out to this endpoint before this one, of the same lane';

ALTER TABLE storehook.deliveries_pending ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME storehook.deliveries_pending_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE storehook.delivery_attempts (
    delivery_id bigint NOT NULL,
    event_id bigint NOT NULL,
    attempted_at timestamp with time zone NOT NULL,
    milliseconds integer NOT NULL,
    code text NOT NULL,
    status smallint,
    answer text,
    CONSTRAINT delivery_attempts_answer_check CHECK (((length(answer) >= 1) AND (length(answer) <= 4096))),
    CONSTRAINT delivery_attempts_code_check CHECK (((length(code) >= 1) AND (length(code) <= 60))),
    CONSTRAINT delivery_attempts_milliseconds_check CHECK ((milliseconds >= 0))
);

ALTER TABLE ONLY storehook.delivery_attempts REPLICA IDENTITY FULL;

COMMENT ON TABLE storehook.delivery_attempts IS 'the calls that were made for deliveries, and what came back';

COMMENT ON COLUMN storehook.delivery_attempts.code IS 'how it ended: http_503, timeout';

COMMENT ON COLUMN storehook.delivery_attempts.answer IS 'the beginning of the answer, as text: a stranger''s; null where it was empty, there was none, or the account was erased';

CREATE TABLE storehook.delivery_queue (
    id bigint NOT NULL,
    received_at timestamp with time zone NOT NULL,
    due_at timestamp with time zone NOT NULL,
    attempts smallint DEFAULT 0 NOT NULL,
    lapses smallint DEFAULT 0 NOT NULL,
    lease_owner text,
    lease_token uuid,
    last_reason text,
    endpoint_id bigint NOT NULL,
    resumes_at timestamp with time zone
)
WITH (fillfactor='50', autovacuum_vacuum_scale_factor='0', autovacuum_vacuum_threshold='5000', autovacuum_vacuum_insert_scale_factor='0', autovacuum_vacuum_insert_threshold='100000', autovacuum_vacuum_cost_delay='0');

COMMENT ON TABLE storehook.delivery_queue IS 'lanes in which something is still to be delivered';

COMMENT ON COLUMN storehook.delivery_queue.resumes_at IS 'when its schedule has it, of what comes, or came, before that because its endpoint was back';

CREATE TABLE storehook.endpoint_cursors (
    endpoint_id bigint NOT NULL,
    "position" bigint NOT NULL,
    queued_position bigint NOT NULL,
    has_resends boolean DEFAULT false NOT NULL,
    queued_resend bigint DEFAULT 0 NOT NULL,
    CONSTRAINT endpoint_cursors_check CHECK ((queued_position <= "position")),
    CONSTRAINT endpoint_cursors_position_check CHECK (("position" >= 0)),
    CONSTRAINT endpoint_cursors_queued_position_check CHECK ((queued_position >= 0))
)
WITH (fillfactor='50');

COMMENT ON TABLE storehook.endpoint_cursors IS 'up to which position events are dealt out to each endpoint';

COMMENT ON COLUMN storehook.endpoint_cursors.queued_position IS 'up to which position the lanes of what was dealt out are in the queue: always of transactions that are committed';

COMMENT ON COLUMN storehook.endpoint_cursors.has_resends IS 'what is to be sent again waits, and its lanes are not in the queue';

COMMENT ON COLUMN storehook.endpoint_cursors.queued_resend IS 'up to which of deliveries_pending, of what is sent again, the lanes are in the queue';

CREATE TABLE storehook.endpoint_health (
    endpoint_id bigint NOT NULL,
    failures integer DEFAULT 0 NOT NULL,
    failing_since timestamp with time zone,
    last_failure text,
    paused_at timestamp with time zone,
    probe_at timestamp with time zone,
    probes integer DEFAULT 0 NOT NULL,
    rest_until timestamp with time zone,
    spent_until timestamp with time zone DEFAULT '-infinity'::timestamp with time zone NOT NULL,
    faults integer DEFAULT 0 NOT NULL,
    CONSTRAINT endpoint_health_check CHECK (((failures = 0) = (failing_since IS NULL))),
    CONSTRAINT endpoint_health_check1 CHECK (((paused_at IS NULL) = (probe_at IS NULL))),
    CONSTRAINT endpoint_health_check2 CHECK (((paused_at IS NULL) OR (failures > 0))),
    CONSTRAINT endpoint_health_failures_check CHECK ((failures >= 0)),
    CONSTRAINT endpoint_health_faults_check CHECK ((faults >= 0)),
    CONSTRAINT endpoint_health_last_failure_check CHECK ((length(last_failure) <= 200)),
    CONSTRAINT endpoint_health_probes_check CHECK ((probes >= 0))
)
WITH (fillfactor='50');

COMMENT ON TABLE storehook.endpoint_health IS 'how each endpoint fares';

COMMENT ON COLUMN storehook.endpoint_health.failures IS 'calls that failed since the last one that succeeded';

COMMENT ON COLUMN storehook.endpoint_health.paused_at IS 'since when it is only probed, one call at a time';

COMMENT ON COLUMN storehook.endpoint_health.probe_at IS 'when the next probe is due';

COMMENT ON COLUMN storehook.endpoint_health.rest_until IS 'until when the endpoint asked to be left alone (Retry-After)';

COMMENT ON COLUMN storehook.endpoint_health.faults IS 'calls since the last one that succeeded that failed for a reason of the endpoint''s own, not of the event''s';

CREATE TABLE storehook.endpoints (
    id bigint NOT NULL,
    url text NOT NULL,
    bundle_id text COLLATE pg_catalog."C",
    environment text COLLATE pg_catalog."C",
    kinds text[],
    rate integer,
    in_flight smallint DEFAULT 32 NOT NULL,
    state text DEFAULT 'enabled'::text NOT NULL,
    reason text,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    created_by text NOT NULL,
    changed_at timestamp with time zone DEFAULT now() NOT NULL,
    changed_by text NOT NULL,
    secret bytea,
    former_secret bytea,
    former_ends_at timestamp with time zone,
    earlier_secrets bytea[],
    earlier_ends_at timestamp with time zone[],
    CONSTRAINT endpoints_bundle_id_check CHECK ((length(bundle_id) <= 255)),
    CONSTRAINT endpoints_changed_by_check CHECK (((length(changed_by) >= 1) AND (length(changed_by) <= 200))),
    CONSTRAINT endpoints_check CHECK (((state = 'enabled'::text) = (reason IS NULL))),
    CONSTRAINT endpoints_check1 CHECK (((state = 'removed'::text) = (secret IS NULL))),
    CONSTRAINT endpoints_check2 CHECK (((former_secret IS NULL) = (former_ends_at IS NULL))),
    CONSTRAINT endpoints_created_by_check CHECK (((length(created_by) >= 1) AND (length(created_by) <= 200))),
    CONSTRAINT endpoints_earlier_secrets_check CHECK ((((earlier_secrets IS NULL) = (earlier_ends_at IS NULL)) AND ((cardinality(earlier_secrets) >= 1) AND (cardinality(earlier_secrets) <= 4)) AND (cardinality(earlier_ends_at) = cardinality(earlier_secrets)))),
    CONSTRAINT endpoints_environment_check CHECK ((length(environment) <= 50)),
    CONSTRAINT endpoints_former_secret_check CHECK (((octet_length(former_secret) >= 28) AND (octet_length(former_secret) <= 200))),
    CONSTRAINT endpoints_id_check CHECK ((id > 0)),
    CONSTRAINT endpoints_in_flight_check CHECK (((in_flight >= 1) AND (in_flight <= 256))),
    CONSTRAINT endpoints_kinds_check CHECK (((cardinality(kinds) >= 1) AND (cardinality(kinds) <= 100))),
    CONSTRAINT endpoints_rate_check CHECK (((rate >= 1) AND (rate <= 100000))),
    CONSTRAINT endpoints_reason_check CHECK (((length(reason) >= 1) AND (length(reason) <= 200))),
    CONSTRAINT endpoints_secret_check CHECK (((octet_length(secret) >= 28) AND (octet_length(secret) <= 200))),
    CONSTRAINT endpoints_state_check CHECK ((state = ANY (ARRAY['enabled'::text, 'disabled'::text, 'removed'::text]))),
    CONSTRAINT endpoints_url_check CHECK (((length(url) >= 1) AND (length(url) <= 2048)))
);

COMMENT ON TABLE storehook.endpoints IS 'where events are posted to';

COMMENT ON COLUMN storehook.endpoints.kinds IS 'kinds of events, where * stands for any part: subscription.*';

COMMENT ON COLUMN storehook.endpoints.rate IS 'at most so many deliveries a second, when it catches up too; null: as many as it takes';

COMMENT ON COLUMN storehook.endpoints.in_flight IS 'at most so many deliveries at the same time by each worker';

COMMENT ON COLUMN storehook.endpoints.reason IS 'why it is disabled or removed: a person''s words, gone, or failing';

COMMENT ON COLUMN storehook.endpoints.former_ends_at IS 'until when the secret before this one signs as well';

COMMENT ON COLUMN storehook.endpoints.earlier_secrets IS 'the secrets before former_secret, the oldest first, as it is encrypted; while former_secret is null they do not sign';

COMMENT ON COLUMN storehook.endpoints.earlier_ends_at IS 'until when each of earlier_secrets signs as well';

CREATE TABLE storehook.event_places (
    "position" bigint NOT NULL,
    id bigint NOT NULL,
    told_at timestamp with time zone NOT NULL,
    more bigint[],
    CONSTRAINT event_places_position_check CHECK (("position" > 0))
);

COMMENT ON TABLE storehook.event_places IS 'committed transactions that told something, in the order in which readers follow their events';

COMMENT ON COLUMN storehook.event_places."position" IS 'of the last of its events; the others have those before it';

COMMENT ON COLUMN storehook.event_places.id IS 'the first of its events';

COMMENT ON COLUMN storehook.event_places.more IS 'those after the first one, in order';

CREATE VIEW storehook.delivery_glance AS
 SELECT e.id AS endpoint_id,
        CASE
            WHEN ((e.state = 'enabled'::text) AND (h.paused_at IS NOT NULL)) THEN 'paused'::text
            ELSE e.state
        END AS state,
    e.reason,
    h.failures,
    h.last_failure,
    w.lanes,
    GREATEST((newest."position" - c."position"), (0)::bigint) AS behind,
    d.count AS dead,
    (COALESCE(EXTRACT(epoch FROM (now() - LEAST(w.oldest, n.told_at))), (0)::numeric))::double precision AS oldest_age_seconds
   FROM ((((((storehook.endpoints e
     JOIN storehook.endpoint_cursors c ON ((c.endpoint_id = e.id)))
     JOIN storehook.endpoint_health h ON ((h.endpoint_id = e.id)))
     CROSS JOIN ( SELECT COALESCE(max(p."position"), (0)::bigint) AS "position"
           FROM storehook.event_places p) newest)
     CROSS JOIN LATERAL ( SELECT count(*) AS lanes,
            min(q.received_at) AS oldest
           FROM ( SELECT delivery_queue.received_at
                   FROM storehook.delivery_queue
                  WHERE (delivery_queue.endpoint_id = e.id)
                  ORDER BY delivery_queue.due_at, delivery_queue.id
                 LIMIT 10001) q) w)
     CROSS JOIN LATERAL ( SELECT count(*) AS count
           FROM ( SELECT deliveries.id
                   FROM storehook.deliveries
                  WHERE ((deliveries.endpoint_id = e.id) AND (deliveries.outcome = 'dead'::text) AND (deliveries.resent_at IS NULL))
                  ORDER BY deliveries.id
                 LIMIT 10001) g) d)
     LEFT JOIN LATERAL ( SELECT p.told_at
           FROM storehook.event_places p
          WHERE (p."position" > c."position")
          ORDER BY p."position"
         LIMIT 1) n ON (true))
  WHERE (e.state <> 'removed'::text);

COMMENT ON VIEW storehook.delivery_glance IS 'each endpoint: how it fares and what waits for it, by reads whose cost has a bound; 10,001 is more than 10,000';

CREATE TABLE storehook.delivery_lanes (
    id bigint NOT NULL,
    endpoint_id bigint NOT NULL,
    subject text NOT NULL COLLATE pg_catalog."C",
    last_sequence bigint NOT NULL,
    CONSTRAINT delivery_lanes_subject_check CHECK ((length(subject) <= 600))
)
WITH (fillfactor='70');

COMMENT ON TABLE storehook.delivery_lanes IS 'what arrives in order: an account''s events, or a purchase''s of no account, for one endpoint';

COMMENT ON COLUMN storehook.delivery_lanes.last_sequence IS 'of the last event that was dealt out to it';

ALTER TABLE storehook.delivery_lanes ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME storehook.delivery_lanes_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE VIEW storehook.delivery_status AS
 SELECT e.id AS endpoint_id,
        CASE
            WHEN ((e.state = 'enabled'::text) AND (h.paused_at IS NOT NULL)) THEN 'paused'::text
            ELSE e.state
        END AS state,
    e.reason,
    h.failures,
    h.failing_since,
    h.last_failure,
    h.paused_at,
    ( SELECT count(*) AS count
           FROM storehook.delivery_queue q
          WHERE (q.endpoint_id = e.id)) AS lanes,
    GREATEST((( SELECT max(p."position") AS max
           FROM storehook.event_places p) - c."position"), (0)::bigint) AS behind,
    ( SELECT count(*) AS count
           FROM storehook.deliveries d
          WHERE ((d.endpoint_id = e.id) AND (d.outcome = 'dead'::text) AND (d.resent_at IS NULL))) AS dead,
    (COALESCE(EXTRACT(epoch FROM (now() - LEAST(( SELECT min(q.received_at) AS min
           FROM storehook.delivery_queue q
          WHERE (q.endpoint_id = e.id)), ( SELECT p.told_at
           FROM storehook.event_places p
          WHERE (p."position" > c."position")
          ORDER BY p."position"
         LIMIT 1)))), (0)::numeric))::double precision AS oldest_age_seconds
   FROM ((storehook.endpoints e
     JOIN storehook.endpoint_cursors c ON ((c.endpoint_id = e.id)))
     JOIN storehook.endpoint_health h ON ((h.endpoint_id = e.id)))
  WHERE (e.state <> 'removed'::text);

COMMENT ON VIEW storehook.delivery_status IS 'each endpoint: how it fares, what waits for it, and since when';

CREATE TABLE storehook.due_count_state (
    part text NOT NULL COLLATE pg_catalog."C",
    counted_at timestamp with time zone,
    due_at timestamp with time zone DEFAULT '-infinity'::timestamp with time zone NOT NULL,
    CONSTRAINT due_count_state_part_check CHECK ((part = ANY (ARRAY['recent'::text, 'older'::text, 'due'::text])))
);

COMMENT ON TABLE storehook.due_count_state IS 'when was counted what is due: recent are the ages 1h, 6h and 24h, older the others, due is due_days';

COMMENT ON COLUMN storehook.due_count_state.counted_at IS 'the instant that the counts are of; null before the first count';

COMMENT ON COLUMN storehook.due_count_state.due_at IS 'no worker counts before this';

CREATE TABLE storehook.due_counts (
    bundle_id text NOT NULL COLLATE pg_catalog."C",
    age text NOT NULL COLLATE pg_catalog."C",
    unheard bigint NOT NULL,
    imported bigint NOT NULL,
    CONSTRAINT due_counts_age_check CHECK ((age = ANY (ARRAY['1h'::text, '6h'::text, '24h'::text, '3d'::text, 'older'::text]))),
    CONSTRAINT due_counts_imported_check CHECK ((imported >= 0)),
    CONSTRAINT due_counts_unheard_check CHECK ((unheard >= 0))
);

COMMENT ON TABLE storehook.due_counts IS 'how much was due in Production and was not heard of, by how long ago it was due when it was counted; no row where there is nothing';

COMMENT ON COLUMN storehook.due_counts.age IS 'from so many hours or days ago to the next one: 1h to 6 hours, 6h to 24 hours, 24h to 3 days, 3d to 7 days, older to 60 days';

COMMENT ON COLUMN storehook.due_counts.imported IS 'of subscriptions all of whose evidence operators stored by hand: Apple and apps never spoke of them. In unheard they are not counted';

CREATE TABLE storehook.due_days (
    bundle_id text NOT NULL COLLATE pg_catalog."C",
    due bigint NOT NULL,
    CONSTRAINT due_days_due_check CHECK ((due > 0))
);

COMMENT ON TABLE storehook.due_days IS 'how much was due in Production from 24 hours to one hour before it was counted, heard of or not';

CREATE TABLE storehook.due_unheard (
    ends_at timestamp with time zone NOT NULL,
    bundle_id text NOT NULL COLLATE pg_catalog."C",
    original_transaction_id text NOT NULL COLLATE pg_catalog."C",
    kind text NOT NULL COLLATE pg_catalog."C",
    age text NOT NULL COLLATE pg_catalog."C",
    product_id text,
    is_imported boolean NOT NULL,
    CONSTRAINT due_unheard_age_check CHECK ((age = ANY (ARRAY['1h'::text, '6h'::text, '24h'::text, '3d'::text, 'older'::text]))),
    CONSTRAINT due_unheard_kind_check CHECK ((kind = ANY (ARRAY['renewal'::text, 'trial'::text, 'grace_period'::text, 'billing_retry'::text])))
);

COMMENT ON TABLE storehook.due_unheard IS 'what due_counts counted, the latest 10,000 up to three days old and the latest 10,000 before';

COMMENT ON COLUMN storehook.due_unheard.ends_at IS 'when Apple was to say something';

COMMENT ON COLUMN storehook.due_unheard.kind IS 'what ended then: a paid period, a trial, a grace period, or the sixty days of tries to charge';

CREATE TABLE storehook.earlier_rates (
    currency text NOT NULL COLLATE pg_catalog."C",
    day date NOT NULL,
    billionths bigint NOT NULL,
    imported_at timestamp with time zone NOT NULL,
    replaced_at timestamp with time zone NOT NULL
);

COMMENT ON TABLE storehook.earlier_rates IS 'values of exchange_rates that a later file corrected';

CREATE SEQUENCE storehook.endpoint_id
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;

CREATE TABLE storehook.endpoint_trials (
    id bigint NOT NULL,
    endpoint_id bigint NOT NULL,
    event_id bigint,
    asked_by text NOT NULL,
    asked_at timestamp with time zone DEFAULT now() NOT NULL,
    begun_at timestamp with time zone,
    ended_at timestamp with time zone,
    webhook_id text,
    is_delivered boolean,
    outcome text,
    status smallint,
    milliseconds integer,
    message text,
    CONSTRAINT endpoint_trials_asked_by_check CHECK (((length(asked_by) >= 1) AND (length(asked_by) <= 210))),
    CONSTRAINT endpoint_trials_check CHECK (((ended_at IS NULL) OR ((begun_at IS NOT NULL) AND (is_delivered IS NOT NULL) AND (outcome IS NOT NULL)))),
    CONSTRAINT endpoint_trials_message_check CHECK ((length(message) <= 300)),
    CONSTRAINT endpoint_trials_milliseconds_check CHECK ((milliseconds >= 0)),
    CONSTRAINT endpoint_trials_outcome_check CHECK (((length(outcome) >= 1) AND (length(outcome) <= 60))),
    CONSTRAINT endpoint_trials_webhook_id_check CHECK (((length(webhook_id) >= 1) AND (length(webhook_id) <= 100)))
);

COMMENT ON TABLE storehook.endpoint_trials IS 'test events that the staff has posted to an endpoint, and what came back';

COMMENT ON COLUMN storehook.endpoint_trials.event_id IS 'the past event that is posted; null for a test event';

ALTER TABLE storehook.endpoint_trials ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME storehook.endpoint_trials_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE VIEW storehook.entitlements AS
 WITH purchases AS (
         SELECT status_at.environment,
            status_at.bundle_id,
            status_at.latest_account_token AS app_account_token,
            status_at.product_id,
            'subscription'::text AS kind,
            status_at.access,
            status_at.access_until,
            status_at.original_transaction_id,
            NULL::timestamp with time zone AS purchased_at,
            status_at.ownership,
            status_at.in_trial,
            status_at.status
           FROM storehook.status_at(now()) status_at(environment, bundle_id, original_transaction_id, product_id, subscription_group_id, app_account_token, status, access, expires_at, will_renew, renewal_product_id, in_trial, price_increase_pending, apple_status, access_until, period_ends_at, grace_ends_at, expiration_intent, basis, since, transaction_id, ownership, offer_type, offer_id, price, currency, storefront, app_transaction_id, renewal_price, renewal_currency, paid_until, latest_account_token, former_account_token)
          WHERE (NOT (status_at.app_account_token IS DISTINCT FROM status_at.latest_account_token))
        UNION ALL
         SELECT status_at.environment,
            status_at.bundle_id,
            status_at.former_account_token,
            status_at.product_id,
            'subscription'::text,
            status_at.access,
            status_at.access_until,
            status_at.original_transaction_id,
            NULL::timestamp with time zone,
            status_at.ownership,
            status_at.in_trial,
            status_at.status
           FROM storehook.status_at(now()) status_at(environment, bundle_id, original_transaction_id, product_id, subscription_group_id, app_account_token, status, access, expires_at, will_renew, renewal_product_id, in_trial, price_increase_pending, apple_status, access_until, period_ends_at, grace_ends_at, expiration_intent, basis, since, transaction_id, ownership, offer_type, offer_id, price, currency, storefront, app_transaction_id, renewal_price, renewal_currency, paid_until, latest_account_token, former_account_token)
          WHERE ((status_at.former_account_token IS NOT NULL) AND (status_at.app_account_token = status_at.former_account_token))
        UNION ALL
         SELECT status_at.environment,
            status_at.bundle_id,
            NULL::uuid AS uuid,
            status_at.product_id,
            'subscription'::text,
            status_at.access,
            status_at.access_until,
            status_at.original_transaction_id,
            NULL::timestamp with time zone,
            status_at.ownership,
            status_at.in_trial,
            status_at.status
           FROM storehook.status_at(now()) status_at(environment, bundle_id, original_transaction_id, product_id, subscription_group_id, app_account_token, status, access, expires_at, will_renew, renewal_product_id, in_trial, price_increase_pending, apple_status, access_until, period_ends_at, grace_ends_at, expiration_intent, basis, since, transaction_id, ownership, offer_type, offer_id, price, currency, storefront, app_transaction_id, renewal_price, renewal_currency, paid_until, latest_account_token, former_account_token)
          WHERE ((status_at.app_account_token IS NULL) AND ((status_at.latest_account_token = '00000000-0000-0000-0000-000000000000'::uuid) OR (status_at.former_account_token = '00000000-0000-0000-0000-000000000000'::uuid)))
        UNION ALL
         SELECT one_time_purchases.environment,
            one_time_purchases.bundle_id,
            NULL::uuid AS uuid,
            one_time_purchases.product_id,
            one_time_purchases.kind,
                CASE
                    WHEN (one_time_purchases.revoked_at IS NOT NULL) THEN false
                    WHEN (one_time_purchases.kind = 'non_consumable'::text) THEN true
                    ELSE (one_time_purchases.expires_at > now())
                END AS "case",
            COALESCE(one_time_purchases.revoked_at, one_time_purchases.expires_at) AS "coalesce",
            one_time_purchases.original_transaction_id,
            one_time_purchases.purchased_at,
            one_time_purchases.ownership,
            false,
            NULL::text
           FROM storehook.one_time_purchases
          WHERE ((one_time_purchases.kind <> 'consumable'::text) AND (one_time_purchases.app_account_token = '00000000-0000-0000-0000-000000000000'::uuid))
        UNION ALL
         SELECT one_time_purchases.environment,
            one_time_purchases.bundle_id,
            one_time_purchases.app_account_token,
            one_time_purchases.product_id,
            one_time_purchases.kind,
                CASE
                    WHEN (one_time_purchases.revoked_at IS NOT NULL) THEN false
                    WHEN (one_time_purchases.kind = 'non_consumable'::text) THEN true
                    ELSE (one_time_purchases.expires_at > now())
                END AS "case",
            COALESCE(one_time_purchases.revoked_at, one_time_purchases.expires_at) AS "coalesce",
            one_time_purchases.original_transaction_id,
            one_time_purchases.purchased_at,
            one_time_purchases.ownership,
            false,
            NULL::text
           FROM storehook.one_time_purchases
          WHERE ((one_time_purchases.kind <> 'consumable'::text) AND (one_time_purchases.app_account_token IS DISTINCT FROM '00000000-0000-0000-0000-000000000000'::uuid))
        )
 SELECT DISTINCT ON (p.environment, p.bundle_id, p.app_account_token, p.own_purchase, p.product_id) p.environment,
    p.bundle_id,
    p.app_account_token,
    p.product_id,
    p.kind,
    p.access,
    p.access_until,
    p.purchased_at,
    p.ownership,
    p.in_trial,
    p.status,
    p.original_transaction_id
   FROM ( SELECT purchases.environment,
            purchases.bundle_id,
            purchases.app_account_token,
            purchases.product_id,
            purchases.kind,
            purchases.access,
            purchases.access_until,
            purchases.original_transaction_id,
            purchases.purchased_at,
            purchases.ownership,
            purchases.in_trial,
            purchases.status,
                CASE
                    WHEN (purchases.app_account_token IS NULL) THEN purchases.original_transaction_id
                    ELSE NULL::text
                END AS own_purchase
           FROM purchases) p
  ORDER BY p.environment, p.bundle_id, p.app_account_token, p.own_purchase, p.product_id, p.access DESC NULLS LAST, p.access_until DESC, p.original_transaction_id;

CREATE TABLE storehook.event_feed (
    only_row boolean DEFAULT true NOT NULL,
    last_position bigint DEFAULT 0 NOT NULL,
    CONSTRAINT event_feed_last_position_check CHECK ((last_position >= 0)),
    CONSTRAINT event_feed_only_row_check CHECK (only_row)
)
WITH (fillfactor='50');

COMMENT ON TABLE storehook.event_feed IS 'the last position that was given';

CREATE SEQUENCE storehook.event_id
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;

CREATE VIEW storehook.event_positions AS
 SELECT (((p."position" - COALESCE(cardinality(p.more), 0)) + e.n) - 1) AS "position",
    e.id,
    p.told_at,
    p."position" AS last
   FROM (storehook.event_places p
     CROSS JOIN LATERAL unnest((p.id || p.more)) WITH ORDINALITY e(id, n));

COMMENT ON VIEW storehook.event_positions IS 'committed events in the order in which readers follow them, without a gap';

COMMENT ON COLUMN storehook.event_positions.last IS 'position of the last event of the same transaction';

CREATE TABLE storehook.events (
    told_at timestamp with time zone DEFAULT now() NOT NULL,
    id bigint DEFAULT nextval('storehook.event_id'::regclass) NOT NULL,
    kind text NOT NULL,
    environment text NOT NULL COLLATE pg_catalog."C",
    bundle_id text COLLATE pg_catalog."C",
    token uuid,
    original_transaction_id text COLLATE pg_catalog."C",
    sequence bigint NOT NULL,
    version bigint,
    at timestamp with time zone NOT NULL,
    is_late boolean NOT NULL,
    is_correction boolean NOT NULL,
    content text NOT NULL,
    CONSTRAINT events_check CHECK (((token IS NOT NULL) OR (original_transaction_id IS NOT NULL) OR (kind = 'test'::text))),
    CONSTRAINT events_check1 CHECK (((token IS NULL) = (version IS NULL))),
    CONSTRAINT events_content_check CHECK ((octet_length(content) <= 65536)),
    CONSTRAINT events_sequence_check CHECK ((sequence > 0)),
    CONSTRAINT events_version_check CHECK ((version >= 0))
)
PARTITION BY RANGE (told_at);

COMMENT ON TABLE storehook.events IS 'what was told, append-only, one partition a day (UTC)';

COMMENT ON COLUMN storehook.events.told_at IS 'the beginning of the transaction that caused it';

COMMENT ON COLUMN storehook.events.token IS 'the account in whose order it stands; null for a purchase of no account, which has an order of its own';

COMMENT ON COLUMN storehook.events.sequence IS 'its number in that order, from 1 on, without a gap';

COMMENT ON COLUMN storehook.events.version IS 'of the account, by then: every read after it shows at least this';

COMMENT ON COLUMN storehook.events.at IS 'when what it tells came to be';

COMMENT ON COLUMN storehook.events.content IS 'the members of the body''s data that do not depend on who reads it';

CREATE TABLE storehook.events_default (
    told_at timestamp with time zone DEFAULT now() NOT NULL,
    id bigint DEFAULT nextval('storehook.event_id'::regclass) NOT NULL,
    kind text NOT NULL,
    environment text NOT NULL COLLATE pg_catalog."C",
    bundle_id text COLLATE pg_catalog."C",
    token uuid,
    original_transaction_id text COLLATE pg_catalog."C",
    sequence bigint NOT NULL,
    version bigint,
    at timestamp with time zone NOT NULL,
    is_late boolean NOT NULL,
    is_correction boolean NOT NULL,
    content text NOT NULL,
    CONSTRAINT events_check CHECK (((token IS NOT NULL) OR (original_transaction_id IS NOT NULL) OR (kind = 'test'::text))),
    CONSTRAINT events_check1 CHECK (((token IS NULL) = (version IS NULL))),
    CONSTRAINT events_content_check CHECK ((octet_length(content) <= 65536)),
    CONSTRAINT events_sequence_check CHECK ((sequence > 0)),
    CONSTRAINT events_version_check CHECK ((version >= 0))
);

CREATE TABLE storehook.events_unplaced (
    id bigint NOT NULL,
    told_at timestamp with time zone NOT NULL,
    more bigint[]
)
WITH (fillfactor='70', autovacuum_vacuum_scale_factor='0', autovacuum_vacuum_threshold='5000', autovacuum_vacuum_insert_scale_factor='0', autovacuum_vacuum_insert_threshold='100000', autovacuum_vacuum_cost_delay='0');

COMMENT ON TABLE storehook.events_unplaced IS 'events without a position so far: a row for those of a transaction';

COMMENT ON COLUMN storehook.events_unplaced.more IS 'the numbers of the same transaction after the first one, in order';

CREATE TABLE storehook.exchange_rates (
    currency text NOT NULL COLLATE pg_catalog."C",
    day date NOT NULL,
    billionths bigint NOT NULL,
    imported_at timestamp with time zone NOT NULL,
    corrected_at timestamp with time zone,
    CONSTRAINT exchange_rates_billionths_check CHECK (((billionths >= 1) AND (billionths <= '999999999999999999'::bigint))),
    CONSTRAINT exchange_rates_currency_check CHECK (((currency ~ '^[A-Z]{3}$'::text) AND (currency <> 'EUR'::text)))
);

COMMENT ON TABLE storehook.exchange_rates IS 'how much of a currency one euro was on a day; inputs of figures, never their results';

COMMENT ON COLUMN storehook.exchange_rates.billionths IS 'billionths of the currency''s unit';

COMMENT ON COLUMN storehook.exchange_rates.imported_at IS 'when this value was imported';

COMMENT ON COLUMN storehook.exchange_rates.corrected_at IS 'when it replaced another value; null of the first one';

CREATE TABLE storehook.extension_failures (
    extension_id bigint NOT NULL,
    notification_uuid uuid NOT NULL,
    original_transaction_id text NOT NULL COLLATE pg_catalog."C",
    signed_at timestamp with time zone NOT NULL
);

COMMENT ON TABLE storehook.extension_failures IS 'subscriptions that a mass extension could not extend: each RENEWAL_EXTENSION with subtype FAILURE';

CREATE TABLE storehook.extension_queue (
    id bigint NOT NULL,
    received_at timestamp with time zone NOT NULL,
    due_at timestamp with time zone NOT NULL,
    attempts smallint DEFAULT 0 NOT NULL,
    lapses smallint DEFAULT 0 NOT NULL,
    lease_owner text,
    lease_token uuid,
    last_reason text,
    CONSTRAINT extension_queue_attempts_check CHECK ((attempts >= 0)),
    CONSTRAINT extension_queue_check CHECK (((lease_owner IS NULL) = (lease_token IS NULL))),
    CONSTRAINT extension_queue_lapses_check CHECK ((lapses >= 0)),
    CONSTRAINT extension_queue_last_reason_check CHECK ((length(last_reason) <= 100)),
    CONSTRAINT extension_queue_lease_owner_check CHECK ((length(lease_owner) <= 200))
)
WITH (fillfactor='70');

CREATE TABLE storehook.extensions (
    id bigint NOT NULL,
    environment text NOT NULL COLLATE pg_catalog."C",
    bundle_id text NOT NULL COLLATE pg_catalog."C",
    request_identifier text NOT NULL,
    original_transaction_id text COLLATE pg_catalog."C",
    product_id text COLLATE pg_catalog."C",
    storefronts text[] DEFAULT '{}'::text[] NOT NULL,
    days smallint NOT NULL,
    reason_code smallint NOT NULL,
    requested_at timestamp with time zone DEFAULT now() NOT NULL,
    requested_by text NOT NULL,
    why text,
    state text DEFAULT 'requested'::text NOT NULL,
    period_before text,
    renews_before timestamp with time zone,
    signed_before timestamp with time zone,
    asked_at timestamp with time zone,
    asked_again smallint DEFAULT 0 NOT NULL,
    accepted_at timestamp with time zone,
    effective_at timestamp with time zone,
    confirmed_at timestamp with time zone,
    notification_uuid uuid,
    completed_at timestamp with time zone,
    succeeded bigint,
    failed bigint,
    heard_until timestamp with time zone,
    code text,
    message text,
    settled_at timestamp with time zone,
    closed_by text,
    closed_why text,
    CONSTRAINT extensions_asked_again_check CHECK ((asked_again >= 0)),
    CONSTRAINT extensions_bundle_id_check CHECK ((length(bundle_id) <= 255)),
    CONSTRAINT extensions_check CHECK (((original_transaction_id IS NULL) <> (product_id IS NULL))),
    CONSTRAINT extensions_check1 CHECK (((settled_at IS NULL) = (state = ANY (ARRAY['requested'::text, 'unknown'::text, 'accepted'::text, 'completed'::text])))),
    CONSTRAINT extensions_check2 CHECK (((state <> 'requested'::text) OR (asked_at IS NULL))),
    CONSTRAINT extensions_check3 CHECK (((state <> ALL (ARRAY['unknown'::text, 'accepted'::text, 'completed'::text, 'extended'::text, 'not_extended'::text])) OR (asked_at IS NOT NULL))),
    CONSTRAINT extensions_check4 CHECK (((state <> 'completed'::text) OR (product_id IS NOT NULL))),
    CONSTRAINT extensions_check5 CHECK (((state = 'refused'::text) = (code IS NOT NULL))),
    CONSTRAINT extensions_check6 CHECK ((((state = 'closed'::text) = (closed_why IS NOT NULL)) AND ((closed_why IS NULL) = (closed_by IS NULL)))),
    CONSTRAINT extensions_closed_by_check CHECK ((length(closed_by) <= 200)),
    CONSTRAINT extensions_closed_why_check CHECK ((length(closed_why) <= 1000)),
    CONSTRAINT extensions_code_check CHECK ((code ~ '^[a-z0-9_]{1,100}$'::text)),
    CONSTRAINT extensions_days_check CHECK (((days >= 1) AND (days <= 90))),
    CONSTRAINT extensions_environment_check CHECK ((length(environment) <= 50)),
    CONSTRAINT extensions_message_check CHECK ((length(message) <= 1000)),
    CONSTRAINT extensions_original_transaction_id_check CHECK ((length(original_transaction_id) <= 255)),
    CONSTRAINT extensions_period_before_check CHECK ((length(period_before) <= 255)),
    CONSTRAINT extensions_product_id_check CHECK ((length(product_id) <= 255)),
    CONSTRAINT extensions_reason_code_check CHECK (((reason_code >= 0) AND (reason_code <= 3))),
    CONSTRAINT extensions_request_identifier_check CHECK (((length(request_identifier) >= 1) AND (length(request_identifier) <= 128))),
    CONSTRAINT extensions_requested_by_check CHECK (((length(requested_by) >= 1) AND (length(requested_by) <= 200))),
    CONSTRAINT extensions_state_check CHECK ((state = ANY (ARRAY['requested'::text, 'unknown'::text, 'accepted'::text, 'completed'::text, 'extended'::text, 'refused'::text, 'not_extended'::text, 'closed'::text]))),
    CONSTRAINT extensions_why_check CHECK ((length(why) <= 1000))
);

COMMENT ON TABLE storehook.extensions IS 'extensions of renewal dates: recorded before Apple is asked, asked for once unless Apple has done nothing, and followed until they are applied';

COMMENT ON COLUMN storehook.extensions.state IS 'requested: Apple was not asked yet, or has done nothing; unknown: it was, and what it did is not known; accepted: Apple took it on; completed: Apple is done with all, and which failed is still being heard; extended: done; refused: Apple does not do it; not_extended: found out that Apple did not do it; closed: given up by somebody';

COMMENT ON COLUMN storehook.extensions.period_before IS 'the transaction whose period is to last longer';

COMMENT ON COLUMN storehook.extensions.asked_at IS 'right before Apple was asked';

COMMENT ON COLUMN storehook.extensions.asked_again IS 'how often it was found out that Apple had done nothing, so that it is asked again';

COMMENT ON COLUMN storehook.extensions.effective_at IS 'the new renewal date, by Apple';

COMMENT ON COLUMN storehook.extensions.confirmed_at IS 'since when Apple''s status of the subscription shows it';

COMMENT ON COLUMN storehook.extensions.notification_uuid IS 'the RENEWAL_EXTENDED that was applied, or the RENEWAL_EXTENSION with the summary once it came; null where only Apple''s status told';

COMMENT ON COLUMN storehook.extensions.completed_at IS 'when Apple was done with all of them, by Apple''s clock';

COMMENT ON COLUMN storehook.extensions.heard_until IS 'up to when notifications were looked through for failures and the summary';

COMMENT ON COLUMN storehook.extensions.code IS 'why Apple refuses';

ALTER TABLE storehook.extensions ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME storehook.extensions_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE VIEW storehook.extensions_open AS
 SELECT extensions.environment,
    extensions.bundle_id,
        CASE
            WHEN (extensions.product_id IS NULL) THEN 'one'::text
            ELSE 'all'::text
        END AS kind,
    extensions.state,
    count(*) AS count,
    (EXTRACT(epoch FROM GREATEST('00:00:00'::interval, (now() - min(
        CASE extensions.state
            WHEN 'accepted'::text THEN extensions.accepted_at
            WHEN 'completed'::text THEN COALESCE(extensions.completed_at, extensions.accepted_at)
            ELSE extensions.requested_at
        END)))))::double precision AS oldest_age_seconds
   FROM storehook.extensions
  WHERE (extensions.settled_at IS NULL)
  GROUP BY extensions.environment, extensions.bundle_id, (extensions.product_id IS NULL), extensions.state;

COMMENT ON VIEW storehook.extensions_open IS 'extensions of renewal dates that are not finished: how many of each state, and how long the oldest is waited for';

CREATE TABLE storehook.figure_cells (
    zone text NOT NULL COLLATE pg_catalog."C",
    day date NOT NULL,
    measure text NOT NULL COLLATE pg_catalog."C",
    environment text NOT NULL COLLATE pg_catalog."C",
    bundle_id text NOT NULL COLLATE pg_catalog."C",
    product_id text NOT NULL COLLATE pg_catalog."C",
    storefront text NOT NULL COLLATE pg_catalog."C",
    currency text NOT NULL COLLATE pg_catalog."C",
    rate_day date,
    unit bigint,
    count bigint NOT NULL
);

ALTER TABLE ONLY storehook.figure_cells REPLICA IDENTITY FULL;

COMMENT ON TABLE storehook.figure_cells IS 'rows of the books by day and amount; product, country and currency are empty where no record says them';

COMMENT ON COLUMN storehook.figure_cells.measure IS 'order: by the day in its number. sale: by purchaseDate; refunded_sale: those of it that are refunded, by the same day. refund and reversal: by their own date. late_…: by the day on which they arrived, more than 24 hours after their own day had ended. enter and leave: periods that begin and end to count for recurring revenue, with the price a month. new to churn_…: periods of customers with another amount at the end of the day than at the end of the day before. customer_…: customers that began to pay, came back (soon: in the month of their stop) or stopped. trial: of Apple''s, by the day of its start; trial_converted, trial_lapsed, trial_refunded: its outcome, by the same day. own_trial…: likewise of the app''s own trials. attempt_…: attempts to buy, by outcome and the day of their first report. restore_…: restores, by outcome and the day of their report. proceeds: sales for money with their estimated proceeds; proceeds_back and proceeds_again: the same of refunds and of reversals, by their own date. account_known: accounts, of no app, by the day from which they are known, and once more by the day of an earlier first payment; account_early: accounts with such a payment, by its day: they are taken off the day from which they are known, which is in rate_day; account_paid: first payments, by purchaseDate';

COMMENT ON COLUMN storehook.figure_cells.rate_day IS 'the day of the transaction, for its exchange rate; of account_early the day from which the account is known; null of orders';

COMMENT ON COLUMN storehook.figure_cells.unit IS 'the amount of each row, in thousandths of the currency; null where it is not known, and of orders';

COMMENT ON COLUMN storehook.figure_cells.count IS 'how many rows of this amount there are';

CREATE TABLE storehook.figure_currencies (
    currency text NOT NULL COLLATE pg_catalog."C",
    zone text NOT NULL COLLATE pg_catalog."C",
    is_reporting boolean NOT NULL,
    converted_from date
);

COMMENT ON TABLE storehook.figure_currencies IS 'the currencies with kept currency_sums and currency_values, by the days of a zone';

COMMENT ON COLUMN storehook.figure_currencies.is_reporting IS 'whether it is the reporting currency of the catalog; false for a currency of questions';

COMMENT ON COLUMN storehook.figure_currencies.converted_from IS 'the first converted day: all later ones are converted, too; null where all days are';

CREATE TABLE storehook.figure_marks (
    id bigint NOT NULL,
    hour timestamp with time zone,
    day date,
    CONSTRAINT figure_marks_check CHECK (((hour IS NULL) <> (day IS NULL)))
);

COMMENT ON TABLE storehook.figure_marks IS 'what changed in the books and is not yet in the figures: an hour in which something was bought, refunded or heard of late, or the day of an order';

ALTER TABLE storehook.figure_marks ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME storehook.figure_marks_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE storehook.figure_plans (
    bundle_id text NOT NULL COLLATE pg_catalog."C",
    product_id text NOT NULL COLLATE pg_catalog."C",
    quarters smallint NOT NULL,
    group_id text NOT NULL COLLATE pg_catalog."C",
    CONSTRAINT figure_plans_quarters_check CHECK ((quarters > 0))
);

COMMENT ON TABLE storehook.figure_plans IS 'what the catalog that figures are summed by says of subscriptions';

COMMENT ON COLUMN storehook.figure_plans.quarters IS 'how long a payment lasts, in quarters of a month: 1 of a week, 4 of a month, 48 of a year';

COMMENT ON COLUMN storehook.figure_plans.group_id IS 'the subscription group; empty of those that name none, which are one group';

CREATE TABLE storehook.figure_state (
    is_only boolean DEFAULT true NOT NULL,
    zone text COLLATE pg_catalog."C",
    next_zone text COLLATE pg_catalog."C",
    summed_from date,
    currency text COLLATE pg_catalog."C",
    converted_from date,
    turned_until timestamp with time zone,
    content smallint DEFAULT 1 NOT NULL,
    fiscal_zone text COLLATE pg_catalog."C",
    fiscal_from date,
    catalog_version bigint,
    CONSTRAINT figure_state_currency_check CHECK (((converted_from IS NULL) OR (currency IS NOT NULL))),
    CONSTRAINT figure_state_fiscal_check CHECK (((fiscal_from IS NULL) OR (fiscal_zone IS NOT NULL))),
    CONSTRAINT figure_state_is_only_check CHECK (is_only),
    CONSTRAINT figure_state_walk_check CHECK (((next_zone IS NULL) = (summed_from IS NULL)))
);

COMMENT ON TABLE storehook.figure_state IS 'in which zone the figures count their days';

COMMENT ON COLUMN storehook.figure_state.zone IS 'the zone of the figures that stand; null before all days were summed for the first time';

COMMENT ON COLUMN storehook.figure_state.next_zone IS 'the zone whose days are being summed, the latest first';

COMMENT ON COLUMN storehook.figure_state.summed_from IS 'the first of the days that are summed in it';

COMMENT ON COLUMN storehook.figure_state.currency IS 'the reporting currency, whose sums are kept in converted_sums; null where there is none';

COMMENT ON COLUMN storehook.figure_state.converted_from IS 'the first of the days that are converted, the latest first; null where all of them are';

COMMENT ON COLUMN storehook.figure_state.turned_until IS 'periods that begin or end after this do not count yet for recurring revenue; null before the first were summed';

COMMENT ON COLUMN storehook.figure_state.content IS 'what the figures are summed of, by the number that the release has for it; a release that sums more has a higher one, and sums all days anew';

COMMENT ON COLUMN storehook.figure_state.fiscal_zone IS 'the zone of fiscal months, where the catalog wants them: its days are kept beside those of the other zones, unless it is one of these';

COMMENT ON COLUMN storehook.figure_state.fiscal_from IS 'the first of the days that are summed in it; null where all are';

COMMENT ON COLUMN storehook.figure_state.catalog_version IS 'the version of the catalog that recurring revenue is summed by; null before the first, and until a worker of this release has taken one';

CREATE TABLE storehook.figure_sums (
    grain text NOT NULL COLLATE pg_catalog."C",
    zone text NOT NULL COLLATE pg_catalog."C",
    period date NOT NULL,
    measure text NOT NULL COLLATE pg_catalog."C",
    environment text NOT NULL COLLATE pg_catalog."C",
    bundle_id text NOT NULL COLLATE pg_catalog."C",
    product_id text NOT NULL COLLATE pg_catalog."C",
    storefront text NOT NULL COLLATE pg_catalog."C",
    currency text NOT NULL COLLATE pg_catalog."C",
    count bigint NOT NULL,
    free bigint NOT NULL,
    unknown bigint NOT NULL,
    amount numeric NOT NULL
);

COMMENT ON TABLE storehook.figure_sums IS 'sums of figure_cells; a column that a grain does not separate, product or country, is empty in it, and so is the app in all_country and all_day';

COMMENT ON COLUMN storehook.figure_sums.period IS 'the day, or the first day of the month';

COMMENT ON COLUMN storehook.figure_sums.free IS 'how many rows have the amount 0';

COMMENT ON COLUMN storehook.figure_sums.unknown IS 'how many rows have no amount';

CREATE TABLE storehook.figure_terms (
    kind text NOT NULL COLLATE pg_catalog."C",
    place smallint NOT NULL,
    first_day date NOT NULL,
    bundle_ids text[] COLLATE pg_catalog."C",
    storefronts text[] COLLATE pg_catalog."C",
    program text COLLATE pg_catalog."C",
    first_year integer,
    later_years integer,
    one_time integer,
    included integer,
    CONSTRAINT figure_terms_first_year_check CHECK (((first_year >= 0) AND (first_year <= 99999))),
    CONSTRAINT figure_terms_included_check CHECK (((included >= 0) AND (included <= 99999))),
    CONSTRAINT figure_terms_kind_check CHECK ((kind = ANY (ARRAY['program'::text, 'rate'::text, 'tax'::text]))),
    CONSTRAINT figure_terms_later_years_check CHECK (((later_years >= 0) AND (later_years <= 99999))),
    CONSTRAINT figure_terms_one_time_check CHECK (((one_time >= 0) AND (one_time <= 99999))),
    CONSTRAINT figure_terms_program_check CHECK ((program = ANY (ARRAY['standard'::text, 'small_business'::text]))),
    CONSTRAINT figure_terms_values_check CHECK ((((kind = 'rate'::text) = ((first_year IS NOT NULL) AND (later_years IS NOT NULL) AND (one_time IS NOT NULL))) AND ((kind = 'tax'::text) = (included IS NOT NULL)) AND ((kind <> 'program'::text) OR (program IS NOT NULL))))
);

COMMENT ON TABLE storehook.figure_terms IS 'the commission table that figures are summed by; shares are in thousandths of a percent';

COMMENT ON COLUMN storehook.figure_terms.place IS 'in the order of days: of those that fit, the last one up to the day of a purchase counts';

COMMENT ON COLUMN storehook.figure_terms.bundle_ids IS 'the apps; null for all';

COMMENT ON COLUMN storehook.figure_terms.storefronts IS 'null for all';

COMMENT ON COLUMN storehook.figure_terms.program IS 'by which of Apple''s terms the apps are sold; of a rate, to which it belongs, null for all';

COMMENT ON COLUMN storehook.figure_terms.first_year IS 'what Apple keeps of subscriptions until a year of paid service';

COMMENT ON COLUMN storehook.figure_terms.included IS 'the share of the customer''s price that is tax';

CREATE VIEW storehook.figures_daily AS
 SELECT f.figure,
    c.environment,
    c.day,
    c.zone,
    c.bundle_id,
    NULLIF(c.product_id, ''::text) AS product_id,
    NULLIF(c.storefront, ''::text) AS storefront,
    NULLIF(c.currency, ''::text) AS currency,
    (sum((c.count * f.sign)))::bigint AS count,
    sum((((c.unit)::numeric * (c.count)::numeric) * (f.sign)::numeric)) AS amount,
    (NOT (EXISTS ( SELECT
           FROM storehook.figure_marks m
          WHERE ((m.day = c.day) OR (((m.hour AT TIME ZONE c.zone))::date = c.day) OR ((((m.hour + '00:59:59.999999'::interval) AT TIME ZONE c.zone))::date = c.day))))) AS up_to_date
   FROM ((storehook.figure_state s
     JOIN storehook.figure_cells c ON ((c.zone = COALESCE(s.zone, s.next_zone))))
     JOIN ( VALUES ('orders'::text,'order'::text,1), ('transactions'::text,'sale'::text,1), ('gross'::text,'sale'::text,1), ('refunded'::text,'refund'::text,1), ('refunded'::text,'reversal'::text,'-1'::integer), ('net'::text,'sale'::text,1), ('net'::text,'refund'::text,'-1'::integer), ('net'::text,'reversal'::text,1), ('heard_late'::text,'late_sale'::text,1), ('heard_late'::text,'late_refund'::text,'-1'::integer), ('heard_late'::text,'late_reversal'::text,1), ('mrr_change'::text,'enter'::text,1), ('mrr_change'::text,'leave'::text,'-1'::integer), ('active_change'::text,'customer_new'::text,1), ('active_change'::text,'customer_back'::text,1), ('active_change'::text,'customer_lost_voluntary'::text,'-1'::integer), ('active_change'::text,'customer_lost_billing'::text,'-1'::integer), ('active_change'::text,'customer_lost_other'::text,'-1'::integer), ('trials'::text,'trial'::text,1), ('trials_converted'::text,'trial_converted'::text,1), ('trials_lapsed'::text,'trial_lapsed'::text,1), ('trials_refunded'::text,'trial_refunded'::text,1), ('own_trials'::text,'own_trial'::text,1), ('own_trials_converted'::text,'own_trial_converted'::text,1), ('own_trials_lapsed'::text,'own_trial_lapsed'::text,1), ('own_trials_refunded'::text,'own_trial_refunded'::text,1), ('attempts_completed'::text,'attempt_completed'::text,1), ('attempts_failed'::text,'attempt_failed'::text,1), ('attempts_cancelled'::text,'attempt_cancelled'::text,1), ('attempts_pending'::text,'attempt_pending'::text,1), ('restores_completed'::text,'restore_completed'::text,1), ('restores_failed'::text,'restore_failed'::text,1), ('restores_nothing'::text,'restore_nothing'::text,1), ('restores_cancelled'::text,'restore_cancelled'::text,1), ('proceeds'::text,'proceeds'::text,1), ('proceeds'::text,'proceeds_back'::text,'-1'::integer), ('proceeds'::text,'proceeds_again'::text,1)) f(figure, measure, sign) ON ((f.measure = c.measure)))
  GROUP BY f.figure, c.environment, c.day, c.zone, c.bundle_id, c.product_id, c.storefront, c.currency;

COMMENT ON VIEW storehook.figures_daily IS 'figures by day, app, product, country and currency; amounts in thousandths of the currency, null where none is known';

CREATE TABLE storehook.fiscal_calendars (
    version bigint NOT NULL,
    source text NOT NULL,
    digest bytea NOT NULL,
    applied_at timestamp with time zone DEFAULT now() NOT NULL,
    applied_by text NOT NULL,
    CONSTRAINT fiscal_calendars_applied_by_check CHECK (((length(applied_by) >= 1) AND (length(applied_by) <= 200))),
    CONSTRAINT fiscal_calendars_digest_check CHECK ((length(digest) = 32))
);

COMMENT ON TABLE storehook.fiscal_calendars IS 'fiscal calendars that operators applied: the last one counts, and without any the one that the release has; inputs of figures, never their results';

COMMENT ON COLUMN storehook.fiscal_calendars.version IS '1 to n without a gap';

COMMENT ON COLUMN storehook.fiscal_calendars.source IS 'the file, word for word (YAML)';

COMMENT ON COLUMN storehook.fiscal_calendars.digest IS 'SHA-256 of the file';

CREATE TABLE storehook.forbidden_tries (
    member_id bigint NOT NULL,
    route text NOT NULL COLLATE pg_catalog."C",
    minute timestamp with time zone NOT NULL,
    tries bigint DEFAULT 1 NOT NULL,
    CONSTRAINT forbidden_tries_route_check CHECK (((length(route) >= 1) AND (length(route) <= 200))),
    CONSTRAINT forbidden_tries_tries_check CHECK ((tries > 0))
);

COMMENT ON TABLE storehook.forbidden_tries IS 'what staff tried and may not do, until the minute is over and a row of the audit has it';

CREATE TABLE storehook.subscriptions (
    environment text NOT NULL COLLATE pg_catalog."C",
    bundle_id text NOT NULL COLLATE pg_catalog."C",
    original_transaction_id text NOT NULL COLLATE pg_catalog."C",
    subscription_group_id text,
    app_account_token uuid,
    phase_starts timestamp with time zone[] NOT NULL,
    phase_status text[] NOT NULL,
    phase_product text[] NOT NULL,
    phase_expires timestamp with time zone[] NOT NULL,
    phase_trial boolean[] NOT NULL,
    earlier_phases integer DEFAULT 0 NOT NULL,
    is_regular boolean DEFAULT false NOT NULL,
    carried_account_token uuid,
    former_account_token uuid,
    paid_until timestamp with time zone NOT NULL,
    phase_basis text[] NOT NULL,
    phase_transaction text[] NOT NULL,
    phase_period_ends timestamp with time zone[] NOT NULL,
    phase_grace_ends timestamp with time zone[] NOT NULL,
    phase_will_renew boolean[] NOT NULL,
    phase_renewal_product text[] NOT NULL,
    phase_price_pending boolean[] NOT NULL,
    phase_intent smallint[] NOT NULL,
    phase_account uuid[] NOT NULL,
    phase_origin text[],
    stretches text,
    first_stored_at timestamp with time zone,
    last_stored_at timestamp with time zone,
    CONSTRAINT subscriptions_check CHECK (((cardinality(phase_starts) > 0) AND (cardinality(phase_status) = cardinality(phase_starts)) AND (cardinality(phase_product) = cardinality(phase_starts)) AND (cardinality(phase_expires) = cardinality(phase_starts)) AND (cardinality(phase_trial) = cardinality(phase_starts)))),
    CONSTRAINT subscriptions_check1 CHECK (((cardinality(phase_basis) = cardinality(phase_starts)) AND (cardinality(phase_transaction) = cardinality(phase_starts)) AND (cardinality(phase_period_ends) = cardinality(phase_starts)) AND (cardinality(phase_grace_ends) = cardinality(phase_starts)) AND (cardinality(phase_will_renew) = cardinality(phase_starts)) AND (cardinality(phase_renewal_product) = cardinality(phase_starts)) AND (cardinality(phase_price_pending) = cardinality(phase_starts)) AND (cardinality(phase_intent) = cardinality(phase_starts)) AND (cardinality(phase_account) = cardinality(phase_starts)))),
    CONSTRAINT subscriptions_earlier_phases_check CHECK ((earlier_phases >= 0)),
    CONSTRAINT subscriptions_phase_basis_check CHECK ((phase_basis <@ ARRAY['records'::text, 'renewal_info'::text, 'reported_status'::text])),
    CONSTRAINT subscriptions_phase_status_check CHECK ((phase_status <@ ARRAY['trial'::text, 'active'::text, 'cancelled'::text, 'grace_period'::text, 'billing_retry'::text, 'expired'::text, 'revoked'::text]))
)
WITH (fillfactor='80');

COMMENT ON COLUMN storehook.subscriptions.app_account_token IS 'the account in the last phase';

COMMENT ON COLUMN storehook.subscriptions.is_regular IS 'its records are dated as Apple dates them, so that what follows can be derived from the last of them alone';

COMMENT ON COLUMN storehook.subscriptions.carried_account_token IS 'the account of the last period that names one, of those that began by the first phase here; for deriving what follows';

COMMENT ON COLUMN storehook.subscriptions.former_account_token IS 'the account of earlier phases that stand here, where it is another one: until the last phase begins, the purchase is its';

COMMENT ON COLUMN storehook.subscriptions.paid_until IS 'when the latest paid stretch ends, or ended';

COMMENT ON COLUMN storehook.subscriptions.phase_origin IS 'for each phase bought|charged|upcoming account|named product, instants in milliseconds since 1970; null where nothing is to be said';

COMMENT ON COLUMN storehook.subscriptions.stretches IS 'where the customer bought again after a lapse: the instant in milliseconds since 1970, and the account that was signed last before it';

COMMENT ON COLUMN storehook.subscriptions.first_stored_at IS 'when the first evidence of it was stored; null where an earlier release wrote the row, until a rebuild or its next evidence';

COMMENT ON COLUMN storehook.subscriptions.last_stored_at IS 'when its latest evidence was stored; likewise';

CREATE VIEW storehook.held_purchases AS
 SELECT l.token,
    l.environment,
    l.bundle_id,
    l.original_transaction_id,
    p.product_id,
    p.access
   FROM (( SELECT account_lines.token,
            account_lines.environment,
            account_lines.bundle_id,
            account_lines.original_transaction_id
           FROM storehook.account_lines
        UNION ALL
         SELECT subscriptions.app_account_token,
            subscriptions.environment,
            subscriptions.bundle_id,
            subscriptions.original_transaction_id
           FROM storehook.subscriptions
        UNION ALL
         SELECT subscriptions.former_account_token,
            subscriptions.environment,
            subscriptions.bundle_id,
            subscriptions.original_transaction_id
           FROM storehook.subscriptions
        UNION ALL
         SELECT one_time_purchases.app_account_token,
            one_time_purchases.environment,
            one_time_purchases.bundle_id,
            one_time_purchases.original_transaction_id
           FROM storehook.one_time_purchases) l
     CROSS JOIN LATERAL ( SELECT s.phase_product[i.n] AS product_id,
            s.phase_account[i.n] AS signed,
            (s.phase_status[i.n] = ANY (ARRAY['trial'::text, 'active'::text, 'cancelled'::text, 'grace_period'::text])) AS access
           FROM (storehook.subscriptions s
             CROSS JOIN LATERAL ( SELECT width_bucket(now(), s.phase_starts) AS n) i)
          WHERE ((s.original_transaction_id = l.original_transaction_id) AND (s.bundle_id = l.bundle_id) AND (s.environment = l.environment) AND (i.n > 0))
        UNION ALL
         SELECT o.product_id,
            o.app_account_token,
            ((o.revoked_at IS NULL) AND ((o.kind = 'non_consumable'::text) OR COALESCE((o.expires_at > now()), false)))
           FROM storehook.one_time_purchases o
          WHERE ((o.original_transaction_id = l.original_transaction_id) AND (o.bundle_id = l.bundle_id) AND (o.environment = l.environment) AND (o.kind <> 'consumable'::text))) p)
  WHERE (l.token = COALESCE(( SELECT b.token
           FROM storehook.purchase_bindings b
          WHERE ((b.original_transaction_id = l.original_transaction_id) AND (b.bundle_id = l.bundle_id) AND (b.environment = l.environment) AND (b.kind = 'staff'::text) AND (NOT (EXISTS ( SELECT
                   FROM storehook.purchase_bindings e
                  WHERE ((e.original_transaction_id = b.original_transaction_id) AND (e.bundle_id = b.bundle_id) AND (e.environment = b.environment) AND (e.kind = 'erasure'::text) AND (ROW(e.at, e.id) > ROW(b.at, b.id)))))))
          ORDER BY b.at DESC, b.id DESC
         LIMIT 1), ( SELECT p.signed
          WHERE ((p.signed <> '00000000-0000-0000-0000-000000000000'::uuid) AND (NOT (EXISTS ( SELECT
                   FROM storehook.purchase_bindings e
                  WHERE ((e.original_transaction_id = l.original_transaction_id) AND (e.bundle_id = l.bundle_id) AND (e.environment = l.environment) AND (e.kind = 'erasure'::text) AND (e.token = p.signed))))))), ( SELECT b.token
           FROM storehook.purchase_bindings b
          WHERE ((b.original_transaction_id = l.original_transaction_id) AND (b.bundle_id = l.bundle_id) AND (b.environment = l.environment) AND (b.kind = ANY (ARRAY['proof'::text, 'transfer'::text])) AND (NOT (EXISTS ( SELECT
                   FROM storehook.purchase_bindings e
                  WHERE ((e.original_transaction_id = b.original_transaction_id) AND (e.bundle_id = b.bundle_id) AND (e.environment = b.environment) AND (e.kind = 'erasure'::text) AND (ROW(e.at, e.id) > ROW(b.at, b.id)))))))
          ORDER BY b.at DESC, b.id DESC
         LIMIT 1)));

COMMENT ON VIEW storehook.held_purchases IS 'purchases and the accounts that have them by records and bindings alone; a purchase may stand here more than once';

CREATE TABLE storehook.history_letters (
    notification_uuid uuid NOT NULL,
    window_id bigint,
    outbox_id bigint,
    noted_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT history_letters_check CHECK (((outbox_id IS NULL) OR (window_id IS NOT NULL)))
);

COMMENT ON COLUMN storehook.history_letters.window_id IS 'the window that listed what was fetched; null for a dead letter';

ALTER TABLE storehook.history_windows ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME storehook.history_windows_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE storehook.job_items (
    job_id bigint NOT NULL,
    letter_id bigint NOT NULL,
    outcome text,
    ended_at timestamp with time zone,
    CONSTRAINT job_items_check CHECK (((outcome IS NULL) = (ended_at IS NULL))),
    CONSTRAINT job_items_outcome_check CHECK ((outcome = ANY (ARRAY['done'::text, 'skipped'::text])))
);

COMMENT ON TABLE storehook.job_items IS 'the dead letters of each job, and what became of them';

CREATE TABLE storehook.job_queue (
    id bigint NOT NULL,
    received_at timestamp with time zone NOT NULL,
    due_at timestamp with time zone NOT NULL,
    attempts smallint DEFAULT 0 NOT NULL,
    lapses smallint DEFAULT 0 NOT NULL,
    lease_owner text,
    lease_token uuid,
    last_reason text,
    CONSTRAINT job_queue_attempts_check CHECK ((attempts >= 0)),
    CONSTRAINT job_queue_check CHECK (((lease_owner IS NULL) = (lease_token IS NULL))),
    CONSTRAINT job_queue_lapses_check CHECK ((lapses >= 0)),
    CONSTRAINT job_queue_last_reason_check CHECK ((length(last_reason) <= 100)),
    CONSTRAINT job_queue_lease_owner_check CHECK ((length(lease_owner) <= 200))
)
WITH (fillfactor='70');

COMMENT ON TABLE storehook.job_queue IS 'jobs that are still to be carried out';

CREATE TABLE storehook.jobs (
    id bigint NOT NULL,
    act text NOT NULL,
    filter json NOT NULL,
    apps text[],
    up_to bigint NOT NULL,
    per_second integer,
    total integer NOT NULL,
    done integer DEFAULT 0 NOT NULL,
    skipped integer DEFAULT 0 NOT NULL,
    state text DEFAULT 'waiting'::text NOT NULL,
    error text,
    report json,
    actor text NOT NULL,
    why text,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    begun_at timestamp with time zone,
    ended_at timestamp with time zone,
    stopped_at timestamp with time zone,
    stopped_by text,
    stopped_why text,
    CONSTRAINT jobs_act_check CHECK ((act = ANY (ARRAY['rehearse'::text, 'replay'::text, 'discard'::text]))),
    CONSTRAINT jobs_actor_check CHECK (((length(actor) >= 1) AND (length(actor) <= 210))),
    CONSTRAINT jobs_apps_check CHECK (((cardinality(apps) >= 1) AND (cardinality(apps) <= 100))),
    CONSTRAINT jobs_check CHECK (((done + skipped) <= total)),
    CONSTRAINT jobs_check1 CHECK (((ended_at IS NOT NULL) = (state = ANY (ARRAY['done'::text, 'stopped'::text, 'failed'::text])))),
    CONSTRAINT jobs_check2 CHECK (((stopped_at IS NULL) = (stopped_by IS NULL))),
    CONSTRAINT jobs_check3 CHECK (((state <> 'stopped'::text) OR (stopped_at IS NOT NULL))),
    CONSTRAINT jobs_check4 CHECK (((error IS NOT NULL) = (state = 'failed'::text))),
    CONSTRAINT jobs_check5 CHECK (((act <> 'discard'::text) OR (why IS NOT NULL))),
    CONSTRAINT jobs_done_check CHECK ((done >= 0)),
    CONSTRAINT jobs_error_check CHECK ((length(error) <= 1000)),
    CONSTRAINT jobs_per_second_check CHECK (((per_second >= 1) AND (per_second <= 1000))),
    CONSTRAINT jobs_skipped_check CHECK ((skipped >= 0)),
    CONSTRAINT jobs_state_check CHECK ((state = ANY (ARRAY['waiting'::text, 'running'::text, 'done'::text, 'stopped'::text, 'failed'::text]))),
    CONSTRAINT jobs_stopped_by_check CHECK (((length(stopped_by) >= 1) AND (length(stopped_by) <= 200))),
    CONSTRAINT jobs_stopped_why_check CHECK (((length(stopped_why) >= 1) AND (length(stopped_why) <= 1000))),
    CONSTRAINT jobs_total_check CHECK (((total >= 1) AND (total <= 100000))),
    CONSTRAINT jobs_why_check CHECK (((length(why) >= 1) AND (length(why) <= 1000)))
)
WITH (fillfactor='70');

COMMENT ON TABLE storehook.jobs IS 'acts on all dead letters that matched a filter when it was confirmed; workers carry them out';

COMMENT ON COLUMN storehook.jobs.act IS 'rehearse changes nothing, and its report says what a replay would do';

COMMENT ON COLUMN storehook.jobs.apps IS 'of the staff who asked for it; null for staff of all apps';

COMMENT ON COLUMN storehook.jobs.up_to IS 'the newest letter when it was confirmed; those that came later are not in it';

COMMENT ON COLUMN storehook.jobs.skipped IS 'letters that somebody had settled before their turn came';

COMMENT ON COLUMN storehook.jobs.actor IS 'as the audit names the person who asked for it';

COMMENT ON COLUMN storehook.jobs.stopped_at IS 'when somebody stopped it; the worker that carries it out notices with its next step';

ALTER TABLE storehook.jobs ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME storehook.jobs_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE storehook.kept_receipts (
    digest bytea NOT NULL,
    kept_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT kept_receipts_digest_check CHECK ((octet_length(digest) = 32))
);

COMMENT ON TABLE storehook.kept_receipts IS 'the receipts that are stored, each once, by what is signed in them; who hands in another writing of one has nothing stored';

COMMENT ON COLUMN storehook.kept_receipts.digest IS 'SHA-256 of the signed content; of a receipt that verifyReceipt alone vouches for, of what Apple read in it, without the instant';

CREATE VIEW storehook.learned AS
 SELECT notifications.environment,
    notifications.bundle_id,
    notifications.original_transaction_id,
    notifications.notification_uuid,
    notifications.type,
    notifications.subtype,
    notifications.signed_at,
    notifications.received_at,
    notifications.applied_at,
    (notifications.received_at - notifications.signed_at) AS signed_to_received,
    (notifications.applied_at - notifications.received_at) AS received_to_applied,
    'notification'::text AS kind,
    notifications.source
   FROM storehook.notifications
UNION ALL
 SELECT records.environment,
    records.bundle_id,
    records.original_transaction_id,
    NULL::uuid AS notification_uuid,
    NULL::text AS type,
    NULL::text AS subtype,
    records.signed_at,
    records.received_at,
    records.applied_at,
    (records.received_at - records.signed_at) AS signed_to_received,
    (records.applied_at - records.received_at) AS received_to_applied,
    records.kind,
    records.source
   FROM storehook.records
  WHERE (records.signed_at IS NOT NULL);

CREATE TABLE storehook.old_posts (
    one boolean DEFAULT true NOT NULL,
    seen_at timestamp with time zone NOT NULL,
    CONSTRAINT old_posts_one_check CHECK (one)
);

COMMENT ON TABLE storehook.old_posts IS 'when somebody last posted a notification of version 1, to the minute; of what was posted nothing is kept';

CREATE VIEW storehook.order_attempts AS
 SELECT o.environment,
    o.bundle_id,
    storehook.order_number(o.day, o.number) AS number,
    o.order_key,
    a.matched_item AS item,
        CASE
            WHEN (a.matched_order_id IS NOT NULL) THEN storehook.order_number(own.day, own.number)
            ELSE NULL::text
        END AS alias,
    a.outcome,
    a.reports,
    a.first_at,
    a.last_at
   FROM ((storehook.booked_attempts a
     JOIN storehook.booked_orders o ON ((o.id = COALESCE(a.matched_order_id, a.order_id))))
     JOIN storehook.booked_orders own ON ((own.id = a.order_id)))
  WHERE (o.class_id IS NOT NULL);

COMMENT ON VIEW storehook.order_attempts IS 'attempts to buy, each in the order that it is or that it came to. alias: a number of its own that finds that order, too';

CREATE TABLE storehook.order_classes (
    id integer NOT NULL,
    environment text NOT NULL COLLATE pg_catalog."C",
    bundle_id text NOT NULL COLLATE pg_catalog."C",
    product_id text NOT NULL COLLATE pg_catalog."C",
    plan_type text NOT NULL COLLATE pg_catalog."C",
    status text NOT NULL COLLATE pg_catalog."C",
    currency text NOT NULL COLLATE pg_catalog."C",
    storefront text NOT NULL COLLATE pg_catalog."C"
);

COMMENT ON TABLE storehook.order_classes IS 'the combinations of what orders are filtered by; product, currency and storefront are empty where no record says them';

ALTER TABLE storehook.order_classes ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME storehook.order_classes_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE storehook.order_clock (
    task text NOT NULL,
    original_transaction_id text COLLATE pg_catalog."C",
    bundle_id text COLLATE pg_catalog."C",
    environment text COLLATE pg_catalog."C",
    finished_at timestamp with time zone,
    CONSTRAINT order_clock_task_check CHECK ((task = ANY (ARRAY['number'::text, 'rebook'::text, 'attempts'::text])))
);

COMMENT ON TABLE storehook.order_clock IS 'what one worker at a time does with orders; of rebook the last purchase that is booked with all that is kept of it now, where the next goes on';

CREATE TABLE storehook.order_days (
    day date NOT NULL,
    last integer NOT NULL,
    CONSTRAINT order_days_last_check CHECK ((last > 0))
);

COMMENT ON TABLE storehook.order_days IS 'the last order number of each day';

CREATE VIEW storehook.order_totals AS
SELECT
    NULL::text COLLATE pg_catalog."C" AS environment,
    NULL::text COLLATE pg_catalog."C" AS bundle_id,
    NULL::text AS number,
    NULL::text COLLATE pg_catalog."C" AS order_key,
    NULL::text COLLATE pg_catalog."C" AS currency,
    NULL::bigint AS paid,
    NULL::bigint AS refunded,
    NULL::bigint AS unpriced,
    NULL::bigint AS unknown_refunds;

COMMENT ON VIEW storehook.order_totals IS 'what was paid and refunded in all of an order, by currency. unpriced: transactions without a signed price; unknown_refunds: refunds without an amount';

CREATE VIEW storehook.order_transactions AS
 SELECT o.environment,
    o.bundle_id,
    storehook.order_number(o.day, o.number) AS number,
    o.order_key,
    t.item,
    t.transaction_id,
        CASE
            WHEN (t.relation <> 'change'::text) THEN t.relation
            WHEN ((t.tier_rank IS NULL) OR (before.tier_rank IS NULL)) THEN
            CASE
                WHEN t.is_within THEN 'upgrade'::text
                ELSE 'crossgrade'::text
            END
            WHEN (t.tier_rank > before.tier_rank) THEN 'upgrade'::text
            WHEN (t.tier_rank < before.tier_rank) THEN 'downgrade'::text
            ELSE 'crossgrade'::text
        END AS type,
    t.starts_at AS at,
    t.ends_at,
    t.product_id,
    t.price AS amount,
    t.currency,
    t.storefront,
    t.quantity,
    t.is_trial,
    t.is_void,
    false AS is_computed,
    t.heard_at
   FROM ((storehook.booked_orders o
     JOIN storehook.booked_transactions t ON ((t.order_id = o.id)))
     LEFT JOIN storehook.booked_transactions before ON (((before.order_id = t.order_id) AND (before.item = t.follows))))
  WHERE (o.class_id IS NOT NULL)
UNION ALL
 SELECT o.environment,
    o.bundle_id,
    storehook.order_number(o.day, o.number) AS number,
    o.order_key,
    t.item,
    t.transaction_id,
    r.type,
    r.at,
    NULL::timestamp with time zone AS ends_at,
    t.product_id,
    r.amount,
    t.currency,
    t.storefront,
    t.quantity,
    t.is_trial,
    t.is_void,
    r.is_computed,
    r.heard_at
   FROM ((storehook.booked_orders o
     JOIN storehook.booked_refunds r ON ((r.order_id = o.id)))
     JOIN storehook.booked_transactions t ON (((t.order_id = r.order_id) AND (t.item = r.item))))
  WHERE (o.class_id IS NOT NULL);

COMMENT ON VIEW storehook.order_transactions IS 'the paid periods and purchases of each order, and the rows of its refunds; amounts are positive, the type says which way';

CREATE VIEW storehook.orders AS
 SELECT o.environment,
    o.bundle_id,
    storehook.order_number(o.day, o.number) AS number,
    o.day,
    o.order_key,
    o.original_transaction_id,
    COALESCE(t.product_id, NULLIF(c.product_id, ''::text)) AS product_id,
    o.plan_type,
    o.status,
    t.price AS amount,
    t.currency,
    t.starts_at AS started_at,
    t.ends_at,
    o.refunded_at,
    o.created_at,
    o.updated_at
   FROM ((storehook.booked_orders o
     JOIN storehook.order_classes c ON ((c.id = o.class_id)))
     LEFT JOIN storehook.booked_transactions t ON (((t.order_id = o.id) AND (t.item = o.item))));

COMMENT ON VIEW storehook.orders IS 'one row an order, with the product, amount and dates of its latest period that began; an order without a number is dealt one within seconds';

CREATE TABLE storehook.outbox_attempts (
    id bigint NOT NULL,
    outbox_id bigint NOT NULL,
    attempt smallint NOT NULL,
    worker text,
    began_at timestamp with time zone,
    ended_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    reason text NOT NULL,
    message text,
    CONSTRAINT outbox_attempts_attempt_check CHECK ((attempt > 0)),
    CONSTRAINT outbox_attempts_message_check CHECK ((length(message) <= 1000)),
    CONSTRAINT outbox_attempts_reason_check CHECK (((length(reason) >= 1) AND (length(reason) <= 100))),
    CONSTRAINT outbox_attempts_worker_check CHECK ((length(worker) <= 200))
);

COMMENT ON TABLE storehook.outbox_attempts IS 'attempts at evidence that was put off or buried, or whose worker vanished; kept as long as histories';

COMMENT ON COLUMN storehook.outbox_attempts.attempt IS 'counted anew where a dead letter is replayed';

COMMENT ON COLUMN storehook.outbox_attempts.began_at IS 'when it was claimed; null where its worker vanished';

ALTER TABLE storehook.outbox_attempts ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME storehook.outbox_attempts_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE VIEW storehook.outbox_days_to_settle AS
 SELECT d.day
   FROM (storehook.outbox_days d
     LEFT JOIN storehook.outbox_settled s ON ((s.day = d.day)))
  WHERE (d.has_partition AND (NOT d.has_strays) AND (d.day < (((now() - '01:00:00'::interval) AT TIME ZONE 'UTC'::text))::date) AND ((s.day IS NULL) OR (s.open_ids <> '{}'::bigint[]) OR (s.changes <> COALESCE(storehook.outbox_day_changes(d.day), (0)::bigint))));

CREATE TABLE storehook.purchase_tellings (
    original_transaction_id text NOT NULL COLLATE pg_catalog."C",
    bundle_id text NOT NULL COLLATE pg_catalog."C",
    environment text NOT NULL COLLATE pg_catalog."C",
    sequence bigint DEFAULT 0 NOT NULL,
    due_at timestamp with time zone,
    told text,
    CONSTRAINT purchase_tellings_sequence_check CHECK ((sequence >= 0)),
    CONSTRAINT purchase_tellings_told_check CHECK ((octet_length(told) <= 65536))
)
WITH (fillfactor='70');

COMMENT ON TABLE storehook.purchase_tellings IS 'what was told last of each purchase, and when something is to be told next';

COMMENT ON COLUMN storehook.purchase_tellings.sequence IS 'the last number in its own order, which it has while it is no account''s';

COMMENT ON COLUMN storehook.purchase_tellings.due_at IS 'when it changes by itself, or is to be warned of: the clock''s queue; from the year 9000 on: owed, see owed_at';

COMMENT ON COLUMN storehook.purchase_tellings.told IS 'what it was; null of what was bought once, and where nothing was told';

CREATE VIEW storehook.overview_now AS
 WITH ready AS (
         SELECT count(*) AS count,
            min(q.received_at) AS oldest
           FROM ( SELECT outbox_queue.received_at
                   FROM storehook.outbox_queue
                  WHERE (outbox_queue.due_at <= now())
                  ORDER BY outbox_queue.due_at, outbox_queue.id
                 LIMIT 10001) q
        ), later AS (
         SELECT count(*) FILTER (WHERE q.is_leased) AS leased,
            min(q.received_at) FILTER (WHERE q.is_leased) AS oldest_leased,
            count(*) FILTER (WHERE (NOT q.is_leased)) AS scheduled,
            min(q.received_at) FILTER (WHERE (NOT q.is_leased)) AS oldest_scheduled
           FROM ( SELECT outbox_queue.received_at,
                    (outbox_queue.lease_token IS NOT NULL) AS is_leased
                   FROM storehook.outbox_queue
                  WHERE (outbox_queue.due_at > now())
                  ORDER BY outbox_queue.due_at, outbox_queue.id
                 LIMIT 10001) q
        ), dead AS (
         SELECT count(*) AS count
           FROM ( SELECT dead_letters.outbox_id
                   FROM storehook.dead_letters
                  WHERE (dead_letters.resolution = 'open'::text)
                  ORDER BY dead_letters.outbox_id
                 LIMIT 10001) d
        ), unplaced AS (
         SELECT COALESCE(sum((1 + COALESCE(cardinality(u.more), 0))), (0)::bigint) AS count
           FROM ( SELECT events_unplaced.more
                   FROM storehook.events_unplaced
                  ORDER BY events_unplaced.id
                 LIMIT 10001) u
        ), delivering AS (
         SELECT count(*) AS endpoints,
            count(*) FILTER (WHERE ((e.state = 'enabled'::text) AND (h.paused_at IS NOT NULL))) AS paused,
            count(*) FILTER (WHERE (e.state = 'disabled'::text)) AS disabled,
            COALESCE(max(GREATEST((last."position" - c."position"), (0)::bigint)), (0)::bigint) AS behind,
            (LEAST(COALESCE(sum(w.lanes), (0)::numeric), (10001)::numeric))::bigint AS lanes,
            (LEAST(COALESCE(sum(d.count), (0)::numeric), (10001)::numeric))::bigint AS undelivered,
            min(LEAST(w.oldest, n.told_at)) AS oldest
           FROM ((((((storehook.endpoints e
             JOIN storehook.endpoint_cursors c ON ((c.endpoint_id = e.id)))
             JOIN storehook.endpoint_health h ON ((h.endpoint_id = e.id)))
             CROSS JOIN ( SELECT COALESCE(max(p."position"), (0)::bigint) AS "position"
                   FROM storehook.event_places p) last)
             CROSS JOIN LATERAL ( SELECT count(*) AS lanes,
                    min(q.received_at) AS oldest
                   FROM ( SELECT delivery_queue.received_at
                           FROM storehook.delivery_queue
                          WHERE (delivery_queue.endpoint_id = e.id)
                          ORDER BY delivery_queue.due_at, delivery_queue.id
                         LIMIT 10001) q) w)
             CROSS JOIN LATERAL ( SELECT count(*) AS count
                   FROM ( SELECT deliveries.id
                           FROM storehook.deliveries
                          WHERE ((deliveries.endpoint_id = e.id) AND (deliveries.outcome = 'dead'::text) AND (deliveries.resent_at IS NULL))
                          ORDER BY deliveries.id
                         LIMIT 10001) g) d)
             LEFT JOIN LATERAL ( SELECT p.told_at
                   FROM storehook.event_places p
                  WHERE (p."position" > c."position")
                  ORDER BY p."position"
                 LIMIT 1) n ON ((e.state = 'enabled'::text)))
          WHERE (e.state <> 'removed'::text)
        )
 SELECT ready.count AS ready,
    later.scheduled,
    later.leased,
    dead.count AS dead,
    ready.oldest AS oldest_ready,
    later.oldest_scheduled,
    later.oldest_leased,
    ( SELECT dead_letters.received_at
           FROM storehook.dead_letters
          WHERE (dead_letters.resolution = 'open'::text)
          ORDER BY dead_letters.outbox_id
         LIMIT 1) AS oldest_dead,
    unplaced.count AS unplaced,
    LEAST(( SELECT min(purchase_tellings.due_at) AS min
           FROM storehook.purchase_tellings
          WHERE (purchase_tellings.due_at IS NOT NULL)), ( SELECT min(access_tellings.due_at) AS min
           FROM storehook.access_tellings
          WHERE (access_tellings.due_at IS NOT NULL))) AS event_due_at,
    delivering.endpoints,
    delivering.paused,
    delivering.disabled,
    delivering.behind,
    delivering.lanes,
    delivering.undelivered,
    delivering.oldest AS oldest_delivery
   FROM ready,
    later,
    dead,
    unplaced,
    delivering;

COMMENT ON VIEW storehook.overview_now IS 'how the pipeline stands, by reads whose cost has a bound: 10,001 is more than 10,000; workers write it into overview_ring';

CREATE TABLE storehook.overview_ring (
    seconds smallint NOT NULL,
    slot smallint NOT NULL,
    at timestamp with time zone NOT NULL,
    span_ms integer NOT NULL,
    received bigint NOT NULL,
    recorded bigint NOT NULL,
    duplicates bigint NOT NULL,
    buried bigint NOT NULL,
    apple_count bigint NOT NULL,
    apple_ms bigint NOT NULL,
    apple_longest_ms bigint NOT NULL,
    own_count bigint NOT NULL,
    own_ms bigint NOT NULL,
    own_longest_ms bigint NOT NULL,
    ready bigint NOT NULL,
    scheduled bigint NOT NULL,
    leased bigint NOT NULL,
    dead bigint NOT NULL,
    ready_age_ms bigint NOT NULL,
    scheduled_age_ms bigint NOT NULL,
    leased_age_ms bigint NOT NULL,
    dead_age_ms bigint NOT NULL,
    unplaced bigint NOT NULL,
    event_age_ms bigint NOT NULL,
    endpoints bigint NOT NULL,
    paused bigint NOT NULL,
    disabled bigint NOT NULL,
    behind bigint NOT NULL,
    lanes bigint NOT NULL,
    undelivered bigint NOT NULL,
    delivery_age_ms bigint NOT NULL,
    CONSTRAINT overview_ring_check CHECK (((slot >= 0) AND (slot <
CASE seconds
    WHEN 5 THEN 720
    ELSE 288
END))),
    CONSTRAINT overview_ring_seconds_check CHECK ((seconds = ANY (ARRAY[5, 300]))),
    CONSTRAINT overview_ring_span_ms_check CHECK ((span_ms > 0))
)
WITH (fillfactor='50');

COMMENT ON TABLE storehook.overview_ring IS 'what the pipeline did and how it stood: a row each five seconds of the last hour, and one each five minutes of the last day';

COMMENT ON COLUMN storehook.overview_ring.seconds IS 'the length of a slot; a row of 300 has sums of what was done, and the highest of what stood';

COMMENT ON COLUMN storehook.overview_ring.at IS 'when it was written; what was done is that of span_ms up to a second before';

COMMENT ON COLUMN storehook.overview_ring.received IS 'evidence that was stored; 20,001 is more than 20,000 in a row of 5';

COMMENT ON COLUMN storehook.overview_ring.ready IS 'evidence that is due, which nobody holds; 10,001 is more than 10,000, here and in scheduled, leased, dead, unplaced, lanes and undelivered';

COMMENT ON COLUMN storehook.overview_ring.ready_age_ms IS 'since the oldest of those that were counted was received; 0 where there is none';

COMMENT ON COLUMN storehook.overview_ring.unplaced IS 'events that have no place in the feed yet';

COMMENT ON COLUMN storehook.overview_ring.event_age_ms IS 'since an event that only time causes was due; 0 where none is late';

COMMENT ON COLUMN storehook.overview_ring.behind IS 'the most events that an endpoint has not been dealt yet';

COMMENT ON COLUMN storehook.overview_ring.lanes IS 'accounts and purchases for which an endpoint has something waiting';

COMMENT ON COLUMN storehook.overview_ring.undelivered IS 'deliveries that were given up and not sent again';

CREATE TABLE storehook.overview_state (
    only_row boolean DEFAULT true NOT NULL,
    recorded bigint DEFAULT 0 NOT NULL,
    duplicates bigint DEFAULT 0 NOT NULL,
    buried bigint DEFAULT 0 NOT NULL,
    apple_count bigint DEFAULT 0 NOT NULL,
    apple_ms bigint DEFAULT 0 NOT NULL,
    apple_longest_ms bigint DEFAULT 0 NOT NULL,
    own_count bigint DEFAULT 0 NOT NULL,
    own_ms bigint DEFAULT 0 NOT NULL,
    own_longest_ms bigint DEFAULT 0 NOT NULL,
    slot smallint,
    sampled_at timestamp with time zone,
    detail json,
    detail_at timestamp with time zone,
    CONSTRAINT overview_state_apple_count_check CHECK ((apple_count >= 0)),
    CONSTRAINT overview_state_apple_longest_ms_check CHECK ((apple_longest_ms >= 0)),
    CONSTRAINT overview_state_apple_ms_check CHECK ((apple_ms >= 0)),
    CONSTRAINT overview_state_buried_check CHECK ((buried >= 0)),
    CONSTRAINT overview_state_check CHECK (((slot IS NULL) = (sampled_at IS NULL))),
    CONSTRAINT overview_state_check1 CHECK (((detail IS NULL) = (detail_at IS NULL))),
    CONSTRAINT overview_state_duplicates_check CHECK ((duplicates >= 0)),
    CONSTRAINT overview_state_only_row_check CHECK (only_row),
    CONSTRAINT overview_state_own_count_check CHECK ((own_count >= 0)),
    CONSTRAINT overview_state_own_longest_ms_check CHECK ((own_longest_ms >= 0)),
    CONSTRAINT overview_state_own_ms_check CHECK ((own_ms >= 0)),
    CONSTRAINT overview_state_recorded_check CHECK ((recorded >= 0))
)
WITH (fillfactor='50');

COMMENT ON TABLE storehook.overview_state IS 'what workers have done since the last row of overview_ring, and which row that is';

COMMENT ON COLUMN storehook.overview_state.recorded IS 'evidence that was applied or parked';

COMMENT ON COLUMN storehook.overview_state.apple_ms IS 'of apple_count notifications: from Apple''s signature to their receipt, in all; an overview shows the mean';

COMMENT ON COLUMN storehook.overview_state.own_ms IS 'of own_count pieces of evidence: from their receipt to the commit that applied them';

COMMENT ON COLUMN storehook.overview_state.slot IS 'of the latest row of five seconds';

COMMENT ON COLUMN storehook.overview_state.detail IS 'what changes more slowly, read every half minute: up to when each app is proven, canaries, leases past their end';

CREATE TABLE storehook.replaced_renewals (
    environment text NOT NULL COLLATE pg_catalog."C",
    bundle_id text NOT NULL COLLATE pg_catalog."C",
    original_transaction_id text NOT NULL COLLATE pg_catalog."C",
    transaction_id text NOT NULL COLLATE pg_catalog."C",
    replaced_at timestamp with time zone NOT NULL
);

COMMENT ON TABLE storehook.replaced_renewals IS 'renewals that were charged ahead and never begin: another plan was bought before they did, and Apple gives the money back';

COMMENT ON COLUMN storehook.replaced_renewals.replaced_at IS 'when that plan was bought';

CREATE VIEW storehook.paid_periods AS
 SELECT t.environment,
    t.bundle_id,
    t.original_transaction_id,
    t.transaction_id,
    t.product_id,
    t.kind,
    t.purchased_at,
    t.expires_at,
    t.price,
    t.currency,
    t.quantity,
    r.revoked_at,
    t.revocation_type,
    t.revocation_reason,
    r.revocation_percentage,
    t.storefront,
    t.offer_type,
    t.offer_id,
    t.billing_plan_type,
    (t.payload -> 'commitmentInfo'::text) AS commitment_info,
        CASE
            WHEN (r.revoked_at IS NULL) THEN (0)::bigint
            ELSE (trunc((((t.price)::numeric * (COALESCE(r.revocation_percentage, (100000)::bigint))::numeric) / (100000)::numeric)))::bigint
        END AS refunded
   FROM (((storehook.transactions t
     LEFT JOIN storehook.one_time_purchases o ON (((t.kind = 'Non-Consumable'::text) AND (o.original_transaction_id = t.original_transaction_id) AND (o.bundle_id = t.bundle_id) AND (o.environment = t.environment))))
     LEFT JOIN LATERAL ( SELECT s_1.revoked_at,
            s_1.revoked_share
           FROM json_to_recordset((o.sales)::json) s_1(transaction_id text, revoked_at bigint, revoked_share bigint)
          WHERE (s_1.transaction_id = t.transaction_id)) s ON (true))
     CROSS JOIN LATERAL ( SELECT
                CASE
                    WHEN (o.original_transaction_id IS NULL) THEN t.revoked_at
                    WHEN (o.sales IS NULL) THEN o.revoked_at
                    ELSE ('1970-01-01 00:00:00+00'::timestamp with time zone + ((s.revoked_at)::double precision * '00:00:00.001'::interval))
                END AS revoked_at,
                CASE
                    WHEN ((o.original_transaction_id IS NULL) OR (t.revoked_at IS NOT NULL)) THEN t.revocation_percentage
                    WHEN (o.sales IS NULL) THEN NULLIF(o.revoked_share, 0)
                    ELSE NULLIF(s.revoked_share, 0)
                END AS revocation_percentage) r)
  WHERE (((t.ownership = 'PURCHASED'::text) OR (t.ownership IS NULL)) AND (NOT (EXISTS ( SELECT
           FROM storehook.transactions later
          WHERE ((later.web_order_line_item_id = t.web_order_line_item_id) AND (later.bundle_id = t.bundle_id) AND (later.environment = t.environment) AND (later.transaction_id <> t.transaction_id) AND ((later.ownership = 'PURCHASED'::text) OR (later.ownership IS NULL)) AND ((later.purchased_at = t.purchased_at) OR ((later.additional_reason IS NULL) AND (t.additional_reason IS NULL))) AND (ROW((later.is_unsigned IS NULL), later.signed_at, later.digest, later.transaction_id) > ROW((t.is_unsigned IS NULL), t.signed_at, t.digest, t.transaction_id)))))) AND (NOT (EXISTS ( SELECT
           FROM storehook.replaced_renewals r_1
          WHERE ((r_1.original_transaction_id = t.original_transaction_id) AND (r_1.bundle_id = t.bundle_id) AND (r_1.environment = t.environment) AND (r_1.transaction_id = t.transaction_id))))) AND
        CASE
            WHEN (t.kind IS DISTINCT FROM 'Non-Consumable'::text) THEN true
            WHEN (o.sales IS NOT NULL) THEN (s.revoked_share IS NOT NULL)
            ELSE (NOT (EXISTS ( SELECT
               FROM storehook.transactions first
              WHERE ((first.original_transaction_id = t.original_transaction_id) AND (first.bundle_id = t.bundle_id) AND (first.environment = t.environment) AND (first.kind = 'Non-Consumable'::text) AND ((first.ownership = 'PURCHASED'::text) OR (first.ownership IS NULL)) AND (ROW((first.price IS NULL), first.purchased_at, first.transaction_id) < ROW((t.price IS NULL), t.purchased_at, t.transaction_id))))))
        END);

COMMENT ON VIEW storehook.paid_periods IS 'price in milliunits of currency, quantity and offer included: 9990 is 9.99, and 230000 is 230 yen';

COMMENT ON COLUMN storehook.paid_periods.revocation_reason IS 'why Apple refunded: 0 another reason, 1 an issue with the app';

COMMENT ON COLUMN storehook.paid_periods.refunded IS 'how much of the price was paid back, in milliunits, rounded down: all of it where Apple names no share';

CREATE TABLE storehook.proxied_staff (
    name text NOT NULL,
    role text NOT NULL,
    apps text[],
    known_at timestamp with time zone DEFAULT now() NOT NULL,
    changed_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT proxied_staff_apps_check CHECK ((cardinality(apps) >= 1)),
    CONSTRAINT proxied_staff_name_check CHECK (((length(name) >= 1) AND (length(name) <= 190))),
    CONSTRAINT proxied_staff_role_check CHECK ((role = ANY (ARRAY['viewer'::text, 'support'::text, 'admin'::text])))
);

COMMENT ON TABLE storehook.proxied_staff IS 'people whom a proxy in front of the console has logged in, by the name that it gave';

CREATE TABLE storehook.proxied_tries (
    name text NOT NULL,
    route text NOT NULL COLLATE pg_catalog."C",
    minute timestamp with time zone NOT NULL,
    tries bigint DEFAULT 1 NOT NULL,
    CONSTRAINT proxied_tries_route_check CHECK (((length(route) >= 1) AND (length(route) <= 200))),
    CONSTRAINT proxied_tries_tries_check CHECK ((tries > 0))
);

COMMENT ON TABLE storehook.proxied_tries IS 'what people whom a proxy has logged in tried and may not do, until the minute is over and a row of the audit has it';

CREATE TABLE storehook.purchase_attempts (
    id bigint NOT NULL,
    token uuid NOT NULL,
    product_id text,
    kind text NOT NULL,
    outcome text NOT NULL,
    reason text,
    at timestamp with time zone DEFAULT now() NOT NULL,
    transaction_id text,
    environment text COLLATE pg_catalog."C",
    is_booked boolean DEFAULT false NOT NULL,
    is_surplus boolean DEFAULT false NOT NULL,
    CONSTRAINT purchase_attempts_kind_check CHECK ((kind = ANY (ARRAY['purchase'::text, 'restore'::text]))),
    CONSTRAINT purchase_attempts_product_id_check CHECK (((length(product_id) >= 1) AND (length(product_id) <= 255))),
    CONSTRAINT purchase_attempts_reason_check CHECK ((length(reason) <= 1000))
);

COMMENT ON TABLE storehook.purchase_attempts IS 'append-only: what apps reported of attempts to buy and to restore; nothing is decided by it';

COMMENT ON COLUMN storehook.purchase_attempts.product_id IS 'Apple''s id of it, as the app wrote it; null where a restore names none';

COMMENT ON COLUMN storehook.purchase_attempts.outcome IS 'nothing: a restore found nothing';

COMMENT ON COLUMN storehook.purchase_attempts.transaction_id IS 'Apple''s id of the transaction, as the app wrote it; null where it named none';

COMMENT ON COLUMN storehook.purchase_attempts.environment IS 'in Apple''s word, as the app wrote it; null where it named none';

COMMENT ON COLUMN storehook.purchase_attempts.is_booked IS 'whether orders, or of a restore reported_restores, took note of it';

COMMENT ON COLUMN storehook.purchase_attempts.is_surplus IS 'whether it is in no order because its account had the most attempts that a day may have';

ALTER TABLE storehook.purchase_attempts ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME storehook.purchase_attempts_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

ALTER TABLE storehook.purchase_bindings ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME storehook.purchase_bindings_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE storehook.purchase_facts (
    environment text NOT NULL COLLATE pg_catalog."C",
    bundle_id text NOT NULL COLLATE pg_catalog."C",
    original_transaction_id text NOT NULL COLLATE pg_catalog."C",
    outbox_id bigint NOT NULL,
    signed_at timestamp with time zone NOT NULL,
    reported_status smallint,
    transaction_id text COLLATE pg_catalog."C",
    transaction_signed_at timestamp with time zone,
    transaction_digest bytea,
    web_order_line_item_id text COLLATE pg_catalog."C",
    product_id text,
    subscription_group_id text,
    kind text,
    ownership text,
    purchased_at timestamp with time zone,
    expires_at timestamp with time zone,
    revoked_at timestamp with time zone,
    revocation_percentage bigint,
    is_upgraded boolean,
    is_renewal boolean,
    is_free_trial boolean,
    quantity bigint,
    app_account_token uuid,
    renewal_signed_at timestamp with time zone,
    renewal_digest bytea,
    current_product_id text,
    renewal_product_id text,
    auto_renew boolean,
    renews_at timestamp with time zone,
    expiration_intent smallint,
    in_billing_retry boolean,
    grace_expires_at timestamp with time zone,
    price_increase_pending boolean,
    renewal_account_token uuid,
    is_unsigned boolean,
    reason text,
    additional_reason text,
    is_not_retried boolean,
    original_purchased_at timestamp with time zone,
    price bigint,
    revocation_reason smallint,
    paid bigint,
    first_bought_at timestamp with time zone,
    currency text,
    storefront text,
    revocation_type text,
    up_front_period text,
    billing_plan text,
    CONSTRAINT purchase_facts_check CHECK (((transaction_id IS NULL) = (transaction_signed_at IS NULL))),
    CONSTRAINT purchase_facts_check1 CHECK (((transaction_id IS NULL) = (transaction_digest IS NULL))),
    CONSTRAINT purchase_facts_check2 CHECK (((renewal_signed_at IS NULL) = (renewal_digest IS NULL))),
    CONSTRAINT purchase_facts_renewal_digest_check CHECK ((octet_length(renewal_digest) = 32)),
    CONSTRAINT purchase_facts_transaction_digest_check CHECK ((octet_length(transaction_digest) = 32))
);

COMMENT ON TABLE storehook.purchase_facts IS 'what each piece of evidence said about a purchase; append-only and kept for good, since what was true is told by superseded records';

COMMENT ON COLUMN storehook.purchase_facts.signed_at IS 'when the evidence was signed: the outer signedDate of a notification';

COMMENT ON COLUMN storehook.purchase_facts.is_unsigned IS 'true for what verifyReceipt said and nobody signed: it counts for nothing where Apple''s signed word of the same thing is known';

COMMENT ON COLUMN storehook.purchase_facts.reason IS 'PURCHASE or RENEWAL, as Apple says; null where Apple says neither, or the row was written before it was kept';

COMMENT ON COLUMN storehook.purchase_facts.additional_reason IS 'why the transaction stands beside others of its period, in Apple''s word; null for nearly all';

COMMENT ON COLUMN storehook.purchase_facts.is_not_retried IS 'true where the renewal info says that Apple does not try to charge; null where it tries, and where Apple leaves that out';

COMMENT ON COLUMN storehook.purchase_facts.revocation_reason IS 'why Apple refunded: 0 another reason, 1 an issue with the app; null where nothing was refunded, or Apple does not say';

COMMENT ON COLUMN storehook.purchase_facts.paid IS 'the price, in thousandths of the currency, but for a non-consumable, which has price';

COMMENT ON COLUMN storehook.purchase_facts.first_bought_at IS 'the originalPurchaseDate, but for a non-consumable, which has original_purchased_at';

COMMENT ON COLUMN storehook.purchase_facts.up_front_period IS 'the length of an offer that is paid up front, an ISO 8601 duration (offerPeriod)';

COMMENT ON COLUMN storehook.purchase_facts.billing_plan IS 'how it is billed, in Apple''s word (billingPlanType)';

CREATE TABLE storehook.purchase_lines (
    environment text NOT NULL COLLATE pg_catalog."C",
    bundle_id text NOT NULL COLLATE pg_catalog."C",
    original_transaction_id text NOT NULL COLLATE pg_catalog."C",
    anomalies integer DEFAULT 0 NOT NULL,
    CONSTRAINT purchase_lines_anomalies_check CHECK ((anomalies >= 0))
)
WITH (fillfactor='80');

COMMENT ON TABLE storehook.purchase_lines IS 'one row for each purchase that any fact speaks of; locked by whoever derives its state';

COMMENT ON COLUMN storehook.purchase_lines.anomalies IS 'rows of it in table anomalies';

CREATE TABLE storehook.purchased_products (
    environment text NOT NULL COLLATE pg_catalog."C",
    bundle_id text NOT NULL COLLATE pg_catalog."C",
    product_id text NOT NULL COLLATE pg_catalog."C",
    held_until timestamp with time zone NOT NULL,
    first_seen_at timestamp with time zone DEFAULT now() NOT NULL
);

COMMENT ON TABLE storehook.purchased_products IS 'each product that a purchase ever named, but for consumables; what customers hold is not counted';

COMMENT ON COLUMN storehook.purchased_products.held_until IS 'at least until the last purchase of it gives access, to the day; infinity for what has no end. It only grows: a refund does not count';

CREATE VIEW storehook.queue_depth AS
 WITH queued AS (
         SELECT
                CASE
                    WHEN (outbox_queue.due_at <= now()) THEN 'ready'::text
                    WHEN (outbox_queue.lease_token IS NULL) THEN 'scheduled'::text
                    ELSE 'leased'::text
                END AS state,
            outbox_queue.received_at,
            outbox_queue.due_at,
            outbox_queue.last_reason
           FROM storehook.outbox_queue
        UNION ALL
         SELECT 'dead'::text,
            dead_letters.received_at,
            NULL::timestamp with time zone,
            dead_letters.reason
           FROM storehook.dead_letters
          WHERE (dead_letters.resolution = 'open'::text)
        ), counted AS (
         SELECT queued.state,
            queued.last_reason,
            count(*) AS rows,
            min(queued.received_at) AS oldest,
            min(queued.due_at) FILTER (WHERE (queued.due_at > now())) AS next_due_at
           FROM queued
          GROUP BY queued.state, queued.last_reason
        )
 SELECT s.state,
    (COALESCE(sum(c.rows), (0)::numeric))::bigint AS count,
    (COALESCE(EXTRACT(epoch FROM (now() - min(c.oldest))), (0)::numeric))::double precision AS oldest_age_seconds,
    (array_agg(c.last_reason ORDER BY c.rows DESC, c.last_reason) FILTER (WHERE (c.last_reason IS NOT NULL)))[1] AS reason,
    min(c.next_due_at) AS next_due_at
   FROM (( VALUES ('ready'::text,1), ('scheduled'::text,2), ('leased'::text,3), ('dead'::text,4)) s(state, place)
     LEFT JOIN counted c USING (state))
  GROUP BY s.state, s.place
  ORDER BY s.place;

COMMENT ON VIEW storehook.queue_depth IS 'ready: due now, expired leases included; scheduled: waiting for its time; leased: a worker has it; dead: open letters';

COMMENT ON COLUMN storehook.queue_depth.reason IS 'what most of them were put off or buried for; null where none was put off yet';

COMMENT ON COLUMN storehook.queue_depth.next_due_at IS 'when the first of them falls due; null for what is due or dead';

CREATE TABLE storehook.refusals (
    reason text NOT NULL,
    table_name text DEFAULT ''::text NOT NULL,
    constraint_name text DEFAULT ''::text NOT NULL,
    message text NOT NULL,
    last_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    last_id bigint NOT NULL,
    other_at timestamp with time zone,
    other_id bigint,
    CONSTRAINT refusals_check CHECK (((other_at IS NULL) = (other_id IS NULL))),
    CONSTRAINT refusals_constraint_name_check CHECK ((length(constraint_name) <= 100)),
    CONSTRAINT refusals_message_check CHECK ((length(message) <= 1000)),
    CONSTRAINT refusals_reason_check CHECK ((length(reason) <= 100)),
    CONSTRAINT refusals_table_name_check CHECK ((length(table_name) <= 200))
)
WITH (fillfactor='50');

COMMENT ON TABLE storehook.refusals IS 'why PostgreSQL refused to have notifications settled that were tried alone, by the code, and the table and the constraint that it named';

COMMENT ON COLUMN storehook.refusals.reason IS 'as in outbox_queue.last_reason';

COMMENT ON COLUMN storehook.refusals.message IS 'what PostgreSQL said, without values';

COMMENT ON COLUMN storehook.refusals.last_id IS 'outbox.id of the notification that met it last';

COMMENT ON COLUMN storehook.refusals.other_id IS 'of another one that met it before, the latest';

CREATE VIEW storehook.queue_refused AS
 SELECT w.reason,
    w.count,
    w.since,
    (EXTRACT(epoch FROM (now() - w.since)))::double precision AS oldest_age_seconds,
    r.table_name,
    r.constraint_name,
    r.message,
    r.last_at
   FROM (( SELECT q.last_reason AS reason,
            count(*) AS count,
            min(q.refused_at) AS since
           FROM storehook.outbox_queue q
          WHERE ((q.refused_at IS NOT NULL) AND (EXISTS ( SELECT
                   FROM storehook.refusals)))
          GROUP BY q.last_reason) w
     CROSS JOIN LATERAL ( SELECT r_1.table_name,
            r_1.constraint_name,
            r_1.message,
            r_1.last_at
           FROM storehook.refusals r_1
          WHERE (r_1.reason = w.reason)
          ORDER BY r_1.last_at DESC
         LIMIT 1) r);

COMMENT ON VIEW storehook.queue_refused IS 'notifications that wait because PostgreSQL refuses them, by its code, with what it named last; not those that wait for a lock';

CREATE VIEW storehook.queue_waiting AS
 SELECT COALESCE(outbox_queue.last_reason, 'replayed'::text) AS reason,
    count(*) AS count,
    (EXTRACT(epoch FROM (now() - min(outbox_queue.received_at))))::double precision AS oldest_age_seconds,
    min(outbox_queue.due_at) AS next_due_at,
    max(outbox_queue.due_at) AS last_due_at
   FROM storehook.outbox_queue
  WHERE ((outbox_queue.due_at > now()) AND (outbox_queue.lease_token IS NULL))
  GROUP BY COALESCE(outbox_queue.last_reason, 'replayed'::text);

COMMENT ON VIEW storehook.queue_waiting IS 'notifications that were put off, by reason (the runbook has an entry for each), and when the first and the last of them fall due';

CREATE TABLE storehook.rate_imports (
    id bigint NOT NULL,
    at timestamp with time zone NOT NULL,
    imported_by text NOT NULL,
    digest bytea NOT NULL,
    rates bigint NOT NULL,
    added bigint NOT NULL,
    corrected bigint NOT NULL,
    CONSTRAINT rate_imports_digest_check CHECK ((length(digest) = 32)),
    CONSTRAINT rate_imports_imported_by_check CHECK (((length(imported_by) >= 1) AND (length(imported_by) <= 200)))
);

COMMENT ON TABLE storehook.rate_imports IS 'files of exchange rates that were imported';

COMMENT ON COLUMN storehook.rate_imports.digest IS 'SHA-256 of the file';

COMMENT ON COLUMN storehook.rate_imports.rates IS 'how many the file has; those that are neither added nor corrected were known';

ALTER TABLE storehook.rate_imports ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME storehook.rate_imports_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE storehook.refresh_queue (
    id bigint NOT NULL,
    received_at timestamp with time zone NOT NULL,
    due_at timestamp with time zone NOT NULL,
    attempts smallint DEFAULT 0 NOT NULL,
    lapses smallint DEFAULT 0 NOT NULL,
    lease_owner text,
    lease_token uuid,
    last_reason text,
    CONSTRAINT refresh_queue_attempts_check CHECK ((attempts >= 0)),
    CONSTRAINT refresh_queue_check CHECK (((lease_owner IS NULL) = (lease_token IS NULL))),
    CONSTRAINT refresh_queue_lapses_check CHECK ((lapses >= 0)),
    CONSTRAINT refresh_queue_last_reason_check CHECK ((length(last_reason) <= 100)),
    CONSTRAINT refresh_queue_lease_owner_check CHECK ((length(lease_owner) <= 200))
)
WITH (fillfactor='70');

CREATE TABLE storehook.refreshes (
    id bigint NOT NULL,
    environment text NOT NULL COLLATE pg_catalog."C",
    bundle_id text NOT NULL COLLATE pg_catalog."C",
    original_transaction_id text NOT NULL COLLATE pg_catalog."C",
    noted_at timestamp with time zone DEFAULT now() NOT NULL,
    asked_at timestamp with time zone,
    again_at timestamp with time zone,
    rounds smallint DEFAULT 0 NOT NULL,
    stored bigint DEFAULT 0 NOT NULL,
    outcome text,
    CONSTRAINT refreshes_check CHECK (((asked_at IS NULL) = (outcome IS NULL))),
    CONSTRAINT refreshes_outcome_check CHECK ((length(outcome) <= 100))
);

COMMENT ON TABLE storehook.refreshes IS 'purchases that records do not explain, and what came of asking Apple about them';

COMMENT ON COLUMN storehook.refreshes.again_at IS 'not to be asked for again before';

COMMENT ON COLUMN storehook.refreshes.stored IS 'signed records that were stored, over all rounds';

COMMENT ON COLUMN storehook.refreshes.outcome IS 'refreshed, or the code of why Apple gave nothing';

ALTER TABLE storehook.refreshes ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME storehook.refreshes_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE storehook.refund_request_texts (
    id bigint NOT NULL,
    reason text,
    note text,
    erased_at timestamp with time zone,
    CONSTRAINT refund_request_texts_check CHECK (((erased_at IS NULL) OR ((reason IS NULL) AND (note IS NULL)))),
    CONSTRAINT refund_request_texts_note_check CHECK (((length(note) >= 1) AND (length(note) <= 1000))),
    CONSTRAINT refund_request_texts_reason_check CHECK (((length(reason) >= 1) AND (length(reason) <= 1000)))
);

COMMENT ON TABLE storehook.refund_request_texts IS 'what staff wrote about refund requests (staff_refund_requests); erasing the account empties it';

COMMENT ON COLUMN storehook.refund_request_texts.note IS 'with the decision, for colleagues';

CREATE VIEW storehook.refund_requests AS
 SELECT r.environment,
    r.bundle_id,
    ('RF-'::text ||
        CASE
            WHEN (r.id < 1000) THEN lpad((r.id)::text, 3, '0'::text)
            ELSE (r.id)::text
        END) AS number,
    storehook.order_number(o.day, o.number) AS order_number,
    o.order_key,
    r.transaction_id,
    r.kind AS type,
    r.state,
    ((r.state = 'approved'::text) AND (r.decided_at <= (now() - '30 days'::interval))) AS is_not_refunded,
    r.requested,
    r.approved,
    r.currency,
    r.created_at,
    r.requester,
    r.decided_at,
    r.decider,
    r.apple_at AS refunded_by_apple_at,
    r.apple_amount AS refunded_by_apple,
    r.reversed_at,
    r.elsewhere_at AS refunded_elsewhere_at,
    r.elsewhere_amount AS refunded_elsewhere,
    r.reference,
    r.processed_at
   FROM (storehook.staff_refund_requests r
     JOIN storehook.booked_orders o ON ((o.id = r.order_id)));

COMMENT ON VIEW storehook.refund_requests IS 'requests of staff for refunds, without what they wrote; amounts are in thousandths of the currency';

COMMENT ON COLUMN storehook.refund_requests.is_not_refunded IS 'approved 30 days ago, and not refunded by Apple';

CREATE TABLE storehook.renewals (
    environment text NOT NULL COLLATE pg_catalog."C",
    bundle_id text NOT NULL COLLATE pg_catalog."C",
    original_transaction_id text NOT NULL COLLATE pg_catalog."C",
    product_id text,
    renewal_product_id text,
    auto_renew boolean,
    renews_at timestamp with time zone,
    expiration_intent smallint,
    in_billing_retry boolean,
    grace_expires_at timestamp with time zone,
    price_increase_status smallint,
    app_account_token uuid,
    signed_at timestamp with time zone NOT NULL,
    digest bytea NOT NULL,
    notification_uuid uuid,
    payload json NOT NULL,
    renewal_price bigint,
    currency text,
    offer_type smallint,
    offer_id text,
    app_transaction_id text,
    is_unsigned boolean,
    CONSTRAINT renewals_digest_check CHECK ((octet_length(digest) = 32))
)
WITH (fillfactor='80');

COMMENT ON COLUMN storehook.renewals.renewal_price IS 'milliunits of currency; of the coming renewal, as is the offer';

COMMENT ON COLUMN storehook.renewals.is_unsigned IS 'true where this is what verifyReceipt said, and Apple''s signed word is not known; signed_at is then when it was answered';

CREATE TABLE storehook.reported_restores (
    id bigint NOT NULL,
    at timestamp with time zone NOT NULL,
    environment text NOT NULL COLLATE pg_catalog."C",
    bundle_id text NOT NULL COLLATE pg_catalog."C",
    product_id text DEFAULT ''::text NOT NULL COLLATE pg_catalog."C",
    outcome text NOT NULL COLLATE pg_catalog."C",
    CONSTRAINT reported_restores_outcome_check CHECK ((outcome = ANY (ARRAY['completed'::text, 'failed'::text, 'nothing'::text, 'cancelled'::text]))),
    CONSTRAINT reported_restores_product_check CHECK (((bundle_id <> ''::text) OR (product_id = ''::text)))
);

COMMENT ON TABLE storehook.reported_restores IS 'how restores ended that apps reported, for figures, without the account. Evidence: no rebuild derives it. Pending ones have not ended';

COMMENT ON COLUMN storehook.reported_restores.at IS 'when it was reported';

COMMENT ON COLUMN storehook.reported_restores.environment IS 'in Apple''s word; Production where the app named none';

COMMENT ON COLUMN storehook.reported_restores.bundle_id IS 'the app that had the product in the catalog that was current; empty where no product was named, none had it, or several';

COMMENT ON COLUMN storehook.reported_restores.product_id IS 'of the report; empty where no app is known by it: apps may write anything there';

ALTER TABLE storehook.reported_restores ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME storehook.reported_restores_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE storehook.saved_filters (
    id bigint NOT NULL,
    page text NOT NULL COLLATE pg_catalog."C",
    name text NOT NULL,
    qualifiers json NOT NULL,
    made_by text NOT NULL,
    made_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT saved_filters_made_by_check CHECK (((length(made_by) >= 1) AND (length(made_by) <= 210))),
    CONSTRAINT saved_filters_name_check CHECK (((length(name) >= 1) AND (length(name) <= 60))),
    CONSTRAINT saved_filters_page_check CHECK ((page ~ '^[a-z-]{1,40}$'::text))
);

COMMENT ON TABLE storehook.saved_filters IS 'filters of lists that the staff shares; their values are codes and ids of products and apps, never a person''s';

ALTER TABLE storehook.saved_filters ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME storehook.saved_filters_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE storehook.schema_expansions (
    version integer NOT NULL,
    name text NOT NULL,
    checksum text NOT NULL,
    compatible_from integer NOT NULL,
    applied_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT schema_expansions_check CHECK (((compatible_from >= 1) AND (compatible_from <= (version - 1)))),
    CONSTRAINT schema_expansions_version_check CHECK ((version > 0))
);

COMMENT ON TABLE storehook.schema_expansions IS 'applied migrations that a program of version compatible_from or later need not know to go on working; those that it must know are in schema_migrations';

CREATE TABLE storehook.schema_migrations (
    version integer NOT NULL,
    name text NOT NULL,
    checksum text NOT NULL,
    applied_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT schema_migrations_version_check CHECK ((version > 0))
);

CREATE TABLE storehook.searches (
    id uuid DEFAULT gen_random_uuid() NOT NULL,
    actor text NOT NULL,
    found json NOT NULL,
    made_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT searches_actor_check CHECK (((length(actor) >= 1) AND (length(actor) <= 210)))
);

COMMENT ON TABLE storehook.searches IS 'what searches of the staff led to, for an hour: appAccountTokens and ids of Apple''s, never what was looked for';

COMMENT ON COLUMN storehook.searches.id IS 'cannot be guessed; it leads nobody but the actor who searched to anything';

CREATE TABLE storehook.senders (
    address inet NOT NULL,
    verified_at timestamp with time zone,
    junk_day date,
    junk_bytes bigint DEFAULT 0 NOT NULL,
    junk_minute timestamp with time zone,
    junk_letters integer DEFAULT 0 NOT NULL,
    refused_until timestamp with time zone,
    CONSTRAINT senders_junk_bytes_check CHECK ((junk_bytes >= 0)),
    CONSTRAINT senders_junk_letters_check CHECK ((junk_letters >= 0))
);

COMMENT ON TABLE storehook.senders IS 'addresses that posted something, by what it was; no proxies of ours. Written by workers, read by receivers';

COMMENT ON COLUMN storehook.senders.verified_at IS 'when something from there was last found genuine, to the hour: such an address is not refused for 30 days';

COMMENT ON COLUMN storehook.senders.junk_bytes IS 'bytes that did not verify, on junk_day (UTC)';

COMMENT ON COLUMN storehook.senders.junk_letters IS 'posts that did not verify, in junk_minute';

COMMENT ON COLUMN storehook.senders.refused_until IS 'until then receivers answer it 503, so that whoever it is tries again';

CREATE TABLE storehook.served_roots (
    environment text NOT NULL COLLATE pg_catalog."C",
    fingerprint text NOT NULL COLLATE pg_catalog."C",
    first_served timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT served_roots_fingerprint_check CHECK ((fingerprint ~ '^[0-9a-f]{64}$'::text))
);

COMMENT ON TABLE storehook.served_roots IS 'roots (SHA-256 of the DER) that workers on this database have trusted for an environment; written when a worker starts';

CREATE TABLE storehook.server_keys (
    id bigint NOT NULL,
    digest bytea NOT NULL,
    name text NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    created_by text NOT NULL,
    revoked_at timestamp with time zone,
    revoked_by text,
    last_used_at timestamp with time zone,
    CONSTRAINT server_keys_check CHECK (((revoked_at IS NULL) = (revoked_by IS NULL))),
    CONSTRAINT server_keys_created_by_check CHECK ((length(created_by) <= 200)),
    CONSTRAINT server_keys_digest_check CHECK ((length(digest) = 32)),
    CONSTRAINT server_keys_name_check CHECK (((length(name) >= 1) AND (length(name) <= 100))),
    CONSTRAINT server_keys_revoked_by_check CHECK ((length(revoked_by) <= 200))
);

COMMENT ON TABLE storehook.server_keys IS 'keys of the operator''s own servers for the account API; a revoked one stays, so that who had access when stays known';

COMMENT ON COLUMN storehook.server_keys.digest IS 'SHA-256 of the key''s text';

COMMENT ON COLUMN storehook.server_keys.last_used_at IS 'to the hour: written once an hour at most, whatever the key is used for';

ALTER TABLE storehook.server_keys ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME storehook.server_keys_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE storehook.shared_transactions (
    environment text NOT NULL COLLATE pg_catalog."C",
    bundle_id text NOT NULL COLLATE pg_catalog."C",
    original_transaction_id text NOT NULL COLLATE pg_catalog."C",
    transaction_id text NOT NULL COLLATE pg_catalog."C"
);

CREATE TABLE storehook.signature_headers (
    digest bytea GENERATED ALWAYS AS (sha256(header)) STORED NOT NULL,
    header bytea NOT NULL,
    first_seen timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT signature_headers_header_check CHECK (((octet_length(header) >= 1) AND (octet_length(header) <= 16384)))
);

COMMENT ON TABLE storehook.signature_headers IS 'headers of verified signatures, which packed bodies in the outbox name by SHA-256; needed for as long as those are';

ALTER TABLE storehook.staff_acts ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME storehook.staff_acts_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE storehook.staff_logins (
    member_id bigint NOT NULL,
    at timestamp with time zone NOT NULL
);

COMMENT ON TABLE storehook.staff_logins IS 'when each member of the staff logged in to the pages of the console last';

CREATE TABLE storehook.staff_members (
    id bigint NOT NULL,
    mail text NOT NULL,
    role text NOT NULL,
    apps text[],
    added_at timestamp with time zone DEFAULT now() NOT NULL,
    added_by text NOT NULL,
    changed_at timestamp with time zone,
    changed_by text,
    removed_at timestamp with time zone,
    removed_by text,
    CONSTRAINT staff_members_added_by_check CHECK (((length(added_by) >= 1) AND (length(added_by) <= 200))),
    CONSTRAINT staff_members_apps_check CHECK (((cardinality(apps) >= 1) AND (cardinality(apps) <= 100))),
    CONSTRAINT staff_members_changed_by_check CHECK (((length(changed_by) >= 1) AND (length(changed_by) <= 200))),
    CONSTRAINT staff_members_check CHECK (((changed_at IS NULL) = (changed_by IS NULL))),
    CONSTRAINT staff_members_check1 CHECK (((removed_at IS NULL) = (removed_by IS NULL))),
    CONSTRAINT staff_members_mail_check CHECK (((length(mail) <= 254) AND (mail ~ '^[^[:space:]@]+@[^[:space:]@]+$'::text))),
    CONSTRAINT staff_members_removed_by_check CHECK (((length(removed_by) >= 1) AND (length(removed_by) <= 200))),
    CONSTRAINT staff_members_role_check CHECK ((role = ANY (ARRAY['viewer'::text, 'support'::text, 'admin'::text])))
);

COMMENT ON TABLE storehook.staff_members IS 'who may ask the admin API; those who were removed stay, as what the audit calls staff: and a number';

COMMENT ON COLUMN storehook.staff_members.apps IS 'bundle ids; null for all apps';

ALTER TABLE storehook.staff_members ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME storehook.staff_members_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE storehook.staff_notes (
    id bigint NOT NULL,
    token uuid NOT NULL,
    at timestamp with time zone DEFAULT date_trunc('milliseconds'::text, clock_timestamp()) NOT NULL,
    recorded_by text NOT NULL,
    body text,
    erased_at timestamp with time zone,
    CONSTRAINT staff_notes_body_check CHECK (((length(body) >= 1) AND (length(body) <= 1000))),
    CONSTRAINT staff_notes_check CHECK (((body IS NULL) = (erased_at IS NOT NULL))),
    CONSTRAINT staff_notes_recorded_by_check CHECK (((length(recorded_by) >= 1) AND (length(recorded_by) <= 200)))
);

COMMENT ON TABLE storehook.staff_notes IS 'what staff wrote about customers; erasing the account empties it';

COMMENT ON COLUMN storehook.staff_notes.token IS 'the account''s appAccountToken';

COMMENT ON COLUMN storehook.staff_notes.recorded_by IS 'the actor, whom the audit names too';

ALTER TABLE storehook.staff_notes ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME storehook.staff_notes_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE storehook.staff_passwords (
    member_id bigint NOT NULL,
    hash text NOT NULL,
    set_at timestamp with time zone DEFAULT now() NOT NULL,
    set_by text NOT NULL,
    CONSTRAINT staff_passwords_hash_check CHECK ((hash ~ '^[$]scrypt[$]ln=[0-9]{1,2},r=[0-9]{1,2},p=[0-9]{1,2}[$][A-Za-z0-9+/]{22}[$][A-Za-z0-9+/]{43}$'::text)),
    CONSTRAINT staff_passwords_set_by_check CHECK (((length(set_by) >= 1) AND (length(set_by) <= 200)))
);

COMMENT ON TABLE storehook.staff_passwords IS 'passwords for the pages of the console, by their hashes';

COMMENT ON COLUMN storehook.staff_passwords.hash IS 'scrypt (RFC 7914) as PHC strings have it: parameters, salt, key';

ALTER TABLE storehook.staff_refund_requests ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME storehook.staff_refund_requests_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE storehook.staff_texts (
    what text NOT NULL COLLATE pg_catalog."C",
    id bigint NOT NULL,
    recorded_by text,
    why text,
    erased_at timestamp with time zone,
    CONSTRAINT staff_texts_check CHECK (((erased_at IS NULL) OR ((recorded_by IS NULL) AND (why IS NULL)))),
    CONSTRAINT staff_texts_recorded_by_check CHECK (((length(recorded_by) >= 1) AND (length(recorded_by) <= 200))),
    CONSTRAINT staff_texts_what_check CHECK ((what = ANY (ARRAY['act'::text, 'binding'::text]))),
    CONSTRAINT staff_texts_why_check CHECK (((length(why) >= 1) AND (length(why) <= 1000)))
);

COMMENT ON TABLE storehook.staff_texts IS 'what staff wrote about their acts (staff_acts) and about purchases that they moved (purchase_bindings)';

COMMENT ON COLUMN storehook.staff_texts.id IS 'of the act, or of the binding';

COMMENT ON COLUMN storehook.staff_texts.recorded_by IS 'who did it; null where the account was erased';

COMMENT ON COLUMN storehook.staff_texts.erased_at IS 'when the text was taken out, because the account was erased';

CREATE TABLE storehook.staff_tokens (
    id bigint NOT NULL,
    member_id bigint NOT NULL,
    digest bytea NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    created_by text NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    revoked_at timestamp with time zone,
    revoked_by text,
    CONSTRAINT staff_tokens_check CHECK (((revoked_at IS NULL) = (revoked_by IS NULL))),
    CONSTRAINT staff_tokens_check1 CHECK ((expires_at > created_at)),
    CONSTRAINT staff_tokens_created_by_check CHECK (((length(created_by) >= 1) AND (length(created_by) <= 200))),
    CONSTRAINT staff_tokens_digest_check CHECK ((octet_length(digest) = 32)),
    CONSTRAINT staff_tokens_revoked_by_check CHECK (((length(revoked_by) >= 1) AND (length(revoked_by) <= 200)))
);

COMMENT ON TABLE storehook.staff_tokens IS 'tokens for the admin API, by their digests';

ALTER TABLE storehook.staff_tokens ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME storehook.staff_tokens_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE storehook.subscription_history (
    environment text NOT NULL COLLATE pg_catalog."C",
    bundle_id text NOT NULL COLLATE pg_catalog."C",
    original_transaction_id text NOT NULL COLLATE pg_catalog."C",
    starts_at timestamp with time zone NOT NULL,
    phase_starts timestamp with time zone[] NOT NULL,
    phase_status text[] NOT NULL,
    phase_basis text[] NOT NULL,
    phase_product text[] NOT NULL,
    phase_transaction text[] NOT NULL,
    phase_expires timestamp with time zone[] NOT NULL,
    phase_period_ends timestamp with time zone[] NOT NULL,
    phase_grace_ends timestamp with time zone[] NOT NULL,
    phase_trial boolean[] NOT NULL,
    phase_will_renew boolean[] NOT NULL,
    phase_renewal_product text[] NOT NULL,
    phase_price_pending boolean[] NOT NULL,
    phase_intent smallint[] NOT NULL,
    phase_account uuid[] NOT NULL,
    phase_origin text[],
    CONSTRAINT subscription_history_phase_starts_check CHECK ((cardinality(phase_starts) = 4))
);

COMMENT ON TABLE storehook.subscription_history IS 'phases of subscriptions that are over, four to a row; the last four to seven of each stand in subscriptions';

COMMENT ON COLUMN storehook.subscription_history.phase_origin IS 'as in subscriptions';

CREATE VIEW storehook.subscription_status AS
 SELECT status_at.environment,
    status_at.bundle_id,
    status_at.original_transaction_id,
    status_at.product_id,
    status_at.subscription_group_id,
    status_at.app_account_token,
    status_at.status,
    status_at.access,
    status_at.expires_at,
    status_at.will_renew,
    status_at.renewal_product_id,
    status_at.in_trial,
    status_at.price_increase_pending,
    status_at.apple_status,
    status_at.access_until,
    status_at.period_ends_at,
    status_at.grace_ends_at,
    status_at.expiration_intent,
    status_at.basis,
    status_at.since,
    status_at.transaction_id,
    status_at.ownership,
    status_at.offer_type,
    status_at.offer_id,
    status_at.price,
    status_at.currency,
    status_at.storefront,
    status_at.app_transaction_id,
    status_at.renewal_price,
    status_at.renewal_currency,
    status_at.paid_until,
    status_at.latest_account_token,
    status_at.former_account_token
   FROM storehook.status_at(now()) status_at(environment, bundle_id, original_transaction_id, product_id, subscription_group_id, app_account_token, status, access, expires_at, will_renew, renewal_product_id, in_trial, price_increase_pending, apple_status, access_until, period_ends_at, grace_ends_at, expiration_intent, basis, since, transaction_id, ownership, offer_type, offer_id, price, currency, storefront, app_transaction_id, renewal_price, renewal_currency, paid_until, latest_account_token, former_account_token);

CREATE VIEW storehook.telling_status AS
 SELECT ( SELECT COALESCE(sum((1 + COALESCE(cardinality(events_unplaced.more), 0))), (0)::bigint) AS "coalesce"
           FROM storehook.events_unplaced) AS unplaced,
    (GREATEST(EXTRACT(epoch FROM (clock_timestamp() - ( SELECT min(due.due_at) AS min
           FROM ( SELECT min(purchase_tellings.due_at) AS due_at
                   FROM storehook.purchase_tellings
                  WHERE (purchase_tellings.due_at IS NOT NULL)
                UNION ALL
                 SELECT min(access_tellings.due_at) AS min
                   FROM storehook.access_tellings
                  WHERE (access_tellings.due_at IS NOT NULL)) due))), (0)::numeric))::double precision AS due_seconds,
    ( SELECT event_feed.last_position
           FROM storehook.event_feed) AS last_position;

COMMENT ON VIEW storehook.telling_status IS 'events without a place so far, and how long ago what is due first was due';

CREATE TABLE storehook.telling_walks (
    what text NOT NULL,
    is_under_way boolean NOT NULL,
    after_key text[],
    catalog bigint,
    next_catalog bigint,
    filled_scopes bigint DEFAULT 0 NOT NULL,
    CONSTRAINT telling_walks_check CHECK (((after_key IS NULL) OR is_under_way)),
    CONSTRAINT telling_walks_filled_scopes_check CHECK ((filled_scopes >= 0)),
    CONSTRAINT telling_walks_what_check CHECK ((what = ANY (ARRAY['purchases'::text, 'accounts'::text])))
)
WITH (fillfactor='50');

COMMENT ON TABLE storehook.telling_walks IS 'what is to be told of all purchases or all accounts, and how far that has come';

COMMENT ON COLUMN storehook.telling_walks.after_key IS 'the last one that was gone through';

COMMENT ON COLUMN storehook.telling_walks.catalog IS 'accounts: under which all of them have been told';

COMMENT ON COLUMN storehook.telling_walks.next_catalog IS 'accounts: under which they are being told';

COMMENT ON COLUMN storehook.telling_walks.filled_scopes IS 'purchases: how many apps and environments had their whole history when all were gone through the last time';

CREATE TABLE storehook.trials (
    account_hash bytea NOT NULL,
    app_transaction_hash bytea,
    token uuid,
    tier text NOT NULL,
    product text,
    started_at timestamp with time zone NOT NULL,
    ends_at timestamp with time zone NOT NULL,
    bundle_id text COLLATE pg_catalog."C",
    product_id text COLLATE pg_catalog."C",
    outcome text COLLATE pg_catalog."C",
    CONSTRAINT trials_account_hash_check CHECK ((octet_length(account_hash) = 32)),
    CONSTRAINT trials_app_transaction_hash_check CHECK ((octet_length(app_transaction_hash) = 32)),
    CONSTRAINT trials_check CHECK ((started_at < ends_at)),
    CONSTRAINT trials_product_check CHECK ((length(product) <= 255)),
    CONSTRAINT trials_tier_check CHECK (((length(tier) >= 1) AND (length(tier) <= 100)))
);

COMMENT ON TABLE storehook.trials IS 'the app''s own trials';

COMMENT ON COLUMN storehook.trials.account_hash IS 'SHA-256 of the token''s text';

COMMENT ON COLUMN storehook.trials.app_transaction_hash IS 'SHA-256 of Apple''s appTransactionId, where the app proved one';

COMMENT ON COLUMN storehook.trials.token IS 'null where the account was erased';

COMMENT ON COLUMN storehook.trials.bundle_id IS 'the app of the product that it was started with, or else the only one of the catalog; empty where that has several';

COMMENT ON COLUMN storehook.trials.product_id IS 'Apple''s id of that product; null where none was named';

COMMENT ON COLUMN storehook.trials.outcome IS 'what had come of it when the account was erased: later nothing does. Null while the account is there, and of those that a release before erased, which count nowhere';

CREATE TABLE storehook.unsigned_words (
    id text NOT NULL COLLATE pg_catalog."C",
    bundle_id text NOT NULL COLLATE pg_catalog."C",
    environment text NOT NULL COLLATE pg_catalog."C",
    kind text NOT NULL,
    saying bytea NOT NULL,
    answered_at timestamp with time zone NOT NULL,
    CONSTRAINT unsigned_words_kind_check CHECK ((kind = ANY (ARRAY['receipt_transaction'::text, 'receipt_renewal'::text]))),
    CONSTRAINT unsigned_words_saying_check CHECK ((octet_length(saying) = 32))
)
WITH (fillfactor='80');

COMMENT ON TABLE storehook.unsigned_words IS 'what verifyReceipt said last of each transaction, and of each subscription''s future, where Apple has not signed it';

COMMENT ON COLUMN storehook.unsigned_words.id IS 'the transaction; of a subscription''s future the original transaction';

COMMENT ON COLUMN storehook.unsigned_words.saying IS 'SHA-256 of what was said, without the instant';

CREATE VIEW storehook.unsold_products AS
 SELECT p.environment,
    p.bundle_id,
    p.product_id,
    p.held_until,
    p.first_seen_at
   FROM ((storehook.purchased_products p
     JOIN storehook.catalog_state s ON ((s.current_version IS NOT NULL)))
     JOIN storehook.catalogs c ON (((c.version = s.current_version) AND (c.product_keys IS NOT NULL))))
  WHERE ((p.held_until > now()) AND (((p.bundle_id || ' '::text) || p.product_id) <> ALL (c.product_keys)));

COMMENT ON VIEW storehook.unsold_products IS 'products that customers hold and that the current catalog lacks, so that they give nothing; none before the first catalog';

CREATE TABLE storehook.upkeep_locks (
    task text NOT NULL
);

COMMENT ON TABLE storehook.upkeep_locks IS 'rows that the functions of upkeep lock while they are at it; nobody but their owner may';

CREATE TABLE storehook.usage_counters (
    token uuid NOT NULL,
    feature text NOT NULL COLLATE pg_catalog."C",
    period text NOT NULL COLLATE pg_catalog."C",
    starts_on date NOT NULL,
    resets_at timestamp with time zone,
    used bigint NOT NULL,
    CONSTRAINT usage_counters_check CHECK (((period = 'total'::text) = (starts_on = '-infinity'::date))),
    CONSTRAINT usage_counters_check1 CHECK (((period = 'total'::text) = (resets_at IS NULL))),
    CONSTRAINT usage_counters_feature_check CHECK ((feature ~ '^[a-z0-9][a-z0-9_-]{0,63}$'::text)),
    CONSTRAINT usage_counters_period_check CHECK ((period = ANY (ARRAY['day'::text, 'month'::text, 'total'::text]))),
    CONSTRAINT usage_counters_used_check CHECK ((used >= 0))
)
WITH (fillfactor='80');

COMMENT ON TABLE storehook.usage_counters IS 'what each account has used of each feature, by day, month or in total: counted and checked by count_usage';

COMMENT ON COLUMN storehook.usage_counters.token IS 'the account''s appAccountToken';

COMMENT ON COLUMN storehook.usage_counters.starts_on IS 'the first day as the calendar of the catalog''s time zone has it; -infinity of what is counted in total';

COMMENT ON COLUMN storehook.usage_counters.resets_at IS 'the first instant that does not belong to it any more; null of what is counted in total';

CREATE TABLE storehook.usage_days (
    day date NOT NULL,
    feature text NOT NULL COLLATE pg_catalog."C",
    period text NOT NULL COLLATE pg_catalog."C",
    tier text NOT NULL COLLATE pg_catalog."C",
    is_over boolean NOT NULL,
    accounts bigint NOT NULL,
    used bigint NOT NULL,
    CONSTRAINT usage_days_accounts_check CHECK ((accounts > 0)),
    CONSTRAINT usage_days_period_check CHECK ((period = ANY (ARRAY['day'::text, 'month'::text, 'total'::text]))),
    CONSTRAINT usage_days_used_check CHECK ((used > 0))
);

COMMENT ON TABLE storehook.usage_days IS 'what usage_counters had at the end of a day, by feature and tier: of the day, of its month so far, or in total. What was refused is counted nowhere';

COMMENT ON COLUMN storehook.usage_days.tier IS 'the account''s in Production at the end of the day';

COMMENT ON COLUMN storehook.usage_days.is_over IS 'whether what is counted ended with the day: of a day always, of a month on its last day';

CREATE TABLE storehook.usage_keys (
    token uuid NOT NULL,
    feature text NOT NULL COLLATE pg_catalog."C",
    key uuid NOT NULL,
    act text NOT NULL COLLATE pg_catalog."C",
    amount bigint NOT NULL,
    allowed bigint,
    used bigint NOT NULL,
    period text NOT NULL COLLATE pg_catalog."C",
    starts_on date NOT NULL,
    resets_at timestamp with time zone,
    kept_until timestamp with time zone NOT NULL,
    CONSTRAINT usage_keys_act_check CHECK ((act = ANY (ARRAY['add'::text, 'release'::text, 'set'::text]))),
    CONSTRAINT usage_keys_allowed_check CHECK ((allowed >= 0)),
    CONSTRAINT usage_keys_amount_check CHECK ((amount >= 0)),
    CONSTRAINT usage_keys_period_check CHECK ((period = ANY (ARRAY['day'::text, 'month'::text, 'total'::text]))),
    CONSTRAINT usage_keys_used_check CHECK ((used >= 0))
)
WITH (fillfactor='80');

COMMENT ON TABLE storehook.usage_keys IS 'what was counted under an idempotency key, with what was answered: it counts once, and is answered so again';

COMMENT ON COLUMN storehook.usage_keys.key IS 'the first 128 bits of the SHA-256 of what the caller sent';

COMMENT ON COLUMN storehook.usage_keys.allowed IS 'the limit that it was counted under; null if there was none';

COMMENT ON COLUMN storehook.usage_keys.used IS 'what was used after it, of its day, of its month, or in total';

COMMENT ON COLUMN storehook.usage_keys.kept_until IS '35 days after its period''s end; of what is counted in total, 35 days after it was reported';

CREATE TABLE storehook.value_cells (
    zone text NOT NULL COLLATE pg_catalog."C",
    day date NOT NULL,
    environment text NOT NULL COLLATE pg_catalog."C",
    bundle_id text NOT NULL COLLATE pg_catalog."C",
    cohort date NOT NULL,
    months smallint NOT NULL,
    currency text NOT NULL COLLATE pg_catalog."C",
    rate_day date NOT NULL,
    unit bigint,
    count bigint NOT NULL,
    CONSTRAINT value_cells_cohort_check CHECK ((day >= cohort)),
    CONSTRAINT value_cells_months_check CHECK (((months >= 0) AND (months <= 36)))
);

ALTER TABLE ONLY storehook.value_cells REPLICA IDENTITY FULL;

COMMENT ON TABLE storehook.value_cells IS 'sales, refunds and reversals of subscriptions by their own day, with the day of their customer''s first payment (customer_new in figure_cells)';

COMMENT ON COLUMN storehook.value_cells.cohort IS 'the day of the customer''s first payment; what a customer paid before it is left out';

COMMENT ON COLUMN storehook.value_cells.months IS 'the least number of months by which the day is not behind the cohort''s: on the same day of the month, or the last one of a month that has none';

COMMENT ON COLUMN storehook.value_cells.rate_day IS 'the day of the transaction, whose exchange rate counts';

COMMENT ON COLUMN storehook.value_cells.unit IS 'the amount of each row, in thousandths of the currency, negative of refunds; null where it is not known';

COMMENT ON COLUMN storehook.value_cells.count IS 'how many rows of this amount there are';

CREATE TABLE storehook.value_sums (
    zone text NOT NULL COLLATE pg_catalog."C",
    environment text NOT NULL COLLATE pg_catalog."C",
    cohort date NOT NULL,
    bundle_id text NOT NULL COLLATE pg_catalog."C",
    months smallint NOT NULL,
    currency text NOT NULL COLLATE pg_catalog."C",
    count bigint NOT NULL,
    unknown bigint NOT NULL,
    amount numeric NOT NULL
);

COMMENT ON TABLE storehook.value_sums IS 'sums of value_cells by the month of the first payment';

CREATE TABLE storehook.write_budgets (
    token uuid NOT NULL,
    day date NOT NULL,
    bytes bigint NOT NULL,
    CONSTRAINT write_budgets_bytes_check CHECK ((bytes >= 0))
)
WITH (fillfactor='50');

COMMENT ON TABLE storehook.write_budgets IS 'how many bytes an account''s callers have added on its latest day: counted and checked by spend_write_budget';

COMMENT ON COLUMN storehook.write_budgets.token IS 'the account''s appAccountToken';

COMMENT ON COLUMN storehook.write_budgets.day IS 'of UTC';

COMMENT ON COLUMN storehook.write_budgets.bytes IS 'what was written that day, with its indexes, as it is weighed';

ALTER TABLE ONLY storehook.events ATTACH PARTITION storehook.events_default DEFAULT;

ALTER TABLE ONLY storehook.outbox ATTACH PARTITION storehook.outbox_default DEFAULT;

ALTER TABLE ONLY storehook.access_tellings
    ADD CONSTRAINT access_tellings_pkey PRIMARY KEY (token, environment);

ALTER TABLE ONLY storehook.account_count_state
    ADD CONSTRAINT account_count_state_pkey PRIMARY KEY (is_only);

ALTER TABLE ONLY storehook.account_counts
    ADD CONSTRAINT account_counts_pkey PRIMARY KEY (environment, standing, tier, status);

ALTER TABLE ONLY storehook.account_day_counts
    ADD CONSTRAINT account_day_counts_pkey PRIMARY KEY (environment, day, standing, tier, status);

ALTER TABLE ONLY storehook.account_days
    ADD CONSTRAINT account_days_pkey PRIMARY KEY (day);

ALTER TABLE ONLY storehook.account_history
    ADD CONSTRAINT account_history_pkey PRIMARY KEY (token, environment, starts_at);

ALTER TABLE ONLY storehook.account_ids
    ADD CONSTRAINT account_ids_pkey PRIMARY KEY (only_row);

ALTER TABLE ONLY storehook.account_lines
    ADD CONSTRAINT account_lines_pkey PRIMARY KEY (token, environment, original_transaction_id, bundle_id);

ALTER TABLE ONLY storehook.account_names
    ADD CONSTRAINT account_names_pkey PRIMARY KEY (token);

ALTER TABLE ONLY storehook.account_profiles
    ADD CONSTRAINT account_profiles_pkey PRIMARY KEY (token);

ALTER TABLE ONLY storehook.account_status
    ADD CONSTRAINT account_status_pkey PRIMARY KEY (token, environment, catalog);

ALTER TABLE ONLY storehook.accounts
    ADD CONSTRAINT accounts_pkey PRIMARY KEY (token);

ALTER TABLE ONLY storehook.asked_currencies
    ADD CONSTRAINT asked_currencies_pkey PRIMARY KEY (currency);

ALTER TABLE ONLY storehook.audit_drafts
    ADD CONSTRAINT audit_drafts_pkey PRIMARY KEY (id);

ALTER TABLE ONLY storehook.audit
    ADD CONSTRAINT audit_pkey PRIMARY KEY (place);

ALTER TABLE ONLY storehook.audit_tail
    ADD CONSTRAINT audit_tail_pkey PRIMARY KEY (only_row);

ALTER TABLE ONLY storehook.audit_texts
    ADD CONSTRAINT audit_texts_pkey PRIMARY KEY (place);

ALTER TABLE ONLY storehook.booked_attempts
    ADD CONSTRAINT booked_attempts_order_id_key UNIQUE (order_id);

ALTER TABLE ONLY storehook.booked_attempts
    ADD CONSTRAINT booked_attempts_pkey PRIMARY KEY (id);

ALTER TABLE ONLY storehook.booked_orders
    ADD CONSTRAINT booked_orders_environment_bundle_id_order_key_key UNIQUE (environment, bundle_id, order_key);

ALTER TABLE ONLY storehook.booked_orders
    ADD CONSTRAINT booked_orders_pkey PRIMARY KEY (id) INCLUDE (day, class_id);

ALTER TABLE storehook.booked_orders
    ADD CONSTRAINT booked_orders_plan_type_check CHECK ((plan_type = ANY (ARRAY['auto_renewable'::text, 'non_consumable'::text, 'consumable'::text, 'non_renewing'::text, 'unknown'::text]))) NOT VALID;

ALTER TABLE ONLY storehook.booked_refunds
    ADD CONSTRAINT booked_refunds_pkey PRIMARY KEY (order_id, item, place);

ALTER TABLE ONLY storehook.booked_stretches
    ADD CONSTRAINT booked_stretches_pkey PRIMARY KEY (order_id, item, place);

ALTER TABLE ONLY storehook.booked_transactions
    ADD CONSTRAINT booked_transactions_pkey PRIMARY KEY (order_id, item);

ALTER TABLE ONLY storehook.canaries
    ADD CONSTRAINT canaries_pkey PRIMARY KEY (id);

ALTER TABLE ONLY storehook.canary_queue
    ADD CONSTRAINT canary_queue_pkey PRIMARY KEY (id);

ALTER TABLE ONLY storehook.catalog_state
    ADD CONSTRAINT catalog_state_pkey PRIMARY KEY (only_row);

ALTER TABLE ONLY storehook.catalogs
    ADD CONSTRAINT catalogs_pkey PRIMARY KEY (version);

ALTER TABLE ONLY storehook.closed_cells
    ADD CONSTRAINT closed_cells_pkey PRIMARY KEY (closed_id, measure, day, bundle_id, product_id, storefront, currency);

ALTER TABLE ONLY storehook.closed_months
    ADD CONSTRAINT closed_months_pkey PRIMARY KEY (id);

ALTER TABLE ONLY storehook.closed_rows
    ADD CONSTRAINT closed_rows_pkey PRIMARY KEY (closed_id, measure, order_id, item, place);

ALTER TABLE ONLY storehook.cohort_cells
    ADD CONSTRAINT cohort_cells_pkey PRIMARY KEY (zone, day, environment, bundle_id, months);

ALTER TABLE ONLY storehook.commissions
    ADD CONSTRAINT commissions_pkey PRIMARY KEY (version);

ALTER TABLE ONLY storehook.consent_texts
    ADD CONSTRAINT consent_texts_digest_key UNIQUE (digest);

ALTER TABLE ONLY storehook.consent_texts
    ADD CONSTRAINT consent_texts_pkey PRIMARY KEY (id);

ALTER TABLE ONLY storehook.consents_superseded
    ADD CONSTRAINT consents_superseded_pkey PRIMARY KEY (id);

ALTER TABLE ONLY storehook.console_sessions
    ADD CONSTRAINT console_sessions_pkey PRIMARY KEY (digest);

ALTER TABLE ONLY storehook.consumption_answers
    ADD CONSTRAINT consumption_answers_notification_uuid_key UNIQUE (notification_uuid);

ALTER TABLE ONLY storehook.consumption_answers
    ADD CONSTRAINT consumption_answers_pkey PRIMARY KEY (id);

ALTER TABLE ONLY storehook.consumption_consents
    ADD CONSTRAINT consumption_consents_pkey PRIMARY KEY (id);

ALTER TABLE ONLY storehook.consumption_queue
    ADD CONSTRAINT consumption_queue_pkey PRIMARY KEY (id);

ALTER TABLE ONLY storehook.consumption_tokens
    ADD CONSTRAINT consumption_tokens_pkey PRIMARY KEY (app_account_token);

ALTER TABLE ONLY storehook.conversion_marks
    ADD CONSTRAINT conversion_marks_pkey PRIMARY KEY (day);

ALTER TABLE ONLY storehook.converted_sums
    ADD CONSTRAINT converted_sums_pkey PRIMARY KEY (target, zone, grain, period, measure, environment, bundle_id, product_id, storefront, currency, is_missing);

ALTER TABLE ONLY storehook.currency_sums
    ADD CONSTRAINT currency_sums_pkey PRIMARY KEY (target, zone, grain, period, environment, measure, bundle_id, product_id, storefront, currency, is_missing);

ALTER TABLE ONLY storehook.currency_value_days
    ADD CONSTRAINT currency_value_days_pkey PRIMARY KEY (target, zone, day);

ALTER TABLE storehook.currency_values
    ADD CONSTRAINT currency_values_grain_check CHECK ((grain = ANY (ARRAY['day'::text, 'cohort'::text, 'cohort_day'::text, 'all_cohort_day'::text]))) NOT VALID;

ALTER TABLE ONLY storehook.currency_values
    ADD CONSTRAINT currency_values_pkey PRIMARY KEY (target, zone, grain, day, environment, cohort, bundle_id, months, currency, is_missing);

ALTER TABLE storehook.dead_letters
    ADD CONSTRAINT dead_letters_bundle_id_check CHECK ((length(bundle_id) <= 255)) NOT VALID;

ALTER TABLE storehook.dead_letters
    ADD CONSTRAINT dead_letters_kind_check CHECK ((kind = ANY (ARRAY['notification'::text, 'transaction'::text, 'renewal'::text, 'app_transaction'::text, 'receipt'::text, 'receipt_transaction'::text, 'receipt_renewal'::text]))) NOT VALID;

ALTER TABLE ONLY storehook.dead_letters
    ADD CONSTRAINT dead_letters_pkey PRIMARY KEY (id);

ALTER TABLE storehook.dead_letters
    ADD CONSTRAINT dead_letters_source_check CHECK ((source = ANY (ARRAY['webhook'::text, 'history'::text, 'api'::text, 'client'::text, 'operator'::text]))) NOT VALID;

ALTER TABLE ONLY storehook.deliveries_pending
    ADD CONSTRAINT deliveries_pending_pkey PRIMARY KEY (id);

ALTER TABLE ONLY storehook.deliveries
    ADD CONSTRAINT deliveries_pkey PRIMARY KEY (id);

ALTER TABLE ONLY storehook.delivery_lanes
    ADD CONSTRAINT delivery_lanes_endpoint_id_subject_key UNIQUE (endpoint_id, subject);

ALTER TABLE ONLY storehook.delivery_lanes
    ADD CONSTRAINT delivery_lanes_pkey PRIMARY KEY (id);

ALTER TABLE ONLY storehook.delivery_queue
    ADD CONSTRAINT delivery_queue_pkey PRIMARY KEY (id);

ALTER TABLE ONLY storehook.due_count_state
    ADD CONSTRAINT due_count_state_pkey PRIMARY KEY (part);

ALTER TABLE ONLY storehook.due_counts
    ADD CONSTRAINT due_counts_pkey PRIMARY KEY (bundle_id, age);

ALTER TABLE ONLY storehook.due_days
    ADD CONSTRAINT due_days_pkey PRIMARY KEY (bundle_id);

ALTER TABLE ONLY storehook.due_unheard
    ADD CONSTRAINT due_unheard_pkey PRIMARY KEY (ends_at, bundle_id, original_transaction_id, kind);

ALTER TABLE storehook.duplicates
    ADD CONSTRAINT duplicates_check CHECK (((notification_uuid IS NULL) <> (digest IS NULL))) NOT VALID;

ALTER TABLE storehook.duplicates
    ADD CONSTRAINT duplicates_digest_check CHECK ((octet_length(digest) = 32)) NOT VALID;

ALTER TABLE ONLY storehook.duplicates
    ADD CONSTRAINT duplicates_pkey PRIMARY KEY (outbox_id);

ALTER TABLE ONLY storehook.earlier_rates
    ADD CONSTRAINT earlier_rates_pkey PRIMARY KEY (currency, day, replaced_at);

ALTER TABLE ONLY storehook.endpoint_cursors
    ADD CONSTRAINT endpoint_cursors_pkey PRIMARY KEY (endpoint_id);

ALTER TABLE ONLY storehook.endpoint_health
    ADD CONSTRAINT endpoint_health_pkey PRIMARY KEY (endpoint_id);

ALTER TABLE ONLY storehook.endpoint_trials
    ADD CONSTRAINT endpoint_trials_pkey PRIMARY KEY (id);

ALTER TABLE ONLY storehook.endpoints
    ADD CONSTRAINT endpoints_pkey PRIMARY KEY (id);

ALTER TABLE ONLY storehook.event_feed
    ADD CONSTRAINT event_feed_pkey PRIMARY KEY (only_row);

ALTER TABLE ONLY storehook.event_places
    ADD CONSTRAINT event_places_pkey PRIMARY KEY ("position");

ALTER TABLE ONLY storehook.events
    ADD CONSTRAINT events_pkey PRIMARY KEY (told_at, id);

ALTER TABLE ONLY storehook.events_default
    ADD CONSTRAINT events_default_pkey PRIMARY KEY (told_at, id);

ALTER TABLE ONLY storehook.events_unplaced
    ADD CONSTRAINT events_unplaced_pkey PRIMARY KEY (id);

ALTER TABLE ONLY storehook.exchange_rates
    ADD CONSTRAINT exchange_rates_pkey PRIMARY KEY (currency, day);

ALTER TABLE ONLY storehook.extension_failures
    ADD CONSTRAINT extension_failures_pkey PRIMARY KEY (extension_id, notification_uuid);

ALTER TABLE ONLY storehook.extension_queue
    ADD CONSTRAINT extension_queue_pkey PRIMARY KEY (id);

ALTER TABLE ONLY storehook.extensions
    ADD CONSTRAINT extensions_bundle_id_environment_request_identifier_key UNIQUE (bundle_id, environment, request_identifier);

ALTER TABLE ONLY storehook.extensions
    ADD CONSTRAINT extensions_pkey PRIMARY KEY (id);

ALTER TABLE storehook.figure_cells
    ADD CONSTRAINT figure_cells_measure_check CHECK ((measure = ANY (ARRAY['order'::text, 'sale'::text, 'refunded_sale'::text, 'refund'::text, 'reversal'::text, 'late_sale'::text, 'late_refund'::text, 'late_reversal'::text, 'enter'::text, 'leave'::text, 'new'::text, 'reactivation'::text, 'expansion'::text, 'contraction'::text, 'churn_voluntary'::text, 'churn_billing'::text, 'churn_other'::text, 'customer_new'::text, 'customer_back'::text, 'customer_back_soon'::text, 'customer_lost_voluntary'::text, 'customer_lost_billing'::text, 'customer_lost_other'::text, 'trial'::text, 'trial_converted'::text, 'trial_lapsed'::text, 'trial_refunded'::text, 'own_trial'::text, 'own_trial_converted'::text, 'own_trial_lapsed'::text, 'own_trial_refunded'::text, 'attempt_completed'::text, 'attempt_failed'::text, 'attempt_cancelled'::text, 'attempt_pending'::text, 'restore_completed'::text, 'restore_failed'::text, 'restore_nothing'::text, 'restore_cancelled'::text, 'proceeds'::text, 'proceeds_back'::text, 'proceeds_again'::text, 'account_known'::text, 'account_paid'::text, 'account_early'::text]))) NOT VALID;

ALTER TABLE ONLY storehook.figure_currencies
    ADD CONSTRAINT figure_currencies_pkey PRIMARY KEY (currency, zone);

ALTER TABLE ONLY storehook.figure_marks
    ADD CONSTRAINT figure_marks_pkey PRIMARY KEY (id);

ALTER TABLE ONLY storehook.figure_plans
    ADD CONSTRAINT figure_plans_pkey PRIMARY KEY (bundle_id, product_id);

ALTER TABLE ONLY storehook.figure_state
    ADD CONSTRAINT figure_state_pkey PRIMARY KEY (is_only);

ALTER TABLE storehook.figure_sums
    ADD CONSTRAINT figure_sums_grain_check CHECK ((grain = ANY (ARRAY['month_product'::text, 'month_country'::text, 'all_country'::text, 'plain_month'::text, 'day'::text, 'all_day'::text]))) NOT VALID;

ALTER TABLE ONLY storehook.figure_sums
    ADD CONSTRAINT figure_sums_pkey PRIMARY KEY (grain, zone, environment, period, measure, bundle_id, product_id, storefront, currency);

ALTER TABLE ONLY storehook.figure_terms
    ADD CONSTRAINT figure_terms_pkey PRIMARY KEY (kind, place);

ALTER TABLE ONLY storehook.fiscal_calendars
    ADD CONSTRAINT fiscal_calendars_pkey PRIMARY KEY (version);

ALTER TABLE ONLY storehook.forbidden_tries
    ADD CONSTRAINT forbidden_tries_pkey PRIMARY KEY (member_id, route, minute);

ALTER TABLE ONLY storehook.history_letters
    ADD CONSTRAINT history_letters_pkey PRIMARY KEY (notification_uuid);

ALTER TABLE ONLY storehook.history_queue
    ADD CONSTRAINT history_queue_pkey PRIMARY KEY (id);

ALTER TABLE ONLY storehook.history_windows
    ADD CONSTRAINT history_windows_bundle_id_environment_starts_at_key UNIQUE (bundle_id, environment, starts_at);

ALTER TABLE ONLY storehook.history_windows
    ADD CONSTRAINT history_windows_pkey PRIMARY KEY (id);

ALTER TABLE ONLY storehook.job_items
    ADD CONSTRAINT job_items_pkey PRIMARY KEY (job_id, letter_id);

ALTER TABLE ONLY storehook.job_queue
    ADD CONSTRAINT job_queue_pkey PRIMARY KEY (id);

ALTER TABLE ONLY storehook.jobs
    ADD CONSTRAINT jobs_pkey PRIMARY KEY (id);

ALTER TABLE ONLY storehook.kept_receipts
    ADD CONSTRAINT kept_receipts_pkey PRIMARY KEY (digest);

ALTER TABLE ONLY storehook.notifications
    ADD CONSTRAINT notifications_outbox_id_key UNIQUE (outbox_id);

ALTER TABLE ONLY storehook.notifications
    ADD CONSTRAINT notifications_pkey PRIMARY KEY (notification_uuid);

ALTER TABLE storehook.notifications
    ADD CONSTRAINT notifications_source_check CHECK ((source = ANY (ARRAY['webhook'::text, 'history'::text, 'api'::text, 'client'::text, 'operator'::text]))) NOT VALID;

ALTER TABLE ONLY storehook.old_posts
    ADD CONSTRAINT old_posts_pkey PRIMARY KEY (one);

ALTER TABLE ONLY storehook.one_time_purchases
    ADD CONSTRAINT one_time_purchases_pkey PRIMARY KEY (original_transaction_id, bundle_id, environment);

ALTER TABLE ONLY storehook.order_classes
    ADD CONSTRAINT order_classes_environment_bundle_id_product_id_plan_type_st_key UNIQUE (environment, bundle_id, product_id, plan_type, status, currency, storefront);

ALTER TABLE ONLY storehook.order_classes
    ADD CONSTRAINT order_classes_pkey PRIMARY KEY (id);

ALTER TABLE ONLY storehook.order_clock
    ADD CONSTRAINT order_clock_pkey PRIMARY KEY (task);

ALTER TABLE ONLY storehook.order_days
    ADD CONSTRAINT order_days_pkey PRIMARY KEY (day);

ALTER TABLE ONLY storehook.outbox_acknowledged
    ADD CONSTRAINT outbox_acknowledged_pkey PRIMARY KEY (day);

ALTER TABLE ONLY storehook.outbox_attempts
    ADD CONSTRAINT outbox_attempts_pkey PRIMARY KEY (id);

ALTER TABLE storehook.outbox
    ADD CONSTRAINT outbox_body_check CHECK ((octet_length(body) <=
CASE
    WHEN (kind = 4) THEN 4194304
    ELSE 262144
END)) NOT VALID;

ALTER TABLE ONLY storehook.outbox
    ADD CONSTRAINT outbox_pkey PRIMARY KEY (received_at, id);

ALTER TABLE ONLY storehook.outbox_default
    ADD CONSTRAINT outbox_default_pkey PRIMARY KEY (received_at, id);

ALTER TABLE ONLY storehook.outbox_dropped
    ADD CONSTRAINT outbox_dropped_pkey PRIMARY KEY (day);

ALTER TABLE storehook.outbox
    ADD CONSTRAINT outbox_kind_check CHECK (((kind >= 0) AND (kind <= 6))) NOT VALID;

ALTER TABLE ONLY storehook.outbox_queue
    ADD CONSTRAINT outbox_queue_pkey PRIMARY KEY (id);

ALTER TABLE ONLY storehook.outbox_settled
    ADD CONSTRAINT outbox_settled_pkey PRIMARY KEY (day);

ALTER TABLE storehook.outbox
    ADD CONSTRAINT outbox_source_check CHECK (((source >= 0) AND (source <= 4))) NOT VALID;

ALTER TABLE ONLY storehook.overview_ring
    ADD CONSTRAINT overview_ring_pkey PRIMARY KEY (seconds, slot);

ALTER TABLE ONLY storehook.overview_state
    ADD CONSTRAINT overview_state_pkey PRIMARY KEY (only_row);

ALTER TABLE ONLY storehook.proxied_staff
    ADD CONSTRAINT proxied_staff_pkey PRIMARY KEY (name);

ALTER TABLE ONLY storehook.proxied_tries
    ADD CONSTRAINT proxied_tries_pkey PRIMARY KEY (name, route, minute);

ALTER TABLE storehook.purchase_attempts
    ADD CONSTRAINT purchase_attempts_environment_check CHECK ((environment = ANY (ARRAY['Production'::text, 'Sandbox'::text, 'Xcode'::text, 'LocalTesting'::text]))) NOT VALID;

ALTER TABLE storehook.purchase_attempts
    ADD CONSTRAINT purchase_attempts_kind_fits_check CHECK (((kind = 'restore'::text) OR ((product_id IS NOT NULL) AND (outcome <> 'nothing'::text)))) NOT VALID;

ALTER TABLE storehook.purchase_attempts
    ADD CONSTRAINT purchase_attempts_outcome_check CHECK ((outcome = ANY (ARRAY['pending'::text, 'cancelled'::text, 'failed'::text, 'completed'::text, 'nothing'::text]))) NOT VALID;

ALTER TABLE ONLY storehook.purchase_attempts
    ADD CONSTRAINT purchase_attempts_pkey PRIMARY KEY (id);

ALTER TABLE storehook.purchase_attempts
    ADD CONSTRAINT purchase_attempts_transaction_id_check CHECK (((length(transaction_id) >= 1) AND (length(transaction_id) <= 64))) NOT VALID;

ALTER TABLE ONLY storehook.purchase_bindings
    ADD CONSTRAINT purchase_bindings_pkey PRIMARY KEY (id);

ALTER TABLE storehook.purchase_facts
    ADD CONSTRAINT purchase_facts_is_unsigned_check CHECK (is_unsigned) NOT VALID;

ALTER TABLE ONLY storehook.purchase_facts
    ADD CONSTRAINT purchase_facts_pkey PRIMARY KEY (original_transaction_id, bundle_id, environment, signed_at, outbox_id);

ALTER TABLE ONLY storehook.purchase_lines
    ADD CONSTRAINT purchase_lines_pkey PRIMARY KEY (original_transaction_id, bundle_id, environment);

ALTER TABLE ONLY storehook.purchase_tellings
    ADD CONSTRAINT purchase_tellings_pkey PRIMARY KEY (original_transaction_id, bundle_id, environment);

ALTER TABLE ONLY storehook.purchased_products
    ADD CONSTRAINT purchased_products_pkey PRIMARY KEY (bundle_id, environment, product_id);

ALTER TABLE ONLY storehook.rate_imports
    ADD CONSTRAINT rate_imports_pkey PRIMARY KEY (id);

ALTER TABLE storehook.records
    ADD CONSTRAINT records_check3 CHECK (((kind = ANY (ARRAY['transaction'::text, 'renewal'::text, 'receipt_transaction'::text, 'receipt_renewal'::text])) = (original_transaction_id IS NOT NULL))) NOT VALID;

ALTER TABLE storehook.records
    ADD CONSTRAINT records_check4 CHECK (((kind = ANY (ARRAY['transaction'::text, 'receipt_transaction'::text])) = (transaction_id IS NOT NULL))) NOT VALID;

ALTER TABLE storehook.records
    ADD CONSTRAINT records_kind_check CHECK ((kind = ANY (ARRAY['transaction'::text, 'renewal'::text, 'app_transaction'::text, 'receipt'::text, 'receipt_transaction'::text, 'receipt_renewal'::text]))) NOT VALID;

ALTER TABLE ONLY storehook.records
    ADD CONSTRAINT records_outbox_id_key UNIQUE (outbox_id);

ALTER TABLE ONLY storehook.records
    ADD CONSTRAINT records_pkey PRIMARY KEY (digest);

ALTER TABLE ONLY storehook.refresh_queue
    ADD CONSTRAINT refresh_queue_pkey PRIMARY KEY (id);

ALTER TABLE ONLY storehook.refreshes
    ADD CONSTRAINT refreshes_original_transaction_id_bundle_id_environment_key UNIQUE (original_transaction_id, bundle_id, environment);

ALTER TABLE ONLY storehook.refreshes
    ADD CONSTRAINT refreshes_pkey PRIMARY KEY (id);

ALTER TABLE ONLY storehook.refund_request_texts
    ADD CONSTRAINT refund_request_texts_pkey PRIMARY KEY (id);

ALTER TABLE ONLY storehook.refusals
    ADD CONSTRAINT refusals_pkey PRIMARY KEY (reason, table_name, constraint_name);

ALTER TABLE storehook.renewals
    ADD CONSTRAINT renewals_is_unsigned_check CHECK (is_unsigned) NOT VALID;

ALTER TABLE ONLY storehook.renewals
    ADD CONSTRAINT renewals_pkey PRIMARY KEY (original_transaction_id, bundle_id, environment);

ALTER TABLE ONLY storehook.replaced_renewals
    ADD CONSTRAINT replaced_renewals_pkey PRIMARY KEY (original_transaction_id, bundle_id, environment, transaction_id);

ALTER TABLE ONLY storehook.reported_restores
    ADD CONSTRAINT reported_restores_pkey PRIMARY KEY (id);

ALTER TABLE ONLY storehook.saved_filters
    ADD CONSTRAINT saved_filters_pkey PRIMARY KEY (id);

ALTER TABLE ONLY storehook.schema_expansions
    ADD CONSTRAINT schema_expansions_pkey PRIMARY KEY (version);

ALTER TABLE ONLY storehook.schema_migrations
    ADD CONSTRAINT schema_migrations_pkey PRIMARY KEY (version);

ALTER TABLE ONLY storehook.searches
    ADD CONSTRAINT searches_pkey PRIMARY KEY (id);

ALTER TABLE ONLY storehook.senders
    ADD CONSTRAINT senders_pkey PRIMARY KEY (address);

ALTER TABLE ONLY storehook.served_apps
    ADD CONSTRAINT served_apps_pkey PRIMARY KEY (bundle_id, environment);

ALTER TABLE ONLY storehook.served_roots
    ADD CONSTRAINT served_roots_pkey PRIMARY KEY (environment, fingerprint);

ALTER TABLE ONLY storehook.server_keys
    ADD CONSTRAINT server_keys_digest_key UNIQUE (digest);

ALTER TABLE ONLY storehook.server_keys
    ADD CONSTRAINT server_keys_pkey PRIMARY KEY (id);

ALTER TABLE ONLY storehook.shared_transactions
    ADD CONSTRAINT shared_transactions_pkey PRIMARY KEY (original_transaction_id, bundle_id, environment, transaction_id);

ALTER TABLE ONLY storehook.signature_headers
    ADD CONSTRAINT signature_headers_pkey PRIMARY KEY (digest);

ALTER TABLE ONLY storehook.staff_acts
    ADD CONSTRAINT staff_acts_pkey PRIMARY KEY (id);

ALTER TABLE ONLY storehook.staff_logins
    ADD CONSTRAINT staff_logins_pkey PRIMARY KEY (member_id);

ALTER TABLE ONLY storehook.staff_members
    ADD CONSTRAINT staff_members_pkey PRIMARY KEY (id);

ALTER TABLE ONLY storehook.staff_notes
    ADD CONSTRAINT staff_notes_pkey PRIMARY KEY (id);

ALTER TABLE ONLY storehook.staff_passwords
    ADD CONSTRAINT staff_passwords_pkey PRIMARY KEY (member_id);

ALTER TABLE ONLY storehook.staff_refund_requests
    ADD CONSTRAINT staff_refund_requests_pkey PRIMARY KEY (id);

ALTER TABLE ONLY storehook.staff_texts
    ADD CONSTRAINT staff_texts_pkey PRIMARY KEY (what, id);

ALTER TABLE ONLY storehook.staff_tokens
    ADD CONSTRAINT staff_tokens_digest_key UNIQUE (digest);

ALTER TABLE ONLY storehook.staff_tokens
    ADD CONSTRAINT staff_tokens_pkey PRIMARY KEY (id);

ALTER TABLE ONLY storehook.subscription_history
    ADD CONSTRAINT subscription_history_pkey PRIMARY KEY (original_transaction_id, bundle_id, environment, starts_at);

ALTER TABLE ONLY storehook.subscriptions
    ADD CONSTRAINT subscriptions_pkey PRIMARY KEY (original_transaction_id, bundle_id, environment);

ALTER TABLE ONLY storehook.telling_walks
    ADD CONSTRAINT telling_walks_pkey PRIMARY KEY (what);

ALTER TABLE storehook.transactions
    ADD CONSTRAINT transactions_is_unsigned_check CHECK (is_unsigned) NOT VALID;

ALTER TABLE ONLY storehook.transactions
    ADD CONSTRAINT transactions_pkey PRIMARY KEY (transaction_id, bundle_id, environment);

ALTER TABLE ONLY storehook.trials
    ADD CONSTRAINT trials_app_transaction_hash_key UNIQUE (app_transaction_hash);

ALTER TABLE storehook.trials
    ADD CONSTRAINT trials_outcome_check CHECK (((outcome IS NULL) OR ((token IS NULL) AND (outcome = ANY (ARRAY['converted'::text, 'refunded'::text, 'lapsed'::text]))))) NOT VALID;

ALTER TABLE ONLY storehook.trials
    ADD CONSTRAINT trials_pkey PRIMARY KEY (account_hash);

ALTER TABLE ONLY storehook.trials
    ADD CONSTRAINT trials_token_key UNIQUE (token);

ALTER TABLE ONLY storehook.unsigned_words
    ADD CONSTRAINT unsigned_words_pkey PRIMARY KEY (id, bundle_id, environment, kind);

ALTER TABLE ONLY storehook.upkeep_locks
    ADD CONSTRAINT upkeep_locks_pkey PRIMARY KEY (task);

ALTER TABLE storehook.usage_counters
    ADD CONSTRAINT usage_counters_bound CHECK ((used <= '1000000000000000'::bigint)) NOT VALID;

ALTER TABLE ONLY storehook.usage_counters
    ADD CONSTRAINT usage_counters_pkey PRIMARY KEY (token, feature, period, starts_on);

ALTER TABLE ONLY storehook.usage_days
    ADD CONSTRAINT usage_days_pkey PRIMARY KEY (day, feature, period, tier);

ALTER TABLE ONLY storehook.usage_keys
    ADD CONSTRAINT usage_keys_pkey PRIMARY KEY (token, feature, key);

ALTER TABLE ONLY storehook.value_sums
    ADD CONSTRAINT value_sums_pkey PRIMARY KEY (zone, environment, cohort, bundle_id, months, currency);

ALTER TABLE ONLY storehook.write_budgets
    ADD CONSTRAINT write_budgets_pkey PRIMARY KEY (token);

CREATE INDEX access_tellings_due ON storehook.access_tellings USING btree (due_at) WHERE (due_at IS NOT NULL);

CREATE INDEX account_history_by_end ON storehook.account_history USING brin (ends_at) WITH (autosummarize='true');

CREATE INDEX account_lines_by_purchase ON storehook.account_lines USING btree (original_transaction_id, bundle_id, environment);

CREATE INDEX account_profiles_by_mail ON storehook.account_profiles USING btree (lower(mail) text_pattern_ops) WHERE (mail IS NOT NULL);

CREATE INDEX account_profiles_by_name ON storehook.account_profiles USING btree (lower(name) text_pattern_ops) WHERE (name IS NOT NULL);

CREATE INDEX account_status_by_end ON storehook.account_status USING btree ((
CASE
    WHEN ((phase_status[cardinality(phase_starts)] = ANY (ARRAY['expired'::text, 'trial_expired'::text, 'revoked'::text, 'free'::text])) AND ((phase_status[(cardinality(phase_starts) - 1)] = 'grace_period'::text) OR ((phase_status[(cardinality(phase_starts) - 1)] = ANY (ARRAY['active'::text, 'trial'::text, 'cancelled'::text])) AND (NOT phase_will_renew[(cardinality(phase_starts) - 1)])))) THEN phase_starts[cardinality(phase_starts)]
    ELSE NULL::timestamp with time zone
END), catalog);

CREATE INDEX accounts_known ON storehook.accounts USING btree (known_at);

CREATE INDEX anomalies_by_purchase ON storehook.anomalies USING btree (original_transaction_id, bundle_id, environment, signed_at);

CREATE INDEX anomalies_contradictions ON storehook.anomalies USING btree (bundle_id, environment) WHERE (kind = ANY (ARRAY['status_contradicted'::text, 'period_missing'::text, 'upgrade_missing'::text]));

CREATE INDEX anomalies_unclear ON storehook.anomalies USING btree (bundle_id, environment) WHERE (kind = 'purchase_unclear'::text);

CREATE INDEX audit_by_record ON storehook.audit USING btree (record) WHERE (record IS NOT NULL);

CREATE INDEX audit_by_subject ON storehook.audit USING btree (subject_kind, subject, place);

CREATE INDEX audit_by_time ON storehook.audit USING btree (at);

CREATE INDEX audit_texts_by_account ON storehook.audit_texts USING gin (accounts);

CREATE INDEX booked_attempts_changed ON storehook.booked_attempts USING btree (last_at, order_id);

CREATE UNIQUE INDEX booked_attempts_matched ON storehook.booked_attempts USING btree (matched_order_id, matched_item) WHERE (matched_order_id IS NOT NULL);

CREATE INDEX booked_attempts_of_account ON storehook.booked_attempts USING btree (token, product_id, environment, first_at);

CREATE INDEX booked_attempts_reported ON storehook.booked_attempts USING btree (first_at);

CREATE INDEX booked_attempts_to_check ON storehook.booked_attempts USING btree (check_at) WHERE (check_at IS NOT NULL);

CREATE UNIQUE INDEX booked_orders_number ON storehook.booked_orders USING btree (day, number) WHERE (number IS NOT NULL);

CREATE INDEX booked_orders_of_class ON storehook.booked_orders USING btree (class_id, day DESC, id DESC) WHERE (class_id IS NOT NULL);

CREATE INDEX booked_orders_of_day ON storehook.booked_orders USING btree (day DESC, id DESC) INCLUDE (class_id, number) WHERE (class_id IS NOT NULL);

CREATE INDEX booked_orders_of_purchase ON storehook.booked_orders USING btree (original_transaction_id) WHERE (order_key <> original_transaction_id);

CREATE INDEX booked_orders_to_number ON storehook.booked_orders USING btree (day, id) WHERE ((number IS NULL) AND (class_id IS NOT NULL));

CREATE INDEX booked_orders_to_turn ON storehook.booked_orders USING btree (turns_at) WHERE (turns_at IS NOT NULL);

CREATE INDEX booked_refunds_late ON storehook.booked_refunds USING btree (heard_at) WHERE ((heard_at - at) > '24:00:00'::interval);

CREATE INDEX booked_refunds_made ON storehook.booked_refunds USING btree (at, order_id);

CREATE INDEX booked_stretches_ended ON storehook.booked_stretches USING btree (ends_at);

CREATE INDEX booked_stretches_started ON storehook.booked_stretches USING btree (starts_at);

CREATE INDEX booked_transactions_changed ON storehook.booked_transactions USING btree (changed_at, order_id);

CREATE INDEX booked_transactions_late ON storehook.booked_transactions USING btree (heard_at) WHERE ((heard_at - starts_at) > '24:00:00'::interval);

CREATE INDEX booked_transactions_started ON storehook.booked_transactions USING btree (starts_at, order_id);

CREATE INDEX booked_transactions_until ON storehook.booked_transactions USING btree (COALESCE(counts_until, ends_at)) WHERE (COALESCE(counts_until, ends_at) IS NOT NULL);

CREATE INDEX booked_trials_ended ON storehook.booked_transactions USING btree (ends_at) WHERE is_trial;

CREATE INDEX booked_trials_of ON storehook.booked_transactions USING btree (order_id, ends_at) WHERE is_trial;

CREATE INDEX booked_trials_started ON storehook.booked_transactions USING btree (starts_at) WHERE is_trial;

CREATE INDEX canaries_by_app ON storehook.canaries USING btree (bundle_id, environment, planned_at DESC);

CREATE UNIQUE INDEX canaries_under_way ON storehook.canaries USING btree (bundle_id, environment) WHERE (outcome IS NULL);

CREATE INDEX canary_queue_due ON storehook.canary_queue USING btree (due_at, id);

CREATE UNIQUE INDEX closed_months_open ON storehook.closed_months USING btree (month) WHERE (reopened_at IS NULL);

CREATE INDEX consents_superseded_by_time ON storehook.consents_superseded USING btree (at);

CREATE INDEX console_sessions_by_member ON storehook.console_sessions USING btree (member_id);

CREATE INDEX consumption_answers_by_consent ON storehook.consumption_answers USING btree (consent_id) WHERE (consent_id IS NOT NULL);

CREATE UNIQUE INDEX consumption_answers_once ON storehook.consumption_answers USING btree (transaction_id, bundle_id, environment) WHERE ((began_at IS NOT NULL) AND (outcome IS DISTINCT FROM 'refused'::text));

CREATE INDEX consumption_answers_open ON storehook.consumption_answers USING btree (deadline) WHERE (outcome IS NULL);

CREATE INDEX consumption_answers_troubled ON storehook.consumption_answers USING btree (settled_at) WHERE (outcome = ANY (ARRAY['late'::text, 'refused'::text, 'unknown'::text]));

CREATE INDEX consumption_consents_by_text ON storehook.consumption_consents USING btree (text_id) WHERE (text_id IS NOT NULL);

CREATE INDEX consumption_consents_by_token ON storehook.consumption_consents USING btree (app_account_token, id DESC);

CREATE INDEX consumption_queue_due ON storehook.consumption_queue USING btree (due_at, id);

CREATE INDEX corrected_conversions_of_day ON storehook.corrected_conversions USING btree (target, zone, day);

CREATE INDEX dead_letters_by_outbox ON storehook.dead_letters USING btree (outbox_id);

CREATE INDEX dead_letters_by_uuid ON storehook.dead_letters USING btree (notification_uuid) WHERE (notification_uuid IS NOT NULL);

CREATE UNIQUE INDEX dead_letters_one_open ON storehook.dead_letters USING btree (outbox_id) WHERE (resolution = 'open'::text);

CREATE INDEX dead_letters_open_by_reason ON storehook.dead_letters USING btree (reason, id) WHERE (resolution = 'open'::text);

CREATE INDEX deliveries_by_event ON storehook.deliveries USING btree (event_id);

CREATE INDEX deliveries_dead ON storehook.deliveries USING btree (endpoint_id, id) WHERE ((outcome = 'dead'::text) AND (resent_at IS NULL));

CREATE INDEX deliveries_ended_at ON storehook.deliveries USING brin (ended_at);

CREATE INDEX deliveries_pending_by_lane ON storehook.deliveries_pending USING btree (lane_id, id);

CREATE INDEX deliveries_pending_by_position ON storehook.deliveries_pending USING btree (endpoint_id, "position");

CREATE INDEX deliveries_pending_resent ON storehook.deliveries_pending USING btree (endpoint_id, id) WHERE ("position" IS NULL);

CREATE INDEX delivery_attempts_attempted ON storehook.delivery_attempts USING btree (attempted_at);

CREATE INDEX delivery_attempts_of_event ON storehook.delivery_attempts USING btree (event_id, delivery_id);

CREATE INDEX delivery_queue_due ON storehook.delivery_queue USING btree (due_at, id);

CREATE INDEX delivery_queue_due_by_endpoint ON storehook.delivery_queue USING btree (endpoint_id, due_at, id);

CREATE INDEX endpoint_trials_asked ON storehook.endpoint_trials USING btree (asked_at);

CREATE INDEX endpoint_trials_of_endpoint ON storehook.endpoint_trials USING btree (endpoint_id);

CREATE INDEX endpoint_trials_waiting ON storehook.endpoint_trials USING btree (id) WHERE (begun_at IS NULL);

CREATE INDEX event_places_told_at ON storehook.event_places USING btree (told_at);

CREATE INDEX events_by_account ON ONLY storehook.events USING btree (token, sequence) WHERE (token IS NOT NULL);

CREATE INDEX events_default_token_sequence_idx ON storehook.events_default USING btree (token, sequence) WHERE (token IS NOT NULL);

CREATE INDEX extension_queue_due ON storehook.extension_queue USING btree (due_at, id);

CREATE UNIQUE INDEX extensions_open_all ON storehook.extensions USING btree (bundle_id, environment, product_id, storefronts) WHERE ((settled_at IS NULL) AND (product_id IS NOT NULL));

CREATE UNIQUE INDEX extensions_open_one ON storehook.extensions USING btree (original_transaction_id, bundle_id, environment) WHERE ((settled_at IS NULL) AND (original_transaction_id IS NOT NULL));

CREATE INDEX figure_cells_of_day ON storehook.figure_cells USING btree (zone, day);

CREATE INDEX figure_marks_of ON storehook.figure_marks USING btree (hour, day);

CREATE INDEX history_letters_by_noted_at ON storehook.history_letters USING brin (noted_at);

CREATE UNIQUE INDEX history_letters_by_outbox ON storehook.history_letters USING btree (outbox_id) WHERE (outbox_id IS NOT NULL);

CREATE INDEX history_queue_due ON storehook.history_queue USING btree (due_at, id);

CREATE INDEX job_items_waiting ON storehook.job_items USING btree (job_id, letter_id) WHERE (outcome IS NULL);

CREATE INDEX job_queue_due ON storehook.job_queue USING btree (due_at, id);

CREATE INDEX jobs_ended ON storehook.jobs USING btree (ended_at) WHERE (ended_at IS NOT NULL);

CREATE INDEX jobs_open ON storehook.jobs USING btree (id) WHERE (ended_at IS NULL);

CREATE INDEX notifications_by_applied_at ON storehook.notifications USING brin (applied_at);

CREATE INDEX notifications_by_line ON storehook.notifications USING btree (original_transaction_id, bundle_id, environment, signed_at) WHERE (original_transaction_id IS NOT NULL);

CREATE INDEX notifications_consumption ON storehook.notifications USING btree (signed_at) WHERE (type = 'CONSUMPTION_REQUEST'::text);

CREATE INDEX one_time_purchases_by_account ON storehook.one_time_purchases USING btree (app_account_token) WHERE (app_account_token IS NOT NULL);

CREATE INDEX one_time_purchases_by_id ON storehook.one_time_purchases USING btree (original_transaction_id COLLATE "default");

CREATE INDEX outbox_attempts_ended ON storehook.outbox_attempts USING btree (ended_at);

CREATE INDEX outbox_attempts_of_evidence ON storehook.outbox_attempts USING btree (outbox_id, id);

CREATE INDEX outbox_queue_due ON storehook.outbox_queue USING btree (due_at, id);

CREATE INDEX outbox_queue_leased ON storehook.outbox_queue USING btree (received_at) WHERE ((lease_token IS NOT NULL) AND (attempts <= 1));

CREATE INDEX purchase_attempts_by_account ON storehook.purchase_attempts USING btree (token, id);

CREATE INDEX purchase_attempts_restores_to_book ON storehook.purchase_attempts USING btree (at, id) WHERE ((kind = 'restore'::text) AND (NOT is_booked));

CREATE INDEX purchase_attempts_to_book ON storehook.purchase_attempts USING btree (at, id) WHERE ((kind = 'purchase'::text) AND (NOT is_booked));

CREATE INDEX purchase_bindings_by_purchase ON storehook.purchase_bindings USING btree (original_transaction_id, bundle_id, environment);

CREATE INDEX purchase_tellings_due ON storehook.purchase_tellings USING btree (due_at) WHERE (due_at IS NOT NULL);

CREATE INDEX records_by_applied_at ON storehook.records USING brin (applied_at);

CREATE INDEX records_by_purchase ON storehook.records USING btree (original_transaction_id, bundle_id, environment) WHERE (original_transaction_id IS NOT NULL);

CREATE INDEX refresh_queue_due ON storehook.refresh_queue USING btree (due_at, id);

CREATE INDEX renewals_by_grace_end ON storehook.renewals USING btree (grace_expires_at) WHERE (grace_expires_at IS NOT NULL);

CREATE INDEX reported_restores_reported ON storehook.reported_restores USING btree (at);

CREATE UNIQUE INDEX saved_filters_name ON storehook.saved_filters USING btree (page, lower(name));

CREATE INDEX searches_made ON storehook.searches USING btree (made_at);

CREATE INDEX searches_of_actor ON storehook.searches USING btree (actor, made_at);

CREATE INDEX senders_refused ON storehook.senders USING btree (refused_until) WHERE (refused_until IS NOT NULL);

CREATE INDEX server_keys_valid ON storehook.server_keys USING btree (id) WHERE (revoked_at IS NULL);

CREATE INDEX shared_transactions_by_transaction ON storehook.shared_transactions USING btree (transaction_id, bundle_id, environment);

CREATE INDEX staff_acts_by_account ON storehook.staff_acts USING btree (token, at, id);

CREATE UNIQUE INDEX staff_members_by_mail ON storehook.staff_members USING btree (lower(mail)) WHERE (removed_at IS NULL);

CREATE INDEX staff_notes_by_account ON storehook.staff_notes USING btree (token, id);

CREATE INDEX staff_refund_requests_by_state ON storehook.staff_refund_requests USING btree (state, id);

CREATE INDEX staff_refund_requests_of_purchase ON storehook.staff_refund_requests USING btree (original_transaction_id);

CREATE INDEX staff_refund_requests_of_transaction ON storehook.staff_refund_requests USING btree (transaction_id);

CREATE UNIQUE INDEX staff_refund_requests_open ON storehook.staff_refund_requests USING btree (order_id, item) WHERE (state = ANY (ARRAY['pending'::text, 'approved'::text]));

CREATE INDEX staff_tokens_by_member ON storehook.staff_tokens USING btree (member_id);

CREATE INDEX subscriptions_by_account ON storehook.subscriptions USING btree (app_account_token) WHERE (app_account_token IS NOT NULL);

CREATE INDEX subscriptions_by_former_account ON storehook.subscriptions USING btree (former_account_token) WHERE (former_account_token IS NOT NULL);

CREATE INDEX subscriptions_by_id ON storehook.subscriptions USING btree (original_transaction_id COLLATE "default");

CREATE INDEX subscriptions_by_paid_until ON storehook.subscriptions USING btree (paid_until);

CREATE INDEX transactions_by_line_item ON storehook.transactions USING btree (web_order_line_item_id, bundle_id, environment) WHERE (web_order_line_item_id IS NOT NULL);

CREATE INDEX transactions_by_purchase ON storehook.transactions USING btree (original_transaction_id, bundle_id, environment, purchased_at);

CREATE INDEX transactions_by_purchase_date ON storehook.transactions USING btree (purchased_at);

CREATE INDEX trials_ended ON storehook.trials USING btree (ends_at);

CREATE INDEX trials_started ON storehook.trials USING btree (started_at);

CREATE INDEX usage_counters_over ON storehook.usage_counters USING btree (resets_at) WHERE (resets_at IS NOT NULL);

CREATE INDEX usage_keys_kept_until ON storehook.usage_keys USING btree (kept_until);

CREATE INDEX value_cells_of_cohort ON storehook.value_cells USING btree (zone, cohort);

CREATE INDEX value_cells_of_day ON storehook.value_cells USING btree (zone, day);

CREATE INDEX write_budgets_by_day ON storehook.write_budgets USING btree (day);

ALTER INDEX storehook.events_pkey ATTACH PARTITION storehook.events_default_pkey;

ALTER INDEX storehook.events_by_account ATTACH PARTITION storehook.events_default_token_sequence_idx;

ALTER INDEX storehook.outbox_pkey ATTACH PARTITION storehook.outbox_default_pkey;

CREATE OR REPLACE VIEW storehook.order_totals AS
 SELECT o.environment,
    o.bundle_id,
    storehook.order_number(o.day, o.number) AS number,
    o.order_key,
    t.currency,
    (COALESCE(sum(t.price), (0)::numeric))::bigint AS paid,
    (COALESCE(sum(t.refunded), (0)::numeric))::bigint AS refunded,
    count(*) FILTER (WHERE (t.price IS NULL)) AS unpriced,
    count(*) FILTER (WHERE ((t.revoked_share IS NULL) OR (t.refunded IS NULL))) AS unknown_refunds
   FROM (storehook.booked_orders o
     JOIN storehook.booked_transactions t ON ((t.order_id = o.id)))
  WHERE ((o.class_id IS NOT NULL) AND (NOT t.is_void))
  GROUP BY o.id, t.currency;

CREATE TRIGGER account_ids_audit AFTER UPDATE OF named_by ON storehook.account_ids FOR EACH ROW WHEN (((new.named_at IS DISTINCT FROM old.named_at) AND (new.named_by IS DISTINCT FROM "left"((SESSION_USER)::text, 200)))) EXECUTE FUNCTION storehook.audit_account_ids();

CREATE TRIGGER accounts_audit AFTER UPDATE OF erased_at ON storehook.accounts FOR EACH ROW WHEN (((new.erased_at IS DISTINCT FROM old.erased_at) AND (new.erased_at IS NOT NULL))) EXECUTE FUNCTION storehook.audit_erasure();

CREATE TRIGGER accounts_erase_notes BEFORE UPDATE OF erased_at ON storehook.accounts FOR EACH ROW WHEN ((new.erased_at IS NOT NULL)) EXECUTE FUNCTION storehook.erase_staff_notes();

CREATE TRIGGER accounts_forget_delivery_answers AFTER UPDATE OF erased_at ON storehook.accounts FOR EACH ROW WHEN ((new.erased_at IS NOT NULL)) EXECUTE FUNCTION storehook.forget_delivery_answers();

CREATE TRIGGER accounts_forget_name AFTER UPDATE OF erased_at ON storehook.accounts FOR EACH ROW WHEN ((new.erased_at IS NOT NULL)) EXECUTE FUNCTION storehook.forget_account_name();

CREATE CONSTRAINT TRIGGER audit_drafts_chain AFTER INSERT ON storehook.audit_drafts DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION storehook.chain_audit();

CREATE TRIGGER catalogs_audit AFTER UPDATE OF current_from ON storehook.catalogs FOR EACH ROW WHEN (((old.current_from IS NULL) AND (new.current_from IS NOT NULL))) EXECUTE FUNCTION storehook.audit_catalog();

CREATE TRIGGER closed_cells_in_time AFTER INSERT ON storehook.closed_cells REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION storehook.refuse_late_closing();

CREATE TRIGGER closed_months_audit AFTER INSERT OR UPDATE ON storehook.closed_months FOR EACH ROW EXECUTE FUNCTION storehook.audit_closed_month();

CREATE TRIGGER closed_months_open_once BEFORE UPDATE ON storehook.closed_months FOR EACH ROW WHEN (((old.reopened_at IS NOT NULL) OR (new.reopened_at IS NULL))) EXECUTE FUNCTION storehook.refuse_second_opening();

CREATE TRIGGER closed_rows_in_time AFTER INSERT ON storehook.closed_rows REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION storehook.refuse_late_closing();

CREATE TRIGGER commissions_audit AFTER INSERT ON storehook.commissions FOR EACH ROW EXECUTE FUNCTION storehook.audit_applied_file('apply_commission', 'commission');

CREATE TRIGGER console_sessions_login AFTER INSERT ON storehook.console_sessions FOR EACH ROW EXECUTE FUNCTION storehook.note_staff_login();

CREATE TRIGGER consumption_answers_audit AFTER UPDATE OF sent_by ON storehook.consumption_answers FOR EACH ROW WHEN (((new.sent_by IS NOT NULL) AND (new.began_at IS DISTINCT FROM old.began_at))) EXECUTE FUNCTION storehook.audit_consumption();

CREATE TRIGGER consumption_consents_audit AFTER INSERT ON storehook.consumption_consents FOR EACH ROW EXECUTE FUNCTION storehook.audit_consent();

CREATE TRIGGER consumption_consents_keep BEFORE INSERT ON storehook.consumption_consents FOR EACH ROW EXECUTE FUNCTION storehook.keep_consent();

CREATE TRIGGER dead_letters_audit AFTER UPDATE ON storehook.dead_letters REFERENCING OLD TABLE AS settled_before NEW TABLE AS settled_after FOR EACH STATEMENT EXECUTE FUNCTION storehook.audit_dead_letters();

CREATE TRIGGER dead_letters_remembered AFTER DELETE ON storehook.dead_letters REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION storehook.remember_dead_letters();

CREATE TRIGGER endpoint_trials_audit AFTER INSERT ON storehook.endpoint_trials FOR EACH ROW EXECUTE FUNCTION storehook.audit_endpoint_trial();

CREATE TRIGGER endpoints_audit AFTER INSERT ON storehook.endpoints FOR EACH ROW EXECUTE FUNCTION storehook.audit_endpoint();

CREATE TRIGGER endpoints_audit_change AFTER UPDATE ON storehook.endpoints FOR EACH ROW WHEN (((new.changed_at IS DISTINCT FROM old.changed_at) AND (new.changed_by <> 'storehook'::text))) EXECUTE FUNCTION storehook.audit_endpoint();

CREATE TRIGGER extensions_audit AFTER INSERT ON storehook.extensions FOR EACH ROW EXECUTE FUNCTION storehook.audit_extension();

CREATE TRIGGER extensions_audit_closure AFTER UPDATE OF state ON storehook.extensions FOR EACH ROW WHEN (((new.state = 'closed'::text) AND (old.state <> 'closed'::text))) EXECUTE FUNCTION storehook.audit_extension();

CREATE TRIGGER figure_cells_content AFTER DELETE ON storehook.figure_cells REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION storehook.require_figure_content();

CREATE TRIGGER figure_state_content BEFORE UPDATE ON storehook.figure_state FOR EACH ROW WHEN ((new.turned_until IS DISTINCT FROM old.turned_until)) EXECUTE FUNCTION storehook.require_figure_turn();

CREATE TRIGGER figures_of_changed AFTER UPDATE ON storehook.booked_attempts REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION storehook.mark_figures_of_attempts();

CREATE TRIGGER figures_of_changed AFTER UPDATE ON storehook.booked_orders REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION storehook.mark_figures_of_orders();

CREATE TRIGGER figures_of_changed AFTER UPDATE ON storehook.booked_refunds REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION storehook.mark_figures_of_refunds();

CREATE TRIGGER figures_of_changed AFTER UPDATE ON storehook.booked_stretches REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION storehook.mark_figures_of_stretches();

CREATE TRIGGER figures_of_changed AFTER UPDATE ON storehook.booked_transactions REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION storehook.mark_figures_of_transactions();

CREATE TRIGGER figures_of_changed AFTER UPDATE ON storehook.reported_restores REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION storehook.mark_figures_of_restores();

CREATE TRIGGER figures_of_changed AFTER UPDATE ON storehook.trials REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION storehook.mark_figures_of_own_trials();

CREATE TRIGGER figures_of_changed_attempts AFTER UPDATE ON storehook.booked_orders REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION storehook.mark_figures_of_attempted_orders();

CREATE TRIGGER figures_of_changed_payments AFTER UPDATE ON storehook.booked_transactions REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION storehook.mark_figures_of_payments();

CREATE TRIGGER figures_of_changed_service AFTER UPDATE ON storehook.booked_transactions REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION storehook.mark_figures_of_service();

CREATE TRIGGER figures_of_changed_trials AFTER UPDATE ON storehook.booked_transactions REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION storehook.mark_figures_of_trials();

CREATE TRIGGER figures_of_erased AFTER UPDATE OF erased_at ON storehook.accounts FOR EACH ROW WHEN (((old.erased_at IS NULL) <> (new.erased_at IS NULL))) EXECUTE FUNCTION storehook.mark_figures_of_erased_account();

CREATE TRIGGER figures_of_gone AFTER DELETE ON storehook.account_lines REFERENCING OLD TABLE AS rows FOR EACH STATEMENT EXECUTE FUNCTION storehook.mark_figures_of_accounts();

CREATE TRIGGER figures_of_gone AFTER DELETE ON storehook.booked_attempts REFERENCING OLD TABLE AS rows FOR EACH STATEMENT EXECUTE FUNCTION storehook.mark_figures_of_attempts();

CREATE TRIGGER figures_of_gone AFTER DELETE ON storehook.booked_orders REFERENCING OLD TABLE AS rows FOR EACH STATEMENT EXECUTE FUNCTION storehook.mark_figures_of_orders();

CREATE TRIGGER figures_of_gone AFTER DELETE ON storehook.booked_refunds REFERENCING OLD TABLE AS rows FOR EACH STATEMENT EXECUTE FUNCTION storehook.mark_figures_of_refunds();

CREATE TRIGGER figures_of_gone AFTER DELETE ON storehook.booked_stretches REFERENCING OLD TABLE AS rows FOR EACH STATEMENT EXECUTE FUNCTION storehook.mark_figures_of_stretches();

CREATE TRIGGER figures_of_gone AFTER DELETE ON storehook.booked_transactions REFERENCING OLD TABLE AS rows FOR EACH STATEMENT EXECUTE FUNCTION storehook.mark_figures_of_transactions();

CREATE TRIGGER figures_of_gone AFTER DELETE ON storehook.reported_restores REFERENCING OLD TABLE AS rows FOR EACH STATEMENT EXECUTE FUNCTION storehook.mark_figures_of_restores();

CREATE TRIGGER figures_of_gone AFTER DELETE ON storehook.trials REFERENCING OLD TABLE AS rows FOR EACH STATEMENT EXECUTE FUNCTION storehook.mark_figures_of_own_trials();

CREATE TRIGGER figures_of_gone_cohorts AFTER DELETE ON storehook.booked_transactions REFERENCING OLD TABLE AS rows FOR EACH STATEMENT EXECUTE FUNCTION storehook.mark_figures_of_cohorts();

CREATE TRIGGER figures_of_gone_payers AFTER DELETE ON storehook.account_lines REFERENCING OLD TABLE AS rows FOR EACH STATEMENT EXECUTE FUNCTION storehook.mark_figures_of_payers();

CREATE TRIGGER figures_of_gone_payments AFTER DELETE ON storehook.booked_transactions REFERENCING OLD TABLE AS rows FOR EACH STATEMENT EXECUTE FUNCTION storehook.mark_figures_of_payments();

CREATE TRIGGER figures_of_gone_service AFTER DELETE ON storehook.booked_transactions REFERENCING OLD TABLE AS rows FOR EACH STATEMENT EXECUTE FUNCTION storehook.mark_figures_of_service();

CREATE TRIGGER figures_of_gone_trials AFTER DELETE ON storehook.booked_transactions REFERENCING OLD TABLE AS rows FOR EACH STATEMENT EXECUTE FUNCTION storehook.mark_figures_of_trials();

CREATE TRIGGER figures_of_new AFTER INSERT ON storehook.account_lines REFERENCING NEW TABLE AS rows FOR EACH STATEMENT EXECUTE FUNCTION storehook.mark_figures_of_accounts();

CREATE TRIGGER figures_of_new AFTER INSERT ON storehook.accounts REFERENCING NEW TABLE AS rows FOR EACH STATEMENT EXECUTE FUNCTION storehook.mark_figures_of_known_accounts();

CREATE TRIGGER figures_of_new AFTER INSERT ON storehook.booked_attempts REFERENCING NEW TABLE AS rows FOR EACH STATEMENT EXECUTE FUNCTION storehook.mark_figures_of_attempts();

CREATE TRIGGER figures_of_new AFTER INSERT ON storehook.booked_orders REFERENCING NEW TABLE AS rows FOR EACH STATEMENT EXECUTE FUNCTION storehook.mark_figures_of_orders();

CREATE TRIGGER figures_of_new AFTER INSERT ON storehook.booked_refunds REFERENCING NEW TABLE AS rows FOR EACH STATEMENT EXECUTE FUNCTION storehook.mark_figures_of_refunds();

CREATE TRIGGER figures_of_new AFTER INSERT ON storehook.booked_stretches REFERENCING NEW TABLE AS rows FOR EACH STATEMENT EXECUTE FUNCTION storehook.mark_figures_of_stretches();

CREATE TRIGGER figures_of_new AFTER INSERT ON storehook.booked_transactions REFERENCING NEW TABLE AS rows FOR EACH STATEMENT EXECUTE FUNCTION storehook.mark_figures_of_transactions();

CREATE TRIGGER figures_of_new AFTER INSERT ON storehook.reported_restores REFERENCING NEW TABLE AS rows FOR EACH STATEMENT EXECUTE FUNCTION storehook.mark_figures_of_restores();

CREATE TRIGGER figures_of_new AFTER INSERT ON storehook.trials REFERENCING NEW TABLE AS rows FOR EACH STATEMENT EXECUTE FUNCTION storehook.mark_figures_of_own_trials();

CREATE TRIGGER figures_of_new_cohorts AFTER INSERT ON storehook.booked_transactions REFERENCING NEW TABLE AS rows FOR EACH STATEMENT EXECUTE FUNCTION storehook.mark_figures_of_cohorts();

CREATE TRIGGER figures_of_new_payers AFTER INSERT ON storehook.account_lines REFERENCING NEW TABLE AS rows FOR EACH STATEMENT EXECUTE FUNCTION storehook.mark_figures_of_payers();

CREATE TRIGGER figures_of_new_payments AFTER INSERT ON storehook.booked_transactions REFERENCING NEW TABLE AS rows FOR EACH STATEMENT EXECUTE FUNCTION storehook.mark_figures_of_payments();

CREATE TRIGGER figures_of_new_service AFTER INSERT ON storehook.booked_transactions REFERENCING NEW TABLE AS rows FOR EACH STATEMENT EXECUTE FUNCTION storehook.mark_figures_of_service();

CREATE TRIGGER figures_of_new_trials AFTER INSERT ON storehook.booked_transactions REFERENCING NEW TABLE AS rows FOR EACH STATEMENT EXECUTE FUNCTION storehook.mark_figures_of_trials();

CREATE TRIGGER fiscal_calendars_audit AFTER INSERT ON storehook.fiscal_calendars FOR EACH ROW EXECUTE FUNCTION storehook.audit_applied_file('apply_fiscal_calendar', 'fiscal_calendar');

CREATE TRIGGER jobs_actor BEFORE INSERT ON storehook.jobs FOR EACH ROW EXECUTE FUNCTION storehook.name_job_actor();

CREATE TRIGGER jobs_audit AFTER INSERT ON storehook.jobs FOR EACH ROW WHEN ((new.act <> 'rehearse'::text)) EXECUTE FUNCTION storehook.audit_job();

CREATE TRIGGER jobs_audit_stop AFTER UPDATE OF stopped_at ON storehook.jobs FOR EACH ROW WHEN (((new.act <> 'rehearse'::text) AND (old.stopped_at IS NULL) AND (new.stopped_at IS NOT NULL))) EXECUTE FUNCTION storehook.audit_job();

CREATE TRIGGER one_time_purchases_by_who_knows_accounts BEFORE INSERT ON storehook.one_time_purchases FOR EACH STATEMENT EXECUTE FUNCTION storehook.require_accounts();

CREATE TRIGGER one_time_purchases_deleted_by_who_knows_accounts BEFORE DELETE ON storehook.one_time_purchases FOR EACH STATEMENT EXECUTE FUNCTION storehook.require_accounts();

CREATE TRIGGER purchase_bindings_audit AFTER INSERT ON storehook.purchase_bindings FOR EACH ROW WHEN ((new.kind = 'staff'::text)) EXECUTE FUNCTION storehook.audit_move();

CREATE TRIGGER purchase_bindings_keep_text BEFORE INSERT ON storehook.purchase_bindings FOR EACH ROW WHEN ((new.kind = 'staff'::text)) EXECUTE FUNCTION storehook.keep_staff_text('binding');

CREATE TRIGGER rate_imports_audit AFTER INSERT ON storehook.rate_imports FOR EACH ROW EXECUTE FUNCTION storehook.audit_rate_import();

CREATE TRIGGER server_keys_audit AFTER INSERT ON storehook.server_keys FOR EACH ROW EXECUTE FUNCTION storehook.audit_server_key();

CREATE TRIGGER server_keys_audit_revocation AFTER UPDATE OF revoked_at ON storehook.server_keys FOR EACH ROW WHEN (((old.revoked_at IS NULL) AND (new.revoked_at IS NOT NULL))) EXECUTE FUNCTION storehook.audit_server_key();

CREATE TRIGGER staff_acts_audit AFTER INSERT ON storehook.staff_acts FOR EACH ROW EXECUTE FUNCTION storehook.audit_staff_act();

CREATE TRIGGER staff_acts_keep_text BEFORE INSERT ON storehook.staff_acts FOR EACH ROW EXECUTE FUNCTION storehook.keep_staff_text('act');

CREATE TRIGGER staff_members_audit AFTER INSERT OR UPDATE ON storehook.staff_members FOR EACH ROW EXECUTE FUNCTION storehook.audit_staff_member();

CREATE TRIGGER staff_members_login AFTER UPDATE OF removed_at ON storehook.staff_members FOR EACH ROW WHEN ((new.removed_at IS NOT NULL)) EXECUTE FUNCTION storehook.forget_staff_login();

CREATE TRIGGER staff_notes_audit AFTER INSERT ON storehook.staff_notes FOR EACH ROW EXECUTE FUNCTION storehook.audit_staff_note();

CREATE TRIGGER staff_passwords_audit AFTER INSERT OR UPDATE ON storehook.staff_passwords FOR EACH ROW EXECUTE FUNCTION storehook.audit_staff_password();

CREATE TRIGGER staff_passwords_sessions AFTER INSERT OR UPDATE ON storehook.staff_passwords FOR EACH ROW EXECUTE FUNCTION storehook.end_console_sessions();

CREATE TRIGGER staff_refund_requests_audit AFTER INSERT ON storehook.staff_refund_requests FOR EACH ROW EXECUTE FUNCTION storehook.audit_refund_request();

CREATE TRIGGER staff_refund_requests_audit_decision AFTER UPDATE ON storehook.staff_refund_requests FOR EACH ROW WHEN ((new.acted_at IS DISTINCT FROM old.acted_at)) EXECUTE FUNCTION storehook.audit_refund_request();

CREATE TRIGGER staff_tokens_audit AFTER INSERT OR UPDATE ON storehook.staff_tokens FOR EACH ROW EXECUTE FUNCTION storehook.audit_staff_token();

CREATE TRIGGER subscriptions_by_who_knows_accounts BEFORE INSERT ON storehook.subscriptions FOR EACH STATEMENT EXECUTE FUNCTION storehook.require_accounts();

CREATE TRIGGER subscriptions_deleted_by_who_knows_accounts BEFORE DELETE ON storehook.subscriptions FOR EACH STATEMENT EXECUTE FUNCTION storehook.require_accounts();

CREATE TRIGGER trials_keep_outcome BEFORE UPDATE OF token ON storehook.trials FOR EACH ROW WHEN (((old.token IS NOT NULL) AND (new.token IS NULL))) EXECUTE FUNCTION storehook.keep_trial_outcome();

ALTER TABLE ONLY storehook.account_day_counts
    ADD CONSTRAINT account_day_counts_day_fkey FOREIGN KEY (day) REFERENCES storehook.account_days(day);

ALTER TABLE ONLY storehook.account_status
    ADD CONSTRAINT account_status_catalog_fkey FOREIGN KEY (catalog) REFERENCES storehook.catalogs(version);

ALTER TABLE ONLY storehook.canary_queue
    ADD CONSTRAINT canary_queue_id_fkey FOREIGN KEY (id) REFERENCES storehook.canaries(id) ON DELETE CASCADE;

ALTER TABLE ONLY storehook.catalog_state
    ADD CONSTRAINT catalog_state_current_version_fkey FOREIGN KEY (current_version) REFERENCES storehook.catalogs(version);

ALTER TABLE ONLY storehook.catalog_state
    ADD CONSTRAINT catalog_state_preparing_version_fkey FOREIGN KEY (preparing_version) REFERENCES storehook.catalogs(version);

ALTER TABLE ONLY storehook.consents_superseded
    ADD CONSTRAINT consents_superseded_id_fkey FOREIGN KEY (id) REFERENCES storehook.consumption_consents(id) ON DELETE CASCADE;

ALTER TABLE ONLY storehook.console_sessions
    ADD CONSTRAINT console_sessions_member_id_fkey FOREIGN KEY (member_id) REFERENCES storehook.staff_members(id);

ALTER TABLE ONLY storehook.consumption_answers
    ADD CONSTRAINT consumption_answers_consent_id_fkey FOREIGN KEY (consent_id) REFERENCES storehook.consumption_consents(id);

ALTER TABLE ONLY storehook.consumption_consents
    ADD CONSTRAINT consumption_consents_text_id_fkey FOREIGN KEY (text_id) REFERENCES storehook.consent_texts(id);

ALTER TABLE ONLY storehook.consumption_queue
    ADD CONSTRAINT consumption_queue_id_fkey FOREIGN KEY (id) REFERENCES storehook.consumption_answers(id) ON DELETE CASCADE;

ALTER TABLE ONLY storehook.delivery_lanes
    ADD CONSTRAINT delivery_lanes_endpoint_id_fkey FOREIGN KEY (endpoint_id) REFERENCES storehook.endpoints(id);

ALTER TABLE ONLY storehook.endpoint_cursors
    ADD CONSTRAINT endpoint_cursors_endpoint_id_fkey FOREIGN KEY (endpoint_id) REFERENCES storehook.endpoints(id) ON DELETE CASCADE;

ALTER TABLE ONLY storehook.endpoint_health
    ADD CONSTRAINT endpoint_health_endpoint_id_fkey FOREIGN KEY (endpoint_id) REFERENCES storehook.endpoints(id) ON DELETE CASCADE;

ALTER TABLE ONLY storehook.endpoint_trials
    ADD CONSTRAINT endpoint_trials_endpoint_id_fkey FOREIGN KEY (endpoint_id) REFERENCES storehook.endpoints(id) ON DELETE CASCADE;

ALTER TABLE ONLY storehook.extension_failures
    ADD CONSTRAINT extension_failures_extension_id_fkey FOREIGN KEY (extension_id) REFERENCES storehook.extensions(id) ON DELETE CASCADE;

ALTER TABLE ONLY storehook.extension_queue
    ADD CONSTRAINT extension_queue_id_fkey FOREIGN KEY (id) REFERENCES storehook.extensions(id) ON DELETE CASCADE;

ALTER TABLE ONLY storehook.forbidden_tries
    ADD CONSTRAINT forbidden_tries_member_id_fkey FOREIGN KEY (member_id) REFERENCES storehook.staff_members(id);

ALTER TABLE ONLY storehook.history_queue
    ADD CONSTRAINT history_queue_id_fkey FOREIGN KEY (id) REFERENCES storehook.history_windows(id) ON DELETE CASCADE;

ALTER TABLE ONLY storehook.job_items
    ADD CONSTRAINT job_items_job_id_fkey FOREIGN KEY (job_id) REFERENCES storehook.jobs(id) ON DELETE CASCADE;

ALTER TABLE ONLY storehook.job_queue
    ADD CONSTRAINT job_queue_id_fkey FOREIGN KEY (id) REFERENCES storehook.jobs(id) ON DELETE CASCADE;

ALTER TABLE ONLY storehook.proxied_tries
    ADD CONSTRAINT proxied_tries_name_fkey FOREIGN KEY (name) REFERENCES storehook.proxied_staff(name);

ALTER TABLE ONLY storehook.refresh_queue
    ADD CONSTRAINT refresh_queue_id_fkey FOREIGN KEY (id) REFERENCES storehook.refreshes(id) ON DELETE CASCADE;

ALTER TABLE ONLY storehook.staff_logins
    ADD CONSTRAINT staff_logins_member_id_fkey FOREIGN KEY (member_id) REFERENCES storehook.staff_members(id);

ALTER TABLE ONLY storehook.staff_passwords
    ADD CONSTRAINT staff_passwords_member_id_fkey FOREIGN KEY (member_id) REFERENCES storehook.staff_members(id);

ALTER TABLE ONLY storehook.staff_tokens
    ADD CONSTRAINT staff_tokens_member_id_fkey FOREIGN KEY (member_id) REFERENCES storehook.staff_members(id);

ALTER TABLE ONLY storehook.usage_days
    ADD CONSTRAINT usage_days_day_fkey FOREIGN KEY (day) REFERENCES storehook.account_days(day);

REVOKE ALL ON FUNCTION storehook.account_payments(of_token uuid, of_environment text) FROM PUBLIC;

REVOKE ALL ON FUNCTION storehook.add_audit_draft(draft storehook.audit_drafts) FROM PUBLIC;

REVOKE ALL ON FUNCTION storehook.append_audit(draft storehook.audit_drafts, tail storehook.audit_tail) FROM PUBLIC;

REVOKE ALL ON FUNCTION storehook.audit_account_ids() FROM PUBLIC;

REVOKE ALL ON FUNCTION storehook.audit_actor(recorded_by text) FROM PUBLIC;

REVOKE ALL ON FUNCTION storehook.audit_applied_file() FROM PUBLIC;

REVOKE ALL ON FUNCTION storehook.audit_bytes(a storehook.audit) FROM PUBLIC;

REVOKE ALL ON FUNCTION storehook.audit_catalog() FROM PUBLIC;

REVOKE ALL ON FUNCTION storehook.audit_closed_month() FROM PUBLIC;

REVOKE ALL ON FUNCTION storehook.audit_consent() FROM PUBLIC;

REVOKE ALL ON FUNCTION storehook.audit_consumption() FROM PUBLIC;

REVOKE ALL ON FUNCTION storehook.audit_dead_letters() FROM PUBLIC;

REVOKE ALL ON FUNCTION storehook.audit_draft(erased storehook.accounts) FROM PUBLIC;

REVOKE ALL ON FUNCTION storehook.audit_draft(consent storehook.consumption_consents) FROM PUBLIC;

REVOKE ALL ON FUNCTION storehook.audit_draft(bound storehook.purchase_bindings) FROM PUBLIC;

REVOKE ALL ON FUNCTION storehook.audit_draft(act storehook.staff_acts) FROM PUBLIC;

REVOKE ALL ON FUNCTION storehook.audit_endpoint() FROM PUBLIC;

REVOKE ALL ON FUNCTION storehook.audit_endpoint_trial() FROM PUBLIC;

REVOKE ALL ON FUNCTION storehook.audit_erasure() FROM PUBLIC;

REVOKE ALL ON FUNCTION storehook.audit_extension() FROM PUBLIC;

REVOKE ALL ON FUNCTION storehook.audit_job() FROM PUBLIC;

REVOKE ALL ON FUNCTION storehook.audit_move() FROM PUBLIC;

REVOKE ALL ON FUNCTION storehook.audit_rate_import() FROM PUBLIC;

REVOKE ALL ON FUNCTION storehook.audit_refund_request() FROM PUBLIC;

REVOKE ALL ON FUNCTION storehook.audit_refund_state(request storehook.staff_refund_requests) FROM PUBLIC;

REVOKE ALL ON FUNCTION storehook.audit_server_key() FROM PUBLIC;

REVOKE ALL ON FUNCTION storehook.audit_staff_act() FROM PUBLIC;

REVOKE ALL ON FUNCTION storehook.audit_staff_member() FROM PUBLIC;

REVOKE ALL ON FUNCTION storehook.audit_staff_note() FROM PUBLIC;

REVOKE ALL ON FUNCTION storehook.audit_staff_password() FROM PUBLIC;

REVOKE ALL ON FUNCTION storehook.audit_staff_token() FROM PUBLIC;

REVOKE ALL ON FUNCTION storehook.audit_text(texts jsonb) FROM PUBLIC;

REVOKE ALL ON FUNCTION storehook.chain_audit() FROM PUBLIC;

REVOKE ALL ON FUNCTION storehook.count_outbox_day(day date, with_open boolean, OUT received bigint, OUT pending bigint, OUT applied bigint, OUT duplicate bigint, OUT parked bigint, OUT dead bigint, OUT discarded bigint, OUT missing bigint, OUT doubled bigint, OUT open_ids bigint[]) FROM PUBLIC;

REVOKE ALL ON FUNCTION storehook.count_usage(in_token uuid, in_feature text, in_act text, in_amount bigint, in_allowed bigint, in_period text, in_starts_on date, in_opens_at timestamp with time zone, in_resets_at timestamp with time zone, in_used_at timestamp with time zone, in_key uuid, OUT outcome text, OUT clock timestamp with time zone, OUT out_used bigint, OUT out_allowed bigint, OUT out_period text, OUT out_starts_on date, OUT out_resets_at timestamp with time zone) FROM PUBLIC;

REVOKE ALL ON FUNCTION storehook.dead_letter_body(letter bigint) FROM PUBLIC;

REVOKE ALL ON FUNCTION storehook.delete_event_positions(day date, kept_days integer, most integer) FROM PUBLIC;

REVOKE ALL ON FUNCTION storehook.drop_consent_texts(in_ids bigint[]) FROM PUBLIC;

REVOKE ALL ON FUNCTION storehook.drop_event_day(day date, kept_days integer) FROM PUBLIC;

REVOKE ALL ON FUNCTION storehook.drop_outbox_day(day date, keep_days integer, OUT outcome text, OUT gone bigint, OUT kept bigint) FROM PUBLIC;

REVOKE ALL ON FUNCTION storehook.drop_superseded_consents(keep_days integer, most integer, OUT looked bigint, OUT dropped bigint) FROM PUBLIC;

REVOKE ALL ON FUNCTION storehook.end_console_sessions() FROM PUBLIC;

REVOKE ALL ON FUNCTION storehook.ensure_event_partitions(days_ahead integer) FROM PUBLIC;

REVOKE ALL ON FUNCTION storehook.ensure_outbox_partitions(days_ahead integer) FROM PUBLIC;

REVOKE ALL ON FUNCTION storehook.erase_consents(in_token uuid, OUT deleted bigint, OUT kept bigint) FROM PUBLIC;

REVOKE ALL ON FUNCTION storehook.erase_staff_notes() FROM PUBLIC;

REVOKE ALL ON FUNCTION storehook.event_days(kept_days integer) FROM PUBLIC;

REVOKE ALL ON FUNCTION storehook.expire_junk(keep_days integer) FROM PUBLIC;

REVOKE ALL ON FUNCTION storehook.filled_apps() FROM PUBLIC;

REVOKE ALL ON FUNCTION storehook.forget_account_name() FROM PUBLIC;

REVOKE ALL ON FUNCTION storehook.forget_delivery_answers() FROM PUBLIC;

REVOKE ALL ON FUNCTION storehook.forget_staff_login() FROM PUBLIC;

REVOKE ALL ON FUNCTION storehook.history_filled_at(bundle_id text, environment text) FROM PUBLIC;

REVOKE ALL ON FUNCTION storehook.history_fills() FROM PUBLIC;

REVOKE ALL ON FUNCTION storehook.history_reach(environment text) FROM PUBLIC;

REVOKE ALL ON FUNCTION storehook.hold_accounts_of(environments text[], bundle_ids text[], purchases text[], tokens uuid[]) FROM PUBLIC;

REVOKE ALL ON FUNCTION storehook.is_by_staff(consent storehook.consumption_consents) FROM PUBLIC;

REVOKE ALL ON FUNCTION storehook.is_filling(bundle_id text, environment text) FROM PUBLIC;

REVOKE ALL ON FUNCTION storehook.keep_consent() FROM PUBLIC;

REVOKE ALL ON FUNCTION storehook.keep_staff_text() FROM PUBLIC;

REVOKE ALL ON FUNCTION storehook.keep_trial_outcome() FROM PUBLIC;

REVOKE ALL ON FUNCTION storehook.list_purchased_products() FROM PUBLIC;

REVOKE ALL ON FUNCTION storehook.mark_accounts(tokens uuid[]) FROM PUBLIC;

REVOKE ALL ON FUNCTION storehook.mark_figures_of_accounts() FROM PUBLIC;

REVOKE ALL ON FUNCTION storehook.mark_figures_of_attempted_orders() FROM PUBLIC;

REVOKE ALL ON FUNCTION storehook.mark_figures_of_attempts() FROM PUBLIC;

REVOKE ALL ON FUNCTION storehook.mark_figures_of_cohorts() FROM PUBLIC;

REVOKE ALL ON FUNCTION storehook.mark_figures_of_erased_account() FROM PUBLIC;

REVOKE ALL ON FUNCTION storehook.mark_figures_of_known_accounts() FROM PUBLIC;

REVOKE ALL ON FUNCTION storehook.mark_figures_of_orders() FROM PUBLIC;

REVOKE ALL ON FUNCTION storehook.mark_figures_of_own_trials() FROM PUBLIC;

REVOKE ALL ON FUNCTION storehook.mark_figures_of_payers() FROM PUBLIC;

REVOKE ALL ON FUNCTION storehook.mark_figures_of_payments() FROM PUBLIC;

REVOKE ALL ON FUNCTION storehook.mark_figures_of_refunds() FROM PUBLIC;

REVOKE ALL ON FUNCTION storehook.mark_figures_of_restores() FROM PUBLIC;

REVOKE ALL ON FUNCTION storehook.mark_figures_of_service() FROM PUBLIC;

REVOKE ALL ON FUNCTION storehook.mark_figures_of_stretches() FROM PUBLIC;

REVOKE ALL ON FUNCTION storehook.mark_figures_of_transactions() FROM PUBLIC;

REVOKE ALL ON FUNCTION storehook.mark_figures_of_trials() FROM PUBLIC;

REVOKE ALL ON FUNCTION storehook.mark_recurring(ids bigint[], firsts timestamp with time zone[], lasts timestamp with time zone[]) FROM PUBLIC;

REVOKE ALL ON FUNCTION storehook.may_name_staff() FROM PUBLIC;

REVOKE ALL ON FUNCTION storehook.name_account_ids(in_rule text) FROM PUBLIC;

REVOKE ALL ON FUNCTION storehook.name_job_actor() FROM PUBLIC;

REVOKE ALL ON FUNCTION storehook.note_forbidden_try(member bigint, tried text) FROM PUBLIC;

REVOKE ALL ON FUNCTION storehook.note_opened_texts(opened_by text, why text, opened bigint, is_export boolean, opened_kind text, opened_of text) FROM PUBLIC;

REVOKE ALL ON FUNCTION storehook.note_proxied_staff(proxied text, with_role text, of_apps text[]) FROM PUBLIC;

REVOKE ALL ON FUNCTION storehook.note_proxied_try(proxied text, tried text) FROM PUBLIC;

REVOKE ALL ON FUNCTION storehook.note_resent(resent_by text, delivery bigint, endpoints bigint[], events bigint[], written timestamp with time zone[]) FROM PUBLIC;

REVOKE ALL ON FUNCTION storehook.note_staff_login() FROM PUBLIC;

REVOKE ALL ON FUNCTION storehook.notification_body(notification uuid) FROM PUBLIC;

REVOKE ALL ON FUNCTION storehook.order_number(day date, number integer) FROM PUBLIC;

REVOKE ALL ON FUNCTION storehook.outbox_bodies(ids bigint[], received_at timestamp with time zone[]) FROM PUBLIC;

REVOKE ALL ON FUNCTION storehook.outbox_day_changes(day date) FROM PUBLIC;

REVOKE ALL ON FUNCTION storehook.outbox_partition_bounds(day date, OUT opens timestamp with time zone, OUT closes timestamp with time zone) FROM PUBLIC;

REVOKE ALL ON FUNCTION storehook.owed_at(bundle_id text, environment text) FROM PUBLIC;

REVOKE ALL ON FUNCTION storehook.place_events(most integer) FROM PUBLIC;

REVOKE ALL ON FUNCTION storehook.plan_history(bundle_ids text[], environments text[], behind interval, partial boolean) FROM PUBLIC;

REVOKE ALL ON FUNCTION storehook.purchase_payments(of_environment text, of_app text, of_purchase text) FROM PUBLIC;

REVOKE ALL ON FUNCTION storehook.record_forbidden_tries() FROM PUBLIC;

REVOKE ALL ON FUNCTION storehook.refuse_late_closing() FROM PUBLIC;

REVOKE ALL ON FUNCTION storehook.refuse_second_opening() FROM PUBLIC;

REVOKE ALL ON FUNCTION storehook.refused_senders() FROM PUBLIC;

REVOKE ALL ON FUNCTION storehook.remember_dead_letters() FROM PUBLIC;

REVOKE ALL ON FUNCTION storehook.require_figure_content() FROM PUBLIC;

REVOKE ALL ON FUNCTION storehook.rotate_endpoint(endpoint bigint, sealed bytea, overlap_seconds double precision, rotated_by text) FROM PUBLIC;

REVOKE ALL ON FUNCTION storehook.settle_outbox_day(day date) FROM PUBLIC;

REVOKE ALL ON FUNCTION storehook.spend_write_budget(in_token uuid, in_bytes bigint) FROM PUBLIC;

REVOKE ALL ON FUNCTION storehook.sum_outbox_stored() FROM PUBLIC;

REVOKE ALL ON FUNCTION storehook.telling_differences(most integer, OUT looked bigint, OUT differing bigint, OUT overdue bigint) FROM PUBLIC;

REVOKE ALL ON FUNCTION storehook.unverifiable() FROM PUBLIC;

REVOKE ALL ON FUNCTION storehook.work_job(worked bigint, portion integer, OUT settled integer, OUT passed integer) FROM PUBLIC;
