#!/bin/sh
# Creates the .env of docker-compose.yml with new secrets: scripts/make-env.sh [FILE]
# It never replaces an existing file, because data that is encrypted with its ENCRYPTION_KEYS would be lost. For the .env of an
# earlier version, scripts/make-env.sh --roles [FILE] appends the database roles of the services.
set -eu
mode=create
if [ "${1:-}" = --roles ]; then
  mode=roles
  shift
fi
file=${1:-"$(dirname "$0")/../.env"}
umask 077

hex() { od -An -N "$1" -v -t x1 /dev/urandom | tr -d ' \n'; }
# The stack's PostgreSQL is on internal networks only.
roles() {
  echo
  echo "# The database roles of the services, which migrate creates."
  for service in api scheduler dispatcher; do
    name=$(echo "$service" | tr a-z A-Z)_DATABASE_URL
    grep -q "^$name=" "$file" || echo "$name=postgresql://belfry_$service:$(hex 24)@postgres:5432/belfry"
  done
}
key() { dd if=/dev/urandom bs=32 count=1 2> /dev/null | base64 | tr -d '\n'; }

if [ "$mode" = roles ]; then
  [ -f "$file" ] || { echo "There is no $file." >&2; exit 1; }
  lines=$(roles)
  printf '%s\n' "$lines" >> "$file"
  echo "Added the database roles to $file"
  exit
fi

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
END
lines=$(roles)
printf '%s\n' "$lines" >> "$file"
echo "Wrote $file"
