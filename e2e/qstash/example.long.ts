import { join } from 'node:path'
import { freePort } from '@belfry/embedded'
import { type RunningProcess, startProcess } from '@belfry/test-support/servers'
import { waitFor } from '@belfry/test-support/wait-for'
import { build } from 'esbuild'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { repositoryRoot } from '../repository-root.ts'
import { useStage } from './stage.ts'

const stage = useStage()
let app: RunningProcess
let url = ''

beforeAll(async () => {
  const port = await freePort()
  url = `http://127.0.0.1:${port}`
  const { current, next } = await stage.keys()
  const env = {
    ...process.env,
    PORT: String(port),
    APP_URL: url,
    QSTASH_URL: stage.belfry.url,
    QSTASH_TOKEN: String(stage.belfry.caller.apiKey),
    QSTASH_CURRENT_SIGNING_KEY: current,
    QSTASH_NEXT_SIGNING_KEY: next,
  }
  const examples = join(repositoryRoot(), 'examples')
  const program = join(examples, 'dist/qstash.mjs')
  await build({ entryPoints: [join(examples, 'qstash.ts')], outfile: program, format: 'esm' })
  app = startProcess([process.execPath, program], { env })
  await waitFor(() => fetch(url).catch(() => null), Boolean)
})
afterAll(() => app.stop())

it('the example receives its own message, and refuses a forged one', async () => {
  const { status } = await fetch(`${url}/orders/42`, { method: 'POST' })
  expect([status, app.output]).toEqual([202, ''])
  const due = `UPDATE tasks SET due_at = now() - interval '1 ms', execute_at = now() - interval '1 ms' FROM task_requests
    WHERE task_id = id AND url LIKE $1 AND state = 'pending'`
  await stage.belfry.execute(due, [`${url}/%`])
  await app.prints('/confirm {"order":"42"}', 20_000)
  const forged = await fetch(`${url}/confirm`, {
    method: 'POST',
    body: '{}',
    headers: { 'upstash-signature': 'a.b.c' },
  })
  expect(forged.status).toBe(401)
}, 40_000)
