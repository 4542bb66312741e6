import { createServer, type Server } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { fromId } from '@belfry/domain/id'
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import { healthSignalOf } from '../src/scheduling/circuit-breaker.ts'
import { aWorkspace, type IntakeTest, setupIntake } from './intake/setup-intake.ts'

const count = 500
const apartMs = 4

let test: IntakeTest
let target: Server
const received: string[] = []

beforeAll(async () => {
  test = await setupIntake('postgres', 0)
  await test.start()
})
afterEach(() => {
  received.length = 0
  target?.close()
  target?.closeAllConnections()
})
afterAll(() => test?.close())

// Each answer announces that the connection stays open, and the target closes it 1 ms later.
async function startTarget(close: (socket: Socket) => void): Promise<string> {
  target = createServer({ keepAliveTimeout: 60_000 }, (request, response) => {
    received.push(`${request.headers['webhook-id']} ${request.headers['x-belfry-attempt']}`)
    request.resume()
    response.end('ok', () => setTimeout(() => close(request.socket), 1))
  })
  await new Promise<void>(resolve => target.listen(0, '127.0.0.1', resolve))
  return `http://127.0.0.1:${(target.address() as AddressInfo).port}/`
}

it.each([
  ['resets', (socket: Socket) => socket.resetAndDestroy()],
  ['ends', (socket: Socket) => socket.end()],
] as const)(
  'a target that %s each connection after its response costs no task its only attempt',
  async (_, close) => {
    const workspace = aWorkspace()
    const stored = await test.store({ count, workspace, url: await startTarget(close), dueInMs: 2_000 })
    const tasks = stored.map((task, index) => ({ ...task, dueAt: task.dueAt + index * apartMs }))
    await test.pool.query(
      `UPDATE tasks t SET execute_at = at, due_at = at
     FROM unnest($1::uuid[], $2::float8[]) AS i (id, ms), LATERAL (SELECT to_timestamp(ms / 1000) AS at) a WHERE t.id = i.id`,
      [tasks.map(({ id }) => fromId('task', id)), tasks.map(({ dueAt }) => dueAt)],
    )
    await test.schedule(tasks)
    const ended = async () => {
      const text = `SELECT state, count(*)::int FROM tasks WHERE workspace_id = $1 AND finished_at IS NOT NULL GROUP BY 1`
      const { rows } = await test.pool.query<{ state: string; count: number }>(text, [workspace])
      return Object.fromEntries(rows.map(row => [row.state, row.count]))
    }
    const total = async () => Object.values(await ended()).reduce((sum, part) => sum + part, 0)
    await expect.poll(total, { timeout: 20_000 }).toBe(count)
    expect(await ended()).toEqual({ success: count })
    expect(new Set(received).size).toBe(received.length) // no attempt number reached the target twice
    const { rows } = await test.pool.query<{ total: number }>(
      `SELECT count(*)::int AS total FROM runs WHERE workspace_id = $1 AND error_code = 'stale_connection'`,
      [workspace],
    )
    expect(rows[0]?.total).toBeLessThan(count / 50)
  },
  60_000,
)

it('shows nothing about the health of a host', () => {
  expect(healthSignalOf({ kind: 'failure', code: 'stale_connection' })).toBeNull()
})
