import type { Queue, UpdateQueueBody } from '@belfry/contract/queue'
import { queueNameForm } from '@belfry/domain/queue-name'
import { useInfiniteQuery } from '@tanstack/react-query'
import { ListOrdered, Pause, Pencil, Play, Trash2 } from 'lucide-react'
import type { ReactNode } from 'react'
import { deleteQueue, pauseQueue, putQueue, queuesQuery, resumeQueue } from '../../api/delivery.ts'
import { Form } from '../../forms/form.tsx'
import { queueNameMessage } from '../../forms/request/check-request.ts'
import { useChange } from '../../forms/use-change.ts'
import { type FieldErrors, useForm } from '../../forms/use-form.ts'
import { ResourceList } from '../../layout/resource-list.tsx'
import { ConfirmButton, DialogButton } from '../../layout/row-buttons.tsx'
import { useRefusal } from '../../session/allowed.tsx'
import { useWorkspace } from '../../session/scope.ts'
import { Badge } from '../../ui/badge.tsx'
import { IconButton, Link } from '../../ui/button.tsx'
import { Checkbox } from '../../ui/checkbox.tsx'
import { Field, TextInput } from '../../ui/field.tsx'
import { formatCount, formatCounted } from '../../ui/format-amount.ts'
import { formatDuration } from '../../ui/format-time.ts'
import styles from './queues.module.css'

// The number that the API counts to.
const maxCounted = 10_000

/** Lists the queues of a workspace with their limits and their load. */
export function Queues(): ReactNode {
  const { workspace, to } = useWorkspace()
  const list = useInfiniteQuery(queuesQuery(workspace.id))
  const refusal = useRefusal('queue.write')
  const deleteRefusal = useRefusal('queue.delete')
  return (
    <ResourceList
      title="Queues"
      description="Limit how many calls of a group of tasks are in flight or start in a period, keep their order, or pause them."
      list={list}
      rows={list.data?.items}
      rowKey={({ name }) => name}
      create={{ label: 'New queue', refusal, form: close => <QueueForm queue={null} onDone={close} /> }}
      empty={{
        icon: ListOrdered,
        title: 'No queues yet',
        children: 'A queue appears here once a task names it.',
        actions: null,
      }}
      columns={[
        {
          id: 'name',
          header: 'Queue',
          cell: ({ name, paused_at }) => (
            <>
              <Link to={to.tasks(`?queue=${encodeURIComponent(name)}`)}>
                <span className={styles.name}>{name}</span>
              </Link>{' '}
              {paused_at && <Badge tone="warn">Paused</Badge>}
            </>
          ),
        },
        { id: 'limits', header: 'Limits', isExtra: true, cell: queue => limitsText(queue) },
        { id: 'load', header: 'In flight', align: 'end', isExtra: true, cell: queue => <Load queue={queue} /> },
        {
          id: 'waiting',
          header: 'Waiting',
          align: 'end',
          sortBy: ({ waiting }) => waiting,
          cell: ({ waiting }) => formatCounted(waiting, waiting >= maxCounted),
        },
        {
          id: 'oldest',
          header: 'Oldest',
          align: 'end',
          isExtra: true,
          cell: ({ oldest_due_ms: oldest }) => (oldest === null ? '–' : formatDuration(oldest)),
        },
      ]}
      actions={queue => (
        <>
          <PauseButton queue={queue} refusal={refusal} />
          <DialogButton
            label={`Edit ${queue.name}`}
            icon={<Pencil size={16} />}
            title={`Edit ${queue.name}`}
            refusal={refusal}
            form={close => <QueueForm queue={queue} onDone={close} />}
          />
          <ConfirmButton
            label={`Delete ${queue.name}`}
            icon={<Trash2 size={16} />}
            title={`Delete the queue ${queue.name}?`}
            description="Its limits and its pause are deleted. Finished tasks stay in the log. A task that names the queue later creates it again without limits."
            action="Delete queue"
            refusal={deleteRefusal}
            run={() => deleteQueue(workspace.id, queue.name)}
            affects={[['queues', workspace.id]]}
            done={`${queue.name} deleted`}
          />
        </>
      )}
    />
  )
}

// A bar for the taken part of the permits.
function Load({ queue: { in_flight: inFlight, max_concurrent: max, ordered } }: { queue: Queue }): ReactNode {
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

function PauseButton({ queue, refusal }: { queue: Queue; refusal: string | null }): ReactNode {
  const { workspace } = useWorkspace()
  const isPaused = queue.paused_at !== null
  const { mutate, isPending } = useChange({
    run: () => (isPaused ? resumeQueue : pauseQueue)(workspace.id, queue.name),
    done: () => (isPaused ? `${queue.name} resumed` : `${queue.name} paused`),
    affects: [['queues', workspace.id]],
  })
  const Icon = isPaused ? Play : Pause
  return (
    <IconButton
      label={`${isPaused ? 'Resume' : 'Pause'} ${queue.name}`}
      icon={<Icon size={16} />}
      refusal={refusal}
      isPending={isPending}
      onClick={() => mutate()}
    />
  )
}

/** Returns the limits of a queue in words. */
export function limitsText({
  max_concurrent: max,
  rate_limit: rate,
  ordered,
}: Pick<Queue, 'max_concurrent' | 'rate_limit' | 'ordered'>): string {
  const limits = [
    ...(max === null ? [] : [`${formatCount(max)} at a time`]),
    ...(rate === null ? [] : [`${formatCount(rate.count)} per ${formatDuration(rate.period_ms)}`]),
    ...(ordered ? ['In order'] : []),
  ]
  return limits.join(', ') || 'None'
}

type QueueFormProps = {
  /** The queue to edit; null creates one. */
  queue: Queue | null
  onDone(): void
}

type Draft = { name: string; max: string; count: string; seconds: string; ordered: boolean }

/** Creates a queue, or edits its limits. */
function QueueForm({ queue, onDone }: QueueFormProps): ReactNode {
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
    ...(queueNameForm.test(name) ? {} : { name: queueNameMessage }),
    ...(max === '' || isWhole(max, 1_000) ? {} : { max_concurrent: 'Enter a whole number from 1 to 1,000.' }),
    ...(count === '' ? {} : isWhole(count, 10_000) ? {} : { 'rate_limit.count': 'Enter a whole number up to 10,000.' }),
    ...((count === '') === (seconds === '') && (seconds === '' || isWithin(seconds, 0.1, 86_400))
      ? {}
      : { 'rate_limit.period_ms': 'Enter both, with a period of 0.1 to 86,400 seconds.' }),
  }
}
