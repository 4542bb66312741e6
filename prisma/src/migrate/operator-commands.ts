import { setTimeout as sleep } from 'node:timers/promises'
import { fromId, toId } from '@belfry/domain/id'
import { readInstant } from '@belfry/domain/instant'
import type pg from 'pg'
import { withClient } from '../postgres/with-client.ts'
import { countWrappedKeys, findMasterKeyProblem, rewrapDataKeys } from '../secrets/data-keys.ts'
import { readLogins, readMasterKeys } from './config.ts'
import { holdOverdueTasks, releaseHeldTasks } from './held-tasks.ts'
import { findMigrationFolder } from './migration-folder.ts'
import { readMigrationHistory } from './read-history.ts'
import { serviceRoles } from './service-rights.ts'
import { setUpRoles } from './set-up-roles.ts'

type Print = (line: string) => void

/** Which held tasks to release: of one workspace, and how many a second. Null: all. */
export type Release = { workspaceId: string | null; rate: number | null }

/** Holds overdue tasks after a restore. `untilText` is an ISO 8601 time; see `holdOverdueTasks`. */
export async function holdOverdue(databaseUrl: string, print: Print, untilText?: string): Promise<void> {
  const until = untilText === undefined ? null : parseTime(untilText)
  return withClient({ connectionString: databaseUrl }, async client => {
    const { pending } = await readMigrationHistory(client, findMigrationFolder())
    if (pending.length > 0) throw new Error(`${pending.length} migrations are not applied: run deploy first.`)
    const { tasks, cronJobs, operations } = await inOneTransaction(client, () => holdOverdueTasks(client, until))
    for (const id of cronJobs) {
      print(`cron job ${toId('cron', id)} is held as a whole, because this version cannot read its rule`)
    }
    if (operations > 0) print(`${operations} operations on many tasks or dead letters held`)
    print(`${tasks} tasks held`)
  })
}

/**
 * Releases the held tasks: all at once, or with `--rate N` N tasks a second, or with `--workspace ws_...` only the
 * tasks of one workspace. Released tasks stay released when the command is stopped, and the next run continues.
 */
export async function releaseHeld(databaseUrl: string, print: Print, { workspaceId, rate }: Release): Promise<void> {
  return withClient({ connectionString: databaseUrl }, async client => {
    let total = 0
    for (;;) {
      const count = await inOneTransaction(client, () => releaseHeldTasks(client, workspaceId, rate))
      total += count
      if (rate === null || count < rate) break
      print(`${total} so far`)
      await sleep(1_000)
    }
    print(`${total} tasks released`)
  })
}

/** Creates the database roles of the services, grants each what it needs, and sets their passwords. */
export async function grantServiceRoles(databaseUrl: string, print: Print): Promise<void> {
  for (const advice of await setUpRoles(databaseUrl, readLogins(databaseUrl), { onBlocked: print })) print(advice)
  print(`granted ${Object.values(serviceRoles).join(', ')}`)
}

export async function rewrapKeys(databaseUrl: string, print: Print): Promise<void> {
  return withClient({ connectionString: databaseUrl }, async client => {
    const count = await rewrapDataKeys(client, readMasterKeys(), total => print(`${total} so far`))
    print(`${count} data keys rewrapped`)
  })
}

/** Prints the use of each master key. Returns whether an older one is in use. */
export async function checkKeys(databaseUrl: string, print: Print): Promise<boolean> {
  return withClient({ connectionString: databaseUrl }, async client => {
    const masterKeys = readMasterKeys()
    const problem = await findMasterKeyProblem(client, masterKeys)
    if (problem !== null) throw new Error(problem)
    const counts = await countWrappedKeys(client)
    const older = [...masterKeys.all.keys()].filter(id => id !== masterKeys.current.id)
    print(`${masterKeys.current.id} is the current key and wraps ${counts.get(masterKeys.current.id) ?? 0} data keys`)
    for (const id of older) {
      const count = counts.get(id)
      print(`${id} ${count ? `still wraps ${count} data keys: run rewrap-keys` : 'wraps nothing and may be removed'}`)
    }
    return older.some(id => counts.has(id))
  })
}

export function parseRelease(values: { workspace?: string | undefined; rate?: string | undefined }): Release {
  const workspaceId = values.workspace === undefined ? null : fromId('ws', values.workspace)
  if (values.workspace !== undefined && workspaceId === null)
    throw new Error('--workspace takes the id of a workspace, such as ws_01jdc8z6wqf8vv5x2m9k3n7p4r.')
  const rate = values.rate === undefined ? null : Number(values.rate)
  if (rate !== null && !(Number.isInteger(rate) && rate >= 1 && rate <= 10_000))
    throw new Error('--rate takes the number of tasks a second, 1 to 10000.')
  return { workspaceId, rate }
}

function parseTime(text: string): Date {
  const read = readInstant(text)
  if ('value' in read) return read.value
  throw new Error(`--until takes a time: it must ${read.must}.`)
}

async function inOneTransaction<T>(client: pg.Client, change: () => Promise<T>): Promise<T> {
  await client.query('BEGIN')
  const result = await change() // a rejection ends the connection and thereby rolls back
  await client.query('COMMIT')
  return result
}
