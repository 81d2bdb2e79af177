-- compatible-from: 10
-- Events are delivered: who wants which, what each has got, and what is still to be sent.
--
--     event_positions ──fan out──▶ deliveries_pending ──▶ deliveries
--                       (endpoint_cursors)   by lanes (delivery_queue)
--
-- A lane is what has to arrive in order: an account's events, or a purchase's of no account, for one endpoint. What is claimed is the
-- lane, with the first of what waits in it; so no event overtakes another of its account, and accounts go side by side.

create sequence storehook.endpoint_id as bigint;

create table storehook.endpoints (
    id                      bigint      primary key check (id > 0),
    url                     text        not null check (length(url) between 1 and 2048),
    -- What it wants; null: whatever it is.
    bundle_id               text        collate "C" check (length(bundle_id) <= 255),
    environment             text        collate "C" check (length(environment) <= 50),
    kinds                   text[]      check (cardinality(kinds) between 1 and 100),
    rate                    integer     check (rate between 1 and 100000),
    in_flight               smallint    not null default 32 check (in_flight between 1 and 256),
    state                   text        not null default 'enabled' check (state in ('enabled', 'disabled', 'removed')),
    reason                  text        check (length(reason) between 1 and 200),
    created_at              timestamptz not null default now(),
    created_by              text        not null check (length(created_by) between 1 and 200),
    changed_at              timestamptz not null default now(),
    changed_by              text        not null check (length(changed_by) between 1 and 200),
    -- AES-GCM with the key of STOREHOOK_SECRET_KEY_FILE and the endpoint's number as associated data: nonce, ciphertext, tag.
    secret                  bytea       check (octet_length(secret) between 28 and 200),
    former_secret           bytea       check (octet_length(former_secret) between 28 and 200),
    former_ends_at          timestamptz,
    check ((state = 'enabled') = (reason is null)),
    check ((state = 'removed') = (secret is null)),
    check ((former_secret is null) = (former_ends_at is null))
);
comment on table storehook.endpoints is 'where events are posted to';
comment on column storehook.endpoints.kinds is 'kinds of events, where * stands for any part: subscription.*';
comment on column storehook.endpoints.rate is 'at most so many deliveries a second, when it catches up too; null: as many as it takes';
comment on column storehook.endpoints.in_flight is 'at most so many deliveries at the same time by each worker';
comment on column storehook.endpoints.reason is 'why it is disabled or removed: a person''s words, gone, or failing';
comment on column storehook.endpoints.former_ends_at is 'until when the secret before this one signs as well';

-- How far each endpoint's share was dealt out. The row is locked by who does that, and skipped by others.
create table storehook.endpoint_cursors (
    endpoint_id             bigint      primary key references storehook.endpoints on delete cascade,
    position                bigint      not null check (position >= 0),
    queued_position         bigint      not null check (queued_position >= 0),
    has_resends             boolean     not null default false,
    check (queued_position <= position)
) with (fillfactor = 50);
comment on table storehook.endpoint_cursors is 'up to which position events are dealt out to each endpoint';
comment on column storehook.endpoint_cursors.queued_position is
    'up to which position the lanes of what was dealt out are in the queue: always of transactions that are committed';
comment on column storehook.endpoint_cursors.has_resends is 'what is to be sent again waits, and its lanes are not in the queue';

-- How each endpoint fares. Written where a call failed, and where one succeeds after that.
create table storehook.endpoint_health (
    endpoint_id             bigint      primary key references storehook.endpoints on delete cascade,
    failures                integer     not null default 0 check (failures >= 0),
    failing_since           timestamptz,
    last_failure            text        check (length(last_failure) <= 200),
    paused_at               timestamptz,
    probe_at                timestamptz,
    probes                  integer     not null default 0 check (probes >= 0),
    rest_until              timestamptz,
    -- Until when what was sent uses up the rate.
    spent_until             timestamptz not null default '-infinity',
    check ((failures = 0) = (failing_since is null)),
    check ((paused_at is null) = (probe_at is null)),
    check (paused_at is null or failures > 0)
) with (fillfactor = 50);
comment on table storehook.endpoint_health is 'how each endpoint fares';
comment on column storehook.endpoint_health.failures is 'calls that failed since the last one that succeeded';
comment on column storehook.endpoint_health.paused_at is 'since when it is only probed, one call at a time';
comment on column storehook.endpoint_health.probe_at is 'when the next probe is due';
comment on column storehook.endpoint_health.rest_until is 'until when the endpoint asked to be left alone (Retry-After)';

create table storehook.delivery_lanes (
    id                      bigint      primary key generated always as identity,
    endpoint_id             bigint      not null references storehook.endpoints,
    subject                 text        collate "C" not null check (length(subject) <= 600),
    last_sequence           bigint      not null,
    unique (endpoint_id, subject)
) with (fillfactor = 70);
comment on table storehook.delivery_lanes is 'what arrives in order: an account''s events, or a purchase''s of no account, for one endpoint';
comment on column storehook.delivery_lanes.last_sequence is 'of the last event that was dealt out to it';

-- The queue: a lane in which something waits. See Sources/Storage/Queue.
create table storehook.delivery_queue (
    id                      bigint      primary key,
    received_at             timestamptz not null,
    due_at                  timestamptz not null,
    attempts                smallint    not null default 0,
    lapses                  smallint    not null default 0,
    lease_owner             text,
    lease_token             uuid,
    last_reason             text,
    endpoint_id             bigint      not null
) with (
    fillfactor = 50,
    autovacuum_vacuum_scale_factor = 0,
    autovacuum_vacuum_threshold = 5000,
    autovacuum_vacuum_insert_scale_factor = 0,
    autovacuum_vacuum_insert_threshold = 100000,
    autovacuum_vacuum_cost_delay = 0
);
comment on table storehook.delivery_queue is 'lanes in which something is still to be delivered';
create index delivery_queue_due on storehook.delivery_queue (due_at, id);
create index delivery_queue_due_by_endpoint on storehook.delivery_queue (endpoint_id, due_at, id);

create table storehook.deliveries_pending (
    id                      bigint      primary key generated always as identity,
    endpoint_id             bigint      not null,
    lane_id                 bigint      not null,
    position                bigint,
    event_id                bigint      not null,
    told_at                 timestamptz not null,
    sequence                bigint      not null,
    previous_sequence       bigint
) with (
    autovacuum_vacuum_scale_factor = 0,
    autovacuum_vacuum_threshold = 20000,
    autovacuum_vacuum_insert_scale_factor = 0,
    autovacuum_vacuum_insert_threshold = 100000,
    autovacuum_vacuum_cost_delay = 0
);
comment on table storehook.deliveries_pending is 'what is still to be delivered; of a lane in the order of its numbers';
comment on column storehook.deliveries_pending.position is 'of the event; null of what is sent again';
comment on column storehook.deliveries_pending.previous_sequence is 'of the event that was dealt out to this endpoint before this one, of the same lane';
create index deliveries_pending_by_lane on storehook.deliveries_pending (lane_id, id);
create index deliveries_pending_by_position on storehook.deliveries_pending (endpoint_id, position);

-- What became of each. Added to, and old ones leave; a dead one that is sent again stays as it is.
create table storehook.deliveries (
    id                      bigint      primary key,
    endpoint_id             bigint      not null,
    event_id                bigint      not null,
    told_at                 timestamptz not null,
    sequence                bigint      not null,
    previous_sequence       bigint,
    outcome                 text        not null check (outcome in ('delivered', 'dead')),
    attempts                integer     not null check (attempts >= 0),
    status                  smallint,
    reason                  text        check (length(reason) <= 200),
    ended_at                timestamptz not null default clock_timestamp(),
    resent_at               timestamptz,
    check (outcome = 'dead' or reason is null and status is not null)
);
comment on table storehook.deliveries is 'what was delivered, and what was given up';
comment on column storehook.deliveries.status is 'the last answer''s, where there was one';
comment on column storehook.deliveries.resent_at is 'of a dead one: when it was put back to be sent again';
create index deliveries_by_event on storehook.deliveries (event_id);
create index deliveries_dead on storehook.deliveries (endpoint_id, id) where outcome = 'dead' and resent_at is null;
create index deliveries_ended_at on storehook.deliveries using brin (ended_at);

-- How it stands with each endpoint, for whoever watches.
create view storehook.delivery_status as
select e.id as endpoint_id,
       case when e.state = 'enabled' and h.paused_at is not null then 'paused' else e.state end as state,
       e.reason, h.failures, h.failing_since, h.last_failure, h.paused_at,
       (select count(*) from storehook.delivery_queue q where q.endpoint_id = e.id) as lanes,
       greatest((select max(p.position) from storehook.event_positions p) - c.position, 0) as behind,
       (select count(*) from storehook.deliveries d
         where d.endpoint_id = e.id and d.outcome = 'dead' and d.resent_at is null) as dead,
       coalesce(extract(epoch from now() - least(
           (select min(q.received_at) from storehook.delivery_queue q where q.endpoint_id = e.id),
           (select p.told_at from storehook.event_positions p
             where p.position > c.position order by p.position limit 1))), 0)::double precision as oldest_age_seconds
  from storehook.endpoints e
  join storehook.endpoint_cursors c on c.endpoint_id = e.id
  join storehook.endpoint_health h on h.endpoint_id = e.id
 where e.state <> 'removed';
comment on view storehook.delivery_status is 'each endpoint: how it fares, what waits for it, and since when';
