import { z } from 'zod'
import { refuse, textField } from './fields.ts'
import { id } from './text-rules.ts'

const wrongCount = 'ids must have 1 to 100 elements.'

/** Returns the body that selects tasks, by their ids or by a filter. */
export function selectionBody<Filter extends z.ZodType>(filter: Filter) {
  return z
    .strictObject({
      ids: z
        .array(textField(id('task')))
        .min(1, wrongCount)
        .max(100, wrongCount)
        .optional(),
      filter: filter.optional(),
    })
    .superRefine(
      (body, ctx) => {
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
