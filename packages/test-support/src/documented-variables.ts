import { readFileSync } from 'node:fs'

export type DocumentedVariable = {
  name: string
  /** The default as an operator would write it; null when it is not a single value. */
  default: string | null
  isRequired: boolean
}

const row = /^\| `(?<name>\w+)` \| (?<processes>[^`|]+) \| (?<default>[^|]+) \|/gm
const page = new URL('../../../docs/configuration.md', import.meta.url)

/** Parses the variables of a process in docs/configuration.md. */
export function documentedVariables(process: string): DocumentedVariable[] {
  const rows = [...readFileSync(page, 'utf8').matchAll(row)].map(match => match.groups ?? {})
  return rows
    .filter(({ processes = '' }) => processes.split(', ').includes(process))
    .map(({ name = '', default: value = '' }) => ({
      name,
      default: /^`([^`]+)`$/.exec(value)?.[1] ?? null,
      isRequired: value === 'required',
    }))
}
