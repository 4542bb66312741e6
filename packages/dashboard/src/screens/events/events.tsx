import type { PublishedEvent } from '@belfry/contract/event'
import type { Task } from '@belfry/contract/task'
import { matchesFilter } from '@belfry/domain/payload-filter'
import { isTopic, patternsOf } from '@belfry/domain/topic'
import { useInfiniteQuery } from '@tanstack/react-query'
import { Radio, Send } from 'lucide-react'
import { useState } from 'react'
import { call } from '../../api/call.ts'
import { PayloadText } from '../../api/payload-text.ts'
import { pagesOf } from '../../api/queries.ts'
import { draftInput } from '../../forms/draft-input.ts'
import { Form } from '../../forms/form.tsx'
import { checkFlow, type FlowBody, type FlowDraft, flowBodyOf, flowDraftOf } from '../../forms/request/flow-draft.ts'
import { FlowFields } from '../../forms/request/flow-fields.tsx'
import { checkJson } from '../../forms/request/json-text.ts'
import { ResourceList } from '../../layout/resource-list.tsx'
import { useWorkspace } from '../../session/scope.ts'
import { Button, ButtonLink, Link } from '../../ui/button.tsx'
import { DialogActions, useCloseDialog } from '../../ui/dialog.tsx'
import { Dotted } from '../../ui/dotted.tsx'
import { TextareaField, TextField } from '../../ui/field.tsx'
import { FilterBar, useFilters } from '../../ui/filter-bar.tsx'
import { formatThings } from '../../ui/format-amount.ts'
import { StateBadge } from '../../ui/state-badge.tsx'
import { RelativeTime } from '../../ui/time.tsx'
import styles from './events.module.css'

export function Events() {
  const { workspace, to } = useWorkspace()
  const filters = useFilters(['topic'])
  const list = useInfiniteQuery({
    ...pagesOf('listTasks', { ws: workspace.id, query: { source: 'event', topic: filters.values.topic, limit: 50 } }),
    refetchInterval: 5000,
  })
  const rows = list.data && groupEvents(list.data.items)
  return (
    <ResourceList
      title="Events"
      label="Recent events"
      description={
        <>
          Each event is sent immediately to its target, or to every <Link to={to.subscriptions()}>subscription</Link>{' '}
          that matches its topic.
        </>
      }
      create={{ label: 'Publish event', icon: <Send size={14} />, right: 'event.publish', isWide: true }}
      form={() => <Publish />}
      filters={<FilterBar filters={filters} search={{ name: 'topic', label: 'Exact topic' }} />}
      list={{ ...list, data: rows }}
      rowLink={({ topic }) => to.log(`?${new URLSearchParams({ topic })}`)}
      columns={[
        {
          header: 'Topic',
          cell: ({ topic }) => (
            <span className={styles.topic}>
              <Dotted name={topic} />
            </span>
          ),
        },
        {
          header: 'Sent to',
          cell: ({ tasks }) => (
            <ul className={styles.targets}>
              {tasks.map(({ id, url, state, replay_of }) => (
                <li key={id}>
                  <StateBadge state={state} />
                  <Link to={to.task(id)} className={styles.target}>
                    <bdi>{url.replace(/^https?:\/\//, '')}</bdi>
                  </Link>
                  {replay_of && <span className={styles.faint}>replay</span>}
                </li>
              ))}
            </ul>
          ),
        },
        { header: 'Published', align: 'end', cell: ({ publishedAt }) => <RelativeTime at={publishedAt} /> },
      ]}
      onClear={filters.isSet && filters.clear}
      empty={{
        icon: Radio,
        title: 'No events yet',
        actions: null,
        children: (
          <>
            Publish one here, or from your code with <code>POST /api/events</code>: a topic, a payload and an optional
            target URL.
          </>
        ),
      }}
    />
  )
}

type Draft = { topic: string; payload: string; target_url: string | null; flow: FlowDraft }

const first: Draft = { topic: '', payload: '{\n  "hello": "world"\n}', target_url: null, flow: flowDraftOf() }

/** Publishes an event and shows its targets, in a dialog. It stays open, so the user can publish another one. */
function Publish() {
  const { workspace } = useWorkspace()
  const [published, setPublished] = useState<PublishedEvent | null>(null)
  const [draft, setDraft] = useState(first)
  const set = (change: Partial<Draft>) => setDraft({ ...draft, ...change })
  if (published) return <Published event={published} onAnother={() => setPublished(null)} />
  return (
    <Form
      read={() => draft}
      check={checkDraft}
      submit={({ topic, payload, target_url, flow }) => {
        const target = target_url === null ? {} : { target_url: target_url.trim() }
        const body = { topic: topic.trim(), payload: new PayloadText(payload.trim()), ...givenIn(flow), ...target }
        return call('publishEvent', { ws: workspace.id, body })
      }}
      onDone={setPublished}
      staysOpen
      action="Publish"
    >
      <TextField
        label="Topic"
        hint="Letters, digits, _ and -, in parts separated by dots."
        name="topic"
        isMono
        placeholder="orders.paid"
        {...draftInput(draft, 'topic', set)}
      />
      <TextareaField
        label="Payload"
        hint="A JSON object. It is sent as the request body."
        name="payload"
        isMono
        rows={6}
        {...draftInput(draft, 'payload', set)}
      />
      <fieldset className={styles.choice}>
        <legend>Send to</legend>
        <label>
          <input
            type="radio"
            name="to"
            checked={draft.target_url === null}
            onChange={() => set({ target_url: null })}
          />
          Every matching subscription
        </label>
        <label>
          <input type="radio" name="to" checked={draft.target_url !== null} onChange={() => set({ target_url: '' })} />
          {'A single target'}
        </label>
      </fieldset>
      {draft.target_url === null ? (
        <Matches topic={draft.topic.trim()} payload={draft.payload} />
      ) : (
        <TextField
          label="Target URL"
          name="target_url"
          type="url"
          isMono
          placeholder="https://example.com/hooks/paid"
          value={draft.target_url}
          onChange={event => set({ target_url: event.target.value })}
        />
      )}
      <FlowFields draft={draft.flow} onChange={change => set({ flow: { ...draft.flow, ...change } })} />
    </Form>
  )
}

// A field that is omitted comes from the subscription.
function givenIn(flow: FlowDraft): Partial<FlowBody> {
  const given = Object.entries(flowBodyOf(flow)).filter(([, value]) => value !== null && String(value) !== '')
  return Object.fromEntries(given)
}

type PublishedProps = { event: PublishedEvent; onAnother(): void }

function Published({ event: { topic, tasks }, onAnother }: PublishedProps) {
  const { to } = useWorkspace()
  const close = useCloseDialog()
  return (
    <div className={styles.done}>
      {tasks.length === 0 ? (
        <p role="status">
          No subscription matches <code>{topic}</code>, so nothing was sent.{' '}
          <Link to={to.subscriptions()}>Add a subscription</Link> and publish again.
        </p>
      ) : (
        <>
          <p role="status">
            <code>{topic}</code> was published to {formatThings(tasks.length, 'target')}:
          </p>
          <ul className={styles.targets}>
            {tasks.map(({ id, url }) => (
              <li key={id}>
                <Link to={to.task(id)} className={styles.target}>
                  {url}
                </Link>
              </li>
            ))}
          </ul>
        </>
      )}
      <DialogActions>
        <Button onClick={onAnother}>Publish another</Button>
        <ButtonLink to={to.log(`?${new URLSearchParams({ topic })}`)}>View in log</ButtonLink>
        <Button kind="primary" onClick={() => close?.()}>
          Done
        </Button>
      </DialogActions>
    </div>
  )
}

function checkDraft({ topic, payload, target_url, flow }: Draft) {
  return {
    ...checkFlow(flow),
    topic: !isTopic(topic.trim()) && 'Enter a topic such as orders.paid.',
    payload: !isObject(payload) && 'Enter a JSON object. Strings and property names need double quotes.',
    target_url: target_url !== null && !/^https?:\/\/./.test(target_url.trim()) && 'Enter an http:// or https:// URL.',
  }
}

function isObject(text: string): boolean {
  return text.trim().startsWith('{') && checkJson(text) === null
}

/** Shows which subscriptions an event would reach, while its topic and payload are typed. */
function Matches({ topic, payload }: { topic: string; payload: string }) {
  const { workspace, to } = useWorkspace()
  const { data, hasNextPage } = useInfiniteQuery(
    pagesOf('listSubscriptions', { ws: workspace.id, query: { limit: 100 } }),
  )
  const active = data?.items.filter(({ active }) => active)
  if (!active) return <p className={styles.matches}>Loading subscriptions…</p>
  if (active.length === 0) {
    return (
      <p className={styles.matches}>
        There are no active subscriptions, so the event would not be sent.{' '}
        <Link to={to.subscriptions()}>Add a subscription</Link>, or enter a target here.
      </p>
    )
  }
  if (!isTopic(topic)) return <p className={styles.matches}>Enter a topic to see which subscriptions match.</p>
  const patterns = new Set(patternsOf(topic))
  const ofTopic = active.filter(subscription => patterns.has(subscription.topic))
  const value = isObject(payload) ? JSON.parse(payload) : {}
  const matching = ofTopic.filter(({ filter }) => matchesFilter(filter, value))
  const excluded = ofTopic.length - matching.length
  return (
    <div className={styles.matches} aria-live="polite">
      {matching.length === 0
        ? 'No active subscription matches'
        : `Matches ${formatThings(matching.length, 'subscription')}`}
      {hasNextPage && ' among the newest 100'}
      {excluded > 0 && `; the payload fails the filter of ${excluded}`}
      {matching.length > 0 && ':'}
      {matching.length > 0 && (
        <ul>
          {matching.map(({ id, topic: pattern, url }) => (
            <li key={id}>
              <code>{pattern}</code> → {url}
            </li>
          ))}
        </ul>
      )}
    </div>
  )
}

/** A published event and its tasks, one for each target. */
type RecentEvent = { id: string; topic: string; publishedAt: string; tasks: readonly Task[] }

/** Groups tasks by event, in the order of the first task of each event. Replays join the event of their original. */
export function groupEvents(tasks: readonly Task[]): RecentEvent[] {
  const events = new Map<string, Task[]>()
  for (const task of tasks) {
    const id = task.event_id ?? task.id
    events.set(id, [...(events.get(id) ?? []), task])
  }
  return [...events].map(([id, ofEvent]) => {
    const publishedAt = ofEvent.map(({ created_at }) => created_at).sort()[0] ?? ''
    return { id, topic: ofEvent[0]?.topic ?? '', publishedAt, tasks: ofEvent }
  })
}
