import type { CronJob, Host, Queue, Run, Subscription, Task } from '@belfry/client'
import type { Cell, Colour } from './output.ts'
import { tableOf } from './table.ts'

const colours: Record<string, Colour> = {
  success: 'green',
  active: 'green',
  retrying: 'yellow',
  processing: 'yellow',
  paused: 'yellow',
  dead: 'red',
  failed: 'red',
  cancelled: 'gray',
  ended: 'gray',
}

function stateCell(state: string, addition = ''): Cell {
  const colour = colours[state]
  const text = `${state}${addition}`
  return colour ? { text, colour } : text
}

const requestOf = ({ method, url }: { method: string; url: string }) => `${method} ${url}`

export const taskTable = tableOf<Task>(
  'id',
  ['STATE', ({ state, blocked }) => stateCell(state, blocked?.reason === 'held' ? ', held' : '')],
  ['DUE', ({ nextRetryAt, executeAt }) => nextRetryAt ?? executeAt],
  'attempts',
  'name',
  ['REQUEST', requestOf],
)

export const cronJobTable = tableOf<CronJob>(
  'id',
  ['STATUS', ({ status }) => stateCell(status)],
  ['CRON', ({ cron, timezone }) => (timezone === 'UTC' ? cron : `${cron} ${timezone}`)],
  'nextRunAt',
  'name',
  ['REQUEST', requestOf],
)

export const runTable = tableOf<Run>(
  'startedAt',
  ['STATUS', ({ status }) => stateCell(status)],
  ['ANSWER', ({ responseStatus, error }) => String(responseStatus ?? error?.code ?? '-')],
  ['TOOK', ({ durationMs }) => `${durationMs} ms`],
  'attempt',
  ['RUN', ({ id }) => id],
  ['NAME', ({ taskName }) => taskName],
  ['REQUEST', requestOf],
)

export const subscriptionTable = tableOf<Subscription>('id', 'topic', 'active', 'url')

export const queueTable = tableOf<Queue>(
  ['QUEUE', ({ name }) => name],
  ['LIMITS', limitsText],
  ['STATE', ({ pausedAt }) => (pausedAt === null ? 'active' : { text: 'paused', colour: 'red' })],
  'waiting',
  'inFlight',
  ['OLDEST', ({ oldestDueMs }) => (oldestDueMs === null ? '-' : `${Math.round(oldestDueMs / 1000)}s`)],
)

export const hostTable = tableOf<Host>(
  'host',
  ['CIRCUIT', circuitCell],
  ['NEXT PROBE', ({ circuit }) => circuit.nextProbeAt ?? '-'],
  'waiting',
  'inFlight',
  ['ATTEMPTS', ({ health }) => String(health.hour.attempts)],
  ['FAILED', ({ health }) => String(health.hour.failed)],
)

function limitsText({ maxConcurrent, rateLimit, ordered }: Queue): string {
  const limits = [
    ...(maxConcurrent === null ? [] : [`${maxConcurrent} at a time`]),
    ...(rateLimit === null ? [] : [`${rateLimit.count} per ${rateLimit.periodMs / 1000}s`]),
    ...(ordered ? ['ordered'] : []),
  ]
  return limits.join(', ') || '-'
}

function circuitCell({ circuit: { state }, pausedAt }: Host): Cell {
  if (pausedAt !== null) return { text: 'paused', colour: 'red' }
  return state === 'closed' ? state : { text: state, colour: 'red' }
}
