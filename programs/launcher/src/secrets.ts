import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { readJson, writeJson } from './json-file.ts'
import { PlainError } from './plain-error.ts'

export type Secrets = { JWT_SECRET: string; ENCRYPTION_KEYS: string; OPERATOR_PASSWORD: string }

/** Reads this installation's secrets, and creates missing ones. */
export function loadSecrets(path: string): Secrets {
  const kept = readJson(path)
  // New secrets would silently end all sessions and make stored secrets unreadable.
  if (existsSync(path) && !hasJwtSecret(kept)) {
    const price = 'users must then sign in again, and stored secrets are lost'
    throw new PlainError(`${path} is damaged. Restore it, or remove it: ${price}.`)
  }
  if (isComplete(kept)) return kept
  const secrets = {
    JWT_SECRET: randomBytes(32).toString('hex'),
    ENCRYPTION_KEYS: `k1:${randomBytes(32).toString('base64')}`,
    OPERATOR_PASSWORD: randomBytes(15).toString('base64url'),
    ...(hasJwtSecret(kept) ? kept : {}),
  }
  writeJson(path, secrets)
  return secrets
}

// An older installation may not have all of them.
function isComplete(value: unknown): value is Secrets {
  return hasJwtSecret(value) && hasText(value, 'ENCRYPTION_KEYS') && hasText(value, 'OPERATOR_PASSWORD')
}

function hasText(value: object, name: string): boolean {
  return name in value && typeof (value as Record<string, unknown>)[name] === 'string'
}

function hasJwtSecret(value: unknown): value is { JWT_SECRET: string } {
  if (typeof value !== 'object' || value === null || !('JWT_SECRET' in value)) return false
  return typeof value.JWT_SECRET === 'string' && value.JWT_SECRET.length >= 32
}
