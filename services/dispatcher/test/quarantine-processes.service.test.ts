import { appendFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createLogger } from '@belfry/runtime'
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import type { Context } from '../src/context.ts'
import type { BufferedTask } from '../src/intake/task-buffer.ts'
import { superviseQuarantine } from '../src/quarantine/supervise-quarantine.ts'
import { createHostQueues } from '../src/scheduling/host-queues.ts'
import { aWorkspace, type IntakeTest, setupIntake } from './intake/setup-intake.ts'

const folder = mkdtempSync(join(tmpdir(), 'belfry-quarantine-'))
const started = join(folder, 'started')
const program = join(folder, 'program.mjs')
const granted = join(folder, 'granted')
const refused = join(folder, 'refused')
const askingProgram = join(folder, 'asking-program.mjs')

let test: IntakeTest
beforeAll(async () => {
  test = await setupIntake('postgres', 0)
  appendFileSync(started, '')
  // Stands in for a quarantine process whose attempt takes long.
  writeFileSync(
    program,
    `import { appendFileSync } from 'node:fs'
     appendFileSync(${JSON.stringify(started)}, process.pid + '\\n')
     setInterval(() => {}, 1_000)`,
  )
  // Asks for a permit, and holds it.
  for (const answers of [granted, refused]) appendFileSync(answers, '')
  writeFileSync(
    askingProgram,
    `import { appendFileSync } from 'node:fs'
     process.on('message', ({ isGranted }) =>
       appendFileSync(isGranted ? ${JSON.stringify(granted)} : ${JSON.stringify(refused)}, process.pid + '\\n'))
     process.send({ ask: 1, task: { id: String(process.pid), workspaceId: 'w', origin: 'http://127.0.0.1:1' } })
     setInterval(() => {}, 1_000)`,
  )
})
afterAll(async () => {
  await test?.close()
  rmSync(folder, { recursive: true, force: true })
})

beforeEach(async () => {
  await test.store({ count: 10, workspace: aWorkspace(), url: 'http://127.0.0.1:1/', dueInMs: 0 })
  await test.pool.query(`UPDATE tasks SET state = 'retrying', quarantined = true`)
})

it('has at most four processes, and replaces a process that died', async () => {
  const stop = new AbortController()
  const ctx = { pool: test.pool, log: createLogger('dispatcher', 'silent'), stop: stop.signal } as Context
  const quarantine = superviseQuarantine(ctx, program)
  const pids = () => readFileSync(started, 'utf8').trim().split('\n').map(Number)
  const alive = () => pids().filter(pid => isAlive(pid))
  try {
    await expect.poll(() => pids().length, { timeout: 20_000 }).toBe(4)
    process.kill(pids()[0] ?? 0, 'SIGKILL')
    await expect.poll(() => pids().length, { timeout: 20_000 }).toBe(5)
    expect(alive()).toEqual(pids().slice(1))
  } finally {
    stop.abort()
    await quarantine.close()
  }
  expect(alive()).toEqual([])
})

const openQueues = () => createHostQueues<BufferedTask>({ slots: 10, permitsPerHost: 1, now: () => performance.now() })

const contextOf = (stop: AbortController, hostQueues: ReturnType<typeof openQueues>) =>
  ({
    ...{
      pool: test.pool,
      log: createLogger('dispatcher', 'silent'),
      stop: stop.signal,
      hostQueues,
      retryAfterMaxMs: 0,
    },
    ...{ fence: { holds: () => true }, dispatcher: { session: '' }, attempts: { hasCapacity: () => true } },
    tenants: { load: async () => {}, find: () => null },
  }) as unknown as Context

const pidsIn = (file: string) => readFileSync(file, 'utf8').trim().split('\n').filter(Boolean).map(Number)

it('grants its processes the permits of the host, one after another, and releases those of a process that died', async () => {
  const [stop, hostQueues] = [new AbortController(), openQueues()]
  const quarantine = superviseQuarantine(contextOf(stop, hostQueues), askingProgram)
  try {
    for (const count of [1, 2, 3]) {
      await expect.poll(() => pidsIn(granted).length, { timeout: 20_000 }).toBe(count)
      expect(hostQueues.slotsTaken).toBe(1)
      process.kill(pidsIn(granted).at(-1) ?? 0, 'SIGKILL')
    }
    expect(new Set(pidsIn(granted)).size).toBe(3)
  } finally {
    stop.abort()
    await quarantine.close()
  }
  expect(hostQueues.slotsTaken).toBe(0)
  expect(hostQueues.take(() => true)).toEqual([])
})

it('answers its processes at once that a host is paused', async () => {
  const [stop, hostQueues] = [new AbortController(), openQueues()]
  hostQueues.setPaused([{ workspace: 'w', host: '127.0.0.1:1' }])
  const quarantine = superviseQuarantine(contextOf(stop, hostQueues), askingProgram)
  try {
    await expect.poll(() => pidsIn(refused).length, { timeout: 20_000 }).toBe(4)
  } finally {
    stop.abort()
    await quarantine.close()
  }
  expect(hostQueues.take(() => true)).toEqual([])
})

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}
