#!/bin/sh
# Creates the .env of docker-compose.yml with new secrets: scripts/make-env.sh [FILE]
# It never replaces an existing file, because data that is encrypted with its ENCRYPTION_KEYS would be lost.
set -eu
file=${1:-"$(dirname "$0")/../.env"}
umask 077

hex() { od -An -N "$1" -v -t x1 /dev/urandom | tr -d ' \n'; }
key() { dd if=/dev/urandom bs=32 count=1 2> /dev/null | base64 | tr -d '\n'; }

# With -C, `>` fails atomically when the file exists.
if ! (set -C && : > "$file") 2> /dev/null; then
  echo "Cannot create $file: it exists, or its folder is not writable. Nothing was changed." >&2
  exit 1
fi

cat > "$file" << END
# Created by scripts/make-env.sh. Keep a copy apart from the backups of the database. docs/configuration.md describes all
# variables.

# The public URL of Belfry, and the address that Docker publishes. For https://, use a proxy in front of it.
PUBLIC_URL=http://localhost:3000
LISTEN_ON=127.0.0.1:3000

JWT_SECRET=$(hex 32)
ENCRYPTION_KEYS=k1:$(key)
OPERATOR_PASSWORD=$(hex 12)
POSTGRES_PASSWORD=$(hex 24)
REDIS_PASSWORD=$(hex 24)

# Mails go to the Mailpit of this stack, which shows them on http://localhost:8025. Set a real server before other people use
# this installation.
SMTP_URL=smtp://mailpit:1025
MAIL_FROM="Belfry <belfry@localhost>"

# The database roles of the services, which migrate creates. The stack's PostgreSQL is on internal networks only.
API_DATABASE_URL=postgresql://belfry_api:$(hex 24)@postgres:5432/belfry
SCHEDULER_DATABASE_URL=postgresql://belfry_scheduler:$(hex 24)@postgres:5432/belfry
DISPATCHER_DATABASE_URL=postgresql://belfry_dispatcher:$(hex 24)@postgres:5432/belfry
END
echo "Wrote $file"
