import type { IdKind } from './id.ts'

/** Returns the pattern of the ids of a kind. In its own file, because the other functions on ids need Node. */
export function idPattern(kind: IdKind): string {
  return `^${kind}_[0-7][0-9a-hjkmnp-tv-z]{25}$`
}
