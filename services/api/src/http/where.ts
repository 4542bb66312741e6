/** Collects the conditions of a list query and their parameters. Values never become part of the SQL text. */
export type Where = {
  /** Adds a condition in which each `?` stands for the next value. */
  and(condition: string, ...values: unknown[]): void
  /** Adds a value alone, and gives the text that stands for it. */
  add(value: unknown): string
  /** The conditions joined by AND; empty when there is none. */
  readonly text: string
  readonly values: unknown[]
}

/** @param before - The values of conditions that stand in the same statement. */
export function where(before: Where | undefined = undefined): Where {
  const values: unknown[] = [...(before?.values ?? [])]
  const conditions: string[] = []
  return {
    values,
    and(condition, ...given) {
      const rest = [...given]
      conditions.push(condition.replace(/\?/g, () => `$${values.push(rest.shift())}`))
    },
    add: value => `$${values.push(value)}`,
    get text() {
      return conditions.join(' AND ')
    },
  }
}
