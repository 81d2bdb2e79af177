-- compatible-from: 10
-- What accounts have used of the catalog's features, and what was reported under an idempotency key.

-- A row for each account, feature and day, month or all time in which something was used. Nothing is ever reset: a new day has a new
-- row, and the one before goes once nobody can report anything of it any more.
create table storehook.usage_counters (
    token     uuid        not null,
    feature   text        collate "C" not null check (feature ~ '^[a-z0-9][a-z0-9_-]{0,63}$'),
    period    text        collate "C" not null check (period in ('day', 'month', 'total')),
    starts_on date        not null,
    resets_at timestamptz,
    used      bigint      not null check (used >= 0),
    primary key (token, feature, period, starts_on),
    check ((period = 'total') = (starts_on = '-infinity')),
    check ((period = 'total') = (resets_at is null))
    -- Rows are written again and again, and no index holds what changes.
) with (fillfactor = 80);
comment on table storehook.usage_counters is
    'what each account has used of each feature, by day, month or in total: counted and checked by count_usage';
comment on column storehook.usage_counters.token is 'the account''s appAccountToken';
comment on column storehook.usage_counters.starts_on is
    'the first day as the calendar of the catalog''s time zone has it; -infinity of what is counted in total';
comment on column storehook.usage_counters.resets_at is
    'the first instant that does not belong to it any more; null of what is counted in total';
create index usage_counters_over on storehook.usage_counters (resets_at) where resets_at is not null;

-- What was counted under an idempotency key, and what was answered. What was refused leaves no row, and may be asked again.
create table storehook.usage_keys (
    token      uuid        not null,
    feature    text        collate "C" not null,
    key        uuid        not null,
    act        text        collate "C" not null check (act in ('add', 'release', 'set')),
    amount     bigint      not null check (amount >= 0),
    allowed    bigint      check (allowed >= 0),
    used       bigint      not null check (used >= 0),
    period     text        collate "C" not null check (period in ('day', 'month', 'total')),
    starts_on  date        not null,
    resets_at  timestamptz,
    kept_until timestamptz not null,
    primary key (token, feature, key)
) with (fillfactor = 80);
comment on table storehook.usage_keys is
    'what was counted under an idempotency key, with what was answered: it counts once, and is answered so again';
comment on column storehook.usage_keys.key is 'the first 128 bits of the SHA-256 of what the caller sent';
comment on column storehook.usage_keys.allowed is 'the limit that it was counted under; null if there was none';
comment on column storehook.usage_keys.used is 'what was used after it, of its day, of its month, or in total';
comment on column storehook.usage_keys.kept_until is
    '35 days after its period''s end; of what is counted in total, 35 days after it was reported';
create index usage_keys_kept_until on storehook.usage_keys (kept_until);

-- Counts what an account has used of a feature, if its limit has room for it; whoever else counts the same waits meanwhile.
--
--     counted         it was, and out_used is what is used now
--     repeated        it was counted before under this key; the other columns say what was answered then
--     key_reused      something else was counted under this key
--     limit_reached   nothing was counted; out_used is what is used
--     too_old         used_at is more than 35 days ago
--     in_the_future   used_at is to come, by more than five minutes
--     elsewhere       now is not in the window that the caller took it for; clock says when now is
--
-- The calendar is the caller's: the window comes with its day and its instants, and only the clock is the database's. Instants are
-- moved by hours, of which a session's time zone makes no other number.
create function storehook.count_usage(
    in_token uuid, in_feature text, in_act text, in_amount bigint, in_allowed bigint, in_period text, in_starts_on date,
    in_opens_at timestamptz, in_resets_at timestamptz, in_used_at timestamptz, in_key uuid,
    out outcome text, out clock timestamptz, out out_used bigint, out out_allowed bigint, out out_period text,
    out out_starts_on date, out out_resets_at timestamptz)
    language plpgsql
    set search_path = pg_catalog, pg_temp
as $$
declare
    held    storehook.usage_keys%rowtype;
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
                return;
            end if;
        end if;
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
        -- Of several with one key the others wait here, and then see what became of it: counted, or refused and gone.
        insert into storehook.usage_keys
               (token, feature, key, act, amount, allowed, used, period, starts_on, resets_at, kept_until)
        values (in_token, in_feature, in_key, in_act, in_amount, in_allowed, 0, in_period, in_starts_on, in_resets_at,
                coalesce(in_resets_at, clock) + interval '840 hours')
            on conflict (token, feature, key) do nothing;
        exit when found;
    end loop;

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
            update storehook.usage_keys k set used = out_used
             where k.token = in_token and k.feature = in_feature and k.key = in_key;
        end if;
        return;
    end if;
    outcome := 'limit_reached';
    delete from storehook.usage_keys k
     where in_key is not null and k.token = in_token and k.feature = in_feature and k.key = in_key;
    select c.used into out_used from storehook.usage_counters c
     where c.token = in_token and c.feature = in_feature and c.period = in_period and c.starts_on = in_starts_on;
end
$$;
revoke all on function storehook.count_usage(
    uuid, text, text, bigint, bigint, text, date, timestamptz, timestamptz, timestamptz, uuid) from public;
