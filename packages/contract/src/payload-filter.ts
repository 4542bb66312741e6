import type { Condition } from '@belfry/domain/payload-filter'
import { z } from 'zod'
import { refuse, textField } from './fields.ts'
import { line, textRule } from './text-rules.ts'

const maxConditions = 20
const maxValues = 100
const maxLength = 8_192

const pathForm = /^[^.]+(\.[^.]+)*$/
const path = textField(
  textRule({ ...line(200).schema, pattern: pathForm.source, examples: ['order.total'] }, text => {
    const must = 'be the names of members joined by dots, such as order.total'
    return pathForm.test(text) ? line(200)(text) : { code: 'invalid_path', must }
  }),
).meta({ description: 'The names of members, joined by dots. A number selects an element of a list.' })

const text = z.string().max(500)
// Larger whole numbers would change in a reader that has only doubles.
const number = z.number().min(Number.MIN_SAFE_INTEGER).max(Number.MAX_SAFE_INTEGER)
const scalar = z.union([text, number, z.boolean(), z.null()])

const condition = z
  .discriminatedUnion('op', [
    z.strictObject({ path, op: z.enum(['eq', 'ne']), value: scalar }),
    z.strictObject({ path, op: z.literal('in'), value: z.array(scalar).min(1).max(maxValues) }),
    z.strictObject({ path, op: z.literal('prefix'), value: text }),
    z.strictObject({ path, op: z.literal('exists'), value: z.boolean() }),
    z.strictObject({ path, op: z.enum(['gt', 'gte', 'lt', 'lte']), value: number }),
  ])
  .meta({ id: 'Condition' })

const description =
  'Conditions on members of the payload. Only events for which all of them hold are sent; a missing member satisfies only ' +
  '`ne` and `exists: false`.'
const examples = [[{ path: 'order.total', op: 'gte', value: 100 }]]

/** The conditions of a subscription. */
export const filterField = z
  .array(condition)
  .max(maxConditions, `filter must have at most ${maxConditions} conditions.`)
  .superRefine((filter, ctx) => {
    if (JSON.stringify(filter).length <= maxLength) return
    refuse(ctx, filter, { code: 'too_long', must: `have at most ${maxLength} characters as JSON` })
  })
  .meta({ description, examples })

/** The same in a response. */
export const shownFilter = z.array(condition as z.ZodType<Condition>).meta({ description, examples })
