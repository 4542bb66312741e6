-- Operators suspend users, organizations and workspaces.
ALTER TABLE "users" ADD COLUMN "suspended_at" TIMESTAMPTZ(3);
ALTER TABLE "organizations" ADD COLUMN "suspended_at" TIMESTAMPTZ(3);
ALTER TABLE "workspaces" ADD COLUMN "suspended_at" TIMESTAMPTZ(3);

-- What operators have done. Append-only, like audit_log.
CREATE TABLE "operator_log" (
    "id" UUID NOT NULL,
    "operator" TEXT NOT NULL,
    "address" TEXT NOT NULL,
    "action" TEXT NOT NULL,
    "object_id" TEXT NOT NULL,
    "details" TEXT NOT NULL DEFAULT '{}',
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "operator_log_pkey" PRIMARY KEY ("id")
);

CREATE TRIGGER operator_log_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON operator_log
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_audit_log_change();

-- Partial, because few rows are suspended.
CREATE INDEX users_suspended ON users (id) WHERE suspended_at IS NOT NULL;
CREATE INDEX organizations_suspended ON organizations (id) WHERE suspended_at IS NOT NULL;
CREATE INDEX workspaces_suspended ON workspaces (id) WHERE suspended_at IS NOT NULL;

-- The workspaces whose tasks and API keys are suspended. A suspended user suspends the organizations of which no other owner
-- is older.
CREATE VIEW suspended_workspaces AS
    SELECT id FROM workspaces WHERE suspended_at IS NOT NULL
    UNION
    SELECT w.id FROM organizations o JOIN workspaces w ON w.organization_id = o.id WHERE o.suspended_at IS NOT NULL
    UNION
    SELECT w.id
    FROM users u JOIN memberships m ON m.user_id = u.id AND m.role = 'owner'
    JOIN workspaces w ON w.organization_id = m.organization_id
    WHERE u.suspended_at IS NOT NULL AND NOT EXISTS (
        SELECT FROM memberships older
        WHERE older.organization_id = m.organization_id AND older.role = 'owner'
          AND (older.joined_at, older.user_id) < (m.joined_at, m.user_id)
    );

-- Notifies dispatchers that the account, the tier or the suspension of a workspace may have changed.
CREATE FUNCTION notify_tenants() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NOTIFY belfry_tenants;
  RETURN NULL;
END $$;

CREATE TRIGGER notify_tenants AFTER UPDATE OF suspended_at ON users
    FOR EACH STATEMENT EXECUTE FUNCTION notify_tenants();
CREATE TRIGGER notify_tenants AFTER UPDATE OF suspended_at, tier ON organizations
    FOR EACH STATEMENT EXECUTE FUNCTION notify_tenants();
CREATE TRIGGER notify_tenants AFTER UPDATE OF suspended_at ON workspaces
    FOR EACH STATEMENT EXECUTE FUNCTION notify_tenants();
CREATE TRIGGER notify_tenants AFTER UPDATE OF role OR DELETE ON memberships
    FOR EACH STATEMENT EXECUTE FUNCTION notify_tenants();
