import { parseDuration as parse } from '@belfry/client'
import { UsageError } from './usage-error.ts'

/** Parses a duration such as `90s`, `10m` or `1h30m` into milliseconds. */
export function parseDuration(text: string): number {
  try {
    return parse(text)
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error))
  }
}
