import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { loadSecrets } from './secrets.ts'

test('creates secrets once, readable by the owner only', () => {
  const path = secretsPath()
  const made = loadSecrets(path)
  expect(made.JWT_SECRET).toMatch(/^[0-9a-f]{64}$/)
  expect(made.ENCRYPTION_KEYS).toMatch(/^k1:[A-Za-z0-9+/]{43}=$/)
  expect(made.OPERATOR_PASSWORD).toMatch(/^[\w-]{20}$/)
  expect(statSync(path).mode & 0o777).toBe(0o600)
  expect(loadSecrets(path)).toEqual(made)
  expect(loadSecrets(secretsPath())).not.toEqual(made)
})

test('refuses a damaged file instead of ending all sessions', () => {
  const path = secretsPath()
  writeFileSync(path, '{"JWT_SECRET": "short"}')
  expect(() => loadSecrets(path)).toThrow(`${path} is damaged`)
})

function secretsPath(): string {
  const folder = mkdtempSync(join(tmpdir(), 'belfry-secrets-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  return join(folder, 'secrets.json')
}
