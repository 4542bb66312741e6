import type { Subscription } from '@belfry/contract/subscription'
import type { Task } from '@belfry/contract/task'
import { hostOf } from '@belfry/domain/target-url'
import { isTopicPattern, patternsOf } from '@belfry/domain/topic'
import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { Inbox, KeyRound } from 'lucide-react'
import { useState } from 'react'
import { call } from '../../api/call.ts'
import { allOf, pagesOf } from '../../api/queries.ts'
import { Form } from '../../forms/form.tsx'
import { checkFlow, flowBodyOf, flowDraftOf } from '../../forms/request/flow-draft.ts'
import { FlowFields } from '../../forms/request/flow-fields.tsx'
import { changesOf } from '../../forms/request/request-draft.ts'
import { checkRetry, retryBodyOf, retryDraftOf } from '../../forms/request/retry-draft.ts'
import { RetryFields } from '../../forms/request/retry-fields.tsx'
import { ChangeButton, ChangeSwitch, ConfirmButton, DialogButton } from '../../layout/change-buttons.tsx'
import { ResourceList } from '../../layout/resource-list.tsx'
import { useRefusal, useWorkspace } from '../../session/scope.ts'
import { Badge } from '../../ui/badge.tsx'
import { Link } from '../../ui/button.tsx'
import { Checkbox } from '../../ui/checkbox.tsx'
import { DefinitionList } from '../../ui/definition-list.tsx'
import { DialogActions } from '../../ui/dialog.tsx'
import { Dotted } from '../../ui/dotted.tsx'
import { TextareaField, TextField } from '../../ui/field.tsx'
import { Loaded } from '../../ui/loaded.tsx'
import { AbsoluteTime, RelativeTime } from '../../ui/time.tsx'
import { HiddenSecret } from '../settings/hidden-secret.tsx'
import { readFilterLines, writeFilterLines } from './filter-lines.ts'
import { readHeaderLines, writeHeaderLines } from './header-lines.ts'
import styles from './subscriptions.module.css'

export function Subscriptions() {
  const { workspace } = useWorkspace()
  const events = useInfiniteQuery(pagesOf('listTasks', { ws: workspace.id, query: { source: 'event', limit: 100 } }))
  const topics = topicsOf(events.data?.items ?? [])
  const writeRefusal = useRefusal('subscription.write')
  return (
    <ResourceList
      title="Subscriptions"
      description="A subscription sends events with a matching topic and payload to a target. Events published without a target go to every active match."
      list={useInfiniteQuery(pagesOf('listSubscriptions', { ws: workspace.id, query: { limit: 100 } }))}
      create={{ label: 'New subscription', isWide: true, right: 'subscription.write' }}
      // The client of an MCP subscription changes it, by subscribing again.
      form={one => (one?.mcp ? null : <SubscriptionForm subscription={one} topics={topics} />)}
      empty={{
        icon: Inbox,
        title: 'No subscriptions yet',
        children: (
          <>
            Subscribe a target to <code>orders.paid</code>, to all topics below <code>orders</code> with{' '}
            <code>orders.*</code>, or to all events with <code>*</code>. Then publish an event to that topic.
          </>
        ),
      }}
      columns={[
        {
          header: 'Topic',
          cell: ({ topic, filter, url, mcp, created_by, expires_at }) => (
            <>
              <code className={styles.topic}>
                <Dotted name={topic} />
              </code>
              {mcp && (
                <span className={styles.filter}>
                  {mcp.name} {JSON.stringify(mcp.arguments)} for the MCP client of {mcp.principal ?? created_by}
                  {expires_at && (
                    <>
                      , ends <AbsoluteTime at={expires_at} />
                    </>
                  )}
                </span>
              )}
              {filter.length > 0 && <span className={styles.filter}>{writeFilterLines(filter)}</span>}
              <span className={styles.narrowUrl}>{url.replace(/^https?:\/\//, '')}</span>
            </>
          ),
        },
        {
          header: 'Target',
          isExtra: true,
          cell: ({ url }) => (
            <span className={styles.url} title={url}>
              {url}
            </span>
          ),
        },
        {
          header: 'Recent topics',
          isExtra: true,
          cell: ({ topic }) => <Matching topics={matchingTopics(topic, topics)} />,
        },
        {
          header: 'Active',
          cell: subscription => (
            <>
              {subscription.mcp ? (
                <Badge>{subscription.active ? 'active' : 'not verified'}</Badge>
              ) : (
                <ChangeSwitch
                  label={`${subscription.topic} is active`}
                  isLabelHidden
                  isOn={subscription.active}
                  refusal={writeRefusal}
                  run={active =>
                    call('updateSubscription', { ws: workspace.id, sub: subscription.id, body: { active } })
                  }
                />
              )}
              <Failing subscription={subscription} />
            </>
          ),
        },
      ]}
      actions={subscription => (
        <DialogButton
          label={`Signing secret of ${subscription.topic}`}
          icon={<KeyRound size={16} />}
          description="A secret of its own signs the calls of this subscription only, so its receiver cannot forge other calls."
          right="signing_secret.read"
        >
          <SubscriptionSecrets subscription={subscription} />
        </DialogButton>
      )}
      nameOf={({ topic }) => topic}
      edit={{ isWide: true, right: 'subscription.write' }}
      remove={{
        what: 'subscription',
        description: ({ url, mcp }) =>
          mcp
            ? `${url} will no longer receive these events, until its MCP client subscribes again. Belfry cancels calls that it has not made yet.`
            : `${url} will no longer receive these events. Events that are already published are still sent.`,
        right: 'subscription.delete',
        run: ({ id }) => call('deleteSubscription', { ws: workspace.id, sub: id }),
      }}
    />
  )
}

const maxShown = 2

function Matching({ topics }: { topics: readonly string[] }) {
  if (topics.length === 0) return <span className={styles.faint}>None</span>
  const more = topics.length - maxShown
  return (
    <span className={styles.matching} title={topics.join('\n')}>
      {topics.slice(0, maxShown).map(topic => (
        <code key={topic}>{topic}</code>
      ))}
      {more > 0 && <span className={styles.faint}>and {more} more</span>}
    </span>
  )
}

function SubscriptionSecrets({ subscription }: { subscription: Subscription }) {
  const { workspace } = useWorkspace()
  return (
    <Loaded query={useQuery(allOf('listSubscriptionSecrets', { ws: workspace.id, sub: subscription.id }))}>
      {secrets => (
        <>
          {secrets.length > 0 ? (
            <DefinitionList
              rows={Object.fromEntries(
                secrets.map(({ secret, expires_at }, i) => [
                  i === 0 ? 'Current' : i === 1 ? 'Previous' : `Previous ${i}`,
                  <HiddenSecret key={secret} text={secret} expiresAt={expires_at} />,
                ]),
              )}
            />
          ) : (
            <p>The signing secret of the workspace signs its calls.</p>
          )}
          <DialogActions>
            {secrets.length > 0 && (
              <ConfirmButton
                text="Use the workspace's secret"
                right="signing_secret.revoke"
                title="Use the workspace's signing secret?"
                description="The secrets of this subscription are deleted, and the receiver must verify with the one of the workspace."
                action="Delete secrets"
                run={() => call('removeSubscriptionSecrets', { ws: workspace.id, sub: subscription.id })}
                done="Signing secrets deleted"
              />
            )}
            <ChangeButton
              text={secrets.length > 0 ? 'Rotate' : 'Create secret'}
              kind="primary"
              right="signing_secret.rotate"
              run={() => call('rotateSubscriptionSecret', { ws: workspace.id, sub: subscription.id })}
              done={secrets.length > 0 ? 'Signing secret rotated' : 'Signing secret created'}
            />
          </DialogActions>
        </>
      )}
    </Loaded>
  )
}

/** Says since when a subscription fails, and leads to the events that it missed. */
function Failing({ subscription }: { subscription: Subscription }) {
  const { to } = useWorkspace()
  const { failing_since: since, paused_reason: reason, topic, url } = subscription
  if (since === null) return null
  const filter = new URLSearchParams({ host: hostOf(url), ...(topic.includes('*') ? {} : { topic }) })
  return (
    <span className={styles.failing}>
      {reason === null ? 'Failing since ' : 'Switched off: only failed since '}
      <RelativeTime at={since} />. <Link to={to.deadLetters(`?${filter}`)}>Dead letters</Link>
    </span>
  )
}

type SubscriptionFormProps = {
  subscription: Subscription | null
  /** Topics of recent events. */
  topics: readonly string[]
}

function SubscriptionForm({ topics, ...given }: SubscriptionFormProps) {
  const { workspace } = useWorkspace()
  // The row changes when another tab changes the subscription.
  const [subscription] = useState(given.subscription)
  const [topic, setTopic] = useState(subscription?.topic ?? '')
  const [retry, setRetry] = useState(() => retryDraftOf(subscription?.retry, subscription?.timeout_ms))
  const [flow, setFlow] = useState(() => flowDraftOf(subscription))
  return (
    <Form
      read={(field, data) => {
        const { headers = {}, error: headersError } = readHeaderLines(field('headers'))
        const { filter = [], error: filterError } = readFilterLines(field('filter'))
        const body = {
          topic: field('topic').trim(),
          filter,
          url: field('url').trim(),
          headers,
          ...retryBodyOf(retry),
          active: data.get('active') === 'on',
          ...flowBodyOf(flow),
        }
        return { body, lineErrors: { headers: headersError, filter: filterError } }
      }}
      check={({ body: { topic, url }, lineErrors }) => ({
        ...checkFlow(flow),
        ...checkRetry(retry),
        topic: !isTopicPattern(topic) && 'Enter a topic such as orders.paid or orders.*, or * for all.',
        url: !/^https?:\/\/./.test(url) && 'Enter an http:// or https:// URL.',
        ...lineErrors,
      })}
      submit={({ body }) =>
        subscription
          ? call('updateSubscription', { ws: workspace.id, sub: subscription.id, body: changesOf(body, subscription) })
          : call('createSubscription', { ws: workspace.id, body })
      }
      done={saved => (subscription ? 'Subscription updated' : `Subscribed to ${saved.topic}`)}
      action={subscription ? 'Save' : 'Subscribe'}
    >
      <TextField
        label="Topic"
        hint={<TopicHelp pattern={topic.trim()} topics={topics} />}
        name="topic"
        isMono
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

const maxListed = 5

function TopicHelp({ pattern, topics }: { pattern: string; topics: readonly string[] }) {
  const matching = isTopicPattern(pattern) ? matchingTopics(pattern, topics) : []
  return (
    <>
      <span>{meaningOf(pattern)}</span>
      {topics.length > 0 && isTopicPattern(pattern) && (
        <span className={styles.recent}>
          {matching.length === 0 ? 'No recent topic matches.' : 'Matches recent topics '}
          {matching.slice(0, maxListed).map(topic => (
            <code key={topic}>{topic}</code>
          ))}
          {matching.length > maxListed && ` and ${matching.length - maxListed} more`}
        </span>
      )}
    </>
  )
}

function meaningOf(pattern: string) {
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

export function matchingTopics(pattern: string, topics: readonly string[]): string[] {
  return topics.filter(topic => patternsOf(topic).includes(pattern))
}

/** Returns the distinct topics of tasks, in the order of the tasks. */
export function topicsOf(tasks: readonly Task[]): string[] {
  return [...new Set(tasks.flatMap(({ topic }) => topic ?? []))]
}
