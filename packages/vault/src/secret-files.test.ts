import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { readSecretFiles, secretVariables } from './secret-files.ts'

const folder = mkdtempSync(join(tmpdir(), 'belfry-secrets-'))
afterAll(() => rmSync(folder, { recursive: true }))

function file(name: string, content: string): string {
  const path = join(folder, name)
  writeFileSync(path, content)
  return path
}

it.each(secretVariables)('reads %s from the file of its variable, without the line end', name => {
  const path = file(name, ' value with spaces \n')
  expect(readSecretFiles({ [`${name}_FILE`]: path, PORT: '1' })).toEqual({
    env: { [name]: ' value with spaces ', PORT: '1' },
    problems: [],
  })
})

it('takes a byte order mark for no part of a secret', () => {
  const path = file('marked', '\ufeffsecret\r\n')
  expect(readSecretFiles({ METRICS_TOKEN_FILE: path }).env).toEqual({ METRICS_TOKEN: 'secret' })
})

it('leaves other variables alone', () => {
  const env = { DATABASE_URL: 'postgresql://db/x', PORT_FILE: '/nowhere', JWT_SECRET_FILE: '' }
  expect(readSecretFiles(env).problems).toEqual([])
  expect(readSecretFiles(env).env).toMatchObject({ DATABASE_URL: 'postgresql://db/x', PORT_FILE: '/nowhere' })
})

it('names each problem without a value', () => {
  const env = {
    DATABASE_URL: 'postgresql://u:hunter2@db/x',
    DATABASE_URL_FILE: file('both', 'postgresql://u:hunter3@db/x'),
    REDIS_URL_FILE: join(folder, 'missing'),
    JWT_SECRET_FILE: file('empty', '\n'),
  }
  const { problems } = readSecretFiles(env)
  expect(problems).toEqual([
    'DATABASE_URL_FILE: DATABASE_URL is set too; set one of them',
    'REDIS_URL_FILE: its file cannot be read (ENOENT)',
    'JWT_SECRET_FILE: its file is empty',
  ])
})

it('is documented with each variable', () => {
  const page = readFileSync(new URL('../../../docs/configuration.md', import.meta.url), 'utf8')
  const [, section = ''] = /## Secrets from files\n(.*?)\n## /s.exec(page) ?? []
  const [, list = ''] = /have the variant:(.*?)\. All/s.exec(section) ?? []
  expect([...list.matchAll(/`(\w+)`/g)].map(([, name]) => name)).toEqual([...secretVariables])
})
