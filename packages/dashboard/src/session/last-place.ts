import { readStored, store } from '../ui/browser-storage.ts'

const key = 'belfry.place'

/** Stores the last workspace, so the next visit starts there. */
export function rememberPlace(path: string): void {
  store(key, path)
}

export function lastPlace(): { slug: string; ws: string } | null {
  const [, slug, ws] = /^\/([^/]+)\/w\/([^/]+)$/.exec(readStored(key) ?? '') ?? []
  return slug && ws ? { slug, ws } : null
}
