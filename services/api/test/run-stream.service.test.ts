import { fromId, newUuid, toId } from '@belfry/domain/id'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { signSessionToken } from '../src/auth/session-token.ts'
import { storeRuns } from './run-rows.ts'
import { type Caller, useApi } from './setup.ts'

const api = useApi()
const path = '/api/v1/scheduler/runs/stream'

type Stream = { status: number; until(part: string): Promise<string>; ended(): Promise<string>; leave(): void }

// Reads a stream until a text arrives, or to its end.
async function open(headers: Record<string, string>, at = path): Promise<Stream> {
  const leave = new AbortController()
  const response = await fetch(api.url + at, { headers, signal: leave.signal })
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader()
  let read = ''
  const next = async () => {
    const piece = await reader?.read()
    read += piece?.value ?? ''
    return piece?.done ?? true
  }
  return {
    status: response.status,
    async until(part) {
      while (!read.includes(part)) if (await next()) throw new Error(`It ended before ${part} came: ${read}`)
      return read
    },
    async ended() {
      while (!(await next()));
      return read
    },
    leave: () => leave.abort(),
  }
}

function workspaceOf(caller: Caller): string {
  return fromId('ws', caller.workspaceId) ?? ''
}

describe('the live tail', () => {
  it('shows a new run of its own workspace only', async () => {
    const [caller, other] = [await api.signUp(), await api.signUp()]
    const stream = await open({ 'X-Api-Key': caller.apiKey })
    expect(stream.status).toBe(200)
    await stream.until('retry:')
    const [foreign, own] = await storeRuns(api.db, [
      { workspaceId: workspaceOf(other), startedAt: new Date() },
      { workspaceId: workspaceOf(caller), startedAt: new Date() },
    ])
    const text = await stream.until(toId('run', own?.id ?? ''))
    expect(text).not.toContain(toId('run', foreign?.id ?? ''))
    expect(text).toMatch(/id: run_\w{26}\nevent: run\ndata: \{"id":"run_/)
    stream.leave()
  })

  it('shows a run that is recorded long after it was claimed', async () => {
    const caller = await api.signUp()
    const workspaceId = workspaceOf(caller)
    const claimedAt = new Date(Date.now() - 120_000)
    const runId = newUuid(claimedAt.getTime())
    await api.db.query(
      `INSERT INTO tasks (id, workspace_id, source, state, attempts, execute_at, due_at, run_id, lease_until)
       VALUES ($1, $2, 'task', 'processing', 1, now(), now(), $3, now() + interval '1 hour')`,
      [newUuid(), workspaceId, runId],
    )
    const stream = await open({ 'X-Api-Key': caller.apiKey })
    const [first] = await storeRuns(api.db, [{ workspaceId, startedAt: new Date() }])
    await stream.until(toId('run', first?.id ?? ''))
    await endCall(workspaceId, runId)
    await stream.until(`"id":"${toId('run', runId)}"`)
    stream.leave()
  })

  /** Stores attempts that have been in flight for some seconds, and returns the ids of their runs. */
  async function storeInFlight(workspaceId: string, count: number, secondsAgo: number): Promise<string[]> {
    const ids = Array.from({ length: count }, () => newUuid(Date.now() - secondsAgo * 1000))
    await api.db.query(
      `INSERT INTO tasks (id, workspace_id, source, state, attempts, execute_at, due_at, run_id, lease_until)
       SELECT uuid_v7(clock_timestamp()), $1, 'task', 'processing', 1, now(), now(), run_id, now() + interval '1 hour'
       FROM unnest($2::uuid[]) AS run_id`,
      [workspaceId, ids],
    )
    return ids
  }

  /** Ends an attempt that is in flight. */
  async function endCall(workspaceId: string, runId: string): Promise<void> {
    const taskId = newUuid()
    await storeRuns(api.db, [{ workspaceId, taskId }])
    await api.db.query('UPDATE runs SET id = $1 WHERE task_id = $2', [runId, taskId])
    await api.db.query(`UPDATE tasks SET state = 'success', lease_until = NULL WHERE run_id = $1`, [runId])
  }

  it('shows a long call that ends although thousands of newer ones are in flight', async () => {
    const caller = await api.signUp()
    const workspaceId = workspaceOf(caller)
    const [runId = ''] = await storeInFlight(workspaceId, 1, 120)
    await storeInFlight(workspaceId, 2_500, 60)
    await storeInFlight(workspaceId, 2_500, 0)
    const stream = await open({ 'X-Api-Key': caller.apiKey })
    const [first] = await storeRuns(api.db, [{ workspaceId, startedAt: new Date() }])
    await stream.until(toId('run', first?.id ?? ''))
    await endCall(workspaceId, runId)
    await stream.until(`"id":"${toId('run', runId)}"`)
    stream.leave()
  })

  it.each([250, 1_500])('reports how many of %i new runs in a second it omits', async count => {
    const caller = await api.signUp()
    const workspaceId = workspaceOf(caller)
    const stream = await open({ 'X-Api-Key': caller.apiKey })
    const [first] = await storeRuns(api.db, [{ workspaceId, startedAt: new Date() }])
    await stream.until(toId('run', first?.id ?? ''))
    await storeRuns(
      api.db,
      Array.from({ length: count }, () => ({ workspaceId, startedAt: new Date() })),
    )
    const text = await stream.until('event: omitted')
    await stream.until(`\ndata: {"count":${count - 200}}\n\n`)
    expect(text.match(/event: run/g)).toHaveLength(201)
    expect(text).toMatch(/id: run_\w{26}\nevent: omitted\n/)
    stream.leave()
  })

  it('reports how many runs since the last received event it omits', async () => {
    const caller = await api.signUp()
    const workspaceId = workspaceOf(caller)
    const at = (secondsAgo: number) => new Date(Date.now() - secondsAgo * 1000)
    const missed = Array.from({ length: 250 }, () => ({ workspaceId, startedAt: at(400) }))
    const [old] = await storeRuns(api.db, [{ workspaceId, startedAt: at(500) }, ...missed])
    const stream = await open({ 'X-Api-Key': caller.apiKey, 'Last-Event-ID': toId('run', old?.id ?? '') })
    await stream.until('event: omitted')
    await stream.until('data: {"count":50}')
    stream.leave()
  })

  it('resumes after the last received event', async () => {
    const caller = await api.signUp()
    const workspaceId = workspaceOf(caller)
    const at = (secondsAgo: number) => new Date(Date.now() - secondsAgo * 1000)
    const [old, missed] = await storeRuns(api.db, [
      { workspaceId, startedAt: at(500) },
      { workspaceId, startedAt: at(400) },
    ])
    const stream = await open({ 'X-Api-Key': caller.apiKey, 'Last-Event-ID': toId('run', old?.id ?? '') })
    const text = await stream.until(toId('run', missed?.id ?? ''))
    expect(text).not.toContain(`"id":"${toId('run', old?.id ?? '')}"`)
    stream.leave()
  })

  it('resumes with the oldest call in flight that ended meanwhile', async () => {
    const caller = await api.signUp()
    const workspaceId = workspaceOf(caller)
    const [runId = ''] = await storeInFlight(workspaceId, 1, 120)
    const stream = await open({ 'X-Api-Key': caller.apiKey })
    const [, place = ''] = /^id: (run_\w{26})$/m.exec(await stream.until('id: run_')) ?? []
    stream.leave()
    await endCall(workspaceId, runId)
    const resumed = await open({ 'X-Api-Key': caller.apiKey, 'Last-Event-ID': place })
    await resumed.until(`"id":"${toId('run', runId)}"`)
    resumed.leave()
  })

  it('resumes in a workspace without another listener, and misses no long call that ends at once', async () => {
    const [caller, other] = [await api.signUp(), await api.signUp()]
    const workspaceId = workspaceOf(caller)
    const at = (secondsAgo: number) => new Date(Date.now() - secondsAgo * 1000)
    const [old, missed] = await storeRuns(api.db, [
      { workspaceId, startedAt: at(500) },
      { workspaceId, startedAt: at(400) },
    ])
    const [runId = ''] = await storeInFlight(workspaceId, 1, 120)
    const followed = await open({ 'X-Api-Key': other.apiKey })
    const [news] = await storeRuns(api.db, [{ workspaceId: workspaceOf(other), startedAt: new Date() }])
    await followed.until(toId('run', news?.id ?? '')) // the next look is in a second
    const stream = await open({ 'X-Api-Key': caller.apiKey, 'Last-Event-ID': toId('run', old?.id ?? '') })
    await stream.until(toId('run', missed?.id ?? ''))
    await endCall(workspaceId, runId)
    await stream.until(`"id":"${toId('run', runId)}"`)
    for (const each of [followed, stream]) each.leave()
  })

  it('ends within five seconds of the revocation of its key', async () => {
    const caller = await api.signUp()
    const stream = await open({ 'X-Api-Key': caller.apiKey })
    await api.db.query('UPDATE api_keys SET revoked_at = now() WHERE workspace_id = $1', [workspaceOf(caller)])
    expect(await stream.ended()).toContain('retry:')
  })

  it('ends with the session, also over a whole organization', async () => {
    const caller = await api.signUp()
    const headers = { Authorization: `Bearer ${caller.token}` }
    const stream = await open(headers, `/api/v1/organizations/${caller.organizationId}/runs/stream`)
    const [run] = await storeRuns(api.db, [{ workspaceId: workspaceOf(caller), startedAt: new Date() }])
    await stream.until(toId('run', run?.id ?? ''))
    await api.ctx.prisma.session.deleteMany({ where: { user: { email: caller.email } } })
    await stream.ended()
  })

  it('stays open for a session, whose token would be renewed, and counts one request', async () => {
    const caller = await api.signUp()
    const { rows } = await api.db.query<{ id: string; userId: string }>(
      `SELECT s.id, s.user_id AS "userId" FROM sessions s JOIN users u ON u.id = s.user_id WHERE u.email = $1`,
      [caller.email],
    )
    const { id = '', userId = '' } = rows[0] ?? {}
    const twoDaysAgo = Date.now() - 2 * 24 * 3_600_000
    const token = signSessionToken(api.ctx.config.jwtKeys[0], userId, id, twoDaysAgo)
    const headers = { Authorization: `Bearer ${token}`, 'X-Workspace-Id': caller.workspaceId }
    const streams = [
      await open(headers),
      await open(headers, `/api/v1/organizations/${caller.organizationId}/runs/stream`),
    ]
    await new Promise(resolve => setTimeout(resolve, 5_000)) // two checks
    const [run] = await storeRuns(api.db, [{ workspaceId: workspaceOf(caller), startedAt: new Date() }])
    for (const stream of streams) {
      await stream.until(toId('run', run?.id ?? ''))
      stream.leave()
    }
  })

  it.each(['suspended', 'deleted'])('ends when the workspace is %s', async ended => {
    const caller = await api.signUp()
    const stream = await open({ 'X-Api-Key': caller.apiKey })
    await api.db.query(`UPDATE workspaces SET ${ended}_at = now() WHERE id = $1`, [workspaceOf(caller)])
    expect(await stream.ended()).toContain('retry:')
  })

  it('refuses the sixth stream of a key, and other keys still open theirs', async () => {
    const [caller, other] = [await api.signUp(), await api.signUp()]
    const headers = { 'X-Api-Key': caller.apiKey }
    const streams: Stream[] = []
    for (let i = 0; i < 5; i++) streams.push(await open(headers))
    const refused = await api.send('GET', path, undefined, headers)
    expect([refused.status, refused.body.code, refused.headers.get('retry-after')]).toEqual([429, 'rate_limited', '5'])
    const another = await open({ 'X-Api-Key': other.apiKey })
    expect(another.status).toBe(200)
    streams[0]?.leave()
    await expect.poll(() => api.ctx.runStreams.size).toBe(5)
    const again = await open(headers)
    expect(again.status).toBe(200)
    for (const stream of [...streams, another, again]) stream.leave()
  })

  it('gives no place to a caller that leaves while its key is checked', async () => {
    const caller = await api.signUp()
    const served = vi.spyOn(api.ctx.metrics, 'served')
    onTestFinished(() => served.mockRestore())
    const holder = await api.db.connect()
    onTestFinished(() => holder.release(true)) // unlocks in any case
    await holder.query('BEGIN; LOCK TABLE api_keys IN ACCESS EXCLUSIVE MODE')
    const leave = new AbortController()
    const left = fetch(api.url + path, { headers: { 'X-Api-Key': caller.apiKey }, signal: leave.signal }).catch(String)
    const isWaiting = async () => {
      const { rows } = await holder.query(
        `SELECT FROM pg_locks WHERE NOT granted AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`,
      )
      return rows.length > 0
    }
    await expect.poll(isWaiting).toBe(true)
    leave.abort()
    expect(await left).toContain('AbortError')
    await expect.poll(() => served.mock.calls.some(([{ status, isStream }]) => status === 499 && !isStream)).toBe(true)
    await holder.query('COMMIT')
    // The use of the key is recorded once the request continues.
    const isUsed = async () => {
      const { rows } = await api.db.query('SELECT FROM api_keys WHERE workspace_id = $1 AND last_used_at IS NOT NULL', [
        workspaceOf(caller),
      ])
      return rows.length > 0
    }
    await expect.poll(isUsed).toBe(true)
    const organizationId = fromId('org', caller.organizationId)
    expect([...api.ctx.runStreams].filter(stream => stream.organizationId === organizationId)).toEqual([])
  })

  it('refuses the twenty-first stream of an organization', async () => {
    const caller = await api.signUp()
    await expect.poll(() => api.ctx.runStreams.size).toBe(0)
    const organizationId = fromId('org', caller.organizationId) ?? ''
    const held = Array.from({ length: 20 }, (_, i) => ({
      credential: `key ${i}`,
      organizationId,
      end: new AbortController(),
    }))
    for (const stream of held) api.ctx.runStreams.add(stream)
    const refused = await api.send('GET', path, undefined, { 'X-Api-Key': caller.apiKey })
    expect([refused.status, refused.body.code]).toEqual([429, 'rate_limited'])
    for (const stream of held) api.ctx.runStreams.delete(stream)
  })

  it('ends when the process is to stop', async () => {
    const caller = await api.signUp()
    const stream = await open({ 'X-Api-Key': caller.apiKey })
    await stream.until('retry:')
    for (const each of api.ctx.runStreams) each.end.abort()
    await stream.ended()
  })
})
