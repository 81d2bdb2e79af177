-- compatible-from: 10
-- Who sends: addresses whose posts were genuine, and those whose posts were not even signed by whom they should be. What
-- does not verify expires, and who goes on with it is asked to come another day.

-- From where a notification was posted, until it is settled: by then it is counted. Null where that is nobody in particular
-- (a proxy of ours that did not say, a replay, a row of the release before).
alter table storehook.outbox_queue add column sender inet;
comment on column storehook.outbox_queue.sender is
    'the address that posted it, of IPv6 its network of 64 bits; null where that is not known, or does not count';

create table storehook.senders (
    address       inet        primary key,
    verified_at   timestamptz,
    junk_day      date,
    junk_bytes    bigint      not null default 0 check (junk_bytes >= 0),
    junk_minute   timestamptz,
    junk_letters  integer     not null default 0 check (junk_letters >= 0),
    refused_until timestamptz
);
comment on table storehook.senders is
    'addresses that posted something, by what it was; no proxies of ours. Written by workers, read by receivers';
comment on column storehook.senders.verified_at is
    'when something from there was last found genuine, to the hour: such an address is not refused for 30 days';
comment on column storehook.senders.junk_bytes is 'bytes that did not verify, on junk_day (UTC)';
comment on column storehook.senders.junk_letters is 'posts that did not verify, in junk_minute';
comment on column storehook.senders.refused_until is 'until then receivers answer it 503, so that whoever it is tries again';
create index senders_refused on storehook.senders (refused_until) where refused_until is not null;

-- Whom receivers answer 503, and for how many seconds yet: the only thing about senders that their role can read.
-- SECURITY DEFINER, because that role can read nothing else of the table.
create function storehook.refused_senders() returns table (address text, seconds integer)
    language sql stable security definer
    set search_path = pg_catalog, pg_temp set timezone = 'UTC' set datestyle = 'ISO'
as $$
    select host(s.address), ceil(extract(epoch from s.refused_until - now()))::integer
      from storehook.senders s
     where s.refused_until > now()
       and (s.verified_at is null or s.verified_at < now() - interval '30 days')
     order by s.refused_until desc
     limit 10000
$$;
revoke all on function storehook.refused_senders() from public;

-- The reasons of letters whose chain or signature failed: Apple says nothing in them, whatever they say of themselves.
create function storehook.unverifiable() returns text[]
    language sql immutable parallel safe
    set search_path = pg_catalog, pg_temp set timezone = 'UTC' set datestyle = 'ISO'
as $$
    select array[
        'malformed', 'unsupported_algorithm', 'wrong_chain_length', 'malformed_certificate', 'untrusted_root',
        'invalid_chain', 'certificate_not_valid_at', 'missing_marker_oid', 'invalid_signature']
$$;
revoke all on function storehook.unverifiable() from public;

-- Gives up open letters whose chain or signature failed when they are older than keep_days, some thousand at a time, and
-- forgets senders of whom nothing was heard for long. Answers how many letters: where there were some, there may be more.
-- Nothing that was rightly signed is given up here: an app, an environment or a setting that is wrong can be mended, and the
-- letter replayed. SECURITY DEFINER, because workers do this and may change no letter.
create function storehook.expire_junk(keep_days integer) returns bigint
    language plpgsql security definer
    set search_path = pg_catalog, pg_temp set timezone = 'UTC' set datestyle = 'ISO'
as $$
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
revoke all on function storehook.expire_junk(integer) from public;
