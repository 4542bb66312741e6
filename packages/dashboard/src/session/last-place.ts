const key = 'belfry.place'

/** Remembers the workspace that was looked at last, so that the next visit begins there. */
export function rememberPlace(path: string): void {
  try {
    localStorage.setItem(key, path)
  } catch {
    // Storage is refused: the next visit begins with the first workspace.
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
