import { parseDuration as parse } from '@belfry/client'
import { readInstant } from '@belfry/domain/instant'
import { InvalidArgumentError, Option } from 'commander'
import { UsageError } from './usage-error.ts'

export function parseNumber(
  text: string,
  { min = 0, max = Number.MAX_SAFE_INTEGER }: { min?: number; max?: number },
): number {
  const value = Number(text)
  if (/^\d+$/.test(text) && value >= min && value <= max) return value
  throw new InvalidArgumentError(`Use a whole number of at least ${min}${max < 1e9 ? ` and at most ${max}` : ''}.`)
}

export function repeated(flags: string, description: string): Option {
  return new Option(flags, description).argParser((text, before: string[] | undefined) => [...(before ?? []), text])
}

/** Parses headers such as `X-Source: cron`. */
export function parseHeaders(lines: readonly string[] = []): Record<string, string> {
  return Object.fromEntries(
    lines.map(line => {
      const [, name, value] = /^([^:\s]+)\s*:\s*(.*?)\s*$/s.exec(line) ?? []
      if (name === undefined || value === undefined)
        throw new UsageError(`A header must be "Name: value", not ${line}.`)
      return [name, value]
    }),
  )
}

/** Parses the values of an option such as `--var NAME=value`. */
export function parseAssignments(option: string, given: readonly string[] = []): Record<string, string> {
  return Object.fromEntries(
    given.map(one => {
      const [, name, value] = /^([^=]+)=(.*)$/s.exec(one) ?? []
      if (name !== undefined && value !== undefined) return [name, value]
      throw new UsageError(`${option} ${one} must look like name=value.`)
    }),
  )
}

/** Parses a time as the API does. */
export function parseInstant(text: string): Date {
  const read = readInstant(text)
  if ('value' in read) return read.value
  throw new UsageError(`${text} is not a time: it must ${read.must}.`)
}

export function parseDuration(text: string): number {
  try {
    return parse(text)
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error))
  }
}
