import type { Pool } from '../../src/postgres/pool.ts'

/** The rows that a statement returns, by its name or a part of its text. Default: no row. */
export type Answers = Readonly<Record<string, readonly object[]>>

type Query = string | { name?: string; text: string }

export type SentStatement = { name: string | undefined; text: string }

/** Calls a function with a connection that sends nothing, and returns each statement of the call once. */
export async function recordStatements(
  call: (db: Pool) => Promise<unknown>,
  answers: Answers = {},
): Promise<SentStatement[]> {
  const sent = new Map<string, SentStatement>()
  const query = async (query: Query) => {
    const { name, text } = typeof query === 'string' ? { name: undefined, text: query } : query
    sent.set(text, { name, text })
    const [, rows = []] = Object.entries(answers).find(([key]) => key === name || text.includes(key)) ?? []
    return { rows, rowCount: rows.length }
  }
  await call({ query } as unknown as Pool) // not a pool, so the functions take it for an open transaction
  return [...sent.values()]
}
