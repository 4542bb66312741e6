import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { readJson, writeJson } from './json-file.ts'
import { PlainError } from './plain-error.ts'

export type Secrets = { JWT_SECRET: string; ENCRYPTION_KEYS: string }

/** Reads this installation's secrets; makes them on the first start. */
export function loadSecrets(path: string): Secrets {
  const kept = readJson(path)
  if (isSecrets(kept)) return kept
  // New ones would end every session, and make stored secrets unreadable, without a word.
  if (existsSync(path) && !hasJwtSecret(kept)) {
    const price = 'users must sign in again then, and the secrets that they have stored are lost'
    throw new PlainError(`${path} is damaged. Restore it, or remove it: ${price}.`)
  }
  const secrets = {
    JWT_SECRET: hasJwtSecret(kept) ? kept.JWT_SECRET : randomBytes(32).toString('hex'),
    ENCRYPTION_KEYS: `k1:${randomBytes(32).toString('base64')}`,
  }
  writeJson(path, secrets)
  return secrets
}

function isSecrets(value: unknown): value is Secrets {
  return hasJwtSecret(value) && 'ENCRYPTION_KEYS' in value && typeof value.ENCRYPTION_KEYS === 'string'
}

// All that an installation had before there were secrets to encrypt.
function hasJwtSecret(value: unknown): value is { JWT_SECRET: string } {
  if (typeof value !== 'object' || value === null || !('JWT_SECRET' in value)) return false
  return typeof value.JWT_SECRET === 'string' && value.JWT_SECRET.length >= 32
}
