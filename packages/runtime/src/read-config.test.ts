import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { z } from 'zod'
import { ConfigError, readConfig } from './read-config.ts'
import { integer, serviceVariables } from './settings.ts'

const { DATABASE_URL, REDIS_URL } = serviceVariables
const schema = z.object({ DATABASE_URL, REDIS_URL, PORT: integer(0, 65_535).default(3000) })

it('reads values and defaults, and treats an empty variable as missing', () => {
  const config = readConfig(schema, { DATABASE_URL: 'postgresql://db/belfry', REDIS_URL: '', OTHER: 'x' })
  expect(config).toEqual({ DATABASE_URL: 'postgresql://db/belfry', REDIS_URL: null, PORT: 3000 })
})

it('names every invalid variable at once, without values', () => {
  const read = () => readConfig(schema, { DATABASE_URL: 'mysql://root:hunter2@db', PORT: '99999' })
  expect(read).toThrow(ConfigError)
  expect(read).toThrow(/DATABASE_URL.*\n.*PORT/)
  expect(read).not.toThrow(/hunter2/)
})

it('reads a secret from its file, and reports a missing file', () => {
  const path = join(mkdtempSync(join(tmpdir(), 'belfry-config-')), 'url')
  writeFileSync(path, 'postgresql://u:hunter2@db/belfry\n')
  expect(readConfig(schema, { DATABASE_URL_FILE: path }).DATABASE_URL).toBe('postgresql://u:hunter2@db/belfry')
  rmSync(path)
  expect(() => readConfig(schema, { DATABASE_URL_FILE: path })).toThrow(/^ {2}DATABASE_URL_FILE: .*ENOENT/m)
})
