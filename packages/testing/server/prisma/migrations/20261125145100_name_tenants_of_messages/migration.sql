-- For which organization a message is sent, so operators see which one sends many. It is no reference: a message outlives a
-- deleted organization, as before.
ALTER TABLE outbox ADD COLUMN organization_id uuid;
