import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { readJson, writeJson } from './json-file.ts'
import { PlainError } from './plain-error.ts'

export type Secrets = { JWT_SECRET: string }

/** Reads this installation's secrets; makes them on the first start. */
export function loadSecrets(path: string): Secrets {
  const kept = readJson(path)
  if (isSecrets(kept)) return kept
  // New ones would end every session without a word.
  if (existsSync(path))
    throw new PlainError(`${path} is damaged. Restore it, or remove it: users must sign in again then.`)
  const secrets = { JWT_SECRET: randomBytes(32).toString('hex') }
  writeJson(path, secrets)
  return secrets
}

function isSecrets(value: unknown): value is Secrets {
  if (typeof value !== 'object' || value === null || !('JWT_SECRET' in value)) return false
  return typeof value.JWT_SECRET === 'string' && value.JWT_SECRET.length >= 32
}
