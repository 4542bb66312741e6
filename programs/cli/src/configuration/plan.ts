import { defaultContentType } from '@belfry/contract/raw-body'
import { canonical } from '../canonical.ts'
import { type Fields, type Kind, kinds } from './kinds.ts'
import type { Configuration, Declared } from './read-configuration.ts'

export type Live = {
  kind: Kind
  id: string
  key: string | null
  /** As the HTTP API shows it. */
  fields: Fields
  isPaused: boolean
}

/** A field that changes. `before` and `after` are as the HTTP API shows them. */
export type Difference = { field: string; before: unknown; after: unknown }

export type Change =
  | { action: 'create'; declared: Declared }
  /** `isAdopted`: it belonged to no configuration before. */
  | { action: 'update'; declared: Declared; live: Live; differences: Difference[]; isAdopted: boolean }
  /** Deleted and created again, because the API cannot change it so. */
  | { action: 'replace'; declared: Declared; live: Live; differences: Difference[] }
  | { action: 'delete'; live: Live }

export type Plan = {
  changes: Change[]
  unchanged: number
  /** Objects of the project that the file does not have, and that stay. */
  left: Live[]
  /** Objects that look like a new one and belong to no configuration. */
  lookalikes: Array<{ declared: Declared; live: Live }>
}

type Options = {
  /** Whether to delete the objects of the project that the file does not have. */
  prunes: boolean
  /** Whether to take over objects without a key that look like declared ones. */
  adopts: boolean
}

/** Returns what makes a workspace agree with a configuration. */
export function planChanges({ project, objects }: Configuration, live: readonly Live[], options: Options): Plan {
  const plan: Plan = { changes: [], unchanged: 0, left: [], lookalikes: [] }
  const taken = new Set<Live>()
  for (const declared of objects) {
    const owned = live.find(one => one.kind === declared.kind && one.key === declared.key)
    const alike = owned ? undefined : live.find(one => !taken.has(one) && looksLike(one, declared))
    const found = owned ?? (options.adopts ? alike : undefined)
    if (found) {
      taken.add(found)
      const change = compare(declared, found, found !== owned)
      if (change) plan.changes.push(change)
      else plan.unchanged += 1
    } else {
      if (alike) plan.lookalikes.push({ declared, live: alike })
      plan.changes.push({ action: 'create', declared })
    }
  }
  // Cron jobs of several projects may share a queue, so queues are never deleted.
  const isLeft = (one: Live) => one.kind !== 'queue' && ownName(one, project) !== null && !taken.has(one)
  const left = live.filter(isLeft)
  if (options.prunes) plan.changes.push(...left.map(one => ({ action: 'delete', live: one }) as const))
  else plan.left.push(...left)
  return plan
}

/** Returns the name of an object in the file of a project, or null if that file does not own it. Every file owns a queue. */
export function ownName({ kind, id, key }: Live, project: string): string | null {
  if (kind === 'queue') return id
  return key?.startsWith(`${project}/`) ? key.slice(project.length + 1) : null
}

function looksLike({ kind, key, fields }: Live, declared: Declared): boolean {
  if (kind !== declared.kind || key !== null) return false
  return kinds[kind].alike.every(field => fields[field] === declared.body[field])
}

/** Returns how to make an object as declared, or null if it is already. */
export function compare(declared: Declared, live: Live, isAdopted = false): Change | null {
  const differences = differencesOf(declared, live)
  // The API has no change that removes a body, or moves an integration to another channel.
  const isBodyRemoved =
    live.kind === 'cron_job' &&
    declared.body.payload === undefined &&
    declared.body.payload_base64 === undefined &&
    differences.some(({ field }) => field === 'payload' || field === 'payload_base64')
  if (isBodyRemoved || differences.some(({ field }) => field === 'channel')) {
    return { action: 'replace', declared, live, differences }
  }
  if (differences.length === 0 && !isAdopted) return null
  return { action: 'update', declared, live, differences, isAdopted }
}

function differencesOf({ kind, body, isPaused }: Declared, live: Live): Difference[] {
  const differences: Difference[] = []
  const names = new Set([...Object.keys(body), ...kinds[kind].optional])
  for (const field of names) {
    const { before, after } = shown(field, body, live.fields)
    // The order of members in the file does not count.
    if (canonical([before]) !== canonical([after])) differences.push({ field, before, after })
  }
  // An ended cron job does not show whether it is paused.
  if (isPaused !== live.isPaused && live.fields.status !== 'ended') {
    differences.push({ field: 'paused', before: live.isPaused, after: isPaused })
  }
  return differences
}

// The URL of an integration is a secret, of which the API shows the host.
function shown(field: string, body: Fields, live: Fields): { before: unknown; after: unknown } {
  const isOfBytes = field === 'content_type' && body.payload_base64 !== undefined
  const after = body[field] ?? (isOfBytes ? defaultContentType : null)
  if ('channel' in body && field === 'url') return { before: live.target, after: new URL(String(after)).host }
  if ('channel' in body && field === 'email') return { before: live.target, after }
  if (field === 'events' || field === 'labels') return { before: sorted(live[field]), after: sorted(after) }
  return { before: live[field] ?? null, after }
}

function sorted(texts: unknown): unknown {
  return Array.isArray(texts) ? [...new Set(texts)].sort() : texts
}
