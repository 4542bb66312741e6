import type { Queue, UpdateQueueBody } from '@belfry/contract/queue'
import type { ReactNode } from 'react'
import { putQueue } from '../../api/queues.ts'
import { Form } from '../../forms/form.tsx'
import { type FieldErrors, useForm } from '../../forms/use-form.ts'
import { useWorkspace } from '../../session/scope.ts'
import { Checkbox } from '../../ui/checkbox.tsx'
import { Field, TextInput } from '../../ui/field.tsx'
import styles from './queues.module.css'

type QueueFormProps = {
  /** The queue to edit; null creates one. */
  queue: Queue | null
  onDone(): void
}

type Draft = { name: string; max: string; count: string; seconds: string; ordered: boolean }

/** Creates a queue, or edits its limits. */
export function QueueForm({ queue, onDone }: QueueFormProps): ReactNode {
  const { workspace } = useWorkspace()
  const form = useForm({
    read: (field, data): Draft => ({
      name: queue?.name ?? field('name').trim(),
      max: field('max_concurrent').trim(),
      count: field('rate_limit.count').trim(),
      seconds: field('rate_limit.period_ms').trim(),
      ordered: data.get('ordered') === 'on',
    }),
    check: checkDraft,
    submit: draft => putQueue(workspace.id, draft.name, bodyOf(draft)),
    onDone,
    done: ({ name }) => (queue ? `${name} updated` : `${name} created`),
    affects: [['queues', workspace.id]],
  })
  const { errors } = form
  return (
    <Form form={form} action={queue ? 'Save' : 'Create queue'}>
      {!queue && (
        <Field label="Name" hint="Such as customer-42. Tasks name it." error={errors.name}>
          <TextInput name="name" isMono autoComplete="off" spellCheck={false} />
        </Field>
      )}
      <Field label="Calls at a time" isOptional hint="Over all dispatchers." error={errors.max_concurrent}>
        <TextInput name="max_concurrent" inputMode="numeric" defaultValue={queue?.max_concurrent ?? ''} />
      </Field>
      <div className={styles.rate}>
        <Field label="Calls per period" isOptional error={errors['rate_limit.count']}>
          <TextInput name="rate_limit.count" inputMode="numeric" defaultValue={queue?.rate_limit?.count ?? ''} />
        </Field>
        <Field label="Period (s)" isOptional error={errors['rate_limit.period_ms']}>
          <TextInput
            name="rate_limit.period_ms"
            inputMode="decimal"
            defaultValue={queue?.rate_limit ? queue.rate_limit.period_ms / 1000 : ''}
          />
        </Field>
      </div>
      <Checkbox name="ordered" label="One task at a time, in order" isInitiallyOn={queue?.ordered ?? false} />
    </Form>
  )
}

function bodyOf({ max, count, seconds, ordered }: Draft): UpdateQueueBody {
  return {
    max_concurrent: max === '' ? null : Number(max),
    rate_limit: count === '' ? null : { count: Number(count), period_ms: Math.round(Number(seconds) * 1000) },
    ordered,
  }
}

function checkDraft({ name, max, count, seconds }: Draft): FieldErrors {
  const isWithin = (text: string, min: number, limit: number) => Number(text) >= min && Number(text) <= limit
  const isWhole = (text: string, limit: number) => Number.isInteger(Number(text)) && isWithin(text, 1, limit)
  return {
    ...(/^[A-Za-z0-9][A-Za-z0-9._:/-]{0,127}$/.test(name)
      ? {}
      : { name: 'Use letters, digits and . _ : / -, starting with a letter or a digit.' }),
    ...(max === '' || isWhole(max, 1_000) ? {} : { max_concurrent: 'Enter a whole number from 1 to 1,000.' }),
    ...(count === '' ? {} : isWhole(count, 10_000) ? {} : { 'rate_limit.count': 'Enter a whole number up to 10,000.' }),
    ...((count === '') === (seconds === '') && (seconds === '' || isWithin(seconds, 0.1, 86_400))
      ? {}
      : { 'rate_limit.period_ms': 'Enter both, with a period of 0.1 to 86,400 seconds.' }),
  }
}
