import type { Pool } from '../../src/postgres/pool.ts'
import type { Answers } from './record-statements.ts'

/** A function of this package that sends statements. */
export type SendingFunction = {
  by: { readonly name: string }
  call: (db: Pool) => Promise<unknown>
  /** Default: each statement returns no row. */
  answers?: Answers
  /**
   * What a statement does, by the name of its file. The file has the name of the statement. A statement without a name is
   * found by its text.
   */
  sends: Record<string, string | [does: string, text: RegExp]>
}
