import { randomUUID } from 'node:crypto'
import { readFile, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeEach, expect, it } from 'vitest'
import { ensureFirstAccount } from '../src/account/first-account.ts'
import { createApp } from '../src/app.ts'
import { useApi } from './setup.ts'

const api = useApi({ REGISTRATION: '' }, { isAlone: true, signsUp: false })
const file = join(tmpdir(), `belfry-first-account-${randomUUID()}.json`)
const ensure = () => ensureFirstAccount(api.ctx, createApp(api.ctx, {}), file)

beforeEach(async () => {
  await rm(file, { force: true })
  await api.db.query('DELETE FROM users')
  Object.assign(api.ctx.config, { registration: 'invite' }) // the default
})

it('creates the first account without a request, and none beside it', async () => {
  await ensure()
  const { email, password, apiKey } = JSON.parse(await readFile(file, 'utf8'))
  expect((await stat(file)).mode & 0o777).toBe(0o600)
  const tasks = await api.send('GET', '/api/v1/scheduler/tasks', undefined, { 'X-Api-Key': apiKey })
  expect(tasks.body).toMatchObject({ data: [] })
  expect(await api.send('POST', '/api/v1/auth/login', { email, password })).toMatchObject({ status: 200 })
  const stranger = { email: 'stranger@example.com', password: 'correct horse battery', name: 'Stranger' }
  expect(await api.send('POST', '/api/v1/auth/register', stranger)).toMatchObject({ status: 403 })
  await ensure()
  expect(JSON.parse(await readFile(file, 'utf8'))).toEqual({ email, password, apiKey })
  expect(await api.count('users')).toBe(1)
})

it('says why it cannot', async () => {
  Object.assign(api.ctx.config, { registration: 'closed' })
  await expect(ensure()).rejects.toThrow('POST /api/v1/auth/register failed with 403')
})

it('creates no account whose password it cannot write', async () => {
  await expect(ensureFirstAccount(api.ctx, createApp(api.ctx, {}), `${file}/missing`)).rejects.toThrow()
  expect(await api.count('users')).toBe(0)
})
