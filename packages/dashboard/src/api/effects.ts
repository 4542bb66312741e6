import type { QueryClient } from '@tanstack/react-query'
import { takeChanges } from './call.ts'
import table from './generated/operations.json' with { type: 'json' }

/** What a change of a resource changes in other resources. */
export const effects: Readonly<Record<string, readonly string[]>> = {
  'blocked-addresses': ['log'],
  cronjobs: ['tasks'],
  'dead-letters': ['tasks', 'status'],
  events: ['tasks'],
  // Organizations that required a second factor open now.
  factors: ['log', 'me', 'organizations', 'workspaces'],
  hosts: ['tasks'],
  me: ['log', 'sessions'],
  members: ['me'],
  organizations: ['me', 'log'],
  sessions: ['log'],
  subscription: ['usage', 'organizations'],
  // The replay of a task settles its dead letter.
  tasks: ['dead-letters', 'status'],
  transfer: ['members', 'me'],
  users: ['organizations', 'log'],
  workspaces: ['organizations', 'log'],
}

/**
 * Invalidates the queries that show what `call` has changed since the last time.
 * @param refetchType - `active` reloads the queries on the page now. `none` reloads all when they are shown again.
 */
export function reloadChanged(client: QueryClient, refetchType: 'active' | 'none' = 'active'): Promise<void> {
  const resources = takeChanges().map(name => resourceOf(table[name]))
  const changed = new Set(resources.flatMap(resource => [resource, ...(effects[resource] ?? [])]))
  const reads = new Map<unknown, string>(Object.entries(table).filter(([, operation]) => operation.startsWith('GET ')))
  return client.invalidateQueries({
    refetchType,
    predicate: ({ queryKey: [name] }) => changed.has(resourceOf(reads.get(name) ?? '')),
  })
}

/** Returns the resource of an operation of the table, from its path: `api-keys` for all operations on them. */
export function resourceOf(operation: string): string {
  const path = /\/api\/(?:v1\/)?(?:(?:scheduler|operator|auth|organizations\/:org|workspaces\/:ws)\/)?([\w-]+)/
  return path.exec(operation)?.[1] ?? ''
}
