import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { freePort } from '@belfry/embedded'
import type { RunningProcess } from '@belfry/test-support/servers'
import { expect, onTestFinished, test, vi } from 'vitest'
import { areAllGone, childrenOf, listeningAddresses, newDataDir, runLauncher } from './run-launcher.ts'
import { shellEnvironment } from './shell-environment.ts'

const isUp = /Ctrl-C stops everything/
const loopback = '0100007F' // 127.0.0.1 in `/proc/net/tcp`
const oneReceived = /received POST \/hello task_\w+ {"hello":"world"}/

test('npm start prints help, refuses other options, and starts nothing for either', async () => {
  const script = fileURLToPath(new URL('../../../scripts/start.mjs', import.meta.url))
  expect((await promisify(execFile)(process.execPath, [script, '--help'])).stdout).toMatch(/^Usage: npm start\n/)
  const refused = promisify(execFile)(process.execPath, [script, '--demo'])
  await expect(refused).rejects.toMatchObject({
    code: 2,
    stderr: expect.stringMatching(/no option --demo[\s\S]*DEMO=on/),
  })
})

test('runs the command of its banner, refuses a second start, and leaves nothing running', async () => {
  const dataDir = newDataDir()
  const launcher = runLauncher(dataDir)
  await launcher.prints(isUp)
  const children = childrenOf(dataDir)
  expect(areAllGone(children)).toBe(false)
  if (process.platform === 'linux') {
    expect([...listeningAddresses([launcher.pid, ...children])]).toEqual([loopback])
  }
  await expectClosed(launcher)
  await pasteFirstCommand(launcher, 5000)
  const details = readFileSync(join(dataDir, 'details.txt'), 'utf8')
  expect(details).toMatch(/Workspace ws_\w{26}\n {2}Signing {3}whsec_[\w+/=]+\n/)
  const [, metrics = ''] = /Metrics {3}(\S+)/.exec(details) ?? []
  expect(await (await fetch(metrics)).text()).toContain('belfry_')
  expect(await useCommandLine(launcher)).toMatchObject([{ name: 'Hello' }])
  await launcher.prints(oneReceived)
  const second = runLauncher(dataDir)
  expect(await second.ended).toBe(0)
  expect(second.output).toMatch(/Belfry is already running at http:\/\/localhost:\d+/)
  expect(await launcher.stop()).toBe(0)
  expect(areAllGone(children)).toBe(true)
  expect(existsSync(join(dataDir, 'run.json'))).toBe(false)
})

test('has its first account before it answers the first request', async () => {
  const port = await freePort()
  const launcher = runLauncher(newDataDir(), { PORT: String(port) })
  const ask = () => registerStranger(`http://127.0.0.1:${port}`).catch(() => null) // does not listen yet
  let first = await ask()
  while (first === null && !isUp.test(launcher.output)) first = await ask()
  expect(first?.status).toBe(403)
  await launcher.prints(isUp)
  expect(launcher.output).toContain('admin@belfry.local')
})

test('continues after a kill -9 with the same account and tasks', async () => {
  const dataDir = newDataDir()
  // The same port again, so the receiver next to it has the URL of the first task. It is below the range of ephemeral
  // ports, so no other program takes the receiver's port meanwhile.
  const wanted = 20_000 + 10 * Math.floor(Math.random() * 1_000)
  const env = { PORT: String(await freePort(wanted)) }
  const first = runLauncher(dataDir, env)
  await first.prints(isUp)
  const children = childrenOf(dataDir)
  await pasteFirstCommand(first, 3000)
  await first.stop('SIGKILL')
  const second = runLauncher(dataDir, env)
  await second.prints(isUp)
  expect(areAllGone(children)).toBe(true)
  expect(apiKeyIn(second)).toBe(apiKeyIn(first))
  await second.prints(oneReceived)
})

test.skipIf(process.platform !== 'linux')('uses another port when a port that looked free is in use', async () => {
  const port = 20_000 + 10 * Math.floor(Math.random() * 1_000)
  // A check of 127.0.0.1 finds nothing, but listening on all addresses fails.
  const other = createServer().listen(port + 4, '127.0.0.2')
  await once(other, 'listening')
  onTestFinished(() => void other.close())
  const launcher = runLauncher(newDataDir(), { PORT: String(port), METRICS_HOST: '0.0.0.0' })
  await launcher.prints(isUp)
  expect(launcher.output).toContain(`Port ${port + 4} is in use by another program; trying another port.`)
})

test('restarts a killed process', async () => {
  const dataDir = newDataDir()
  const launcher = runLauncher(dataDir)
  await launcher.prints(isUp)
  for (const pid of childrenOf(dataDir)) process.kill(pid, 'SIGKILL')
  await launcher.prints(/Belfry ended \(SIGKILL\); restarting it/)
  await launcher.prints(/PostgreSQL ended unexpectedly; restarting it/)
  await vi.waitFor(() => pasteFirstCommand(launcher), { timeout: 20_000, interval: 500 })
  await launcher.prints(oneReceived)
})

test('reports an unknown role', async () => {
  const launcher = runLauncher(newDataDir(), { ROLES: 'api,worker' })
  expect(await launcher.ended).toBe(1)
  expect(launcher.output).toContain('ROLES: has no role "worker": choose from api, scheduler, dispatcher')
})

test('reports a port in use with a solution, and starts nothing', async () => {
  const server = createServer().listen(0, '127.0.0.1')
  onTestFinished(() => void server.close())
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const launcher = runLauncher(newDataDir(), { PORT: String(port) })
  expect(await launcher.ended).toBe(1)
  expect(launcher.output).toMatch(new RegExp(`^Port ${port} is in use .* PORT=\\d+ npm start\\n$`))
})

test('reports an unusable data directory with a solution', async () => {
  const file = join(mkdtempSync(join(tmpdir(), 'belfry-')), 'data')
  writeFileSync(file, '')
  const launcher = runLauncher(file)
  expect(await launcher.ended).toBe(1)
  expect(launcher.output).toMatch(/cannot be used: a file is in its place\.\n.*DATA_DIR=/)
})

/** Checks that pages of other hosts reach nothing, and that strangers create no account. */
async function expectClosed({ output }: RunningProcess): Promise<void> {
  const [, url = ''] = /running at (\S+)/.exec(output) ?? []
  const status = await new Promise((resolve, reject) => {
    const headers = { host: 'rebind.example' }
    request(url, { headers }, response => resolve(response.resume().statusCode))
      .on('error', reject)
      .end()
  })
  expect(status).toBe(421)
  const refused = await registerStranger(url)
  expect([refused.status, await refused.json()]).toMatchObject([403, { code: 'registration_closed' }])
}

function registerStranger(url: string): Promise<Response> {
  return fetch(`${url}/api/v1/auth/register`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ email: 'stranger@example.com', password: 'correct horse battery', name: 'Stranger' }),
  })
}

function apiKeyIn({ output }: RunningProcess): string | undefined {
  return /API key {3}(bf_\w+)/.exec(output)?.[1]
}

// The printed command schedules a call in five seconds, which only one test needs to wait for.
async function pasteFirstCommand({ output }: RunningProcess, aheadMs = 500): Promise<void> {
  const command = output.split('\n').find(line => line.startsWith('curl')) ?? ''
  const { stdout } = await promisify(execFile)('sh', ['-c', command.replace('+ 5000', `+ ${aheadMs}`)], {
    env: shellEnvironment(),
  })
  expect(JSON.parse(stdout)).toMatchObject({ state: 'pending' })
}

// Runs the printed settings, and then the command line with them.
async function useCommandLine({ output }: RunningProcess): Promise<unknown> {
  const settings = output.split('\n').filter(line => line.startsWith('export') || line.startsWith('alias'))
  const script = ['shopt -s expand_aliases', ...settings, 'belfry list tasks --json'].join('\n')
  const { stdout } = await promisify(execFile)('bash', ['-c', script], { env: shellEnvironment() })
  return stdout
    .trim()
    .split('\n')
    .map(line => JSON.parse(line))
}
