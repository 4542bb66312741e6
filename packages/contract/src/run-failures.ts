import { z } from 'zod'
import { integer, textField } from './fields.ts'
import { namedObject } from './objects.ts'
import { idField, orNull, shownFlag, shownNumber, shownText, textOrNull, timestampField } from './response-fields.ts'
import { line, oneOf } from './text-rules.ts'

/** What users have decided about a group of failures. */
const failureStates = ['open', 'ignored', 'resolved'] as const

export const failureStateBody = z.strictObject({
  host: textField(line(300)),
  error_code: textField(line(100)),
  response_status: integer(100, 999)
    .nullable()
    .meta({ description: 'The status of the responses; null: there was none.' }),
  state: textField(oneOf(failureStates)),
})

const failureGroup = namedObject('FailureGroup', {
  host: z.string().meta({ examples: ['example.com'] }),
  error_code: z.string().meta({ examples: ['http_status'], description: 'Why the runs failed.' }),
  response_status: orNull(z.int(), { examples: [503] }),
  error_message: shownText('The message of the latest run.', 'HTTP status 503'),
  cause: textOrNull(
    'The first 120 characters of the response of the latest run, without markup; null when it had no text.',
    'remaining connection slots are reserved',
  ),
  count: z.int().meta({ examples: [712], description: 'The number of failed runs.' }),
  state: z.enum(failureStates).meta({
    description: 'Whether users have ignored or resolved it. A run after the resolution opens it again.',
  }),
  first_at: timestampField().meta({ description: 'When the first of them started.' }),
  last_at: timestampField().meta({ description: 'When the latest of them started.' }),
  last_run_id: idField('run').meta({ description: 'The latest run, as an example.' }),
  task_name: shownText('The name of its task.', 'Trial reminder'),
})

export const runFailures = namedObject('RunFailures', {
  data: z.array(failureGroup).meta({ description: 'The groups with the most runs first; at most 50.' }),
  counted: shownNumber('The number of runs that the groups were made from.', 712),
  is_partial: shownFlag(
    'There may be more failed runs: the groups are made from the latest ones, without those in object storage.',
    false,
  ),
})

export type RunFailures = z.infer<typeof runFailures>
