import { problems } from '@belfry/contract/problem'
import { camel } from '../src/case.ts'
import { wrap } from './text.ts'

// Texts name fields as this library does.
function inCamel(text: string): string {
  return text.replace(/`([a-z]+(?:_[a-z0-9]+)+)`/g, (quoted, name: string) =>
    name in problems || name.startsWith('secret_') ? quoted : `\`${camel(name)}\``,
  )
}

const maxLine = 104

/** Returns a doc comment, whose lines are wrapped. */
export function comment(text: string): string {
  const whole = `/** ${inCamel(text)} */`
  if (whole.length <= maxLine) return whole
  return ['/**', ...wrap(inCamel(text), ' *', ' * ', maxLine), ' */'].join('\n')
}

/** The types that other modules declare, by their modules. Most are written by hand. */
export const typesOfModules: Record<string, string[]> = {
  './codes.ts': ['RunErrorCode', 'StateReason', 'WaitReason'],
  './responses.ts': ['Condition'],
  '../types/queue.ts': ['QueueInput'],
  '../types/request.ts': [...['Id', 'MethodInput', 'Page', 'PayloadInput', 'Timestamp', 'TimestampInput']],
  '../types/task.ts': ['Source', 'TaskState', 'TaskTime'],
}

/** Returns the imports of the types that code uses, from the other modules that declare them. */
export function importsOf(code: string, modules = typesOfModules): string {
  const used = new Set(code.replace(/\/\*\*[\s\S]*?\*\//g, '').match(/\b[A-Z]\w+/g))
  const isImported = (name: string) => used.has(name.replace(/.* as /, '')) && !code.includes(`export type ${name} =`)
  return Object.entries(modules)
    .map(([module, names]) => [module, names.filter(isImported)] as const)
    .filter(([, names]) => names.length > 0)
    .map(([module, names]) => `import type { ${names.join(', ')} } from '${module}'`)
    .join('\n')
}
