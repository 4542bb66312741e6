-- Whether the roles of a member in workspaces come from groups of the issuer, and end with them.
ALTER TABLE memberships ADD COLUMN workspace_role_of_groups boolean NOT NULL DEFAULT false;
