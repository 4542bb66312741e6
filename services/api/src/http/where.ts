/** Collects the conditions of a list query and their parameters. Values never become part of the SQL text. */
export type Where = {
  /** Adds a condition in which each `?` stands for the next value. */
  and(condition: string, ...values: unknown[]): void
  /** Adds a value alone, and returns its placeholder. */
  add(value: unknown): string
  /** The conditions joined by AND; empty when there are none. */
  readonly text: string
  readonly values: unknown[]
}

/** @param before - Earlier conditions of the same statement, whose values come first. */
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
