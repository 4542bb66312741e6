import { queryOptions } from '@tanstack/react-query'
import { queryOf } from '../api/queries.ts'

const minLength = 2

/** Finds tasks, runs and what belongs to them by id, or by a part of the name or label. */
export function searchQuery(ws: string | undefined, text: string) {
  const q = text.trim()
  const isLong = q.length >= minLength && q.length <= 200
  return queryOptions({ ...queryOf('search', { ws: ws ?? '', query: { q } }), enabled: ws !== undefined && isLong })
}
