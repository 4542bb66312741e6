-- Whether the roles of a member in workspaces come from groups of the issuer, and end with them.
ALTER TABLE memberships ADD COLUMN workspace_role_of_groups boolean NOT NULL DEFAULT false;

-- How long a key was valid before a roll shortened that, 0 for no end. Null before a roll.
ALTER TABLE api_keys ADD COLUMN lifetime_ms bigint;
