import type { Action } from '@belfry/domain/permissions'

/** Groups rights by their object, under its name in the plural, in alphabetical order. */
export function groupRights(rights: readonly Action[]): Array<[string, Action[]]> {
  const groups = new Map<string, Action[]>()
  for (const right of rights) {
    const name = `${words(right.split('.')[0])}s`
    groups.set(name, [...(groups.get(name) ?? []), right])
  }
  return [...groups].sort(([a], [b]) => a.localeCompare(b))
}

/** Returns what a right allows with the objects of its group. */
export function labelOfRight(right: Action): string {
  const verb = right.split('.')[1]
  return labels[right] ?? (verb === 'write' ? 'Create and change' : words(verb))
}

// What the name of the right does not tell.
const labels: Partial<Record<Action, string>> = {
  'task.write': 'Create, change and replay',
  'secret.use': 'Use for any host',
  'host.write': 'Pause and resume',
  'host.reset': 'Close circuit breakers',
}

function words(name = ''): string {
  return name.charAt(0).toUpperCase() + name.slice(1).replaceAll('_', ' ')
}
