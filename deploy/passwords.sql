-- Gives the users of logins.sql the passwords that stand in the environment of psql, which sends them to the server as
-- they are: for a network that nobody listens in.
\set ECHO none
\getenv receiver_password RECEIVER_PASSWORD
\getenv worker_password WORKER_PASSWORD
\getenv ops_password OPS_PASSWORD
\getenv api_password API_PASSWORD
-- A statement that fails would stand in the server's log, password included.
set log_min_error_statement = panic;
alter role "storehook-receiver" password :'receiver_password';
alter role "storehook-worker" password :'worker_password';
alter role "storehook-ops" password :'ops_password';
alter role "storehook-api" password :'api_password';
