import { isDeepStrictEqual } from 'node:util'
import { documentedVariables } from './documented-variables.ts'

export type Configured = {
  /** The name of the process in docs/configuration.md. */
  process: string
  /** All variables of its configuration. */
  names: string[]
  load(env: Record<string, string | undefined>): unknown
  /** The required variables. */
  env: Record<string, string>
}

/** Returns the differences between docs/configuration.md and a process's configuration, as sentences. */
export function undocumented({ process, names, load, env }: Configured): string[] {
  const documented = documentedVariables(process)
  const documentedNames = documented.map(({ name }) => name)
  const missing = missingNames(load)
  return [
    ...names.filter(name => !documentedNames.includes(name)).map(name => `${name} of the ${process} has no row.`),
    ...documentedNames.filter(name => !names.includes(name)).map(name => `The ${process} does not read ${name}.`),
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
