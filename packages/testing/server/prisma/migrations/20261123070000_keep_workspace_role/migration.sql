-- The role that a member gets in workspaces that they join later: the one of their invitation.
ALTER TABLE memberships ADD COLUMN workspace_role workspace_role NOT NULL DEFAULT 'viewer';

UPDATE memberships m SET workspace_role = i.workspace_role
FROM invitations i JOIN users u ON u.email = i.email
WHERE i.organization_id = m.organization_id AND u.id = m.user_id AND i.workspace_role <> 'viewer'
  AND i.accepted_at >= m.joined_at - interval '1 minute';
