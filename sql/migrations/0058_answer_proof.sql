-- compatible-from: 10
-- Up to when what Apple posted of an app is proven to be held (`proven_until`), beside the oldest notification or record that waits to be
-- applied. The account API reads it once a minute, and says with its answers up to when they hold all that Apple has posted. A view: that
-- role reads neither the queue nor the windows.
--
-- Rows of the queue are stored in the order of their ids, within the seconds that a transaction takes. A dead letter that is replayed comes
-- back with its id and its date.
create view storehook.answer_proof as
select p.environment,
       p.bundle_id,
       p.proven_until,
       p.is_unreleased,
       (select q.received_at from storehook.outbox_queue q order by q.id limit 1) as waiting_since,
       now()                                                                     as read_at
  from storehook.proven_until p;
comment on view storehook.answer_proof is
    'what the account API says of its answers: up to when all that Apple posted is proven to be held, and since when something waits to be applied';
