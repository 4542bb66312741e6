import { parseJson } from './json-text.ts'
import { nearestName } from './nearest-name.ts'

export const tierNames = ['free', 'startup', 'scaleup', 'unicorn', 'unlimited'] as const

export type TierName = (typeof tierNames)[number]

/** The limits of a tier, and the name of each in the configuration and in the API. */
export const figureNames = {
  /** Tasks whose dispatch starts in a UTC calendar month, per organization. */
  executions: 'executions',
  /** Bytes of stored payloads and captured responses, per organization. */
  storageBytes: 'storage_bytes',
  /** Per organization. */
  workspaces: 'workspaces',
  /** Days that runs and finished tasks are kept; at most 36,500. */
  logDays: 'log_days',
  /** Days that audit entries are kept; from 30 to 36,500. */
  auditDays: 'audit_days',
  /** Per API key. */
  requestsPerSecond: 'requests_per_second',
  /** Pending tasks per workspace. */
  pendingTasks: 'pending_tasks',
  /** Bytes of the payload of a task, cron job or event. */
  payloadBytes: 'payload_bytes',
  /** Per workspace, as are the next two. */
  cronJobs: 'cron_jobs',
  apiKeys: 'api_keys',
  secrets: 'secrets',
  /** Per organization. */
  members: 'members',
  /** Open invitations per organization. */
  invitations: 'invitations',
  /** The part of a dispatcher's slots that an organization may hold, and of its places for slow calls, in percent. */
  slotsPercent: 'slots_percent',
  /**
   * Tasks that events create for further subscriptions, and that targets create while Belfry calls them, per organization
   * and minute.
   */
  fanOut: 'fan_out_per_minute',
} as const

export type TierLimits = Record<keyof typeof figureNames, number>

export type Tiers = Readonly<Record<TierName, Readonly<TierLimits>>>

const [thousand, million, megabyte, gigabyte, terabyte] = [1e3, 1e6, 1e6, 1e9, 1e12]
// The maximum of a request.
const payloadBytes = 256 * 1024

/** The limit that is no limit: the largest integer that JavaScript and PostgreSQL's `bigint` both represent exactly. */
export const NO_LIMIT = Number.MAX_SAFE_INTEGER

/** Returns the public form of a limit: null for unlimited. */
export function presentLimit(limit: number): number | null {
  return limit >= NO_LIMIT ? null : limit
}

const unicorn: TierLimits = {
  ...{ executions: 200 * million, storageBytes: terabyte, workspaces: 500, logDays: 365, requestsPerSecond: 1000 },
  ...{ pendingTasks: 20 * million, payloadBytes, cronJobs: 200 * thousand, apiKeys: 1000, secrets: 1000 },
  ...{ members: 10 * thousand, invitations: 5000, auditDays: 730, slotsPercent: 100 },
  fanOut: million,
}

export const defaultTiers: Tiers = {
  free: {
    ...{ executions: 10 * thousand, storageBytes: 100 * megabyte, workspaces: 2, logDays: 7, requestsPerSecond: 10 },
    ...{ pendingTasks: 10 * thousand, payloadBytes, cronJobs: 100, apiKeys: 20, secrets: 100 },
    ...{ members: 50, invitations: 50, auditDays: 90, slotsPercent: 25, fanOut: thousand },
  },
  startup: {
    ...{ executions: 500 * thousand, storageBytes: 5 * gigabyte, workspaces: 10, logDays: 30, requestsPerSecond: 50 },
    ...{ pendingTasks: 200 * thousand, payloadBytes, cronJobs: 1000, apiKeys: 100, secrets: 500 },
    ...{ members: 250, invitations: 250, auditDays: 180, slotsPercent: 50, fanOut: 10 * thousand },
  },
  scaleup: {
    ...{ executions: 10 * million, storageBytes: 50 * gigabyte, workspaces: 50, logDays: 90, requestsPerSecond: 200 },
    ...{ pendingTasks: 2 * million, payloadBytes, cronJobs: 10 * thousand, apiKeys: 500, secrets: 1000 },
    ...{ members: 1000, invitations: 1000, auditDays: 365, slotsPercent: 75, fanOut: 100 * thousand },
  },
  unicorn,
  // Without the two limits that cancel accepted tasks. The others only reject creations.
  unlimited: { ...unicorn, executions: NO_LIMIT, storageBytes: NO_LIMIT },
}

/**
 * Parses an operator's limits, such as `{"free":{"executions":20000}}`. Other limits keep their defaults, as do all
 * limits for empty text. For executions and storage, null means unlimited.
 * @throws Error that names the problem.
 */
export function parseTiers(text: string): Tiers {
  if (text.trim() === '') return defaultTiers
  const given = objectOf(parseJson(text), '')
  const tiers: Record<TierName, TierLimits> = { ...defaultTiers }
  for (const [name, figures] of Object.entries(given)) {
    const tier = known(name, tierNames, 'a tier')
    tiers[tier] = { ...tiers[tier], ...readFigures(tier, objectOf(figures, tier)) }
  }
  return tiers
}

function readFigures(tier: TierName, given: Record<string, unknown>): Partial<TierLimits> {
  const figureOf = new Map(Object.entries(figureNames).map(([figure, name]) => [name, figure as keyof TierLimits]))
  const limits: Partial<TierLimits> = {}
  for (const [name, value] of Object.entries(given)) {
    const figure = figureOf.get(known(name, [...figureOf.keys()], `a limit of ${tier}`))
    const { min = 0, max = NO_LIMIT } = (figure && bounds[figure]) ?? {}
    if (value === null && (figure === 'executions' || figure === 'storageBytes')) {
      limits[figure] = NO_LIMIT
      continue
    }
    if (!figure || !Number.isSafeInteger(value) || Number(value) < min) {
      throw new Error(`${tier}.${name} must be a whole number of at least ${min}`)
    }
    if (Number(value) > max) throw new Error(`${tier}.${name} must be at most ${max}`)
    limits[figure] = Number(value)
  }
  return limits
}

const maxDays = 36_500
// Others may be 0. The database keeps audit entries for at least 30 days.
const bounds: { [figure in keyof TierLimits]?: { min: number; max?: number } } = {
  ...{ auditDays: { min: 30, max: maxDays }, logDays: { min: 1, max: maxDays }, slotsPercent: { min: 1, max: 100 } },
  ...{ fanOut: { min: 1 }, requestsPerSecond: { min: 1 } },
}

function known<Name extends string>(name: string, names: readonly Name[], kind: string): Name {
  const found = names.find(one => one === name)
  if (found) return found
  const nearest = nearestName(name, names)
  throw new Error(`${name} is not ${kind}; ${nearest ? `did you mean ${nearest}?` : `there are ${names.join(', ')}`}`)
}

function objectOf(value: unknown, what: string): Record<string, unknown> {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Record<string, unknown>
  const message =
    what === '' ? 'must be a JSON object such as {"free":{"executions":20000}}' : `${what} must be a JSON object`
  throw new Error(message)
}
