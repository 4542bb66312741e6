import type { Subscription } from '@belfry/contract/subscription'
import { isTopicPattern } from '@belfry/domain/topic'
import { useQueryClient } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import { createSubscription, type SubscriptionBody, updateSubscription } from '../../api/subscriptions.ts'
import { Form } from '../../forms/form.tsx'
import { checkFlow, type FlowDraft, FlowFields, flowBodyOf, flowDraftOf } from '../../forms/request/flow-fields.tsx'
import { BackoffSelect } from '../../forms/request/retry-fields.tsx'
import { type FieldErrors, useForm } from '../../forms/use-form.ts'
import { useWorkspace } from '../../session/scope.ts'
import { Checkbox } from '../../ui/checkbox.tsx'
import { Field, Textarea, TextInput } from '../../ui/field.tsx'
import { useToast } from '../../ui/toast.tsx'
import { readHeaderLines, writeHeaderLines } from './header-lines.ts'
import styles from './subscriptions.module.css'
import { TopicHelp } from './topic-help.tsx'

type SubscriptionFormProps = {
  /** The subscription to edit; null creates one. */
  subscription: Subscription | null
  /** Topics of recent events. */
  topics: readonly string[]
  onDone(): void
}

type Draft = { body: SubscriptionBody; flow: FlowDraft; headersError: string | null }

/** Creates or edits a subscription. */
export function SubscriptionForm({ subscription, topics, onDone }: SubscriptionFormProps): ReactNode {
  const { workspace } = useWorkspace()
  const client = useQueryClient()
  const toast = useToast()
  const [topic, setTopic] = useState(subscription?.topic ?? '')
  const [flow, setFlow] = useState(() => flowDraftOf(subscription))
  const form = useForm({
    read: (field, data) => readDraft(field, data.get('active') === 'on', flow),
    check: checkDraft,
    submit: ({ body }) =>
      subscription ? updateSubscription(workspace.id, subscription.id, body) : createSubscription(workspace.id, body),
    async onDone(saved) {
      await client.invalidateQueries({ queryKey: ['subscriptions', workspace.id] })
      toast(subscription ? 'Subscription updated' : `Subscribed to ${saved.topic}`)
      onDone()
    },
  })
  const { errors } = form
  return (
    <Form form={form} action={subscription ? 'Save' : 'Subscribe'}>
      <Field
        label="Topic"
        hint={<TopicHelp pattern={topic.trim()} topics={topics} />}
        error={isTopicPattern(topic.trim()) ? undefined : errors.topic}
      >
        <TextInput
          name="topic"
          isMono
          autoComplete="off"
          placeholder="orders.*"
          value={topic}
          onChange={event => setTopic(event.target.value)}
        />
      </Field>
      <Field label="Target URL" hint="Receives a POST request with the payload of each event." error={errors.url}>
        <TextInput
          name="url"
          type="url"
          isMono
          placeholder="https://example.com/hooks/orders"
          defaultValue={subscription?.url}
        />
      </Field>
      <Field
        label="Headers"
        isOptional
        hint="One per line. {{ secrets.NAME }} inserts a secret."
        error={errors.headers}
      >
        <Textarea
          name="headers"
          isMono
          rows={2}
          spellCheck={false}
          placeholder="Authorization: Bearer {{ secrets.ORDERS_TOKEN }}"
          defaultValue={writeHeaderLines(subscription?.headers ?? {})}
        />
      </Field>
      <div className={styles.numbers}>
        <Field label="Retries" error={errors['retry.max_retries']}>
          <TextInput name="retry.max_retries" inputMode="numeric" defaultValue={subscription?.retry.max_retries ?? 5} />
        </Field>
        <Field label="Backoff" error={errors['retry.backoff']}>
          <BackoffSelect defaultValue={subscription?.retry.backoff ?? 'exponential'} />
        </Field>
        <Field label="Initial delay (s)" error={errors['retry.base_delay_ms']}>
          <TextInput
            name="retry.base_delay_ms"
            inputMode="decimal"
            defaultValue={(subscription?.retry.base_delay_ms ?? 10_000) / 1000}
          />
        </Field>
        <Field label="Timeout (s)" error={errors.timeout_ms}>
          <TextInput name="timeout_ms" inputMode="decimal" defaultValue={(subscription?.timeout_ms ?? 30_000) / 1000} />
        </Field>
      </div>
      <FlowFields draft={flow} errors={errors} onChange={change => setFlow({ ...flow, ...change })} />
      <Checkbox name="active" label="Active" isInitiallyOn={subscription?.active ?? true} />
    </Form>
  )
}

function readDraft(field: (name: string) => string, active: boolean, flow: FlowDraft): Draft {
  const lines = readHeaderLines(field('headers'))
  return {
    headersError: 'error' in lines ? lines.error : null,
    body: {
      topic: field('topic').trim(),
      url: field('url').trim(),
      headers: 'headers' in lines ? lines.headers : {},
      retry: {
        max_retries: Number(field('retry.max_retries')),
        backoff: field('retry.backoff') as SubscriptionBody['retry']['backoff'] & string, // one of the options
        base_delay_ms: toMs(field('retry.base_delay_ms')),
      },
      timeout_ms: toMs(field('timeout_ms')),
      active,
      ...flowBodyOf(flow),
    },
    flow,
  }
}

function checkDraft({ body: { topic, url, retry, timeout_ms }, flow, headersError }: Draft): FieldErrors {
  const isWhole = (value: number | undefined) => Number.isInteger(value)
  return {
    ...checkFlow(flow),
    ...(isTopicPattern(topic) ? {} : { topic: 'Enter a topic such as orders.paid or orders.*, or * for all.' }),
    ...(/^https?:\/\/./.test(url) ? {} : { url: 'Enter an http:// or https:// URL.' }),
    ...(headersError === null ? {} : { headers: headersError }),
    ...(isWhole(retry.max_retries) ? {} : { 'retry.max_retries': 'Enter a whole number from 0 to 20.' }),
    ...(isWhole(retry.base_delay_ms) ? {} : { 'retry.base_delay_ms': 'Enter a number of seconds.' }),
    ...(isWhole(timeout_ms) ? {} : { timeout_ms: 'Enter a number of seconds.' }),
  }
}

function toMs(seconds: string): number {
  return seconds.trim() === '' ? Number.NaN : Math.round(Number(seconds) * 1000)
}
