import { randomBytes } from 'node:crypto'
import { mkdtemp, readFile, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { freePort } from '@belfry/embedded'
import { type Receiver, startReceiver } from '@belfry/test-support'
import { waitFor } from '@belfry/test-support/wait-for'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type Caller, callApi, inMs, signUp } from '../api-calls.ts'
import { findCanaries } from '../canaries.ts'
import { type NpmStart, runNpmStart } from '../npm-start.ts'
import { complaints, runDoctor } from './run-doctor.ts'

const canary = (name: string) => `canary${name}${randomBytes(12).toString('hex')}`
const masterKey = randomBytes(32).toString('base64')
const canaries: Record<string, string> = {
  'JWT secret': canary('jwt'),
  'master key': masterKey,
  'operator password': canary('operator'),
  'password of the mail server': canary('smtp'),
  'user of the proxy': canary('proxyuser'),
  'password of the proxy': canary('proxy'),
  payload: canary('payload'),
  'header of a task': canary('header'),
  'name of a task': canary('name'),
  'credential in a URL': canary('urlpassword'),
  'token in a query': canary('query'),
  'stored secret': canary('secret'),
  'response body': canary('response'),
  'unknown variable': canary('unknown'),
}

let folder: string
let belfry: NpmStart
let target: Receiver
let caller: Caller
let env: Record<string, string>

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'belfry-archive-'))
  target = await startReceiver()
  env = {
    DATA_DIR: join(folder, 'data'),
    JWT_SECRET: String(canaries['JWT secret']),
    ENCRYPTION_KEYS: `k1:${masterKey}`,
    OPERATOR_PASSWORD: String(canaries['operator password']),
    SMTP_URL: `smtp://belfry:${canaries['password of the mail server']}@127.0.0.1:${await freePort()}`,
    MAIL_FROM: 'belfry@example.com',
    REGISTRATION: 'open',
    DEFAULT_TIER: 'unlimited',
    CONFIRM_EMAILS: 'off',
    BELFRY_UNKNOWN: String(canaries['unknown variable']),
  }
  belfry = await runNpmStart(env)
  caller = await signUp(belfry.url)
  canaries['API key'] = String(caller.apiKey)
  canaries['session token'] = String(caller.token)
  await deliver()
}, 120_000)
afterAll(async () => {
  await belfry?.stop()
  await target?.close()
  await rm(folder, { recursive: true, force: true })
})

// Every canary passes through the processes, and most of them through the database.
async function deliver(): Promise<void> {
  const call = (method: string, path: string, body: unknown) => callApi(belfry.url, caller, method, path, body)
  await call('PUT', `/api/v1/workspaces/${caller.workspaceId}/secrets/TOKEN`, { value: canaries['stored secret'] })
  target.answer('/fails', { status: 500, body: String(canaries['response body']) })
  const url = target
    .url(`/fails?token=${canaries['token in a query']}`)
    .replace('http://', `http://user:${canaries['credential in a URL']}@`)
  const task = {
    name: canaries['name of a task'],
    url,
    method: 'POST',
    headers: { 'X-Token': canaries['header of a task'], 'X-Secret': '{{ secrets.TOKEN }}' },
    payload: { note: canaries.payload },
    execute_at: inMs(1500),
  }
  const created = await call('POST', '/api/v1/scheduler/tasks', task)
  if (created.status !== 201) {
    expect(created.status).toBe(400) // a URL with a user is refused, and its problem is logged like any other
    Object.assign(task, { url: target.url(`/fails?token=${canaries['token in a query']}`) })
    expect((await call('POST', '/api/v1/scheduler/tasks', task)).status).toBe(201)
  }
  await target.waitFor(() => target.requestsTo('/fails').length > 0, 20_000)
}

it('contains the report, the variables and the log, but no secret and no payload', async () => {
  const proxy = `http://${canaries['user of the proxy']}:${canaries['password of the proxy']}@127.0.0.1:1`
  const file = join(folder, 'support.tgz')
  const args = ['--bundle', file, '--target', target.url(`/x?token=${canaries['token in a query']}`)]
  const diagnosis = await runDoctor({ ...env, EGRESS_PROXY_URL: proxy }, ...args)
  const archive = gunzipSync(await readFile(file)).toString('latin1')
  expect(findCanaries(canaries, { archive, output: diagnosis.output })).toEqual([])
  for (const part of ['report.txt', 'report.json', 'variables.json', 'database.json', 'processes.json', 'log.jsonl']) {
    expect(archive).toContain(part)
  }
  expect(archive).toContain('"SMTP_URL": "set"')
  expect(archive).toContain('"msg":"attempt.finished"')
  expect(archive).toMatch(/PROBLEM +mail +The mail server/)
  expect((await stat(file)).mode & 0o777).toBe(0o600)
}, 60_000)

it('checks npm start while it runs, and its data after it has stopped', async () => {
  const running = await runDoctor(env)
  expect(complaints(running)).toEqual([expect.stringMatching(/^problem mail: .*ECONNREFUSED/)])
  const oks = running.findings.filter(({ level }) => level === 'ok').map(({ message }) => message)
  expect(oks).toContainEqual(expect.stringMatching(/^the process at http:\/\/127\.0\.0\.1:\d+ is ready$/))
  expect(oks).toContain('dispatchers alive: 1, schedulers alive: 1')
  await belfry.stop()
  const stopped = await waitFor(
    () => runDoctor(env),
    found => complaints(found).some(text => /does not run/.test(text)),
    20_000,
  )
  expect(complaints(stopped).filter(text => !/ mail: /.test(text))).toEqual([
    expect.stringMatching(/^warning processes: Belfry does not run on /),
  ])
  expect(stopped.findings).toContainEqual(expect.objectContaining({ check: 'migrations', level: 'ok' }))
}, 90_000)
