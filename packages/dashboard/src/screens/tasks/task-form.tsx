import type { Task } from '@belfry/contract/task'
import { useQuery } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import { useNavigate, useParams, useSearchParams } from 'react-router'
import { type Body, call } from '../../api/call.ts'
import { queryOf } from '../../api/queries.ts'
import {
  bodyFrom,
  choice,
  type Draft,
  draftFor,
  optionalText,
  optionalTime,
  problemsOf,
  requiredText,
} from '../../forms/body-model.ts'
import { draftInput } from '../../forms/draft-input.ts'
import { LabelsField } from '../../forms/request/flow-fields.tsx'
import {
  bodyOf,
  changesOf,
  checkRequest,
  draftOf,
  flowModel,
  type RequestDraft,
} from '../../forms/request/request-draft.ts'
import { FormCard, RequestForm } from '../../forms/request/request-form.tsx'
import { useDraftForm } from '../../forms/use-draft-form.ts'
import type { FieldErrors } from '../../forms/use-form.ts'
import { draftOfTime, parseDraft, timeIn, type WhenDraft } from '../../forms/when/when-draft.ts'
import { WhenField } from '../../forms/when/when-field.tsx'
import { PageFor } from '../../session/allowed.tsx'
import { useWorkspace } from '../../session/scope.ts'
import { ButtonLink } from '../../ui/button.tsx'
import { EmptyState } from '../../ui/empty-state.tsx'
import { optionsOf, SelectField, TextField } from '../../ui/field.tsx'
import { Loaded } from '../../ui/loaded.tsx'
import { PageHeader } from '../../ui/page-header.tsx'

/** Creates a task, or with `?from=` a copy of one. */
export function NewTask(): ReactNode {
  const { workspace, to } = useWorkspace()
  const [params] = useSearchParams()
  const from = params.get('from') ?? ''
  const query = useQuery({ ...queryOf('getTask', { ws: workspace.id, task: from }), enabled: from !== '' })
  return (
    <>
      <PageHeader
        title="New task"
        description="One request, sent at a set time and retried if it fails."
        parent={{ label: 'Tasks', to: to.tasks() }}
      />
      <PageFor right="task.write">
        {from === '' && <TaskForm backTo={to.tasks()} />}
        {from !== '' && (
          <Loaded query={query}>{model => <TaskForm key={from} model={model} backTo={to.tasks()} />}</Loaded>
        )}
      </PageFor>
    </>
  )
}

export function EditTask(): ReactNode {
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

const taskModel = {
  name: requiredText('Enter a name.'),
  execute_at: {
    show: draftOfTime,
    read: (shown: WhenDraft) => timeIn(shown)?.toISOString() ?? '',
    check(shown: WhenDraft) {
      const when = parseDraft(shown)
      if ('error' in when) return when.error
      return when.at <= new Date() ? 'Choose a time in the future.' : null
    },
  },
  expires_at: optionalTime,
  labels: flowModel.labels,
}

// A task gets its key when it is created.
const keyModel = { key: optionalText(), on_conflict: choice<NonNullable<Body<'createTask'>['on_conflict']>>('reject') }

type TaskDraft = RequestDraft & Draft<typeof taskModel> & Draft<typeof keyModel>

type TaskFormProps = {
  /** The task to edit. */
  task?: Task
  /** The task to copy. */
  model?: Task | undefined
  backTo: string
}

function TaskForm({ task, model, backTo }: TaskFormProps): ReactNode {
  const { workspace, to } = useWorkspace()
  const navigate = useNavigate()
  const [initial] = useState(() => taskDraft(task, model))
  const state = useDraftForm({
    initial,
    intend: (draft, intent) =>
      intent === 'now' ? { ...draft, execute_at: { ...draft.execute_at, text: 'now' } } : draft,
    check: draft => checkDraft(draft, task),
    submit: (draft, key) => save(workspace.id, task, draft, key),
    onDone: saved => navigate(to.task(saved.id)),
    done: () => (task ? 'Changes saved' : 'Task scheduled'),
  })
  const { draft, onChange } = state
  return (
    <RequestForm
      state={state}
      action={task ? 'Save changes' : 'Create task'}
      now={task ? undefined : 'Send now'}
      backTo={backTo}
      facts={{ taskId: task?.id ?? null, scheduledAt: timeIn(draft.execute_at) }}
      more={<ControlFields draft={draft} onChange={onChange} hasKey={!task} />}
    >
      <FormCard label="Name and time">
        <TextField
          label="Name"
          name="name"
          {...draftInput(draft, 'name', onChange)}
          placeholder="Trial reminder"
          autoComplete="off"
          autoFocus={!task}
        />
        <WhenField
          label="When"
          name="execute_at"
          value={draft.execute_at}
          onChange={execute_at => onChange({ execute_at })}
          suggestions={suggestions}
        />
      </FormCard>
    </RequestForm>
  )
}

/** A copy of a task has neither its time, its deadline nor its key. */
function taskDraft(task: Task | undefined, model: Task | undefined): TaskDraft {
  const stored = task ?? (model && { ...model, execute_at: null, expires_at: null })
  return { ...draftOf(stored), ...draftFor(taskModel, stored), ...draftFor(keyModel) }
}

function checkDraft(draft: TaskDraft, task: Task | undefined): FieldErrors {
  const [at, deadline] = [timeIn(draft.execute_at), timeIn(draft.expires_at)]
  return {
    ...(at && deadline && deadline <= at ? { expires_at: 'Choose a time after the task.' } : {}),
    ...(task && task.payload !== null && draft.payload.trim() === ''
      ? { payload: 'A payload can be replaced but not removed. Cancel this task and create a new one.' }
      : {}),
    ...problemsOf(taskModel, draft),
    ...checkRequest(draft),
  }
}

function save(ws: string, task: Task | undefined, draft: TaskDraft, idempotencyKey: string): Promise<Task> {
  const body = { ...bodyOf(draft), ...bodyFrom(taskModel, draft) }
  if (!task) {
    const { key, on_conflict } = bodyFrom(keyModel, draft)
    return call('createTask', { ws, body: { ...body, ...(key === null ? {} : { key, on_conflict }) }, idempotencyKey })
  }
  const changes = changesOf(body, task)
  if (Object.keys(changes).length === 0) return Promise.resolve(task)
  return call('updateTask', { ws, task: task.id, body: changes })
}

type ControlFieldsProps = {
  draft: TaskDraft
  onChange(change: Partial<TaskDraft>): void
  /** A task gets its key when it is created. */
  hasKey: boolean
}

function ControlFields({ draft, onChange, hasKey }: ControlFieldsProps): ReactNode {
  return (
    <FormCard label="Deadline and labels">
      <WhenField
        label="Deadline"
        name="expires_at"
        value={draft.expires_at}
        onChange={expires_at => onChange({ expires_at })}
        isOptional
      />
      <LabelsField draft={draft} onChange={onChange} />
      {hasKey && (
        <>
          <TextField
            label="Key"
            isOptional
            hint="Only one pending task has this key."
            name="key"
            {...draftInput(draft, 'key', onChange)}
            maxLength={128}
            placeholder="reindex:42"
            autoComplete="off"
          />
          {draft.key !== '' && (
            <SelectField
              label="If a pending task has this key"
              name="on_conflict"
              {...draftInput(draft, 'on_conflict', onChange)}
              options={optionsOf({ reject: 'Show an error', keep: 'Keep that task', replace: 'Replace that task' })}
            />
          )}
        </>
      )}
    </FormCard>
  )
}
