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

-- As in 0079, and for the zone of fiscal months. The same of mark_recurring is in 0086.
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
