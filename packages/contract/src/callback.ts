import { timeoutLimits } from '@belfry/domain/timeout'
import { z } from 'zod'
import { headersField, integer, textField } from './fields.ts'
import { namedObject } from './objects.ts'
import { millisecondsField, orNull } from './response-fields.ts'
import { retry, retryPolicy } from './retry.ts'
import { targetUrl } from './text-rules.ts'

/** What a callback reports: the success of a task, its final failure, or the end of each attempt. */
export const callbackEvents = ['on_success', 'on_failure', 'on_attempt'] as const

export type CallbackEvent = (typeof callbackEvents)[number]

const target = z
  .strictObject({
    url: textField(targetUrl),
    headers: headersField.default(() => ({})),
    retry: retryPolicy,
    timeout_ms: integer(timeoutLimits.min, timeoutLimits.max).default(timeoutLimits.default),
  })
  .meta({ id: 'CallbackRequest' })

/** The callbacks of a new object, each a target or null. A change replaces each as a whole. */
export const callbackFields = {
  on_success: target.nullable().default(null),
  on_failure: target.nullable().default(null),
  on_attempt: target.nullable().default(null),
}

/** The target of a callback in a response. */
const callback = namedObject('Callback', {
  url: z.string().meta({ examples: ['https://example.com/hooks/done'] }),
  headers: z.record(z.string(), z.string()).meta({ examples: [{}] }),
  retry,
  timeout_ms: millisecondsField(30_000),
})

export type Callback = z.infer<typeof callback>

const shown = (description: string) => orNull(callback, { description, examples: [null] })

export const shownCallbacks = {
  on_success: shown('Called with the task and the run when the task succeeds.'),
  on_failure: shown('Called when the task is dead.'),
  on_attempt: shown('Called after each attempt.'),
}
