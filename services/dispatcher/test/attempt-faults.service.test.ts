import { randomBytes } from 'node:crypto'
import { putSecret } from '@belfry/db/secrets/secrets'
import { fromId } from '@belfry/domain/id'
import { type Receiver, startReceiver } from '@belfry/test-support'
import { parseMasterKeys } from '@belfry/vault'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { aWorkspace, type IntakeTest, setupIntake } from './intake/setup-intake.ts'

const encryptionKeys = `k1:${randomBytes(32).toString('base64')}`
const masterKeys = parseMasterKeys(encryptionKeys)

type Stored = { id: string; state: string; attempts: number }
type StoredRun = { errorCode: string | null; errorMessage: string | null; status: string; body: Buffer | null }

let test: IntakeTest
let target: Receiver
beforeAll(async () => {
  test = await setupIntake('postgres', 0)
  await test.start({ ENCRYPTION_KEYS: encryptionKeys })
})
afterAll(() => test?.close())
beforeEach(async () => {
  target = await startReceiver()
})
afterEach(() => target?.close())

/** Stores a task that is due at once, and returns its id. */
async function storeTask(workspace: string, headers: unknown, more: { path?: string; maxRetries?: number } = {}) {
  const { path = '/', maxRetries = 0 } = more
  const [task] = await test.store({ count: 1, workspace, url: target.url(path), dueInMs: 300 })
  const id = fromId('task', task?.id ?? '') ?? ''
  const text = 'UPDATE task_requests SET headers = $2, max_retries = $3 WHERE task_id = $1'
  await test.pool.query(text, [id, JSON.stringify(headers), maxRetries])
  if (task) await test.schedule([task])
  return id
}

async function runOf(id: string): Promise<StoredRun | undefined> {
  const text = `
    SELECT error_code AS "errorCode", error_message AS "errorMessage", status, response_body AS body
    FROM runs WHERE task_id = $1 ORDER BY attempt`
  return (await test.pool.query<StoredRun>(text, [id])).rows[0]
}

/** Waits for the first run of a task; returns it, and the task. */
async function firstRun(
  id: string,
  timeout = 5_000,
): Promise<{ task: Stored | undefined; run: StoredRun | undefined }> {
  await expect.poll(() => runOf(id), { timeout }).toBeDefined()
  const { rows } = await test.pool.query<Stored>('SELECT id, state, attempts FROM tasks WHERE id = $1', [id])
  return { task: rows[0], run: await runOf(id) }
}

const put = (workspace: string, name: string) =>
  putSecret(test.pool, masterKeys, workspace, { name: name, value: `value of ${name}` }, 100)
const using = (name: string) => ({ 'X-Secret': `{{ secrets.${name} }}` })

describe('a secret', () => {
  it('that was stored before its task is found, even just after the others were cached', async () => {
    const workspace = aWorkspace()
    await test.store({ count: 0, workspace, url: target.url('/'), dueInMs: 0 })
    await put(workspace, 'FIRST')
    expect((await firstRun(await storeTask(workspace, using('FIRST')))).task?.state).toBe('success')
    await put(workspace, 'SECOND')
    expect((await firstRun(await storeTask(workspace, using('SECOND')))).task?.state).toBe('success')
    expect((await firstRun(await storeTask(workspace, using('NONE')))).run?.errorCode).toBe('secret_missing')
  })

  it('that cannot be decrypted fails its attempt at once, and no other of its workspace', async () => {
    const [workspace, other] = [aWorkspace(), aWorkspace()]
    for (const each of [workspace, other]) {
      await test.store({ count: 0, workspace: each, url: target.url('/'), dueInMs: 0 })
      for (const name of ['GOOD', 'BAD']) await put(each, name)
    }
    await test.pool.query(
      `UPDATE secrets SET sealed_value = (SELECT sealed_value FROM secrets WHERE workspace_id = $1 AND name = 'BAD')
       WHERE workspace_id = $2 AND name = 'BAD'`,
      [other, workspace],
    )
    const [only, first] = [storeTask(workspace, using('BAD')), storeTask(workspace, using('BAD'), { maxRetries: 5 })]
    const { task, run } = await firstRun(await only)
    expect([task?.state, task?.attempts, run?.errorCode]).toEqual(['dead', 1, 'secret_unreadable'])
    expect(run?.errorMessage).toContain('{{ secrets.BAD }}')
    expect((await firstRun(await first)).task?.state).toBe('retrying')
    expect(target.requests).toEqual([])
    expect((await firstRun(await storeTask(workspace, using('GOOD')))).task?.state).toBe('success')
    await put(workspace, 'BAD')
    expect((await firstRun(await storeTask(workspace, using('BAD')))).task?.state).toBe('success')
  })

  it('that signs and cannot be decrypted fails the attempt at once', async () => {
    const [workspace, other] = [aWorkspace(), aWorkspace()]
    await firstRun(await storeTask(other, {}))
    await test.store({ count: 0, workspace, url: target.url('/'), dueInMs: 0 })
    await put(workspace, 'ANY') // makes the workspace's data key
    await test.pool.query(
      `INSERT INTO signing_secrets (id, workspace_id, sealed_value, key_version)
       SELECT gen_random_uuid(), $1, sealed_value, key_version FROM signing_secrets WHERE workspace_id = $2`,
      [workspace, other],
    )
    const { task, run } = await firstRun(await storeTask(workspace, {}))
    expect([task?.state, task?.attempts, run?.errorCode]).toEqual(['dead', 1, 'secret_unreadable'])
    expect(target.requests).toHaveLength(1)
  })
})

describe('a fault of the dispatcher', () => {
  it('before the request is sent fails the attempt at once, and is retried', async () => {
    const workspace = aWorkspace()
    const [last, first] = [await storeTask(workspace, null), await storeTask(workspace, null, { maxRetries: 5 })]
    const { task, run } = await firstRun(last)
    expect([task?.state, task?.attempts, run?.errorCode]).toEqual(['dead', 1, 'internal_error'])
    expect((await firstRun(first)).task?.state).toBe('retrying')
    expect(target.requests).toEqual([])
  })
})

describe('a record that PostgreSQL refuses', () => {
  it('is stored without what the target sent', async () => {
    const check = `CHECK (response_headers::text NOT LIKE '%x-refused%')`
    await test.pool.query(`ALTER TABLE runs ADD CONSTRAINT no_x_refused ${check}`)
    onTestFinished(async () => void (await test.pool.query('ALTER TABLE runs DROP CONSTRAINT no_x_refused')))
    target.answer('/refused', { headers: { 'x-refused': 'yes' }, body: 'a body' })
    const workspace = aWorkspace()
    const [refused, beside] = [storeTask(workspace, {}, { path: '/refused' }), storeTask(workspace, {})]
    const { task, run } = await firstRun(await refused)
    expect([task?.state, run?.status, run?.body?.length ?? 0]).toEqual(['success', 'success', 0])
    expect((await firstRun(await beside)).run?.body?.toString()).toBe('{"ok":true}')
    expect(target.requests).toHaveLength(2)
  })

  it('is stored without its callbacks when these are what PostgreSQL refuses', async () => {
    const workspace = aWorkspace()
    const id = await storeTask(workspace, {})
    const callbacks = '{"on_attempt":{"url":"https://example.com/","headers":{},"retry":{"max_retries":99999}}}'
    await test.pool.query('UPDATE task_requests SET callbacks = $2 WHERE task_id = $1', [id, callbacks])
    await test.pool.query('UPDATE tasks SET has_callbacks = true WHERE id = $1', [id])
    const { task, run } = await firstRun(id)
    expect([task?.state, run?.status]).toEqual(['success', 'success'])
    expect(target.requests).toHaveLength(1)
  })

  it('is retried in that form until it is accepted', async () => {
    const workspace = aWorkspace()
    await test.pool.query(`ALTER TABLE runs ADD CONSTRAINT refused CHECK (workspace_id <> '${workspace}')`)
    const id = await storeTask(workspace, {})
    await target.waitFor(1)
    await new Promise(resolve => setTimeout(resolve, 500))
    await test.pool.query('ALTER TABLE runs DROP CONSTRAINT refused')
    expect((await firstRun(id)).task?.state).toBe('success')
    expect(target.requests).toHaveLength(1)
  })
})
