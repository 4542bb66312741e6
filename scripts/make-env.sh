#!/bin/sh
# Makes the .env that docker-compose.yml reads, with secrets of its own: scripts/make-env.sh [FILE]
# An existing file is never touched: without its ENCRYPTION_KEYS everything that was encrypted with them is lost.
set -eu
file=${1:-"$(dirname "$0")/../.env"}
umask 077

hex() { od -An -N "$1" -v -t x1 /dev/urandom | tr -d ' \n'; }
key() { dd if=/dev/urandom bs=32 count=1 2> /dev/null | base64 | tr -d '\n'; }

# With -C a `>` refuses a file that exists, also one that somebody makes at this moment.
if ! (set -C && : > "$file") 2> /dev/null; then
  echo "$file cannot be made: it exists, or its folder may not be written to. Nothing was changed." >&2
  exit 1
fi

cat > "$file" << END
# Made by scripts/make-env.sh. Keep a copy of it apart from the database's backups. What each variable means, and which
# others there are, is in docs/configuration.md.

# The address that users reach Belfry under, and what Docker publishes it on. With https:// put a proxy in front of it.
PUBLIC_URL=http://localhost:3000
LISTEN_ON=127.0.0.1:3000

JWT_SECRET=$(hex 32)
ENCRYPTION_KEYS=k1:$(key)
OPERATOR_PASSWORD=$(hex 12)
POSTGRES_PASSWORD=$(hex 24)
REDIS_PASSWORD=$(hex 24)

# Mail goes to the Mailpit of the same stack, which shows it on http://localhost:8025. Name a real server before others
# than you use this.
SMTP_URL=smtp://mailpit:1025
MAIL_FROM="Belfry <belfry@localhost>"
END
echo "Wrote $file"
