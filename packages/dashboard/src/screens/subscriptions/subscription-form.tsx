import type { Subscription } from '@belfry/contract/subscription'
import { isTopicPattern } from '@belfry/domain/topic'
import { type ReactNode, useState } from 'react'
import { type Body, call } from '../../api/call.ts'
import { Form } from '../../forms/form.tsx'
import { checkFlow, type FlowDraft, FlowFields, flowBodyOf, flowDraftOf } from '../../forms/request/flow-fields.tsx'
import { checkRetry, type RetryDraft, retryBodyOf, retryDraftOf } from '../../forms/request/retry-draft.ts'
import { RetryFields } from '../../forms/request/retry-fields.tsx'
import { useForm } from '../../forms/use-form.ts'
import { useWorkspace } from '../../session/scope.ts'
import { Checkbox } from '../../ui/checkbox.tsx'
import { TextareaField, TextField } from '../../ui/field.tsx'
import { type FilterLines, readFilterLines, writeFilterLines } from './filter-lines.ts'
import { type HeaderLines, readHeaderLines, writeHeaderLines } from './header-lines.ts'
import { matchingTopics } from './recent-topics.ts'
import styles from './subscriptions.module.css'

type SubscriptionFormProps = {
  /** The subscription to edit; null creates one. */
  subscription: Subscription | null
  /** Topics of recent events. */
  topics: readonly string[]
}

type Draft = {
  body: Body<'createSubscription'>
  retry: RetryDraft
  flow: FlowDraft
  lineErrors: Record<'headers' | 'filter', string | null>
}

export function SubscriptionForm({ subscription, topics }: SubscriptionFormProps): ReactNode {
  const { workspace } = useWorkspace()
  const [topic, setTopic] = useState(subscription?.topic ?? '')
  const [retry, setRetry] = useState(() => retryDraftOf(subscription?.retry, subscription?.timeout_ms))
  const [flow, setFlow] = useState(() => flowDraftOf(subscription))
  const form = useForm({
    read(field, data): Draft {
      const headers = readHeaderLines(field('headers'))
      const filter = readFilterLines(field('filter'))
      const active = data.get('active') === 'on'
      const body = {
        topic: field('topic').trim(),
        filter: 'filter' in filter ? filter.filter : [],
        url: field('url').trim(),
        headers: 'headers' in headers ? headers.headers : {},
        ...retryBodyOf(retry),
        // To turn off a subscription that was switched off would end the record of the events that it misses.
        ...(active === subscription?.active ? {} : { active }),
        ...flowBodyOf(flow),
      }
      return { body, retry, flow, lineErrors: { headers: errorIn(headers), filter: errorIn(filter) } }
    },
    check: checkDraft,
    submit: ({ body }) =>
      subscription
        ? call('updateSubscription', { ws: workspace.id, sub: subscription.id, body })
        : call('createSubscription', { ws: workspace.id, body }),
    done: saved => (subscription ? 'Subscription updated' : `Subscribed to ${saved.topic}`),
  })
  return (
    <Form form={form} action={subscription ? 'Save' : 'Subscribe'}>
      <TextField
        label="Topic"
        hint={<TopicHelp pattern={topic.trim()} topics={topics} />}
        name="topic"
        isMono
        autoComplete="off"
        placeholder="orders.*"
        value={topic}
        onChange={event => setTopic(event.target.value)}
      />
      <TextareaField
        label="Filter"
        isOptional
        hint="Conditions on the payload, one per line; all must hold. Operators: eq, ne, in, prefix, exists, gt, gte, lt, lte."
        name="filter"
        isMono
        rows={2}
        placeholder={'order.total gte 100\ncountry in ["DE", "AT"]'}
        defaultValue={writeFilterLines(subscription?.filter ?? [])}
      />
      <TextField
        label="Target URL"
        hint="Receives a POST request with the payload of each event."
        name="url"
        type="url"
        isMono
        placeholder="https://example.com/hooks/orders"
        defaultValue={subscription?.url}
      />
      <TextareaField
        label="Headers"
        isOptional
        hint="One per line. {{ secrets.NAME }} inserts a secret."
        name="headers"
        isMono
        rows={2}
        placeholder="Authorization: Bearer {{ secrets.ORDERS_TOKEN }}"
        defaultValue={writeHeaderLines(subscription?.headers ?? {})}
      />
      <RetryFields draft={retry} onChange={change => setRetry({ ...retry, ...change })} />
      <FlowFields draft={flow} onChange={change => setFlow({ ...flow, ...change })} />
      <Checkbox name="active" label="Active" isInitiallyOn={subscription?.active ?? true} />
    </Form>
  )
}

function errorIn(lines: HeaderLines | FilterLines): string | null {
  return 'error' in lines ? lines.error : null
}

function checkDraft({ body: { topic, url }, retry, flow, lineErrors }: Draft) {
  return {
    ...checkFlow(flow),
    ...checkRetry(retry),
    topic: !isTopicPattern(topic) && 'Enter a topic such as orders.paid or orders.*, or * for all.',
    url: !/^https?:\/\/./.test(url) && 'Enter an http:// or https:// URL.',
    ...lineErrors,
  }
}

const maxShown = 5

/** Explains a pattern, and lists the recent topics that match it. */
function TopicHelp({ pattern, topics }: { pattern: string; topics: readonly string[] }): ReactNode {
  const matching = isTopicPattern(pattern) ? matchingTopics(pattern, topics) : []
  return (
    <>
      <span>{meaningOf(pattern)}</span>
      {topics.length > 0 && isTopicPattern(pattern) && (
        <span className={styles.recent}>
          {matching.length === 0 ? 'No recent topic matches.' : 'Matches recent topics '}
          {matching.slice(0, maxShown).map(topic => (
            <code key={topic}>{topic}</code>
          ))}
          {matching.length > maxShown && ` and ${matching.length - maxShown} more`}
        </span>
      )}
    </>
  )
}

function meaningOf(pattern: string): ReactNode {
  if (pattern === '*') return 'Every event in the workspace.'
  if (!isTopicPattern(pattern)) {
    return (
      <>
        A topic such as <code>orders.paid</code>, <code>orders.*</code> for all topics below orders, or <code>*</code>{' '}
        for all.
      </>
    )
  }
  if (!pattern.endsWith('.*')) return 'Events with exactly this topic.'
  const parent = pattern.slice(0, -2)
  return (
    <>
      Every topic below <code>{parent}</code> at any depth, such as <code>{parent}.a</code> and{' '}
      <code>{parent}.a.b</code>, but not <code>{parent}</code> itself.
    </>
  )
}
