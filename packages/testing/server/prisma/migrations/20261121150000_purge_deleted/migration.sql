-- What is deleted and has nothing left to end: few rows, which go when they are purged.
CREATE INDEX workspaces_purging_idx ON workspaces (wound_down_at) WHERE wound_down_at IS NOT NULL;
CREATE INDEX organizations_deleted_idx ON organizations (deleted_at) WHERE deleted_at IS NOT NULL;
