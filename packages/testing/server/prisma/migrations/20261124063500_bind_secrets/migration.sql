-- The hosts that a secret may be sent to. Null: every host.
ALTER TABLE "secrets" ADD COLUMN "allowed_hosts" TEXT[];

-- Whether the log keeps the responses to requests with secrets.
ALTER TABLE "workspaces" ADD COLUMN "keeps_responses_with_secrets" BOOLEAN NOT NULL DEFAULT true;
