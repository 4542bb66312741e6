import type { Queue, UpdateQueueBody } from '@belfry/contract/queue'
import { queueNameForm } from '@belfry/domain/queue-name'
import { useInfiniteQuery } from '@tanstack/react-query'
import { ListOrdered } from 'lucide-react'
import { call, read } from '../../api/call.ts'
import { pagesOf } from '../../api/queries.ts'
import { Form } from '../../forms/form.tsx'
import { refuseTakenName } from '../../forms/refuse-taken-name.ts'
import { queueNameMessage } from '../../forms/request/flow-draft.ts'
import { PauseButton } from '../../layout/pause-button.tsx'
import { ResourceList } from '../../layout/resource-list.tsx'
import { useWorkspace } from '../../session/scope.ts'
import { Badge } from '../../ui/badge.tsx'
import { Checkbox } from '../../ui/checkbox.tsx'
import { TextField } from '../../ui/field.tsx'
import { formatCount, formatCounted, formatValue } from '../../ui/format-amount.ts'
import { formatDuration } from '../../ui/format-time.ts'
import styles from './queues.module.css'

export function Queues() {
  const { workspace, to } = useWorkspace()
  return (
    <ResourceList
      title="Queues"
      description="Limit concurrency or rate for a group of tasks, keep them in order, or pause them."
      list={useInfiniteQuery(pagesOf('listQueues', { ws: workspace.id, query: { limit: 100 } }))}
      rowKey={({ name }) => name}
      rowLink={({ name }) => to.tasks(`?queue=${encodeURIComponent(name)}`)}
      create={{ label: 'New queue', right: 'queue.write' }}
      form={queue => <QueueForm queue={queue} />}
      empty={{
        icon: ListOrdered,
        title: 'No queues yet',
        children: 'A queue appears here once a task names it.',
        actions: null,
      }}
      columns={[
        {
          header: 'Queue',
          cell: ({ name, paused_at }) => (
            <>
              <span className={styles.name}>{name}</span>
              {paused_at && ' '}
              {paused_at && <Badge tone="warn">Paused</Badge>}
            </>
          ),
        },
        { header: 'Limits', isExtra: true, cell: queue => limitsText(queue) },
        { header: 'In flight', align: 'end', isExtra: true, cell: queue => <Load queue={queue} /> },
        {
          header: 'Waiting',
          align: 'end',
          sortBy: ({ waiting }) => waiting,
          cell: ({ waiting }) => formatCounted(waiting),
        },
        {
          header: 'Oldest',
          align: 'end',
          isExtra: true,
          cell: ({ oldest_due_ms: oldest }) => formatValue(oldest, true),
        },
      ]}
      actions={({ name, paused_at }) => <PauseButton what="queue" name={name} isPaused={paused_at !== null} />}
      nameOf={({ name }) => name}
      edit={{ right: 'queue.write' }}
      remove={{
        what: 'queue',
        description:
          'Its limits and its pause are deleted. Finished tasks stay in the log. A task that names the queue later creates it again without limits.',
        right: 'queue.delete',
        run: ({ name }) => call('deleteQueue', { ws: workspace.id, queue: name }),
      }}
    />
  )
}

// A bar for the taken part of the permits.
function Load({ queue: { in_flight: inFlight, max_concurrent: max, ordered } }: { queue: Queue }) {
  const permits = ordered ? 1 : max
  if (permits === null) return formatCount(inFlight)
  const percent = Math.min(100, Math.round((inFlight / permits) * 100))
  return (
    <span className={styles.load}>
      {formatCount(inFlight)} of {formatCount(permits)}
      <span className={styles.bar} aria-hidden="true">
        <span style={{ width: `${percent}%` }} />
      </span>
    </span>
  )
}

export function limitsText({
  max_concurrent: max,
  rate_limit: rate,
  ordered,
}: Pick<Queue, 'max_concurrent' | 'rate_limit' | 'ordered'>): string {
  const limits = [
    ...(ordered ? ['One at a time, in order'] : max === null ? [] : [`${formatCount(max)} at a time`]),
    ...(rate === null ? [] : [`${formatCount(rate.count)} per ${formatDuration(rate.period_ms)}`]),
  ]
  return limits.join(', ') || 'None'
}

type Draft = { name: string; max: string; count: string; seconds: string; ordered: boolean }

function QueueForm({ queue }: { queue: Queue | null }) {
  const { workspace } = useWorkspace()
  return (
    <Form
      read={(field, data): Draft => ({
        name: queue?.name ?? field('name').trim(),
        max: field('max_concurrent').trim(),
        count: field('rate_limit.count').trim(),
        seconds: field('rate_limit.period_ms').trim(),
        ordered: data.get('ordered') === 'on',
      })}
      check={checkDraft}
      submit={async draft => {
        const named = { ws: workspace.id, queue: draft.name }
        if (!queue) await refuseTakenName('queue', () => read('getQueue', named))
        return call('putQueue', { ...named, body: bodyOf(draft) })
      }}
      done={({ name }) => (queue ? `${name} updated` : `${name} created`)}
      action={queue ? 'Save' : 'Create queue'}
    >
      {!queue && <TextField label="Name" hint="Such as customer-42. Tasks name it." name="name" isMono />}
      <TextField
        label="Calls at a time"
        isOptional
        hint="Over all dispatchers."
        name="max_concurrent"
        inputMode="numeric"
        defaultValue={queue?.max_concurrent ?? ''}
      />
      <div className={styles.rate}>
        <TextField
          label="Calls per period"
          isOptional
          name="rate_limit.count"
          inputMode="numeric"
          defaultValue={queue?.rate_limit?.count ?? ''}
        />
        <TextField
          label="Period (s)"
          isOptional
          name="rate_limit.period_ms"
          inputMode="decimal"
          defaultValue={queue?.rate_limit ? queue.rate_limit.period_ms / 1000 : ''}
        />
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

function checkDraft({ name, max, count, seconds }: Draft) {
  const isWithin = (text: string, min: number, limit: number) => Number(text) >= min && Number(text) <= limit
  const isWhole = (text: string, limit: number) => Number.isInteger(Number(text)) && isWithin(text, 1, limit)
  const isPeriod = (count === '') === (seconds === '') && (seconds === '' || isWithin(seconds, 0.1, 86_400))
  return {
    name: !queueNameForm.test(name) && queueNameMessage,
    max_concurrent: max !== '' && !isWhole(max, 1_000) && 'Enter a whole number from 1 to 1,000.',
    'rate_limit.count': count !== '' && !isWhole(count, 10_000) && 'Enter a whole number up to 10,000.',
    'rate_limit.period_ms': !isPeriod && 'Enter both, with a period of 0.1 to 86,400 seconds.',
  }
}
