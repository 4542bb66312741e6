import { execFile, spawnSync } from 'node:child_process'
import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { promisify } from 'node:util'
import { expect, onTestFinished, test } from 'vitest'
import { shellEnvironment } from '../test/shell-environment.ts'
import { type BannerFacts, banner, details } from './banner.ts'

const facts: BannerFacts = {
  url: 'http://localhost:3000',
  echoUrl: 'http://127.0.0.1:3001',
  account: {
    email: 'admin@belfry.local',
    password: 'pass-word_1234567',
    apiKey: 'bf_abc',
    workspaceId: 'ws_abc',
    signingSecret: 'whsec_abc',
  },
  metricsUrl: 'http://localhost:3004/metrics',
  cli: '/home/ann/be fry/programs/cli/dist/main.mjs',
  operatorPassword: 'operate_7654321',
  database: 'embedded PostgreSQL',
  redis: null,
  dataDir: '/home/ann/belfry/.belfry',
  detailsFile: '/home/ann/belfry/.belfry/details.txt',
  isBehindProxy: false,
  host: '127.0.0.1',
  registration: 'invite',
  qstash: { current: 'sig_a', next: 'sig_b', devPort: '8080' },
}

test('prints what a newcomer needs in nine lines, and where the rest is', () => {
  const text = banner(facts)
  expect(text.split('\n')).toHaveLength(9)
  for (const fact of [
    'Belfry is running at http://localhost:3000',
    'http://localhost:3000/api/docs',
    'admin@belfry.local  pass-word_1234567',
    'API key   bf_abc',
    'http://127.0.0.1:3001',
    '/home/ann/belfry/.belfry/details.txt',
    'whsec_abc',
    'Ctrl-C stops everything',
  ]) {
    expect(text).toContain(fact)
  }
})

test('keeps all addresses in a file', () => {
  const text = details(facts)
  expect(text).toContain('Belfry is running at http://localhost:3000')
  for (const fact of [
    'Workspace ws_abc',
    'whsec_abc',
    'http://localhost:3004/metrics',
    'http://localhost:3000/admin/queues  operator  operate_7654321',
    '/home/ann/belfry/.belfry/logs',
  ]) {
    expect(text).toContain(fact)
  }
  expect(text).not.toContain('Redis')
  expect(details({ ...facts, redis: 'redis://cache' })).toContain('redis://cache')
})

test('shows who can reach it and register', () => {
  expect(details(facts)).toContain('this machine only; accounts by invitation;')
  const open = details({ ...facts, host: '0.0.0.0', registration: 'open' })
  expect(open).toContain('every machine that reaches 0.0.0.0; anyone can register;')
})

const shells = ['sh', 'bash', 'zsh'].filter(shell => spawnSync(shell, ['-c', 'exit 0']).status === 0)

test.each(shells)('prints a command that %s runs unchanged, for five seconds after it is pasted', async shell => {
  const api = await startApi()
  const [create] = commands({ ...facts, url: api.url })
  await promisify(execFile)(shell, ['-c', create ?? ''], { env: shellEnvironment() })
  const { method, path, headers, body } = api.requests[0]!
  expect([method, path, headers['x-api-key']]).toEqual(['POST', '/api/v1/scheduler/tasks', 'bf_abc'])
  const task = JSON.parse(body)
  expect(task).toMatchObject({ url: 'http://127.0.0.1:3001/hello', method: 'POST', payload: { hello: 'world' } })
  expect(Date.parse(task.execute_at) - Date.now()).toBeGreaterThan(0)
  expect(Date.parse(task.execute_at) - Date.now()).toBeLessThanOrEqual(5000)
})

test('has a second command for the latest run', async () => {
  const api = await startApi()
  const [, ask] = commands({ ...facts, url: api.url })
  await promisify(execFile)('sh', ['-c', ask ?? ''], { env: shellEnvironment() })
  expect(api.requests[0]).toMatchObject({ method: 'GET', path: '/api/v1/scheduler/runs?limit=1' })
})

test.each(shells)('prints settings that %s takes unchanged', async shell => {
  const lines = `${banner(facts)}\n${details(facts)}`.split('\n')
  const settings = lines.filter(line => line.startsWith('export') || line.startsWith('alias'))
  const script = `${settings.join('\n')}\necho $BELFRY_URL $BELFRY_API_KEY $BELFRY_SIGNING_SECRET; alias belfry`
  const { stdout } = await promisify(execFile)(shell, ['-c', script], { env: shellEnvironment() })
  expect(stdout).toContain('http://localhost:3000 bf_abc whsec_abc')
  expect(stdout).toContain('node "/home/ann/be fry/programs/cli/dist/main.mjs"')
})

test('prevents curl from using a proxy', () => {
  expect(commands({ ...facts, isBehindProxy: true }).every(command => command.includes("--noproxy '*'"))).toBe(true)
})

test('shows no command without an account', () => {
  expect(commands({ ...facts, account: null })).toEqual([])
})

function commands(of: BannerFacts): string[] {
  return `${banner(of)}\n${details(of)}`.split('\n').filter(line => line.startsWith('curl'))
}

async function startApi() {
  const requests: Array<{ method?: string; path?: string; headers: IncomingHttpHeaders; body: string }> = []
  const server = createServer(async (request, response) => {
    let body = ''
    for await (const chunk of request) body += chunk
    requests.push({ method: request.method ?? '', path: request.url ?? '', headers: request.headers, body })
    response.end('{}')
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.close()
    server.closeAllConnections()
  })
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, requests }
}

test('shows the variables of QStash, and its development mode where the port is free', () => {
  const text = details(facts)
  expect(text).toContain('export QSTASH_URL=http://localhost:3000 QSTASH_TOKEN=bf_abc')
  expect(text).toContain('export QSTASH_CURRENT_SIGNING_KEY=sig_a QSTASH_NEXT_SIGNING_KEY=sig_b')
  expect(text).toContain('QSTASH_DEV=true does the same')
  const other = { current: 'sig_a', next: 'sig_b', devPort: '9000' }
  expect(details({ ...facts, qstash: other })).toContain('QSTASH_DEV=true QSTASH_DEV_PORT=9000 does the same')
  expect(details({ ...facts, qstash: { ...other, devPort: null } })).not.toContain('QSTASH_DEV=true')
  expect(details({ ...facts, qstash: null })).not.toContain('QSTASH')
})
