import type { z } from 'zod'

/** What is wrong with a process's configuration: every problem, one a line, no value shown. */
export class ConfigError extends Error {
  readonly problems: readonly string[]

  /** @param problems - Each with the name of its variable, as in `PORT: must be a whole number`. */
  constructor(problems: readonly string[]) {
    super(`The configuration is wrong:\n${problems.map(problem => `  ${problem}`).join('\n')}`)
    this.problems = problems
  }
}

/**
 * Turns environment variables into a typed configuration.
 * @throws ConfigError naming every variable that is missing or wrong.
 */
export function readConfig<T>(schema: z.ZodType<T>, env: Record<string, string | undefined>): T {
  const given = Object.fromEntries(Object.entries(env).filter(([, value]) => value !== undefined && value !== ''))
  const result = schema.safeParse(given)
  if (result.success) return result.data
  throw new ConfigError(result.error.issues.map(issue => `${issue.path.join('.') || 'settings'}: ${issue.message}`))
}
