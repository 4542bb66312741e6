-- Writes prefetched claims into the send journal, if the session of the dispatcher is valid.
-- Sent by journalSends.

INSERT INTO sends (dispatcher_id, seq, run_ids)
SELECT id, $3, $4::uuid[] FROM dispatchers WHERE id = $1 AND session = $2 FOR KEY SHARE
