-- What the migrations make, as pg_dump shows it. Written by GoldenSchemaTests; never edited by hand.

CREATE SCHEMA storehook;

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

CREATE FUNCTION storehook.drop_outbox_day(day date, keep_days integer, OUT outcome text, OUT gone bigint, OUT kept bigint) RETURNS record
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET lock_timeout TO '10s'
    AS $_$
declare
    opens       constant timestamptz := drop_outbox_day.day::timestamp at time zone 'UTC';
    closes      constant timestamptz := (drop_outbox_day.day + 1)::timestamp at time zone 'UTC';
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
begin
    gone := 0;
    kept := 0;
    if keep_days < 7 then
        raise exception 'keep_days must be 7 or more' using errcode = 'invalid_parameter_value';
    end if;
    if drop_outbox_day.day >= (now() at time zone 'UTC')::date - keep_days then
        raise exception 'the day is not older than keep_days' using errcode = 'invalid_parameter_value';
    end if;
    if not pg_try_advisory_xact_lock(x'73746f72655f7031'::bit(64)::bigint) then
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
    end if;

    if is_whole then
        perform set_config('lock_timeout', '250ms', true);
        execute format('alter table storehook.outbox detach partition storehook.%I', name);
        execute format(
            'insert into storehook.outbox_default (id, received_at, packing, body)
             select id, received_at, packing, body from storehook.%I where id = any($1)', name) using kept_ids;
        execute format('drop table storehook.%I', name);
    elsif gone > 0 then
        delete from storehook.outbox_default o
         where o.received_at >= opens and o.received_at < closes and o.id = any(gone_ids);
    end if;
    outcome := case when is_whole or gone > 0 then 'dropped' else 'stays' end;
end
$_$;

CREATE FUNCTION storehook.ensure_outbox_partitions(days_ahead integer DEFAULT 7) RETURNS integer
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET lock_timeout TO '10s'
    AS $$
declare
    today  date := (now() at time zone 'UTC')::date;
    days   date[];
    day    date;
    name   text;
    move   constant text := 'with moved as (delete from storehook.outbox_default
                                            where received_at >= %L and received_at < %L returning *)
                             insert into storehook.%I select * from moved';
begin
    if days_ahead not between 0 and 366 then
        raise exception 'days_ahead must be between 0 and 366' using errcode = 'invalid_parameter_value';
    end if;
    perform pg_advisory_xact_lock(x'73746f72655f7031'::bit(64)::bigint);
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
    end loop;
    return cardinality(days);
end
$$;

CREATE FUNCTION storehook.has_access(app_account_token uuid, product_id text) RETURNS boolean
    LANGUAGE plpgsql STABLE PARALLEL SAFE
    AS $$
begin
    return (select bool_or(e.access)
              from storehook.entitlements e
             where e.environment = 'Production' and e.app_account_token = has_access.app_account_token
               and e.product_id = has_access.product_id);
end
$$;

CREATE FUNCTION storehook.outbox_bodies(ids bigint[], received_at timestamp with time zone[]) RETURNS TABLE(id bigint, stored bytea)
    LANGUAGE plpgsql STABLE STRICT
    SET search_path TO 'pg_catalog', 'pg_temp'
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
            'select k.id, (select int2send(o.packing) || o.body from storehook.outbox o
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
    if not pg_try_advisory_xact_lock(x'73746f72655f7032'::bit(64)::bigint) then
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

CREATE FUNCTION storehook.status_at(at timestamp with time zone) RETURNS TABLE(environment text, bundle_id text, original_transaction_id text, product_id text, subscription_group_id text, app_account_token uuid, status text, access boolean, expires_at timestamp with time zone, will_renew boolean, renewal_product_id text, in_trial boolean, price_increase_pending boolean, apple_status smallint, access_until timestamp with time zone, period_ends_at timestamp with time zone, grace_ends_at timestamp with time zone, expiration_intent smallint, basis text, since timestamp with time zone, transaction_id text, ownership text, offer_type smallint, offer_id text, price bigint, currency text, storefront text, app_transaction_id text, renewal_price bigint, renewal_currency text, paid_until timestamp with time zone, latest_account_token uuid, former_account_token uuid)
    LANGUAGE sql STABLE PARALLEL SAFE
    AS $$
    select s.environment,
           s.bundle_id,
           s.original_transaction_id,
           p.phase_product[p.n],
           s.subscription_group_id,
           p.phase_account[p.n],
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

CREATE TABLE storehook.anomalies (
    environment text NOT NULL COLLATE pg_catalog."C",
    bundle_id text NOT NULL COLLATE pg_catalog."C",
    original_transaction_id text NOT NULL COLLATE pg_catalog."C",
    kind text NOT NULL,
    signed_at timestamp with time zone NOT NULL,
    transaction_id text,
    reported_status smallint,
    derived_status smallint,
    CONSTRAINT anomalies_kind_check CHECK ((kind = ANY (ARRAY['status_contradicted'::text, 'period_missing'::text, 'upgrade_missing'::text, 'transaction_unusable'::text, 'transaction_shared'::text])))
);

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

CREATE TABLE storehook.duplicates (
    outbox_id bigint NOT NULL,
    notification_uuid uuid NOT NULL,
    settled_at timestamp with time zone DEFAULT now() NOT NULL
);

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
    CONSTRAINT notifications_outcome_check CHECK ((outcome = ANY (ARRAY['applied'::text, 'parked'::text])))
);

COMMENT ON TABLE storehook.notifications IS 'every verified notification, once: the idempotency key and the audit. parked: of a type this release does not know';

COMMENT ON COLUMN storehook.notifications.details IS 'the summary, the external purchase token, or the app data part without its signed text; null for the rest';

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
    CONSTRAINT outbox_body_check CHECK ((octet_length(body) <= 262144)),
    CONSTRAINT outbox_packing_check CHECK ((packing = ANY (ARRAY[0, 1])))
)
PARTITION BY RANGE (received_at);
ALTER TABLE ONLY storehook.outbox ALTER COLUMN body SET STORAGE EXTERNAL;

COMMENT ON TABLE storehook.outbox IS 'the compact JWS of each POST that was answered 200, byte for byte once it is unpacked; append-only, one partition a day (UTC)';

COMMENT ON COLUMN storehook.outbox.packing IS '0: body is as it was posted; 1: it names headers in signature_headers';

CREATE TABLE storehook.outbox_default (
    id bigint DEFAULT nextval('storehook.outbox_id'::regclass) NOT NULL,
    received_at timestamp with time zone DEFAULT now() NOT NULL,
    body bytea NOT NULL,
    packing smallint DEFAULT 0 NOT NULL,
    CONSTRAINT outbox_body_check CHECK ((octet_length(body) <= 262144)),
    CONSTRAINT outbox_packing_check CHECK ((packing = ANY (ARRAY[0, 1])))
);
ALTER TABLE ONLY storehook.outbox_default ALTER COLUMN body SET STORAGE EXTERNAL;

CREATE VIEW storehook.outbox_days AS
 WITH partitions AS (
         SELECT to_date("right"((c.relname)::text, 8), 'YYYYMMDD'::text) AS day
           FROM (pg_inherits i
             JOIN pg_class c ON ((c.oid = i.inhrelid)))
          WHERE ((i.inhparent = ('storehook.outbox'::regclass)::oid) AND (c.relname ~ '^outbox_[0-9]{8}$'::text))
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

CREATE TABLE storehook.outbox_queue (
    id bigint NOT NULL,
    received_at timestamp with time zone NOT NULL,
    due_at timestamp with time zone NOT NULL,
    attempts smallint DEFAULT 0 NOT NULL,
    lease_owner text,
    lease_token uuid,
    last_reason text,
    CONSTRAINT outbox_queue_attempts_check CHECK ((attempts >= 0)),
    CONSTRAINT outbox_queue_check CHECK (((lease_owner IS NULL) = (lease_token IS NULL))),
    CONSTRAINT outbox_queue_last_reason_check CHECK ((length(last_reason) <= 100)),
    CONSTRAINT outbox_queue_lease_owner_check CHECK ((length(lease_owner) <= 200))
)
WITH (fillfactor='70', autovacuum_vacuum_scale_factor='0', autovacuum_vacuum_threshold='5000', autovacuum_vacuum_insert_scale_factor='0', autovacuum_vacuum_insert_threshold='100000', autovacuum_analyze_scale_factor='0', autovacuum_analyze_threshold='50000', autovacuum_vacuum_cost_delay='0');

COMMENT ON COLUMN storehook.outbox_queue.due_at IS 'when the row may be claimed; while it is leased, when the lease ends';

COMMENT ON COLUMN storehook.outbox_queue.attempts IS 'claims so far, counted and committed before the work begins';

CREATE VIEW storehook.outbox_places AS
 SELECT outbox_queue.id AS outbox_id,
    'pending'::text AS place
   FROM storehook.outbox_queue
UNION ALL
 SELECT notifications.outbox_id,
    notifications.outcome AS place
   FROM storehook.notifications
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
                  WHERE (gone.day = s.day)))) AND (COALESCE(storehook.outbox_day_changes(s.day), (0)::bigint) <= s.changes))
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
        )
 SELECT (COALESCE(sum(parts.received), (0)::numeric))::bigint AS received,
    (COALESCE(sum(parts.pending), (0)::numeric))::bigint AS pending,
    (COALESCE(sum(parts.applied), (0)::numeric))::bigint AS applied,
    (COALESCE(sum(parts.duplicate), (0)::numeric))::bigint AS duplicate,
    (COALESCE(sum(parts.parked), (0)::numeric))::bigint AS parked,
    (COALESCE(sum(parts.dead), (0)::numeric))::bigint AS dead,
    (COALESCE(sum(parts.discarded), (0)::numeric))::bigint AS discarded,
    (COALESCE(sum(parts.missing), (0)::numeric))::bigint AS missing,
    (COALESCE(sum(parts.doubled), (0)::numeric))::bigint AS doubled
   FROM parts;

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
        )
 SELECT (here.received + gone.received) AS received,
    here.pending,
    (here.applied + gone.applied) AS applied,
    (here.duplicate + gone.duplicate) AS duplicate,
    (here.parked + gone.parked) AS parked,
    here.dead,
    (here.discarded + gone.discarded) AS discarded,
    here.missing,
    here.doubled
   FROM here,
    gone;

COMMENT ON VIEW storehook.conservation_audit IS 'conservation, counted from every row there is; for audits: takes seconds for each million notifications';

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
    CONSTRAINT one_time_purchases_kind_check CHECK ((kind = ANY (ARRAY['non_consumable'::text, 'non_renewing'::text, 'consumable'::text])))
)
WITH (fillfactor='90');

COMMENT ON COLUMN storehook.one_time_purchases.revoked_share IS 'how much of it was taken back, in thousandths of a percent: 0 while it stands, 100000 for all of it';

CREATE VIEW storehook.consumable_balances AS
 SELECT one_time_purchases.environment,
    one_time_purchases.bundle_id,
    one_time_purchases.app_account_token,
    one_time_purchases.product_id,
    (sum(one_time_purchases.quantity))::bigint AS bought,
    (sum(((one_time_purchases.quantity * one_time_purchases.revoked_share) / 100000)))::bigint AS revoked,
    ((sum(one_time_purchases.quantity) - sum(((one_time_purchases.quantity * one_time_purchases.revoked_share) / 100000))))::bigint AS balance
   FROM storehook.one_time_purchases
  WHERE (one_time_purchases.kind = 'consumable'::text)
  GROUP BY one_time_purchases.environment, one_time_purchases.bundle_id, one_time_purchases.app_account_token, one_time_purchases.product_id;

CREATE VIEW storehook.consumption_requests AS
 SELECT notifications.environment,
    notifications.bundle_id,
    notifications.original_transaction_id,
    notifications.transaction_id,
    notifications.notification_uuid,
    notifications.consumption_request_reason AS reason,
    notifications.signed_at,
    (notifications.signed_at + '12:00:00'::interval) AS deadline
   FROM storehook.notifications
  WHERE (notifications.type = 'CONSUMPTION_REQUEST'::text);

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
  WHERE (anomalies.kind = ANY (ARRAY['status_contradicted'::text, 'period_missing'::text, 'upgrade_missing'::text]));

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
    dead_letters.dead_at
   FROM storehook.dead_letters
  WHERE (dead_letters.resolution = 'open'::text);

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
          WHERE (one_time_purchases.kind <> 'consumable'::text)
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
    (notifications.applied_at - notifications.received_at) AS received_to_applied
   FROM storehook.notifications;

CREATE VIEW storehook.outbox_days_to_settle AS
 SELECT d.day
   FROM (storehook.outbox_days d
     LEFT JOIN storehook.outbox_settled s ON ((s.day = d.day)))
  WHERE (d.has_partition AND (NOT d.has_strays) AND (d.day < (((now() - '01:00:00'::interval) AT TIME ZONE 'UTC'::text))::date) AND ((s.day IS NULL) OR (s.open_ids <> '{}'::bigint[]) OR (s.changes <> COALESCE(storehook.outbox_day_changes(d.day), (0)::bigint))));

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
    CONSTRAINT transactions_digest_check CHECK ((octet_length(digest) = 32))
)
WITH (fillfactor='90');

COMMENT ON COLUMN storehook.transactions.price IS 'milliunits of currency, quantity and offer included, as Apple sent it: 9990 is 9.99, and 230000 is 230 yen';

COMMENT ON COLUMN storehook.transactions.notification_uuid IS 'the notification whose record stands here; null where it came by itself';

COMMENT ON COLUMN storehook.transactions.revocation_percentage IS 'thousandths of a percent: 100000 is all of the price';

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
    t.revoked_at,
    t.revocation_type,
    t.revocation_reason,
    t.revocation_percentage,
    t.storefront,
    t.offer_type,
    t.offer_id,
    t.billing_plan_type,
    (t.payload -> 'commitmentInfo'::text) AS commitment_info
   FROM storehook.transactions t
  WHERE (((t.ownership = 'PURCHASED'::text) OR (t.ownership IS NULL)) AND (NOT (EXISTS ( SELECT
           FROM storehook.transactions later
          WHERE ((later.web_order_line_item_id = t.web_order_line_item_id) AND (later.bundle_id = t.bundle_id) AND (later.environment = t.environment) AND (later.transaction_id <> t.transaction_id) AND ((later.ownership = 'PURCHASED'::text) OR (later.ownership IS NULL)) AND (ROW(later.signed_at, later.digest, later.transaction_id) > ROW(t.signed_at, t.digest, t.transaction_id)))))));

COMMENT ON VIEW storehook.paid_periods IS 'price in milliunits of currency, quantity and offer included: 9990 is 9.99, and 230000 is 230 yen';

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
    CONSTRAINT purchase_facts_check CHECK (((transaction_id IS NULL) = (transaction_signed_at IS NULL))),
    CONSTRAINT purchase_facts_check1 CHECK (((transaction_id IS NULL) = (transaction_digest IS NULL))),
    CONSTRAINT purchase_facts_check2 CHECK (((renewal_signed_at IS NULL) = (renewal_digest IS NULL))),
    CONSTRAINT purchase_facts_renewal_digest_check CHECK ((octet_length(renewal_digest) = 32)),
    CONSTRAINT purchase_facts_transaction_digest_check CHECK ((octet_length(transaction_digest) = 32))
);

COMMENT ON TABLE storehook.purchase_facts IS 'what each piece of evidence said about a purchase; append-only and kept for good, since what was true is told by superseded records';

COMMENT ON COLUMN storehook.purchase_facts.signed_at IS 'when the evidence was signed: the outer signedDate of a notification';

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

CREATE VIEW storehook.queue_depth AS
 WITH queued AS (
         SELECT
                CASE
                    WHEN (outbox_queue.due_at <= now()) THEN 'ready'::text
                    WHEN (outbox_queue.lease_token IS NULL) THEN 'scheduled'::text
                    ELSE 'leased'::text
                END AS state,
            outbox_queue.received_at
           FROM storehook.outbox_queue
        UNION ALL
         SELECT 'dead'::text,
            dead_letters.received_at
           FROM storehook.dead_letters
          WHERE (dead_letters.resolution = 'open'::text)
        )
 SELECT s.state,
    count(q.received_at) AS count,
    (COALESCE(EXTRACT(epoch FROM (now() - min(q.received_at))), (0)::numeric))::double precision AS oldest_age_seconds
   FROM (( VALUES ('ready'::text,1), ('scheduled'::text,2), ('leased'::text,3), ('dead'::text,4)) s(state, place)
     LEFT JOIN queued q USING (state))
  GROUP BY s.state, s.place
  ORDER BY s.place;

COMMENT ON VIEW storehook.queue_depth IS 'ready: due now, expired leases included; scheduled: waiting for its time; leased: a worker has it; dead: open letters';

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
    CONSTRAINT renewals_digest_check CHECK ((octet_length(digest) = 32))
)
WITH (fillfactor='80');

COMMENT ON COLUMN storehook.renewals.renewal_price IS 'milliunits of currency; of the coming renewal, as is the offer';

CREATE TABLE storehook.schema_migrations (
    version integer NOT NULL,
    name text NOT NULL,
    checksum text NOT NULL,
    applied_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT schema_migrations_version_check CHECK ((version > 0))
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
    CONSTRAINT subscription_history_phase_starts_check CHECK ((cardinality(phase_starts) = 4))
);

COMMENT ON TABLE storehook.subscription_history IS 'phases of subscriptions that are over, four to a row; the last four to seven of each stand in subscriptions';

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

ALTER TABLE ONLY storehook.outbox ATTACH PARTITION storehook.outbox_default DEFAULT;

ALTER TABLE ONLY storehook.dead_letters
    ADD CONSTRAINT dead_letters_pkey PRIMARY KEY (id);

ALTER TABLE ONLY storehook.duplicates
    ADD CONSTRAINT duplicates_pkey PRIMARY KEY (outbox_id);

ALTER TABLE ONLY storehook.notifications
    ADD CONSTRAINT notifications_outbox_id_key UNIQUE (outbox_id);

ALTER TABLE ONLY storehook.notifications
    ADD CONSTRAINT notifications_pkey PRIMARY KEY (notification_uuid);

ALTER TABLE ONLY storehook.one_time_purchases
    ADD CONSTRAINT one_time_purchases_pkey PRIMARY KEY (original_transaction_id, bundle_id, environment);

ALTER TABLE ONLY storehook.outbox
    ADD CONSTRAINT outbox_pkey PRIMARY KEY (received_at, id);

ALTER TABLE ONLY storehook.outbox_default
    ADD CONSTRAINT outbox_default_pkey PRIMARY KEY (received_at, id);

ALTER TABLE ONLY storehook.outbox_dropped
    ADD CONSTRAINT outbox_dropped_pkey PRIMARY KEY (day);

ALTER TABLE ONLY storehook.outbox_queue
    ADD CONSTRAINT outbox_queue_pkey PRIMARY KEY (id);

ALTER TABLE ONLY storehook.outbox_settled
    ADD CONSTRAINT outbox_settled_pkey PRIMARY KEY (day);

ALTER TABLE ONLY storehook.purchase_facts
    ADD CONSTRAINT purchase_facts_pkey PRIMARY KEY (original_transaction_id, bundle_id, environment, signed_at, outbox_id);

ALTER TABLE ONLY storehook.purchase_lines
    ADD CONSTRAINT purchase_lines_pkey PRIMARY KEY (original_transaction_id, bundle_id, environment);

ALTER TABLE ONLY storehook.renewals
    ADD CONSTRAINT renewals_pkey PRIMARY KEY (original_transaction_id, bundle_id, environment);

ALTER TABLE ONLY storehook.schema_migrations
    ADD CONSTRAINT schema_migrations_pkey PRIMARY KEY (version);

ALTER TABLE ONLY storehook.shared_transactions
    ADD CONSTRAINT shared_transactions_pkey PRIMARY KEY (original_transaction_id, bundle_id, environment, transaction_id);

ALTER TABLE ONLY storehook.signature_headers
    ADD CONSTRAINT signature_headers_pkey PRIMARY KEY (digest);

ALTER TABLE ONLY storehook.subscription_history
    ADD CONSTRAINT subscription_history_pkey PRIMARY KEY (original_transaction_id, bundle_id, environment, starts_at);

ALTER TABLE ONLY storehook.subscriptions
    ADD CONSTRAINT subscriptions_pkey PRIMARY KEY (original_transaction_id, bundle_id, environment);

ALTER TABLE ONLY storehook.transactions
    ADD CONSTRAINT transactions_pkey PRIMARY KEY (transaction_id, bundle_id, environment);

CREATE INDEX anomalies_by_purchase ON storehook.anomalies USING btree (original_transaction_id, bundle_id, environment, signed_at);

CREATE INDEX dead_letters_by_outbox ON storehook.dead_letters USING btree (outbox_id);

CREATE UNIQUE INDEX dead_letters_one_open ON storehook.dead_letters USING btree (outbox_id) WHERE (resolution = 'open'::text);

CREATE INDEX dead_letters_open_by_reason ON storehook.dead_letters USING btree (reason, id) WHERE (resolution = 'open'::text);

CREATE INDEX notifications_by_applied_at ON storehook.notifications USING brin (applied_at);

CREATE INDEX notifications_by_line ON storehook.notifications USING btree (original_transaction_id, bundle_id, environment, signed_at) WHERE (original_transaction_id IS NOT NULL);

CREATE INDEX notifications_consumption ON storehook.notifications USING btree (signed_at) WHERE (type = 'CONSUMPTION_REQUEST'::text);

CREATE INDEX one_time_purchases_by_account ON storehook.one_time_purchases USING btree (app_account_token) WHERE (app_account_token IS NOT NULL);

CREATE INDEX one_time_purchases_by_id ON storehook.one_time_purchases USING btree (original_transaction_id COLLATE "default");

CREATE INDEX outbox_queue_due ON storehook.outbox_queue USING btree (due_at, id);

CREATE INDEX shared_transactions_by_transaction ON storehook.shared_transactions USING btree (transaction_id, bundle_id, environment);

CREATE INDEX subscriptions_by_account ON storehook.subscriptions USING btree (app_account_token) WHERE (app_account_token IS NOT NULL);

CREATE INDEX subscriptions_by_former_account ON storehook.subscriptions USING btree (former_account_token) WHERE (former_account_token IS NOT NULL);

CREATE INDEX subscriptions_by_id ON storehook.subscriptions USING btree (original_transaction_id COLLATE "default");

CREATE INDEX subscriptions_by_paid_until ON storehook.subscriptions USING btree (paid_until);

CREATE INDEX transactions_by_line_item ON storehook.transactions USING btree (web_order_line_item_id, bundle_id, environment) WHERE (web_order_line_item_id IS NOT NULL);

CREATE INDEX transactions_by_purchase ON storehook.transactions USING btree (original_transaction_id, bundle_id, environment, purchased_at);

CREATE INDEX transactions_by_purchase_date ON storehook.transactions USING btree (purchased_at);

ALTER INDEX storehook.outbox_pkey ATTACH PARTITION storehook.outbox_default_pkey;

REVOKE ALL ON FUNCTION storehook.count_outbox_day(day date, with_open boolean, OUT received bigint, OUT pending bigint, OUT applied bigint, OUT duplicate bigint, OUT parked bigint, OUT dead bigint, OUT discarded bigint, OUT missing bigint, OUT doubled bigint, OUT open_ids bigint[]) FROM PUBLIC;

REVOKE ALL ON FUNCTION storehook.drop_outbox_day(day date, keep_days integer, OUT outcome text, OUT gone bigint, OUT kept bigint) FROM PUBLIC;

REVOKE ALL ON FUNCTION storehook.ensure_outbox_partitions(days_ahead integer) FROM PUBLIC;

REVOKE ALL ON FUNCTION storehook.outbox_bodies(ids bigint[], received_at timestamp with time zone[]) FROM PUBLIC;

REVOKE ALL ON FUNCTION storehook.outbox_day_changes(day date) FROM PUBLIC;

REVOKE ALL ON FUNCTION storehook.settle_outbox_day(day date) FROM PUBLIC;
