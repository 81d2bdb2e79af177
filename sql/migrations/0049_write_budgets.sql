-- compatible-from: 10
-- Callers have a budget of bytes for what they write, by account and day. The text of consents is stored once, and consents are deleted
-- some time after they were superseded.

-- A row for each account that wrote something lately. The transaction that writes spends of it, so that the bound holds for any number
-- of processes. A call that repeats an earlier one writes nothing, and spends nothing.
create table storehook.write_budgets (
    token uuid   primary key,
    day   date   not null,
    bytes bigint not null check (bytes >= 0)
    -- Written again and again; no index holds what changes within a day.
) with (fillfactor = 50);
comment on table storehook.write_budgets is
    'how many bytes an account''s callers have added on its latest day: counted and checked by spend_write_budget';
comment on column storehook.write_budgets.token is 'the account''s appAccountToken';
comment on column storehook.write_budgets.day is 'of UTC';
comment on column storehook.write_budgets.bytes is 'what was written that day, with its indexes, as it is weighed';
create index write_budgets_by_day on storehook.write_budgets (day);

-- Spends so many bytes of an account's day, or none where that would be more than the ten million that a day has. Another transaction
-- that spends of the same account waits for the end of this one. A transaction that began before midnight may come after one of the
-- new day: then it spends of the new day.
create function storehook.spend_write_budget(in_token uuid, in_bytes bigint) returns boolean
    language plpgsql
    set search_path = pg_catalog, pg_temp
as $$
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
revoke all on function storehook.spend_write_budget(uuid, bigint) from public;
comment on function storehook.spend_write_budget(uuid, bigint) is
    'takes bytes from what an account may add in a day of UTC; false, and nothing is taken, where that is used up';

-- As before, but the account's budget of the day pays for a key:
--
--     write_budget    nothing was counted, because the budget does not suffice for another key
--
-- A report without a key adds no row, and spends nothing. A report with a key holds the budget before the counter. Of several reports
-- with one key the later ones wait there, and then find the first one's row. So that row is written once, with its count.
create or replace function storehook.count_usage(
    in_token uuid, in_feature text, in_act text, in_amount bigint, in_allowed bigint, in_period text, in_starts_on date,
    in_opens_at timestamptz, in_resets_at timestamptz, in_used_at timestamptz, in_key uuid,
    out outcome text, out clock timestamptz, out out_used bigint, out out_allowed bigint, out out_period text,
    out out_starts_on date, out out_resets_at timestamptz)
    language plpgsql
    set search_path = pg_catalog, pg_temp
as $$
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

-- What customers were shown, each text once. It is deleted with the last consent that names it.
create table storehook.consent_texts (
    id     bigint primary key generated always as identity,
    digest bytea  not null unique check (octet_length(digest) = 32),
    text   text   not null check (length(text) between 1 and 10000)
);
comment on table storehook.consent_texts is 'what customers were shown when they agreed that Apple is sent data about use, or withdrew that';
comment on column storehook.consent_texts.digest is 'SHA-256 of the text in UTF-8';
alter table storehook.consumption_consents add column text_id bigint references storehook.consent_texts;
comment on column storehook.consumption_consents.text is
    'what the customer was shown, of consents that were recorded before texts were kept once; since then it stands in consent_texts';
comment on column storehook.consumption_consents.text_id is 'what the customer was shown';

-- Consents that a later one of the account superseded. Upkeep deletes them in time, except where an answer was sent to Apple under one.
create table storehook.consents_superseded (
    id bigint      primary key references storehook.consumption_consents on delete cascade,
    at timestamptz not null
);
comment on table storehook.consents_superseded is
    'consents that count no more, until they are deleted or found to be what an answer to Apple rests on';
create index consents_superseded_by_time on storehook.consents_superseded (at);

-- A trigger moves texts and notes what is superseded, so that it happens for programs of every release. The caller holds the token.
-- SECURITY DEFINER: the caller needs no other right to write here.
create function storehook.keep_consent() returns trigger
    language plpgsql security definer
    set search_path = pg_catalog, pg_temp set timezone = 'UTC' set datestyle = 'ISO'
as $$
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
revoke all on function storehook.keep_consent() from public;
create trigger consumption_consents_keep before insert on storehook.consumption_consents
    for each row execute function storehook.keep_consent();

-- Deletes those of these texts that no consent names. A text that a consent names is not locked.
create function storehook.drop_consent_texts(in_ids bigint[]) returns bigint
    language plpgsql security definer
    set search_path = pg_catalog, pg_temp set timezone = 'UTC' set datestyle = 'ISO'
as $$
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
revoke all on function storehook.drop_consent_texts(bigint[]) from public;

-- As before, and also deletes texts that no consent names any more, and the row that is locked for the account's consents.
create or replace function storehook.erase_consents(in_token uuid, out deleted bigint, out kept bigint)
    language plpgsql security definer
    set search_path = pg_catalog, pg_temp set timezone = 'UTC' set datestyle = 'ISO'
as $$
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

-- Deletes a portion of the consents that were superseded so many days ago, and the texts that only they named. Consents under which an
-- answer was sent to Apple stay, and are not looked at again. Where fewer were looked at than asked for, no more are left.
-- SECURITY DEFINER: nobody else changes or deletes a consent.
create function storehook.drop_superseded_consents(keep_days integer, most integer, out looked bigint, out dropped bigint)
    language plpgsql security definer
    set search_path = pg_catalog, pg_temp set timezone = 'UTC' set datestyle = 'ISO'
as $$
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
revoke all on function storehook.drop_superseded_consents(integer, integer) from public;
