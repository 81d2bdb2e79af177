-- compatible-from: 10
-- Two tables have no key, because nothing would ever look one up. As soon as somebody publishes all tables, for a copy of the data or
-- an upgrade by logical replication, PostgreSQL refuses every update and delete in a table that has neither a key nor a replica
-- identity. FULL is one that costs nothing: no index is kept, and only under wal_level = logical do deleted rows go into the log whole.
-- Both statements change the catalog alone, however many rows there are.
alter table storehook.outbox_stored replica identity full;
alter table storehook.anomalies replica identity full;
