import { parseStored, readStored, store } from '../ui/browser-storage.ts'

const prefix = 'belfry.draft:'

/** Keeps the fields of a form for this tab, until the form is submitted or the user signs out. */
export function keepDraft(path: string, initial: unknown, draft: unknown): void {
  store(prefix + path, JSON.stringify({ initial, draft }), 'sessionStorage')
}

/** Returns the kept draft of a form, unless it began with other values: the object has changed since. */
export function keptDraft<Draft>(path: string, initial: Draft): Draft | null {
  const kept = parseStored(readStored(prefix + path, 'sessionStorage')) as { initial: Draft; draft: Draft } | null // kept above
  return kept && JSON.stringify(kept.initial) === JSON.stringify(initial) ? kept.draft : null
}

export function dropDraft(path: string): void {
  store(prefix + path, null, 'sessionStorage')
}

/** Removes the drafts of a user who signs out. */
export function dropDrafts(): void {
  try {
    for (const key of Object.keys(sessionStorage)) if (key.startsWith(prefix)) sessionStorage.removeItem(key)
  } catch {
    // Storage is blocked: there are no drafts.
  }
}
