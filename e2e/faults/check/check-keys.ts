import type { Report } from './check-history.ts'
import type { History } from './history.ts'

/** Checks I10: the calls with one `Idempotency-Key` create one task, and each answer has its id. */
export function checkKeys({ keys, tasks }: History, report: Report): void {
  for (const { key, path, answered } of keys) {
    const stored = tasks.filter(({ name }) => name === path).map(({ id }) => id)
    const named = new Set(answered)
    if (stored.length > 1) report('I10', null, `the key ${key} made ${stored.length} tasks: ${stored.join()}`)
    if (named.size > 1) report('I10', null, `the key ${key} was answered with ${[...named].join()}`)
    for (const id of named) if (!stored.includes(id)) report('I10', id, `was named by the key ${key} and is not stored`)
  }
}
