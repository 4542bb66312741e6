-- Notifies dispatchers that the account, the tier or the suspension of a workspace may have changed.
CREATE OR REPLACE FUNCTION notify_tenants() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NOTIFY belfry_tenants;
  RETURN NULL;
END $$;

CREATE OR REPLACE TRIGGER notify_tenants AFTER UPDATE OF suspended_at ON users
    FOR EACH STATEMENT EXECUTE FUNCTION notify_tenants();

CREATE OR REPLACE TRIGGER notify_tenants AFTER UPDATE OF suspended_at, tier ON organizations
    FOR EACH STATEMENT EXECUTE FUNCTION notify_tenants();

CREATE OR REPLACE TRIGGER notify_tenants AFTER UPDATE OF suspended_at ON workspaces
    FOR EACH STATEMENT EXECUTE FUNCTION notify_tenants();

CREATE OR REPLACE TRIGGER notify_tenants AFTER UPDATE OF role OR DELETE ON memberships
    FOR EACH STATEMENT EXECUTE FUNCTION notify_tenants();
