import { parseUrl } from '@belfry/domain'

/** What a task calls: the origin of its URL, as it is spelled there, and the host and port that this names, in one spelling. */
export type Target = { readonly origin: string; readonly host: string }

const mostKnown = 10_000
const known = new Map<string, Target>()

/**
 * Tells which host an origin names. One that holds a reference to a secret, or is no valid one, stands for itself. All tasks
 * for one origin get the same answer, so that thousands of them share its texts.
 */
export function targetOf(origin: string): Target {
  const remembered = known.get(origin)
  if (remembered) return remembered
  const target = { origin, host: parseUrl(origin)?.host ?? origin }
  if (known.size >= mostKnown) known.clear()
  known.set(origin, target)
  return target
}
