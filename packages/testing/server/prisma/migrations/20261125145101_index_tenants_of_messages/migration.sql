CREATE INDEX CONCURRENTLY outbox_organization_id_idx ON outbox (organization_id, created_at) WHERE organization_id IS NOT NULL;
