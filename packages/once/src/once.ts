import { chain } from './chain.ts'
import { type Dialect, postgres, type Run } from './dialects.ts'
import { rowOf } from './row-of.ts'

/**
 * Does the work of a webhook unless an earlier request with its id did it, and then returns the earlier answer. A request that
 * comes while the first one works waits until that has committed or rolled back. When the work fails, the caller must roll back.
 * @param run - Runs a statement in the transaction that has the effect, such as `(...query) => tx.$queryRaw(...query)`.
 * @param id - The verified `webhook-id`.
 * @param work - The effect, in the same transaction. Returns the answer: a JSON value or nothing.
 * @param dialect - The dialect of the database. Default: PostgreSQL.
 */
export function once<Answer>(
  run: Run<PromiseLike<unknown>>,
  id: string,
  work: () => Answer | PromiseLike<Answer>,
  dialect?: Dialect,
): Promise<Answer>
/** Without promises, for SQLite in the process. */
export function once<Answer>(run: Run<readonly unknown[]>, id: string, work: () => Answer, dialect?: Dialect): Answer
export function once(run: Run, id: string, work: () => unknown, dialect: Dialect = postgres): unknown {
  return chain(dialect.record(run, id), recorded => {
    const { times, answer = null } = rowOf(recorded) as { times: number; answer?: string | null }
    if (Number(times) > 1) return answer === null ? undefined : JSON.parse(answer)
    return chain(work(), done =>
      // Also without an answer: PostgreSQL refuses it in a transaction whose error the work has ignored, and would roll back.
      chain(dialect.keep(run, id, JSON.stringify(done) ?? null), () => done),
    )
  })
}
