ALTER TABLE organizations ADD COLUMN deleted_at timestamptz(3);

ALTER TABLE workspaces ADD COLUMN deleted_at timestamptz(3), ADD COLUMN wound_down_at timestamptz(3);
CREATE INDEX workspaces_winding_down_idx ON workspaces (deleted_at) WHERE deleted_at IS NOT NULL AND wound_down_at IS NULL;
