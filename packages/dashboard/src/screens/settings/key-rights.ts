import type { Action } from '@belfry/domain/permissions'
import { wordsOf } from '../../ui/words-of.ts'

/** Groups rights by their object, under its name in the plural, in alphabetical order. */
export function groupRights(rights: readonly Action[]): Array<[string, Action[]]> {
  const groups = new Map<string, Action[]>()
  for (const right of rights) {
    const name = `${wordsOf(right.split('.')[0] ?? '')}s`
    groups.set(name, [...(groups.get(name) ?? []), right])
  }
  return [...groups].sort(([a], [b]) => a.localeCompare(b))
}

/** Returns what a right allows with the objects of its group. */
export function labelOfRight(right: Action): string {
  const [, verb = ''] = right.split('.')
  return labels[right] ?? (verb === 'write' ? 'Create and change' : wordsOf(verb))
}

// What the name of the right does not tell.
const labels: Partial<Record<Action, string>> = {
  'task.write': 'Create, change and replay',
  'secret.use': 'Use for any host',
  'host.write': 'Pause and resume',
  'host.reset': 'Close circuit breakers',
}
