-- compatible-from: 10
-- Apple's fiscal months: a calendar that operators apply, and days of Los Angeles beside those of the figures' zone, where the catalog wants
-- them.

create table storehook.fiscal_calendars (
    version    bigint primary key,
    source     text not null,
    digest     bytea not null check (length(digest) = 32),
    applied_at timestamptz not null default now(),
    applied_by text not null check (length(applied_by) between 1 and 200)
);
comment on table storehook.fiscal_calendars is
    'fiscal calendars that operators applied: the last one counts, and without any the one that the release has; inputs of figures, never their results';
comment on column storehook.fiscal_calendars.version is '1 to n without a gap';
comment on column storehook.fiscal_calendars.source is 'the file, word for word (YAML)';
comment on column storehook.fiscal_calendars.digest is 'SHA-256 of the file';

-- As in 0078, for each kind of file: the act and its subject are arguments.
create function storehook.audit_applied_file() returns trigger
    language plpgsql security definer
    set search_path = pg_catalog, pg_temp set timezone = 'UTC' set datestyle = 'ISO'
as $$
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
revoke all on function storehook.audit_applied_file() from public;
create trigger fiscal_calendars_audit after insert on storehook.fiscal_calendars
    for each row execute function storehook.audit_applied_file('apply_fiscal_calendar', 'fiscal_calendar');
drop trigger commissions_audit on storehook.commissions;
create trigger commissions_audit after insert on storehook.commissions
    for each row execute function storehook.audit_applied_file('apply_commission', 'commission');
drop function storehook.audit_commission();

alter table storehook.figure_state add column fiscal_zone text collate "C", add column fiscal_from date,
    add constraint figure_state_fiscal_check check (fiscal_from is null or fiscal_zone is not null);
comment on column storehook.figure_state.fiscal_zone is
    'the zone of fiscal months, where the catalog wants them: its days are kept beside those of the other zones, unless it is one of these';
comment on column storehook.figure_state.fiscal_from is 'the first of the days that are summed in it; null where all are';

alter table storehook.closed_months drop constraint closed_months_month_check,
    add constraint closed_months_month_check check (month ~ '^[0-9]{4}-(FM)?(0[1-9]|1[0-2])$');
comment on column storehook.closed_months.month is 'of the calendar, as 2026-10, or of Apple''s fiscal year, as 2026-FM10';

-- As in 0079, and for the zone of fiscal months.
create or replace function storehook.mark_recurring(ids bigint[], firsts timestamptz[], lasts timestamptz[]) returns void language sql
    security definer set search_path = pg_catalog, pg_temp set timezone = 'UTC' set datestyle = 'ISO'
as $$
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
        select r.id, r.first, r.last, t.starts_at, coalesce(t.counts_until, t.ends_at) as ends_at, t.product_id, t.currency, t.price,
               not t.is_void and not t.is_trial as counts
          from related r join storehook.booked_transactions t on t.order_id = r.id
        union all
        select r.id, r.first, r.last, s.starts_at, s.ends_at, t.product_id, t.currency, t.price, not t.is_void and not t.is_trial
          from related r join storehook.booked_stretches s on s.order_id = r.id
          left join storehook.booked_transactions t on (t.order_id, t.item) = (s.order_id, s.item)
    ), begun as (
        -- A price so small that nothing of it is paid a month may be the first one, or not.
        select distinct b.first, b.last, b.starts_at
          from (
            select h.*, min(starts_at) filter (where price >= 1000) over (partition by id, first, last, product_id) as counted_at
              from held h
             where h.counts and h.price > 0 and h.price <= 1000000000000000 and h.currency is not null and h.starts_at < h.ends_at) b
         where b.starts_at <= coalesce(b.counted_at, 'infinity') and b.starts_at < b.last
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
         cross join (select unnest(array[zone, next_zone, fiscal_zone]) as zone from storehook.figure_state) z
         where exists (
            select from generate_series(greatest(since.months - 1, 0), least(until.months + 1, 36)) n
             cross join lateral (
                select ((b.starts_at at time zone z.zone)::date + make_interval(months => n))::date + 1 as day) d
             cross join lateral (select d.day::timestamp at time zone z.zone as at) i
             -- Midnight may come twice, and the first one counts.
             where i.at - greatest((i.at - interval '1 microsecond') at time zone z.zone + interval '1 microsecond' - d.day::timestamp,
                                   interval '0') between b.first and b.last)
    )
    insert into storehook.figure_marks (hour)
    select distinct date_trunc('hour', m.at, 'UTC')
      from (
        select i.at from held h cross join lateral (values (h.starts_at), (h.ends_at)) i (at) where i.at between h.first and h.last
        union all
        select min(h.starts_at) filter (where h.starts_at > h.last) from held h group by h.id, h.first, h.last
        union all
        select starts_at from cohorts) m
     where m.at < now() + interval '2 hours'
$$;

create or replace function storehook.mark_figures_of_cohorts() returns trigger language plpgsql security definer
    set search_path = pg_catalog, pg_temp set timezone = 'UTC' set datestyle = 'ISO'
as $$
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

-- As in 0078.
do $$
declare
    someone name;
begin
    for someone in
        select r.rolname
          from pg_class c cross join lateral aclexplode(c.relacl) a join pg_roles r on r.oid = a.grantee
         where c.oid = 'storehook.figure_cells'::regclass and a.privilege_type = 'SELECT' and a.grantee <> c.relowner
    loop
        execute format('grant select on storehook.fiscal_calendars to %I', someone);
    end loop;
    for someone in
        select r.rolname
          from pg_class c cross join lateral aclexplode(c.relacl) a join pg_roles r on r.oid = a.grantee
         where c.oid = 'storehook.closed_months'::regclass and a.privilege_type = 'INSERT' and a.grantee <> c.relowner
    loop
        execute format('grant select, insert on storehook.fiscal_calendars to %I', someone);
    end loop;
end
$$;
