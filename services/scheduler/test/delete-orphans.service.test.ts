import { newUuid, toId } from '@belfry/domain/id'
import { checksumOf } from '@belfry/object-storage'
import { findObjectStore } from '@belfry/test-support'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Context } from '../src/context.ts'
import { deleteOrphans } from '../src/delete-orphans.ts'
import { purgeDeleted } from '../src/purge-deleted.ts'
import { openTestContext, storeWorkspace } from './setup.ts'
import { useLogObjects } from './use-log-objects.ts'

const never = new AbortController().signal
const dayMs = 86_400_000

// `.ci/install` builds the S3 server with Go.
describe.skipIf(findObjectStore() === null)('objects of the log without a part', () => {
  const log = useLogObjects()
  let ctx: Context
  let workspaceId: string

  beforeEach(async () => {
    ctx = { ...(await openTestContext()), logStorage: { objects: log.objects, hotDays: 2 } }
    workspaceId = await storeWorkspace(ctx)
    for (const key of await log.objects.list('', null)) await log.objects.remove(key)
  })
  afterEach(() => ctx.close())

  it('stay while the tier keeps the runs of their day, and under legal hold', async () => {
    const kept = await put(ctx.tiers.free.logDays)
    await put(ctx.tiers.free.logDays + 1)
    const { rows } = await ctx.pool.query<{ id: string }>('SELECT id FROM organizations')
    expect(await deleteOrphans({ ...ctx, legalHold: rows.map(({ id }) => id) }, never)).toBe(0)
    expect(await deleteOrphans(ctx, never)).toBe(1)
    expect(await log.objects.list('', null)).toEqual([kept])
  })

  it('are not those of parts, nor objects that Belfry has not written', async () => {
    const key = await put(400)
    const partId = key.split('/').at(-1)?.replace('.jsonl.gz', '')
    const text = `
      INSERT INTO log_parts (id, workspace_id, day, part, state, object_key, first_run_id, last_run_id, first_task_id,
                             last_task_id, succeeded, failed, object_bytes, checksum)
      VALUES ($1, $2, now(), 1, 'stored', $3, $1, $1, $1, $1, 1, 0, 1, '')`
    await ctx.pool.query(text, [partId, workspaceId, key])
    await write(`${toId('ws', workspaceId)}/notes.txt`)
    await write('2020-01-01.jsonl.gz')
    expect(await deleteOrphans(ctx, never)).toBe(0)
  })

  it('go with their workspace, before its row', async () => {
    await put(1)
    const other = await put(1, newUuid())
    await ctx.pool.query('UPDATE workspaces SET deleted_at = now(), wound_down_at = now()')
    await purgeDeleted(ctx, never)
    expect(await log.objects.list('', null)).toEqual([other])
  })

  it('of an unknown workspace go after the longest time of all tiers', async () => {
    const maxDays = Math.max(...Object.values(ctx.tiers).map(({ logDays }) => logDays))
    await put(maxDays, newUuid())
    expect(await deleteOrphans(ctx, never)).toBe(0)
    await put(maxDays + 1, newUuid())
    expect(await deleteOrphans(ctx, never)).toBe(1)
  })

  async function put(daysAgo: number, workspace = workspaceId): Promise<string> {
    const day = new Date(Date.now() - daysAgo * dayMs).toISOString().slice(0, 10)
    return write(`${toId('ws', workspace)}/${day}/${newUuid()}.jsonl.gz`)
  }

  async function write(key: string): Promise<string> {
    const bytes = Buffer.from('a line')
    await log.objects.write(key, bytes, checksumOf(bytes))
    return key
  }
})
