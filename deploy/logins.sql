-- A user for each program, with the rights of its role. None has a password: PostgreSQL on the same machine knows them by
-- being the accounts of these names (peer authentication); for one elsewhere, give them passwords. Run by an administrator,
-- or by the owner with the right to create roles, after roles.sql, as often as you like:
--
--     psql -v ON_ERROR_STOP=1 -d storehook -f sql/roles.sql -f deploy/logins.sql

begin;
set local client_min_messages = warning;

do $$
declare
    account text;
    role text;
begin
    for account, role in
        select * from (values ('storehook-receiver', 'storehook_receiver'),
                              ('storehook-worker', 'storehook_worker'),
                              ('storehook-ops', 'storehook_ops'),
                              ('storehook-api', 'storehook_api')) as login
    loop
        if to_regrole(quote_ident(account)) is null then
            execute format('create role %I login', account);
        end if;
        -- Since PostgreSQL 16 only those grant a role who made it or hold its ADMIN option: who is a member stays one.
        if not pg_has_role(account, role, 'member') then
            execute format('grant %I to %I', role, account);
        end if;
        execute format('grant connect on database %I to %I', current_database(), account);
    end loop;
end
$$;

-- Who blocks whom, and who holds back vacuum: without this an operator sees his own sessions alone. All else works without it.
do $$
begin
    if not pg_has_role('storehook-ops', 'pg_read_all_stats', 'member') then
        grant pg_read_all_stats to "storehook-ops";
    end if;
exception
    when insufficient_privilege then
        raise warning 'storehook-ops sees no other user''s sessions until a superuser says: grant pg_read_all_stats to "storehook-ops"';
end
$$;

commit;
