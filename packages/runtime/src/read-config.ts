import type { z } from 'zod'

/** What is wrong with a process's configuration: every problem, one a line, no value shown. */
export class ConfigError extends Error {}

/**
 * Turns environment variables into a typed configuration.
 * @throws ConfigError naming every variable that is missing or wrong.
 */
export function readConfig<T>(schema: z.ZodType<T>, env: Record<string, string | undefined>): T {
  const given = Object.fromEntries(Object.entries(env).filter(([, value]) => value !== undefined && value !== ''))
  const result = schema.safeParse(given)
  if (result.success) return result.data
  const lines = result.error.issues.map(issue => `  ${issue.path.join('.') || 'settings'}: ${issue.message}`)
  throw new ConfigError(`The configuration is wrong:\n${lines.join('\n')}`)
}
