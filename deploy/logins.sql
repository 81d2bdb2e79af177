-- A user for each program, with the rights of its role. None has a password: PostgreSQL on the same machine knows them by
-- being the accounts of these names (peer authentication); for one elsewhere, passwords.sql gives them passwords. Run by an
-- administrator, or by the owner with the right to create roles, after roles.sql, as often as you like:
--
--     psql "$DATABASE_URL" -f sql/roles.sql -f deploy/logins.sql
--
-- It does all of it, or says in one line what is missing and what to do, and psql ends with a status that is not 0.

\set ON_ERROR_STOP on
\set VERBOSITY terse
\set QUIET on

begin;
set local client_min_messages = warning;

do $$
declare
    me constant text := quote_ident(current_user);
    may_create constant boolean := (select rolsuper or rolcreaterole from pg_roles where rolname = current_user);
    account text;
    role text;
begin
    for account, role in
        select * from (values ('storehook-receiver', 'storehook_receiver'),
                              ('storehook-worker', 'storehook_worker'),
                              ('storehook-ops', 'storehook_ops'),
                              ('storehook-api', 'storehook_api'),
                              ('storehook-console', 'storehook_console')) as login
    loop
        if to_regrole(role) is null then
            raise exception 'there is no role %: run sql/roles.sql first, then this again', role;
        end if;
        if to_regrole(quote_ident(account)) is null then
            if not may_create then
                raise exception '% may not create roles: let a superuser say "alter role % createrole", then run this again',
                    me, me;
            end if;
            execute format('create role %I login', account);
        end if;
        -- Since PostgreSQL 16 only those grant a role who made it or hold its ADMIN option: who is a member stays one.
        if not pg_has_role(account, role, 'member') then
            begin
                execute format('grant %I to %I', role, account);
            exception
                when insufficient_privilege then
                    raise exception '% may not grant %, which somebody else made: let a superuser say "grant storehook_receiver, storehook_worker, storehook_ops, storehook_api, storehook_console to % with admin option", then run this again',
                        me, role, me;
            end;
        end if;
        if not has_database_privilege(account, current_database(), 'connect') then
            begin
                execute format('grant connect on database %I to %I', current_database(), account);
            exception
                when insufficient_privilege then null;
            end;
        end if;
        -- Without the right to grant it, PostgreSQL warns, and no more.
        if not has_database_privilege(account, current_database(), 'connect') then
            raise exception '% may not connect to database %: let its owner say "grant connect on database % to %", then run this again',
                quote_ident(account), current_database(), quote_ident(current_database()), quote_ident(account);
        end if;
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
