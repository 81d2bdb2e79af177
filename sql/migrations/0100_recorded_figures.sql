-- compatible-from: 10
-- What the console reads for figures of an instant of the past: what closed months recorded. `sql/roles.sql` grants the same; here it is granted
-- so that programs go on between the upgrade and the next run of that file. See 0093.
do $$
declare
    held name;
begin
    for held in
        select r.rolname
          from pg_proc f cross join lateral aclexplode(f.proacl) a join pg_roles r on r.oid = a.grantee
         where f.oid = 'storehook.record_forbidden_tries()'::regprocedure and a.grantee <> f.proowner
    loop
        execute format('grant select on storehook.closed_months, storehook.closed_cells to %I', held);
    end loop;
end
$$;
