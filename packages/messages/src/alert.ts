import type { AlertEvent } from '@belfry/domain/alerts'

/** An alert for an integration. `test` is the alert of its test button. */
export type Alert = {
  event: AlertEvent | 'test'
  /** The time of detection, in ISO 8601. */
  at: string
  workspace: { id: string; name: string }
  /** The number of affected tasks, cron jobs or hosts, counted up to 10,001. `items` are the first ones. */
  count: number
  items: ReadonlyArray<{ id: string; name: string }>
  quota?: { resource: string; percent: number }
}

const maxCounted = 10_000

/** Returns the title of an alert, in one line of plain text. */
export function alertTitle({ event, count, workspace, quota }: Alert): string {
  const where = `in the workspace "${workspace.name}"`
  switch (event) {
    case 'task.dead':
      return `${several(count, 'task is', 'tasks are')} dead ${where}.`
    case 'cronjob.failing':
      return `${several(count, 'cron job is', 'cron jobs are')} failing ${where}.`
    case 'cronjob.recovered':
      return `${several(count, 'cron job has', 'cron jobs have')} recovered ${where}.`
    case 'host.failing':
      return `${several(count, 'host is', 'hosts are')} failing ${where}.`
    case 'host.recovered':
      return `${several(count, 'host has', 'hosts have')} recovered ${where}.`
    case 'endpoint.failing':
      return `${several(count, 'endpoint has', 'endpoints have')} only failed for days ${where}.`
    case 'endpoint.switched_off':
      return `${several(count, 'endpoint was', 'endpoints were')} switched off ${where}, because all calls failed for days.`
    case 'quota.warning':
    case 'quota.reached':
      return `The organization of the workspace "${workspace.name}" has used ${quota?.percent ?? 0} % of its ${quota?.resource ?? 'quota'}.`
    case 'test':
      return `This is a test of an integration ${where}.`
  }
}

/** Returns one line for each item of an alert, and one for the number of others. */
export function alertLines({ items, count }: Alert): string[] {
  const others = count - items.length
  const more = count > maxCounted ? 'and many more' : `and ${others.toLocaleString('en')} more`
  return [...items.map(({ id, name }) => (name === id ? name : `${name} (${id})`)), ...(others > 0 ? [more] : [])]
}

function several(count: number, one: string, many: string): string {
  if (count === 1) return `1 ${one}`
  return `${count > maxCounted ? 'more than ' : ''}${Math.min(count, maxCounted).toLocaleString('en')} ${many}`
}
