const prefix = 'belfry.draft:'

/** Keeps the fields of a form for this tab, until the form is submitted or the user signs out. */
export function keepDraft(path: string, initial: unknown, draft: unknown): void {
  try {
    sessionStorage.setItem(prefix + path, JSON.stringify({ initial, draft }))
  } catch {
    // Storage is blocked or full: the draft ends with the page.
  }
}

/** Returns the kept draft of a form, unless it began with other values: the object has changed since. */
export function keptDraft<Draft>(path: string, initial: Draft): Draft | null {
  try {
    const kept = JSON.parse(sessionStorage.getItem(prefix + path) ?? 'null')
    return kept && JSON.stringify(kept.initial) === JSON.stringify(initial) ? kept.draft : null
  } catch {
    return null
  }
}

export function dropDraft(path: string): void {
  try {
    sessionStorage.removeItem(prefix + path)
  } catch {
    // Storage is blocked: there is no draft.
  }
}

/** Removes the drafts of a user who signs out. */
export function dropDrafts(): void {
  try {
    for (const key of Object.keys(sessionStorage)) if (key.startsWith(prefix)) sessionStorage.removeItem(key)
  } catch {
    // Storage is blocked: there are no drafts.
  }
}
