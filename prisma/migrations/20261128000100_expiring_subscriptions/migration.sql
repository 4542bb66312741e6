-- Finds the MCP subscriptions that have ended. Other subscriptions never end.
CREATE INDEX CONCURRENTLY subscriptions_expires_at_idx ON subscriptions (expires_at) WHERE expires_at IS NOT NULL;
