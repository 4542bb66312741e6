import type { Random } from './random.ts'

// biome-ignore lint/suspicious/noExplicitAny: a JSON Schema is looked into as it comes
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

/** A value that a schema describes, mostly: what its description alone cannot express may still be wrong. */
export function validValue(schema: Schema, random: Random): unknown {
  if (schema.enum) return random.pick(schema.enum)
  if (schema.anyOf) return validValue(random.pick(schema.anyOf), random)
  switch (schema.type) {
    case 'null':
      return null
    case 'boolean':
      return random.chance(0.5)
    case 'integer':
    case 'number':
      return between(schema.minimum ?? 0, Math.min(schema.maximum ?? 1000, Number.MAX_SAFE_INTEGER), random)
    case 'array':
      return Array.from({ length: 1 + random.below(3) }, () => validValue(schema.items ?? {}, random))
    case 'object':
      return validObject(schema, random)
    case 'string':
      return validString(schema, random)
    default:
      return random.pick([null, 1, 'text', [1, 2], { user: 42 }])
  }
}

/** A value that is wrong in some way, or at least unlikely. */
export function strangeValue(schema: Schema, random: Random): unknown {
  if (schema.type === 'string' && random.chance(0.4)) return random.pick(strange)
  if (schema.type === 'integer' && random.chance(0.4))
    return random.pick([(schema.minimum ?? 0) - 1, (schema.maximum ?? 10) + 1])
  if (schema.type === 'object' && schema.properties && random.chance(0.7)) return strangeObject(schema, random)
  return random.pick(junk)
}

function validObject(schema: Schema, random: Random): Record<string, unknown> {
  const required: string[] = schema.required ?? []
  const members = Object.entries<Schema>(schema.properties ?? {}).filter(
    ([name]) => required.includes(name) || random.chance(0.4),
  )
  return Object.fromEntries(members.map(([name, member]) => [name, validValue(member, random)]))
}

function strangeObject(schema: Schema, random: Random): Record<string, unknown> {
  const value = validObject(schema, random)
  const name = random.pick(Object.keys(schema.properties))
  const change = random.below(4)
  if (change === 0) delete value[name]
  if (change === 1) value[name] = strangeValue(schema.properties[name], random)
  if (change === 2) value[`${name}s`] = 1
  if (change === 3)
    Object.defineProperty(value, random.pick(['__proto__', 'constructor', 'id']), { value: {}, enumerable: true })
  return value
}

function validString(schema: Schema, random: Random): string {
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
