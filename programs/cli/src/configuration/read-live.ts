import type { Belfry } from '@belfry/client'
import { type Fields, type Kind, kinds } from './kinds.ts'
import type { Live } from './plan.ts'

type Page = { data: Fields[]; next_cursor: string | null }

/** Reads the objects of some kinds in the workspace. Cron jobs that have ended are included. */
export async function readLive(belfry: Belfry, wanted: readonly Kind[], signal: AbortSignal): Promise<Live[]> {
  const found = await Promise.all(
    wanted.map(async kind => (await readAll(belfry, kinds[kind].path, signal)).map(fields => toLive(kind, fields))),
  )
  return found.flat()
}

/** The objects of a workspace that a file only names, because their values are secret. */
export type Named = { secrets: string[]; connections: string[] }

export async function readNames(belfry: Belfry, what: keyof Named, signal: AbortSignal): Promise<string[]> {
  return (await readAll(belfry, `/api/v1/workspaces/current/${what}`, signal)).map(({ name }) => String(name))
}

async function readAll(belfry: Belfry, path: string, signal: AbortSignal): Promise<Fields[]> {
  const all: Fields[] = []
  let cursor: string | null = null
  do {
    // The list of integrations is a single page, without the parameter `limit`.
    const query: Fields = path.endsWith('/integrations') ? {} : { limit: 100, ...(cursor ? { cursor } : {}) }
    const page: Page = await belfry.request<Page>('GET', path, { query, signal })
    all.push(...page.data)
    cursor = page.next_cursor
  } while (cursor !== null)
  return all
}

/** Returns an object of the workspace as the API shows it. */
export function toLive(kind: Kind, fields: Fields): Live {
  const id = String(kind === 'queue' ? fields.name : fields.id)
  const key = kind === 'queue' ? id : ((fields.key as string | null | undefined) ?? null)
  return { kind, id, key, fields, isPaused: fields.status === 'paused' }
}
