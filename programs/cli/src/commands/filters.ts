import type { Command } from 'commander'
import { given, repeated, timesOf } from '../parse-options.ts'

/** The options that select objects, each with what it says about them. */
const filters = {
  status: ['--state, --status <status>', 'in this state or status, such as dead, active or failed'],
  topic: ['--topic <topic>', 'of events with this topic'],
  cronjob: ['--cronjob <id>', 'of this cron job'],
  task: ['--task <id>', 'of this task'],
  event: ['--event <id>', 'of this event'],
  label: ['--label <label>', 'with this label'],
  host: ['--host <host>', 'of this host and port'],
  error: ['--error <code>', 'whose run, or whose last run, had this error, such as timeout'],
  name: ['--name <prefix>', 'whose names start with this'],
  from: ['--from <time>', 'that are due (runs: started) at this time or later'],
  to: ['--to <time>', 'that are due (runs: started) before this time'],
} as const

export type FilterName = keyof typeof filters
export type FilterFlags = { [Name in Exclude<FilterName, Single>]?: string[] } & { [Name in Single]?: string }
type Single = 'name' | 'from' | 'to'

export const filterNames = Object.keys(filters) as FilterName[]

/**
 * Adds options that select objects.
 * @param single - Options that have one value, in addition to the name and the times.
 */
export function withFilters(
  command: Command,
  noun: string,
  names: readonly FilterName[],
  single: readonly FilterName[] = [],
): Command {
  const once: readonly FilterName[] = ['name', 'from', 'to', ...single]
  for (const name of names) {
    const [flags, what] = filters[name]
    if (once.includes(name)) command.option(flags, `${noun} ${what}`)
    else command.addOption(repeated(flags, `${noun} ${what}; can be repeated`))
  }
  return command
}

/** Returns the filter of these options, with the names of the client. */
export function filterOf({ cronjob, task, event, status, topic, label, host, error, name, ...times }: FilterFlags) {
  const ids = { cronjobId: cronjob, taskId: task, eventId: event }
  return given({ ...ids, status, topic, label, host, error, name, ...timesOf(times) })
}
