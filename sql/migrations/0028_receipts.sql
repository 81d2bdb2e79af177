-- compatible-from: 10
-- Which receipts are kept, by what is signed in them. Around that anybody can write another container: other lengths, other
-- certificates beside those that count, attributes that nobody signed. Its bytes are others, and it says nothing more.

-- A receipt is noted in the commit that stores it. What was stored before this is not noted, and is stored once more at the most.
create table storehook.kept_receipts (
    digest  bytea       primary key check (octet_length(digest) = 32),
    kept_at timestamptz not null default now()
);
comment on table storehook.kept_receipts is
    'the receipts that are stored, each once, by what is signed in them; who hands in another writing of one has nothing stored';
comment on column storehook.kept_receipts.digest is
    'SHA-256 of the signed content; of a receipt that verifyReceipt alone vouches for, of what Apple read in it, without the instant';
