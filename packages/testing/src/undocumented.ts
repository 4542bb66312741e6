import { isDeepStrictEqual } from 'node:util'
import { documentedVariables } from './documented-variables.ts'

export type Configured = {
  /** The process, as docs/configuration.md names it. */
  process: string
  /** Every variable that its configuration reads. */
  names: string[]
  load(env: Record<string, string | undefined>): unknown
  /** What it needs at least. */
  env: Record<string, string>
}

/** Where docs/configuration.md and a process's configuration differ, each as a sentence. */
export function undocumented({ process, names, load, env }: Configured): string[] {
  const documented = documentedVariables(process)
  const told = documented.map(({ name }) => name)
  const missing = missingNames(load)
  return [
    ...names.filter(name => !told.includes(name)).map(name => `${name} of the ${process} has no row.`),
    ...told.filter(name => !names.includes(name)).map(name => `The ${process} does not read ${name}.`),
    ...documented
      .filter(({ name, isRequired }) => isRequired !== missing.includes(name))
      .map(({ name, isRequired }) => `${name} is ${isRequired ? 'not ' : ''}required.`),
    ...documented
      .filter(({ name, default: value }) => value !== null && !isDefault(load, env, name, value))
      .map(({ name, default: value }) => `The default of ${name} is not ${value}.`),
  ]
}

function missingNames(load: Configured['load']): string[] {
  try {
    load({})
    return []
  } catch (error) {
    return [...String(error).matchAll(/^ +(\w+):/gm)].map(([, name = '']) => name)
  }
}

function isDefault(load: Configured['load'], env: Configured['env'], name: string, value: string): boolean {
  return isDeepStrictEqual(load({ ...env, [name]: value }), load({ ...env, [name]: undefined }))
}
