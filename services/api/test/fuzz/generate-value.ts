import type { Random } from './random.ts'

// biome-ignore lint/suspicious/noExplicitAny: a JSON Schema has any shape
export type Schema = any

const strange = [
  '',
  ' ',
  '\0',
  '\ud800',
  '💥'.repeat(70),
  'a'.repeat(300),
  '../../etc/passwd',
  "' OR 1=1 --",
  '{{x}}',
  '__proto__',
]
const junk: readonly unknown[] = [null, true, false, 0, -1, 1.5, 1e21, '', 'x', [], {}, [null], { not: '' }, ['a', 'b']]

/** Known values: ids of existing objects, and values of members by name. */
export type Memory = { id(kind: string): string | undefined; value(name: string): string | undefined }

/** Makes a value that mostly matches a schema. It may break rules that the schema cannot express. */
export function validValue(schema: Schema, random: Random, memory: Memory): unknown {
  if (schema.enum) return random.pick(schema.enum)
  if ('const' in schema) return schema.const
  if (schema.oneOf && !schema.type) return validValue(random.pick(schema.oneOf), random, memory)
  if (schema.anyOf) return validValue(random.pick(schema.anyOf), random, memory)
  switch (schema.type) {
    case 'null':
      return null
    case 'boolean':
      return random.chance(0.5)
    case 'integer':
    case 'number':
      return between(schema.minimum ?? 0, Math.min(schema.maximum ?? 1000, Number.MAX_SAFE_INTEGER), random)
    case 'array':
      return Array.from({ length: 1 + random.below(3) }, () => validValue(schema.items ?? {}, random, memory))
    case 'object':
      // Of free names, only examples are likely to have a meaning.
      if (!schema.properties && schema.examples && random.chance(0.8)) return random.pick(schema.examples)
      return validObject(schema, random, memory)
    case 'string':
      return validString(schema, random, memory)
    default:
      return random.pick([null, 1, 'text', [1, 2], { user: 42 }])
  }
}

/** Makes a value that is invalid, or at least unlikely. */
export function strangeValue(schema: Schema, random: Random, memory: Memory): unknown {
  if (schema.type === 'string' && random.chance(0.4)) return random.pick(strange)
  if (schema.type === 'integer' && random.chance(0.4))
    return random.pick([(schema.minimum ?? 0) - 1, (schema.maximum ?? 10) + 1])
  if (schema.oneOf && !schema.type) return strangeValue(random.pick(schema.oneOf), random, memory)
  if (schema.type === 'object' && schema.properties && random.chance(0.7)) return strangeObject(schema, random, memory)
  return random.pick(junk)
}

function validObject(schema: Schema, random: Random, memory: Memory): Record<string, unknown> {
  const choices: Schema[] = schema.oneOf ?? [{}]
  const { required: chosen = [] } = random.pick(choices)
  const unchosen = choices.flatMap(({ required = [] }) => required).filter(name => !chosen.includes(name))
  const required: string[] = [...(schema.required ?? []), ...chosen]
  const members = Object.entries<Schema>(schema.properties ?? {}).filter(
    ([name]) => required.includes(name) || (!unchosen.includes(name) && random.chance(0.4)),
  )
  return Object.fromEntries(members.map(([name, member]) => [name, validMember(name, member, random, memory)]))
}

function validMember(name: string, schema: Schema, random: Random, memory: Memory): unknown {
  const known = schema.type === 'string' && random.chance(0.7) ? memory.value(name) : undefined
  return known ?? validValue(schema, random, memory)
}

function strangeObject(schema: Schema, random: Random, memory: Memory): Record<string, unknown> {
  const value = validObject(schema, random, memory)
  const name = random.pick(Object.keys(schema.properties))
  const change = random.below(4)
  if (change === 0) delete value[name]
  if (change === 1) value[name] = strangeValue(schema.properties[name], random, memory)
  if (change === 2) value[`${name}s`] = 1
  if (change === 3)
    Object.defineProperty(value, random.pick(['__proto__', 'constructor', 'id']), { value: {}, enumerable: true })
  return value
}

function validString(schema: Schema, random: Random, memory: Memory): string {
  const kind = /^\^(\w+?)_/.exec(schema.pattern ?? '')?.[1]
  const known = kind && random.chance(0.8) ? memory.id(kind) : undefined
  if (known) return known
  if (schema.format === 'date-time') {
    const inAYear = Date.now() + 3_600_000 + random.below(31_536_000_000)
    return new Date(inAYear).toISOString()
  }
  if (schema.format === 'email') return `${random.below(2 ** 32)}@example.com`
  if (schema.examples && random.chance(0.8)) return String(random.pick(schema.examples))
  if (schema.pattern) return String(schema.examples?.[0] ?? 'NAME')
  const length = between(Math.max(1, schema.minLength ?? 1), Math.min(schema.maxLength ?? 40, 40), random)
  return 'abcdefghijklmnopqrstuvwxyzäöü '
    .repeat(2)
    .slice(random.below(20))
    .slice(0, length)
    .padEnd(schema.minLength ?? 1, 'x')
}

function between(min: number, max: number, random: Random): number {
  return random.chance(0.2) ? random.pick([min, max]) : min + random.below(max - min + 1)
}
