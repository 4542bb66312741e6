import type { CronJob, Run, Subscription, Task } from '@belfry/client'
import type { Cell, Colour, Row } from './output.ts'

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

/** Returns a state in its colour, with an addition. */
function stateCell(state: string, addition = ''): Cell {
  const colour = colours[state]
  const text = `${state}${addition}`
  return colour ? { text, colour } : text
}

export const taskHeading = ['ID', 'STATE', 'DUE', 'ATTEMPTS', 'NAME', 'REQUEST']

export function taskRow(task: Task): Row {
  const { id, state, blocked, executeAt, nextRetryAt, attempts, name, method, url } = task
  const due = nextRetryAt ?? executeAt
  const addition = blocked?.reason === 'held' ? ', held' : ''
  return { value: task, cells: [id, stateCell(state, addition), due, String(attempts), name, `${method} ${url}`] }
}

export const cronJobHeading = ['ID', 'STATUS', 'CRON', 'NEXT RUN', 'NAME', 'REQUEST']

export function cronJobRow(job: CronJob): Row {
  const { id, status, cron, timezone, nextRunAt, name, method, url } = job
  const schedule = timezone === 'UTC' ? cron : `${cron} ${timezone}`
  return { value: job, cells: [id, stateCell(status), schedule, nextRunAt ?? '-', name, `${method} ${url}`] }
}

export const runHeading = ['STARTED', 'STATUS', 'ANSWER', 'TOOK', 'ATTEMPT', 'RUN', 'NAME', 'REQUEST']

export function runRow(run: Run): Row {
  const { startedAt, status, responseStatus, error, durationMs, attempt, id, taskName, method, url } = run
  const answer = responseStatus === null ? (error?.code ?? '-') : String(responseStatus)
  const cells = [startedAt, stateCell(status), answer, `${durationMs} ms`, String(attempt), id, taskName]
  return { value: run, cells: [...cells, `${method} ${url}`] }
}

export const subscriptionHeading = ['ID', 'TOPIC', 'ACTIVE', 'URL']

export function subscriptionRow(subscription: Subscription): Row {
  const { id, topic, active, url } = subscription
  return { value: subscription, cells: [id, topic, active ? 'yes' : 'no', url] }
}
