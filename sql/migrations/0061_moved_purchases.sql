-- compatible-from: 10
-- What was bought once loses its row where its only transaction turns out to be another purchase's, as subscriptions do.

-- A role that may delete a subscription that lost its records may delete the row of such a purchase, too.
-- `sql/roles.sql` grants the same; here it is granted so that workers go on between the upgrade and the next run of that file.
do $$
declare
    writer name;
begin
    for writer in
        select r.rolname
          from pg_class c cross join lateral aclexplode(c.relacl) a join pg_roles r on r.oid = a.grantee
         where c.oid = 'storehook.subscriptions'::regclass and a.privilege_type = 'DELETE' and a.grantee <> c.relowner
    loop
        execute format('grant delete on storehook.one_time_purchases to %I', writer);
    end loop;
end
$$;
