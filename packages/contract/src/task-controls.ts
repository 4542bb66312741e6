import { hasPlaceholder, labelForm, labelTemplateForm, maxLabels } from '@belfry/domain/label'
import { z } from 'zod'
import { integer, textField } from './fields.ts'
import { numberOrNull, orNull, shownTexts, textOrNull, timeOrNull } from './response-fields.ts'
import { line, matching, type TextRule, textRule } from './text-rules.ts'

const patternOf = ({ source }: RegExp) => source.replaceAll('/', '\\/')
const labelPattern = patternOf(labelForm)

export const label = matching(
  { pattern: labelPattern, maxLength: 100, examples: ['customer:42'] },
  'invalid_label',
  'be a label such as customer:42: 1 to 100 letters, digits and . _ : / = @ + -, starting with a letter or digit',
)

const templatePattern = `(${labelPattern})|(${patternOf(labelTemplateForm)})`
const labelTemplate: TextRule<string> = textRule({ ...label.schema, pattern: templatePattern }, text => {
  if (!hasPlaceholder(text)) return label(text)
  if (text.length <= 100 && labelTemplateForm.test(text)) return { value: text }
  const must =
    'be a label that ends in one placeholder for a member of the payload, such as order:{{ payload.order_id }}'
  return { code: 'invalid_label', must }
})

/** Up to ten labels. A repeated one counts once. */
export const labelsField = labelsOf(label).meta({
  description: 'Up to 10 labels, to filter by.',
  examples: [['customer:42']],
})

/** The same for what creates tasks: the payload of a task fills in the placeholders. */
export const newLabelsField = labelsOf(labelTemplate).meta({
  description:
    'Up to 10 labels, to filter by. A label may end in a placeholder for a member of the payload. It is left out when the member is missing or makes no valid label.',
  examples: [['customer:42', 'order:{{ payload.order_id }}']],
})

function labelsOf(rule: TextRule<string>) {
  return z
    .array(textField(rule))
    .max(maxLabels, `labels must have at most ${maxLabels} elements.`)
    .transform(labels => [...new Set(labels)])
}

export const keyField = textField(textRule({ ...line(128).schema, examples: ['reindex:42'] }, line(128))).meta({
  description: 'Unique among the pending tasks of the workspace.',
})

/** The key of a cron job, a subscription or an integration: unique among the workspace's objects of its kind. */
export const objectKeyField = textField(
  textRule({ ...line(128).schema, examples: ['shop/nightly-report'] }, line(128)),
).meta({ description: 'A key of your choice, unique among the objects of this kind in the workspace.' })

export const shownKeyField = textOrNull('The key that its creator chose.')

export const onConflictField = z.enum(['reject', 'keep', 'replace']).meta({
  description:
    'When a pending task has the key: `reject` (the default) answers 409, `keep` returns that task, `replace` gives it this request and time.',
})

export const onPastField = z.enum(['reject', 'run']).meta({
  description:
    'When execute_at is not in the future: `reject` (the default) answers 400, `run` makes the call due at once.',
})

const maxAgeField = integer(1_000, 1_209_600_000)
  .nullable()
  .meta({
    description:
      'No attempt starts this long after the time of the task, 1,000 to 1,209,600,000 ms. Null: no deadline.',
    examples: [60_000],
  })

/** The deadline and the labels of the tasks that a cron job or a subscription creates. */
export const newControlFields = { max_age_ms: maxAgeField.default(null), labels: newLabelsField.default(() => []) }

/** The same of the tasks of an event. */
export const eventControlFields = { max_age_ms: maxAgeField.optional(), labels: newLabelsField.optional() }

/** Whether a cron job or subscription fails, and is switched off therefore, in a response. */
export const failingFields = {
  failing_since: timeOrNull('The first failure since which no call has succeeded.'),
  paused_reason: orNull(z.literal('failing'), {
    description: '`failing`: Belfry has switched it off, because it only failed for days. Null otherwise.',
    examples: [null],
  }),
}

/** The deadline and the labels of a cron job or subscription, in a response. */
export const controlFields = {
  max_age_ms: numberOrNull('No attempt starts this long after the time of the task, in milliseconds.'),
  labels: shownTexts('The labels of its tasks.', []),
}
