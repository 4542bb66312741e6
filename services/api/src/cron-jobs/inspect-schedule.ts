import { type AppError, type FieldError, invalid } from '@belfry/domain/app-error'
import { nextScheduled } from '@belfry/domain/cron/cron-schedule'
import { cronHorizonYears } from '@belfry/domain/cron/next-occurrence'
import { parseCron } from '@belfry/domain/cron/parse-cron'
import { isTimeZone } from '@belfry/domain/cron/zone-pieces'
import { parseInstant } from '@belfry/domain/instant'
import type { Context } from '../context.ts'

const neverFires: FieldError = {
  path: 'cron',
  code: 'never_runs',
  message: `cron never fires within ${cronHorizonYears} years: there is no such date.`,
}
const noRunInBounds: FieldError = {
  path: 'ends_at',
  code: 'never_runs',
  message: 'ends_at leaves no run: the cron job has no occurrence between its start and ends_at.',
}

/** Returns the error of a rule without an occurrence, in addition to the errors of the schema. */
export function inspectSchedule(ctx: Context, body: unknown): FieldError[] {
  const { cron: cronText, timezone = 'UTC', starts_at, ends_at } = Object(body) as Record<string, unknown>
  const parsed = typeof cronText === 'string' ? parseCron(cronText) : null
  if (!parsed?.ok || typeof timezone !== 'string' || !isTimeZone(timezone)) return []
  const { cron } = parsed
  const now = ctx.clock.now()
  if (nextScheduled({ cron, timezone, startsAt: null, endsAt: null }, now) === null) return [neverFires]
  const bounds = { startsAt: instantOf(starts_at), endsAt: instantOf(ends_at) }
  return nextScheduled({ cron, timezone, ...bounds }, now) === null ? [noRunInBounds] : []
}

/** The refusal of a change after which a cron job would never fire. */
export function neverRuns(body: { cron?: unknown }): AppError {
  const error = body.cron === undefined ? noRunInBounds : { ...noRunInBounds, path: 'cron' }
  return invalid('body', [error])
}

function instantOf(given: unknown): Date | null {
  return typeof given === 'string' ? parseInstant(given) : null
}
