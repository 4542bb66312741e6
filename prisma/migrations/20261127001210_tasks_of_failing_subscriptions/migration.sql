-- Finds whether a task of a failing subscription has succeeded. Only these and subscriptions with secrets name themselves.
CREATE INDEX CONCURRENTLY task_requests_subscription_idx ON task_requests (subscription_id, task_id) WHERE subscription_id IS NOT NULL;
