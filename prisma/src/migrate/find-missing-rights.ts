import type pg from 'pg'
import { rightsOn, serviceNames } from './service-rights.ts'

const kinds = ['SELECT', 'INSERT', 'UPDATE', 'DELETE'] as const

/**
 * Returns the service whose rights the current role comes closest to, and the rights on tables that the role lacks to run
 * it, such as `INSERT on tasks`.
 */
export async function findMissingRights(db: Pick<pg.Pool, 'query'>) {
  const { rows } = await db.query<{ table: string; rights: string[] }>(
    `
    SELECT c.relname AS table, ARRAY(
      SELECT kind FROM unnest($1::text[]) kind WHERE has_table_privilege(c.oid, kind)
    ) AS rights
    FROM pg_class c
    WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p', 'v') ORDER BY c.relname`,
    [kinds],
  )
  const [closest] = serviceNames
    .map(service => ({
      service,
      missing: rows.flatMap(({ table, rights }) =>
        (rightsOn(service, table)?.split(', ') ?? [])
          .filter(right => kinds.some(kind => kind === right) && !rights.includes(right))
          .map(right => `${right} on ${table}`),
      ),
    }))
    .sort((a, b) => a.missing.length - b.missing.length)
  if (!closest) throw new Error('There are no service roles.')
  return closest
}
