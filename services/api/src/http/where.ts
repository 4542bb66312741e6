/** Collects the conditions of a list query and their parameters. Values never become part of the SQL text. */
export type Where = {
  /** Adds a condition in which each `?` stands for the next value. */
  and(condition: string, ...values: unknown[]): void
  readonly text: string
  readonly values: unknown[]
}

export function where(): Where {
  const conditions: string[] = []
  const values: unknown[] = []
  return {
    values,
    and(condition, ...given) {
      const rest = [...given]
      conditions.push(condition.replace(/\?/g, () => `$${values.push(rest.shift())}`))
    },
    get text() {
      return conditions.join(' AND ')
    },
  }
}
