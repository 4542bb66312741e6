import { readFileSync } from 'node:fs'

export type DocumentedVariable = {
  name: string
  /** What an operator would write for the default; null where it is no single value. */
  default: string | null
  isRequired: boolean
}

const row = /^\| `(?<name>\w+)` \| (?<processes>[^`|]+) \| (?<default>[^|]+) \|/gm
const page = new URL('../../../docs/configuration.md', import.meta.url)

/** Reads what docs/configuration.md tells about the variables of a process. */
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
