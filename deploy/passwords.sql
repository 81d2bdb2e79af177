-- Gives the users of logins.sql the passwords that stand in the environment of psql, which sends them to the server as
-- they are: for a connection that is not listened in on. After logins.sql, as the role that ran it:
--
--     export RECEIVER_PASSWORD=... WORKER_PASSWORD=... OPS_PASSWORD=... API_PASSWORD=... CONSOLE_PASSWORD=...
--     psql "$DATABASE_URL" -f sql/roles.sql -f deploy/logins.sql -f deploy/passwords.sql
--
-- It does all of it, or says in one line what is missing and what to do, and psql ends with a status that is not 0.

\set ON_ERROR_STOP on
\set VERBOSITY terse
\set ECHO none
\set QUIET on
\set absent `for name in RECEIVER_PASSWORD WORKER_PASSWORD OPS_PASSWORD API_PASSWORD CONSOLE_PASSWORD; do printenv $name | grep -q . || printf ' %s' $name; done`
\getenv receiver_password RECEIVER_PASSWORD
\getenv worker_password WORKER_PASSWORD
\getenv ops_password OPS_PASSWORD
\getenv api_password API_PASSWORD
\getenv console_password CONSOLE_PASSWORD

begin;
set local client_min_messages = warning;
set local storehook.absent = :'absent';

do $$
declare
    account text;
begin
    if current_setting('storehook.absent') <> '' then
        raise exception 'these are not set in the environment of psql:%; export each, then run this again',
            current_setting('storehook.absent');
    end if;
    foreach account in array array['storehook-receiver', 'storehook-worker', 'storehook-ops', 'storehook-api',
            'storehook-console'] loop
        if to_regrole(quote_ident(account)) is null then
            raise exception 'there is no user %: run deploy/logins.sql first, then this again', account;
        end if;
        -- Changes nothing, and fails as giving a password would.
        begin
            execute format('alter role %I password null', account);
        exception
            when insufficient_privilege then
                raise exception '% may not change the password of %, which another role made: run this as that role, or as a superuser',
                    quote_ident(current_user), account;
        end;
    end loop;
end
$$;

-- A statement that fails would stand in the server's log, password included. A server that lets only superusers say this shows its log
-- to no others.
do $$
begin
    set local log_min_error_statement = panic;
exception
    when insufficient_privilege then null;
end
$$;
alter role "storehook-receiver" password :'receiver_password';
alter role "storehook-worker" password :'worker_password';
alter role "storehook-ops" password :'ops_password';
alter role "storehook-api" password :'api_password';
alter role "storehook-console" password :'console_password';
commit;
