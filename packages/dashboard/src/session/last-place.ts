const key = 'belfry.place'

/** Stores the last workspace, so the next visit starts there. */
export function rememberPlace(path: string): void {
  try {
    localStorage.setItem(key, path)
  } catch {
    // Storage is blocked: the next visit starts with the default workspace.
  }
}

export function lastPlace(): { slug: string; ws: string } | null {
  try {
    const [, slug, ws] = /^\/([^/]+)\/w\/([^/]+)$/.exec(localStorage.getItem(key) ?? '') ?? []
    return slug && ws ? { slug, ws } : null
  } catch {
    return null
  }
}
