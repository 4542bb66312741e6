import { readSecretFiles } from '@belfry/vault'
import type { z } from 'zod'

/** The problems of a process's configuration, one per line, without values. */
export class ConfigError extends Error {
  readonly problems: readonly string[]

  /** @param problems - Each starts with its variable, as in `PORT: must be a whole number`. */
  constructor(problems: readonly string[]) {
    super(`The configuration is invalid:\n${problems.map(problem => `  ${problem}`).join('\n')}`)
    this.problems = problems
  }
}

/**
 * Parses environment variables into a typed configuration. Empty variables count as missing. A secret can be in a file.
 * @throws ConfigError that names every missing or invalid variable.
 */
export function readConfig<T>(schema: z.ZodType<T>, env: Record<string, string | undefined>): T {
  const { env: resolved, problems } = readSecretFiles(env)
  if (problems.length > 0) throw new ConfigError(problems)
  const given = Object.fromEntries(Object.entries(resolved).filter(([, value]) => value !== undefined && value !== ''))
  const result = schema.safeParse(given)
  if (result.success) return result.data
  throw new ConfigError(result.error.issues.map(issue => `${issue.path.join('.') || 'settings'}: ${issue.message}`))
}
