import type { AlertEvent } from '@belfry/domain'

/** What an integration is told. `test` is what its test button sends. */
export type Alert = {
  event: AlertEvent | 'test'
  /** When it was found, in ISO 8601. */
  at: string
  workspace: { id: string; name: string }
  /** How many tasks or cron jobs it is about, of which `items` are the first few; beyond 10,000 nobody has counted. */
  count: number
  items: ReadonlyArray<{ id: string; name: string }>
  /** What a quota's alert is about. */
  quota?: { resource: string; percent: number }
}

const maxCounted = 10_000

/** Says what has happened, in one line of plain text. */
export function alertTitle({ event, count, workspace, quota }: Alert): string {
  const where = `in the workspace "${workspace.name}"`
  switch (event) {
    case 'task.dead':
      return `${several(count, 'task is', 'tasks are')} dead ${where}.`
    case 'cronjob.failing':
      return `${several(count, 'cron job is', 'cron jobs are')} failing ${where}.`
    case 'cronjob.recovered':
      return `${several(count, 'cron job has', 'cron jobs have')} recovered ${where}.`
    case 'quota.warning':
    case 'quota.reached':
      return `The organization of the workspace "${workspace.name}" has used ${quota?.percent ?? 0} % of its ${quota?.resource ?? 'quota'}.`
    case 'test':
      return `This is a test of an integration ${where}.`
  }
}

/** Names what an alert is about: a line each, and one for those that are not named. */
export function alertLines({ items, count }: Alert): string[] {
  const others = count - items.length
  const more = count > maxCounted ? 'and many more' : `and ${others.toLocaleString('en')} more`
  return [...items.map(({ id, name }) => `${name} (${id})`), ...(others > 0 ? [more] : [])]
}

function several(count: number, one: string, many: string): string {
  if (count === 1) return `1 ${one}`
  return `${count > maxCounted ? 'more than ' : ''}${Math.min(count, maxCounted).toLocaleString('en')} ${many}`
}
