import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { PlainError } from './errors.ts'
import { readJson, writeJson } from './json-file.ts'

export type Secrets = { JWT_SECRET: string; ENCRYPTION_KEYS: string; OPERATOR_PASSWORD: string }

/** Reads this installation's secrets, and creates them at its first start. */
export function loadSecrets(path: string): Secrets {
  const kept = readJson(path)
  if (isComplete(kept)) return kept
  // New secrets would silently end all sessions and make stored secrets unreadable.
  if (existsSync(path)) {
    const price = 'users must then sign in again, and stored secrets are lost'
    throw new PlainError(`${path} is damaged, or lacks one of its secrets. Restore it, or remove it: ${price}.`)
  }
  const secrets = {
    JWT_SECRET: randomBytes(32).toString('hex'),
    ENCRYPTION_KEYS: `k1:${randomBytes(32).toString('base64')}`,
    OPERATOR_PASSWORD: randomBytes(15).toString('base64url'),
  }
  writeJson(path, secrets)
  return secrets
}

function isComplete(value: unknown): value is Secrets {
  const { JWT_SECRET: secret, ENCRYPTION_KEYS, OPERATOR_PASSWORD } = Object(value) as Record<string, unknown>
  const isText = [secret, ENCRYPTION_KEYS, OPERATOR_PASSWORD].every(one => typeof one === 'string')
  return isText && String(secret).length >= 32
}
