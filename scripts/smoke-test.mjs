// Starts Belfry, delivers a task with the command line, stops it in an orderly way, and starts it again on its data. For the
// platforms on which `npm test` cannot run: `node scripts/smoke-test.mjs` needs only Node.
import { execFileSync, fork } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { bootstrap } from './bootstrap.mjs'

const root = resolve(fileURLToPath(import.meta.url), '../..')
const cli = join(root, 'programs/cli/dist/main.mjs')
const dataDir = join(mkdtempSync(join(tmpdir(), 'belfry smoke-')), 'data')
const beganAt = performance.now()

bootstrap()
const first = await start()
const env = { ...process.env, BELFRY_API_KEY: first.key, BELFRY_URL: first.url }
const belfry = (...args) => execFileSync(process.execPath, [cli, ...args], { env, encoding: 'utf8' })
belfry('schedule', `${first.receiver}/smoke`, '--in', '1s', '--data', '{"hello":"world"}')
await until(() => belfry('--json', 'list').includes('"success"'), 'the task has succeeded')
report('delivered a task')
await stop(first)
const second = await start()
if (second.key !== first.key) throw new Error('The second start has another account.')
await stop(second)
rmSync(resolve(dataDir, '..'), { recursive: true })
report('kept its data over a restart')

// In a process with a channel, because Windows cannot send Ctrl-C to another process.
async function start() {
  const settings = { ...process.env, DATA_DIR: dataDir, PORT: '0' }
  const child = fork(join(root, 'scripts/start.mjs'), { env: settings, stdio: ['ignore', 'pipe', 'pipe', 'ipc'] })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', text => (output += text))
  child.on('exit', () => (child.hasEnded = true))
  await until(() => output.includes('Ctrl-C stops everything') || child.hasEnded, 'Belfry is ready', 180_000)
  if (child.hasEnded) throw new Error(`Belfry ended:\n${output}`)
  report('started')
  const find = pattern => pattern.exec(output)?.[1] ?? ''
  return {
    child,
    url: find(/running at (\S+)/),
    key: find(/API key +(\S+)/),
    receiver: find(/Receiver +(\S+)/),
  }
}

async function stop({ child }) {
  child.send('stop')
  await until(() => child.hasEnded, 'Belfry has stopped')
  if (child.exitCode !== 0) throw new Error(`Belfry ended with ${child.exitCode ?? child.signalCode}.`)
  report('stopped')
}

async function until(condition, title, timeoutMs = 60_000) {
  const giveUpAt = performance.now() + timeoutMs
  while (!condition()) {
    if (performance.now() > giveUpAt) throw new Error(`Not within ${timeoutMs / 1000} s: ${title}.`)
    await sleep(250)
  }
}

function report(what) {
  console.log(`${((performance.now() - beganAt) / 1000).toFixed(1)} s: ${what}`)
}
