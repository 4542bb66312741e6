-- Whether deliveries are also signed with Ed25519. The key pairs follow from the data keys, so nothing else is stored.
ALTER TABLE workspaces ADD COLUMN asymmetric_signatures boolean NOT NULL DEFAULT false;
