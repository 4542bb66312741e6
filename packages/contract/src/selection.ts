import { z } from 'zod'
import { refuse, textField } from './fields.ts'
import { id } from './text-rules.ts'

const wrongCount = 'ids must have 1 to 100 elements.'

/** Returns the body that selects tasks, by their ids or by a filter, and may have `more` fields. */
export function selectionBody<Filter extends z.ZodType, More extends z.ZodRawShape = Record<never, never>>(
  filter: Filter,
  more: More = {} as More,
) {
  return z
    .strictObject({
      ids: z
        .array(textField(id('task')))
        .min(1, wrongCount)
        .max(100, wrongCount)
        .optional(),
      filter: filter.optional(),
      ...more,
    })
    .superRefine(
      (body: { ids?: unknown; filter?: unknown }, ctx) => {
        if ((body.ids === undefined) !== (body.filter === undefined)) return
        refuse(ctx, body, { code: 'required', message: 'Send either ids or filter; an empty filter selects all.' })
      },
      { when: ({ issues }) => issues.length === 0 },
    )
    .meta({
      oneOf: [{ required: ['ids'] }, { required: ['filter'] }],
      description: 'Either `ids` or `filter`.',
    })
}
