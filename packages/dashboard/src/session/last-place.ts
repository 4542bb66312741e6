import { readStored, store } from '../ui/browser-storage.ts'

const key = 'belfry.place'

/** Stores the last workspace: of this tab, and for the start of the next one. */
export function rememberPlace(path: string): void {
  store(key, path)
  store(key, path, 'sessionStorage')
}

export function lastPlace(): { slug: string; ws: string } | null {
  const [, slug, ws] = /^\/([^/]+)\/w\/([^/]+)$/.exec(readStored(key, 'sessionStorage') ?? readStored(key) ?? '') ?? []
  return slug && ws ? { slug, ws } : null
}
