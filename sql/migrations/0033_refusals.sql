-- compatible-from: 10
-- Deliveries where an endpoint refuses some events and takes others, and where much is sent again.

-- An answer about an event tells nothing of whether the endpoint works: only other failures pause it.
alter table storehook.endpoint_health
    add column faults integer not null default 0 check (faults >= 0);
comment on column storehook.endpoint_health.faults is
    'calls since the last one that succeeded that failed for a reason of the endpoint''s own, not of the event''s';

-- When an endpoint is back, what its schedule has later comes once before its time.
alter table storehook.delivery_queue
    add column resumes_at timestamptz;
comment on column storehook.delivery_queue.resumes_at is
    'when its schedule has it, of what comes, or came, before that because its endpoint was back';

-- Up to which of what is sent again the lanes are in the queue, so that none is read twice.
alter table storehook.endpoint_cursors
    add column queued_resend bigint not null default 0;
comment on column storehook.endpoint_cursors.queued_resend is
    'up to which of deliveries_pending, of what is sent again, the lanes are in the queue';
create index deliveries_pending_resent on storehook.deliveries_pending (endpoint_id, id) where position is null;
