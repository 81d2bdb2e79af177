-- compatible-from: 10
-- A counter of usage stops at a bound: beyond 2^53 readers of JSON take one number for another, and at 2^63 counting failed.
-- NOT VALID: rows that are there are not checked, for that would hold a lock all the while. Rows are checked as they are written.
alter table storehook.usage_counters add constraint usage_counters_bound check (used <= 1000000000000000) not valid;
