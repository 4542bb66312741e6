import { parseUrl } from '@belfry/domain'
import { LRUCache } from 'lru-cache'

/** What a task calls: the origin of its URL, as it is spelled there, and the host and port that this names, in one spelling. */
export type Target = { readonly origin: string; readonly host: string }

const targets = new LRUCache<string, Target>({ max: 10_000 })

/**
 * Returns the host that an origin names. An origin with a reference to a secret, or an invalid one, stands for itself. All
 * tasks for one origin get the same object, so thousands of them share its strings.
 */
export function targetOf(origin: string): Target {
  const cached = targets.get(origin)
  if (cached) return cached
  const target = { origin, host: parseUrl(origin)?.host ?? origin }
  targets.set(origin, target)
  return target
}
