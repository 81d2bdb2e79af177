-- compatible-from: 10
-- Lists of accounts that lose their access soon have pages. The end is given, and ordered by, in the words of account_status_by_end (see 0027),
-- so that a page begins in the index where the page before ended. The rows and their order are as before.
create or replace function storehook.expiring_soon(within interval, at timestamptz default now())
    returns table (
        token                   uuid,
        account                 text,
        environment             text,
        tier                    text,
        status                  text,
        source                  text,
        product_id              text,
        bundle_id               text,
        original_transaction_id text,
        access_until            timestamptz,
        days_left               integer
    )
    language sql stable parallel safe
as $$
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

-- Who acts for accounts, of which the console is one, may ask for it. `sql/roles.sql` grants the same; here it is granted so that programs go on
-- between the upgrade and the next run of that file.
do $$
declare
    asker name;
begin
    for asker in
        select r.rolname
          from pg_class c cross join lateral aclexplode(c.relacl) a join pg_roles r on r.oid = a.grantee
         where c.oid = 'storehook.staff_acts'::regclass and a.privilege_type = 'INSERT' and a.grantee <> c.relowner
    loop
        execute format('grant execute on function storehook.expiring_soon(interval, timestamptz) to %I', asker);
    end loop;
end
$$;
