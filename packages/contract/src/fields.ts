import { findHeaderProblems } from '@belfry/domain/request-headers'
import { findBrokenReference } from '@belfry/domain/secrets/secret-reference'
import { z } from 'zod'
import { type Invalid, line, oneOf, type TextRule } from './text-rules.ts'

// Enough for sensible filters, and few enough for one statement.
const maxRepeats = 20

/**
 * A string that a rule parses.
 * @param missing - The message when it is required but missing. Default: that it is required.
 */
export function textField<T>(rule: TextRule<T>, missing?: string) {
  const string = z.string({ error: issue => (issue.input === undefined ? missing : undefined) })
  return string.meta({ ...rule.schema }).transform((text, ctx) => read(rule, text, ctx))
}

/** A query parameter that can be repeated. Its values are combined with OR. */
export function repeatable<T>(rule: TextRule<T>) {
  const texts = { type: 'array', items: { type: 'string', ...rule.schema }, maxItems: maxRepeats } as const
  return z
    .union([z.string(), z.array(z.string())])
    .meta(texts)
    .transform((given, ctx): T[] => {
      const texts = [given].flat()
      if (texts.length <= maxRepeats) return texts.map(text => read(rule, text, ctx))
      refuse(ctx, given, { code: 'too_many', must: `appear at most ${maxRepeats} times` })
      return z.NEVER
    })
}

/** True or false. A query has it as text. */
export const flag = z
  .union([z.boolean(), z.string()])
  .meta({ type: 'boolean' })
  .transform((given, ctx) => read(oneOf(['true', 'false']), String(given), ctx) === 'true')

export const linkToken = z.string().min(1).max(200).meta({ description: 'The token in the link of the mail.' })

/** A filter by hosts, with their ports. */
export const hostFilter = repeatable(line(300)).transform(hosts => hosts.map(host => host.toLowerCase()))

export function integer(min: number, max: number) {
  return z.int().min(min).max(max)
}

type Changes<Shape extends z.ZodRawShape> = {
  [Name in keyof Shape]: z.ZodOptional<
    Shape[Name] extends z.ZodDefault<infer Field> | z.ZodOptional<infer Field> ? Field : Shape[Name]
  >
}

/** Converts the fields of a creation to the fields of a change: each is optional, without its default. */
export function changesOf<Shape extends z.ZodRawShape>(shape: Shape): Changes<Shape> {
  const bare = (field: z.core.$ZodType) =>
    field instanceof z.ZodDefault || field instanceof z.ZodOptional ? field.unwrap() : field
  const fields = Object.entries(shape).map(([name, field]) => [name, z.optional(bare(field))])
  return Object.fromEntries(fields) as Changes<Shape>
}

/** An object of texts. `check` returns its problems: a problem of all texts has an empty name. */
export function textsField(
  schema: z.core.GlobalMeta,
  check: (texts: Texts) => ReadonlyArray<Invalid & { name: string }>,
) {
  return z
    .unknown()
    .meta({ type: 'object', ...schema })
    .transform((given, ctx): Record<string, string> => {
      if (typeof given !== 'object' || given === null || Array.isArray(given)) {
        refuse(ctx, given, { code: 'invalid_type', must: 'be an object of strings' })
        return z.NEVER
      }
      const texts: Texts = { ...given }
      for (const { name, ...invalid } of check(texts)) refuse(ctx, given, invalid, name === '' ? [] : [name])
      return texts as Record<string, string> // every value that is not a text is a problem
    })
}

type Texts = Readonly<Record<string, unknown>>

export const headersField = textsField(
  {
    propertyNames: { pattern: "^[!#$%&'*+.^_`|~0-9A-Za-z-]+$" },
    additionalProperties: { type: 'string', pattern: '^[\\u0020-\\u007e\\u00a0-\\u00ff]*$' },
    maxProperties: 50,
    description:
      'At most 50, with case-insensitive, unique names and 8,192 characters in total. Values may hold `{{ secrets.NAME }}`. Headers that Belfry or the connection sets are refused.',
    examples: [{ 'X-Source': 'shop' }],
  },
  headers => findHeaderProblems(headers).map(problem => ({ code: 'invalid_header', ...problem })),
)

/** A payload: any JSON value. Its strings may refer to secrets. Belfry sends its exact text. */
export const payloadField = z
  .unknown()
  .superRefine(checkReferences)
  .meta({
    description: 'Any JSON value, forwarded unchanged except for `{{ secrets.NAME }}` in its strings.',
    examples: [{ user: 42 }],
  })

export const objectPayloadField = z
  .unknown()
  .superRefine((given, ctx) => {
    const isObject = typeof given === 'object' && given !== null && !Array.isArray(given)
    if (isObject) checkReferences(given, ctx)
    else refuse(ctx, given, { code: 'invalid_type', must: 'be an object' })
  })
  .meta({
    type: 'object',
    description: 'A JSON object, forwarded unchanged except for `{{ secrets.NAME }}` in its strings.',
    examples: [{ order: 42 }],
  })

function checkReferences(given: unknown, ctx: z.RefinementCtx): void {
  if (hasBrokenReference(given)) refuseBrokenReferences(given, ctx, [])
}

// Checks without allocating, because hardly any payload has a reference.
function hasBrokenReference(value: unknown): boolean {
  if (typeof value === 'string') return findBrokenReference(value) !== null
  if (Array.isArray(value)) return value.some(hasBrokenReference)
  if (typeof value !== 'object' || value === null) return false
  const members = value as Record<string, unknown>
  for (const name in members) if (hasBrokenReference(members[name])) return true
  return false
}

function refuseBrokenReferences(value: unknown, ctx: z.RefinementCtx, path: string[]): void {
  if (typeof value === 'string') {
    const message = findBrokenReference(value)
    if (message !== null) refuse(ctx, value, { code: 'invalid_secret_reference', message }, path)
  } else if (typeof value === 'object' && value !== null) {
    for (const [key, member] of Object.entries(value)) refuseBrokenReferences(member, ctx, [...path, key])
  }
}

function read<T>(rule: TextRule<T>, text: string, ctx: z.RefinementCtx): T {
  const result = rule(text)
  if ('value' in result) return result.value
  refuse(ctx, text, result)
  return z.NEVER
}

/** Reports an error of the value that is being parsed. */
export function refuse(ctx: z.RefinementCtx, input: unknown, invalid: Invalid, path: string[] = []): void {
  ctx.addIssue({
    code: 'custom',
    input,
    path,
    params: invalid,
    ...('message' in invalid ? { message: invalid.message } : {}),
  })
}
