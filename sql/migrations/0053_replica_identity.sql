-- compatible-from: 10
-- Two tables have no key, because no statement looks up a single row of theirs. Where a publication contains all tables, for a copy of the
-- data or an upgrade by logical replication, PostgreSQL refuses every update and delete in a table with neither a key nor a replica
-- identity. FULL needs no index; it writes deleted rows whole into the log, and only under wal_level = logical.
-- Both statements change the catalog alone, whatever the number of rows.
alter table storehook.outbox_stored replica identity full;
alter table storehook.anomalies replica identity full;
