import type { Task } from '@belfry/contract/task'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { useNavigate, useParams, useSearchParams } from 'react-router'
import { type Body, call } from '../../api/call.ts'
import { queryOf } from '../../api/queries.ts'
import { draftInput, draftValue } from '../../forms/draft-input.ts'
import { type FieldErrors, messagesIn } from '../../forms/form.tsx'
import { checkRequest } from '../../forms/request/check-request.ts'
import { LabelsField } from '../../forms/request/flow-fields.tsx'
import { FoldedCard } from '../../forms/request/folded-fields.tsx'
import { bodyOf, changesOf, draftOf } from '../../forms/request/request-draft.ts'
import { FormCard, RequestForm } from '../../forms/request/request-form.tsx'
import { useDraftForm } from '../../forms/use-draft-form.ts'
import { readWhen, type WhenDraft } from '../../forms/when/parse-when.ts'
import { WhenField } from '../../forms/when/when-field.tsx'
import { wallText } from '../../forms/when/zoned-time.ts'
import { PageFor } from '../../session/allowed.tsx'
import { useWorkspace } from '../../session/scope.ts'
import { ButtonLink } from '../../ui/button.tsx'
import { EmptyState } from '../../ui/empty-state.tsx'
import { optionsOf, SelectField, TextField } from '../../ui/field.tsx'
import { viewerZone } from '../../ui/format-time.ts'
import { Loaded } from '../../ui/loaded.tsx'
import { PageHeader } from '../../ui/page-header.tsx'

/** Creates a task: with `?from=` a copy of one, and with `?replay=` the replay of one with changes. */
export function NewTask() {
  const { workspace, to } = useWorkspace()
  const [params] = useSearchParams()
  const replayed = params.get('replay') ?? ''
  const from = replayed || (params.get('from') ?? '')
  const query = useQuery({ ...queryOf('getTask', { ws: workspace.id, task: from }), enabled: from !== '' })
  const parent = replayed
    ? { label: query.data?.name ?? 'Task', to: to.task(replayed) }
    : { label: 'Tasks', to: to.tasks() }
  return (
    <>
      <PageHeader
        title={replayed ? 'Replay with changes' : 'New task'}
        description={
          replayed
            ? 'The new task is marked as a replay. The original one and its runs stay as they are.'
            : 'One request, sent at a set time and retried if it fails.'
        }
        parent={parent}
      />
      <PageFor right="task.write">
        {from === '' && <TaskForm backTo={parent.to} />}
        {from !== '' && (
          <Loaded query={query}>
            {model => <TaskForm key={from} model={model} isReplay={replayed !== ''} backTo={parent.to} />}
          </Loaded>
        )}
      </PageFor>
    </>
  )
}

export function EditTask() {
  const { workspace, to } = useWorkspace()
  const { task: id = '' } = useParams()
  const query = useQuery(queryOf('getTask', { ws: workspace.id, task: id }))
  return (
    <>
      <PageHeader
        title="Edit task"
        description="You can edit a task until its first run starts."
        parent={{ label: query.data?.name ?? 'Task', to: to.task(id) }}
      />
      <PageFor right="task.write">
        <Loaded query={query}>
          {task =>
            task.state === 'pending' ? (
              <TaskForm task={task} backTo={to.task(id)} />
            ) : (
              <EmptyState
                title="This task can no longer be edited"
                actions={<ButtonLink to={to.task(id)}>Back to task</ButtonLink>}
              >
                It is {task.state}. Only pending tasks can be edited.
              </EmptyState>
            )
          }
        </Loaded>
      </PageFor>
    </>
  )
}

const suggestions = ['in 1 minute', 'in 10 minutes', 'in 1 hour', 'tomorrow 09:00', 'Monday 09:00']

type Draft = ReturnType<typeof draftFor>

type TaskFormProps = {
  /** The task to edit. */
  task?: Task
  /** The task to copy. */
  model?: Task | undefined
  /** Whether the copy is a replay of it. */
  isReplay?: boolean
  backTo: string
}

function TaskForm({ isReplay = false, backTo, ...given }: TaskFormProps) {
  // A draft is compared with what it began with: another tab may change the task in the meantime.
  const [{ task, model }] = useState(given)
  const { workspace, to } = useWorkspace()
  const navigate = useNavigate()
  const [initial] = useState(() => draftFor(task, model, isReplay))
  const state = useDraftForm({
    initial,
    intend: (draft, intent) => (intent === 'now' ? { ...draft, when: { ...draft.when, text: 'now' } } : draft),
    check: draft => checkDraft(draft, task, isReplay ? model : task),
    submit: (draft, at) =>
      isReplay && model ? replay(workspace.id, model, draft, at) : save(workspace.id, task, draft, at),
    onDone: saved => navigate(to.task(saved.id)),
    done: () => (task ? 'Changes saved' : isReplay ? 'Replayed as a new task' : 'Task scheduled'),
  })
  const { draft, onChange } = state
  const isNew = !task && !isReplay // only such a task gets a key
  const [isUsed] = useState(() => draft.expires.text + draft.labels + draft.key !== '')
  return (
    <RequestForm
      state={state}
      action={task ? 'Save changes' : isReplay ? 'Replay' : 'Create task'}
      now={isNew ? 'Send now' : undefined}
      backTo={backTo}
      facts={{ taskId: task?.id ?? null, scheduledAt: readWhen(draft.when).at }}
      more={
        <FoldedCard summary={isNew ? 'Deadline, labels and key' : 'Deadline and labels'} isOpenAtFirst={isUsed}>
          <WhenField label="Deadline" name="expires_at" isOptional {...draftValue(draft, 'expires', onChange)} />
          <LabelsField draft={draft} onChange={onChange} />
          {isNew && (
            <TextField
              label="Key"
              isOptional
              hint="At most one pending task can have this key."
              name="key"
              {...draftInput(draft, 'key', onChange)}
              maxLength={128}
              placeholder="reindex:42"
            />
          )}
          {isNew && draft.key !== '' && (
            <SelectField
              label="If a pending task has this key"
              name="on_conflict"
              {...draftInput(draft, 'onConflict', onChange)}
              options={optionsOf({ reject: 'Show an error', keep: 'Keep that task', replace: 'Replace that task' })}
            />
          )}
        </FoldedCard>
      }
    >
      <FormCard label="Name and time">
        <TextField
          label="Name"
          name="name"
          {...draftInput(draft, 'name', onChange)}
          placeholder="Trial reminder"
          autoFocus={!task}
        />
        <WhenField label="When" name="execute_at" {...draftValue(draft, 'when', onChange)} suggestions={suggestions} />
      </FormCard>
    </RequestForm>
  )
}

/** Returns the fields for a task. A copy starts without a time, a deadline and a key. */
export function draftFor(task: Task | undefined, model: Task | undefined, isReplay: boolean) {
  const zone = viewerZone()
  const given = task ?? model
  return {
    ...draftOf(given),
    name: given?.name ?? '',
    when: { text: task ? wallText(new Date(task.execute_at), zone) : isReplay ? 'now' : '', zone },
    expires: { text: task?.expires_at ? wallText(new Date(task.expires_at), zone) : '', zone },
    key: '',
    onConflict: 'reject' as NonNullable<Body<'createTask'>['on_conflict']>,
  }
}

/**
 * @param task - The task to edit.
 * @param stored - The task whose fields change.
 */
export function checkDraft(draft: Draft, task: Task | undefined, stored: Task | undefined): FieldErrors {
  const now = new Date()
  const when = readWhen(draft.when, now)
  // A due task may still wait for its queue.
  const isKept = task !== undefined && instantIn(draft.when, task.execute_at, now) === task.execute_at
  const isPast = !isKept && Date.parse(when.at ?? '') <= now.getTime()
  const expires = draft.expires.text.trim() === '' ? null : readWhen(draft.expires, now)
  const isEarly = when.at && expires?.at && Date.parse(expires.at) <= Date.parse(when.at)
  const losesPayload = stored && stored.payload !== null && draft.payload.trim() === ''
  return messagesIn({
    name: draft.name.trim() === '' && 'Enter a name.',
    execute_at: when.error ?? (isPast && 'Choose a time in the future.'),
    payload: losesPayload && 'A payload can be replaced but not removed. Create a new task instead.',
    ...checkRequest(draft),
    expires_at: expires?.error ?? (isEarly && 'Choose a time after the task.'),
  })
}

async function save(ws: string, task: Task | undefined, draft: Draft, at: Date): Promise<Task> {
  const body = taskBodyOf(draft, task, at)
  if (!task) return call('createTask', { ws, body })
  const changes = changesOf(body, task)
  if (Object.keys(changes).length === 0) return task
  return call('updateTask', { ws, task: task.id, body: changes })
}

/** Replays a task with the fields of the draft that differ. Without another time the replay is due at once. */
async function replay(ws: string, model: Task, draft: Draft, at: Date): Promise<Task> {
  const { execute_at, on_past: isNow, ...fields } = taskBodyOf(draft, undefined, at)
  const body = { ...changesOf(fields, model), ...(isNow ? {} : { execute_at }) }
  return call('replayTask', { ws, task: model.id, body })
}

// The clock of the browser may be slow or fast. A time that has passed by any clock makes a new task due at once.
const atOnce = { execute_at: new Date(0).toISOString(), on_past: 'run' } as const

/** Converts a draft to a body at a time. Only for a draft that passes `checkDraft`. */
export function taskBodyOf(draft: Draft, task: Task | undefined, now: Date): Body<'createTask'> {
  const { max_age_ms: _none, ...request } = bodyOf(draft) // the deadline of a task is a time
  const isNow = task === undefined && draft.when.text.trim().toLowerCase() === 'now'
  return {
    name: draft.name.trim(),
    ...(isNow ? atOnce : { execute_at: instantIn(draft.when, task?.execute_at, now) as string }),
    ...request,
    expires_at: instantIn(draft.expires, task?.expires_at, now),
    ...(draft.key.trim() === '' ? {} : { key: draft.key.trim(), on_conflict: draft.onConflict }),
  }
}

// A field shows a time to the second. An untouched one keeps its milliseconds.
function instantIn({ text, zone }: WhenDraft, stored: string | null | undefined, now: Date): string | null {
  if (stored && text === wallText(new Date(stored), zone)) return stored
  return readWhen({ text, zone }, now).at
}
